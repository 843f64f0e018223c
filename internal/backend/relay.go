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
}

// Relay writes the pieces of a stream as they come. The first brings the
// headers that the client should hear. change, if not nil, sees the events of
// each piece and reports whether it changed any.
func Relay(ctx context.Context, w *upstream.Writer, from Frames, header []upstream.Field, change func([]upstream.Event) bool) error {
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
			return err
		}
		if first {
			first = false
			if err := begin(w, f, header); err != nil {
				return err
			}
		}
		if err := write(w, f, change); err != nil {
			return err
		}
	}
}

// begin puts headers into the start of an answer. One that has none gets one.
func begin(w *upstream.Writer, f *upstream.Frame, header []upstream.Field) error {
	for i := range f.Events {
		if s := f.Events[i].Start; s != nil {
			s.Header = header
			return nil
		}
	}
	if len(header) == 0 {
		return nil
	}
	return w.Start(upstream.Start{Header: header})
}

// Reply writes a whole answer.
func Reply(w *upstream.Writer, f *upstream.Frame, header []upstream.Field, change func([]upstream.Event) bool) error {
	if err := begin(w, f, header); err != nil {
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
