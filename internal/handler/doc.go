// Package handler is the server side that both formats share. It checks keys, reads
// bodies within their limits, runs the upstream, enforces timeouts and writes to the
// client. A wire package supplies a [Protocol] and, for each request, an [Encoder].
// These turn requests and events into bytes; they do no I/O and read no clock.
//
// # Goroutines
//
// A request first has its links checked. Then a goroutine of its own loads the files
// and calls Generate, while the handler's goroutine keeps time: it sends
// keep-alives, ends silent or endless responses, and abandons an upstream that does
// not return. Both goroutines write to the client, one at a time: the holder of the
// sink's token writes. Only the handler's goroutine sets deadlines.
//
// An upstream that ignores its context is abandoned after Timeouts.Grace. Its later
// writes are dropped. The bytes of its request stay in the budget until it returns.
package handler
