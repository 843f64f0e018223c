package chatcompletions

import (
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
)

// many returns n elements s, separated by commas. # is the index.
func many(s string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(s, "#", strconv.Itoa(i)))
	}
	return b.String()
}

func withMessages(list string) string { return `{"model":"m","messages":[` + list + `]}` }

func withParts(list string) string { return withMessages(`{"role":"user","content":[` + list + `]}`) }

func withMember(member string) string {
	return `{"model":"m","messages":[{"role":"user","content":"x"}],` + member + `}`
}

const call = `{"id":"#","type":"function","function":{"name":"f","arguments":"{}"}}`

// worsts are hostile documents. Each has a list at the limit of the parser, or beyond it.
var worsts = []struct {
	name string
	n    int
	body func(n int) string
}{
	{"messages", 100_000, func(n int) string { return withMessages(many(`{"role":"user","content":"x"}`, n)) }},
	{"too many messages", 300_000, func(n int) string { return withMessages(many(`{"role":"user","content":"x"}`, n)) }},
	{"messages with violations", 100_000, func(n int) string { return withMessages(many(`{"role":"x","content":5}`, n)) }},
	{"no messages", 100_000, func(n int) string { return withMessages(many(`1`, n)) }},
	{"results without calls", 100_000, func(n int) string { return withMessages(many(`{"role":"tool","tool_call_id":"#","content":"x"}`, n)) }},
	{"calls without results", 30_000, func(n int) string {
		return withMessages(many(`{"role":"assistant","tool_calls":[`+call+`]}`, n))
	}},
	{"many calls, then messages with one", 30_000, func(n int) string {
		return withMessages(`{"role":"assistant","tool_calls":[` + many(call, n) + `]},` + many(`{"role":"assistant","tool_calls":[`+call+`]}`, n))
	}},
	{"calls and results", 30_000, func(n int) string {
		return withMessages(`{"role":"assistant","tool_calls":[` + many(call, n) + `]},` + many(`{"role":"tool","tool_call_id":"#","content":"x"}`, n))
	}},
	{"arguments that are not objects", 30_000, func(n int) string {
		return withMessages(`{"role":"assistant","tool_calls":[` + many(`{"id":"#","type":"function","function":{"name":"f","arguments":"["}}`, n) + `]}`)
	}},
	{"long arguments that are not objects", 5_000_000, func(n int) string {
		return withMessages(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"` + strings.Repeat(`\u0001`, n) + `"}}]}`)
	}},
	{"parts", 100_000, func(n int) string { return withParts(many(`{"type":"text","text":"x"}`, n)) }},
	{"parts with members", 50_000, func(n int) string { return withParts(many(`{"type":"text","text":"x","y":1}`, n)) }},
	{"unknown parts", 100_000, func(n int) string { return withParts(many(`{"type":"y"}`, n)) }},
	{"parts without a type", 100_000, func(n int) string { return withParts(many(`{}`, n)) }},
	{"files", 50_000, func(n int) string {
		return withParts(many(`{"type":"image_url","image_url":{"url":"https://example.com","detail":"low"}}`, n))
	}},
	{"system texts with members, of a message with a long one", 50_000, func(n int) string {
		return withMessages(`{"role":"developer","x":"` + strings.Repeat("x", 1<<20) + `","content":[` + many(`{"type":"text","text":"x","y":1}`, n) + `]},{"role":"user","content":"x"}`)
	}},
	{"system messages", 50_000, func(n int) string {
		return withMessages(many(`{"role":"developer","name":"n","content":"x"}`, n) + `,{"role":"user","content":"x"}`)
	}},
	{"members", 200_000, func(n int) string { return withMember(many(`"m#":1`, n)) }},
	{"members of a message", 100_000, func(n int) string { return withMessages(`{"role":"user","content":"x",` + many(`"m#":1`, n) + `}`) }},
	{"stop", 100_000, func(n int) string { return withMember(`"stop":[` + many(`"x"`, n) + `]`) }},
	{"tools", 10_000, func(n int) string {
		return withMember(`"tools":[` + many(`{"type":"function","function":{"name":"f#"}}`, n) + `]`)
	}},
	{"tools without names", 10_000, func(n int) string { return withMember(`"tools":[` + many(`{"type":"function"}`, n) + `]`) }},
	{"chosen tools", 10_000, func(n int) string {
		return withMember(`"tools":[` + many(`{"type":"function","function":{"name":"f#"}}`, n) + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[` +
			many(`{"type":"function","function":{"name":"g#"}}`, n) + `]}}`)
	}},
	{"metadata", 200_000, func(n int) string {
		return withMember(`"metadata":{` + many(`"`+strings.Repeat("k", 65)+`#":"v"`, n) + `}`)
	}},
	{"logit_bias", 200_000, func(n int) string { return withMember(`"logit_bias":{` + many(`"#":101.5`, n) + `}`) }},
}

// handle does with a body what a handler does.
func handle(body string) (*Request, error) {
	opts := &ValidateOptions{Strict: true}
	r, err := decodeRequest(body, opts)
	if r == nil {
		return nil, err
	}
	n, _ := r.withDocument(nil)
	referencedFiles(r, opts)
	for i := range min(len(n.Turns), 1000) {
		r.Path("turns." + strconv.Itoa(i) + ".parts.0")
	}
	return r, err
}

// Hostile documents need memory that is linear in their size, and at most 4 times their size plus
// 64 MiB.
func TestWorst(t *testing.T) {
	if race.Enabled || testing.Short() {
		t.Skip("takes seconds")
	}
	for _, w := range worsts {
		t.Run(w.name, func(t *testing.T) {
			measure := func(n int) (size int, bytes uint64) {
				body := w.body(n)
				bytes, _ = formattest.Allocated(func() {
					_, err := handle(body)
					if list, _ := content.Violations(err); len(list) > content.MaxViolations {
						t.Errorf("%d violations", len(list))
					}
				})
				return len(body), bytes
			}
			_, half := measure(w.n / 2)
			size, bytes := measure(w.n)
			if limit := uint64(4*size + 64<<20); bytes > limit {
				t.Errorf("%d MB for a body of %d MB, at most %d", bytes>>20, size>>20, limit>>20)
			}
			if bytes > 2*half+half/2+5<<20 {
				t.Errorf("%d bytes, and %d for twice the size", half, bytes)
			}
		})
	}
}

func TestDeepest(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("[", 1<<20),
		withParts(strings.Repeat(`{"type":"text","text":`, 300) + strings.Repeat("}", 300)),
		withMember(`"x":` + strings.Repeat("[", 1<<20)),
	} {
		if r, err := handle(body); r != nil || err == nil {
			t.Errorf("%.40s: is accepted", body)
		}
	}
	// Arguments have the same limit. Beyond it they are text.
	deep := strings.Repeat(`{\"a\":`, 1<<18) + "1" + strings.Repeat("}", 1<<18)
	r, err := handle(withMessages(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"` + deep + `"}}]},{"role":"tool","tool_call_id":"1","content":"x"}`))
	if err != nil || r.Messages[0].Parts[0].(*content.ToolUse).Extra == nil {
		t.Errorf("deep arguments: %v", err)
	}
}
