package openai_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
