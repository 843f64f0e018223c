package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/fake"
	"github.com/polywire/polywire/upstream"
)

// TestPieces has clients give back an answer in several turns that follow one
// another, as the pieces of a stream came: every vendor hears one answer, its
// words as the model said them. What the user says in several turns stays as many
// texts.
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
		hint                 bool // it is told that turns with calls are joined, or that Messages has no texts of white space
	}{
		{"texts", "generatecontent", contents(user(text("Hi")), model(text("Good mor"), text("ning.")), user(text("Go on"))),
			[]string{"user: Hi", "assistant: Good morning.", "user: Go on"}, false},
		{"a space", "generatecontent", contents(user(text("Hi")), model(text("Good"), text(" "), text("mor"), text("ning.")+","+text(" You?"), text(`\n`)), user(text("Go on"))),
			[]string{"user: Hi", "assistant: Good morning. You?\n", "user: Go on"}, true},
		{"turns of the user", "generatecontent", contents(user(text("Hi")), user(text("there")), model(text("A")), user(text("Go on"))),
			[]string{"user: Hi", "user: there", "assistant: A", "user: Go on"}, false},
		{"a call behind", "generatecontent", contents(user(text("Hi")), model(text("Let me"), text(" look."), call), user(result)) + declared,
			[]string{"user: Hi", "assistant: Let me look. [look]", "result: fog"}, true},
		{"two steps", "generatecontent", contents(user(text("Hi")), model(text("Let "), text("me."), call), user(result), model(text("F"), text("og.")), user(text("Ah"))) + declared,
			[]string{"user: Hi", "assistant: Let me. [look]", "result: fog", "assistant: Fog.", "user: Ah"}, true},
		{"messages", "messages", `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Good mor"},{"role":"assistant","content":[{"type":"text","text":"ning."}]},{"role":"user","content":"Go on"}]`,
			[]string{"user: Hi", "assistant: Good morning.", "user: Go on"}, false},
	}
	for _, tt := range tests {
		for _, b := range backs {
			if b.format == tt.front {
				continue // the bytes pass
			}
			t.Run(tt.name+"→"+b.name, func(t *testing.T) {
				up, vendor := b.start(t, vendor{})
				g := newGateway(frontNamed(tt.front), up, upstream.HandlerOptions{})
				vendor.Say(fake.Text("Fine."))
				a := g.ask(b.model, tt.members, whole)
				if a.Status != 200 {
					t.Fatalf("answered %d: %s", a.Status, clip(a.Body))
				}
				if diff := cmp.Diff(tt.want, heard(b.name, string(vendor.Last().Body))); diff != "" {
					t.Errorf("the vendor hears (-want +got):\n%s", diff)
				}
				for _, l := range a.Report.Losses {
					if strings.HasPrefix(l.Path, "parts.") && l.Severity == content.LossHint {
						continue // the vendor signs its text
					}
					if !tt.hint || l.Severity != content.LossHint {
						t.Errorf("reported, although nothing is lost: %v", l)
					}
				}
			})
		}
	}
}

// heard says what a conversation is to a vendor: a line for each message. Thoughts
// are left out.
func heard(back, body string) (lines []string) {
	add := func(role, text string) { lines = append(lines, role+": "+text) }
	for _, m := range gjson.Parse(conversed(body)).Array() {
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
			continue // a thought
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

// textOf returns the texts of a string or of a list of parts.
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

// hears checks that the vendor has heard of its answers what it said, each as one
// message.
func hears(t *testing.T, b back, vendor *fake.Server, steps []step) {
	t.Helper()
	var want, got []string
	for _, s := range steps[:len(steps)-1] {
		if s.text != "" {
			want = append(want, s.text)
		}
	}
	for _, line := range heard(b.name, string(vendor.Last().Body)) {
		text, ok := strings.CutPrefix(line, "assistant: ")
		if text, _, _ = strings.Cut(text, " ["); ok && text != "" {
			got = append(got, text)
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("the vendor hears of what it said (-want +got):\n%s", cmp.Diff(want, got))
	}
}
