package crosstest

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// TestDenseLimits checks the limits of parts, tools and schemas: which elements
// they count, that exactly as many are accepted, and that a host can change
// them.
func TestDenseLimits(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		d := s.dense
		states := func(n int) string { // in the second of two calls
			return withStates(t, s, `[{"text":"a","signature":"c2ln"}]`, "["+many(n-cmp.Or(s.dense.statesBase, 6), `{}`)+"]")
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
			{"parts", d.user, 100_000, func(n int) content.Limits { return content.Limits{Parts: n} }, "too many parts of content: at most "},
			{"turns", d.turns, 100_000, func(n int) content.Limits { return content.Limits{Parts: n} }, "at most "},
			{"parts of results", d.inResult, 200, func(n int) content.Limits { return content.Limits{Parts: n} }, "too many parts of content: at most 200"},
			{"carried states", states, 200, func(n int) content.Limits { return content.Limits{Parts: n} }, "too many parts of content: at most 200"},
			{"unknown members", d.members, 200, func(n int) content.Limits { return content.Limits{Parts: n} }, "unknown members: at most 200"},
			{"tools", d.tools, 10_000, func(n int) content.Limits { return content.Limits{Tools: n} }, "too many tools: at most "},
			{"schemas", d.schema, 250_000, func(n int) content.Limits { return content.Limits{Schemas: n} }, "too many values and names in its schemas: at most "},
		} {
			if tt.body == nil {
				continue
			}
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
			if tt.name == "turns" && d.fixedTurns {
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
		body := s.dense.user(n)
		// What a handler decodes uses the budget a second time. 1 MiB is not counted.
		const piece = 3 << 20
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", piece)))
		texts := fmt.Sprintf(s.inline, "text/plain", text)
		state := withStates(t, s, slices.Repeat([]string{`[{"text":"` + strings.Repeat("a", 40<<10) + `","signature":"c2ln"}]`}, piece/(40<<10))...)
		for _, tt := range []struct {
			body   string
			budget int64
			good   bool
		}{
			{body, int64(len(body)) + n*1024, true},
			{body, int64(len(body)) + n*256, false},
			{texts, int64(len(texts)) * 2, true},
			{texts, int64(len(texts)) * 5 / 4, s.keepsText},
			{state, int64(len(state)) * 2, true},
			{state, int64(len(state)) * 5 / 4, false},
		} {
			budget := &upstream.Budget{Bytes: tt.budget}
			m := &model{}
			status, answer, _ := post(t, s.handler(m, upstream.HandlerOptions{Budget: budget}), s.path, tt.body)
			want := s.failure(upstream.CodeOverloaded)
			if tt.good {
				want = failure{200, "ok", ""}
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
func withStates(t *testing.T, s wireFormat, lists ...string) string {
	t.Helper()
	var calls, results []string
	for i, list := range lists {
		call, result, ok := s.dense.state("t"+strconv.Itoa(i), list)
		if !ok {
			t.Fatal("the state is too large")
		}
		calls, results = append(calls, call), append(results, result)
	}
	return fmt.Sprintf(s.dense.states, strings.Join(calls, ","), strings.Join(results, ","))
}

// A density has requests with n elements of a kind, and requests that carry state.
type density struct {
	user       func(n int) string // parts of a user turn
	turns      func(n int) string
	fixedTurns bool               // the limit of turns is that of the vendor
	inResult   func(n int) string // in a tool result
	members    func(n int) string // unknown members
	tools      func(n int) string
	schema     func(n int) string                                   // values and names of a schema
	statesBase int                                                  // parts of a request with two lists of states, the first with one; 0: 6
	states     string                                               // a request with a %s for calls and one for their results
	state      func(id, list string) (call, result string, ok bool) // a call that carries a list of states
}

// many repeats a list element.
func many(n int, element string) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
}

// stateInID returns an id of a tool call that carries a list of states.
func stateInID(id, list string) (string, bool) {
	return envelope.EncodeID(id, envelope.Envelope{Format: "openai-responses", Kind: envelope.KindThinking, Data: list})
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
