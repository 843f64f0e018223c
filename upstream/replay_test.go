package upstream_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

func TestReplay(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{io.EOF, broken} {
		up := upstream.Replay(&frameList{pieces(), end})
		var frames int
		sink := upstream.SinkFunc(func(events []upstream.Event) error {
			if upstream.FrameOf(events) != nil {
				frames++
			}
			return nil
		})
		if err := upstream.Run(t.Context(), up, &upstream.Request{}, sink); frames != len(pieces()) || end == io.EOF != (err == nil) || end == broken && err != broken {
			t.Errorf("%d frames, error %v; want %d, ended by %v", frames, err, len(pieces()), end)
		}
		if err := upstream.Run(t.Context(), up, &upstream.Request{}, sink); err == nil || frames != len(pieces()) {
			t.Errorf("the second call returned %v after %d frames, want an error", err, frames)
		}
	}
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	if err := upstream.Run(canceled, upstream.Replay(&frameList{pieces(), io.EOF}), &upstream.Request{}, new(upstream.Collector)); err != broken {
		t.Errorf("canceled: %v", err)
	}
}

// A response was recorded whose request depends on state of its vendor.
func TestReplayThread(t *testing.T) {
	r, _, err := messages.DecodeRequest([]byte(`{"model":"m","max_tokens":9,"thread":{"type":"continue","previous_message_id":"msg_1"},"messages":[{"role":"user","content":"Hi"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := upstream.Collect(t.Context(), upstream.Replay(&frameList{pieces(), io.EOF}), r)
	if err != nil || len(resp.Parts) == 0 {
		t.Errorf("%v, %+v", err, resp)
	}
	if f, err := upstream.FormatOf(t.Context(), upstream.Replay(nil), &upstream.Request{}); f != content.Format("") || err != nil {
		t.Errorf("FormatOf returned %q, %v", f, err)
	}
}
