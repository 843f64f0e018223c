// Package adapter is the client side that all adapters share: HTTP requests to a
// vendor's server, and writing its responses to an upstream.Writer. Each adapter
// supplies the parts that depend on its format: the header of the key, and the
// decoders of errors, responses and streams.
package adapter
