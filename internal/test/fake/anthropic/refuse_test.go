package anthropic

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
	return fake.Post(s, path, body, append([]string{"X-Api-Key", "k", "Anthropic-Version", "2023-06-01"}, header...)...)
}

// in returns a valid body with extra members.
func in(members string) string {
	return `{"model":"claude-sonnet-4-5","max_tokens":100,` + members + `,"messages":[{"role":"user","content":"hi"}]}`
}

// chat returns a body with the given messages and the tools t and u.
func chat(model, messages string) string {
	return `{"model":"` + model + `","max_tokens":5000,"tools":[{"name":"t","input_schema":{"type":"object"}},{"name":"u","input_schema":{"type":"object"}}],"messages":[` + messages + `]}`
}

const (
	hi   = `{"role":"user","content":"hi"},`
	use1 = `{"type":"tool_use","id":"a","name":"t","input":{}}`
	use2 = `{"type":"tool_use","id":"b","name":"u","input":{}}`
	res1 = `{"type":"tool_result","tool_use_id":"a","content":"1"}`
	res2 = `{"type":"tool_result","tool_use_id":"b"}`
)

func user(blocks ...string) string {
	return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
}

func assistant(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

// refused are bodies that break exactly one rule each.
var refused = []struct {
	name, rule, body, message string
	header                    []string
}{
	{"not JSON", "json", `{"model"`, "The request body is not valid JSON", nil},
	{"duplicate key", "json", in(`"stream":true,"stream":true`), `duplicate key "stream"`, nil},
	{"unknown member", "shape", in(`"foo":1`), "foo: Extra inputs are not permitted", nil},
	{"no max_tokens", "shape", `{"model":"m","messages":[]}`, "max_tokens: Field required", nil},
	{"wrong type", "shape", in(`"stream":"yes"`), "stream: Input should be a valid boolean", nil},
	{"enum", "shape", in(`"service_tier":"x"`), "service_tier: Input should be 'auto' or 'standard_only'", nil},
	{"budget too small", "shape", in(`"thinking":{"type":"enabled","budget_tokens":10}`), "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024", nil},
	{"bad tag", "shape", chat("m", user(`{"type":"video"}`)), "messages.0.content.0: Input tag 'video' found using 'type'", nil},
	{"thinking block of the user", "shape", chat("m", user(`{"type":"thinking","thinking":"x","signature":"y"}`)), "Input tag 'thinking'", nil},
	{"image data missing", "shape", chat("m", user(`{"type":"image","source":{"type":"base64","media_type":"image/png"}}`)), "messages.0.content.0.image.source.base64.data: Field required", nil},
	{"not base64", "shape", chat("m", user(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"a b"}}`)), "invalid base64 data", nil},
	{"URL-safe base64", "shape", chat("m", user(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"_-8="}}`)), "invalid base64 data", nil},
	{"image type", "shape", chat("m", user(`{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"AA=="}}`)), "media_type", nil},
	{"tool id", "shape", chat("m", hi+assistant(strings.ReplaceAll(use1, `"a"`, `"a.b"`))), "String should match pattern '^[a-zA-Z0-9_-]+$'", nil},
	{"tool name", "shape", in(`"tools":[{"name":"a b","input_schema":{"type":"object"}}]`), "tools.0.custom.name: String should match pattern", nil},
	{"schema without type", "shape", in(`"tools":[{"name":"a","input_schema":{}}]`), "tools.0.custom.input_schema.type: Field required", nil},
	{"input not an object", "shape", chat("m", hi+assistant(`{"type":"tool_use","id":"a","name":"t","input":"{}"}`)), "Input should be a valid dictionary", nil},
	{"user_id too long", "shape", in(`"metadata":{"user_id":"` + strings.Repeat("u", 513) + `"}`), "at most 512 characters", nil},
	{"temperature", "shape", in(`"temperature":1.5`), "temperature: Input should be less than or equal to 1", nil},
	{"beta member without the beta", "shape", in(`"context_management":{"edits":[]}`), "context_management: Extra inputs are not permitted", nil},
	{"null text", "shape", chat("m", user(`{"type":"text","text":null}`)), "messages.0.content.0.text.text: Input should be a valid string", nil},
	{"unknown model", "model", `{"model":"claude-nope","max_tokens":1,"messages":[{"role":"user","content":"hi"}]}`, "model: claude-nope", nil},
	{"max_tokens", "max_tokens", strings.Replace(in(`"stream":true`), ":100", ":128001", 1), "max_tokens: 128001 > 128000", nil},
	{"pre-warm", "prewarm", strings.Replace(in(`"stream":true`), ":100", ":0", 1), "max_tokens: 0", nil},
	{"blank stop sequence", "stop_sequences", in(`"stop_sequences":["\n"]`), "non-whitespace", nil},
	{"sampling in 2026-10-21", "sampling-version", in(`"temperature":1`), "temperature: Extra inputs", []string{"Anthropic-Version", "2026-10-21"}},
	{"sampling of a new model", "sampling-model", strings.Replace(in(`"temperature":0.5`), "4-5", "5", 1), "`temperature` is deprecated", nil},
	{"top_p not set", "sampling-unset", in(`"top_p":-1`), "`top_p` cannot be set to -1 for this model.", nil},
	{"two samplers", "sampling-both", in(`"temperature":0.5,"top_p":0.9`), "cannot both", nil},
	{"two formats", "output_format", in(`"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema","schema":{}}}`), "output_format", []string{"Anthropic-Beta", "structured-outputs-2025-11-13"}},
	{"compaction", "compaction", in(`"compaction":{"type":"summarize"},"context_management":{}`), "compaction", []string{"Anthropic-Beta", "compact-2026-09-04, context-management-2025-06-27"}},
	{"fallbacks", "fallbacks", in(`"fallbacks":[{"model":"m"},{"model":"m"}]`), "distinct", []string{"Anthropic-Beta", "server-side-fallback-2026-07-01"}},
	{"five cache_control members", "cache-count", in(`"cache_control":{"type":"ephemeral"},"system":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},`, 4), ",") + `]`), "Found 5.", nil},
	{"1h ttl after 5m", "cache-order", in(`"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]`), "ttl='1h'", nil},
	{"two ttls on one block", "cache-top", `{"model":"m","max_tokens":9,"cache_control":{"type":"ephemeral"},"messages":[` + user(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}`) + `]}`, "another ttl", nil},
	{"cache_control on a deferred tool", "cache-deferred", in(`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","input_schema":{"type":"object"},"defer_loading":true,"cache_control":{"type":"ephemeral"}}]`), "defer_loading", nil},
	{"adaptive on an old model", "thinking-mode", in(`"thinking":{"type":"adaptive"}`), "adaptive thinking is not supported", nil},
	{"enabled on a new model", "thinking-mode", strings.Replace(in(`"thinking":{"type":"enabled","budget_tokens":1024}`), "4-5", "5", 1), `"thinking.type.enabled" is not supported`, nil},
	{"disabled on a model that always thinks", "thinking-mode", strings.Replace(in(`"thinking":{"type":"disabled"}`), "sonnet-4-5", "opus-5-5", 1), `"thinking.type.disabled"`, nil},
	{"budget", "thinking-budget", in(`"thinking":{"type":"enabled","budget_tokens":1024}`), "`max_tokens` must be greater", nil},
	{"thinking with a forced tool", "thinking-forced", strings.Replace(chat("claude-sonnet-4-5", `{"role":"user","content":"hi"}`), `"tools"`, `"thinking":{"type":"enabled","budget_tokens":1024},"tool_choice":{"type":"any"},"tools"`, 1), "Thinking may not be enabled", nil},
	{"disabled with effort", "thinking-effort", strings.Replace(in(`"thinking":{"type":"disabled"},"output_config":{"effort":"max"}`), "sonnet-4-5", "opus-5", 1), "effort max", nil},
	{"temperature with thinking", "thinking-temperature", strings.Replace(in(`"temperature":0.5,"thinking":{"type":"adaptive"}`), "4-5", "4-6", 1), "`temperature` may only be set to 1", nil},
	{"top_p with thinking", "thinking-top_p", strings.Replace(in(`"top_p":0.5,"thinking":{"type":"adaptive"}`), "4-5", "4-6", 1), "`top_p` must be unset", nil},
	{"top_k with thinking", "thinking-top_k", strings.Replace(in(`"top_k":5,"thinking":{"type":"adaptive"}`), "4-5", "4-6", 1), "`top_k` must be unset", nil},
	{"no messages", "messages", chat("m", ""), "at least one message", nil},
	{"system turn of an old model", "system-model", chat("claude-sonnet-5", hi+`{"role":"system","content":"x"}`), `Unexpected role "system"`, nil},
	{"assistant first", "first", chat("claude-opus-4-1", `{"role":"assistant","content":"x"},`+user(`{"type":"text","text":"y"}`)), "first message must use", nil},
	{"system before a user", "system-place", chat("claude-opus-5-5", hi+`{"role":"system","content":"x"},{"role":"user","content":"y"}`), "messages.1: a system message", nil},
	{"cache_control on a scoped system turn", "system-turn-scoped", chat("claude-opus-5-5", hi+`{"role":"system","clear_at":"next_user_message","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`), "turn-scoped", []string{"Anthropic-Beta", "mid-conversation-system-clear-at-2026-08-21"}},
	{"empty content", "empty", chat("m", `{"role":"user","content":[]}`), "messages.0: all messages must have non-empty content", nil},
	{"empty text", "text", chat("m", user(`{"type":"text","text":""}`)), "must be non-empty", nil},
	{"blank text", "text", chat("m", user(`{"type":"text","text":" \n"}`)), "non-whitespace", nil},
	{"empty text in a result", "text", chat("m", hi+assistant(use1)+","+user(`{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":""}]}`)), "must be non-empty", nil},
	{"empty system text", "text", in(`"system":[{"type":"text","text":""}]`), "system.0.text", nil},
	{"prefill", "prefill", chat("claude-sonnet-4-6", hi+`{"role":"assistant","content":"x"}`), "does not support assistant message prefill", nil},
	{"prefill with trailing space", "trailing", chat("claude-haiku-4-5", hi+`{"role":"assistant","content":"x "}`), "trailing whitespace", nil},
	{"duplicate tool name", "tool-names", in(`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`), "Tool names must be unique", nil},
	{"upper-case type", "tool-schema", in(`"tools":[{"name":"a","input_schema":{"type":"object","properties":{"x":{"type":"STRING"}}}}]`), "JSON schema is invalid", nil},
	{"root composition", "tool-root", in(`"tools":[{"name":"a","input_schema":{"type":"object","anyOf":[{"type":"object"}]}}]`), "top level", nil},
	{"strict without additionalProperties", "tool-strict", in(`"tools":[{"name":"a","strict":true,"input_schema":{"type":"object"}}]`), "'additionalProperties' must be explicitly", nil},
	{"output format with minimum", "tool-strict", in(`"output_config":{"format":{"type":"json_schema","schema":{"type":"integer","minimum":1}}}`), "minimum", nil},
	{"all deferred", "tool-deferred", in(`"tools":[{"name":"a","defer_loading":true,"input_schema":{"type":"object"}}]`), "not be deferred", nil},
	{"two domain lists", "tool-domains", in(`"tools":[{"type":"web_search_20250305","name":"web_search","allowed_domains":["a"],"blocked_domains":["b"]}]`), "only one of", nil},
	{"choice without tools", "choice-tools", in(`"tool_choice":{"type":"auto"}`), "only be specified while providing tools", nil},
	{"choice of an unknown tool", "choice-name", strings.Replace(chat("m", `{"role":"user","content":"hi"}`), `"tools"`, `"tool_choice":{"type":"tool","name":"z"},"tools"`, 1), "'z' not found", nil},
	{"forced on a new model", "choice-forced", strings.Replace(chat("claude-opus-5-5", `{"role":"user","content":"hi"}`), `"tools"`, `"tool_choice":{"type":"any"},"tools"`, 1), "are not supported for this model", nil},
	{"ids not unique", "tool-id", chat("m", hi+assistant(use1, use1)+","+user(res1)), "ids must be unique", nil},
	{"orphan", "result-orphan", chat("m", user(res1)), "unexpected `tool_use_id`", nil},
	{"two results", "result-twice", chat("m", hi+assistant(use1)+","+user(res1, res1)), "a single result", nil},
	{"missing result", "result-missing", chat("m", hi+assistant(use1, use2)+","+user(res1)), "without `tool_result` blocks immediately after: b", nil},
	{"text before results", "result-missing", chat("m", hi+assistant(use1)+","+user(`{"type":"text","text":"x"}`, res1)), "immediately after: a", nil},
	{"text before a server tool result", "result-only", strings.Replace(chat("m", hi+assistant(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`, use1)+","+user(res1, `{"type":"text","text":"x"}`)), `"tools":[`, `"tools":[{"type":"web_search_20250305","name":"web_search"},`, 1), "without a corresponding", nil},
	{"server tool undefined", "server-result", chat("m", hi+assistant(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`)), "without a corresponding", nil},
	{"assistant document", "document-assistant", chat("claude-haiku-4-5", hi+assistant(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}`)), "not permitted in assistant", []string{"Anthropic-Version", "2026-10-21"}},
	{"user citations", "citations-user", chat("m", user(`{"type":"text","text":"x","citations":[{"type":"char_location","cited_text":"x","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1}]}`)), "not permitted in user", []string{"Anthropic-Version", "2026-10-21"}},
	{"citations mixed", "search-citations", chat("m", user(`{"type":"search_result","source":"a","title":"b","content":[{"type":"text","text":"c"}],"citations":{"enabled":true}}`, `{"type":"search_result","source":"a","title":"b","content":[{"type":"text","text":"c"}]}`)), "for all search results", nil},
	{"citations with a format", "citations-format", `{"model":"m","max_tokens":9,"output_config":{"format":{"type":"json_schema","schema":{"type":"string"}}},"messages":[` + user(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"},"citations":{"enabled":true}}`) + `]}`, "structured outputs", nil},
	{"wrong image type", "image", chat("m", user(`{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"iVBORw0KGgo="}}`)), "appears to be a image/png image", nil},
	{"101 images", "image-count", chat("claude-haiku-4-5", user(strings.TrimSuffix(strings.Repeat(`{"type":"image","source":{"type":"url","url":"https://a.example"}},`, 101), ","))), "101 > 100", nil},
	{"missing toolset name", "toolset-result", chat("m", hi+assistant(`{"type":"tool_use","id":"a","name":"left_click","toolset_name":"computer","input":{}}`)+","+user(res1)), "toolset_name", nil},
	{"foreign signature", "signature", chat("m", hi+assistant(`{"type":"thinking","thinking":"x","signature":"U0lH"}`, use1)+","+user(res1)), "messages.1.content.0: Invalid `signature` in `thinking` block", nil},
	{"turn without thinking", "thinking-first", strings.Replace(chat("claude-sonnet-4-5", hi+assistant(use1)+","+user(res1)), `"tools"`, `"thinking":{"type":"enabled","budget_tokens":1024},"tools"`, 1), "Expected `thinking` or `redacted_thinking`, but found `tool_use`", nil},
}

// elsewhere are the rules that other tests break.
var elsewhere = []string{"count", "thinking-modified", "thinking-kept"}

func TestRefusals(t *testing.T) {
	broken := map[string]bool{}
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			opts := Options{Key: "k"}
			if tt.rule == "model" {
				opts.Models = []string{"claude-sonnet-5"}
			}
			s := NewHandler(opts)
			res := s.post("/v1/messages", tt.body, tt.header...)
			var body struct {
				Type  string
				Error struct{ Type, Message string }
			}
			if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			last := s.Last()
			if last.Rule != tt.rule || !strings.Contains(body.Error.Message, tt.message) {
				t.Errorf("rule %q, message %q; want rule %q, message with %q", last.Rule, body.Error.Message, tt.rule, tt.message)
			}
			want := http.StatusBadRequest
			if tt.rule == "model" {
				want = http.StatusNotFound
			}
			if res.StatusCode != want || body.Type != "error" || body.Error.Type != kinds[want] {
				t.Errorf("status %d, type %q/%q; want %d %s", res.StatusCode, body.Type, body.Error.Type, want, kinds[want])
			}
			if res.Header.Get("Request-Id") == "" {
				t.Error("no request-id")
			}
			broken[last.Rule] = true
		})
	}
	for _, r := range rules() {
		if !broken[r.name] && !slices.Contains(elsewhere, r.name) {
			t.Errorf("no body breaks rule %q of %s", r.name, r.ref)
		}
	}
}

func TestRefusedHeaders(t *testing.T) {
	tests := []struct {
		name, rule string
		status     int
		header     []string
	}{
		{"no key", "key", 401, []string{"X-Api-Key", ""}},
		{"wrong key", "key", 401, []string{"X-Api-Key", "other"}},
		{"two keys", "key", 401, []string{"Authorization", "Bearer client"}},
		{"no version", "version", 400, []string{"Anthropic-Version", ""}},
		{"unknown version", "version", 400, []string{"Anthropic-Version", "2020-01-01"}},
		{"unknown beta", "beta", 400, []string{"Anthropic-Beta", "nope-2026-01-01"}},
		{"content type", "content-type", 400, []string{"Content-Type", "text/plain"}},
		{"charset", "content-type", 400, []string{"Content-Type", "application/json; charset=utf-16"}},
		{"encoding", "encoding", 400, []string{"Content-Encoding", "gzip"}},
		{"client header", "forbidden", 400, []string{"X-Client-Mark", "1"}},
		{"client key in another header", "forbidden", 400, []string{"Cookie", "c=client-secret"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Key: "k", Forbid: []string{"x-client-mark", "client-secret"}})
			res := s.post("/v1/messages", in(`"stream":false`), tt.header...)
			if last := s.Last(); res.StatusCode != tt.status || last.Rule != tt.rule {
				t.Errorf("status %d, rule %q; want %d, %q", res.StatusCode, last.Rule, tt.status, tt.rule)
			}
		})
	}
}

func TestBearer(t *testing.T) {
	s := NewHandler(Options{Key: "k"})
	res := s.post("/v1/messages?beta=true", in(`"stream":false`), "X-Api-Key", "", "Authorization", "Bearer k")
	if res.StatusCode != http.StatusOK {
		t.Errorf("status %d: %s", res.StatusCode, s.Last().Message)
	}
}

// TestReferenceAccepted sends the example requests of the wire reference.
func TestReferenceAccepted(t *testing.T) {
	betas := "inline-tools-2026-09-15,mid-conversation-output-config-2026-07-01,mid-conversation-system-clear-at-2026-08-21," +
		"context-management-2025-06-27,mcp-client-2025-11-20,task-budgets-2026-03-13"
	fake.Accepts(t, "../../../../messages/testdata/e[0-9][0-9].json", 12, func(name, body string) (*fake.Server, *http.Response) {
		path := "/v1/messages"
		if name == "e29.json" {
			path += "/count_tokens"
		}
		s := NewHandler(Options{TrustSignatures: true})
		return s.Server, s.post(path, body, "Anthropic-Beta", betas)
	})
}

func TestCountRefusals(t *testing.T) {
	for name, body := range map[string]string{
		"missing max_tokens": in(`"stream":false`),
		"server tool":        `{"model":"m","tools":[{"type":"web_search_20250305","name":"web_search"}],"messages":[{"role":"user","content":"hi"}]}`,
		"url source":         `{"model":"m","messages":[` + user(`{"type":"image","source":{"type":"url","url":"https://a.example"}}`) + `]}`,
	} {
		s := NewHandler(Options{})
		if res := s.post("/v1/messages/count_tokens", body); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: status %d", name, res.StatusCode)
		}
	}
}
