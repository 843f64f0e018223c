package openai

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
)

// post sends a POST request with the required headers to the fake.
func (s *Server) post(path, body string, header ...string) *http.Response {
	return fake.Post(s, "/v1/"+path, body, append([]string{"Authorization", "Bearer k"}, header...)...)
}

const hi = `{"role":"user","content":"hi"}`

func chat(model, members string) string {
	return `{"model":"` + model + `",` + members + `"messages":[` + hi + `]}`
}

func talk(messages ...string) string {
	return `{"model":"gpt-4.1","messages":[` + strings.Join(messages, ",") + `]}`
}

func resp(members string, items ...string) string {
	return `{"model":"gpt-6.2-sol",` + members + `"input":[` + strings.Join(items, ",") + `]}`
}

const (
	tools  = `"tools":[{"type":"function","function":{"name":"f"}}],`
	calls  = `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	first  = `{"role":"tool","tool_call_id":"1","content":"x"}`
	second = `{"role":"tool","tool_call_id":"2","content":"x"}`
	fcall  = `{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}`
	fout   = `{"type":"function_call_output","call_id":"1","output":"x"}`
)

func strict(schema string) string {
	return chat("gpt-4.1", `"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":`+schema+`}}],`)
}

var refused = []struct{ name, path, rule, body, code, message string }{
	{"not JSON", "chat/completions", "json", `{"model"`, "", "could not parse"},
	{"unknown", "chat/completions", "shape", chat("m", `"foo":1,`), "unknown_parameter", "'foo'"},
	{"unknown message member", "chat/completions", "shape", talk(`{"role":"user","content":"x","reasoning":"y"}`), "unknown_parameter", "'messages[0].reasoning'"},
	{"missing", "chat/completions", "shape", `{"model":"m"}`, "missing_required_parameter", "'messages'"},
	{"type", "chat/completions", "shape", chat("m", `"stream":"x",`), "invalid_type", "'stream'"},
	{"empty tool_calls", "chat/completions", "shape", talk(`{"role":"assistant","content":"x","tool_calls":[]}`), "invalid_value", "tool_calls"},
	{"empty content", "chat/completions", "shape", talk(`{"role":"user","content":[]}`), "invalid_value", "content"},
	{"image in a tool message", "chat/completions", "shape", talk(hi, calls, `{"role":"tool","tool_call_id":"1","content":[{"type":"image_url","image_url":{"url":"https://a.example"}}]}`, second), "invalid_value", "'image_url'"},
	{"five stop sequences", "chat/completions", "shape", chat("gpt-4.1", `"stop":["1","2","3","4","5"],`), "array_above_max_length", "stop"},
	{"id too long", "chat/completions", "shape", talk(strings.Replace(calls, `"1"`, `"`+strings.Repeat("x", 41)+`"`, 1)), "string_above_max_length", "id"},
	{"name", "chat/completions", "shape", chat("m", `"tools":[{"type":"function","function":{"name":"a.b"}}],`), "invalid_value", "name"},
	{"description", "chat/completions", "shape", chat("m", `"tools":[{"type":"function","function":{"name":"a","description":"`+strings.Repeat("d", 1025)+`"}}],`), "string_above_max_length", "description"},
	{"raw base64 image", "chat/completions", "shape", talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"iVBORw0KGgo="}}]}`), "invalid_value", "url"},
	{"effort on an old model", "chat/completions", "effort", chat("gpt-4.1", `"reasoning_effort":"low",`), "unsupported_parameter", "reasoning_effort"},
	{"unsupported effort", "chat/completions", "effort", chat("gpt-5.1", `"reasoning_effort":"minimal",`), "unsupported_value", "does not support 'minimal'"},
	{"temperature on a reasoning model", "chat/completions", "sampling", chat("o3", `"temperature":0.2,`), "unsupported_value", "'temperature' does not support 0.2"},
	{"temperature with effort", "chat/completions", "sampling", chat("gpt-5.1", `"temperature":0.2,"reasoning_effort":"low",`), "unsupported_value", "temperature"},
	{"parallel_tool_calls without tools", "chat/completions", "parallel", chat("gpt-4.1", `"parallel_tool_calls":false,`), "", "only allowed when 'tools'"},
	{"choice without tools", "chat/completions", "tool-choice", chat("gpt-4.1", `"tool_choice":"auto",`), "", "tool_choice"},
	{"choice of an unknown tool", "chat/completions", "tool-choice", chat("gpt-4.1", tools+`"tool_choice":{"type":"function","function":{"name":"g"}},`), "invalid_value", "'g' not found"},
	{"duplicate tool name", "chat/completions", "tool-names", chat("gpt-4.1", `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}],`), "invalid_value", "'f'"},
	{"strict, open", "chat/completions", "strict", strict(`{"type":"object"}`), "invalid_function_parameters", "'additionalProperties' is required to be supplied and to be false"},
	{"strict, optional", "chat/completions", "strict", strict(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`), "invalid_function_parameters", "Missing 'a'"},
	{"strict, format", "chat/completions", "strict", strict(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"string","format":"uri"}}}`), "invalid_function_parameters", "'uri' is not a valid format"},
	{"strict, untyped", "chat/completions", "strict", strict(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"array","items":{"description":"d"}}}}`), "invalid_function_parameters", "must have a 'type' key"},
	{"metadata", "chat/completions", "metadata", chat("gpt-4.1", `"metadata":{"`+strings.Repeat("k", 65)+`":"v"},`), "invalid_value", "metadata"},
	{"Responses only", "chat/completions", "no-chat", chat("gpt-5-pro", ""), "", "not a chat model"},
	{"max_tokens", "chat/completions", "max_tokens", chat("gpt-5", `"max_tokens":9,`), "unsupported_parameter", "Use 'max_completion_tokens' instead."},
	{"both limits", "chat/completions", "max-both", chat("gpt-4.1", `"max_tokens":9,"max_completion_tokens":9,`), "invalid_value", "max_tokens"},
	{"stop", "chat/completions", "stop", chat("o3", `"stop":"x",`), "unsupported_parameter", "'stop'"},
	{"top_logprobs", "chat/completions", "top_logprobs", chat("gpt-4.1", `"top_logprobs":2,`), "invalid_value", "logprobs"},
	{"stream_options", "chat/completions", "stream_options", chat("gpt-4.1", `"stream_options":{"include_usage":true},`), "", "only allowed when 'stream'"},
	{"tools on Chat", "chat/completions", "tool-effort", chat("gpt-5.6-terra", tools), "", "not supported for gpt-5.6-terra in /v1/chat/completions"},
	{"tools with effort", "chat/completions", "tool-effort", chat("gpt-5.4", tools+`"reasoning_effort":"low",`), "", "gpt-5.4"},
	{"tools on Responses only", "chat/completions", "tool-effort", chat("gpt-6.2-sol", tools), "", "gpt-6.2-sol"},
	{"prompt without the word json", "chat/completions", "json", chat("gpt-4.1", `"response_format":{"type":"json_object"},`), "", "must contain the word 'json'"},
	{"system and developer", "chat/completions", "system", talk(`{"role":"system","content":"x"}`, `{"role":"developer","content":"x"}`, hi), "", "'system' and 'developer'"},
	{"missing content", "chat/completions", "content", talk(hi, `{"role":"assistant"}`), "", "messages[1].content"},
	{"empty arguments", "chat/completions", "arguments", talk(hi, strings.Replace(calls, `"{}"`, `""`, 1), first, second), "", "invalid tool call arguments"},
	{"file without a name", "chat/completions", "file", talk(`{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0="}}]}`), "missing_required_parameter", "filename"},
	{"missing result", "chat/completions", "pairs", talk(hi, calls, first, hi), "", "did not have response messages: 2"},
	{"missing last result", "chat/completions", "pairs", talk(hi, calls, first), "", "did not have response messages: 2"},
	{"orphan", "chat/completions", "pairs", talk(hi, first), "", "must be a response to a preceeding message with 'tool_calls'"},

	{"member of Chat", "responses", "shape", resp(`"stop":"x",`, hi), "unknown_parameter", "'stop'"},
	{"model with a single effort", "responses", "effort", strings.Replace(resp(`"reasoning":{"effort":"low"},`, hi), `"model":"gpt-6.2-sol"`, `"model":"gpt-5-pro"`, 1), "unsupported_value", "does not support 'low'"},
	{"limit too low", "responses", "shape", resp(`"max_output_tokens":5,`, hi), "integer_below_min_value", "max_output_tokens"},
	{"input_text in an assistant message", "responses", "shape", resp("", hi, `{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "invalid_value", "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."},
	{"image as an object", "responses", "shape", resp("", `{"role":"user","content":[{"type":"input_image","image_url":{"url":"https://a.example"}}]}`), "invalid_type", "image_url"},
	{"nested function", "responses", "shape", resp(tools, hi), "unknown_parameter", "'tools[0].function'"},
	{"summary missing", "responses", "shape", resp("", `{"type":"reasoning","id":"rs_1"}`), "missing_required_parameter", "'input[0].summary'"},
	{"made-up id", "responses", "shape", resp("", hi, `{"type":"function_call","id":"call_1","call_id":"1","name":"f","arguments":"{}"}`, fout), "invalid_value", "id"},
	{"call_id too long", "responses", "shape", resp("", hi, strings.Replace(fcall, `"1"`, `"`+strings.Repeat("x", 65)+`"`, 1)), "string_above_max_length", "call_id"},
	{"two conversation states", "responses", "stored", resp(`"previous_response_id":"a","conversation":"b",`, hi), "", "Only one of"},
	{"state without store", "responses", "stored", resp(`"previous_response_id":"a","store":false,`, hi), "", "need 'store'"},
	{"logprobs", "responses", "logprobs", strings.Replace(resp(`"top_logprobs":1,`, hi), "gpt-6.2-sol", "gpt-4.1", 1), "", "include"},
	{"empty assistant", "responses", "assistant-empty", resp("", hi, `{"role":"assistant","content":""}`, hi), "invalid_value", "must not be empty"},
	{"image without a source", "responses", "image-source", resp("", `{"role":"user","content":[{"type":"input_image"}]}`), "missing_required_parameter", "source"},
	{"input_file without a name", "responses", "image-source", resp("", `{"role":"user","content":[{"type":"input_file","file_data":"data:text/plain;base64,aGk="}]}`), "missing_required_parameter", "source"},
	{"arguments", "responses", "call-arguments", resp("", hi, strings.Replace(fcall, "{}", "", 1), fout), "invalid_value", "arguments"},
	{"output missing", "responses", "call-pairs", resp("", hi, fcall), "", "No tool output found for function call 1."},
	{"call missing", "responses", "call-pairs", resp("", hi, fout), "", "No tool call found for function call output with call_id 1."},
	{"reasoning not stored", "responses", "reasoning-stored", resp(`"store":false,`, hi, `{"type":"reasoning","id":"rs_1","summary":[]}`, fcall, fout), "", "Item with id 'rs_1' not found"},
	{"reasoning alone", "responses", "reasoning-alone", resp("", hi, `{"type":"reasoning","id":"rs_1","summary":[]}`, hi), "", "without its required following item"},
	{"foreign reasoning", "responses", "encrypted", resp("", hi, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`, fcall, fout), "invalid_encrypted_content", "rs_1"},
}

// elsewhere are the rules that other tests break.
var elsewhere = []string{"short-ids", "strict-roles", "local-system", "local-max", "echo", "no-stream-options"}

func TestRefusals(t *testing.T) {
	broken := map[string]bool{}
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{})
			res := s.post(tt.path, tt.body)
			var body struct {
				Error struct {
					Message, Type string
					Param, Code   *string
				}
			}
			if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			code := ""
			if body.Error.Code != nil {
				code = *body.Error.Code
			}
			if got := s.Last().Rule; got != tt.rule || code != tt.code || !strings.Contains(body.Error.Message, tt.message) {
				t.Errorf("rule %q, code %q, message %q; want %q, %q, %q", got, code, body.Error.Message, tt.rule, tt.code, tt.message)
			}
			if res.StatusCode/100 != 4 || body.Error.Type != "invalid_request_error" {
				t.Errorf("status %d, type %q", res.StatusCode, body.Error.Type)
			}
			broken[tt.rule] = true
		})
	}
	for _, r := range slices.Concat(commonRules, chatRules, responseRules) {
		if !broken[r.name] && !slices.Contains(elsewhere, r.name) {
			t.Errorf("no body breaks rule %q of %s", r.name, r.ref)
		}
	}
}

// TestLocal tests what a compatible server accepts and rejects.
func TestLocal(t *testing.T) {
	tests := []struct{ name, body, rule string }{
		{"unknown members", chat("o3", `"top_k":4,"max_tokens":5,"temperature":0.1,`), ""},
		{"developer", talk(`{"role":"developer","content":"x"}`, hi), "local-system"},
		{"late system message", talk(hi, `{"role":"system","content":"x"}`), "local-system"},
		{"max_completion_tokens", chat("m", `"max_completion_tokens":5,`), "local-max"},
		{"empty arguments", talk(hi, strings.Replace(calls, `"{}"`, `""`, 1), first, second), "arguments"},
	}
	for _, tt := range tests {
		s := NewHandler(Options{Local: true})
		s.post("chat/completions", tt.body, "Authorization", "")
		if got := s.Last(); got.Rule != tt.rule {
			t.Errorf("%s: rule %q, want %q: %s", tt.name, got.Rule, tt.rule, got.Message)
		}
	}
}

// TestDemands tests requirements of single servers.
func TestDemands(t *testing.T) {
	s := NewHandler(Options{Local: true, EchoReasoning: "reasoning_content", NoStreamOptions: true})
	echoed := strings.Replace(calls, `"tool_calls"`, `"reasoning_content":"x","tool_calls"`, 1)
	for body, rule := range map[string]string{
		talk(hi, calls, first, second):                                      "echo",
		talk(hi, echoed, first, second):                                     "",
		chat("m", `"stream":true,"stream_options":{"include_usage":true},`): "no-stream-options",
	} {
		s.post("chat/completions", body)
		if got := s.Last().Rule; got != rule {
			t.Errorf("rule %q, want %q", got, rule)
		}
	}
}

// TestTemplates tests requirements of chat templates.
func TestTemplates(t *testing.T) {
	s := NewHandler(Options{Local: true, ShortIDs: true, StrictRoles: true})
	short := strings.NewReplacer(`"id":"1"`, `"id":"abcdefgh1"`, `"id":"2"`, `"id":"abcdefgh2"`, `"tool_call_id":"1"`, `"tool_call_id":"abcdefgh1"`, `"tool_call_id":"2"`, `"tool_call_id":"abcdefgh2"`).Replace
	const said = `{"role":"assistant","content":"x"}`
	for body, rule := range map[string]string{
		talk(hi, calls, first, second):                  "short-ids",
		short(talk(hi, calls, first, second)):           "",
		short(talk(hi, calls, first, second, hi)):       "strict-roles",
		short(talk(hi, calls, first, second, said, hi)): "",
		talk(hi, hi):   "strict-roles",
		talk(said, hi): "strict-roles",
	} {
		s.post("chat/completions", body)
		if got := s.Last().Rule; got != rule {
			t.Errorf("rule %q, want %q: %s", got, rule, body)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	tests := []struct {
		name, path, rule string
		status           int
		header           []string
	}{
		{"no key", "chat/completions", "key", 401, []string{"Authorization", ""}},
		{"wrong key", "responses", "key", 401, []string{"Authorization", "Bearer other"}},
		{"path", "completions", "path", 404, nil},
		{"content type", "chat/completions", "content-type", 400, []string{"Content-Type", "text/plain"}},
		{"model", "chat/completions", "model", 404, nil},
		{"client header", "chat/completions", "forbidden", 400, []string{"X-Client-Mark", "1"}},
	}
	for _, tt := range tests {
		s := NewHandler(Options{Key: "k", Models: []string{"gpt-4.1"}, Forbid: []string{"x-client-mark"}})
		if res := s.post(tt.path, chat("m", ""), tt.header...); res.StatusCode != tt.status || s.Last().Rule != tt.rule {
			t.Errorf("%s: status %d, rule %q", tt.name, res.StatusCode, s.Last().Rule)
		}
	}
}

// TestReferenceAccepted sends the example requests of the wire reference.
func TestReferenceAccepted(t *testing.T) {
	fake.Accepts(t, "testdata/*.json", 9, func(name, body string) (*fake.Server, *http.Response) {
		path := "responses"
		if strings.HasPrefix(name, "chat") {
			path = "chat/completions"
		}
		local := strings.Contains(body, "qwen") || strings.Contains(body, "deepseek")
		s := NewHandler(Options{TrustSignatures: true, Local: local})
		return s.Server, s.post(path, body)
	})
}
