package messages

import (
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestValidateTools(t *testing.T) {
	const pattern = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
	runRules(t, []ruleTest{
		{"name", oneTool(`{"name":"a.b",` + schema + `}`), nil, oneFault(content.CodeValue, "tools.0.custom.name", pattern)},
		{"long name", oneTool(`{"name":"` + strings.Repeat("a", 129) + `",` + schema + `}`), nil, oneFault(content.CodeValue, "tools.0.custom.name", pattern)},
		{"name at its limit", oneTool(`{"name":"` + strings.Repeat("a", 128) + `",` + schema + `}`), nil, nil},
		{"no name", oneTool(`{` + schema + `}`), nil, oneFault(content.CodeMissing, "tools.0.custom.name", "Field required")},
		{"names twice", oneTool(`{"name":"a",` + schema + `},{"name":"a",` + schema + `},{"name":"a",` + schema + `}`), nil,
			oneFault(content.CodeConflict, "tools", "Tool names must be unique.")},
		{"name of a built-in tool", oneTool(`{"name":"bash",` + schema + `},{"type":"bash_20250124","name":"bash"}`), nil,
			oneFault(content.CodeConflict, "tools", "Tool names must be unique.")},
		{"no schema", oneTool(`{"name":"a"}`), nil, oneFault(content.CodeMissing, "tools.0.custom.input_schema", "Field required")},
		{"schema without type", oneTool(`{"name":"a","input_schema":{"properties":{"type":{"type":"string"}}}}`), nil,
			oneFault(content.CodeMissing, "tools.0.custom.input_schema.type", "Field required")},
		{"schema of text", oneTool(`{"name":"a","input_schema":{"type":"string"}}`), nil,
			oneFault(content.CodeValue, "tools.0.custom.input_schema.type", "Input should be 'object'")},
		{"type last", oneTool(`{"name":"a","input_schema":{"$schema":"x\"}","properties":{"a":[{"b":"]"}]} , "n":-1.5e3,"type" : "object"}}`), nil, nil},
		{"schema is text", oneTool(`{"name":"a","input_schema":"x"}`), nil,
			oneFault(content.CodeType, "tools.0.custom.input_schema", "Input should be a valid dictionary")},
		{"callers", oneTool(`{"name":"a",` + schema + `,"allowed_callers":["direct","x"]}`), strictly, oneFault(content.CodeValue, "tools.0.custom.allowed_callers.1",
			"Input should be 'direct', 'code_execution_20250825', 'code_execution_20260120' or 'code_execution_20260521'")},
		{"all deferred", oneTool(`{"name":"a",` + schema + `,"defer_loading":true}`), nil,
			oneFault(content.CodeConflict, "tools", "At least one tool must not have defer_loading: true")},
		{"unknown member", oneTool(`{"name":"a",` + schema + `,"x":1}`), nil, nil},
		{"unknown member, strict", oneTool(`{"name":"a",` + schema + `,"x":1}`), &ValidateOptions{Strict: true},
			oneFault(content.CodeUnknown, "tools.0.custom.x", "Extra inputs are not permitted")},
		{"open object, strict", oneTool(`{"name":"a","strict":true,"input_schema":{"type":"object","additionalProperties":false,"properties":{"p":{"type":"object"}}}}`), &ValidateOptions{Strict: true},
			oneFault(content.CodeValue, "tools.0.custom.input_schema", "For 'object' type, 'additionalProperties' must be explicitly set to false")},
		{"open object", oneTool(`{"name":"a","strict":true,` + schema + `}`), nil, nil},
		{"open object of a lax tool, strict", oneTool(`{"name":"a",` + schema + `}`), &ValidateOptions{Strict: true}, nil},
		{"too many strict tools", oneTool(strictTools(21)), nil, oneFault(content.CodeLimit, "tools", "At most 20 tools may be strict")},
		{"enough strict tools", oneTool(strictTools(20)), nil, nil},
		{"unknown tool", oneTool(`{"type":"abacus_1","name":"a"}`), nil, nil},
	})
}

func strictTools(n int) string {
	var list []string
	for i := range n {
		list = append(list, `{"name":"t`+strconv.Itoa(i)+`","strict":true,`+schema+`}`)
	}
	return strings.Join(list, ",")
}

func TestValidateBuiltinTools(t *testing.T) {
	mcp := `"mcp_servers":[{"type":"url","name":"s","url":"https://mcp.example"}],`
	runRules(t, []ruleTest{
		{"fixed name", oneTool(`{"type":"web_search_20250305","name":"search"}`), nil,
			oneFault(content.CodeValue, "tools.0.web_search_20250305.name", "Input should be 'web_search'")},
		{"no name", oneTool(`{"type":"bash_20250124"}`), nil, oneFault(content.CodeMissing, "tools.0.bash_20250124.name", "Field required")},
		{"domains", oneTool(`{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"],"blocked_domains":["b.example"]}`), nil,
			oneFault(content.CodeConflict, "tools.0.web_search_20250305", "allowed_domains and blocked_domains may not both be given")},
		{"one kind of domains", oneTool(`{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"],"blocked_domains":null}`), nil, nil},
		{"max_uses", oneTool(`{"type":"web_fetch_20250910","name":"web_fetch","max_uses":0}`), nil,
			oneFault(content.CodeRange, "tools.0.web_fetch_20250910.max_uses", "Input should be greater than or equal to 1")},
		{"location", oneTool(`{"type":"web_search_20250305","name":"web_search","user_location":{"type":"exact"}}`), nil,
			oneFault(content.CodeValue, "tools.0.web_search_20250305.user_location.type", "Input should be 'approximate'")},
		{"inclusion", oneTool(`{"type":"web_search_20260318","name":"web_search","response_inclusion":"x"}`), strictly,
			oneFault(content.CodeValue, "tools.0.web_search_20260318.response_inclusion", "Input should be 'full' or 'excluded'")},
		{"computer", oneTool(`{"type":"computer_20250124","name":"computer","display_width_px":0}`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "tools.0.computer_20250124.display_width_px", Text: "Input should be greater than or equal to 1"},
			{Code: content.CodeMissing, Path: "tools.0.computer_20250124.display_height_px", Text: "Field required"}}},
		{"toolset", oneTool(`{"type":"computer_toolset_20260801","configs":{"zoom":{"enabled":1},"click":true},"allowed_callers":["direct","code_execution_20250825"]}`), strictly, []content.Violation{
			{Code: content.CodeType, Path: "tools.0.computer_toolset_20260801.configs.click", Text: "Input should be an object"},
			{Code: content.CodeValue, Path: "tools.0.computer_toolset_20260801.allowed_callers.1", Text: "Input should be 'direct'"}}},
		{"sources of links", oneTool(`{"type":"web_fetch_20260318","name":"web_fetch","url_sources":{"user_input":{"type":"some"}}}`), nil,
			oneFault(content.CodeValue, "tools.0.web_fetch_20260318.url_sources.user_input",
				"Input tag 'some' found using 'type' does not match any of the expected tags: 'all', 'none'")},
		{"advisor", oneTool(`{"type":"advisor_20260301","name":"advisor"}`), nil,
			oneFault(content.CodeMissing, "tools.0.advisor_20260301.model", "Field required")},
		{"MCP toolset", topWith(mcp + `"tools":[{"type":"mcp_toolset"}]`), nil,
			oneFault(content.CodeMissing, "tools.0.mcp_toolset.mcp_server_name", "Field required")},
		{"ttl", oneTool(`{"type":"bash_20250124","name":"bash","cache_control":{"type":"ephemeral","ttl":"1d"}}`), strictly,
			oneFault(content.CodeValue, "tools.0.bash_20250124.cache_control.ttl", "Input should be '5m' or '1h'")},
		{"unknown member, strict", oneTool(`{"type":"bash_20250124","name":"bash","x":1}`), &ValidateOptions{Strict: true},
			oneFault(content.CodeUnknown, "tools.0.bash_20250124.x", "Extra inputs are not permitted")},
	})
	r, err := ParseRequestString(oneTool(`{"type":"abacus_1","name":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := content.Violations(r.Validate(&ValidateOptions{Strict: true}))
	if len(list) != 1 || list[0].Path != "tools.0" || !strings.HasPrefix(list[0].Text, "Input tag 'abacus_1' found using 'type' does not match") {
		t.Errorf("unknown tool, strict: %v", list)
	}
}

func TestValidateOutput(t *testing.T) {
	format := `{"type":"json_schema","schema":{"type":"object"}}`
	runRules(t, []ruleTest{
		{"effort", topWith(`"output_config":{"effort":"more"}`), strictly,
			oneFault(content.CodeValue, "output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")},
		{"type", topWith(`"output_config":{"format":{"type":"xml","schema":{}}}`), nil,
			oneFault(content.CodeValue, "output_config.format.type", "Input should be 'json_schema'")},
		{"no schema", topWith(`"output_config":{"format":{"type":"json_schema"}}`), nil,
			oneFault(content.CodeMissing, "output_config.format.schema", "Field required")},
		{"both", topWith(`"output_config":{"format":` + format + `},"output_format":` + format), nil,
			oneFault(content.CodeConflict, "output_format", "`output_format` and `output_config.format` may not both be given")},
		{"older spelling", topWith(`"output_format":` + format), nil, nil},
		{"task budget", topWith(`"output_config":{"task_budget":{"type":"tokens","total":19999}}`), nil,
			oneFault(content.CodeRange, "output_config.task_budget.total", "Input should be greater than or equal to 20000")},
		{"with citations", `{"model":"m","max_tokens":1,"output_config":{"format":` + format + `},"messages":[{"role":"user","content":[` +
			`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"citations":{"enabled":true}}]}]}`, nil,
			oneFault(content.CodeConflict, "output_config.format", "Citations may not be enabled together with an output format")},
	})
}

func TestValidateRawMembers(t *testing.T) {
	fault := func(name, value string, code content.Code, path, text string) ruleTest {
		return ruleTest{name + " " + value, topWith(`"` + name + `":` + value), nil, oneFault(code, path, text)}
	}
	strict := func(name, value, path, text string) ruleTest {
		return ruleTest{name + " " + value + ", strict", topWith(`"` + name + `":` + value), strictly, oneFault(content.CodeValue, path, text)}
	}
	good := func(name, value string) ruleTest {
		return ruleTest{name + " " + value, topWith(`"` + name + `":` + value), nil, nil}
	}
	skill := `{"type":"custom","skill_id":"s"}`
	runRules(t, []ruleTest{
		good("container", `"container_01"`), good("container", `{"id":null,"skills":[`+skill+`]}`),
		strict("container", `{"skills":[{"type":"own","skill_id":"s"}]}`, "container.skills.0.type", "Input should be 'anthropic' or 'custom'"),
		fault("container", `{"skills":[{"type":"custom"}]}`, content.CodeMissing, "container.skills.0.skill_id", "Field required"),
		fault("container", `{"skills":[{"type":"custom","skill_id":"`+strings.Repeat("s", 65)+`"}]}`, content.CodeRange,
			"container.skills.0.skill_id", "String should have at most 64 characters"),
		fault("container", `{"skills":[`+strings.Repeat(skill+",", 20)+skill+`]}`, content.CodeLimit,
			"container.skills", "List should have at most 20 items after validation, not 21"),
		good("diagnostics", `{"previous_message_id":null}`), good("diagnostics", `null`),
		fault("diagnostics", `{"previous_message_id":"`+strings.Repeat("x", 257)+`"}`, content.CodeRange,
			"diagnostics.previous_message_id", "String should have at most 256 characters"),
		fault("mcp_servers", `[{"type":"url","name":"a"}]`, content.CodeMissing, "mcp_servers.0.url", "Field required"),
		fault("mcp_servers", `[{"type":"stdio","name":"a","url":"b"}]`, content.CodeValue, "mcp_servers.0.type", "Input should be 'url'"),
		good("context_management", `{"edits":[{"type":"clear_tool_uses_20250919","clear_tool_inputs":["a"],"keep":{"type":"tool_uses","value":3}}]}`),
		good("context_management", `{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}}]}`),
		strict("context_management", `{"edits":[{"type":"clear_thinking_20251015","keep":"some"}]}`,
			"context_management.edits.0.clear_thinking_20251015.keep", "Input should be 'all'"),
		fault("context_management", `{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":49999}}]}`, content.CodeRange,
			"context_management.edits.0.compact_20260112.trigger.input_tokens.value", "Input should be greater than or equal to 50000"),
		fault("context_management", `{"edits":[{"type":"forget"}]}`, content.CodeValue, "context_management.edits.0",
			"Input tag 'forget' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015', 'compact_20260112'"),
		fault("compaction", `{"type":"zip"}`, content.CodeValue, "compaction.type", "Input should be 'summarize'"),
		fault("compaction", `{"type":"summarize"},"context_management":{}`, content.CodeConflict, "compaction",
			"`compaction` may not be given together with `context_management`"),
		good("thread", `{"type":"continue"}`), good("thread", `{"previous_message_id":1}`),
		fault("thread", `["create"]`, content.CodeType, "thread", "Input should be an object"),
		good("thread", `{"type":"create"}`), good("fallbacks", `"default"`), good("fallbacks", `[{"model":"a"},{"model":"b","max_tokens":5}]`),
		good("fallbacks", `"other"`), good("fallbacks", `[]`), good("fallbacks", `[{},{"model":1},{"model":"a"},{"model":"a"}]`),
		fault("fallbacks", `[{"model":"a"},"b"]`, content.CodeType, "fallbacks.1", "Input should be an object"),
		strict("fallback_credit_token", `{"token":"t","mode":"maybe"}`, "fallback_credit_token.mode", "Input should be 'strict' or 'best_effort'"),
		fault("fallback_credit_token", `"t","fallbacks":"default"`, content.CodeConflict, "fallback_credit_token",
			"`fallback_credit_token` may not be given together with `fallbacks`"),
		good("billing_policy", `{"bill_to":1}`),
		fault("billing_policy", `"self"`, content.CodeType, "billing_policy", "Input should be an object"),
		{"unknown members of carried objects, strict", topWith(`"thread":{"type":"create","x":1},"fallbacks":[{"model":1},{"y":2}],"billing_policy":{"z":3}`), &ValidateOptions{Strict: true}, []content.Violation{
			{Code: content.CodeUnknown, Path: "thread.x", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "fallbacks.1.y", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "billing_policy.z", Text: "Extra inputs are not permitted"}}},
	})
}
