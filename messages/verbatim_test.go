package messages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// vendorFrames are those of a vendor's stream, with members and spacing that only
// verbatim bytes keep.
func vendorFrames() []*upstream.Frame {
	sig := content.Signature{Format: Format, Data: "c2ln"}
	list := []*upstream.Frame{
		{Name: "message_start", Data: `{"type":"message_start", "message":{"id":"msg_v","type":"message","role":"assistant","model":"v","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1},"x":1}}`,
			Events: []upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{ID: "msg_v", Model: "v"}},
				{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 9, Output: 1}}}},
		{Name: "brand_new", Data: `{"type":"brand_new", "x":1}`,
			Events: []upstream.Event{{Kind: upstream.EventExtra, Extra: &content.Extra{Format: Format, JSON: `{"x":1}`}}}},
		{Name: "content_block_start", Data: `{"type":"content_block_start", "index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			Events: []upstream.Event{{Kind: upstream.EventOpen, Part: &content.Thinking{}}}},
		{Name: "content_block_delta", Data: `{"type":"content_block_delta", "index":0,"delta":{"type":"thinking_delta","thinking":"th"}}`,
			Events: []upstream.Event{{Kind: upstream.EventText, Text: "th"}}},
		{Name: "content_block_delta", Data: `{"type":"content_block_delta", "index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
			Events: []upstream.Event{{Kind: upstream.EventSignature, Signature: &sig}}},
		{Name: "content_block_stop", Data: `{"type":"content_block_stop", "index":0}`,
			Events: []upstream.Event{{Kind: upstream.EventClose}}},
		{Name: "content_block_start", Data: `{"type":"content_block_start", "index":1,"content_block":{"type":"text","text":"","citations":null}}`,
			Events: []upstream.Event{{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{}}}},
		{Name: "content_block_delta", Data: `{"type":"content_block_delta", "index":1,"delta":{"type":"text_delta","text":"secret"}}`,
			Events: []upstream.Event{{Kind: upstream.EventText, Block: 1, Text: "secret"}}},
		{Name: "content_block_delta", Data: `{"type":"content_block_delta", "index":1,"delta":{"type":"text_delta","text":"\u0061"}}`,
			Events: []upstream.Event{{Kind: upstream.EventText, Block: 1, Text: "a"}}},
		{Name: "content_block_stop", Data: `{"type":"content_block_stop", "index":1}`,
			Events: []upstream.Event{{Kind: upstream.EventClose, Block: 1}}},
		{Name: "message_delta", Data: `{"type":"message_delta", "delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}`,
			Events: []upstream.Event{{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 9, Output: 4}},
				{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "end_turn"}}}},
	}
	for _, f := range list {
		f.Format = Format
	}
	return list
}

const stopBytes = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

// edits are what middleware may do to the vendor's stream.
var edits = []struct {
	name string
	edit func(events []upstream.Event) []upstream.Event
	// changed are the frames that are not verbatim; nil means all are.
	changed func(i int) bool
}{
	{name: "untouched"},
	{name: "masked", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			es[i].Text = strings.ReplaceAll(es[i].Text, "secret", "******")
		}
		return es
	}, changed: func(i int) bool { return i == 7 }},
	{name: "thinking hidden", edit: func(es []upstream.Event) []upstream.Event {
		return slices.DeleteFunc(es, func(e upstream.Event) bool {
			switch e.Kind {
			case upstream.EventOpen, upstream.EventText, upstream.EventSignature, upstream.EventClose:
				return e.Block == 0
			}
			return false
		})
	}, changed: func(i int) bool { return i >= 2 && i < 10 }},
	{name: "signature changed", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			if es[i].Kind == upstream.EventSignature {
				es[i].Signature = &content.Signature{Format: Format, Data: "other"}
			}
		}
		return es
	}, changed: func(i int) bool { return i == 4 || i == 5 }},
}

func TestVerbatim(t *testing.T) {
	var want []string
	for _, f := range vendorFrames() {
		want = append(want, fmt.Sprintf("event: %s\ndata: %s\n\n", f.Name, f.Data))
	}
	want = append(want, stopBytes)
	for _, tt := range edits {
		t.Run(tt.name, func(t *testing.T) {
			stream, _ := drive(t, edited(tt.edit))
			a, err := formattest.ReadMessage(stream)
			if err != nil {
				t.Fatalf("%v\n%s", err, stream)
			}
			if got := fmt.Sprintf("%v %v", a.Object["stop_reason"], a.Object["usage"].(map[string]any)["output_tokens"]); got != "end_turn 4" {
				t.Errorf("ends with %s", got)
			}
			for i, w := range want {
				changed := tt.changed != nil && tt.changed(i)
				if strings.Contains(stream, w) == changed {
					t.Errorf("frame %d: changed is %v in\n%s", i, !changed, stream)
				}
			}
			if tt.edit == nil && stream != strings.Join(want, "") {
				t.Errorf("not verbatim:\n%s", stream)
			}
		})
	}
}

// edited sends the vendor's stream, through middleware if there is an edit.
func edited(edit func([]upstream.Event) []upstream.Event) upstream.Func {
	return formattest.Edited(formattest.Frames(vendorFrames()...), edit).Generate
}

// TestVerbatimEnd checks that the end of a vendor's stream is not sent twice, and
// that later events are sent.
func TestVerbatimEnd(t *testing.T) {
	list := vendorFrames()
	list = append(list, &upstream.Frame{Format: Format, Name: "message_stop", Data: `{"type":"message_stop"}`,
		Events: []upstream.Event{{Kind: upstream.EventExtra, Extra: &content.Extra{Format: Format, JSON: "{}"}}}})
	stream, _ := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		for _, f := range list {
			_ = w.Frame(f)
		}
		return w.Usage(content.Usage{Output: 7})
	})
	a, err := formattest.ReadMessage(stream)
	if err != nil {
		t.Fatalf("%v\n%s", err, stream)
	}
	if n := fmt.Sprint(a.Object["usage"].(map[string]any)["output_tokens"]); n != "7" {
		t.Errorf("output_tokens is %s, want 7", n)
	}
	if strings.Count(stream, "message_delta\"") != 2 {
		t.Errorf("want two message_delta:\n%s", stream)
	}
}

type ctx = context.Context

// TestVerbatimOpenBlock checks that a vendor that forgets to stop a block does
// not make the message end before the block.
func TestVerbatimOpenBlock(t *testing.T) {
	stream, _ := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		for i, f := range vendorFrames() {
			if i == 9 { // the last content_block_stop
				continue
			}
			if err := w.Frame(f); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := formattest.ReadMessage(stream); err != nil {
		t.Errorf("%v\n%s", err, stream)
	}
	stop, delta := strings.LastIndex(stream, "event: content_block_stop"), strings.Index(stream, "event: message_delta")
	if stop > delta {
		t.Errorf("the message ends before its block:\n%s", stream)
	}
}
