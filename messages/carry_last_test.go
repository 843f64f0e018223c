package messages

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

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
	signed := upstream.Event{Kind: upstream.EventSignature, Block: 0, Signature: new(theirSign("dGV4dA=="))}
	tests := map[string][]upstream.Event{
		"signed while open": text(signed, closed),
		"signed late":       text(closed, signed),
		"an empty text behind": text(closed,
			upstream.Event{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{Signature: theirSign("dGV4dA==")}},
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
			stream, lost := encode(single)
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
	res, lost := ResponseOf(&upstream.Reply{Parts: []content.Part{
		&content.Text{Text: "Done"}, &content.Text{Signature: theirSign("dGV4dA==")},
	}})
	if diff := cmp.Diff([]content.Part{&content.Text{Text: "Done"}}, res.Content); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{unsaidLast.At("parts.1")}, lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
