package messages

import (
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

const emptyContent = "all messages must have non-empty content except for the optional final assistant message"

func TestValidateRoles(t *testing.T) {
	const misplaced = "a system message must follow a user turn, or an assistant turn that ends in a server tool result," +
		" and be last or followed by an assistant turn"
	ask, answer, order := `{"role":"user","content":"a"}`, `{"role":"assistant","content":"b"}`, `{"role":"system","content":"c"}`
	searched := `{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},` +
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}]}`
	first := oneViolation(content.CodeOrder, "messages", `first message must use the "user" role`)
	runRules(t, []ruleTest{
		{"unknown role", withMessages(`{"role":"bot","content":"a"}`), nil,
			oneViolation(content.CodeValue, "messages.0.role", "Input should be 'user', 'assistant' or 'system'")},
		{"missing role", withMessages(`{"content":"a"}`), nil, oneViolation(content.CodeMissing, "messages.0.role", "Field required")},
		{"assistant first", withMessages(answer + "," + ask), &ValidateOptions{Strict: true}, nil}, // accepted by claude-sonnet-4-5
		{"system first", withMessages(order + "," + ask), nil, first},
		{"no alternation", withMessages(ask + "," + ask + "," + answer + "," + answer + "," + ask), nil, nil},
		{"assistant last", withMessages(ask + "," + answer), nil, nil},
		{"system last", withMessages(ask + "," + order + "," + order), nil, nil},
		{"system before assistant", withMessages(ask + "," + order + "," + answer + "," + ask), nil, nil},
		{"system before user", withMessages(ask + "," + order + "," + ask), nil, oneViolation(content.CodeOrder, "messages.1", misplaced)},
		{"system after assistant", withMessages(ask + "," + answer + "," + order), nil, oneViolation(content.CodeOrder, "messages.2", misplaced)},
		{"system after a server tool result", withMessages(ask + "," + searched + "," + order), nil, nil},
		{"empty system that configures", withMessages(`{"role":"system","content":[],"output_config":{"effort":"low"}},` + ask +
			`,{"role":"system","content":[],"output_config":{"effort":"low"}},` + ask), nil, nil},
		{"effort", withMessages(ask + `,{"role":"system","content":[],"output_config":{"effort":"x"}}`), strictOptions,
			oneViolation(content.CodeValue, "messages.1.output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")},
		{"clear_at elsewhere", withMessages(`{"role":"user","content":"a","clear_at":"never"}`), nil,
			oneViolation(content.CodeOrder, "messages.0.clear_at", "clear_at is only permitted on role 'system' messages")},
		{"clear_at", withMessages(ask + `,{"role":"system","content":"c","clear_at":"later"}`), strictOptions,
			oneViolation(content.CodeValue, "messages.1.clear_at", "Input should be 'never' or 'next_user_message'")},
		{"turn-scoped, not text", withMessages(ask + `,{"role":"system","clear_at":"next_user_message","content":[{"type":"tool_removal","tool":{"type":"tool_reference","name":"t"}}]}`), nil,
			oneViolation(content.CodeOrder, "messages.1", "a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')")},
		{"turn-scoped, cache_control", withMessages(ask + `,{"role":"system","clear_at":"next_user_message","content":[{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}`), nil,
			oneViolation(content.CodeConflict, "messages.1.content.0", "cache_control is not permitted on a turn-scoped system message (clear_at: 'next_user_message')")},
		{"turn-scoped, output_config", withMessages(ask + `,{"role":"system","clear_at":"next_user_message","content":"c","output_config":{"effort":"low"}}`), nil,
			oneViolation(content.CodeConflict, "messages.1.output_config", "output_config is not permitted on a turn-scoped system message (clear_at: 'next_user_message')")},
		{"unknown member, strict", withMessages(`{"role":"user","content":"a","x":1}`), &ValidateOptions{Strict: true},
			oneViolation(content.CodeUnknown, "messages.0.x", "Extra inputs are not permitted")},
	})
}

func TestValidateTexts(t *testing.T) {
	nonEmpty := oneViolation(content.CodeRange, "messages", "text content blocks must be non-empty")
	runRules(t, []ruleTest{
		{"no content", withMessages(`{"role":"user"}`), nil, oneViolation(content.CodeMissing, "messages.0.content", "Field required")},
		{"empty string", withMessages(`{"role":"user","content":""}`), nil, oneViolation(content.CodeRange, "messages.0", emptyContent)},
		{"empty list", withMessages(`{"role":"user","content":[]}`), nil, oneViolation(content.CodeRange, "messages.0", emptyContent)},
		{"empty assistant, last", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":""}`), nil, nil},
		{"empty assistant, not last", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[]},{"role":"user","content":"a"}`), nil,
			oneViolation(content.CodeRange, "messages.1", emptyContent)},
		{"two empty texts reported once", withUserBlocks(`{"type":"text","text":""},{"type":"text","text":""}`), nil, nonEmpty},
		{"blank text", withUserBlocks(`{"type":"text","text":" \n"}`), reportedRule,
			oneViolation(content.CodeValue, "messages", "text content blocks must contain non-whitespace text")},
		{"blank string", withMessages(`{"role":"user","content":" "}`), reportedRule,
			oneViolation(content.CodeValue, "messages", "text content blocks must contain non-whitespace text")},
		{"blank text in an assistant message", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":" "},` + useA +
			`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]},{"role":"assistant","content":" \n"},{"role":"user","content":"a"}`), &ValidateOptions{Strict: true}, nil},
		{"empty text in an assistant message", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":""},{"type":"text","text":"b"}]},{"role":"user","content":"a"}`), nil, nonEmpty},
		{"blank text at the end", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":" "}`), reportedRule,
			oneViolation(content.CodeValue, "messages", "final assistant content cannot end with trailing whitespace")},
		{"blank text in a document", withUserBlocks(`{"type":"document","source":{"type":"content","content":[{"type":"text","text":" "}]}}`), nil, nil},
		{"trailing space", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":"b "}`), reportedRule,
			oneViolation(content.CodeValue, "messages", "final assistant content cannot end with trailing whitespace")},
		{"trailing space before a user", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":"b "},{"role":"user","content":"a"}`), nil, nil},
		{"system", withMembers(`"system":[{"type":"text","text":""}]`), nil,
			oneViolation(content.CodeRange, "system.0.text", "String should have at least 1 character")},
		{"empty system string", withMembers(`"system":""`), nil, nil},
		{"thinking in system", withMembers(`"system":[{"type":"thinking","thinking":"a","signature":"b"}]`), nil,
			oneViolation(content.CodeValue, "system.0.type", "Input should be 'text'")},
		{"empty text in a result", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[` + useA +
			`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":""}]}]}`), nil, nonEmpty},
		{"blank and empty strings as results", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[` + useA + "," + useB +
			`]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":""},{"type":"tool_result","tool_use_id":"b","content":" "}]}`), nil, nil},
	})
}

func TestValidatePairing(t *testing.T) {
	const without = "`tool_use` ids were found without `tool_result` blocks immediately after: "
	const each = ". Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	const before = ". Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
	unexpected := func(id string) string {
		return "unexpected `tool_use_id` found in `tool_result` blocks: " + id + before
	}
	ask := `{"role":"user","content":"a"}`
	calls := func(list ...string) string {
		return `,{"role":"assistant","content":[` + strings.Join(list, ",") + `]}`
	}
	replies := func(list ...string) string { return `,{"role":"user","content":[` + strings.Join(list, ",") + `]}` }
	resultB := `{"type":"tool_result","tool_use_id":"b"}`
	text := `{"type":"text","text":"x"}`
	search := `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`
	found := `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
	const lost = "`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block"
	runRules(t, []ruleTest{
		{"valid", withMessages(ask + calls(text, useA, useB) + replies(resultB, result, text)), nil, nil},
		{"merged turns", withMessages(ask + calls(useA) + calls(useB) + replies(result) + replies(resultB)), nil, nil},
		{"missing results", withMessages(ask + calls(useA, useB) + replies(text)), nil, oneViolation(content.CodePairing, "messages.1", without+"a, b"+each)},
		{"missing user turn", withMessages(ask + calls(useA)), nil, oneViolation(content.CodePairing, "messages.1", without+"a"+each)},
		{"many missing results", withMessages(ask + calls(manyCalls(23)...)), nil, oneViolation(content.CodePairing, "messages.1",
			without+"0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 3 more"+each)},
		{"one of two results", withMessages(ask + calls(useA, useB) + replies(result)), nil, oneViolation(content.CodePairing, "messages.1", without+"b"+each)},
		{"result after text", withMessages(ask + calls(useA) + replies(text, result)), nil, oneViolation(content.CodePairing, "messages.1", without+"a"+each)},
		{"result after text in merged turns", withMessages(ask + calls(useA) + replies(text) + replies(result)), nil, oneViolation(content.CodePairing, "messages.1", without+"a"+each)},
		{"result one turn late", withMessages(ask + calls(useA) + replies(text) + calls(text) + replies(result)), strictOptions, []content.Violation{
			{Code: content.CodePairing, Path: "messages.1", Text: without + "a" + each},
			{Code: content.CodePairing, Path: "messages.4.content.0", Text: unexpected("a")}}},
		{"result without tool call", withMessages(ask + calls(text) + replies(text, resultB)), reportedRule, oneViolation(content.CodePairing, "messages.2.content.1", unexpected("b"))},
		{"two results", withMessages(ask + calls(useA) + replies(result, result)), reportedRule, oneViolation(content.CodePairing, "messages.2.content.1",
			"each `tool_use` must have a single `tool_result`. Found several `tool_result` blocks with id: a")},
		{"reused id after a result", withMessages(ask + calls(useA) + replies(result) + calls(useA) + replies(result)), &ValidateOptions{Strict: true}, nil},
		{"reused id without a second result", withMessages(ask + calls(useA) + replies(result) + calls(useA) + replies(text)), nil,
			oneViolation(content.CodePairing, "messages.3", without+"a"+each)},
		{"duplicate ids", withMessages(ask + calls(useA, useA) + replies(result)), reportedRule,
			oneViolation(content.CodePairing, "messages.1.content.1", "`tool_use` ids must be unique")},
		{"duplicate ids without result", withMessages(ask + calls(useA, useA) + replies(text)), nil, oneViolation(content.CodePairing, "messages.1", without+"a"+each)},
		{"result without id", withMessages(ask + calls(useA) + replies(`{"type":"tool_result","content":"x"}`)), nil,
			oneViolation(content.CodeMissing, "messages.2.content.0.tool_result.tool_use_id", "Field required")},
		{"no tools, strict", `{"model":"m","max_tokens":1,"messages":[` + ask + calls(useA) + replies(result) + `]}`, strictOptions, nil},
		{"thread", `{"model":"m","max_tokens":1,"thread":{"type":"continue","previous_message_id":"p"},"messages":[{"role":"user","content":[` + result + `]}]}`, nil, nil},
		{"server tool call", withMessages(ask + calls(search, found) + replies(text)), nil, nil},
		{"server tool call at the end", withMessages(ask + calls(search)), nil, nil},
		{"server tool call without result", withMessages(ask + calls(search) + replies(text)), nil, oneViolation(content.CodePairing, "messages.1.content.0", lost)},
		{"server tool call resumed", withMessages(ask + calls(search, useA) + replies(result)), nil, nil},
		{"server tool call resumed, with result", withMessages(ask + calls(search, useA) + replies(result) + calls(found, text) + replies(text)), nil, nil},
		{"server tool call before results and text", withMessages(ask + calls(search, useA) + replies(result, text)), nil, oneViolation(content.CodePairing, "messages.1.content.0", lost)},
		{"server tool call of a removed tool", `{"model":"m","max_tokens":1,"tools":[{"name":"t",` + schema + `}],"messages":[` + ask + calls(search, useA) + replies(result) + `]}`, nil,
			oneViolation(content.CodePairing, "messages.1.content.0", lost)},
	})
}

func manyCalls(n int) (list []string) {
	for i := range n {
		list = append(list, strings.Replace(useA, `"a"`, `"`+strconv.Itoa(i)+`"`, 1))
	}
	return list
}

func TestValidateToolsets(t *testing.T) {
	reply := func(set, toolset, parts string) string {
		return `{"model":"m","max_tokens":1,"tools":[{"type":"browser_toolset_20260801"}],"messages":[{"role":"user","content":"a"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","toolset_name":"` + set + `","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"` + toolset + `,"content":[` + parts + `]}]}]}`
	}
	state := `{"type":"browser_state","tabs":[{"tab_id":"1","title":"x","url":"y"}]}`
	const only = "results of a tool in a toolset may contain only text and images, and in the browser toolset also one browser_state"
	runRules(t, []ruleTest{
		{"good", reply("browser", `,"toolset_name":"browser"`, state+`,{"type":"text","text":"x"}`), nil, nil},
		{"no toolset", reply("browser", ``, state), nil,
			oneViolation(content.CodePairing, "messages.2.content.0.tool_result.toolset_name", "Field required")},
		{"other toolset", reply("browser", `,"toolset_name":"computer"`, state), nil,
			oneViolation(content.CodePairing, "messages.2.content.0.tool_result.toolset_name", "Input should be 'browser'")},
		{"two states", reply("browser", `,"toolset_name":"browser"`, state+","+state), nil,
			oneViolation(content.CodePairing, "messages.2.content.0.tool_result.content", only)},
		{"browser state in the computer toolset", reply("computer", `,"toolset_name":"computer"`, state), nil,
			oneViolation(content.CodePairing, "messages.2.content.0.tool_result.content", only)},
		{"browser state without tabs", reply("browser", `,"toolset_name":"browser"`, `{"type":"browser_state"}`), nil, nil},
	})
}

func TestValidateCacheControl(t *testing.T) {
	mark := `"cache_control":{"type":"ephemeral"}`
	hour := `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	text := func(m string) string { return `{"type":"text","text":"x",` + m + `}` }
	const late = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block." +
		" Note that blocks are processed in the following order: `tools`, `system`, `messages`."
	const found5 = "A maximum of 4 blocks with cache_control may be provided. Found 5."
	four := text(mark) + "," + text(mark) + "," + text(mark) + "," + text(mark)
	runRules(t, []ruleTest{
		{"four", withUserBlocks(four), nil, nil},
		{"five", withUserBlocks(four + "," + text(mark)), nil, oneViolation(content.CodeLimit, "", found5)},
		{"four and the top level", `{"model":"m","max_tokens":1,` + mark + `,"messages":[{"role":"user","content":[` + four + `]}]}`, nil,
			oneViolation(content.CodeLimit, "", found5)},
		{"null is not counted", withUserBlocks(four + `,{"type":"text","text":"x","cache_control":null}`), nil, nil},
		{"ttl", withUserBlocks(text(`"cache_control":{"type":"ephemeral","ttl":"2h"}`)), strictOptions,
			oneViolation(content.CodeValue, "messages.0.content.0.text.cache_control.ttl", "Input should be '5m' or '1h'")},
		{"hour before 5 minutes", withUserBlocks(text(hour) + "," + text(mark)), nil, nil},
		{"hour after 5 minutes", withUserBlocks(text(mark) + "," + text(hour)), reportedRule,
			oneViolation(content.CodeOrder, "messages.0.content.1.text.cache_control.ttl", late)},
		{"tools before system", withMembers(`"system":[` + text(hour) + `],"tools":[{"name":"t",` + schema + `,` + mark + `}]`), reportedRule,
			oneViolation(content.CodeOrder, "system.0.cache_control.ttl", late)},
		{"built-in tool", withMembers(`"system":[` + text(hour) + `],"tools":[{"type":"bash_20250124","name":"bash",` + mark + `}]`), reportedRule,
			oneViolation(content.CodeOrder, "system.0.cache_control.ttl", late)},
		{"top level after system", `{"model":"m","max_tokens":1,` + hour + `,"system":[` + text(mark) + `],"messages":[{"role":"user","content":"x"}]}`, reportedRule,
			oneViolation(content.CodeOrder, "cache_control.ttl", late)},
		{"top level and last block with different ttls", `{"model":"m","max_tokens":1,` + mark + `,"messages":[{"role":"user","content":[` + text(hour) + `]}]}`, nil,
			oneViolation(content.CodeConflict, "cache_control", "the last block has cache_control with another ttl")},
		{"empty text", withUserBlocks(`{"type":"text","text":"",` + mark + `}`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "messages", Text: "text content blocks must be non-empty"},
			{Code: content.CodeConflict, Path: "messages.0.content.0.text", Text: "cache_control cannot be set for empty text blocks"}}},
		{"thinking", withAssistantBlocks(`{"type":"thinking","thinking":"x","signature":"y",` + mark + `}`), nil,
			oneViolation(content.CodeUnknown, "messages.1.content.0.thinking.cache_control", "Extra inputs are not permitted")},
		{"redacted thinking", withAssistantBlocks(`{"type":"redacted_thinking","data":"x",` + mark + `}`), nil,
			oneViolation(content.CodeUnknown, "messages.1.content.0.redacted_thinking.cache_control", "Extra inputs are not permitted")},
		{"deferred tool", withTools(`{"name":"t",` + schema + `,"defer_loading":true,` + mark + `},{"name":"u",` + schema + `}`), nil,
			oneViolation(content.CodeConflict, "tools.0.custom.cache_control", "cache_control may not be set on a tool with defer_loading: true")},
	})
}
