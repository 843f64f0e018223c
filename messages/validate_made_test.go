package messages

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/race"
	"github.com/polywire/polywire/internal/workload"
)

// made is a request made by hand, with these parts as its one message.
func made(parts ...content.Part) *Request {
	n := int64(10)
	return &Request{Model: "m", MaxTokens: &n, Messages: []content.Turn{{Role: content.RoleUser, Parts: parts}},
		Tools: []content.Tool{{Name: "t", Input: content.Schema{JSON: `{"type":"object"}`}}}}
}

func faultsOf(err error) []string {
	list, _ := content.Violations(err)
	var all []string
	for _, e := range list {
		all = append(all, string(e.Code)+" "+e.Error())
	}
	return all
}

// Whatever is nil in a request made by hand is a fault, never a panic.
func TestValidateMade(t *testing.T) {
	nan := math.NaN()
	odd := made(&content.Text{Text: "a"})
	odd.Temperature = &nan
	odd.Container, odd.Tools[0].Input.JSON = `{"id":`, `{"type":"object"`
	asks := made(&content.Text{Text: "a"})
	asks.Messages = append(asks.Messages,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "a", Name: "t", Input: `{"a":}`}, &content.ToolUse{}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "a", Parts: []content.Part{nil, (*content.Image)(nil)}}}})
	tests := []struct {
		name string
		r    *Request
		want []string
	}{
		{"good", made(&content.Text{Text: "a"}), nil},
		{"nothing", &Request{}, []string{"missing model: Field required", "missing max_tokens: Field required", "missing messages: Field required"}},
		{"nil parts", made(nil, (*content.Text)(nil), (*content.ToolResult)(nil), &content.Image{}, &content.Image{Source: (*content.Base64)(nil)}),
			[]string{"missing messages.0.content.0: Input should be an object", "missing messages.0.content.1: Input should be an object",
				"missing messages.0.content.2: Input should be an object", "missing messages.0.content.3.image.source: Field required",
				"missing messages.0.content.4.image.source: Field required"}},
		{"empty sources", made(&content.Image{Source: &content.Base64{}}, &content.Image{Source: &content.URL{}}, &content.Document{Source: &content.Parts{Parts: []content.Part{nil}}}),
			[]string{"missing messages.0.content.0.image.source.base64.media_type: Field required", "missing messages.0.content.1.image.source.url.url: Field required",
				"missing messages.0.content.2.document.source.content.content.0: Input should be an object"}},
		{"of another format", made(&content.Unknown{Format: "other", Kind: "thing", Raw: "{}"}, &content.Media{}, &content.Unknown{Kind: "thing", Raw: "["}),
			[]string{"unsupported messages.0.content.0: " + tagText("thing", userTags), "unsupported messages.0.content.1: " + tagText("media", userTags),
				"syntax messages.0.content.2.thing: must be JSON: " + syntaxOf("[")}},
		{"JSON that is none", odd, []string{"syntax tools.0.custom.input_schema: must be JSON: " + syntaxOf(`{"type":"object"`),
			"range temperature: Input should be a finite number", "syntax container: must be JSON: " + syntaxOf(`{"id":`)}},
		{"calls", asks, []string{"syntax messages.1.content.0.tool_use.input: must be JSON: " + syntaxOf(`{"a":}`),
			"missing messages.1.content.1.tool_use.id: Field required", "missing messages.1.content.1.tool_use.name: Field required",
			"missing messages.2.content.0.tool_result.content.0: Input should be an object", "missing messages.2.content.0.tool_result.content.1: Input should be an object"}},
		{"system", &Request{Model: "m", MaxTokens: asks.MaxTokens, Messages: made(&content.Text{Text: "a"}).Messages, System: []content.Part{nil, &content.Image{}}},
			[]string{"missing system.0: Field required", "value system.1.type: Input should be 'text'"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, faultsOf(tt.r.Validate(nil))); diff != "" {
				t.Errorf("Validate (-want +got):\n%s", diff)
			}
		})
	}
}

// syntaxOf is what the reader of JSON says of a text.
func syntaxOf(text string) string {
	v := validator{made: true, opts: &defaultOptions}
	v.open(text)
	list, _ := content.Violations(v.violations.Err())
	return strings.TrimPrefix(list[0].Text, "must be JSON: ")
}

// Of many faults most are only counted, and that costs nothing.
func TestValidateFaultsAreBounded(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	var allocs [2]float64
	for i, n := range []int{5000, 10000} {
		body := userSays(strings.TrimSuffix(strings.Repeat(`{"type":"thinking","thinking":"","signature":"s"},`, n), ","))
		r, err := ParseRequestString(body)
		if err != nil {
			t.Fatal(err)
		}
		list, more := content.Violations(r.Validate(nil))
		if len(list) != content.MaxViolations || more != n-content.MaxViolations {
			t.Errorf("%d faults and %d more, want %d in all", len(list), more, n)
		}
		allocs[i] = testing.AllocsPerRun(2, func() { r.Validate(nil) })
	}
	if allocs[1] > allocs[0]+50 {
		t.Errorf("%v allocations for 5000 faults, %v for 10000", allocs[0], allocs[1])
	}
}

// Long base64 is not looked at twice, unless somebody has changed it.
func TestValidateChangedData(t *testing.T) {
	pdf := "JVBERi0xLjcK" + strings.Repeat("QUJD", 3000)
	part := `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}`
	for _, change := range []string{"", strings.Repeat("!", len(pdf)), pdf[:len(pdf)-1] + "=", "JVBERi0xLjcK" + strings.Repeat("Q\nJ", 3000)} {
		r, err := ParseRequestString(userSays(part + "," + part))
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
			t.Errorf("data changed to %.20q…: %v, want one fault", change, list)
		}
	}
	r, _ := ParseRequestString(userSays(strings.Replace(part, "QUJD", "QU!D", 1) + "," + part))
	if list, _ := content.Violations(r.Validate(nil)); len(list) != 1 {
		t.Errorf("one bad file of two: %v", list)
	}
}

// conversation has n calls with their results, and n texts.
func conversation(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c%d","name":"t","input":{"a":1}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"done"}]}`, i, i)
	}
	return talk(`{"role":"user","content":"go"}` + b.String())
}

// Validating a good request costs the maps of names and ids, and little that
// grows with it.
func TestValidateAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	for _, tt := range []struct{ calls, most int }{{0, 4}, {30, 11}, {1000, 30}, {10000, 120}} {
		r, err := ParseRequestString(conversation(tt.calls))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(nil); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(5, func() { r.Validate(nil) }); n > float64(tt.most) {
			t.Errorf("%d calls: %v allocations, want at most %d", tt.calls, n, tt.most)
		}
	}
}

// What people send is good, by strict rules too.
func TestValidateWorkloads(t *testing.T) {
	for name, make := range map[string]func() string{"small": workload.Small, "chat": workload.Chat, "agent": workload.Agent,
		"intl": workload.Intl, "image": workload.Image} {
		r, err := ParseRequestString(make())
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
		r, err := ParseRequestString(body)
		if r == nil {
			return
		}
		rules := &ValidateOptions{Strict: strict}
		all := r.Validate(rules)
		if err != nil && all == nil {
			t.Fatalf("parsing finds %v, Validate nothing", err)
		}
		if diff := cmp.Diff(faultsOf(all), faultsOf(r.Validate(rules))); diff != "" {
			t.Errorf("Validate differs from one time to the next:\n%s", diff)
		}
		// The same without the document behind it: other faults, but no panic.
		bare := *r
		bare.origin = nil
		bare.Validate(rules)
	})
}
