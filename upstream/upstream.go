package upstream

import "context"

// An Upstream answers requests. It must be safe for concurrent use.
type Upstream interface {
	// Generate answers req through w and returns once the answer is complete.
	//
	// A nil return is the end signal: blocks are closed, and an answer without
	// a Stop ends with StopToolUse if it holds a call of a tool, else with
	// StopEnd. An [*Error] is told to the client as its Code says; a
	// [*content.Violation] as a fault of the request; any other error as an
	// internal one, without its text. What was written before an error stands.
	//
	// If a method of w fails, nobody is listening any more, or the request
	// must not be answered: return that error. ctx ends when the client leaves
	// or time is up; an Upstream that does not return within Timeouts.Grace of
	// that, a second by default, is left behind, and what it still writes is
	// dropped.
	//
	// req is read-only and is valid until Generate returns. w may be used from
	// several goroutines until then; their order is their own to keep, and a
	// Call belongs to one of them.
	Generate(ctx context.Context, req *Request, w *Writer) error
}

// Func makes an Upstream of a function.
type Func func(ctx context.Context, req *Request, w *Writer) error

// Generate calls f.
func (f Func) Generate(ctx context.Context, req *Request, w *Writer) error { return f(ctx, req, w) }

// Run calls u with req and sends the answer to sink. It is the one way to call
// an Upstream: handlers, [Tap], [Collect] and [Events] all use it. It does not
// start a goroutine and does not recover panics. The error is that of Generate
// or, if Generate returned nil, what a method of the Writer failed with, such
// as sink's error.
//
// sink gets events in legal order only: see [EventKind]. Calls of its Send
// never overlap, and none comes after Run has returned. If Run returns nil,
// every block is closed and the last [EventStop] is the answer's.
func Run(ctx context.Context, u Upstream, req *Request, sink Sink) error {
	w := newWriter(req, sink)
	defer w.end() // a panic, too, is the end of the answer
	err := u.Generate(ctx, req, w)
	return w.finish(err)
}
