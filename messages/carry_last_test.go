package messages

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// keeps is where state goes for a client that asked for thinking and returns
// blocks.
var keeps = placement{returnsBlocks: true}

// phaseSign returns a signature of a vendor whose texts need theirs back.
func phaseSign(data string) content.Signature {
	return content.Signature{Format: responses, Data: data}
}

// TestLastText checks that nothing is behind the text that ends an answer, plain
// or streamed: agents print the last block.
func TestLastText(t *testing.T) {
	text := func(sig ...upstream.Event) []upstream.Event {
		return append([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Text{}},
			{Kind: upstream.EventText, Block: 0, Text: "Done"},
		}, sig...)
	}
	closed := upstream.Event{Kind: upstream.EventClose, Block: 0}
	signed := upstream.Event{Kind: upstream.EventSignature, Block: 0, Signature: new(phaseSign("dGV4dA=="))}
	tests := map[string][]upstream.Event{
		"signed while open": text(signed, closed),
		"signed late":       text(closed, signed),
		"an empty text behind": text(closed,
			upstream.Event{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{Signature: phaseSign("dGV4dA==")}},
			upstream.Event{Kind: upstream.EventClose, Block: 1}),
	}
	for name, events := range tests {
		t.Run(name, func(t *testing.T) {
			var single [][]upstream.Event
			for i := range events {
				single = append(single, events[i:i+1])
			}
			if name == "an empty text behind" { // known to be empty if it comes at once
				single = append(single[:3], events[3:])
			}
			stream, lost := encodeIn(keeps, single)
			a, err := accumulate(stream)
			if err != nil {
				t.Fatal(err)
			}
			want := []any{map[string]any{"type": "text", "text": "Done", "citations": nil}}
			if diff := cmp.Diff(want, a.message["content"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(lost) != 1 || lost[0].Reason != unsaidLast.Reason {
				t.Errorf("losses: %v", lost)
			}
		})
	}
}

func TestLastTextWhole(t *testing.T) {
	res, lost := responseOf(&upstream.Response{Parts: []content.Part{
		&content.Text{Text: "Done"}, &content.Text{Signature: phaseSign("dGV4dA==")},
	}}, nil, keeps)
	if diff := cmp.Diff([]content.Part{&content.Text{Text: "Done"}}, res.Content); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{unsaidLast.At("parts.1")}, lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// TestLastTextLosses checks that what is lost behind the last text is told part
// by part, however the events arrive.
func TestLastTextLosses(t *testing.T) {
	call := &content.ToolUse{ID: "a", Name: "f", Input: "{}"}
	image := &content.Image{Source: &content.URL{URL: "https://a.example"}, Signature: phaseSign("aW1n")}
	text := func(text, sig string) content.Part { return &content.Text{Text: text, Signature: phaseSign(sig)} }
	tests := map[string]struct {
		parts []content.Part
		want  []string // paths of losses
		types []string // of blocks
	}{
		"several behind it": {[]content.Part{text("Done", "MQ=="), text("", "Mg=="), text("", "Mw==")},
			[]string{"parts.1", "parts.2"}, []string{"redacted_thinking", "text"}},
		"white space": {[]content.Part{call, text(" \n", "MQ==")}, []string{"parts.1"}, []string{"tool_use", "text"}},
		"an image behind it": {[]content.Part{text("Done", "MQ=="), text("", "Mg=="), image},
			[]string{"parts.2", "parts.1"}, []string{"redacted_thinking", "text"}},
		"behind a call":  {[]content.Part{text("a", "MQ=="), call, text("", "Mg==")}, nil, []string{"redacted_thinking", "text", "tool_use", "redacted_thinking"}},
		"nothing at all": {[]content.Part{text("", "MQ==")}, nil, []string{"redacted_thinking"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			check := func(blocks any, lost []content.Loss) {
				t.Helper()
				var paths, types []string
				for _, l := range lost {
					paths = append(paths, l.Path)
				}
				for _, b := range blocks.([]any) {
					types = append(types, b.(map[string]any)["type"].(string))
				}
				if diff := cmp.Diff(tt.want, paths); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.types, types); diff != "" {
					t.Errorf("blocks (-want +got):\n%s", diff)
				}
			}
			up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				for _, p := range tt.parts {
					_ = w.Part(p)
				}
				return w.Stop(upstream.Stop{Reason: content.StopEnd})
			})
			res, lost := responseOf(&upstream.Response{Parts: tt.parts}, nil, keeps)
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := decode(doc)
			if err != nil {
				t.Fatal(err)
			}
			check(m["content"], lost)
			stream, lost := encodeIn(keeps, batchesOf(t, up))
			a, err := accumulate(stream)
			if err != nil {
				t.Fatal(err)
			}
			check(a.message["content"], lost)
		})
	}
}

// TestHeldBounded checks that signatures which wait for something to follow do
// not pile up without end.
func TestHeldBounded(t *testing.T) {
	s := newStream("req_1", "msg_1", "asked", nil)
	s.placement = keeps
	big := phaseSign(strings.Repeat("QUJD", 1<<18))
	var lost []content.Loss
	for i := range 20 {
		s.Events(nil, []upstream.Event{{Kind: upstream.EventOpen, Block: i, Part: &content.Text{Signature: big}}, {Kind: upstream.EventClose, Block: i}})
		lost = append(lost, s.Losses()...)
	}
	if len(lost) != 13 || lost[0] != envelope.TooLarge.At("parts.7") {
		t.Errorf("%d losses: %v", len(lost), lost)
	}
}

// TestLateThought checks that a thought may be signed until something follows.
func TestLateThought(t *testing.T) {
	stream, lost := encodeIn(keeps, [][]upstream.Event{
		{{Kind: upstream.EventOpen, Block: 0, Part: &content.Thinking{}}, {Kind: upstream.EventText, Block: 0, Text: "Hm"}, {Kind: upstream.EventClose, Block: 0}},
		{{Kind: upstream.EventSignature, Block: 0, Signature: new(phaseSign("MQ=="))}},
		{{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "a", Name: "f"}}},
		{{Kind: upstream.EventInput, Block: 1, Text: "{}"}}, // its block begins
		{{Kind: upstream.EventSignature, Block: 0, Signature: new(phaseSign("Mg=="))}},
		{{Kind: upstream.EventClose, Block: 1}},
		{{Kind: upstream.EventSignature, Block: 1, Signature: new(phaseSign("Mw=="))}},
		{{Kind: upstream.EventSignature, Block: 1, Signature: new(phaseSign("NA=="))}},
	})
	a, err := accumulate(stream)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := envelope.Encode(responses, envelope.KindPart, "MQ==")
	want := []any{
		map[string]any{"type": "thinking", "thinking": "Hm", "signature": own},
		map[string]any{"type": "tool_use", "id": "toolu_pwblk_a", "name": "f", "input": map[string]any{}, "caller": map[string]any{"type": "direct"}},
	}
	if diff := cmp.Diff(want, a.message["content"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{envelope.TooLate.At("parts.0"), envelope.TooLate.At("parts.1"), envelope.TooLate.At("parts.1")}, lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
