package messages

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/upstream"
)

// roundTrip returns the request after conversion to the neutral form, encoding and parsing.
// The error is that of the conversion.
func roundTrip(t *testing.T, r *Request) (*Request, []content.Loss, error) {
	t.Helper()
	back, losses, err := RequestFromUpstream(r.Upstream())
	if err != nil {
		return nil, losses, err
	}
	if len(r.Tools) == 0 && back.ToolChoice == nil {
		back.ToolChoice = r.ToolChoice // without tools it has no effect, and the vendor rejects it
	}
	b, err := back.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseRequest(b)
	if err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return again, losses, nil
}

func TestRoundTrip(t *testing.T) {
	bodies := append(requestBodies(t), workload.Agent(), workload.Image())
	for _, body := range bodies {
		r, err := ParseRequest([]byte(body))
		if err != nil {
			t.Fatalf("%.300s: %v", body, err)
		}
		got, losses, err := roundTrip(t, r)
		if len(losses) > 0 || err != nil {
			hasParts := slices.ContainsFunc(r.Messages, func(m content.Turn) bool { return len(m.Parts) > 0 })
			chooses := len(r.Tools) > 0 || r.ToolChoice == nil // without tools, the choice is omitted
			valid := chooses && r.Validate(&ValidateOptions{Version: version2023, AllowFiles: true}) == nil && hasParts && !strings.Contains(body, `"system":""`) && !strings.Contains(body, `"signature":""`) &&
				!slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Input.JSON != "" && !strings.Contains(t.Input.JSON, `"type"`) })
			if valid {
				t.Errorf("%.300s: losses %v, %v", body, losses, err)
			}
			continue // the vendor rejects it
		}
		if diff := cmp.Diff(r, got, ignoreOrigin); diff != "" {
			t.Errorf("%.300s (-want +got):\n%s", body, diff)
		}
	}
}

func TestUpstreamNeutral(t *testing.T) {
	r, err := ParseRequest([]byte(`{"model":"m","max_tokens":9,"system":"s","stream":true,"metadata":{"user_id":"u","x":1},` +
		`"stop_sequences":["e"],"temperature":0.5,"top_k":3,"tool_choice":{"type":"tool","name":"n","disable_parallel_tool_use":true},` +
		`"thinking":{"type":"enabled","budget_tokens":1024,"display":"omitted"},"service_tier":"auto",` +
		`"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"b":1}},"task_budget":{"type":"tokens","total":20000}},"speed":"fast",` +
		`"messages":[{"role":"user","content":"a","clear_at":"never"}],"x_new":1}`))
	if err != nil {
		t.Fatal(err)
	}
	budget, maxTokens, topK, temperature := int64(1024), int64(9), int64(3), 0.5
	want := &upstream.Request{
		Model: "m", MaxTokens: &maxTokens, TopK: &topK, Temperature: &temperature, Stream: true, UserID: "u",
		StopSequences: []string{"e"}, ServiceTier: "auto",
		System: []content.Part{&content.Text{Text: "s"}},
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}},
			Extra: &content.Extra{Format: Format, JSON: `{"clear_at":"never"}`}}},
		Choice:   content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"n"}, NoParallel: true},
		Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &budget, Display: "omitted", Effort: "low"},
		Output:   upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"b":1}`}},
		Defaults: upstream.Defaults{Format: Format, Thinking: upstream.ThinkingOff, Display: "summarized"},
		Extra: &content.Extra{Format: Format,
			JSON: `{"metadata":{"x":1},"output_config":{"task_budget":{"type":"tokens","total":20000}},"speed":"fast","x_new":1}`},
	}
	if diff := cmp.Diff(want, r.Upstream()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Upstream().Turns[0].Parts[0] != r.Messages[0].Parts[0] {
		t.Error("the parts are copies")
	}
}

// TestNotSet checks that the value by which older clients mark a parameter as not set stays
// in the document only.
func TestNotSet(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"temperature":1,"top_p":-1,"top_k":-1}`
	n, _, err := DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n.TopP != nil || n.TopK != nil || n.Temperature == nil {
		t.Errorf("top_p %v, top_k %v, temperature %v", n.TopP, n.TopK, n.Temperature)
	}
	if d := snapshot.DocumentOf(n, Format); d == nil || d.Body != body {
		t.Error("the document is not sent unchanged")
	}
	r, losses, err := RequestFromUpstream(n.Clone())
	if err != nil || len(losses) > 0 || r.TopP != nil || r.TopK != nil {
		t.Errorf("%v, %v, losses %v, %v", r.TopP, r.TopK, losses, err)
	}
}

const wired = `{"messages":[{"role":"user","content":"a"}],"stream": false ,"metadata":{"user_id":"u"},"tools":[{"name":"n","input_schema":{"type":"object"}}],` +
	`"tool_choice":{"type":"auto"},"thinking":{"type":"enabled","budget_tokens":1024},"output_config":{"effort":"low"},` +
	`"speed":"fast","x":1,"max_tokens":2000,"system":"s","stop_sequences":["a"],"model":"m\n"}`

func TestDecodeRequest(t *testing.T) {
	betas := []string{"a-2025-01-01", "b-2025-01-01"}
	n, _, err := DecodeRequest([]byte(wired), &ValidateOptions{Version: version2026, Betas: betas})
	if err != nil {
		t.Fatal(err)
	}
	w := snapshot.DocumentOf(n, Format)
	if w == nil {
		t.Fatal("the request has no document")
	}
	if w.Body != wired {
		t.Errorf("the body is %s", w.Body)
	}
	spans := map[string]string{}
	for _, s := range w.Spans {
		spans[s.Name] = w.Body[s.From:s.To]
	}
	if diff := cmp.Diff(map[string]string{"model": `"m\n"`, "stream": "false"}, spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	header := []upstream.HeaderField{{Name: "anthropic-version", Value: version2026}, {Name: "anthropic-beta", Value: "a-2025-01-01,b-2025-01-01"}}
	if diff := cmp.Diff(header, n.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if n, _, err = DecodeRequest([]byte(wired), nil); err != nil || len(n.Header) != 1 || n.Header[0].Value != version2023 {
		t.Errorf("without options: %v, header %v", err, n.Header)
	}
	n.Turns[0].Parts[0].(*content.Text).Text = "b"
	if snapshot.DocumentOf(n, Format) != nil {
		t.Error("a changed request has its old document")
	}
	if r := mustParse(t, wired); snapshot.DocumentOf(r.Upstream(), Format) != nil {
		t.Error("Upstream returns a document")
	}
}

func TestDecodeRequestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		opts       *ValidateOptions
		want       []string
	}{
		{"not JSON", `{`, nil, []string{"syntax The request body is not valid JSON: unexpected end of the document at line 1, column 2"}},
		{"violations of parsing and of rules", `{"model":"m","max_tokens":-1,"messages":[{"role":"user","content":5}]}`, nil,
			[]string{"type messages.0.content: Input should be a valid list", "range max_tokens: Input should be greater than or equal to 0"}},
		{"strict", withMembers(`"x":1`), strictOptions, []string{"unknown x: Extra inputs are not permitted"}},
		{"count", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, &ValidateOptions{Count: true}, nil},
		{"beyond a limit", withMembers(`"x":[[1]]`), &ValidateOptions{Limits: content.Limits{Depth: 2}},
			[]string{"limit The request body is not valid JSON: objects and arrays are nested too deeply at line 1, column 44"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, _, err := DecodeRequest([]byte(tt.body), tt.opts)
			if (n == nil) != (err != nil) {
				t.Errorf("request %v with error %v", n, err)
			}
			if diff := cmp.Diff(tt.want, violationTexts(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnsignedThinkingEncoded checks that a request with unsigned thinking, which the vendor rejects,
// has no document, and is encoded without the thinking.
func TestUnsignedThinkingEncoded(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
		`{"type":"thinking","thinking":"hm","signature":"S"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`
	for signature, whole := range map[string]bool{"s": true, "": false} {
		n := mustDecode(t, strings.Replace(body, "S", signature, 1))
		if (snapshot.DocumentOf(n, Format) != nil) != whole {
			t.Errorf("signature %q: has a document: %v", signature, !whole)
		}
		r, losses, _ := RequestFromUpstream(n)
		if len(r.Messages[1].Parts) == 2 != whole || len(losses) == 0 != whole {
			t.Errorf("signature %q: %d parts, %v", signature, len(r.Messages[1].Parts), losses)
		}
	}
}

// TestUnindexedCitation checks that a web citation from another vendor's response, which has no
// index, is not sent to this vendor.
func TestUnindexedCitation(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
		`{"type":"text","text":"b","citations":[{"type":"web_search_result_location","url":"https://example.com/","title":"t",` +
		`"cited_text":"","encrypted_index":"I"}]}]},{"role":"user","content":"c"}]}`
	for index, whole := range map[string]bool{"i": true, "": false} {
		n := mustDecode(t, strings.Replace(body, `"I"`, `"`+index+`"`, 1))
		if (snapshot.DocumentOf(n, Format) != nil) != whole {
			t.Errorf("index %q: has a document: %v", index, !whole)
		}
		r, losses, _ := RequestFromUpstream(n)
		if cites := r.Messages[1].Parts[0].(*content.Text).Citations; (len(cites) == 1) != whole || (len(losses) == 0) != whole {
			t.Errorf("index %q: %v, %v", index, cites, losses)
		}
	}
}

// TestRequestFromUpstreamCopies checks that parts are dropped from copies of lists only.
func TestRequestFromUpstreamCopies(t *testing.T) {
	n := &upstream.Request{
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "t"}, &content.Media{}}},
			{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "t"}}}},
		Tools: []content.Tool{{Kind: "k", Format: "alien", Raw: "{}"}, {Name: "n"}},
	}
	c := n.Clone()
	r, _, _ := RequestFromUpstream(n)
	if diff := cmp.Diff(c, n); diff != "" {
		t.Errorf("the source was changed (-before +after):\n%s", diff)
	}
	want := []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "t"}}}}
	if diff := cmp.Diff(want, r.Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Tool{{Name: "n"}}, r.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestWirePath(t *testing.T) {
	for neutral, want := range map[string]string{
		"turns.3.parts.1.parts.0":           "messages.3.content.1.content.0",
		"turns.0.parts.0.source.parts.2":    "messages.0.content.0.source.content.2",
		"system.0":                          "system.0",
		"choice":                            "tool_choice",
		"choice.mode":                       "tool_choice.type",
		"tools.2":                           "tools.2",
		"tools.2.input":                     "tools.2.input_schema",
		"user_id":                           "metadata.user_id",
		"thinking.effort":                   "output_config.effort",
		"thinking.mode":                     "thinking.type",
		"output.schema":                     "output_config.format.schema",
		"top_k":                             "top_k",
		"seed":                              "seed",
		"":                                  "",
		"turns.2.parts.0.error":             "messages.2.content.0.is_error",
		"turns.0.parts.1.citations.0.extra": "messages.0.content.1.citations.0",
		"turns.0.parts.1.extra":             "messages.0.content.1",
		"turns.0.parts.1.extra.x":           "messages.0.content.1.x",
		"tools.2.extra.x":                   "tools.2.x",
		"thinking.extra.q":                  "thinking.q",
		"thinking.extra":                    "thinking",
		"output.extra.q":                    "output_config.q",
		"choice.extra.q":                    "tool_choice.q",
		"extra.q.r":                         "q.r",
	} {
		if got := wirePath(neutral); got != want {
			t.Errorf("wirePath(%q) is %q, want %q", neutral, got, want)
		}
	}
}

// A request of very many tiny parts has no document, which would need more memory than
// the request itself.
func TestDecodeRequestDense(t *testing.T) {
	n, _, err := DecodeRequest([]byte(`{"model":"m","max_tokens":9,"stop_sequences":[`+many(`"x"`, 30_000)+`],"messages":[`+userHead+`"x"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n.Wire == nil || n.Wire.String() != "" || document.Of(n.Wire).Parsed == nil {
		t.Errorf("a dense request has the document %+v, want one with paths only", n.Wire)
	}
}

// TestRequestFromUpstreamChoice checks the tools that are sent and the tool choice. In generateContent
// mode and names limit functions only; in Messages they limit built-in tools too.
func TestRequestFromUpstreamChoice(t *testing.T) {
	const none, any, auto, checked = content.ChoiceNone, content.ChoiceAny, content.ChoiceAuto, content.ChoiceValidated
	for _, tt := range []struct {
		name, tools string // upper case for built-in tools
		mode        content.ChoiceMode
		names       string
		wantTools   string
		wantChoice  ToolChoice
		wantLosses  string
	}{
		{"auto", "S f", auto, "", "S f", ToolChoice{Type: "auto"}, "degraded tools.0"},
		{"two names", "S f g h", any, "f g", "S f g", ToolChoice{Type: "any"},
			"degraded choice.names degraded choice.mode degraded tools.0"},
		{"two names of functions", "f g h", any, "f g", "f g", ToolChoice{Type: "any"}, "degraded choice.names"},
		{"one name", "S f g", any, "f", "S f g", ToolChoice{Type: "tool", Name: "f"}, "degraded tools.0"},
		{"one name, validated", "S f g", checked, "f", "S f", ToolChoice{Type: "auto"},
			"degraded choice.names degraded tools.0"},
		{"all names", "f g", any, "g f", "f g", ToolChoice{Type: "any"}, ""},
		{"unknown names", "S f g", any, "x y", "S f g", ToolChoice{Type: "any"},
			"degraded choice.names degraded choice.mode degraded tools.0"},
		{"none", "f g", none, "", "f g", ToolChoice{Type: "none"}, ""},
		{"none with a search", "S f", none, "", "S", ToolChoice{Type: "auto"}, "degraded choice.mode degraded tools.0"},
		{"none with a search and a name", "S f", none, "f", "S", ToolChoice{Type: "auto"}, "degraded choice.mode degraded tools.0"},
		{"none without functions", "S", none, "", "S", ToolChoice{Type: "auto"}, "degraded tools.0"},
		{"required name with a search", "S f", any, "", "S f", ToolChoice{Type: "tool", Name: "f"}, "degraded tools.0"},
		{"required call with a search", "S f g", any, "", "S f g", ToolChoice{Type: "any"}, "degraded choice.mode degraded tools.0"},
		{"required call without functions", "S", any, "", "S", ToolChoice{Type: "auto"}, "hint choice.mode degraded tools.0"},
		{"built-in tool of this vendor", "W f", any, "", "W f", ToolChoice{Type: "any"}, ""},
		{"none with a built-in tool of this vendor", "W f", none, "", "W f", ToolChoice{Type: "none"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := dialog(partsOf(said1))
			n.Choice = content.ToolChoice{Mode: tt.mode, Names: strings.Fields(tt.names)}
			for name := range strings.FieldsSeq(tt.tools) {
				tool := content.Tool{Name: name}
				switch name {
				case "S":
					tool = content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}
				case "W":
					tool = content.Tool{Kind: "web_search_20250305", Format: Format, Name: "web_search", Raw: `{"type":"web_search_20250305","name":"web_search"}`}
				}
				n.Tools = append(n.Tools, tool)
			}
			r, list, _ := RequestFromUpstream(n)
			var tools, losses []string
			for i, tool := range r.Tools {
				if tool.Kind != "" {
					tool.Name = strings.Fields(tt.tools)[i]
				}
				tools = append(tools, tool.Name)
			}
			losses = append(losses, lossplaces.Names(list)...)
			if diff := cmp.Diff(tt.wantTools, strings.Join(tools, " ")); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if r.ToolChoice == nil {
				t.Fatal("no choice is sent")
			}
			if diff := cmp.Diff(tt.wantChoice, *r.ToolChoice); diff != "" {
				t.Errorf("choice (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantLosses, strings.Join(losses, " ")); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
	if r, _, _ := RequestFromUpstream(&upstream.Request{Choice: content.ToolChoice{Mode: checked}}); r.ToolChoice != nil {
		t.Errorf("choice %v without tools", r.ToolChoice)
	}
}

// A request from a neutral one that was parsed can be changed: its JSON texts are checked
// when it is written.
func TestChangedRequestFromUpstream(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Hi."}]}`
	n, _, err := DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := RequestFromUpstream(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Body(); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	r.Tools[0].Input.JSON = `{"type":"object"},"x":{`
	if _, err := r.Body(); err == nil {
		t.Error("invalid JSON in a schema: no error")
	}
}
