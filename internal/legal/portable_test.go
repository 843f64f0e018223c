package legal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

func typed(kind, name, more string) content.Tool {
	return content.Tool{Kind: kind, Name: name, Format: "messages", Raw: `{"type":"` + kind + `","name":"` + name + `"` + more + `}`}
}

// TestFunctions checks the commands and arguments that the vendor has published
// for each tool that the client runs.
func TestFunctions(t *testing.T) {
	for _, tt := range []struct {
		tool     content.Tool
		commands string // of the member command
		members  string
	}{
		{typed("bash_20241022", "bash", ""), "", "command restart"},
		{typed("bash_20250124", "bash", ""), "", "command restart"},
		{typed("text_editor_20241022", "str_replace_editor", ""), "view create str_replace insert undo_edit", "command path file_text old_str new_str insert_line view_range"},
		{typed("text_editor_20250124", "str_replace_editor", ""), "view create str_replace insert undo_edit", "command path file_text old_str new_str insert_line view_range"},
		{typed("text_editor_20250429", "str_replace_based_edit_tool", ""), "view create str_replace insert", "command path file_text old_str new_str insert_line insert_text view_range"},
		{typed("text_editor_20250728", "str_replace_based_edit_tool", `,"max_characters":500`), "view create str_replace insert", "command path file_text old_str new_str insert_line insert_text view_range"},
		{typed("memory_20250818", "memory", `,"cache_control":{"type":"ephemeral","ttl":"1h"},"allowed_callers":["direct"]`), "view create str_replace insert delete rename",
			"command path file_text old_str new_str insert_line insert_text view_range old_path new_path"},
	} {
		var log loss.Log
		n := &upstream.Request{Tools: []content.Tool{tt.tool}}
		got := Portable(n, "openai-chat", &log).Tools[0]
		if got.Name != tt.tool.Name || got.Kind != "" || got.Description == "" || !gjson.Valid(got.Input.JSON) {
			t.Errorf("%s: %+v", tt.tool.Kind, got)
		}
		var members, commands []string
		gjson.Get(got.Input.JSON, "properties").ForEach(func(k, _ gjson.Result) bool { members = append(members, k.Str); return true })
		for _, c := range gjson.Get(got.Input.JSON, "properties.command.enum").Array() {
			commands = append(commands, c.Str)
		}
		if s := strings.Join(members, " "); s != tt.members {
			t.Errorf("%s: members %q", tt.tool.Kind, s)
		}
		if s := strings.Join(commands, " "); s != tt.commands {
			t.Errorf("%s: commands %q", tt.tool.Kind, s)
		}
		if diff := cmp.Diff([]content.Loss{ToolAsFunction.At("tools.0")}, log.Losses); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.tool.Kind, diff)
		}
		switch tt.tool.Name {
		case "memory":
			if got.Cache == nil || got.Cache.TTL != "1h" || got.Extra == nil || got.Extra.JSON != `{"allowed_callers":["direct"]}` {
				t.Errorf("what stands beside it: %+v %+v", got.Cache, got.Extra)
			}
		case "str_replace_based_edit_tool":
			if strings.Contains(tt.tool.Raw, "500") != strings.Contains(got.Description, "500") {
				t.Errorf("description %q", got.Description)
			}
		}
		if Portable(n, "messages", &log) != n || n.Tools[0].Kind == "" {
			t.Errorf("%s: the request itself was changed", tt.tool.Kind)
		}
	}
	// Tools that the vendor runs, and those for which models are made, stay.
	for _, kind := range []string{"web_search_20250305", "code_execution_20250825", "computer_20250124", "computer_toolset_20260801"} {
		n := &upstream.Request{Tools: []content.Tool{typed(kind, "x", "")}}
		if Portable(n, "openai-chat", new(loss.Log)) != n {
			t.Errorf("%s was changed", kind)
		}
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
	var log loss.Log
	got := Portable(n, "generatecontent", &log)
	want := n.Clone()
	want.Turns[0].Parts[0] = &content.Text{Text: "Summary of the conversation so far:\n\nS"}
	want.Turns[1].Parts[0].(*content.ToolResult).Parts[1] = &content.Text{Text: "t"}
	if diff := cmp.Diff(want.Turns, got.Turns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{SummaryAsText.At("turns.0.parts.0"), ReferenceAsText.At("turns.1.parts.0.parts.1")}, log.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Turns, n.Turns); diff != "" {
		t.Errorf("the request itself was changed:\n%s", diff)
	}
	if !Encrypted(encrypted) || Encrypted(n.Turns[0].Parts[0]) {
		t.Error("which summary is encrypted")
	}
}
