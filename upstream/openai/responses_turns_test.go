package openai

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
)

// TestResponsesTurns checks that the assistant's turns in a row are one answer,
// as streams leave it in pieces: texts that follow one another are one message.
func TestResponsesTurns(t *testing.T) {
	turn := func(parts ...content.Part) content.Turn {
		return content.Turn{Role: content.RoleAssistant, Parts: parts}
	}
	message := func(text, phase string) string {
		return `{"type":"message","role":"assistant","content":"` + text + `"` + phase + `}`
	}
	const commentary = `,"phase":"commentary"`
	phase := itemSignature(`{"phase":"commentary"}`)
	tests := []struct {
		name  string
		turns []content.Turn
		want  string
	}{
		{"without state", []content.Turn{turn(sayText("Hello")), turn(sayText("World"))}, message("HelloWorld", "")},
		{"texts of one turn", []content.Turn{turn(sayText("a"), sayText("b")), turn(sayText("c"))}, message("abc", "")},
		{"another vendor's state", []content.Turn{turn(sayText("a")), turn(&content.Text{Text: "b", Signature: content.Signature{Format: "other", Data: "x"}})},
			message("ab", "")},
		{"a file between them", []content.Turn{turn(sayText("a")), turn(&content.Image{Source: png.Source}), turn(sayText("b"))},
			message("a", "") + `,{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]},` + message("b", "")},
		{"pieces of a message with a phase", []content.Turn{turn(sayText("a")), turn(sayText("b")), turn(&content.Text{Signature: phase})}, message("ab", commentary)},
		{"a phase in a turn of its own", []content.Turn{turn(&content.Thinking{Redacted: envelope.Neighbour(ResponsesFormat, envelope.Next, phase.Data)}), turn(sayText("a"))},
			message("a", commentary)},
		{"a phase behind, in a turn of its own", []content.Turn{turn(sayText("a")), turn(&content.Thinking{Redacted: envelope.Neighbour(ResponsesFormat, envelope.Last, phase.Data)}), turn(sayText("b"))},
			message("a", commentary) + "," + message("b", "")},
		{"a thought that comes before them", []content.Turn{turn(hidden(think1)), turn(sayText("a")), turn(sayText("b"))}, think1 + "," + message("ab", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := answered()
			n.Turns = append(append(n.Turns[:1:1], tt.turns...), n.Turns[len(n.Turns)-1])
			if got := inputOf(t, n, KindVendor); got != "["+itemA+","+tt.want+","+itemB+"]" {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}
