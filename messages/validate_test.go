package messages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/polywire/polywire/content"
)

// A ruleTest is a document and everything that is wrong with it.
type ruleTest struct {
	name  string
	body  string
	rules *ValidateOptions
	want  []content.Violation
}

// Bodies around what a row is about.

// strictly is the options of rows about values that only Strict refuses.
var strictly = &ValidateOptions{Strict: true}

// topWith is a good request with more members.
func topWith(members string) string {
	return `{"model":"m","max_tokens":5000,"messages":[{"role":"user","content":"hi"}],` + members + `}`
}

// userSays is a request of one user message.
func userSays(list string) string { return talk(`{"role":"user","content":[` + list + `]}`) }

// talk is a request of these messages, with two tools.
func talk(list string) string {
	return `{"model":"m","max_tokens":64,"messages":[` + list + `],"tools":[{"name":"t","input_schema":{"type":"object"}},` +
		`{"type":"web_search_20250305","name":"web_search"}]}`
}

// afterSaying is a request in which the assistant has said something.
func afterSaying(list string) string {
	return talk(`{"role":"user","content":"hi"},{"role":"assistant","content":[` + list + `]},{"role":"user","content":"go on"}`)
}

// oneTool is a request with one tool.
func oneTool(def string) string { return topWith(`"tools":[` + def + `]`) }

const (
	useA   = `{"type":"tool_use","id":"a","name":"t","input":{}}`
	useB   = `{"type":"tool_use","id":"b","name":"t","input":{}}`
	result = `{"type":"tool_result","tool_use_id":"a"}`
	schema = `"input_schema":{"type":"object"}`
	dot    = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

func oneFault(code content.Code, path, text string) []content.Violation {
	return []content.Violation{{Code: code, Path: path, Text: text}}
}

// runRules checks each row by parsing and validating, and that parsing alone finds
// nothing that Validate does not tell again.
func runRules(t *testing.T, tests []ruleTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequestString(tt.body)
			if r == nil {
				t.Fatalf("ParseRequest: %v", err)
			}
			list, _ := content.Violations(r.Validate(tt.rules))
			var got []content.Violation
			for _, e := range list {
				got = append(got, *e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Validate (-want +got):\n%s\n%s", diff, tt.body)
			}
		})
	}
}

func TestValidateExamples(t *testing.T) {
	files, _ := filepath.Glob("testdata/e*.json")
	if len(files) < 10 {
		t.Fatalf("only %d examples", len(files))
	}
	rules := map[string]*ValidateOptions{
		"e09.json": {Betas: []string{betaFiles}},
		"e29.json": {Count: true},
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		for _, version := range []string{"", version2026} {
			if version == version2026 && name == "e03.json" {
				continue // sampling members: only the older version has them
			}
			for _, strict := range []bool{false, true} {
				var rule ValidateOptions
				if r := rules[name]; r != nil {
					rule = *r
				}
				rule.Version, rule.Strict = version, strict
				r, err := ParseRequest(body)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if err := r.Validate(&rule); err != nil {
					t.Errorf("%s, version %q, strict %v:\n%v", name, version, strict, err)
				}
			}
		}
	}
}

func TestValidateTop(t *testing.T) {
	user := `"messages":[{"role":"user","content":"hi"}]`
	runRules(t, []ruleTest{
		{"nothing", `{}`, nil, []content.Violation{
			{Code: content.CodeMissing, Path: "model", Text: "Field required"},
			{Code: content.CodeMissing, Path: "messages", Text: "Field required"},
			{Code: content.CodeMissing, Path: "max_tokens", Text: "Field required"}}},
		{"empty model", `{"model":"","max_tokens":1,` + user + `}`, nil,
			oneFault(content.CodeRange, "model", "String should have at least 1 character")},
		{"longest model", `{"model":"` + strings.Repeat("m", 1024) + `","max_tokens":1,` + user + `}`, nil, nil},
		{"long model", `{"model":"` + strings.Repeat("m", 1025) + `","max_tokens":1,` + user + `}`, nil,
			oneFault(content.CodeLimit, "model", "String should have at most 1024 bytes, not 1025")},
		{"no max_tokens", `{"model":"m",` + user + `}`, nil, oneFault(content.CodeMissing, "max_tokens", "Field required")},
		{"no max_tokens, counting", `{"model":"m",` + user + `}`, &ValidateOptions{Count: true}, nil},
		{"max_tokens", `{"model":"m","max_tokens":-1,` + user + `}`, nil,
			oneFault(content.CodeRange, "max_tokens", "Input should be greater than or equal to 0")},
		{"max_tokens is text", `{"model":"m","max_tokens":"1",` + user + `}`, nil,
			oneFault(content.CodeType, "max_tokens", "Input should be a valid integer")},
		{"pre-warm", `{"model":"m","max_tokens":0,` + user + `}`, nil, nil},
		{"pre-warm, streamed", `{"model":"m","max_tokens":0,"stream":true,` + user + `}`, nil,
			oneFault(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with `stream`")},
		{"pre-warm, thinking", `{"model":"m","max_tokens":0,"thinking":{"type":"enabled","budget_tokens":1024},` + user + `}`, nil,
			oneFault(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with `thinking.enabled`")},
		{"pre-warm, format", `{"model":"m","max_tokens":0,"output_config":{"format":{"type":"json_schema","schema":{}}},` + user + `}`, nil,
			oneFault(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with `output_config.format`")},
		{"pre-warm, forced", `{"model":"m","max_tokens":0,"tools":[{"name":"t",` + schema + `}],"tool_choice":{"type":"any"},` + user + `}`, nil,
			oneFault(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with a `tool_choice` that forces tool use")},
		{"no messages", `{"model":"m","max_tokens":1,"messages":[]}`, nil,
			oneFault(content.CodeRange, "messages", "at least one message is required")},
		{"user_id", topWith(`"metadata":{"user_id":"` + strings.Repeat("é", 513) + `"}`), nil,
			oneFault(content.CodeRange, "metadata.user_id", "String should have at most 512 characters")},
		{"user_id at its limit", topWith(`"metadata":{"user_id":"` + strings.Repeat("é", 512) + `"}`), nil, nil},
		{"stop sequence", topWith(`"stop_sequences":["x"," \n","",3]`), nil, []content.Violation{
			{Code: content.CodeType, Path: "stop_sequences.3", Text: "Input should be a valid string"},
			{Code: content.CodeValue, Path: "stop_sequences", Text: "each stop sequence must contain non-whitespace"}}},
		{"service tier", topWith(`"service_tier":"cheap"`), strictly,
			oneFault(content.CodeValue, "service_tier", "Input should be 'auto' or 'standard_only'")},
		{"speed", topWith(`"speed":"slow"`), strictly, oneFault(content.CodeValue, "speed", "Input should be 'standard' or 'fast'")},
		{"unknown member", topWith(`"x_new":{"a":1}`), nil, nil},
		{"unknown member, strict", topWith(`"x_new":{"a":1}`), &ValidateOptions{Strict: true},
			oneFault(content.CodeUnknown, "x_new", "Extra inputs are not permitted")},
		{"counting what is not counted", topWith(`"stream":true`), &ValidateOptions{Strict: true, Count: true}, []content.Violation{
			{Code: content.CodeUnknown, Path: "max_tokens", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "stream", Text: "Extra inputs are not permitted"}}},
	})
}

func TestValidateSampling(t *testing.T) {
	think := `"thinking":{"type":"enabled","budget_tokens":1024}`
	runRules(t, []ruleTest{
		{"too cold", topWith(`"temperature":-0.1,"top_p":-1,"top_k":-1`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "temperature", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: "top_p", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: "top_k", Text: "Input should be greater than or equal to 0"}}},
		{"too hot", topWith(`"temperature":1.1,"top_p":2`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "temperature", Text: "Input should be less than or equal to 1"},
			{Code: content.CodeRange, Path: "top_p", Text: "Input should be less than or equal to 1"}}},
		{"the ends", topWith(`"temperature":0,"top_p":1,"top_k":0`), nil, nil},
		{"newer version", topWith(`"temperature":1,"top_p":1,"top_k":5`), &ValidateOptions{Version: version2026}, []content.Violation{
			{Code: content.CodeUnknown, Path: "temperature", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "top_p", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "top_k", Text: "Extra inputs are not permitted"}}},
		{"temperature and thinking", topWith(`"temperature":0.5,` + think), nil, oneFault(content.CodeConflict, "",
			"`temperature` may only be set to 1 when thinking is enabled or in adaptive mode")},
		{"temperature and adaptive thinking", topWith(`"temperature":0.5,"thinking":{"type":"adaptive"}`), nil, oneFault(content.CodeConflict, "",
			"`temperature` may only be set to 1 when thinking is enabled or in adaptive mode")},
		{"temperature 1 and thinking", topWith(`"temperature":1,` + think), nil, nil},
		{"temperature without thinking", topWith(`"temperature":0.5,"thinking":{"type":"disabled"}`), nil, nil},
		{"top_p and thinking", topWith(`"top_p":0.9,` + think), nil,
			oneFault(content.CodeConflict, "", "`top_p` must be unset when thinking is enabled.")},
		{"a high top_p and thinking", topWith(`"top_p":0.95,` + think), nil, nil},
		{"top_k and thinking", topWith(`"top_k":5,` + think), nil,
			oneFault(content.CodeConflict, "", "`top_k` must be unset when thinking is enabled.")},
	})
}

// Without Strict, settings accept values that are newer than this package.
func TestValidateUnknownValues(t *testing.T) {
	var tests []ruleTest
	for _, m := range []string{
		`"speed":"turbo"`, `"service_tier":"priority"`, `"thinking":{"type":"adaptive","display":"full"}`,
		`"output_config":{"effort":"ultra"}`, `"cache_control":{"type":"ephemeral","ttl":"1d"}`,
		`"container":{"skills":[{"type":"own","skill_id":"s"}]}`,
		`"tools":[{"name":"a",` + schema + `,"allowed_callers":["code_execution_20990101"]}]`,
	} {
		tests = append(tests, ruleTest{m, topWith(m), nil, nil})
	}
	runRules(t, append(tests,
		ruleTest{"unknown ttl between known ones", userSays(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1d"}},` +
			`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`), nil, nil},
		ruleTest{"speed of the wrong type", topWith(`"speed":1`), nil, oneFault(content.CodeType, "speed", "Input should be a valid string")}))
}

func TestValidateThinking(t *testing.T) {
	runRules(t, []ruleTest{
		{"budget", topWith(`"thinking":{"type":"enabled","budget_tokens":1023}`), nil,
			oneFault(content.CodeRange, "thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024")},
		{"no budget", topWith(`"thinking":{"type":"enabled"}`), nil,
			oneFault(content.CodeMissing, "thinking.enabled.budget_tokens", "Field required")},
		{"budget and max_tokens", topWith(`"thinking":{"type":"enabled","budget_tokens":5000}`), nil,
			oneFault(content.CodeConflict, "", "`max_tokens` must be greater than `thinking.budget_tokens`.")},
		{"budget just below", topWith(`"thinking":{"type":"enabled","budget_tokens":4999}`), nil, nil},
		{"interleaved", topWith(`"thinking":{"type":"enabled","budget_tokens":9000}`), &ValidateOptions{Betas: []string{betaInterleaved}}, nil},
		{"budget of another kind", topWith(`"thinking":{"type":"adaptive","budget_tokens":2000}`), nil,
			oneFault(content.CodeUnknown, "thinking.adaptive.budget_tokens", "Extra inputs are not permitted")},
		{"display", topWith(`"thinking":{"type":"adaptive","display":"loud"}`), strictly,
			oneFault(content.CodeValue, "thinking.adaptive.display", "Input should be 'summarized', 'omitted' or 'updates'")},
		{"display, off", topWith(`"thinking":{"type":"disabled","display":"omitted"}`), nil,
			oneFault(content.CodeUnknown, "thinking.disabled.display", "Extra inputs are not permitted")},
		{"display, between", topWith(`"thinking":{"type":"between_tools","display":"omitted"}`), nil,
			oneFault(content.CodeUnknown, "thinking.between_tools.display", "Extra inputs are not permitted")},
		{"tag", topWith(`"thinking":{"type":"on"}`), nil, oneFault(content.CodeValue, "thinking",
			"Input tag 'on' found using 'type' does not match any of the expected tags: 'adaptive', 'enabled', 'disabled', 'between_tools'")},
		{"binding", topWith(`"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"x"}}`), strictly,
			oneFault(content.CodeValue, "thinking.adaptive.block_binding.prefix_mismatch_behavior", "Input should be 'error' or 'drop_block'")},
		{"forced", topWith(`"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"t",` + schema + `}],"tool_choice":{"type":"any"}`), nil,
			oneFault(content.CodeConflict, "", "Thinking may not be enabled when tool_choice forces tool use.")},
		{"forced, adaptive", topWith(`"thinking":{"type":"adaptive"},"tools":[{"name":"t",` + schema + `}],"tool_choice":{"type":"any"}`), nil, nil},
	})
}

func TestValidateToolChoice(t *testing.T) {
	tools := `"tools":[{"name":"t",` + schema + `}],`
	runRules(t, []ruleTest{
		{"no tools", topWith(`"tool_choice":{"type":"auto"}`), nil,
			oneFault(content.CodeConflict, "", "tool_choice may only be specified while providing tools.")},
		{"tag", topWith(tools + `"tool_choice":{"type":"all"}`), nil, oneFault(content.CodeValue, "tool_choice",
			"Input tag 'all' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'")},
		{"no name", topWith(tools + `"tool_choice":{"type":"tool"}`), nil, oneFault(content.CodeMissing, "tool_choice.tool.name", "Field required")},
		{"other name", topWith(tools + `"tool_choice":{"type":"tool","name":"u"}`), nil,
			oneFault(content.CodeValue, "tool_choice.tool.name", "Tool 'u' not found in provided tools")},
		{"name", topWith(tools + `"tool_choice":{"type":"tool","name":"t"}`), nil, nil},
		{"needless name", topWith(tools + `"tool_choice":{"type":"any","name":"t"}`), nil,
			oneFault(content.CodeUnknown, "tool_choice.any.name", "Extra inputs are not permitted")},
		{"flag with none", topWith(tools + `"tool_choice":{"type":"none","disable_parallel_tool_use":true}`), nil,
			oneFault(content.CodeUnknown, "tool_choice.none.disable_parallel_tool_use", "Extra inputs are not permitted")},
		{"flag", topWith(tools + `"tool_choice":{"type":"any","disable_parallel_tool_use":true}`), nil, nil},
	})
}
