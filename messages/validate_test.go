package messages

import (
	"encoding/base64"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/internal/test/workload"
)

// A ruleTest is a document and all its violations.
type ruleTest struct {
	name  string
	body  string
	rules *ValidateOptions
	want  []content.Violation
}

// strictOptions is for tests of values that only Strict refuses.
var strictOptions = &ValidateOptions{Strict: true}

// reportedRule is for rules that only Strict applies, because only reports show them. The
// document is valid without Strict.
var reportedRule = &ValidateOptions{Strict: true}

// withMembers returns a valid request with additional members.
func withMembers(members string) string {
	return `{"model":"m","max_tokens":5000,"messages":[{"role":"user","content":"hi"}],` + members + `}`
}

// withUserBlocks returns a request with one user message.
func withUserBlocks(list string) string {
	return withMessages(`{"role":"user","content":[` + list + `]}`)
}

// withMessages returns a request with these messages and two tools.
func withMessages(list string) string {
	return `{"model":"m","max_tokens":64,"messages":[` + list + `],"tools":[{"name":"t","input_schema":{"type":"object"}},` +
		`{"type":"web_search_20250305","name":"web_search"}]}`
}

// withAssistantBlocks returns a request with an assistant message between two user
// messages.
func withAssistantBlocks(list string) string {
	return withMessages(`{"role":"user","content":"hi"},{"role":"assistant","content":[` + list + `]},{"role":"user","content":"go on"}`)
}

// withTools returns a request with these tools.
func withTools(def string) string { return withMembers(`"tools":[` + def + `]`) }

const (
	useA   = `{"type":"tool_use","id":"a","name":"t","input":{}}`
	useB   = `{"type":"tool_use","id":"b","name":"t","input":{}}`
	result = `{"type":"tool_result","tool_use_id":"a"}`
	schema = `"input_schema":{"type":"object"}`
	dot    = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

func oneViolation(code content.Code, path, text string) []content.Violation {
	return []content.Violation{{Code: code, Path: path, Text: text}}
}

// runRules parses and validates the document of each test.
func runRules(t *testing.T, tests []ruleTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(tt.body))
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
			if tt.rules != reportedRule {
				return
			}
			if err := r.Validate(nil); err != nil {
				t.Errorf("without Strict: %v\n%s", err, tt.body)
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
		{"empty object", `{}`, nil, []content.Violation{
			{Code: content.CodeMissing, Path: "model", Text: "Field required"},
			{Code: content.CodeMissing, Path: "messages", Text: "Field required"},
			{Code: content.CodeMissing, Path: "max_tokens", Text: "Field required"}}},
		{"empty model", `{"model":"","max_tokens":1,` + user + `}`, nil,
			oneViolation(content.CodeRange, "model", "String should have at least 1 character")},
		{"longest model", `{"model":"` + strings.Repeat("m", 1024) + `","max_tokens":1,` + user + `}`, nil, nil},
		{"long model", `{"model":"` + strings.Repeat("m", 1025) + `","max_tokens":1,` + user + `}`, nil,
			oneViolation(content.CodeLimit, "model", "String should have at most 1024 bytes, not 1025")},
		{"no max_tokens", `{"model":"m",` + user + `}`, nil, oneViolation(content.CodeMissing, "max_tokens", "Field required")},
		{"no max_tokens, count", `{"model":"m",` + user + `}`, &ValidateOptions{Count: true}, nil},
		{"negative max_tokens", `{"model":"m","max_tokens":-1,` + user + `}`, nil,
			oneViolation(content.CodeRange, "max_tokens", "Input should be greater than or equal to 0")},
		{"max_tokens is text", `{"model":"m","max_tokens":"1",` + user + `}`, nil,
			oneViolation(content.CodeType, "max_tokens", "Input should be a valid integer")},
		{"pre-warm", `{"model":"m","max_tokens":0,` + user + `}`, nil, nil},
		{"pre-warm, streamed", `{"model":"m","max_tokens":0,"stream":true,` + user + `}`, nil,
			oneViolation(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with `stream`")},
		{"pre-warm, thinking", `{"model":"m","max_tokens":0,"thinking":{"type":"enabled","budget_tokens":1024},` + user + `}`, nil,
			oneViolation(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with `thinking.enabled`")},
		{"pre-warm, format", `{"model":"m","max_tokens":0,"output_config":{"format":{"type":"json_schema","schema":{}}},` + user + `}`, nil,
			oneViolation(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with `output_config.format`")},
		{"pre-warm, forced", `{"model":"m","max_tokens":0,"tools":[{"name":"t",` + schema + `}],"tool_choice":{"type":"any"},` + user + `}`, nil,
			oneViolation(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with a `tool_choice` that forces tool use")},
		{"no messages", `{"model":"m","max_tokens":1,"messages":[]}`, nil,
			oneViolation(content.CodeRange, "messages", "at least one message is required")},
		{"user_id", withMembers(`"metadata":{"user_id":"` + strings.Repeat("é", 513) + `"}`), nil,
			oneViolation(content.CodeRange, "metadata.user_id", "String should have at most 512 characters")},
		{"user_id at its limit", withMembers(`"metadata":{"user_id":"` + strings.Repeat("é", 512) + `"}`), nil, nil},
		{"blank stop sequence", withMembers(`"stop_sequences":["x",""]`), reportedRule,
			oneViolation(content.CodeValue, "stop_sequences", "each stop sequence must contain non-whitespace")},
		{"stop sequence", withMembers(`"stop_sequences":["x"," \n","",3]`), strictOptions, []content.Violation{
			{Code: content.CodeType, Path: "stop_sequences.3", Text: "Input should be a valid string"},
			{Code: content.CodeValue, Path: "stop_sequences", Text: "each stop sequence must contain non-whitespace"}}},
		{"service tier", withMembers(`"service_tier":"cheap"`), strictOptions,
			oneViolation(content.CodeValue, "service_tier", "Input should be 'auto' or 'standard_only'")},
		{"speed", withMembers(`"speed":"slow"`), strictOptions, oneViolation(content.CodeValue, "speed", "Input should be 'standard' or 'fast'")},
		{"unknown member", withMembers(`"x_new":{"a":1}`), nil, nil},
		{"unknown member, strict", withMembers(`"x_new":{"a":1}`), &ValidateOptions{Strict: true},
			oneViolation(content.CodeUnknown, "x_new", "Extra inputs are not permitted")},
		{"count, members of messages", withMembers(`"stream":true`), &ValidateOptions{Strict: true, Count: true}, []content.Violation{
			{Code: content.CodeUnknown, Path: "max_tokens", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "stream", Text: "Extra inputs are not permitted"}}},
	})
}

func TestValidateSampling(t *testing.T) {
	think := `"thinking":{"type":"enabled","budget_tokens":1024}`
	runRules(t, []ruleTest{
		{"below the minimum", withMembers(`"temperature":-0.1,"top_p":-0.1,"top_k":-2`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "temperature", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: "top_p", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: "top_k", Text: "Input should be greater than or equal to 0"}}},
		{"above the maximum", withMembers(`"temperature":1.1,"top_p":2`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "temperature", Text: "Input should be less than or equal to 1"},
			{Code: content.CodeRange, Path: "top_p", Text: "Input should be less than or equal to 1"}}},
		{"at the limits", withMembers(`"temperature":0,"top_p":1,"top_k":0`), nil, nil},
		{"marks for not set", withMembers(`"top_p":-1,"top_k":-1,` + think), reportedRule, []content.Violation{
			{Code: content.CodeRange, Path: "top_p", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: "top_k", Text: "Input should be greater than or equal to 0"}}},
		{"newer version", withMembers(`"temperature":1,"top_p":1,"top_k":5`), &ValidateOptions{Version: version2026}, []content.Violation{
			{Code: content.CodeUnknown, Path: "temperature", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "top_p", Text: "Extra inputs are not permitted"},
			{Code: content.CodeUnknown, Path: "top_k", Text: "Extra inputs are not permitted"}}},
		{"temperature and thinking", withMembers(`"temperature":0.5,` + think), reportedRule, oneViolation(content.CodeConflict, "",
			"`temperature` may only be set to 1 when thinking is enabled or in adaptive mode")},
		{"temperature and adaptive thinking", withMembers(`"temperature":0.5,"thinking":{"type":"adaptive"}`), reportedRule, oneViolation(content.CodeConflict, "",
			"`temperature` may only be set to 1 when thinking is enabled or in adaptive mode")},
		{"temperature 1 and thinking", withMembers(`"temperature":1,` + think), nil, nil},
		{"temperature without thinking", withMembers(`"temperature":0.5,"thinking":{"type":"disabled"}`), nil, nil},
		{"top_p and thinking", withMembers(`"top_p":0.9,` + think), reportedRule,
			oneViolation(content.CodeConflict, "", "`top_p` must be unset when thinking is enabled.")},
		{"high top_p and thinking", withMembers(`"top_p":0.95,` + think), nil, nil},
		{"top_k and thinking", withMembers(`"top_k":5,` + think), reportedRule,
			oneViolation(content.CodeConflict, "", "`top_k` must be unset when thinking is enabled.")},
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
		tests = append(tests, ruleTest{m, withMembers(m), nil, nil})
	}
	runRules(t, append(tests,
		ruleTest{"unknown ttl between known ones", withUserBlocks(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1d"}},` +
			`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}`), nil, nil},
		ruleTest{"speed of the wrong type", withMembers(`"speed":1`), nil, oneViolation(content.CodeType, "speed", "Input should be 'standard' or 'fast'")}))
}

func TestValidateThinking(t *testing.T) {
	runRules(t, []ruleTest{
		{"budget", withMembers(`"thinking":{"type":"enabled","budget_tokens":1023}`), nil,
			oneViolation(content.CodeRange, "thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024")},
		{"no budget", withMembers(`"thinking":{"type":"enabled"}`), nil,
			oneViolation(content.CodeMissing, "thinking.enabled.budget_tokens", "Field required")},
		{"budget and max_tokens", withMembers(`"thinking":{"type":"enabled","budget_tokens":5000}`), nil,
			oneViolation(content.CodeConflict, "", "`max_tokens` must be greater than `thinking.budget_tokens`.")},
		{"budget just below", withMembers(`"thinking":{"type":"enabled","budget_tokens":4999}`), nil, nil},
		{"interleaved", withMembers(`"thinking":{"type":"enabled","budget_tokens":9000}`), &ValidateOptions{Betas: []string{betaInterleaved}}, nil},
		{"budget of another kind", withMembers(`"thinking":{"type":"adaptive","budget_tokens":2000}`), nil,
			oneViolation(content.CodeUnknown, "thinking.adaptive.budget_tokens", "Extra inputs are not permitted")},
		{"display", withMembers(`"thinking":{"type":"adaptive","display":"loud"}`), strictOptions,
			oneViolation(content.CodeValue, "thinking.adaptive.display", "Input should be 'summarized', 'omitted' or 'updates'")},
		{"display, off", withMembers(`"thinking":{"type":"disabled","display":"omitted"}`), nil,
			oneViolation(content.CodeUnknown, "thinking.disabled.display", "Extra inputs are not permitted")},
		{"display, between", withMembers(`"thinking":{"type":"between_tools","display":"omitted"}`), nil,
			oneViolation(content.CodeUnknown, "thinking.between_tools.display", "Extra inputs are not permitted")},
		{"tag", withMembers(`"thinking":{"type":"on"}`), nil, oneViolation(content.CodeValue, "thinking",
			"Input tag 'on' found using 'type' does not match any of the expected tags: 'adaptive', 'enabled', 'disabled', 'between_tools'")},
		{"binding", withMembers(`"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"x"}}`), strictOptions,
			oneViolation(content.CodeValue, "thinking.adaptive.block_binding.prefix_mismatch_behavior", "Input should be 'error' or 'drop_block'")},
		{"forced", withMembers(`"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"t",` + schema + `}],"tool_choice":{"type":"any"}`), reportedRule,
			oneViolation(content.CodeConflict, "", "Thinking may not be enabled when tool_choice forces tool use.")},
		{"forced, adaptive", withMembers(`"thinking":{"type":"adaptive"},"tools":[{"name":"t",` + schema + `}],"tool_choice":{"type":"any"}`), nil, nil},
	})
}

func TestValidateToolChoice(t *testing.T) {
	tools := `"tools":[{"name":"t",` + schema + `}],`
	runRules(t, []ruleTest{
		{"no tools", withMembers(`"tool_choice":{"type":"auto"}`), reportedRule,
			oneViolation(content.CodeConflict, "", "tool_choice may only be specified while providing tools.")},
		{"other name", withMembers(tools + `"tool_choice":{"type":"tool","name":"u"}`), reportedRule,
			oneViolation(content.CodeValue, "tool_choice.tool.name", "Tool 'u' not found in provided tools")},
		{"tag", withMembers(tools + `"tool_choice":{"type":"all"}`), nil, oneViolation(content.CodeValue, "tool_choice",
			"Input tag 'all' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'")},
		{"no name", withMembers(tools + `"tool_choice":{"type":"tool"}`), nil, oneViolation(content.CodeMissing, "tool_choice.tool.name", "Field required")},
		{"name", withMembers(tools + `"tool_choice":{"type":"tool","name":"t"}`), nil, nil},
		{"needless name", withMembers(tools + `"tool_choice":{"type":"any","name":"t"}`), nil,
			oneViolation(content.CodeUnknown, "tool_choice.any.name", "Extra inputs are not permitted")},
		{"flag with none", withMembers(tools + `"tool_choice":{"type":"none","disable_parallel_tool_use":true}`), nil,
			oneViolation(content.CodeUnknown, "tool_choice.none.disable_parallel_tool_use", "Extra inputs are not permitted")},
		{"flag", withMembers(tools + `"tool_choice":{"type":"any","disable_parallel_tool_use":true}`), nil, nil},
	})
}

// constructedRequest returns a request that was not parsed, with one message.
func constructedRequest(parts ...content.Part) *Request {
	n := int64(10)
	return &Request{Model: "m", MaxTokens: &n, Messages: []content.Turn{{Role: content.RoleUser, Parts: parts}},
		Tools: []content.Tool{{Name: "t", Input: content.Schema{JSON: `{"type":"object"}`}}}}
}

func violationTexts(err error) []string {
	list, _ := content.Violations(err)
	var all []string
	for _, e := range list {
		all = append(all, string(e.Code)+" "+e.Error())
	}
	return all
}

// In a constructed request, nil values are violations and do not cause a panic.
func TestValidateConstructed(t *testing.T) {
	const (
		noPart    = "the part must not be nil"
		noSource  = "the source is nil or of a kind that the Messages format does not support"
		otherPart = "a part of another format is not supported by the Messages format"
	)
	nan := math.NaN()
	odd := constructedRequest(&content.Text{Text: "a"})
	odd.Temperature = &nan
	odd.Extra, odd.Tools[0].Input.JSON = &content.Extra{Format: Format, JSON: `{"container":`}, `{"type":"object"`
	asks := constructedRequest(&content.Text{Text: "a"})
	asks.Messages = append(asks.Messages,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "a", Name: "t", Input: `{"a":}`}, &content.ToolUse{}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "a", Parts: []content.Part{nil, (*content.Image)(nil)}}}})
	tests := []struct {
		name string
		r    *Request
		want []string
	}{
		{"good", constructedRequest(&content.Text{Text: "a"}), nil},
		{"empty request", &Request{}, []string{"range model: String should have at least 1 character", "missing max_tokens: Field required", "range messages: at least one message is required"}},
		{"nil parts", constructedRequest(nil, (*content.Text)(nil), (*content.ToolResult)(nil), &content.Image{}, &content.Image{Source: (*content.Base64)(nil)}),
			[]string{"missing messages.0.content.0: " + noPart, "missing messages.0.content.1: " + noPart, "missing messages.0.content.2: " + noPart,
				"missing messages.0.content.3.image.source: " + noSource, "missing messages.0.content.4.image.source: " + noSource}},
		{"empty sources", constructedRequest(&content.Image{Source: &content.Base64{}}, &content.Image{Source: &content.URL{}}, &content.Document{Source: &content.Parts{Parts: []content.Part{nil}}}),
			[]string{"missing messages.0.content.2.document.source.content.content.0: " + noPart, "range messages.0.content.0.image.source.base64.media_type: " + textNotEmpty,
				"range messages.0.content.1.image.source.url.url: " + textNotEmpty}},
		{"parts of another format", constructedRequest(&content.Unknown{Format: "other", Kind: "thing", Raw: "{}"}, &content.Media{}, &content.Unknown{Kind: "thing", Raw: "["}),
			[]string{"unsupported messages.0.content.0: " + otherPart, "unsupported messages.0.content.1: this kind of part is not supported by the Messages format",
				"unsupported messages.0.content.2: " + otherPart}},
		{"invalid JSON", odd, []string{"range temperature: must be a finite number", "syntax tools.0.custom.input_schema: is not valid JSON: " + syntaxOf(`{"type":"object"`),
			"syntax the extra members are not valid JSON: " + syntaxOf(`{"container":`)}},
		{"tool calls and results", asks, []string{"syntax messages.1.content.0.tool_use.input: is not valid JSON: " + syntaxOf(`{"a":}`),
			"missing messages.2.content.0.tool_result.content.0: " + noPart, "missing messages.2.content.0.tool_result.content.1: " + noPart,
			"range messages.1.content.1.tool_use.id: " + textNotEmpty, "range messages.1.content.1.tool_use.name: " + textNotEmpty}},
		{"value", &Request{Model: "m", MaxTokens: asks.MaxTokens, Messages: asks.Messages[:1], Tools: []content.Tool{{}}, Extra: &content.Extra{JSON: `{"container":1}`}},
			[]string{"type container: Input should be a valid string or an object", "range tools.0.custom.name: " + textNotEmpty, "missing tools.0.custom.input_schema: Field required"}},
		{"system", &Request{Model: "m", MaxTokens: asks.MaxTokens, Messages: constructedRequest(&content.Text{Text: "a"}).Messages, System: []content.Part{nil, &content.Image{}}},
			[]string{"missing system.0: " + noPart, "missing system.1.source: " + noSource, "value system.1.type: Input should be 'text'"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, violationTexts(tt.r.Validate(nil))); diff != "" {
				t.Errorf("Validate (-want +got):\n%s", diff)
			}
		})
	}
}

// syntaxOf returns the error text of the JSON parser.
func syntaxOf(text string) string {
	return jsonwire.Valid(text, jsonwire.Limits{}).Error()
}

// Violations beyond a limit are only counted, without allocations.
func TestValidateBoundsViolations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	var allocs [2]float64
	for i, n := range []int{5000, 10000} {
		body := withUserBlocks(strings.TrimSuffix(strings.Repeat(`{"type":"thinking","thinking":"","signature":"s"},`, n), ","))
		r, err := ParseRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		list, more := content.Violations(r.Validate(nil))
		if len(list) != content.MaxViolations || more != n-content.MaxViolations {
			t.Errorf("%d violations and %d more, want a total of %d", len(list), more, n)
		}
		allocs[i] = testing.AllocsPerRun(2, func() { r.Validate(nil) })
	}
	if allocs[1] > allocs[0]+50 {
		t.Errorf("%v allocations for 5000 violations, %v for 10000", allocs[0], allocs[1])
	}
}

// Validate detects long base64 data that was changed after parsing.
func TestValidateChangedData(t *testing.T) {
	pdf := "JVBERi0xLjcK" + strings.Repeat("QUJD", 3000)
	part := `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}`
	for _, change := range []string{"", strings.Repeat("!", len(pdf)), pdf[:len(pdf)-1] + "=", "JVBERi0xLjcK" + strings.Repeat("Q\nJ", 3000)} {
		r, err := ParseRequest([]byte(withUserBlocks(part + "," + part)))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(nil); err != nil {
			t.Fatal(err)
		}
		if change == "" {
			continue
		}
		r.Messages[0].Parts[0].(*content.Document).Source.(*content.Base64).Data = change
		list, _ := content.Violations(r.Validate(nil))
		if len(list) != 1 || list[0].Path != "messages.0.content.0.document.source.base64.data" {
			t.Errorf("data changed to %.20q…: %v, want one violation", change, list)
		}
	}
	r, _ := ParseRequest([]byte(withUserBlocks(strings.Replace(part, "QUJD", "QU!D", 1) + "," + part)))
	if list, _ := content.Violations(r.Validate(nil)); len(list) != 1 {
		t.Errorf("one invalid file of two: %v, want one violation", list)
	}
}

// conversation returns a request with n tool calls, their results, and n texts.
func conversation(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c%d","name":"t","input":{"a":1}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"done"}]}`, i, i)
	}
	return withMessages(`{"role":"user","content":"go"}` + b.String())
}

// Validating a valid request allocates maps of names and ids, and little else that
// depends on its size.
func TestValidateAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	for _, tt := range []struct{ calls, limit int }{{0, 4}, {30, 11}, {1000, 30}, {10000, 120}} {
		r, err := ParseRequest([]byte(conversation(tt.calls)))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(nil); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(5, func() { r.Validate(nil) }); n > float64(tt.limit) {
			t.Errorf("%d calls: %v allocations, want at most %d", tt.calls, n, tt.limit)
		}
	}
}

// Typical requests are valid, also with Strict.
func TestValidateWorkloads(t *testing.T) {
	for name, make := range map[string]func() string{"small": workload.Small, "chat": workload.Chat, "agent": workload.Agent,
		"intl": workload.Intl, "image": workload.Image} {
		r, err := ParseRequest([]byte(make()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, rules := range []*ValidateOptions{nil, {Strict: true}, {Count: true}} {
			if err := r.Validate(rules); err != nil {
				t.Errorf("%s by %+v:\n%v", name, rules, err)
			}
		}
	}
}

func FuzzValidate(f *testing.F) {
	files, _ := filepath.Glob("testdata/e*.json")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body), false)
	}
	f.Add(conversation(2), true)
	f.Add(`{"messages":[{"role":"system","clear_at":"next_user_message","content":[{}]},{"content":[{"type":"tool_result"}]}],"tools":[{"type":"mcp_toolset"}]}`, true)
	f.Fuzz(func(t *testing.T, body string, strict bool) {
		r, err := ParseRequest([]byte(body))
		if r == nil {
			return
		}
		rules := &ValidateOptions{Strict: strict}
		all := r.Validate(rules)
		if err != nil && all == nil {
			t.Fatalf("ParseRequest reports %v, but Validate reports nothing", err)
		}
		if diff := cmp.Diff(violationTexts(all), violationTexts(r.Validate(rules))); diff != "" {
			t.Errorf("second Validate differs:\n%s", diff)
		}
		// Without its origin the request may have other violations, but no panic.
		bare := *r
		bare.origin = nil
		bare.Validate(rules)
	})
}

// validDocuments are valid and contain all unions of the format.
var validDocuments = []string{
	`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},
		{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhDQAHAAAAAA=="}},
		{"type":"image","source":{"type":"url","url":"https://a.example/b"}},
		{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t","context":"c","citations":{"enabled":false}},
		{"type":"document","source":{"type":"content","content":[{"type":"text","text":"e"}]}}]}]}`,
	`{"model":"m","max_tokens":9000,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"a"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"AAAA"},{"type":"redacted_thinking","data":"AAAA"},
		{"type":"text","text":"b"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":[{"type":"text","text":"r"},
		{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhDQAHAAAAAA=="}}]}]}],
		"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}],
		"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"thinking":{"type":"enabled","budget_tokens":2000}}`,
	`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}],
		"citations":{"enabled":false}}]},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"t","url":"https://a.example","encrypted_content":"AAAA"}]},
		{"type":"text","text":"c","citations":[{"type":"char_location","cited_text":"a","document_index":0,"document_title":"t","start_char_index":0,"end_char_index":1}]}]},
		{"role":"user","content":"b"}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}],
		"metadata":{"user_id":"u"},"stop_sequences":["a"],"service_tier":"auto","temperature":1,"output_config":{"effort":"low"}}`,
	`{"model":"m","max_tokens":9,"stream":true,"top_k":2,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{"type":"object"}}],
		"tool_choice":{"type":"tool","name":"f"},"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}}}`,
}

// A value of a wrong type is reported once and causes no other violations.
func TestWrongTypesReportedOnce(t *testing.T) {
	formattest.CheckWrongTypes(t, validDocuments, func(body string) (validate func() error, parsed error) {
		r, err := ParseRequest([]byte(body))
		return func() error { return r.Validate(nil) }, err
	})
}

const (
	userTags      = "'text', 'image', 'document', 'search_result', 'tool_result', 'container_upload', 'compaction'"
	resultTags    = "'text', 'image', 'document', 'search_result', 'tool_reference', 'browser_state'"
	tagTextFormat = "Input tag '%' found using 'type' does not match any of the expected tags: "
	imageBase64   = "messages.0.content.0.image.source.base64"
	textImageType = "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
)

func tagText(tag, expected string) string {
	return strings.Replace(tagTextFormat, "%", tag, 1) + expected
}

func image(mediaType, data string) string {
	return withUserBlocks(`{"type":"image","source":{"type":"base64","media_type":"` + mediaType + `","data":"` + data + `"}}`)
}

// file returns a request with a document.
func file(mediaType string, data []byte) string {
	return withUserBlocks(`{"type":"document","source":{"type":"base64","media_type":"` + mediaType + `","data":"` +
		base64.StdEncoding.EncodeToString(data) + `"}}`)
}

func TestValidateSources(t *testing.T) {
	wide := base64.StdEncoding.EncodeToString([]byte("GIF89a\x41\x1f\x01\x00\x00\x00\x00")) // 8001 by 1
	many := strings.Repeat(`{"type":"image","source":{"type":"url","url":"https://img.example/a.png"}},`, 101)
	fileBlock := withUserBlocks(`{"type":"document","source":{"type":"file","file_id":"f"}}`)
	noFileBeta := oneViolation(content.CodeUnsupported, "messages.0.content.0.document.source",
		tagText("file", "'base64', 'text', 'content', 'url'")+" (a file source requires the value files-api-2025-04-14 in the header anthropic-beta)")
	link := func(url string) string {
		return withUserBlocks(`{"type":"image","source":{"type":"url","url":"` + url + `"}}`)
	}
	noURL := oneViolation(content.CodeValue, "messages.0.content.0.image.source.url.url", "Input should be a valid URL with the scheme http or https and a host")
	runRules(t, []ruleTest{
		{"good", image("image/png", dot), nil, nil},
		{"image/jpg", image("image/jpg", "/9j/wAALCAABAAEBAREA"), nil, nil},
		{"unsupported type", image("image/bmp", dot), nil, []content.Violation{
			{Code: content.CodeValue, Path: imageBase64 + ".media_type", Text: textImageType}}},
		{"type of another image", image("image/gif", dot), nil, oneViolation(content.CodeMedia, imageBase64,
			"The image was specified using the image/gif media type, but the image appears to be a image/png image")},
		{"text as image", image("image/png", "aGVsbG8="), nil, oneViolation(content.CodeMedia, imageBase64+".data",
			"Image does not match the provided media type image/png")},
		{"truncated header", image("image/png", "iVBORw0KGgo="), nil, oneViolation(content.CodeMedia, imageBase64+".data", "Could not process image")},
		{"too wide", image("image/gif", wide), nil, oneViolation(content.CodeLimit, imageBase64+".data",
			"At least one of the image dimensions exceed max allowed size: 8000 pixels")},
		{"too many bytes", image("image/png", dot), &ValidateOptions{Limits: content.Limits{FileBytes: 50}}, oneViolation(content.CodeLimit, imageBase64+".data",
			"image exceeds the maximum: 70 bytes > 50 bytes")},
		{"data URL", image("image/png", "data:image/png;base64,"+dot), nil, oneViolation(content.CodeMedia, imageBase64+".data",
			"invalid base64 data: it has a character that is not in the base64 alphabet")},
		{"line break", image("image/png", dot[:40]+`\n`+dot[40:]), nil, oneViolation(content.CodeMedia, imageBase64+".data",
			"invalid base64 data: it must be base64 without line breaks")},
		{"no padding", image("image/png", strings.TrimRight(dot, "=")), nil, oneViolation(content.CodeMedia, imageBase64+".data",
			"invalid base64 data: it has missing or misplaced base64 padding")},
		{"empty data", image("image/png", ""), nil, oneViolation(content.CodeRange, imageBase64+".data", "String should have at least 1 character")},
		{"text source for an image", withUserBlocks(`{"type":"image","source":{"type":"text","media_type":"text/plain","data":"x"}}`), nil,
			oneViolation(content.CodeValue, "messages.0.content.0.image.source", tagText("text", "'base64', 'url', 'file'"))},
		{"no source", withUserBlocks(`{"type":"image"}`), nil, oneViolation(content.CodeMissing, "messages.0.content.0.image.source", "Field required")},
		{"PDF", file("application/pdf", []byte("%PDF-1.7\n")), nil, nil},
		{"text as PDF", file("application/pdf", []byte("hello")), nil, oneViolation(content.CodeMedia, "messages.0.content.0.document.source.base64.media_type",
			"Document does not match the provided media type application/pdf")},
		{"base64 text", file("text/plain", []byte("hello")), nil, nil},
		{"base64 text, strict", file("text/plain", []byte("hello")), &ValidateOptions{Strict: true},
			oneViolation(content.CodeValue, "messages.0.content.0.document.source.base64.media_type", "Input should be 'application/pdf'")},
		{"invalid UTF-8 as text", file("text/plain", []byte("he\xffllo")), nil,
			oneViolation(content.CodeMedia, "messages.0.content.0.document.source.base64.media_type", "Document does not match the provided media type text/plain")},
		{"unsupported type of a document", file("text/html", []byte("hello")), nil,
			oneViolation(content.CodeValue, "messages.0.content.0.document.source.base64.media_type", "Input should be 'application/pdf' or 'text/plain'")},
		{"unsupported type of a text source", withUserBlocks(`{"type":"document","source":{"type":"text","media_type":"text/html","data":"x"}}`), nil,
			oneViolation(content.CodeValue, "messages.0.content.0.document.source.text.media_type", "Input should be 'text/plain'")},
		{"PDF as text", withUserBlocks(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"%PDF-1.4"}}`), nil,
			oneViolation(content.CodeMedia, "messages.0.content.0.document.source.text.media_type", "Document does not match the provided media type text/plain: it is application/pdf")},
		{"document in a document", withUserBlocks(`{"type":"document","source":{"type":"content","content":[{"type":"document","source":{"type":"url","url":"https://a.example"}}]}}`), nil,
			oneViolation(content.CodeOrder, "messages.0.content.0.document.source.content.content.0", tagText("document", "'text', 'image'"))},
		{"empty string as document", withUserBlocks(`{"type":"document","source":{"type":"content","content":"x"}}`), nil, nil},
		{"link", link("HTTPS://img.example:8443/a?b#c"), nil, nil},
		{"other scheme", link("ftp://img.example/a"), nil, noURL},
		{"no scheme", link("img.example/a"), nil, noURL},
		{"no host", link("https:///a"), nil, noURL},
		{"port without host", link("https://:80/a"), nil, noURL},
		{"space in a link", link("https://img.example/a b"), nil, oneViolation(content.CodeValue, "messages.0.content.0.image.source.url.url",
			"Input should be a valid URL without spaces, control characters and backslashes")},
		{"file", fileBlock, nil, noFileBeta},
		{"file, beta", fileBlock, &ValidateOptions{Betas: []string{"x", "files-api-2025-04-14"}}, nil},
		{"file, newer version", fileBlock, &ValidateOptions{Version: version2026}, nil},
		{"file, allowed", fileBlock, &ValidateOptions{AllowFiles: true}, nil},
		{"too many files", withUserBlocks(strings.TrimSuffix(many, ",")), nil, oneViolation(content.CodeLimit, "messages", "too many files in the request: 101 files > 100 files")},
		{"image in a result", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[` + useA + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` +
			`{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"` + dot + `"}}]}]}`), nil,
			oneViolation(content.CodeMedia, "messages.2.content.0.tool_result.content.0.image.source.base64",
				"The image was specified using the image/webp media type, but the image appears to be a image/png image")},
	})
}

func TestValidateBlocks(t *testing.T) {
	doc := `{"type":"document","source":{"type":"url","url":"https://a.example"}}`
	citing := func(on string) string {
		return `{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}],"citations":{"enabled":` + on + `}}`
	}
	strict := &ValidateOptions{Strict: true}
	r, _ := ParseRequest([]byte(withAssistantBlocks(doc)))
	list, _ := content.Violations(r.Validate(&ValidateOptions{Version: version2026}))
	if len(list) != 1 || list[0].Path != "messages.1.content.0" || !strings.HasPrefix(list[0].Text, "Input tag 'document' found") {
		t.Errorf("document in an assistant message, newer version: %v", list)
	}
	runRules(t, []ruleTest{
		{"thinking in a user message", withUserBlocks(`{"type":"thinking","thinking":"a","signature":"b"}`), nil,
			oneViolation(content.CodeOrder, "messages.0.content.0", tagText("thinking", userTags))},
		{"tool call in a result", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[` + useA + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[` + useB + `]}]}`), nil,
			oneViolation(content.CodeOrder, "messages.2.content.0.tool_result.content.0", tagText("tool_use", resultTags))},
		{"unknown block", withUserBlocks(`{"type":"hologram","x":1}`), nil, nil},
		{"unknown block, strict", withUserBlocks(`{"type":"hologram","x":1}`), strict,
			oneViolation(content.CodeUnknown, "messages.0.content.0", tagText("hologram", userTags))},
		{"unknown member, strict", withUserBlocks(`{"type":"text","text":"a","x":1}`), strict,
			oneViolation(content.CodeUnknown, "messages.0.content.0.text.x", "Extra inputs are not permitted")},
		{"no tag", withUserBlocks(`{"text":"a"}`), nil, oneViolation(content.CodeMissing, "messages.0.content.0.type", "Field required")},
		{"document in an assistant message", withAssistantBlocks(doc), nil, nil},
		{"empty data", withAssistantBlocks(`{"type":"redacted_thinking","data":""}`), nil,
			oneViolation(content.CodeRange, "messages.1.content.0.redacted_thinking.data", "String should have at least 1 character")},
		{"no signature", withAssistantBlocks(`{"type":"thinking","thinking":"a"}`), nil, nil},
		{"no signature, strict", withAssistantBlocks(`{"type":"thinking","thinking":"a"}`), strict,
			oneViolation(content.CodeMissing, "messages.1.content.0.thinking.signature", "Field required")},
		{"empty signature", withAssistantBlocks(`{"type":"thinking","thinking":"a","signature":""}`), nil, nil},
		{"empty signature, strict", withAssistantBlocks(`{"type":"thinking","thinking":"a","signature":""}`), strict,
			oneViolation(content.CodeValue, "messages.1.content.0", "Invalid `signature` in `thinking` block")},
		{"id with other characters", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"call_a.b:c|d","name":"t","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_a.b:c|d"}]}`), nil, nil},
		{"id, strict", withMessages(`{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"t","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a.b"}]}`), strict,
			oneViolation(content.CodeValue, "messages.1.content.0.tool_use.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")},
		{"invalid id, name and input", withAssistantBlocks(`{"type":"tool_use","id":"","name":"","input":"{}"}`), strictOptions, []content.Violation{
			{Code: content.CodeType, Path: "messages.1.content.0.tool_use.input", Text: "Input should be a valid dictionary"},
			{Code: content.CodeRange, Path: "messages.1.content.0.tool_use.id", Text: "String should have at least 1 character"},
			{Code: content.CodeRange, Path: "messages.1.content.0.tool_use.name", Text: "String should have at least 1 character"}}},
		{"server id, strict", withAssistantBlocks(`{"type":"server_tool_use","id":"x-1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"x-1","content":[]}`), strict,
			oneViolation(content.CodeValue, "messages.1.content.0.server_tool_use.id", "String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'")},
		{"server result", withAssistantBlocks(`{"type":"web_search_tool_result","tool_use_id":"x","content":"y"}`), nil,
			oneViolation(content.CodeType, "messages.1.content.0.web_search_tool_result.content", "Input should be a valid list")},
		{"MCP tool call without server name", withAssistantBlocks(`{"type":"mcp_tool_use","id":"x","name":"y","input":{}}`), nil,
			oneViolation(content.CodeMissing, "messages.1.content.0.mcp_tool_use.server_name", "Field required")},
		{"caller", withAssistantBlocks(`{"type":"server_tool_use","id":"x","name":"web_search","input":{},"caller":{"type":"code_execution_20250825"}},{"type":"web_search_tool_result","tool_use_id":"x","content":[]}`), nil,
			oneViolation(content.CodeMissing, "messages.1.content.0.server_tool_use.caller.code_execution_20250825.tool_id", "Field required")},
		{"transformations", withUserBlocks(`{"type":"image","source":{"type":"url","url":"https://a.example"},"transformations":{"oversized_image":"x"}}`), strictOptions,
			oneViolation(content.CodeValue, "messages.0.content.0.image.transformations.oversized_image", "Input should be 'downsize' or 'error'")},
		{"upload", withUserBlocks(`{"type":"container_upload"}`), nil,
			oneViolation(content.CodeMissing, "messages.0.content.0.container_upload.file_id", "Field required")},
		{"compaction", withUserBlocks(`{"type":"compaction","content":""}`), nil,
			oneViolation(content.CodeRange, "messages.0.content.0.compaction.content", "String should have at least 1 character")},
		{"compaction without content", withUserBlocks(`{"type":"compaction","content":null},{"type":"text","text":"a"}`), nil, nil},
		{"fallback", withAssistantBlocks(`{"type":"fallback","from":{"model":"a"}}`), nil,
			oneViolation(content.CodeMissing, "messages.1.content.0.fallback.to", "Field required")},
		{"search results disagree", withUserBlocks(citing("true") + "," + citing("false")), nil,
			oneViolation(content.CodeConflict, "messages.0.content.1.search_result.citations", "citations must be enabled for all search results or for none")},
		{"search results agree", withUserBlocks(citing("true") + "," + citing("true")), nil, nil},
		{"image in a search result", withUserBlocks(`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":""},{"type":"image","source":{"type":"url","url":"https://a.example"}}]}`), nil, []content.Violation{
			{Code: content.CodeRange, Path: "messages.0.content.0.search_result.content.0.text", Text: "String should have at least 1 character"},
			{Code: content.CodeValue, Path: "messages.0.content.0.search_result.content.1.type", Text: "Input should be 'text'"}}},
	})
}

func TestValidateCitations(t *testing.T) {
	cite := func(c string) string { return `{"type":"text","text":"x","citations":[` + c + `]}` }
	chars := func(index, start, end string) string {
		return `{"type":"char_location","cited_text":"c","document_index":` + index + `,"document_title":null,"start_char_index":` + start + `,"end_char_index":` + end + `}`
	}
	at := "messages.1.content.0.text.citations.0."
	runRules(t, []ruleTest{
		{"good", withAssistantBlocks(cite(chars("0", "0", "9"))), nil, nil},
		{"out of range", withAssistantBlocks(cite(chars("-1", "5", "4"))), nil, []content.Violation{
			{Code: content.CodeRange, Path: at + "char_location.document_index", Text: "Input should be greater than or equal to 0"},
			{Code: content.CodeRange, Path: at + "char_location.end_char_index", Text: "Input should be greater than or equal to 5"}}},
		{"page", withAssistantBlocks(cite(`{"type":"page_location","cited_text":"c","document_index":0,"document_title":"d","start_page_number":0,"end_page_number":1}`)), nil,
			oneViolation(content.CodeRange, at+"page_location.start_page_number", "Input should be greater than or equal to 1")},
		{"title", withAssistantBlocks(cite(`{"type":"web_search_result_location","cited_text":"c","url":"u","title":"` + strings.Repeat("t", 513) + `","encrypted_index":"e"}`)), nil,
			oneViolation(content.CodeRange, at+"web_search_result_location.title", "String should have at most 512 characters")},
		{"unknown, strict", withAssistantBlocks(cite(`{"type":"smell_location"}`)), &ValidateOptions{Strict: true}, oneViolation(content.CodeUnknown, at[:len(at)-1],
			tagText("smell_location", "'char_location', 'page_location', 'content_block_location', 'search_result_location', 'web_search_result_location'"))},
		{"user message", withUserBlocks(cite(chars("0", "0", "9"))), nil, nil},
		{"user message, newer version", withUserBlocks(cite(chars("0", "0", "9"))), &ValidateOptions{Version: version2026},
			oneViolation(content.CodeUnsupported, "messages.0.content.0.text.citations", textUserCitations)},
		{"search result, newer version", withUserBlocks(`{"type":"search_result","source":"s","title":"t","content":[` + cite(chars("0", "0", "9")) + `]}`), &ValidateOptions{Version: version2026},
			oneViolation(content.CodeUnsupported, "messages.0.content.0.search_result.content.0.citations", textUserCitations)},
	})
}
