// Package polywire is the map of this module: a library with which a Go
// service speaks the wire formats of model vendors over any model it has.
//
// A service supplies an upstream.Upstream, which answers requests in no
// vendor's words, and mounts a handler of a format's package in front of it.
// Clients made for that vendor, SDKs and agents, then work with the service
// unchanged.
//
// # Packages
//
//   - [github.com/polywire/polywire/content] is the shared vocabulary: parts,
//     turns, tools, usage, and how to say that something is wrong or was lost.
//   - [github.com/polywire/polywire/content/fetch] downloads the files that
//     requests name by link, and guards what can be reached in that way.
//   - [github.com/polywire/polywire/upstream] is where a host plugs its models
//     in: the Upstream interface, middleware, and what all handlers take from a
//     host.
//   - [github.com/polywire/polywire/upstream/echo] is the built-in model, which
//     describes what it was sent.
//   - [github.com/polywire/polywire/upstream/anthropic],
//     [github.com/polywire/polywire/upstream/gemini] and
//     [github.com/polywire/polywire/upstream/openai] are upstreams that ask the
//     servers of vendors, or servers that resemble them.
//   - [github.com/polywire/polywire/upstream/upstreamtest] is a suite to run on an
//     upstream of the host's.
//   - [github.com/polywire/polywire/messages] is the Messages format (POST
//     /v1/messages): parser, validator, encoder, handler, and the client side.
//   - [github.com/polywire/polywire/generatecontent] is the content generation
//     format (POST …/models/{model}:generateContent), in the same way.
//
// The programs under examples run as they stand: gateway is a server, validate
// judges a request body, translate shows what becomes of one in another format,
// embed is a small service with a model of its own, tools answers calls of
// tools by itself, and relay measures the gateway against a plain proxy.
//
// # Which way things point
//
// Imports point one way: content, then upstream, then the formats, then
// programs. Formats never import each other, so a new one costs one package.
// Nothing here holds global state, or starts a goroutine that outlives the call
// it was started for, save where an Upstream of the host's ignores that it was
// told to stop. The environment is read for one thing: the proxy through which
// upstreams reach a vendor, unless the host gives them an HTTP client of its own.
package polywire
