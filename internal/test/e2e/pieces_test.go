package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// TestPieces has clients return a response in several consecutive turns, as the
// pieces of a stream arrived. Each vendor must receive one turn with the text
// that the model wrote. Consecutive turns of the user stay separate texts.
func TestPieces(t *testing.T) {
	const declared = `,"tools":[{"functionDeclarations":[{"name":"look"}]}]`
	model := func(parts ...string) string {
		var list []string
		for _, p := range parts {
			list = append(list, `{"role":"model","parts":[`+p+`]}`)
		}
		return strings.Join(list, ",")
	}
	user := func(part string) string { return `{"role":"user","parts":[` + part + `]}` }
	text := func(s string) string { return `{"text":"` + s + `"}` }
	contents := func(list ...string) string { return `"contents":[` + strings.Join(list, ",") + `]` }
	call, result := `{"functionCall":{"name":"look","args":{}}}`, `{"functionResponse":{"name":"look","response":{"output":"fog"}}}`
	tests := []struct {
		name, front, members string
		want                 []string
		hint                 bool // a hint reports joined turns with tool calls, blank texts dropped for Messages, or thinking that cannot be turned off
	}{
		{"texts", "generatecontent", contents(user(text("Hi")), model(text("Good mor"), text("ning.")), user(text("Go on"))),
			[]string{"user: Hi", "assistant: Good morning.", "user: Go on"}, false},
		{"blank texts", "generatecontent", contents(user(text("Hi")), model(text("Good"), text(" "), text("mor"), text("ning.")+","+text(" You?"), text(`\n`)), user(text("Go on"))),
			[]string{"user: Hi", "assistant: Good morning. You?\n", "user: Go on"}, true},
		{"user turns", "generatecontent", contents(user(text("Hi")), user(text("there")), model(text("A")), user(text("Go on"))),
			[]string{"user: Hi", "user: there", "assistant: A", "user: Go on"}, false},
		{"tool call after texts", "generatecontent", contents(user(text("Hi")), model(text("Let me"), text(" look."), call), user(result)) + declared,
			[]string{"user: Hi", "assistant: Let me look. [look]", "result: fog"}, true},
		{"two steps", "generatecontent", contents(user(text("Hi")), model(text("Let "), text("me."), call), user(result), model(text("F"), text("og.")), user(text("Ah"))) + declared,
			[]string{"user: Hi", "assistant: Let me. [look]", "result: fog", "assistant: Fog.", "user: Ah"}, true},
		{"messages", "messages", `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Good mor"},{"role":"assistant","content":[{"type":"text","text":"ning."}]},{"role":"user","content":"Go on"}]`,
			[]string{"user: Hi", "assistant: Good morning.", "user: Go on"}, true},
	}
	for _, tt := range tests {
		for _, b := range adapters {
			if b.format == tt.front {
				continue // the bytes are forwarded
			}
			t.Run(tt.name+"→"+b.name, func(t *testing.T) {
				up, vendor := b.start(t, vendor{})
				g := newGateway(endpointNamed(tt.front), up, upstream.HandlerOptions{})
				vendor.Say(fake.Text("Fine."))
				a := g.ask(b.model, tt.members, whole)
				if a.Status != 200 {
					t.Fatalf("status %d: %s", a.Status, clip(a.Body))
				}
				if diff := cmp.Diff(tt.want, messageLines(b.name, string(vendor.Last().Body))); diff != "" {
					t.Errorf("messages at the vendor (-want +got):\n%s", diff)
				}
				for _, l := range lossplaces.Of(a.Report.Losses) {
					if strings.HasPrefix(l.Path, "parts.") && l.Severity == content.LossHint {
						continue // the vendor signs its text
					}
					if !tt.hint || l.Severity != content.LossHint {
						t.Errorf("unexpected loss: %v", l)
					}
				}
			})
		}
	}
}

// messageLines returns a line for each message of a vendor's request. Thinking
// is omitted.
func messageLines(back, body string) (lines []string) {
	add := func(role, text string) { lines = append(lines, role+": "+text) }
	for _, m := range gjson.Parse(conversationMember(body)).Array() {
		role := strings.Replace(m.Get("role").Str, "model", "assistant", 1)
		text := textOf(m.Get("content"))
		switch {
		case back == toChat && role == "tool":
			role = "result"
		case back == toChat:
			for _, c := range m.Get("tool_calls").Array() {
				text += " [" + c.Get("function.name").Str + "]"
			}
		case back == toResp && m.Get("type").Str == "function_call":
			if n := len(lines) - 1; n >= 0 && strings.HasPrefix(lines[n], "assistant") {
				lines[n] += " [" + m.Get("name").Str + "]"
				continue
			}
			role, text = "assistant", " ["+m.Get("name").Str+"]"
		case back == toResp && m.Get("type").Str == "function_call_output":
			role, text = "result", textOf(m.Get("output"))
		case back == toResp && role == "":
			continue // thinking
		case back == toGemini:
			for _, p := range m.Get("parts").Array() {
				if r := p.Get("functionResponse"); r.Exists() {
					role, text = "result", r.Get("response.output").Str
				}
				if c := p.Get("functionCall"); c.Exists() {
					text += " [" + c.Get("name").Str + "]"
				} else if !p.Get("thought").Bool() {
					text += p.Get("text").Str
				}
			}
		case back == toClaude:
			for _, p := range m.Get("content").Array() {
				switch p.Get("type").Str {
				case "tool_use":
					text += " [" + p.Get("name").Str + "]"
				case "tool_result":
					role, text = "result", textOf(p.Get("content"))
				}
			}
		}
		if role != "system" && role != "developer" {
			add(role, text)
		}
	}
	return lines
}

// textOf returns the text of a string or of a list of parts.
func textOf(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	var b strings.Builder
	for _, p := range v.Array() {
		b.WriteString(p.Get("text").Str)
	}
	return b.String()
}

// checkMessages checks that the vendor received each of its responses as one
// message with the original text.
func checkMessages(t *testing.T, b adapter, vendor *fake.Server, steps []step) {
	t.Helper()
	var want, got []string
	for _, s := range steps[:len(steps)-1] {
		if s.text != "" {
			want = append(want, s.text)
		}
	}
	for _, line := range messageLines(b.name, string(vendor.Last().Body)) {
		text, ok := strings.CutPrefix(line, "assistant: ")
		if text, _, _ = strings.Cut(text, " ["); ok && text != "" {
			got = append(got, text)
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("the vendor's own messages (-want +got):\n%s", cmp.Diff(want, got))
	}
}
