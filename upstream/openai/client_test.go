package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/fake"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// client starts a fake server and returns it with a client.
func client(t *testing.T, f fakeopenai.Options, o openai.Options) (*openai.Client, *fakeopenai.Server) {
	t.Helper()
	s := fakeopenai.New(t, f)
	o.BaseURL = s.Base()
	if o.Key == "" {
		o.Key = "host-key"
	}
	o.Dialect.Kind = kindOf(f, o)
	c, err := openai.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// kindOf returns the kind of a fake server, which its host does not show.
func kindOf(f fakeopenai.Options, o openai.Options) openai.ServerKind {
	switch {
	case f.Azure != "":
		return openai.ServerAzure
	case !f.Local && o.Dialect.Kind == openai.ServerByHost:
		return openai.ServerOpenAI
	}
	return o.Dialect.Kind
}

// post sends a body through a handler to an upstream.
func post(t *testing.T, u upstream.Upstream, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	if strings.HasPrefix(path, "/v1beta") {
		generatecontent.NewHandler(u, nil).ServeHTTP(w, r)
	} else {
		messages.NewHandler(u, nil).ServeHTTP(w, r)
	}
	return w
}

// TestConformance runs the conformance suite with a fake server.
func TestConformance(t *testing.T) {
	for name, f := range map[string]fakeopenai.Options{
		"vendor": {}, "compatible": {Local: true}, "azure, dated": {Azure: "2024-10-21", Deployments: deployments},
	} {
		t.Run(name, func(t *testing.T) {
			o := openai.Options{Key: "secret-key"}
			if f.Key = o.Key; f.Azure != "" {
				o.Deployments = map[string]string{"gpt-4.1": "prod chat"}
			}
			if strings.HasSuffix(name, "dated") {
				o.APIVersion = f.Azure
			}
			f.Quirks.Reasoning = "reasoning_content"
			c, s := client(t, f, o)
			s.Answer(script)
			req := func(text string) *upstream.Request { return simpleRequest("gpt-4.1", text) }
			call := req("call")
			call.Tools = weather
			upstreamtest.Run(t, c, &upstreamtest.Options{
				Model: "gpt-4.1", Text: req("hello"), Long: req("long"), Silent: req("silent"), Call: call, Think: req("think"),
				Lossy: lossyRequest(), Invalid: []*upstream.Request{invalidRequest()}, Fail: []*upstream.Request{req("fail")},
				Marked:  func(mark string) *upstream.Request { return req("mark " + mark) },
				Secrets: []string{"secret-key", s.URL}, Deterministic: false,
			})
		})
	}
}

// deployments are the models of deployments at Azure.
var deployments = map[string]string{"prod chat": "gpt-4.1", "prod": "gpt-6.2-sol"}

// script returns the response to the last word of the user.
func script(r fake.Request) []fake.Piece {
	doc, err := fake.Parse(r.Body)
	if err != nil {
		return []fake.Piece{fake.Status{Code: 500}}
	}
	list := doc.List("messages")
	text := list[len(list)-1].Text("content")
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "long":
		return []fake.Piece{fake.Split(64), fake.Text(strings.Repeat("All work and no play. ", 1<<15))}
	case "silent":
		return []fake.Piece{fake.Silence(0)}
	case "call":
		return []fake.Piece{fake.Text("Looking."), fake.ToolCall{ID: "call_1", Name: "weather", Args: `{"city":"Oslo"}`}}
	case "think":
		return []fake.Piece{fake.Thinking("I wonder."), fake.Text("Yes.")}
	case "fail":
		return []fake.Piece{fake.Status{Code: 503}}
	case "mark":
		return []fake.Piece{fake.Text("Here: " + rest)}
	}
	return []fake.Piece{fake.Text("Hello there.")}
}

// TestThinkTagsOpen checks that text before </think> is not thinking if thinking is
// turned off.
func TestThinkTagsOpen(t *testing.T) {
	for _, tt := range []struct {
		dialect openai.Dialect
		mode    upstream.ThinkingMode
		answer  string
		want    []content.Part
	}{
		{openai.Dialect{Thinking: "chat_template_kwargs", Efforts: []string{}}, upstream.ThinkingOff, "hi", []content.Part{&content.Text{Text: "hi"}}},
		{openai.Dialect{}, upstream.ThinkingOff, "hi", []content.Part{&content.Text{Text: "hi"}}},
		{openai.Dialect{}, "", "hm</think>hi", []content.Part{&content.Thinking{Text: "hm"}, &content.Text{Text: "hi"}}},
		{openai.Dialect{Efforts: []string{}}, upstream.ThinkingOff, "hm</think>hi", []content.Part{&content.Thinking{Text: "hm"}, &content.Text{Text: "hi"}}}, // thinking is not turned off
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"content":"`+tt.answer+`"},"finish_reason":"stop"}]}`)
		}))
		tt.dialect.ThinkTags = openai.ThinkTagsOpen
		c, err := openai.New(&openai.Options{BaseURL: ts.URL, HTTPClient: ts.Client(), Dialect: tt.dialect})
		if err != nil {
			t.Fatal(err)
		}
		n := simpleRequest("m", "q")
		n.Thinking.Mode = tt.mode
		got, err := upstream.Collect(t.Context(), c, n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Parts); diff != "" {
			t.Errorf("%+v, %q (-want +got):\n%s", tt.dialect, tt.mode, diff)
		}
		ts.Close()
	}
}

// untypedStream responds with a stream without its content type, and checks what the
// client has received before it continues.
type untypedStream struct {
	pieces []string
	got    func()
}

func (u *untypedStream) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(u), Request: r}, nil
}

// Read returns one chunk at a time.
func (u *untypedStream) Read(p []byte) (int, error) {
	if len(u.pieces) == 0 {
		return 0, io.EOF
	}
	if len(u.pieces) == 1 {
		u.got()
	}
	n := copy(p, u.pieces[0])
	u.pieces = u.pieces[1:]
	return n, nil
}

// TestUntypedStream checks that a stream arrives in chunks, whatever its content type.
func TestUntypedStream(t *testing.T) {
	w := httptest.NewRecorder()
	body := &untypedStream{pieces: []string{
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
	}, got: func() {
		if !strings.Contains(w.Body.String(), "hello") {
			t.Errorf("the text was held back: %s", w.Body)
		}
	}}
	c, err := openai.New(&openai.Options{BaseURL: "http://localhost/v1", HTTPClient: &http.Client{Transport: body}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	messages.NewHandler(c, nil).ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), "message_stop") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// shelf resolves every link to a file of the media type in its name.
type shelf struct{ asked int }

func (s *shelf) Resolve(_ context.Context, src content.Source) (content.Blob, error) {
	s.asked++
	u, ok := src.(*content.URL)
	switch {
	case !ok:
		return content.Blob{}, content.ErrUnresolved
	case strings.HasSuffix(u.URL, ".pdf"):
		return content.Blob{MediaType: "application/pdf", Data: []byte("%PDF-1.7\n")}, nil
	case strings.HasSuffix(u.URL, ".txt"):
		return content.Blob{MediaType: "text/plain", Data: []byte("plain words")}, nil
	}
	return content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, nil
}

// TestFiles checks which files are sent as links, and which are fetched first.
func TestFiles(t *testing.T) {
	image := &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}}
	document := func(name string) *content.Document {
		return &content.Document{Source: &content.URL{URL: "https://a.example/" + name}}
	}
	const loaded = `"url":"data:image/png;base64,iVBORw0KGgo="`
	for _, test := range []struct {
		name    string
		local   bool
		links   bool // ForwardLinks
		dialect openai.Dialect
		parts   []content.Part
		want    []string
		asked   int
	}{
		{"link", false, true, openai.Dialect{}, []content.Part{image}, []string{`"url":"https://a.example/a.png"`}, 0},
		{"link not forwarded", false, false, openai.Dialect{}, []content.Part{image}, []string{loaded}, 1},
		{"link with document", false, true, openai.Dialect{}, []content.Part{image, document("a.pdf")}, []string{`"url":"https://a.example/a.png"`, `"file_data":"data:application/pdf;base64,JVBERi0xLjcK"`}, 1},
		{"text", true, true, openai.Dialect{}, []content.Part{document("a.txt")}, []string{`plain words`}, 1},
		{"compatible server", true, true, openai.Dialect{}, []content.Part{image}, []string{loaded}, 1},
		{"compatible server with Links", true, true, openai.Dialect{Links: true}, []content.Part{image}, []string{`"url":"https://a.example/a.png"`}, 0},
		{"compatible server with Files", true, true, openai.Dialect{Files: true}, []content.Part{document("a.pdf")}, []string{`"filename":"document.pdf"`}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, s := client(t, fakeopenai.Options{Local: test.local}, openai.Options{Dialect: test.dialect})
			from := new(shelf)
			req := simpleRequest("gpt-4.1", "look")
			req.Turns[0].Parts = append(req.Turns[0].Parts, test.parts...)
			req.Resolver, req.ForwardLinks = from, test.links
			if _, err := upstream.Collect(t.Context(), c, req); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if body := string(s.Last().Body); !strings.Contains(body, want) {
					t.Errorf("%s is missing in %s", want, body)
				}
			}
			if from.asked != test.asked {
				t.Errorf("%d files were fetched, want %d", from.asked, test.asked)
			}
		})
	}
}

// TestRename checks that the model receives valid tool names and the client its own.
func TestRename(t *testing.T) {
	c, s := client(t, fakeopenai.Options{}, openai.Options{})
	s.Answer(func(r fake.Request) []fake.Piece {
		doc, err := fake.Parse(r.Body)
		if err != nil {
			return []fake.Piece{fake.Status{Code: 500}}
		}
		return []fake.Piece{fake.Call(doc.List("tools")[0].Get("function").Text("name"), "{}")}
	})
	req := simpleRequest("gpt-4.1", "call")
	req.Tools = []content.Tool{weather[0]}
	req.Tools[0].Name = "mcp:weather.of/the city"
	for _, req.Stream = range []bool{false, true} {
		reply, err := upstream.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		if use, ok := reply.Parts[0].(*content.ToolUse); !ok || use.Name != req.Tools[0].Name {
			t.Errorf("stream %v: %v", req.Stream, reply.Parts)
		}
		if body := string(s.Last().Body); strings.Contains(body, "mcp:") {
			t.Errorf("sent %s", body)
		}
	}
}

// TestHeaders checks the headers with credentials, and that no others are sent.
func TestHeaders(t *testing.T) {
	for name, test := range map[string]struct {
		options openai.Options
		want    map[string]string
	}{
		"bearer": {openai.Options{Key: "k", Organization: "o", Project: "p", Header: http.Header{"X-Host": {"h"}}},
			map[string]string{"Authorization": "Bearer k", "Openai-Organization": "o", "Openai-Project": "p", "X-Host": "h"}},
		"azure":   {openai.Options{Key: "k", KeyHeader: "api-key"}, map[string]string{"Api-Key": "k"}},
		"KeyFunc": {openai.Options{KeyFunc: func(context.Context) (string, error) { return "later", nil }}, map[string]string{"Authorization": "Bearer later"}},
		"nothing": {openai.Options{}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for _, n := range []string{"Authorization", "Api-Key", "Openai-Organization", "Openai-Project", "X-Host", "X-Api-Key", "Anthropic-Version"} {
					if v := r.Header.Get(n); v != "" {
						got[n] = v
					}
				}
				w.Header().Set("X-Request-Id", "req_1")
				_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
			}))
			defer ts.Close()
			test.options.BaseURL = ts.URL
			c, err := openai.New(&test.options)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := upstream.Collect(t.Context(), c, simpleRequest("m", "q"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if s := reply.Start; s.UpstreamID != "req_1" || s.Upstream != "openai chat" || s.Header != nil {
				t.Errorf("start: %+v", s)
			}
		})
	}
}

// TestModels checks the list of models and the estimate of tokens.
func TestModels(t *testing.T) {
	c, _ := client(t, fakeopenai.Options{Models: []string{"a", "b"}}, openai.Options{})
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 2 || list[1].ID != "b" {
		t.Errorf("%v %v", list, err)
	}
	n, err := c.CountTokens(t.Context(), simpleRequest("a", "some words"))
	if err != nil || !n.Estimated || n.Tokens == 0 {
		t.Errorf("%v %v", n, err)
	}
}

// fullRequest returns a request with all members that Chat Completions supports. id is
// the id of its tool call.
func fullRequest(id string) *upstream.Request {
	png := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}
	temperature, few := 0.5, int64(1)
	n := simpleRequest("", "hi, in JSON")
	n.System = []content.Part{&content.Text{Text: "Be brief.", Cache: &content.Cache{}}, &content.Text{Text: "Be kind."}}
	n.Turns[0].Parts = append(n.Turns[0].Parts, png, &content.Text{})
	n.Turns = append(n.Turns,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "x"}, &content.ToolUse{ID: id, Name: "weather"}, &content.ToolUse{ID: "b", Name: "weather"}, &content.Text{Text: "y"}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "z"}, &content.ToolResult{ID: id, Parts: []content.Part{&content.Text{Text: "r"}, png}}}},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "Be brief now."}}},
		content.Turn{Role: content.RoleAssistant}, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "so?"}}},
	)
	n.Tools = append(weather[:1:1], content.Tool{Name: strings.Repeat("n", 80), Strict: new(true)})
	n.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"weather", strings.Repeat("n", 80)}, NoParallel: true}
	n.Temperature, n.TopP, n.PresencePenalty, n.FrequencyPenalty = &temperature, &temperature, &temperature, &temperature
	n.MaxTokens, n.Seed, n.TopK, n.UserID, n.ServiceTier = &few, &few, &few, strings.Repeat("u", 300), "auto"
	n.StopSequences = []string{"a", "b", "c", "d", "e"}
	n.Output = upstream.Output{MediaType: "application/json"}
	n.Stream = true
	return n
}

// TestAccepted sends all kinds of requests, for all model families, to servers that
// reject what OpenAI and others reject. No request has to be sent twice.
func TestAccepted(t *testing.T) {
	budget := int64(2000)
	thinking := map[string]upstream.Thinking{
		"unset": {}, "off": {Mode: upstream.ThinkingOff}, "auto": {Mode: upstream.ThinkingAuto}, "minimal": {Effort: "minimal"},
		"budget": {Mode: upstream.ThinkingBudget, Budget: &budget}, "max": {Mode: upstream.ThinkingAuto, Effort: "max", Display: "full"},
	}
	responsesOnly := []string{"gpt-6-astra", "gpt-6.1-sol", "gpt-6.2-sol"} // tools only over Responses
	models := append([]string{"gpt-3.5-turbo", "gpt-4", "gpt-4o-mini", "gpt-4.1", "gpt-5.5-chat-latest", "o1", "o3", "o4-mini", "gpt-5", "gpt-5-nano", "gpt-5.1", "gpt-5.2",
		"gpt-5.4", "gpt-5.5", "gpt-5.6-sol", "gpt-6-sol", "gpt-6-luna", "gpt-6.1-terra", "tuned"}, responsesOnly...)
	for local, id := range map[bool]string{false: strings.Repeat("i", 80), true: "functions.weather:0"} {
		bare := fullRequest(id)
		bare.Tools, bare.Choice = nil, content.ToolChoice{NoParallel: true}
		for _, model := range models {
			if local && model != "tuned" {
				continue // gateways apply OpenAI's rules to OpenAI's models
			}
			for name, th := range thinking {
				for form, base := range map[string]*upstream.Request{"text": simpleRequest("", "hi"), "no tools": bare, "everything": fullRequest(id)} {
					c, s := client(t, fakeopenai.Options{Local: local}, openai.Options{})
					n := *base
					n.Model, n.Thinking = model, th
					_, err := upstream.Collect(t.Context(), c, &n)
					if !local && len(n.Tools) > 0 && slices.Contains(responsesOnly, model) {
						if err == nil || len(s.Requests()) > 0 {
							t.Errorf("%s, %s: tools were accepted", model, form)
						}
						continue
					}
					if err != nil || len(s.Requests()) != 1 {
						t.Errorf("local %v, %s, thinking %s, %s: %v, %d requests", local, model, name, form, err, len(s.Requests()))
					}
				}
			}
		}
	}
}

// simpleRequest returns a request with one text.
func simpleRequest(model, text string) *upstream.Request {
	return &upstream.Request{Model: model, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}}}
}

var weather = []content.Tool{{
	Name: "weather", Description: "Returns the weather.",
	Input: content.Schema{JSON: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`},
}}

// lossyRequest returns a request with losses for any server.
func lossyRequest() *upstream.Request {
	r := simpleRequest("gpt-4.1", "hello")
	r.Tools = append(weather[:1:1], content.Tool{Kind: "web_search_20250305", Name: "web_search", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search"}`})
	return r
}

// invalidRequest returns a request that Chat Completions cannot represent.
func invalidRequest() *upstream.Request {
	r := simpleRequest("gpt-4.1", "hello")
	r.Turns[0].Parts = append(r.Turns[0].Parts, &content.Media{Source: &content.Base64{MediaType: "video/mp4", Data: "AAAA"}})
	return r
}
