package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// TestCarriedThinkingLosses checks that unsigned thinking is not a loss if a tool call
// carries it, and is otherwise.
func TestCarriedThinkingLosses(t *testing.T) {
	c, err := New(&Options{BaseURL: "http://localhost/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		known refusals
		parts []content.Part
		want  []content.Loss
	}{
		"in chunks": {refusals{}, partsOf(thinkingPart("h", ""), thinkingPart("m", ""), textOf("x"), carryingCall("c1", thinkingPart("hm", "reasoning"))), nil},
		"another":   {refusals{}, partsOf(thinkingPart("hmm", ""), carryingCall("c1", thinkingPart("hm", "reasoning"))), []content.Loss{lower.Thinking.At("turns.1.parts.0")}},
		"refused":   {refusals{fields: fieldReasoning}, partsOf(thinkingPart("hm", ""), carryingCall("c1", thinkingPart("hm", "reasoning"))), []content.Loss{lower.Thinking.At("turns.1.parts.1.signature")}},
	} {
		model := "model of " + name
		c.refusals.Add(model, tt.known.and)
		p := c.plan(&upstream.Request{Model: model, Turns: []content.Turn{q, turnOf(content.RoleAssistant, tt.parts...), turnOf(content.RoleUser, resultOf("c1"))}})
		if diff := cmp.Diff(tt.want, p.Losses); diff != "" || p.Err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, p.Err, diff)
		}
	}
}

// TestThinkingChunks checks that thinking that a client stored in chunks is returned
// unchanged, with an empty line between two blocks.
func TestThinkingChunks(t *testing.T) {
	own := func(text string) content.Part { return thinkingPart(text, "reasoning_content") }
	pieces := func(list ...content.Part) (turns []content.Turn) {
		for _, p := range list {
			turns = append(turns, turnOf(content.RoleAssistant, p))
		}
		return turns
	}
	for name, tt := range map[string]struct {
		reasoning string
		turns     []content.Turn
		want      string
	}{
		"pieces":             {"reasoning_content", pieces(thinkingPart("Not f", ""), thinkingPart("ar.", ""), useOf("c1", "f", "{}")), "Not far."},
		"chunks in one turn": {"reasoning_content", []content.Turn{turnOf(content.RoleAssistant, thinkingPart("Not f", ""), thinkingPart("ar.", ""), useOf("c1", "f", "{}"))}, "Not far."},
		"two with text between": {"reasoning_content", pieces(thinkingPart("a", ""), thinkingPart("b", ""), textOf("x"), thinkingPart("c", ""), useOf("c1", "f", "{}")),
			`ab\n\nc`},
		"two complete ones": {"", pieces(own("a"), own("b"), useOf("c1", "f", "{}")), `a\n\nb`},
		"in previous turn":  {"", pieces(own("a"), useOf("c1", "f", "{}")), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(&Options{BaseURL: "http://localhost/v1", Dialect: Dialect{Reasoning: tt.reasoning}})
			if err != nil {
				t.Fatal(err)
			}
			turns := append(append([]content.Turn{q}, tt.turns...), turnOf(content.RoleUser, resultOf("c1")))
			p := c.plan(&upstream.Request{Model: "m", Turns: turns})
			if want := `"reasoning_content":"` + tt.want + `"`; !strings.Contains(documentOf(t, p), want) {
				t.Errorf("%s is missing in %s", want, documentOf(t, p))
			}
			for _, l := range p.Losses {
				t.Errorf("reported: %v", l)
			}
		})
	}
}
