package foreign

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

func messages() *format {
	return &format{
		names:  []content.Format{"messages"},
		number: 2,
		copies: "srvtoolu_pw",
		hosted: hostedInMessages,

		memberTools:  map[string]func(gjson.Result, []content.Tool) []content.Tool{"mcp_servers": serversAsTools},
		selectsTools: mcpToolset,
		response:     map[string]*loss.Rule{"container": ResumeLoss},
		headers:      []string{"anthropic-version", "anthropic-beta"},
		members: [kinds]table{
			Request: {
				"speed": {rule: MembersLoss}, "cache_control": {rule: MembersLoss}, "diagnostics": {rule: MembersLoss},
				"fallback_credit_token": {rule: MembersLoss}, "billing_policy": {rule: MembersLoss}, "metadata": {rule: MembersLoss},

				"inference_geo": {rule: LocationLoss, isExempt: isGlobal, exempt: MembersLoss},
				"fallbacks":     {rule: InfluenceLoss}, "thread": {rule: StateLoss}, "container": {rule: SettingLoss},
				"mcp_servers": {rule: SettingLoss}, "compaction": {rule: SettingLoss},
				"context_management": {rule: SettingLoss, isExempt: clearsThinking, exempt: MembersLoss},
				"output_format":      {rule: SettingLoss, isExempt: isOutputSchema},
				"output_config": {members: table{
					"format": {rule: SettingLoss, isExempt: isOutputSchema}, "task_budget": {rule: SettingLoss},
				}},
				"thinking": {rule: SettingLoss}, "tool_choice": {rule: SettingLoss}, // of an unknown type
			},
			Turn: {
				"clear_at":      {rule: MembersLoss, isExempt: isClearTime},
				"output_config": {rule: SettingLoss},
			},
			Tool: {
				"defer_loading": {}, "eager_input_streaming": {rule: MembersLoss},
				"allowed_callers": {rule: InfluenceLoss}, "input_examples": {rule: InfluenceLoss},
			},
			Thinking: {"block_binding": {rule: MembersLoss}},
		},
		blocks: map[string]block{
			"compaction":     {text: summary, prefix: "Summary of the conversation so far:\n\n", rule: SummaryAsText, isState: isEncrypted},
			"tool_reference": {text: func(raw string) string { return gjson.Get(raw, "tool_name").Str }, rule: ReferenceAsText},
			"tool_addition":  {text: addedTool, rule: ReferenceAsText},
		},
		searchesTools: func(t *content.Tool) bool { return strings.HasPrefix(t.Kind, "tool_search_tool_") },
		references: map[string]func(string) gjson.Result{
			"tool_reference":          func(raw string) gjson.Result { return gjson.Get(raw, "tool_name") },
			"tool_addition":           func(raw string) gjson.Result { return gjson.Get(raw, "tool.name") },
			"tool_search_tool_result": func(raw string) gjson.Result { return gjson.Get(raw, "tool_references.#.tool_name") },
		},
		tools:       messagesTools,
		addMembers:  addMessagesMembers,
		isTemporary: func(x *content.Extra) bool { return gjson.Get(x.JSON, "clear_at").Str == "next_user_message" },
	}
}

// isGlobal reports whether inference_geo allows any place.
func isGlobal(v, _ jsonwire.Value) bool { return v.Is("global") }

// isClearTime reports whether clear_at is a time that [Expired] follows.
func isClearTime(v, _ jsonwire.Value) bool { return v.Is("never") || v.Is("next_user_message") }

// isOutputSchema reports whether the neutral request has the schema of a format.
func isOutputSchema(v, _ jsonwire.Value) bool { return v.Get("type").Is("json_schema") }

// clearsThinking reports whether context_management only clears or keeps earlier
// thinking. Some agents send that with every request. It has no effect at other
// vendors, since they do not receive the thinking.
func clearsThinking(v, _ jsonwire.Value) bool {
	for name := range v.Members() {
		if name != "edits" {
			return false
		}
	}
	for _, x := range v.Get("edits").Elems() {
		if !strings.HasPrefix(x.Get("type").Str(), "clear_thinking_") {
			return false
		}
	}
	return true
}

// addedTool returns the name of the tool of the request that a tool_addition block adds, or "".
func addedTool(raw string) string {
	if tool := gjson.Get(raw, "tool"); tool.Get("type").Str == "tool_reference" {
		return tool.Get("name").Str
	}
	return ""
}

// summary returns the text of a compaction block, or "" if it is encrypted.
func summary(raw string) string { return gjson.Get(raw, "content").Str }

// isEncrypted reports whether a compaction block has only an encrypted summary.
func isEncrypted(raw string) bool {
	return summary(raw) == "" && gjson.Get(raw, "encrypted_content").Str != ""
}

// messagesTools are the tools that the client runs. Two versions of the text editor
// precede the prefix that they share with later ones.
var messagesTools = []clientTool{
	{"bash_", "Runs a command in a persistent bash session on the user's machine and returns its output. Restart the session if it no longer responds.",
		`{"type":"object","properties":{"command":{"type":"string","description":"The command to run. Required unless restart is true."},` +
			`"restart":{"type":"boolean","description":"True to restart the session instead of running a command."}}}`},
	{"text_editor_2024", olderEditor, olderEditorSchema},
	{"text_editor_20250124", olderEditor, olderEditorSchema},
	{"text_editor_", "Views, creates and edits files on the user's machine.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert"],"description":"What to do."},` +
			editorPath + editorText + `"new_str":{"type":"string","description":"For str_replace: the text that replaces old_str."},` +
			editorLine + `"insert_text":{"type":"string","description":"For insert: the text to insert."},` + editorRange + `},"required":["command","path"]}`},
	{"memory_", "Keeps notes in files below /memories that last longer than this conversation. View the directory /memories before other work.",
		`{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","delete","rename"],"description":"What to do."},` +
			`"path":{"type":"string","description":"The file or directory below /memories, for all commands but rename."},` +
			editorText + `"new_str":{"type":"string","description":"For str_replace: the text that replaces old_str."},` +
			editorLine + `"insert_text":{"type":"string","description":"For insert: the text to insert."},` + editorRange +
			`,"old_path":{"type":"string","description":"For rename: the path as it is."},` +
			`"new_path":{"type":"string","description":"For rename: the path as it is to be."}},"required":["command"]}`},
}

// Common members of the schemas of the text editors and of memory, and the text
// editors up to 20250124, which insert new_str and can undo edits.
const (
	editorPath  = `"path":{"type":"string","description":"The absolute path of a file or directory."},`
	editorText  = `"file_text":{"type":"string","description":"For create: the content of the file."},"old_str":{"type":"string","description":"For str_replace: the text to replace, which the file has exactly once."},`
	editorLine  = `"insert_line":{"type":"integer","description":"For insert: the line after which to insert; 0 for the beginning of the file."},`
	editorRange = `"view_range":{"type":"array","items":{"type":"integer"},"description":"For view: the first and the last line to show, counted from 1; -1 is the last line of the file."}`

	olderEditor       = "Views, creates and edits files on the user's machine."
	olderEditorSchema = `{"type":"object","properties":{"command":{"type":"string","enum":["view","create","str_replace","insert","undo_edit"],"description":"What to do."},` +
		editorPath + editorText + `"new_str":{"type":"string","description":"For str_replace: the text that replaces old_str. For insert: the text to insert."},` +
		editorLine + editorRange + `},"required":["command","path"]}`
)

// addMessagesMembers adds the other members of a tool's definition to a function.
func addMessagesMembers(t *content.Tool, raw string) {
	doc, err := jsonwire.Parse(raw, unlimited)
	if err != nil {
		return
	}
	defer doc.Close()
	var w jsonwire.Writer
	w.BeginObject()
	hasMembers := false
	for name, v := range doc.Root().Members() {
		switch name {
		case "type", "name":
		case "cache_control":
			if v.Kind() == jsonwire.Object {
				t.Cache = &content.Cache{TTL: v.Get("ttl").Str()}
			}
		case "defer_loading":
			t.Deferred, _ = v.Bool()
		case "strict": // the schema does not fit strict functions
		case "max_characters":
			if v.Kind() == jsonwire.Number {
				t.Description += " A view shows at most " + v.Raw() + " characters."
			}
		default:
			w.RawMember(name, v.Raw())
			hasMembers = true
		}
	}
	w.EndObject()
	if hasMembers {
		t.Extra = &content.Extra{Format: "messages", JSON: w.Text()}
	}
}

// serversAsTools returns the tools of Responses for the MCP servers of Messages. The vendor runs
// their tools without asking. It returns nil if a server has a name that is not valid there, or tools
// of which some are excluded.
func serversAsTools(servers gjson.Result, tools []content.Tool) (list []content.Tool) {
	toolsets := make(map[string]gjson.Result)
	for i := range tools {
		if tools[i].Kind == mcpToolset {
			set := gjson.Parse(tools[i].Raw)
			toolsets[set.Get("mcp_server_name").Str] = set
		}
	}
	for _, s := range servers.Array() {
		name, settings := s.Get("name").Str, s.Get("tool_configuration")
		enabled, allowed := settings.Get("enabled").Type != gjson.False, settings.Get("allowed_tools")
		if set, has := toolsets[name]; has {
			if allowed, has = selectedTools(set); !has {
				return nil
			}
			enabled = allowed.Raw != "[]"
		}
		switch {
		case s.Get("type").Str != "url" || !isServerLabel(name):
			return nil
		case !enabled:
			continue
		}
		var w jsonwire.Writer
		w.BeginObject()
		w.Member("type", "mcp")
		w.Member("server_label", name)
		w.Member("server_url", s.Get("url").Str)
		w.OptMember("authorization", s.Get("authorization_token").Str)
		if allowed.IsArray() {
			w.RawMember("allowed_tools", allowed.Raw)
		}
		w.Member("require_approval", "never")
		w.EndObject()
		list = append(list, content.Tool{Kind: "mcp", Format: "openai-responses", Raw: w.Text()})
	}
	return list
}

const mcpToolset = "mcp_toolset" // selects tools of a server

// selectedTools returns the list of the tools that a toolset selects, which does not exist if these are
// all. It returns false if the list needs the names of all tools, or if the toolset has other settings.
func selectedTools(toolset gjson.Result) (names gjson.Result, ok bool) {
	standard, ok := toolset.Get("default_config"), true
	all := standard.Get("enabled").Type != gjson.False
	check := func(settings gjson.Result) {
		settings.ForEach(func(name, _ gjson.Result) bool { ok = ok && name.Str == "enabled"; return ok })
	}
	check(standard)
	var w jsonwire.Writer
	w.BeginArray()
	toolset.Get("configs").ForEach(func(name, settings gjson.Result) bool {
		check(settings)
		switch on := settings.Get("enabled"); {
		case all && on.Type == gjson.False:
			ok = false
		case !all && on.Type == gjson.True:
			w.String(name.Str)
		}
		return ok
	})
	w.EndArray()
	if toolset.Get("tools").IsArray() {
		return names, false
	}
	if !all {
		names = gjson.Parse(w.Text())
	}
	return names, ok
}

// isServerLabel reports whether a name begins with a letter and has only letters, digits, "_" and "-".
func isServerLabel(name string) bool {
	for i, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
