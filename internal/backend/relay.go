package backend

import (
	"context"
	"io"

	"github.com/polywire/polywire/upstream"
)

// Frames is how a format reads the stream of an answer.
type Frames interface {
	// Next returns the next piece. The error is [io.EOF] once the answer is
	// whole, and an [*upstream.Error] or one of the source otherwise.
	Next() (*upstream.Frame, error)

	// Buffered reports whether Next will return without waiting.
	Buffered() bool
}

// A Head is what stands at the beginning of an answer.
type Head struct {
	// Header are the vendor's headers that the client should hear.
	Header []upstream.Field

	// AsAsked says that the client asked for the model by another name, or in
	// another format: see [upstream.Start].
	AsAsked bool

	answer *Answer // whose secrets are removed from errors; nil if there are none
}

// Relay writes the pieces of a stream as they come. change, if not nil, sees the events of
// each piece and reports whether it changed any.
func Relay(ctx context.Context, w *upstream.Writer, from Frames, head Head, change func([]upstream.Event) bool) error {
	first := true
	for {
		f, err := from.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return head.answer.clean(err)
		}
		if first {
			first = false
			if err := begin(w, f, head); err != nil {
				return err
			}
		}
		f.More = from.Buffered()
		if err := write(w, f, change); err != nil {
			return err
		}
	}
}

// begin completes the start of an answer. One that has none gets one if there
// is something to tell in it.
func begin(w *upstream.Writer, f *upstream.Frame, head Head) error {
	for i := range f.Events {
		if s := f.Events[i].Start; s != nil {
			s.Header, s.AsAsked = head.Header, head.AsAsked
			return nil
		}
	}
	if len(head.Header) == 0 {
		return nil
	}
	return w.Start(upstream.Start{Header: head.Header, AsAsked: head.AsAsked})
}

// Reply writes a whole answer.
func Reply(w *upstream.Writer, f *upstream.Frame, head Head, change func([]upstream.Event) bool) error {
	if err := begin(w, f, head); err != nil {
		return err
	}
	return write(w, f, change)
}

// write writes a piece. One that was changed is no longer what the vendor said.
func write(w *upstream.Writer, f *upstream.Frame, change func([]upstream.Event) bool) error {
	if change != nil && change(f.Events) {
		f.Format = ""
	}
	return w.Frame(f)
}
