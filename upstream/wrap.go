package upstream

import (
	"context"
	"errors"
)

// Edit returns an Upstream that passes each request through f before next receives it,
// in every operation: generating, counting tokens, preflight, encoding and FormatOf.
//
// f returns the request to use, usually r itself or a changed [Request.Clone]. If f
// returns an error, the operation fails with it, as if Generate had returned it. A nil
// request without an error is an internal error. f must be safe for concurrent use.
//
// RejectLoss of the returned request applies to the losses that next reports. If a
// [Tap] is around the Edit, RejectLoss of the original request applies to them as well.
//
// Edit panics if next or f is nil.
func Edit(next Upstream, f func(ctx context.Context, r *Request) (*Request, error)) Upstream {
	if next == nil || f == nil {
		panic("upstream: Edit: nil Upstream or function")
	}
	return &edit{next, func(ctx context.Context, r *Request) (Upstream, *Request, error) {
		r, err := f(ctx, r)
		if err == nil && r == nil {
			err = errors.New("upstream: the function of an Edit returned a nil request and no error")
		}
		return next, r, err
	}}
}

type edit struct {
	next Upstream
	router
}

func (e *edit) Unwrap() Upstream { return e.next }

// Tap returns an Upstream whose responses pass through a sink of the host. For each
// call of Generate, f returns that sink. The events that it sends to the sink "to" are
// the response. If the sink changes an event, a handler encodes the changed event
// instead of sending the original bytes of the vendor.
//
// f also returns a function that is called once when the response has ended, or nil. Its
// argument is nil if the response is complete, and otherwise the error of Generate or of
// a sink. It may still send events to "to". It is also called if Generate panics.
//
// All text and thinking is in EventText events, which may be split anywhere. Values
// that pointers in an event refer to are read-only: replace a part or citation by a
// changed copy.
//
// f must be safe for concurrent use and must not return nil. Each sink is used by one
// call of Generate. Tap panics if next or f is nil.
func Tap(next Upstream, f func(ctx context.Context, r *Request, to Sink) (sink Sink, end func(err error))) Upstream {
	if next == nil || f == nil {
		panic("upstream: Tap: nil Upstream or function")
	}
	return &tap{next, f}
}

type tap struct {
	next Upstream
	f    func(ctx context.Context, r *Request, to Sink) (sink Sink, end func(err error))
}

func (t *tap) Generate(ctx context.Context, r *Request, w *Writer) (err error) {
	sink, end := t.f(ctx, r, w)
	if sink == nil {
		return errors.New("upstream: the function of a Tap returned a nil Sink")
	}
	if end != nil {
		err = errPanicked
		defer func() { end(err) }()
	}
	err = Run(ctx, t.next, r, sink)
	return err
}

// errPanicked is the error of a response whose Upstream did not return.
var errPanicked = errors.New("upstream: Generate panicked or called runtime.Goexit")

func (t *tap) Unwrap() Upstream { return t.next }
