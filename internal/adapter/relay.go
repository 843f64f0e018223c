package adapter

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

	// ModelAsRequested says that the client asked for the model by another name, or in
	// another format: see [upstream.Start].
	ModelAsRequested bool

	// Upstream is the server's name, UpstreamID the id that it gave the exchange.
	Upstream, UpstreamID string

	answer *Response // whose secrets are removed from errors; nil if there are none
}

// Relay writes the pieces of a stream as they come. change, if not nil, sees the events of
// each piece and reports whether it changed any.
func Relay(ctx context.Context, w *upstream.Writer, from Frames, head Head, change func([]upstream.Event) bool) error {
	begun := false
	for {
		f, err := from.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return named(head.answer.clean(err), head.Upstream, head.UpstreamID)
		}
		if !begun {
			if begun, err = begin(w, f, head); err != nil {
				return err
			}
		}
		f.More = from.Buffered()
		if err := write(w, f, change); err != nil {
			return err
		}
	}
}

// begin adds what the headers said to the start of an answer, or writes a start in
// front of the first piece that means something. It reports whether it did.
func begin(w *upstream.Writer, f *upstream.Frame, head Head) (begun bool, err error) {
	meaning := false
	for i := range f.Events {
		switch e := &f.Events[i]; e.Kind {
		case upstream.EventStart:
			head.complete(e.Start)
			return true, nil
		case upstream.EventLoss, upstream.EventExtra:
		default:
			meaning = true
		}
	}
	if !meaning || len(head.Header) == 0 && head.Upstream == "" && head.UpstreamID == "" {
		return false, nil
	}
	var s upstream.Start
	head.complete(&s)
	return true, w.Start(s)
}

// complete puts what is in the head into s.
func (h *Head) complete(s *upstream.Start) {
	s.Header, s.ModelAsRequested = h.Header, h.ModelAsRequested
	s.Upstream, s.UpstreamID = h.Upstream, h.UpstreamID
}

// WriteResponse writes a whole answer.
func WriteResponse(w *upstream.Writer, f *upstream.Frame, head Head, change func([]upstream.Event) bool) error {
	if _, err := begin(w, f, head); err != nil {
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
