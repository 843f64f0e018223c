package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses says of requests and answers in this
// format.
func TestLossTable(t *testing.T) {
	rules := append([]*loss.Rule{legal.HeaderNotSent, legal.RequiredHeaderNotSent, codec.ForeignSignature, codec.ForeignPart, codec.ForeignTool}, codec.ForeignRules...)
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

		// A call's arguments are no schema, and names inside a schema are the client's.
		"turns.0.parts.1.input":              "messages.0.content.1.input",
		"tools.2.input.properties.parts.not": "tools.2.input_schema.properties.parts.not",
		"output.schema.properties.cache":     "output_config.format.schema.properties.cache",
		"output":                             "output_config",
		"turns.3.parts.1.parts.0.cache":      "messages.3.content.1.content.0.cache_control",
		"system.0.cache":                     "system.0.cache_control",
		"tools.1.cache":                      "tools.1.cache_control",
		"choice.names":                       "tool_choice.name",
		"choice.no_parallel":                 "tool_choice.disable_parallel_tool_use",
		"extra.thread":                       "thread",
		"extra":                              "extra",
		"turns.3.extra":                      "messages.3",
		"turns.3.extra.output_config":        "messages.3.output_config",
		"tools.0.extra.allowed_callers":      "tools.0.allowed_callers",
		"parts.2.citations.0":                "content.2.citations.0",
		"candidates.1.parts.0":               "candidates.1.content.0",
		"stop":                               "stop_reason",
		"thinking.display":                   "thinking.display",
	} {
		if got := r.Path(neutral); got != want {
			t.Errorf("%s: got %s, want %s", neutral, got, want)
		}
	}
}
