package foreign

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// TestBlocks checks which blocks have a text form, and which are state.
func TestBlocks(t *testing.T) {
	for _, tt := range []struct {
		format    content.Format
		kind, raw string
		want      string
		rule      *loss.Rule
		state     bool
	}{
		{"messages", "compaction", `{"content":"S"}`, "Summary of the conversation so far:\n\nS", SummaryAsText, false},
		{"messages", "compaction", `{"content":"S","encrypted_content":"x"}`, "Summary of the conversation so far:\n\nS", SummaryAsText, false},
		{"messages", "compaction", `{"content":null,"encrypted_content":"x"}`, "", nil, true},
		{"messages", "compaction", `{"content":""}`, "", nil, false},
		{"messages", "tool_reference", `{"tool_name":"t"}`, "t", ReferenceAsText, false},
		{"messages", "tool_reference", `{"encrypted_content":"x"}`, "", nil, false},
		{"messages", "other", `{"content":"S","encrypted_content":"x"}`, "", nil, false},
		{"generatecontent", "compaction", `{"content":"S"}`, "", nil, false},
		{"alien", "compaction", `{"encrypted_content":"x"}`, "", nil, false},
	} {
		u := &content.Unknown{Format: tt.format, Kind: tt.kind, Raw: tt.raw}
		if text, rule := Text(u); text != tt.want || rule != tt.rule {
			t.Errorf("%s %s %s: text %q, rule %v", tt.format, tt.kind, tt.raw, text, rule)
		}
		if got := IsState(u); got != tt.state {
			t.Errorf("%s %s %s: state %v", tt.format, tt.kind, tt.raw, got)
		}
	}
}

func typed(kind, name, more string) content.Tool {
	return content.Tool{Kind: kind, Name: name, Format: "messages", Raw: `{"type":"` + kind + `","name":"` + name + `"` + more + `}`}
}

// TestFunction checks the commands and arguments that the vendor has published
// for each tool that the client runs.
func TestFunction(t *testing.T) {
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
		got, rule := Function(&tt.tool)
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
		if rule != ToolAsFunction {
			t.Errorf("%s: rule %v", tt.tool.Kind, rule)
		}
		switch tt.tool.Name {
		case "memory":
			if got.Cache == nil || got.Cache.TTL != "1h" || got.Extra == nil || got.Extra.JSON != `{"allowed_callers":["direct"]}` {
				t.Errorf("other members: %+v %+v", got.Cache, got.Extra)
			}
		case "str_replace_based_edit_tool":
			if strings.Contains(tt.tool.Raw, "500") != strings.Contains(got.Description, "500") {
				t.Errorf("description %q", got.Description)
			}
		}
	}
	for _, tool := range []content.Tool{typed("bash_20250124", "", ""), {Name: "bash"}, {Kind: "bash_20250124", Name: "bash", Format: "openai-chat"}} {
		if _, rule := Function(&tool); rule != nil {
			t.Errorf("%+v became a function", tool)
		}
	}
	// Tools that the vendor runs, and those for which models are made, stay.
	for _, kind := range []string{"web_search_20250305", "code_execution_20250825", "computer_20250124", "computer_toolset_20260801"} {
		tool := typed(kind, "x", "")
		if _, rule := Function(&tool); rule != nil {
			t.Errorf("%s became a function", kind)
		}
	}
}

// TestExpired checks by the document of Messages which system turns are no longer in effect
// after a later message of the user.
func TestExpired(t *testing.T) {
	const next = `{"clear_at":"next_user_message"}`
	turn := func(r content.Role, members string) content.Turn {
		t := content.Turn{Role: r}
		if members != "" {
			t.Extra = &content.Extra{Format: "messages", JSON: members}
		}
		return t
	}
	turns := []content.Turn{
		turn(content.RoleUser, next), turn(content.RoleSystem, next), turn(content.RoleAssistant, ""),
		turn(content.RoleSystem, `{"clear_at":"never"}`), turn(content.RoleSystem, ""), turn(content.RoleSystem, `{"clear_at"`),
		{Role: content.RoleSystem, Extra: &content.Extra{Format: "generatecontent", JSON: next}},
		turn(content.RoleSystem, `{"output_config":{"effort":"low"},"clear_at":"next_user_message"}`),
		turn(content.RoleUser, ""), turn(content.RoleSystem, next), turn(content.RoleAssistant, ""),
	}
	c := FindExpired(turns)
	for i := range turns {
		if got, want := c.Contains(i, &turns[i]), i == 1 || i == 7; got != want {
			t.Errorf("turn %d: got %v, want %v", i, got, want)
		}
	}
	alone := []content.Turn{turn(content.RoleSystem, next)}
	if c := FindExpired(alone); c.Contains(0, &alone[0]) {
		t.Error("a turn has expired without a user turn")
	}
}
