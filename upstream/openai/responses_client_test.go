package openai_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// responses starts a fake server and returns it with a client.
func responses(t *testing.T, f fakeopenai.Options, o openai.Options) (*openai.Responses, *fakeopenai.Server) {
	t.Helper()
	s := fakeopenai.New(t, f)
	o.BaseURL = s.Base()
	if o.Key == "" {
		o.Key = "host-key"
	}
	o.Dialect.Kind = kindOf(f, o)
	c, err := openai.NewResponses(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// TestResponsesConformance runs the conformance suite with a fake server.
func TestResponsesConformance(t *testing.T) {
	for name, f := range map[string]fakeopenai.Options{
		"gpt-6.2-sol": {}, "local-model": {Local: true},
		"gpt-6.2-sol at azure": {Azure: "v1", Deployments: deployments},
	} {
		t.Run(name, func(t *testing.T) {
			model, _, _ := strings.Cut(name, " ")
			o := openai.Options{Key: "secret-key"}
			if f.Key = o.Key; f.Azure != "" {
				o.Deployments = map[string]string{model: "prod"}
			}
			c, s := responses(t, f, o)
			s.Answer(responsesScript)
			req := func(text string) *upstream.Request { return simpleRequest(model, text) }
			call, think := req("call"), req("think")
			call.Tools, think.Thinking = weather, upstream.Thinking{Mode: upstream.ThinkingAuto}
			lossy := lossyRequest()
			lossy.Model, lossy.Seed = model, new(int64)
			upstreamtest.Run(t, c, &upstreamtest.Options{
				Model: model, Text: req("hello"), Long: req("long"), Silent: req("silent"), Call: call, Think: think,
				Lossy: lossy, Invalid: []*upstream.Request{invalidRequest()}, Fail: []*upstream.Request{req("fail"), req("failed")},
				Marked:  func(mark string) *upstream.Request { return req("mark " + mark) },
				Secrets: []string{"secret-key", s.URL},
				Skip:    []string{"count"}, // the fake cannot count: see TestResponsesCount
			})
		})
	}
}

// responsesScript returns the response to the first word of the user.
func responsesScript(r fake.Request) []fake.Piece {
	doc, err := fake.Parse(r.Body)
	list := doc.List("input")
	if err != nil || len(list) == 0 {
		return []fake.Piece{fake.Status{Code: 500}}
	}
	switch word, rest, _ := strings.Cut(list[len(list)-1].Text("content"), " "); word {
	case "long":
		return []fake.Piece{fake.Split(64), fake.Text(strings.Repeat("All work and no play. ", 1<<15))}
	case "silent":
		return []fake.Piece{fake.Silence(0)}
	case "call":
		return []fake.Piece{fake.Thinking("Where?"), fake.Text("Looking."), fake.ToolCall{ID: "call_1", Name: "weather", Args: `{"city":"Oslo"}`}}
	case "think":
		return []fake.Piece{fake.Thinking("I wonder."), fake.Text("Yes.")}
	case "fail":
		return []fake.Piece{fake.Status{Code: 503}}
	case "failed":
		return []fake.Piece{fake.Text("Well"), fake.Stop{Reason: "failed", Sequence: "server_error", Details: "inside"}}
	case "mark":
		return []fake.Piece{fake.Text("Here: " + rest)}
	}
	return []fake.Piece{fake.Text("Hello there.")}
}

// TestResponsesAccepted sends all kinds of requests to a server that rejects what
// OpenAI rejects.
func TestResponsesAccepted(t *testing.T) {
	budget, temperature, few := int64(2000), 0.5, int64(1)
	png := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}
	full := simpleRequest("", "hi")
	full.System = []content.Part{&content.Text{Text: "Be brief.", Cache: &content.Cache{}}}
	full.Turns[0].Parts = append(full.Turns[0].Parts, png, &content.Document{Title: "t", Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}})
	full.Turns = append(full.Turns,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "x"}, &content.Text{Text: "y"}, &content.ToolUse{ID: strings.Repeat("i", 80), Name: "weather"}, &content.ToolUse{ID: "b", Name: "weather"}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: strings.Repeat("i", 80), Parts: []content.Part{&content.Text{Text: "r"}, png}}, &content.Text{Text: "z"}}},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "Be brief now."}}},
	)
	full.Tools = append(weather[:1:1], content.Tool{Name: strings.Repeat("n", 80), Strict: new(true)}, content.Tool{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search"}`})
	full.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"weather", strings.Repeat("n", 80)}, NoParallel: true}
	full.Temperature, full.TopP, full.MaxTokens, full.UserID, full.ServiceTier = &temperature, &temperature, &few, strings.Repeat("u", 300), "auto"
	full.Output = upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string"}}}`}}
	thinking := map[string]upstream.Thinking{
		"unset": {}, "off": {Mode: upstream.ThinkingOff}, "auto": {Mode: upstream.ThinkingAuto}, "minimal": {Effort: "minimal"},
		"budget": {Mode: upstream.ThinkingBudget, Budget: &budget}, "max": {Mode: upstream.ThinkingAuto, Effort: "max", Display: "full"},
	}
	for _, model := range []string{"gpt-4.1", "gpt-5.5-chat-latest", "o3", "o3-pro", "gpt-5", "gpt-5-pro", "gpt-5.5", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.6-sol", "gpt-6-luna", "gpt-6-astra", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.2-sol", "tuned"} {
		for name, th := range thinking {
			for _, base := range []*upstream.Request{simpleRequest("", "hi"), full} {
				c, s := responses(t, fakeopenai.Options{}, openai.Options{})
				n := *base
				n.Model, n.Thinking = model, th
				if _, err := upstream.Collect(t.Context(), c, &n); err != nil || len(s.Refused()) > 0 {
					t.Errorf("%s, thinking %s: %v\n%s", model, name, err, s.Last().Body)
				}
				if _, err := c.CountTokens(t.Context(), &n); err != nil {
					t.Errorf("%s, thinking %s: count: %v", model, name, err)
				}
			}
		}
	}
}

// TestResponsesCount checks the sources of token counts.
func TestResponsesCount(t *testing.T) {
	c, s := responses(t, fakeopenai.Options{InputTokens: 17}, openai.Options{})
	n := simpleRequest("gpt-6.2-sol", "hi")
	if got, err := c.CountTokens(t.Context(), n); got.Tokens != 17 || got.Estimated || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if got := string(s.Last().Body); s.Last().Path != "/v1/responses/input_tokens" || got != `{"model":"gpt-6.2-sol","input":[{"role":"user","content":"hi"}]}` {
		t.Errorf("requested %s with %s", s.Last().Path, got)
	}
	n = simpleRequest("gpt-6.2-sol", "hi")
	n.Tools = []content.Tool{{Kind: "computer_20250124", Name: "computer", Format: "messages", Raw: `{"type":"computer_20250124","name":"computer"}`}}
	got, err := c.CountTokens(t.Context(), n)
	want := []content.Loss{{Path: "tools.0", Severity: content.LossDropped, Reason: "the server does not have this built-in tool; it was dropped"}}
	if diff := cmp.Diff(want, got.Losses); diff != "" || err != nil {
		t.Errorf("losses of the count: %v (-want +got):\n%s", err, diff)
	}
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	c, err = openai.NewResponses(&openai.Options{BaseURL: missing.URL, HTTPClient: missing.Client()})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.CountTokens(t.Context(), n); len(got.Losses) != 1 || got.Tokens == 0 || !got.Estimated || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestResponsesCountRefused checks that a count is repeated without rejected members,
// and that other errors are not replaced by estimates.
func TestResponsesCountRefused(t *testing.T) {
	var answers []string
	var bodies []string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(answers[0], "error") {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	}))
	defer ts.Close()
	c, err := openai.NewResponses(&openai.Options{BaseURL: ts.URL, HTTPClient: ts.Client(), Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	n := simpleRequest("gpt-6.2-sol", "hi")
	n.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "low", Display: "summarized"}
	answers = []string{
		`{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}`,
		`{"object":"response.input_tokens","input_tokens":7}`,
	}
	got, err := c.CountTokens(t.Context(), n)
	if err != nil || got.Tokens != 7 || got.Estimated || !slices.ContainsFunc(lossplaces.Of(got.Losses), func(l content.Loss) bool { return l.Path == "thinking.display" }) {
		t.Errorf("%+v, %v", got, err)
	}
	if len(bodies) != 2 || !strings.Contains(bodies[0], `"summary"`) || strings.Contains(bodies[1], `"summary"`) {
		t.Errorf("requested %q", bodies)
	}
	for _, bad := range []string{`{"error":{"message":"Bad.","type":"invalid_request_error"}}`, `{}`, `{"input_tokens":-1}`, `{"input_tokens":"7"}`, `<html>`} {
		answers = []string{bad}
		if got, err := c.CountTokens(t.Context(), n); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// TestResponsesRefusals checks that a rejected field is omitted, also in later
// requests.
func TestResponsesRefusals(t *testing.T) {
	refused, sent := "", 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent++
		body := new(strings.Builder)
		_, _ = io.Copy(body, r.Body)
		w.Header().Set("Content-Type", "application/json")
		name := refused[strings.LastIndexByte(refused, '.')+1:]
		if strings.Contains(body.String(), `"`+name+`"`) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":"Unsupported parameter.","type":"invalid_request_error","param":"` + refused + `","code":"unsupported_parameter"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`))
	}))
	defer ts.Close()
	temperature := 0.5
	for _, name := range []string{"temperature", "reasoning.effort", "reasoning.summary", "parallel_tool_calls", "safety_identifier", "include"} {
		c, err := openai.NewResponses(&openai.Options{BaseURL: ts.URL, HTTPClient: ts.Client(), Dialect: openai.Dialect{Kind: openai.ServerOpenAI, Efforts: []string{"low"}}})
		if err != nil {
			t.Fatal(err)
		}
		n := simpleRequest("tuned", "hi")
		n.Temperature, n.UserID, n.Tools, n.Choice.NoParallel = &temperature, "u", weather, true
		n.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "low"}
		refused, sent = name, 0
		first, err := upstream.Collect(t.Context(), c, n)
		if err != nil || sent != 2 || len(first.Losses) == 0 {
			t.Errorf("%s: sent %d times: %v, %v", name, sent, err, first.Losses)
		}
		if again, err := upstream.Collect(t.Context(), c, n); err != nil || sent != 3 || len(again.Losses) == 0 {
			t.Errorf("%s, again: sent %d times: %v", name, sent, err)
		}
	}
}

// TestResponsesUnreadableThinking checks that thinking that the server cannot read is
// omitted from the request, and that new thinking is still requested.
func TestResponsesUnreadableThinking(t *testing.T) {
	var bodies []string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(string(body), `"type":"reasoning"`) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":"The encrypted content could not be verified.","type":"invalid_request_error","param":"input","code":"invalid_encrypted_content"}}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`))
	}))
	defer ts.Close()
	c, err := openai.NewResponses(&openai.Options{BaseURL: ts.URL, HTTPClient: ts.Client(), Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	n := simpleRequest("gpt-6.2-sol", "hi")
	n.Turns = append(n.Turns, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{
		&content.Thinking{Redacted: content.Signature{Format: openai.ResponsesFormat, Data: `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`}},
		&content.Text{Text: "a"},
	}}, n.Turns[0])
	for i := range 2 {
		bodies = nil
		got, err := upstream.Collect(t.Context(), c, n)
		if err != nil || len(bodies) != 2 || len(got.Losses) != 1 || got.Losses[0].Path != "turns.1.parts.0" {
			t.Fatalf("time %d: sent %d times: %v, %v", i, len(bodies), err, got.Losses)
		}
		if !strings.Contains(bodies[1], "reasoning.encrypted_content") {
			t.Errorf("new thinking is not requested: %s", bodies[1])
		}
	}
}

// TestResponsesNames checks that the client receives tool calls under its own names,
// and that long ids become valid.
func TestResponsesNames(t *testing.T) {
	name := "a.name:with/others." + strings.Repeat("x", 80)
	for _, stream := range []bool{false, true} {
		c, s := responses(t, fakeopenai.Options{}, openai.Options{})
		s.Answer(func(r fake.Request) []fake.Piece {
			doc, _ := fake.Parse(r.Body)
			return []fake.Piece{fake.Call(doc.List("tools")[0].Text("name"), "{}")}
		})
		n := simpleRequest("gpt-6.2-sol", "hi")
		n.Tools, n.Stream = []content.Tool{{Name: name}}, stream
		got, err := upstream.Collect(t.Context(), c, n)
		if err != nil || len(got.Parts) != 1 {
			t.Fatalf("%v: %v", err, got.Parts)
		}
		if call, ok := got.Parts[0].(*content.ToolUse); !ok || call.Name != name {
			t.Errorf("the call is %+v", got.Parts[0])
		}
	}
}

// TestResponsesContentTypes checks that streams and documents are detected by their
// content.
func TestResponsesContentTypes(t *testing.T) {
	const (
		doc     = `{"id":"resp_1","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`
		stream  = "data: {\"type\":\"response.completed\",\"response\":" + doc + "}\n\n"
		failure = `{"error":{"message":"Bad.","type":"invalid_request_error"}}`
	)
	for _, tt := range []struct{ kind, body, want string }{
		{"application/json", doc, "hi"}, {"text/event-stream", stream, "hi"}, {"text/event-stream", doc, "hi"}, {"application/json", stream, "hi"},
		{"text/plain", "\n\n" + doc, "hi"}, {"text/plain", "\r\n: hello\n\n" + stream, "hi"}, {"", "event: response.completed\n" + stream, "hi"},
		{"text/event-stream", failure, "Bad."}, {"application/json", failure, "Bad."}, {"text/event-stream", "", "bad_gateway"}, {"text/plain", "what?", "bad_gateway"},
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{tt.kind}
			_, _ = w.Write([]byte(tt.body))
		}))
		c, err := openai.NewResponses(&openai.Options{BaseURL: ts.URL, HTTPClient: ts.Client()})
		if err != nil {
			t.Fatal(err)
		}
		for _, stream := range []bool{false, true} {
			n := simpleRequest("m", "hi")
			n.Stream = stream
			got := ""
			reply, err := upstream.Collect(t.Context(), c, n)
			if e := new(upstream.Error); errors.As(err, &e) {
				if got = e.Text; got == "" {
					got = string(e.Code)
				}
			} else if text, ok := reply.Parts[0].(*content.Text); ok {
				got = text.Text
			}
			if got != tt.want {
				t.Errorf("%q as %q, a stream wanted %v: %q, want %q", tt.body, tt.kind, stream, got, tt.want)
			}
		}
		ts.Close()
	}
}

// TestResponsesWireErrors checks that a response with a transport error never looks
// complete.
func TestResponsesWireErrors(t *testing.T) {
	text := fake.Text(strings.Repeat("Some words. ", 20))
	for name, turn := range map[string][]fake.Piece{
		"cut":               {text, fake.Cut{}, text},
		"cut within events": {fake.CutEvent{}, text},
		"ended":             {text, fake.End{}, text},
		"malformed":         {fake.Malformed{}, text},
		"HTML page":         {fake.Reply{Code: 200, ContentType: "text/html", Body: "<html>no</html>"}},
		"bad gateway":       {fake.Reply{Code: 502, ContentType: "text/html", Body: "<html>no</html>"}},
		"nothing":           {fake.Reply{Code: 200, ContentType: "application/json"}},
		"error":             {text, fake.Status{Code: 500}},
	} {
		for _, stream := range []bool{false, true} {
			if name == "ended" && !stream {
				continue // a complete response has no end event
			}
			c, s := responses(t, fakeopenai.Options{}, openai.Options{})
			s.Always(turn...)
			n := simpleRequest("gpt-6.2-sol", "hi")
			n.Stream = stream
			_, err := upstream.Collect(t.Context(), c, n)
			var e *upstream.Error
			if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway && e.Code != upstream.CodeUnavailable || strings.Contains(e.Text, "html") {
				t.Errorf("%s, stream %v: %v", name, stream, err)
			}
		}
	}
}
