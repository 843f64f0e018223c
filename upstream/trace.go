package upstream

import (
	"context"
	"time"

	"github.com/polywire/polywire/content"
)

// An Attempt is one call of an Upstream by [Failover]. If that Upstream is or contains
// another Failover, the attempts of both are reported.
type Attempt struct {
	Index int // of the Upstream in the list of Failover

	// Upstream is the name of the adapter, and UpstreamID the id that its server gave
	// the exchange: see [Error]. They are empty if unknown.
	Upstream, UpstreamID string

	Start        time.Time
	FirstContent time.Duration // from Start to the first content of the response; 0 if there was none
	Duration     time.Duration // from Start to the end

	Usage  content.Usage // last report of the Upstream, also if the response was dropped
	Code   Code          // empty if the attempt succeeded; CodeCanceled if it was canceled
	Err    error         // nil if the attempt succeeded; contains causes, so not for clients
	Chosen bool          // the response was passed on
}

// A Trace is a set of functions that [Failover] calls for each [Attempt]. Any of them
// may be nil. If attempts run at the same time, so may the functions.
type Trace struct {
	// AttemptStart is called before the Upstream. a contains Index and Start. The
	// Upstream is called with the returned context, which must be derived from ctx.
	AttemptStart func(ctx context.Context, a Attempt) context.Context

	// AttemptDone is called once for each call of AttemptStart, with the context that
	// AttemptStart returned. That context may be done.
	AttemptDone func(ctx context.Context, a Attempt)
}

type traceKey struct{}

// WithTrace returns a context with which [Failover] calls the functions of t. If ctx
// already has a Trace, the functions of both are called, those of t first.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, &tracer{t, tracerFrom(ctx)})
}

// A tracer is a Trace in a context, and the one that the context had before.
type tracer struct {
	trace *Trace
	outer *tracer
}

func tracerFrom(ctx context.Context) *tracer {
	t, _ := ctx.Value(traceKey{}).(*tracer)
	return t
}

func (t *tracer) start(ctx context.Context, a Attempt) context.Context {
	for ; t != nil; t = t.outer {
		if f := t.trace.AttemptStart; f != nil {
			ctx = f(ctx, a)
		}
	}
	return ctx
}

func (t *tracer) done(ctx context.Context, a Attempt) {
	for ; t != nil; t = t.outer {
		if f := t.trace.AttemptDone; f != nil {
			f(ctx, a)
		}
	}
}
