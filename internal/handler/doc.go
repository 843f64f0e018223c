// Package handler is what the handlers of all formats share: keys and ids,
// reading the body within its limits, running the upstream, keeping time, and
// the connection to the client. A wire package gives it a [Dialect] and, for
// each request, an [Encoder]: functions from requests and events to bytes that
// do no I/O and know no clock.
//
// # Who does what
//
// The texts of links are judged with the request. Its files are found, and then
// Generate runs, on a goroutine of its own; the handler's goroutine is the timer:
// it sends signs of life, ends a silent or endless call, and gives up on an
// upstream that does not return. Both write to the client, never at once: a token
// goes from hand to hand. Only the handler's goroutine sets deadlines.
//
// An upstream that ignores its context is left behind after a grace. What it
// still writes is dropped, and the bytes of its request stay in the budget
// until it returns.
package handler
