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
		{"invalid name", withTools(`{"name":"a.b",` + schema + `}`), nil, oneViolation(content.CodeValue, "tools.0.custom.name", pattern)},
		{"long name", withTools(`{"name":"` + strings.Repeat("a", 129) + `",` + schema + `}`), nil, oneViolation(content.CodeValue, "tools.0.custom.name", pattern)},
		{"name at its limit", withTools(`{"name":"` + strings.Repeat("a", 128) + `",` + schema + `}`), nil, nil},
		{"no name", withTools(`{` + schema + `}`), nil, oneViolation(content.CodeMissing, "tools.0.custom.name", "Field required")},
		{"duplicate names", withTools(`{"name":"a",` + schema + `},{"name":"a",` + schema + `},{"name":"a",` + schema + `}`), nil,
			oneViolation(content.CodeConflict, "tools", "Tool names must be unique.")},
		{"name of a built-in tool", withTools(`{"name":"bash",` + schema + `},{"type":"bash_20250124","name":"bash"}`), nil,
			oneViolation(content.CodeConflict, "tools", "Tool names must be unique.")},
		{"no schema", withTools(`{"name":"a"}`), nil, oneViolation(content.CodeMissing, "tools.0.custom.input_schema", "Field required")},
		{"schema without type", withTools(`{"name":"a","input_schema":{"properties":{"type":{"type":"string"}}}}`), nil,
			oneViolation(content.CodeMissing, "tools.0.custom.input_schema.type", "Field required")},
		{"schema of a string", withTools(`{"name":"a","input_schema":{"type":"string"}}`), nil,
			oneViolation(content.CodeValue, "tools.0.custom.input_schema.type", "Input should be 'object'")},
		{"schema with type last", withTools(`{"name":"a","input_schema":{"$schema":"x\"}","properties":{"a":[{"b":"]"}]} , "n":-1.5e3,"type" : "object"}}`), nil, nil},
		{"schema not an object", withTools(`{"name":"a","input_schema":"x"}`), nil,
			oneViolation(content.CodeType, "tools.0.custom.input_schema", "Input should be a valid dictionary")},
		{"unknown caller", withTools(`{"name":"a",` + schema + `,"allowed_callers":["direct","x"]}`), strictOptions, oneViolation(content.CodeValue, "tools.0.custom.allowed_callers.1",
			"Input should be 'direct', 'code_execution_20250825', 'code_execution_20260120' or 'code_execution_20260521'")},
		{"all deferred", withTools(`{"name":"a",` + schema + `,"defer_loading":true}`), nil,
			oneViolation(content.CodeConflict, "tools", "At least one tool must not have defer_loading: true")},
		{"unknown member", withTools(`{"name":"a",` + schema + `,"x":1}`), nil, nil},
		{"unknown member, strict", withTools(`{"name":"a",` + schema + `,"x":1}`), &ValidateOptions{Strict: true},
			oneViolation(content.CodeUnknown, "tools.0.custom.x", "Extra inputs are not permitted")},
		{"open schema, strict", withTools(`{"name":"a","strict":true,"input_schema":{"type":"object","additionalProperties":false,"properties":{"p":{"type":"object"}}}}`), &ValidateOptions{Strict: true},
			oneViolation(content.CodeValue, "tools.0.custom.input_schema", "For 'object' type, 'additionalProperties' must be explicitly set to false")},
		{"open schema", withTools(`{"name":"a","strict":true,` + schema + `}`), nil, nil},
		{"open schema of a tool without strict, strict", withTools(`{"name":"a",` + schema + `}`), &ValidateOptions{Strict: true}, nil},
		{"too many strict tools", withTools(strictTools(21)), nil, oneViolation(content.CodeLimit, "tools", "At most 20 tools may be strict")},
		{"strict tools at the limit", withTools(strictTools(20)), nil, nil},
		{"unknown tool", withTools(`{"type":"abacus_1","name":"a"}`), nil, nil},
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
		{"fixed name", withTools(`{"type":"web_search_20250305","name":"search"}`), nil,
			oneViolation(content.CodeValue, "tools.0.web_search_20250305.name", "Input should be 'web_search'")},
		{"no name", withTools(`{"type":"bash_20250124"}`), nil, oneViolation(content.CodeMissing, "tools.0.bash_20250124.name", "Field required")},
		{"allowed and blocked domains", withTools(`{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"],"blocked_domains":["b.example"]}`), nil,
			oneViolation(content.CodeConflict, "tools.0.web_search_20250305", "allowed_domains and blocked_domains may not both be given")},
		{"allowed domains, blocked null", withTools(`{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"],"blocked_domains":null}`), nil, nil},
		{"max_uses 0", withTools(`{"type":"web_fetch_20250910","name":"web_fetch","max_uses":0}`), nil,
			oneViolation(content.CodeRange, "tools.0.web_fetch_20250910.max_uses", "Input should be greater than or equal to 1")},
		{"location type", withTools(`{"type":"web_search_20250305","name":"web_search","user_location":{"type":"exact"}}`), nil,
			oneViolation(content.CodeValue, "tools.0.web_search_20250305.user_location.type", "Input should be 'approximate'")},
		{"inclusion", withTools(`{"type":"web_search_20260318","name":"web_search","response_inclusion":"x"}`), strictOptions,
			oneViolation(content.CodeValue, "tools.0.web_search_20260318.response_inclusion", "Input should be 'full' or 'excluded'")},
		{"computer", withTools(`{"type":"computer_20250124","name":"computer","display_width_px":0}`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "tools.0.computer_20250124.display_width_px", Text: "Input should be greater than or equal to 1"},
			{Code: content.CodeMissing, Path: "tools.0.computer_20250124.display_height_px", Text: "Field required"}}},
		{"toolset", withTools(`{"type":"computer_toolset_20260801","configs":{"zoom":{"enabled":1},"click":true},"allowed_callers":["direct","code_execution_20250825"]}`), strictOptions, []content.Violation{
			{Code: content.CodeType, Path: "tools.0.computer_toolset_20260801.configs.click", Text: "Input should be an object"},
			{Code: content.CodeValue, Path: "tools.0.computer_toolset_20260801.allowed_callers.1", Text: "Input should be 'direct'"}}},
		{"url_sources", withTools(`{"type":"web_fetch_20260318","name":"web_fetch","url_sources":{"user_input":{"type":"some"}}}`), nil,
			oneViolation(content.CodeValue, "tools.0.web_fetch_20260318.url_sources.user_input",
				"Input tag 'some' found using 'type' does not match any of the expected tags: 'all', 'none'")},
		{"advisor without model", withTools(`{"type":"advisor_20260301","name":"advisor"}`), nil,
			oneViolation(content.CodeMissing, "tools.0.advisor_20260301.model", "Field required")},
		{"MCP toolset without server", withMembers(mcp + `"tools":[{"type":"mcp_toolset"}]`), nil,
			oneViolation(content.CodeMissing, "tools.0.mcp_toolset.mcp_server_name", "Field required")},
		{"ttl", withTools(`{"type":"bash_20250124","name":"bash","cache_control":{"type":"ephemeral","ttl":"1d"}}`), strictOptions,
			oneViolation(content.CodeValue, "tools.0.bash_20250124.cache_control.ttl", "Input should be '5m' or '1h'")},
		{"unknown member, strict", withTools(`{"type":"bash_20250124","name":"bash","x":1}`), &ValidateOptions{Strict: true},
			oneViolation(content.CodeUnknown, "tools.0.bash_20250124.x", "Extra inputs are not permitted")},
	})
	r, err := ParseRequest([]byte(withTools(`{"type":"abacus_1","name":"a"}`)))
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
		{"effort", withMembers(`"output_config":{"effort":"more"}`), strictOptions,
			oneViolation(content.CodeValue, "output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")},
		{"unknown format type", withMembers(`"output_config":{"format":{"type":"xml","schema":{}}}`), nil,
			oneViolation(content.CodeValue, "output_config.format.type", "Input should be 'json_schema'")},
		{"no schema", withMembers(`"output_config":{"format":{"type":"json_schema"}}`), nil,
			oneViolation(content.CodeMissing, "output_config.format.schema", "Field required")},
		{"output_format and output_config.format", withMembers(`"output_config":{"format":` + format + `},"output_format":` + format), nil,
			oneViolation(content.CodeConflict, "output_format", "`output_format` may not be given together with `output_config.format`")},
		{"output_format", withMembers(`"output_format":` + format), nil, nil},
		{"with citations", `{"model":"m","max_tokens":1,"output_config":{"format":` + format + `},"messages":[{"role":"user","content":[` +
			`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"citations":{"enabled":true}}]}]}`, nil,
			oneViolation(content.CodeConflict, "output_config.format", "Citations may not be enabled together with an output format")},
	})
}

func TestValidateRawMembers(t *testing.T) {
	invalid := func(name, value string, code content.Code, path, text string) ruleTest {
		return ruleTest{name + " " + value, withMembers(`"` + name + `":` + value), nil, oneViolation(code, path, text)}
	}
	strict := func(name, value, path, text string) ruleTest {
		return ruleTest{name + " " + value + ", strict", withMembers(`"` + name + `":` + value), strictOptions, oneViolation(content.CodeValue, path, text)}
	}
	valid := func(name, value string) ruleTest {
		return ruleTest{name + " " + value, withMembers(`"` + name + `":` + value), nil, nil}
	}
	skill := `{"type":"custom","skill_id":"s"}`
	runRules(t, []ruleTest{
		valid("container", `"container_01"`), valid("container", `{"id":null,"skills":[`+skill+`]}`),
		strict("container", `{"skills":[{"type":"own","skill_id":"s"}]}`, "container.skills.0.type", "Input should be 'anthropic' or 'custom'"),
		invalid("container", `{"skills":[{"type":"custom"}]}`, content.CodeMissing, "container.skills.0.skill_id", "Field required"),
		invalid("container", `{"skills":[{"type":"custom","skill_id":"`+strings.Repeat("s", 65)+`"}]}`, content.CodeRange,
			"container.skills.0.skill_id", "String should have at most 64 characters"),
		invalid("container", `{"skills":[`+strings.Repeat(skill+",", 20)+skill+`]}`, content.CodeLimit,
			"container.skills", "List should have at most 20 items after validation, not 21"),
		valid("diagnostics", `{"previous_message_id":null}`), valid("diagnostics", `null`),
		invalid("diagnostics", `{"previous_message_id":"`+strings.Repeat("x", 257)+`"}`, content.CodeRange,
			"diagnostics.previous_message_id", "String should have at most 256 characters"),
		invalid("mcp_servers", `[{"type":"url","name":"a"}]`, content.CodeMissing, "mcp_servers.0.url", "Field required"),
		invalid("mcp_servers", `[{"type":"stdio","name":"a","url":"b"}]`, content.CodeValue, "mcp_servers.0.type", "Input should be 'url'"),
		valid("context_management", `{"edits":[{"type":"clear_tool_uses_20250919","clear_tool_inputs":["a"],"keep":{"type":"tool_uses","value":3}}]}`),
		valid("context_management", `{"edits":[{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":1}}]}`),
		strict("context_management", `{"edits":[{"type":"clear_thinking_20251015","keep":"some"}]}`,
			"context_management.edits.0.clear_thinking_20251015.keep", "Input should be 'all'"),
		invalid("context_management", `{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":49999}}]}`, content.CodeRange,
			"context_management.edits.0.compact_20260112.trigger.input_tokens.value", "Input should be greater than or equal to 50000"),
		invalid("context_management", `{"edits":[{"type":"forget"}]}`, content.CodeValue, "context_management.edits.0",
			"Input tag 'forget' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015', 'compact_20260112'"),
		invalid("compaction", `{"type":"zip"}`, content.CodeValue, "compaction.type", "Input should be 'summarize'"),
		invalid("compaction", `{"type":"summarize"},"context_management":{}`, content.CodeConflict, "compaction",
			"`compaction` may not be given together with `context_management`"),
		valid("thread", `{"type":"continue"}`), valid("thread", `{"previous_message_id":1}`),
		invalid("thread", `["create"]`, content.CodeType, "thread", "Input should be an object"),
		valid("thread", `{"type":"create"}`), valid("fallbacks", `"default"`), valid("fallbacks", `[{"model":"a"},{"model":"b","max_tokens":5}]`),
		valid("fallbacks", `"other"`), valid("fallbacks", `[]`), valid("fallbacks", `[{},{"model":1},{"model":"a"},{"model":"a"}]`),
		invalid("fallbacks", `[{"model":"a"},"b"]`, content.CodeType, "fallbacks.1", "Input should be an object"),
		strict("fallback_credit_token", `{"token":"t","mode":"maybe"}`, "fallback_credit_token.mode", "Input should be 'strict' or 'best_effort'"),
		invalid("fallback_credit_token", `"t","fallbacks":"default"`, content.CodeConflict, "fallback_credit_token",
			"`fallback_credit_token` may not be given together with `fallbacks`"),
		valid("billing_policy", `{"bill_to":1}`),
		invalid("billing_policy", `"self"`, content.CodeType, "billing_policy", "Input should be an object"),
		{"unknown members of untyped objects, strict", withMembers(`"thread":{"type":"create","x":1},"fallbacks":[{"model":1},{"y":2}],"billing_policy":{"z":3}`), &ValidateOptions{Strict: true}, []content.Violation{
			{Code: content.CodeUnknown, Path: "thread.x", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "fallbacks.1.y", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "billing_policy.z", Text: "Extra inputs are not permitted"}}},
	})
}
