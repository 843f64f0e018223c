package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// TestFreeform encodes requests with free-form tools, namespaces, refusals and the settings of
// text, for the vendor's servers.
func TestFreeform(t *testing.T) {
	exec := content.Tool{Name: "exec", Namespace: "functions", Description: "Runs.", Freeform: true, Grammar: &content.Grammar{Syntax: "lark", Definition: "start: /.+/"}}
	note := content.Tool{Name: "note", Freeform: true}
	wait := content.Tool{Name: "wait", Namespace: "functions", Input: content.Schema{JSON: "{}"}}
	called := func(r *upstream.Request) {
		r.Turns = []content.Turn{turnOf(content.RoleUser, textOf("a")),
			turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Namespace: "functions", Name: "exec", Freeform: true, Text: "ls\n"}, &content.ToolUse{ID: "c2", Namespace: "functions", Name: "wait", Input: "{}"}),
			turnOf(content.RoleUser, &content.ToolResult{ID: "c1", Parts: partsOf(textOf("x"))}, &content.ToolResult{ID: "c2", Parts: partsOf(textOf("y"))})}
	}
	refused := func(r *upstream.Request) {
		r.Turns = []content.Turn{turnOf(content.RoleUser, textOf("a")),
			turnOf(content.RoleAssistant, textOf("Hm. "), textOf("Well."), &content.Text{Text: "No.", Refusal: true}), turnOf(content.RoleUser, textOf("b"))}
	}
	schema := content.Schema{JSON: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`}
	for _, tt := range []struct {
		name            string
		model           string
		change          func(r *upstream.Request)
		chat, responses string // parts of the documents
		losses          int    // of Chat Completions, which has no namespaces
	}{
		{
			name: "tools", change: func(r *upstream.Request) { r.Tools = []content.Tool{exec, note, wait} },
			chat: `"tools":[{"type":"custom","custom":{"name":"functions__exec","description":"Runs.","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /.+/"}}}},` +
				`{"type":"custom","custom":{"name":"note"}},{"type":"function","function":{"name":"functions__wait","parameters":{"type":"object","properties":{}}}}]`,
			responses: `"tools":[{"type":"namespace","name":"functions","description":"Tools of functions.","tools":[` +
				`{"type":"custom","name":"exec","description":"Runs.","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}},` +
				`{"type":"function","name":"wait","parameters":{"type":"object","properties":{}},"strict":false}]},{"type":"custom","name":"note"}]`,
			losses: 2,
		},
		{
			name: "choice", change: func(r *upstream.Request) {
				r.Tools, r.Choice = []content.Tool{note, plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"note"}}
			},
			chat: `"tool_choice":{"type":"custom","custom":{"name":"note"}}`, responses: `"tool_choice":{"type":"custom","name":"note"}`,
		},
		{
			name: "calls", change: called,
			chat: `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"functions__exec","input":"ls\n"}},` +
				`{"id":"c2","type":"function","function":{"name":"functions__wait","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}`,
			responses: `{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"ls\n","namespace":"functions"},` +
				`{"type":"function_call","call_id":"c2","name":"wait","arguments":"{}","namespace":"functions"},` +
				`{"type":"custom_tool_call_output","call_id":"c1","output":"x"},{"type":"function_call_output","call_id":"c2","output":"y"}`,
			losses: 2,
		},
		{
			name: "refusal", change: refused,
			chat: `{"role":"assistant","content":"Hm. Well.","refusal":"No."}`,
			responses: `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hm. Well.","annotations":[]},` +
				`{"type":"refusal","refusal":"No."}]`,
		},
		{
			name: "schema", change: func(r *upstream.Request) {
				r.Output = upstream.Output{Schema: schema, Name: "plan", Description: "A plan.", Strict: new(false), Verbosity: "low"}
			},
			chat:      `"response_format":{"type":"json_schema","json_schema":{"name":"plan","description":"A plan.","schema":` + schema.JSON + `,"strict":false}},"verbosity":"low"`,
			responses: `"text":{"format":{"type":"json_schema","name":"plan","description":"A plan.","schema":` + schema.JSON + `,"strict":false},"verbosity":"low"}`,
		},
		{
			name: "verbosity", change: func(r *upstream.Request) { r.Output.Verbosity = "high" },
			chat: `"verbosity":"high"`, responses: `"text":{"verbosity":"high"}`,
		},
		{
			name: "older model", model: "gpt-4.1", change: func(r *upstream.Request) { r.Tools = []content.Tool{note} },
			chat: `"tools":[{"type":"function","function":{"name":"note","parameters":{"type":"object","properties":{"input":`, responses: `"tools":[{"type":"function","name":"note"`,
			losses: 1,
		},
	} {
		for _, f := range []content.Format{ChatFormat, ResponsesFormat} {
			t.Run(tt.name+", "+string(f), func(t *testing.T) {
				var u upstream.Upstream
				var err error
				want := tt.chat
				if o := (&Options{Key: "k"}); f == ChatFormat {
					u, err = New(o)
				} else {
					u, err = NewResponses(o)
					want = tt.responses
				}
				if err != nil {
					t.Fatal(err)
				}
				r := &upstream.Request{Model: "gpt-5.2", Turns: []content.Turn{turnOf(content.RoleUser, textOf("a"))}}
				if tt.model != "" {
					r.Model = tt.model
				}
				tt.change(r)
				e, err := upstream.EncodeRequest(t.Context(), u, r)
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(e.Document, want) {
					t.Errorf("the document has no\n%s\n%s", want, e.Document)
				}
				losses, err := upstream.Preflight(t.Context(), u, r)
				count := 0
				if f == ChatFormat || tt.model != "" {
					count = tt.losses
				}
				if err != nil || len(lossplaces.Of(losses)) != count {
					t.Errorf("losses %v, error %v; want %d losses", losses, err, count)
				}
				if diff := cmp.Diff(f, e.Format); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestSharedMembers sends members of one of the vendor's formats to servers of the other.
func TestSharedMembers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		from   content.Format
		extra  string
		want   []string // parts of the document
		losses []string
	}{
		{"from Chat Completions", ChatFormat, `{"metadata":{"a":"b"},"prompt_cache_key":"k1","verbosity":"low","logit_bias":{"1":2}}`,
			[]string{`"metadata":{"a":"b"}`, `"prompt_cache_key":"k1"`, `"text":{"verbosity":"low"}`}, []string{"extra.logit_bias"}},
		{"from Responses", ResponsesFormat, `{"metadata":{"a":"b"},"prompt_cache_key":"k1","truncation":"auto"}`,
			[]string{`"prompt_cache_key":"k1"`}, []string{"extra.metadata", "extra.truncation"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var u upstream.Upstream
			var err error
			if o := (&Options{Key: "k"}); tt.from == ChatFormat {
				u, err = NewResponses(o)
			} else {
				u, err = New(o)
			}
			if err != nil {
				t.Fatal(err)
			}
			image := &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}, Extra: &content.Extra{Format: tt.from, JSON: `{"detail":"low"}`}}
			r := &upstream.Request{Model: "gpt-5.2", Turns: []content.Turn{turnOf(content.RoleUser, textOf("a"), image)}, Extra: &content.Extra{Format: tt.from, JSON: tt.extra}}
			e, err := upstream.EncodeRequest(t.Context(), u, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range append(tt.want, `"detail":"low"`) {
				if strings.Count(e.Document, s) != 1 {
					t.Errorf("the document has %s %d times:\n%s", s, strings.Count(e.Document, s), e.Document)
				}
			}
			losses, err := upstream.Preflight(t.Context(), u, r)
			var paths []string
			for _, l := range lossplaces.Of(losses) {
				paths = append(paths, l.Path)
			}
			if diff := cmp.Diff(tt.losses, paths); diff != "" || err != nil {
				t.Errorf("%v, losses (-want +got):\n%s", err, diff)
			}
		})
	}
}
