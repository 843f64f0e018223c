package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/upstream"
)

// TestPortableTools checks that tools are replaced in a copy.
func TestPortableTools(t *testing.T) {
	bash := content.Tool{Kind: "bash_20250124", Name: "bash", Format: "messages", Raw: `{"type":"bash_20250124","name":"bash"}`}
	search := content.Tool{Kind: "web_search_20250305", Name: "web_search", Format: "messages", Raw: `{}`}
	n := &upstream.Request{Tools: []content.Tool{search, bash}}
	got, losses := Portable(n, "openai-chat")
	if got.Tools[1].Kind != "" || got.Tools[1].Name != "bash" || n.Tools[1].Kind == "" {
		t.Errorf("tools %+v of %+v", got.Tools, n.Tools)
	}
	if diff := cmp.Diff([]content.Loss{foreign.ToolAsFunction.At("tools.1")}, Reports(losses)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if got, _ := Portable(n, "messages"); got != n {
		t.Error("the format's own tools were changed")
	}
	n.Tools = n.Tools[:1]
	if got, _ := Portable(n, "openai-chat"); got != n {
		t.Error("a tool that the vendor runs was changed")
	}
}

// TestPortableParts checks that parts stay where they are, and that the request
// itself is not changed.
func TestPortableParts(t *testing.T) {
	unknown := func(kind, raw string) content.Part {
		return &content.Unknown{Format: "messages", Kind: kind, Raw: raw}
	}
	encrypted := unknown("compaction", `{"encrypted_content":"x"}`)
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleUser, Parts: []content.Part{unknown("compaction", `{"content":"S"}`), encrypted}},
		{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Parts: []content.Part{&content.Text{Text: "a"}, unknown("tool_reference", `{"tool_name":"t"}`)}}}},
		{Role: content.RoleUser, Parts: []content.Part{unknown("other", `{}`), &content.Unknown{Format: "alien", Kind: "tool_reference", Raw: `{"tool_name":"t"}`}}},
	}}
	before := n.Clone()
	got, losses := Portable(n, "generatecontent")
	want := n.Clone()
	want.Turns[0].Parts[0] = &content.Text{Text: "Summary of the conversation so far:\n\nS"}
	want.Turns[1].Parts[0].(*content.ToolResult).Parts[1] = &content.Text{Text: "t"}
	if diff := cmp.Diff(want.Turns, got.Turns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{foreign.SummaryAsText.At("turns.0.parts.0"), foreign.ReferenceAsText.At("turns.1.parts.0.parts.1")}, Reports(losses)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Turns, n.Turns); diff != "" {
		t.Errorf("the request itself was changed:\n%s", diff)
	}
}
