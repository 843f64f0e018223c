package messages

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/workload"
	"github.com/polywire/polywire/upstream"
)

// there and back again: through the neutral request, encoded and parsed.
func roundTrip(t *testing.T, r *Request) (*Request, []content.Loss) {
	t.Helper()
	back, losses := RequestFromUpstream(r.Upstream())
	b, err := back.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseRequest(b)
	if err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return again, losses
}

func TestConvertBackEqual(t *testing.T) {
	bodies := append(requestBodies(t), workload.Agent(), workload.Image())
	for _, body := range bodies {
		r, err := ParseRequestString(body)
		if err != nil {
			t.Fatalf("%.300s: %v", body, err)
		}
		got, losses := roundTrip(t, r)
		if len(losses) > 0 {
			legal := r.Validate(&ValidateOptions{Version: version2023, AllowFiles: true}) == nil && !strings.Contains(body, `"system":""`) && !strings.Contains(body, `"signature":""`) &&
				!slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Input.JSON != "" && !strings.Contains(t.Input.JSON, `"type"`) })
			if legal {
				t.Errorf("%.300s: losses %v", body, losses)
			}
			continue // the vendor refuses it as it is
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Errorf("%.300s (-want +got):\n%s", body, diff)
		}
	}
}

func TestUpstreamNeutral(t *testing.T) {
	r, err := ParseRequestString(`{"model":"m","max_tokens":9,"system":"s","stream":true,"metadata":{"user_id":"u","x":1},` +
		`"stop_sequences":["e"],"temperature":0.5,"top_k":3,"tool_choice":{"type":"tool","name":"n","disable_parallel_tool_use":true},` +
		`"thinking":{"type":"enabled","budget_tokens":1024,"display":"omitted"},"service_tier":"auto",` +
		`"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"b":1}},"task_budget":{}},"speed":"fast",` +
		`"messages":[{"role":"user","content":"a","clear_at":"never"}],"x_new":1}`)
	if err != nil {
		t.Fatal(err)
	}
	budget, maxTokens, topK, heat := int64(1024), int64(9), int64(3), 0.5
	want := &upstream.Request{
		Model: "m", MaxTokens: &maxTokens, TopK: &topK, Temperature: &heat, Stream: true, UserID: "u",
		StopSequences: []string{"e"}, ServiceTier: "auto",
		System: []content.Part{&content.Text{Text: "s"}},
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}},
			Extra: &content.Extra{Format: Format, JSON: `{"clear_at":"never"}`}}},
		Choice:   content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"n"}, NoParallel: true},
		Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &budget, Display: "omitted", Effort: "low"},
		Output:   upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"b":1}`}},
		Extra: &content.Extra{Format: Format,
			JSON: `{"metadata":{"x":1},"output_config":{"task_budget":{}},"speed":"fast","x_new":1}`},
	}
	if diff := cmp.Diff(want, r.Upstream()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Upstream().Turns[0].Parts[0] != r.Messages[0].Parts[0] {
		t.Error("the parts are copies")
	}
}

const wired = `{"messages":[{"role":"user","content":"a"}],"stream": false ,"metadata":{"user_id":"u"},"tools":[{"name":"n","input_schema":{}}],` +
	`"tool_choice":{"type":"auto"},"thinking":{"type":"enabled","budget_tokens":1024},"output_config":{"effort":"low"},` +
	`"speed":"fast","x":1,"max_tokens":9,"system":"s","stop_sequences":["a"],"model":"m\n"}`

func TestUpstreamWire(t *testing.T) {
	r, err := ParseRequestString(wired)
	if err != nil {
		t.Fatal(err)
	}
	header := []upstream.Field{{Name: "anthropic-version", Value: "2023-06-01"}}
	passed, _, _ := r.passOn(header)
	for _, n := range []*upstream.Request{r.Upstream(), r.Upstream(), passed} {
		w := upstream.WireOf(n, Format)
		if w == nil {
			t.Fatal("no Wire")
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
	}
	if diff := cmp.Diff(header, passed.Wire.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

// A thought that nobody has signed is refused by the vendor: the document with
// it stays behind, and what is written instead does without.
func TestUpstreamUnsigned(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
		`{"type":"thinking","thinking":"hm","signature":"S"},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`
	for signature, whole := range map[string]bool{"s": true, "": false} {
		n := mustParse(t, strings.Replace(body, "S", signature, 1)).Upstream()
		if (upstream.WireOf(n, Format) != nil) != whole {
			t.Errorf("signature %q: a document is there: %v", signature, !whole)
		}
		r, losses := RequestFromUpstream(n)
		if len(r.Messages[1].Parts) == 2 != whole || len(losses) == 0 != whole {
			t.Errorf("signature %q: %d parts, %v", signature, len(r.Messages[1].Parts), losses)
		}
	}
}

// A citation of the web that another vendor's answer brought about has no index
// that this vendor could read: it does not go back to it.
func TestUpstreamUnindexed(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[` +
		`{"type":"text","text":"b","citations":[{"type":"web_search_result_location","url":"https://example.com/","title":"t",` +
		`"cited_text":"","encrypted_index":"I"}]}]},{"role":"user","content":"c"}]}`
	for index, whole := range map[string]bool{"i": true, "": false} {
		n := mustParse(t, strings.Replace(body, `"I"`, `"`+index+`"`, 1)).Upstream()
		if (upstream.WireOf(n, Format) != nil) != whole {
			t.Errorf("index %q: a document is there: %v", index, !whole)
		}
		r, losses := RequestFromUpstream(n)
		if cites := r.Messages[1].Parts[0].(*content.Text).Citations; (len(cites) == 1) != whole || (len(losses) == 0) != whole {
			t.Errorf("index %q: %v, %v", index, cites, losses)
		}
	}
}

// Whatever is changed after parsing, the old document is not passed on.
func TestUpstreamWireOfChanged(t *testing.T) {
	five := int64(5)
	changes := map[string]func(r *Request){
		"max tokens":          func(r *Request) { r.MaxTokens = &five },
		"max tokens in place": func(r *Request) { *r.MaxTokens = 5 },
		"message added":       func(r *Request) { r.Messages = append(r.Messages, content.Turn{}) },
		"message cut":         func(r *Request) { r.Messages = nil },
		"role":                func(r *Request) { r.Messages[0].Role = content.RoleAssistant },
		"part":                func(r *Request) { r.Messages[0].Parts[0] = &content.Text{Text: "b"} },
		"text":                func(r *Request) { r.Messages[0].Parts[0].(*content.Text).Text = "b" },
		"system":              func(r *Request) { r.System = nil },
		"user id":             func(r *Request) { r.Metadata.UserID = "v" },
		"metadata":            func(r *Request) { r.Metadata = nil },
		"metadata extra":      func(r *Request) { r.Metadata.Extra = &content.Extra{Format: Format, JSON: `{"a":1}`} },
		"stop sequences":      func(r *Request) { r.StopSequences = nil },
		"stop sequence":       func(r *Request) { r.StopSequences[0] = "b" },
		"temperature":         func(r *Request) { f := 1.0; r.Temperature = &f },
		"tool":                func(r *Request) { r.Tools[0].Name = "m" },
		"choice":              func(r *Request) { r.ToolChoice.Type = "any" },
		"parallel":            func(r *Request) { r.ToolChoice.DisableParallelToolUse = true },
		"thinking":            func(r *Request) { r.Thinking.Type = "disabled" },
		"budget":              func(r *Request) { *r.Thinking.BudgetTokens = 5 },
		"display":             func(r *Request) { r.Thinking.Display = "omitted" },
		"effort":              func(r *Request) { r.OutputConfig.Effort = "high" },
		"schema":              func(r *Request) { r.OutputConfig.Format = &OutputFormat{Type: jsonSchema, Schema: "{}"} },
		"older schema":        func(r *Request) { r.OutputFormat = &OutputFormat{Type: jsonSchema, Schema: "{}"} },
		"tier":                func(r *Request) { r.ServiceTier = "auto" },
		"geo":                 func(r *Request) { r.InferenceGeo = "us" },
		"speed":               func(r *Request) { r.Speed = "" },
		"cache":               func(r *Request) { r.CacheControl = &content.Cache{} },
		"container":           func(r *Request) { r.Container = `"c"` },
		"extra":               func(r *Request) { r.Extra = nil },
		"extra in place":      func(r *Request) { r.Extra.JSON = `{"x":2}` },
		"form":                func(r *Request) { r.Form = nil },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRequestString(wired)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			if w := upstream.WireOf(r.Upstream(), Format); w != nil {
				t.Error("the old document is still there")
			}
		})
	}
	t.Run("model and stream", func(t *testing.T) {
		r, err := ParseRequestString(wired)
		if err != nil {
			t.Fatal(err)
		}
		r.Model, r.Stream = "other", true
		if w := upstream.WireOf(r.Upstream(), Format); w == nil {
			t.Error("no Wire, although encoders write model and stream always")
		}
	})
}

// What is left out of a list is left out of a copy.
func TestRequestOfLeavesItsSource(t *testing.T) {
	n := &upstream.Request{
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "t"}, &content.Media{}}},
			{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "t"}}}},
		Tools: []content.Tool{{Kind: "k", Format: "alien", Raw: "{}"}, {Name: "n"}},
	}
	c := n.Clone()
	r, _ := RequestFromUpstream(n)
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

// A request with very many stop sequences is not remembered whole; it is
// compared with its document by parsing that again.
func TestUpstreamManyStopSequences(t *testing.T) {
	body := `{"model":"m","max_tokens":9,"stop_sequences":[` + many(`"x"`, 30_000) + `],"messages":[` + userHead + `"x"}]}`
	r, err := ParseRequestString(body)
	if err != nil {
		t.Fatal(err)
	}
	if w := upstream.WireOf(r.Upstream(), Format); w == nil || w.Body != body {
		t.Error("want the document of a request that nobody has changed")
	}
	r.StopSequences[29_999] = "y"
	if upstream.WireOf(r.Upstream(), Format) != nil {
		t.Error("want no document of a request that was changed")
	}
}
