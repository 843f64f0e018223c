package crosstest

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// TestDenseLimits checks the limits of parts, tools and schemas: which elements
// they count, that exactly as many are accepted, and that a host can change
// them.
func TestDenseLimits(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		many := func(n int, element string) string { return strings.TrimSuffix(strings.Repeat(element+",", n), ",") }
		user := func(n int) string {
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + many(n, `{"type":"text","text":"a"}`) + `]}]}`
		}
		turns := func(n int) string {
			return `{"model":"m","max_tokens":9,"messages":[` + many(n, `{"role":"user","content":"a"}`) + `]}`
		}
		inResult := func(n int) string {
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` + many(n-3, `{"type":"text","text":"a"}`) + `]}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
		}
		members := func(n int) string {
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],` + numbers(n-4, `"m#":1`) + `}`
		}
		tools := func(n int) string {
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` + numbers(n, `{"name":"f#","input_schema":{"type":"object"}}`) + `]}`
		}
		schema := func(n int) string { // with n values and names
			return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{"type":"object","required":[` + numbers(n-5, `"m#"`) + `]}}]}`
		}
		if s.format == generatecontent.Format {
			user = func(n int) string { return `{"contents":[{"parts":[` + many(n, `{"text":"a"}`) + `]}]}` }
			turns = func(n int) string { return `{"contents":[` + many(n, `{"parts":{"text":"a"}}`) + `]}` }
			inResult = func(n int) string {
				return `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f"}}]},{"parts":[{"functionResponse":{"name":"f","response":{},"parts":[` +
					many(n-3, `{"fileData":{"mimeType":"image/png","fileUri":"gs://a/b"}}`) + `]}}]}]}`
			}
			members = func(n int) string {
				return `{"contents":[{"parts":[{"text":"a"}]}],` + numbers(n-2, `"m#":1`) + `}`
			}
			tools = func(n int) string {
				return `{"contents":[{"parts":[{"text":"a"}]}],"tools":[` + many(n, `{"googleSearch":{}}`) + `]}`
			}
			schema = func(n int) string {
				return `{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","required":[` + numbers(n-5, `"m#"`) + `]}}]}]}`
			}
		}
		states := func(n int) string { // in the second of two calls
			return withStates(t, s.format, `[{"text":"a","signature":"c2ln"}]`, "["+many(n-6, `{}`)+"]")
		}
		limits := func(l content.Limits) upstream.HandlerOptions {
			l.Files = 1000
			return upstream.HandlerOptions{Limits: l, Links: nil, ForwardLinks: true}
		}
		for _, tt := range []struct {
			name   string
			body   func(n int) string
			limit  int
			change func(n int) content.Limits
			text   string
		}{
			{"parts", user, 100_000, func(n int) content.Limits { return content.Limits{Parts: n} }, "too many parts of content: at most "},
			{"turns", turns, 100_000, func(n int) content.Limits { return content.Limits{Parts: n} }, "at most "},
			{"parts of results", inResult, 200, func(n int) content.Limits { return content.Limits{Parts: n} }, "too many parts of content: at most 200"},
			{"carried states", states, 200, func(n int) content.Limits { return content.Limits{Parts: n} }, "too many parts of content: at most 200"},
			{"unknown members", members, 200, func(n int) content.Limits { return content.Limits{Parts: n} }, "unknown members: at most 200"},
			{"tools", tools, 10_000, func(n int) content.Limits { return content.Limits{Tools: n} }, "too many tools: at most "},
			{"schemas", schema, 250_000, func(n int) content.Limits { return content.Limits{Schemas: n} }, "too many values and names in its schemas: at most "},
		} {
			status := func(n int, l content.Limits) int {
				t.Helper()
				code, answer, _ := post(t, s.handler(&model{}, limits(l)), s.path, tt.body(n))
				if code != 200 && (code != 400 || !strings.Contains(answer, tt.text)) {
					t.Errorf("%s: %d elements: status %d %.300s", tt.name, n, code, answer)
				}
				return code
			}
			l := content.Limits{}
			if tt.limit == 200 { // a small limit
				l = tt.change(200)
			}
			if got := status(tt.limit, l); got != 200 {
				t.Errorf("%s: at the limit: status %d", tt.name, got)
			}
			if got := status(tt.limit+1, l); got != 400 {
				t.Errorf("%s: one above the limit: status %d", tt.name, got)
			}
			if tt.name == "turns" && s.format != generatecontent.Format {
				continue // the vendor's own limit, which a host cannot change
			}
			if got := status(tt.limit+1, tt.change(tt.limit+1)); got != 200 {
				t.Errorf("%s: with a larger limit: status %d", tt.name, got)
			}
		}
	})
}

// TestDenseBudget checks that a document with very many parts uses more of the
// budget than its bytes, and releases it.
func TestDenseBudget(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		const n = 50_000
		body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, n-1) + `{"type":"text","text":"a"}]}]}`
		if s.format == generatecontent.Format {
			body = `{"contents":[{"parts":[` + strings.Repeat(`{"text":"a"},`, n-1) + `{"text":"a"}]}]}`
		}
		// What a handler decodes uses the budget a second time. 1 MiB is not counted.
		const piece = 3 << 20
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", piece)))
		texts := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"` + text + `"}}]}]}`
		if s.format == generatecontent.Format {
			texts = `{"contents":[{"parts":[{"inlineData":{"mimeType":"text/plain","data":"` + text + `"}}]}]}`
		}
		state := withStates(t, s.format, slices.Repeat([]string{`[{"text":"` + strings.Repeat("a", 40<<10) + `","signature":"c2ln"}]`}, piece/(40<<10))...)
		for _, tt := range []struct {
			body   string
			budget int64
			good   bool
		}{
			{body, int64(len(body)) + n*1024, true},
			{body, int64(len(body)) + n*256, false},
			{texts, int64(len(texts)) * 2, true},
			{texts, int64(len(texts)) * 5 / 4, false},
			{state, int64(len(state)) * 2, true},
			{state, int64(len(state)) * 5 / 4, false},
		} {
			budget := &upstream.Budget{Bytes: tt.budget}
			m := &model{}
			status, answer, _ := post(t, s.handler(m, upstream.HandlerOptions{Budget: budget}), s.path, tt.body)
			want := s.failure(upstream.CodeOverloaded)
			if tt.good {
				want = failure{200, "ok"}
			}
			if status != want.status || !strings.Contains(answer, want.word) || (m.calls.Load() == 1) != tt.good {
				t.Errorf("budget of %d: status %d %.200s", tt.budget, status, answer)
			}
			if requests, bytes := budget.InFlight(); requests != 0 || bytes != 0 {
				t.Errorf("budget still in use: %d requests, %d bytes", requests, bytes)
			}
		}
	})
}

// withStates returns a request whose tool calls carry lists of states of a vendor. The
// client sends a text, the calls and their results.
func withStates(t *testing.T, f content.Format, lists ...string) string {
	var calls, results []string
	for i, list := range lists {
		if f == generatecontent.Format {
			sig, ok := envelope.EncodeBase64("messages", envelope.KindThinking, list)
			if !ok {
				t.Fatal("the state is too large")
			}
			calls = append(calls, `{"functionCall":{"name":"f"},"thoughtSignature":"`+sig+`"}`)
			results = append(results, `{"functionResponse":{"name":"f","response":{}}}`)
			continue
		}
		id, ok := envelope.EncodeID("t"+strconv.Itoa(i), envelope.Envelope{Format: "openai-responses", Kind: envelope.KindThinking, Data: list})
		if !ok {
			t.Fatal("the state is too large")
		}
		calls = append(calls, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`)
		results = append(results, `{"type":"tool_result","tool_use_id":"`+id+`"}`)
	}
	if f == generatecontent.Format {
		return `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[` + strings.Join(calls, ",") + `]},{"parts":[` + strings.Join(results, ",") + `]}]}`
	}
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` + strings.Join(calls, ",") +
		`]},{"role":"user","content":[` + strings.Join(results, ",") + `]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
}

// numbers repeats a list element and replaces each # by its index.
func numbers(n int, element string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.Replace(element, "#", strconv.Itoa(i), 1))
	}
	return b.String()
}
