package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses says of requests and answers in this
// format.
func TestLossTable(t *testing.T) {
	rules := append([]*loss.Rule{codec.ForeignSignature, codec.ForeignPart, codec.ForeignTool}, codec.ForeignRules...)
	for i := range requestLosses {
		rules = append(rules, &requestLosses[i])
	}
	losstable.Check(t, "messages", rules...)
	losstable.Check(t, "messages-answer", answerLosses...)
	losstable.Check(t, "messages-read", readLosses...)
}

func TestRequestPath(t *testing.T) {
	r := new(Request)
	for neutral, want := range map[string]string{
		"turns.3.parts.1":               "messages.3.content.1",
		"turns.3.parts.1.parts.0":       "messages.3.content.1.content.0",
		"system.0":                      "system.0",
		"tools.2.input":                 "tools.2.input_schema",
		"thinking.budget":               "thinking.budget_tokens",
		"user_id":                       "metadata.user_id",
		"top_k":                         "top_k",
		"parts.2":                       "content.2",
		"turns.0.parts.1.source.part_x": "messages.0.content.1.source.part_x",
	} {
		if got := r.Path(neutral); got != want {
			t.Errorf("%s: got %s, want %s", neutral, got, want)
		}
	}
}
