package upstream_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestFrameResponse(t *testing.T) {
	var f upstream.Frame
	for _, p := range pieces() {
		f.Events = append(f.Events, p.Events...)
	}
	before := slices.Clone(f.Events)
	for range 2 { // it does not change f
		got, err := f.Response()
		want := &upstream.Response{
			Start: upstream.Start{Model: "m"}, Stop: upstream.Stop{Reason: content.StopEnd}, Usage: content.Usage{Output: 1},
			Parts: []content.Part{&content.Thinking{Text: "hm", Signature: content.Signature{Data: "s"}}, &content.Text{Text: "secretb"}},
			Extra: &content.Extra{JSON: `{"x":1}`},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff(before, f.Events); diff != "" {
			t.Errorf("the events were changed (-before +after):\n%s", diff)
		}
	}

	f.Events = []event_{{Kind: upstream.EventText, Text: "a"}} // of no block
	if _, err := f.Response(); err == nil {
		t.Error("no error for a text without a block")
	}
}

// A frameList is a FrameReader of frames that then returns err. All frames but the last are
// buffered.
type frameList struct {
	frames []upstream.Frame
	err    error
}

func (l *frameList) Next() (*upstream.Frame, error) {
	if len(l.frames) == 0 {
		return nil, l.err
	}
	f := &l.frames[0]
	l.frames = l.frames[1:]
	return f, nil
}

func (l *frameList) Buffered() bool { return len(l.frames) > 0 }

func TestWriterFrames(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name       string
		end        error // of the reader
		sink, want error
		frames     int
		more       []bool
		plain      bool // the reader has no Buffered
	}{
		{name: "complete", end: io.EOF, frames: 9, more: []bool{true, true, true, true, true, true, true, true, false}},
		{name: "failure", end: broken, want: broken, frames: 9, more: []bool{true, true, true, true, true, true, true, true, false}},
		{name: "not buffered", end: io.EOF, plain: true, frames: 9, more: make([]bool, 9)},
		{name: "failing sink", end: io.EOF, sink: broken, want: broken, frames: 1, more: []bool{true}},
	} {
		list := &frameList{pieces(), tt.end}
		var r upstream.FrameReader = list
		if tt.plain {
			r = struct{ upstream.FrameReader }{list}
		}
		var more []bool
		err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Frames(r)
		}), &upstream.Request{}, upstream.SinkFunc(func(events []event_) error {
			if f := upstream.FrameOf(events); f != nil {
				more = append(more, f.More)
			}
			return tt.sink
		}))
		if diff := cmp.Diff(tt.more, more); diff != "" || !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: error %v, want %v; more (-want +got):\n%s", tt.name, err, tt.want, diff)
		}
		if n := len(pieces()) - len(list.frames); n != tt.frames {
			t.Errorf("%s: %d frames were read, want %d", tt.name, n, tt.frames)
		}
	}
}
