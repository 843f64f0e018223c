package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/fake"
	fakeopenai "github.com/polywire/polywire/internal/fake/openai"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// client starts a fake and returns it with a client of it.
func client(t *testing.T, f fakeopenai.Options, o openai.Options) (*openai.Client, *fakeopenai.Server) {
	t.Helper()
	s := fakeopenai.New(t, f)
	o.BaseURL = s.Base()
	if o.Key == "" {
		o.Key = "host-key"
	}
	if !f.Local && o.Dialect.Kind == openai.KindByHost {
		o.Dialect.Kind = openai.KindVendor
	}
	c, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// ask sends a body through a front to an upstream.
func ask(t *testing.T, u upstream.Upstream, path, body string) *httptest.ResponseRecorder {
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

// TestConformance runs the suite on a client of the fake.
func TestConformance(t *testing.T) {
	for name, local := range map[string]bool{"vendor": false, "compatible": true} {
		t.Run(name, func(t *testing.T) {
			c, s := client(t, fakeopenai.Options{Local: local, Quirks: fakeopenai.Quirks{Reasoning: "reasoning_content"}}, openai.Options{Key: "secret-key"})
			s.Answer(script)
			req := func(text string) *upstream.Request { return simple("gpt-4.1", text) }
			call := req("call")
			call.Tools = weather
			upstreamtest.Run(t, c, &upstreamtest.Options{
				Model: "gpt-4.1", Text: req("hello"), Long: req("long"), Silent: req("silent"), Call: call, Think: req("think"),
				Lossy: lossy(), Bad: []*upstream.Request{bad()}, Fail: []*upstream.Request{req("fail")},
				Marked:  func(mark string) *upstream.Request { return req("mark " + mark) },
				Secrets: []string{"secret-key", s.URL}, Deterministic: false,
			})
		})
	}
}

// script answers by the last word that the user says.
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

// TestThinkTagsOpen checks that an answer without a thought is not taken for one
// where the server was told not to think.
func TestThinkTagsOpen(t *testing.T) {
	for _, tt := range []struct {
		says   openai.Dialect
		mode   upstream.ThinkingMode
		answer string
		want   []content.Part
	}{
		{openai.Dialect{Thinking: "chat_template_kwargs", Efforts: []string{}}, upstream.ThinkingOff, "hi", []content.Part{&content.Text{Text: "hi"}}},
		{openai.Dialect{}, upstream.ThinkingOff, "hi", []content.Part{&content.Text{Text: "hi"}}},
		{openai.Dialect{}, "", "hm</think>hi", []content.Part{&content.Thinking{Text: "hm"}, &content.Text{Text: "hi"}}},
		{openai.Dialect{Efforts: []string{}}, upstream.ThinkingOff, "hm</think>hi", []content.Part{&content.Thinking{Text: "hm"}, &content.Text{Text: "hi"}}}, // it is not told
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"content":"`+tt.answer+`"},"finish_reason":"stop"}]}`)
		}))
		tt.says.ThinkTags = openai.ThinkTagsOpen
		c, err := openai.New(openai.Options{BaseURL: ts.URL, HTTPClient: ts.Client(), Dialect: tt.says})
		if err != nil {
			t.Fatal(err)
		}
		n := simple("m", "q")
		n.Thinking.Mode = tt.mode
		got, err := upstream.Collect(t.Context(), c, n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Parts); diff != "" {
			t.Errorf("%+v, %q (-want +got):\n%s", tt.says, tt.mode, diff)
		}
		ts.Close()
	}
}

// unnamed answers with a stream that is not said to be one, and looks at what
// the client has got of it before it goes on.
type unnamed struct {
	pieces []string
	got    func()
}

// RoundTrip implements [http.RoundTripper].
func (u *unnamed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(u), Request: r}, nil
}

// Read gives one piece at a time.
func (u *unnamed) Read(p []byte) (int, error) {
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

// TestUnnamedStream checks that a stream comes piece by piece, whatever type the
// server gives it.
func TestUnnamedStream(t *testing.T) {
	w := httptest.NewRecorder()
	body := &unnamed{pieces: []string{
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
	}, got: func() {
		if !strings.Contains(w.Body.String(), "hello") {
			t.Errorf("the text is held back: %s", w.Body)
		}
	}}
	c, err := openai.New(openai.Options{BaseURL: "http://localhost/v1", HTTPClient: &http.Client{Transport: body}})
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
