package upstream

import (
	"context"
	"errors"

	"github.com/polywire/polywire/content"
)

// Edit returns an Upstream that changes every request before next sees it, in
// whatever operation: generating, counting tokens, preflight. f returns the
// request to go on with, usually r itself or a changed [Request.Clone], or an
// error to refuse it with: an [*Error] or a [*content.Violation] is told to the
// client as it says. It must be safe for concurrent use. The losses that the
// request it returns refuses are those that fail; a [Tap] around the Edit goes
// by the request that it was given itself. Edit panics if next or f is nil.
func Edit(next Upstream, f func(ctx context.Context, r *Request) (*Request, error)) Upstream {
	if next == nil || f == nil {
		panic("upstream: Edit: nil Upstream or function")
	}
	return &edit{next, f}
}

type edit struct {
	next Upstream
	f    func(ctx context.Context, r *Request) (*Request, error)
}

// edit returns the request to go on with.
func (e *edit) edit(ctx context.Context, r *Request) (*Request, error) {
	r, err := e.f(ctx, r)
	if err == nil && r == nil {
		err = errors.New("upstream: the function of an Edit returned neither a request nor an error")
	}
	return r, err
}

func (e *edit) Generate(ctx context.Context, r *Request, w *Writer) error {
	changed, err := e.edit(ctx, r)
	if err != nil {
		return err
	}
	if changed != r {
		w.serve(changed)
	}
	return e.next.Generate(ctx, changed, w)
}

func (e *edit) CountTokens(ctx context.Context, r *Request) (TokenCount, error) {
	r, err := e.edit(ctx, r)
	if err != nil {
		return TokenCount{}, err
	}
	return CountTokens(ctx, e.next, r)
}

func (e *edit) Preflight(ctx context.Context, r *Request) ([]content.Loss, error) {
	r, err := e.edit(ctx, r)
	if err != nil {
		return nil, err
	}
	return Preflight(ctx, e.next, r)
}

func (e *edit) FormatOf(ctx context.Context, r *Request) (content.Format, error) {
	r, err := e.edit(ctx, r)
	if err != nil {
		return "", err
	}
	return FormatOf(ctx, e.next, r)
}

func (e *edit) Unwrap() Upstream { return e.next }

// Tap returns an Upstream whose answers pass through a sink of the host's on
// their way out. f makes it, once for each call of Generate; what that sink
// sends on to the sink it was given is the answer. An event that it changes is
// told as changed, whatever the vendor's own bytes were.
//
// All text of answers and thoughts is in the Text of EventText events, in pieces
// that may end anywhere. What pointers in an event point at is read-only: who
// changes a part or a citation replaces it by a changed copy.
//
// f itself must be safe for concurrent use, and must not return nil; a sink it
// makes is used by one call only. Tap panics if next or f is nil.
func Tap(next Upstream, f func(ctx context.Context, r *Request, to Sink) Sink) Upstream {
	if next == nil || f == nil {
		panic("upstream: Tap: nil Upstream or function")
	}
	return &tap{next, f}
}

type tap struct {
	next Upstream
	f    func(ctx context.Context, r *Request, to Sink) Sink
}

func (t *tap) Generate(ctx context.Context, r *Request, w *Writer) error {
	sink := t.f(ctx, r, w)
	if sink == nil {
		return errors.New("upstream: the function of a Tap returned no Sink")
	}
	return Run(ctx, t.next, r, sink)
}

func (t *tap) Unwrap() Upstream { return t.next }
