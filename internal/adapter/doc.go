// Package adapter is what the adapters share: HTTP exchanges with the server
// of a vendor, and the way of its answer into a Writer. It knows no format: how
// a key is shown, how an error is told and how a stream is read, each adapter
// says.
package adapter
