// Package handler is the HTTP server that all formats share. It checks keys, reads
// bodies within their limits, calls the upstream, enforces timeouts and writes to the
// client. The package of a format supplies a [Protocol] and, for each request, an
// [Encoder], which convert requests and events without I/O.
//
// # Goroutines
//
// The goroutine of the HTTP server first checks the links of a request. A second
// goroutine then loads the files and calls Generate. Meanwhile, the first one sends
// keep-alives and enforces the timeouts. Both write to the client, but only while they
// hold the token of the sink. Only the first one sets deadlines.
//
// If an upstream ignores its context, the handler stops waiting for it after
// Timeouts.Grace and drops its later output. The bytes of its request stay reserved in
// the Budget until it returns.
package handler
