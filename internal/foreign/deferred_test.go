package foreign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestToolReferences checks which tools the blocks of vendors load, and which tools search them.
func TestToolReferences(t *testing.T) {
	unknown := func(f content.Format, kind, raw string) content.Part {
		return &content.Unknown{Format: f, Kind: kind, Raw: raw}
	}
	for _, tt := range []struct {
		part content.Part
		want []ToolReference
	}{
		{unknown("messages", "tool_reference", `{"type":"tool_reference","tool_name":"a"}`), []ToolReference{{Name: "a"}}},
		{unknown("messages", "tool_addition", `{"type":"tool_addition","tool":{"type":"tool_reference","name":"a"}}`), []ToolReference{{Name: "a"}}},
		{unknown("messages", "tool_reference", `{}`), nil},
		{&content.ServerToolResult{Format: "messages", Kind: "tool_search_tool_result",
			Content: `{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"a"},{"type":"tool_reference","tool_name":"b"}]}`}, []ToolReference{{Name: "a"}, {Name: "b"}}},
		{unknown("openai-responses", "tool_search_output", `{"tools":[{"type":"function","name":"a"},{"type":"function","name":"b"}]}`), []ToolReference{{Name: "a"}, {Name: "b"}}},
		{unknown("openai-responses", "tool_search_output", `{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"a"}]}]}`), []ToolReference{{"n", "a"}}},
		{unknown("generatecontent", "tool_reference", `{"tool_name":"a"}`), nil},
		{&content.Text{Text: "a"}, nil},
	} {
		if diff := cmp.Diff(tt.want, ToolReferences(tt.part)); diff != "" {
			t.Errorf("%#v (-want +got):\n%s", tt.part, diff)
		}
	}
	for raw, want := range map[string]bool{`{"type":"tool_search"}`: true, `{"type":"tool_search","execution":"client"}`: false} {
		if got := SearchesTools(&content.Tool{Format: "openai-responses", Kind: "tool_search", Raw: raw}); got != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
}
