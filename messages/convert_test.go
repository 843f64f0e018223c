package messages

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/workload"
	"github.com/polywire/polywire/upstream"
)

// there and back again: through the neutral request, encoded and parsed.
func roundTrip(t *testing.T, r *Request) (*Request, []content.Loss) {
	t.Helper()
	back, losses := RequestOf(r.Upstream())
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
			t.Errorf("%.300s: losses %v", body, losses)
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
		Turns: []content.Turn{{Role: content.User, Parts: []content.Part{&content.Text{Text: "a"}},
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
	for _, n := range []*upstream.Request{r.Upstream(), r.Upstream(), r.passOn(header)} {
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
	if diff := cmp.Diff(header, r.passOn(header).Wire.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
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
		"role":                func(r *Request) { r.Messages[0].Role = content.Assistant },
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

func TestRequestOfLosses(t *testing.T) {
	const hint, degraded, dropped = content.LossHint, content.LossDegraded, content.LossDropped
	one, half := int64(1), 0.5
	alien := &content.Extra{Format: "alien", JSON: `{"a":1}`}
	sign := content.Signature{Format: "alien", Data: "d"}
	turn := func(role content.Role, p ...content.Part) *upstream.Request {
		return &upstream.Request{Turns: []content.Turn{{Role: role, Parts: p}}}
	}
	type losses []string // "severity path"
	tests := []struct {
		name string
		n    *upstream.Request
		want losses
	}{
		{"nothing", turn(content.User, &content.Text{Text: "t"}), nil},
		{"seed", &upstream.Request{Seed: &one}, losses{dropped.String() + " seed"}},
		{"penalties", &upstream.Request{PresencePenalty: &half, FrequencyPenalty: &half},
			losses{"dropped presence_penalty", "dropped frequency_penalty"}},
		{"candidates", &upstream.Request{Candidates: 2}, losses{"dropped candidates"}},
		{"one candidate", &upstream.Request{Candidates: 1}, nil},
		{"image output", &upstream.Request{Output: upstream.Output{Modalities: []string{"text", "image"}, AspectRatio: "1:1",
			ImageSize: "2K"}}, losses{"dropped output.aspect_ratio", "dropped output.image_size", "dropped output.modalities"}},
		{"JSON without schema", &upstream.Request{Output: upstream.Output{MediaType: "application/json"}},
			losses{"dropped output.media_type"}},
		{"enum output", &upstream.Request{Output: upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: "{}"}}},
			losses{"dropped output.media_type"}},
		{"OpenAPI schema", &upstream.Request{Output: upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: "{}", OpenAPI: true}}}, losses{"dropped output.schema"}},
		{"minimal effort", &upstream.Request{Thinking: upstream.Thinking{Effort: "minimal"}}, losses{"degraded thinking.effort"}},
		{"odd effort", &upstream.Request{Thinking: upstream.Thinking{Effort: "odd"}}, losses{"dropped thinking.effort"}},
		{"odd mode", &upstream.Request{Thinking: upstream.Thinking{Mode: "odd"}}, losses{"dropped thinking.mode"}},
		{"full display", &upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "full"}},
			losses{"degraded thinking.display"}},
		{"budget and display alone", &upstream.Request{Thinking: upstream.Thinking{Budget: &one, Display: "full"}},
			losses{"dropped thinking.budget", "hint thinking.display"}},
		{"validated", &upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceValidated}}, losses{degraded.String() + " choice.mode"}},
		{"two names", &upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a", "b"}}},
			losses{"degraded choice.names"}},
		{"tier", &upstream.Request{ServiceTier: "flex"}, losses{"hint service_tier"}},
		{"extra", &upstream.Request{Extra: alien}, losses{hint.String() + " extra"}},
		{"foreign tool", &upstream.Request{Tools: []content.Tool{{Kind: "google_search", Format: "alien", Raw: "{}"}}}, losses{"dropped tools.0"}},
		{"tool", &upstream.Request{Tools: []content.Tool{{Name: "n"}, {Name: "m", Extra: alien,
			Input: content.Schema{JSON: "{}", OpenAPI: true}, Output: content.Schema{JSON: "{}"}}}},
			losses{"hint tools.1.extra", "hint tools.1.output", "degraded tools.1.input"}},
		{"media", turn(content.User, &content.Media{}, &content.Text{Text: "t"}), losses{"dropped turns.0.parts.0"}},
		{"media in a result", turn(content.User, &content.ToolResult{ID: "i", Parts: []content.Part{&content.Text{Text: "t"}, &content.Media{}}}),
			losses{"dropped turns.0.parts.0.parts.1"}},
		{"media in a document", turn(content.User, &content.Document{Source: &content.Parts{Parts: []content.Part{&content.Media{}}}}),
			losses{"dropped turns.0.parts.0.source.parts.0"}},
		{"media in the system text", &upstream.Request{System: []content.Part{&content.Media{}}}, losses{"dropped system.0"}},
		{"image of a model", turn(content.Assistant, &content.Image{Source: &content.File{ID: "f"}, Signature: sign}),
			losses{"hint turns.0.parts.0.signature", "dropped turns.0.parts.0"}},
		{"signatures", turn(content.Assistant, &content.Text{Text: "t", Signature: sign, Extra: alien}, &content.ToolUse{ID: "i", Signature: sign}),
			losses{"hint turns.0.parts.0.signature", "hint turns.0.parts.0.extra", "hint turns.0.parts.1.signature"}},
		{"foreign thought", turn(content.Assistant, &content.Thinking{Text: "t", Signature: sign}, &content.Thinking{Redacted: sign},
			&content.Thinking{Text: "unsigned"}, &content.Text{Text: "t"}),
			losses{"hint turns.0.parts.0", "hint turns.0.parts.1", "hint turns.0.parts.2"}},
		{"foreign parts", turn(content.Assistant, &content.ServerToolUse{Format: "alien"}, &content.ServerToolResult{Format: "alien"},
			&content.Unknown{Format: "alien"}, &content.Text{Text: "t"}),
			losses{"dropped turns.0.parts.0", "dropped turns.0.parts.1", "dropped turns.0.parts.2"}},
		{"media types of links", turn(content.User, &content.Image{Source: &content.URL{URL: "u", MediaType: "image/png"}},
			&content.Document{Source: &content.File{ID: "f", MediaType: "application/pdf"}}),
			losses{"hint turns.0.parts.0.source.media_type", "hint turns.0.parts.1.source.media_type"}},
		{"citations", turn(content.Assistant, &content.Text{Text: "t", Citations: []content.Citation{{Kind: content.CiteChars, Text: "c"},
			{Kind: content.CiteWeb, URL: "u"}, {Kind: "odd", Extra: alien}}}),
			losses{"hint turns.0.parts.0.citations.1", "hint turns.0.parts.0.citations.2.extra", "hint turns.0.parts.0.citations.2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, list := RequestOf(tt.n)
			var got losses
			for _, l := range list {
				got = append(got, l.Severity.String()+" "+l.Path)
				if l.Reason == "" {
					t.Errorf("%s has no reason", l.Path)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := r.AppendJSON(nil); err != nil {
				t.Errorf("what is left cannot be encoded: %v", err)
			}
		})
	}
}

// What is left out of a list is left out of a copy.
func TestRequestOfLeavesItsSource(t *testing.T) {
	n := &upstream.Request{
		Turns: []content.Turn{{Role: content.User, Parts: []content.Part{&content.Text{Text: "t"}, &content.Media{}}},
			{Role: content.Assistant, Parts: []content.Part{&content.Thinking{Text: "t"}}}},
		Tools: []content.Tool{{Kind: "k", Format: "alien", Raw: "{}"}, {Name: "n"}},
	}
	c := n.Clone()
	r, _ := RequestOf(n)
	if diff := cmp.Diff(c, n); diff != "" {
		t.Errorf("the source was changed (-before +after):\n%s", diff)
	}
	want := []content.Turn{{Role: content.User, Parts: []content.Part{&content.Text{Text: "t"}}}}
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
		"choice.mode":                       "tool_choice.mode",
		"tools.2":                           "tools.2",
		"tools.2.input":                     "tools.2.input_schema",
		"user_id":                           "metadata.user_id",
		"thinking.effort":                   "output_config.effort",
		"thinking.mode":                     "thinking.type",
		"output.schema":                     "output_config.format.schema",
		"top_k":                             "top_k",
		"seed":                              "seed",
		"":                                  "",
		"turns.0.parts.1.citations.0.extra": "messages.0.content.1.citations.0.extra",
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
