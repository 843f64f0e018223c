package chatcompletions

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// respond returns an upstream that writes a text and counts tokens.
func respond(text string) upstream.Func {
	return upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r1", Model: r.Model})
		_ = w.Text(text)
		return w.Usage(content.Usage{Input: 2, Output: 1})
	})
}

// ask returns the response of a handler to a request.
func ask(h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const hello = `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`

func TestRoutes(t *testing.T) {
	list := &formattest.Able{Func: respond("Hi"), List: func(context.Context) ([]upstream.Model, error) {
		return []upstream.Model{{ID: "m"}, {ID: "a/b"}}, nil
	}}
	h := NewHandler(list, nil)
	for _, tt := range []struct {
		method, path, body string
		header             []string
		status             int
		match              bool
		want               string // that the response contains
	}{
		{"POST", "/v1/chat/completions", hello, nil, 200, true, `"model":"m"`},
		{"POST", "/chat/completions", hello, nil, 200, true, `"content":"Hi"`},
		{"POST", "/any/openai/v1/chat/completions", hello, nil, 200, true, `"content":"Hi"`},
		{"POST", "/openai/deployments/d/chat/completions?api-version=2024-10-21", `{"messages":[{"role":"user","content":"Hi"}]}`, nil, 200, true, `"model":"d"`},
		{"POST", "/openai/deployments/d/chat/completions", hello, nil, 200, true, `"model":"d"`},
		{"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"Hi"}]}`, nil, 400, true, `"code":"missing_required_parameter"`},
		{"GET", "/v1/chat/completions", "", nil, 405, true, `"code":"method_not_supported"`},
		{"GET", "/v1/models", "", nil, 200, true, `{"object":"list","data":[{"id":"m","object":"model","created":0,"owned_by":"system"},{"id":"a/b",`},
		{"GET", "/v1/models/a/b", "", nil, 200, true, `{"id":"a/b","object":"model","created":0,"owned_by":"system"}`},
		{"GET", "/v1/models/x", "", nil, 404, true, `"code":"model_not_found"`},
		{"GET", "/v1/models", "", []string{"x-goog-api-key", "k"}, 200, false, `"object":"list"`},
		{"GET", "/v1/models?key=k", "", nil, 200, false, `"object":"list"`},
		{"GET", "/v1/models", "", []string{"anthropic-version", "2023-06-01"}, 200, false, `"object":"list"`},
		{"POST", "/v1beta/models/m:generateContent", "{}", nil, 404, false, `"code":"unknown_url"`},
		{"POST", "/v1/completions", "{}", nil, 404, false, `"type":"invalid_request_error","param":null,"code":"unknown_url"`},
		{"POST", "/v1/xchat/completions", "{}", nil, 404, false, `"code":"unknown_url"`},
		{"POST", "/v1/chat/completions/", hello, nil, 404, false, `"code":"unknown_url"`},
	} {
		w := ask(h, tt.method, tt.path, tt.body, tt.header...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s: %d %s\nwant %d %s", tt.method, tt.path, w.Code, w.Body, tt.status, tt.want)
		}
		r := httptest.NewRequest(tt.method, tt.path, nil)
		for i := 0; i < len(tt.header); i += 2 {
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		if got := h.Match(r); got != tt.match {
			t.Errorf("%s %s %v: Match = %t", tt.method, tt.path, tt.header, got)
		}
	}
}

func TestHandlerStream(t *testing.T) {
	h := NewHandler(respond("Hi"), nil)
	for _, tt := range []struct{ options, usage string }{
		{``, ""},
		{`,"stream_options":{"include_usage":false}`, ""},
		{`,"stream_options":{"include_usage":true}`, `{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}`},
	} {
		w := ask(h, "POST", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]`+tt.options+`}`,
			"accept", "application/json")
		a, err := formattest.ReadChat(w.Body.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, w.Body)
		}
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "text/event-stream; charset=utf-8" || w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%d %s %v", w.Code, got, w.Header())
		}
		var want any
		if tt.usage != "" {
			want = formattest.Value(t, tt.usage)
		}
		if diff := cmp.Diff(want, a.Object["usage"]); diff != "" {
			t.Errorf("%s: usage (-want +got):\n%s", tt.options, diff)
		}
		if a.Object["id"] != "r1" || a.Object["model"] != "m" {
			t.Errorf("id %v, model %v", a.Object["id"], a.Object["model"])
		}
	}
}

func TestHandlerErrors(t *testing.T) {
	fail := func(err error) http.Handler {
		return NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return err }), nil)
	}
	t.Run("status and headers", func(t *testing.T) {
		w := ask(fail(&upstream.Error{Code: upstream.CodeQuota, Text: "Spent."}), "POST", "/v1/chat/completions", hello)
		if w.Code != 429 || w.Header().Get("X-Should-Retry") != "false" || w.Body.String() != `{"error":{"message":"Spent.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}` {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	})
	t.Run("rate limit of the vendor", func(t *testing.T) {
		const object = `{"message":"Rate limit reached. Please try again in 1.2s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}`
		err := DecodeError(429, http.Header{"X-Ratelimit-Reset-Tokens": {"1.2s"}, "Retry-After-Ms": {"1200"}, "Server": {"x"}}, []byte(`{"error":`+object+`}`))
		w := ask(fail(err), "POST", "/v1/chat/completions", hello)
		if w.Code != 429 || w.Body.String() != `{"error":`+object+`}` || w.Header().Get("X-Ratelimit-Reset-Tokens") != "1.2s" || w.Header().Get("Retry-After-Ms") != "1200" || w.Header().Get("Server") != "" {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
	})
	t.Run("violations", func(t *testing.T) {
		w := ask(fail(nil), "POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]},{"content":"a"}],"n":"x"}`)
		if w.Code != 400 || !strings.Contains(w.Body.String(), `'messages[1].role'`) || !strings.Contains(w.Body.String(), `"type":"invalid_request_error","param":"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	t.Run("in a stream", func(t *testing.T) {
		h := NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("a")
			return &upstream.Error{Code: upstream.CodeUnavailable, Text: "Gone.", Err: errors.New("secret")}
		}), nil)
		w := ask(h, "POST", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`)
		a, err := formattest.ReadChat(w.Body.String())
		want := map[string]any{"message": "Gone.", "type": "server_error", "param": nil, "code": "service_unavailable"}
		if err != nil || !cmp.Equal(want, a.Failure) || strings.Contains(w.Body.String(), "[DONE]") {
			t.Errorf("%v\n%s", err, w.Body)
		}
	})
}

func TestHandlerKeys(t *testing.T) {
	h := NewHandler(respond("Hi"), &Options{HandlerOptions: upstream.HandlerOptions{Authenticate: upstream.Keys("good")}})
	for _, tt := range []struct {
		header []string
		status int
		want   string
	}{
		{[]string{"Authorization", "Bearer good"}, 200, ""},
		{[]string{"api-key", "good"}, 200, ""},
		{[]string{"api-key", "bad"}, 401, `"code":"invalid_api_key"`},
		{nil, 401, `"message":"You didn't provide an API key.`},
		{[]string{"api-key", "bad", "Authorization", "Bearer good"}, 401, `different keys`},
	} {
		if w := ask(h, "POST", "/v1/chat/completions", hello, tt.header...); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%v: %d %s", tt.header, w.Code, w.Body)
		}
	}
}

// State of Claude travels through a client that returns the ids of tool calls, in two turns.
func TestHandlerState(t *testing.T) {
	claude := content.Signature{Format: "messages", Data: "c2ln"}
	var seen *upstream.Request
	h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		seen = r
		for _, p := range []content.Part{&content.Thinking{Text: "hm", Signature: claude}, &content.ToolUse{ID: "toolu_1", Name: "f", Input: `{"a":1}`}} {
			if err := w.Part(p); err != nil {
				return err
			}
		}
		return nil
	}), nil)
	const tools = `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	first := ask(h, "POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Hi"}]`+tools+`}`)
	doc, err := formattest.DecodeObject(first.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	message := doc["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
	call := message["tool_calls"].([]any)[0].(map[string]any)
	id := call["id"].(string)
	second := ask(h, "POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[`+
		`{"id":"`+id+`","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"`+id+`","content":"ok"}]`+tools+`}`)
	if second.Code != 200 {
		t.Fatal(second.Body)
	}
	want := []content.Part{&content.Thinking{Text: "hm", Signature: claude}, &content.ToolUse{ID: "toolu_1", Name: "f", Input: `{"a":1}`}}
	got := seen.Turns[1].Parts
	if use, ok := got[len(got)-1].(*content.ToolUse); !ok || use.ID != "toolu_1" || use.Signature.Format != claude.Format {
		t.Errorf("parts = %v, want %v, with the thinking in the signature of the call", got, want)
	}
	if r := seen.Turns[2].Parts[0].(*content.ToolResult); r.ID != "toolu_1" {
		t.Errorf("the result is for %s", r.ID)
	}
}

// Clients of other servers of the format ask for thinking and usage by members of these servers, and read thinking
// where these servers have it. The requests are those of the named clients.
func TestOtherServersClients(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"What is it?"}]`
	for _, tt := range []struct {
		name, body, member string
		usage              bool
		want               upstream.Thinking
	}{
		{"@openrouter/ai-sdk-provider", `{"model":"anthropic/claude-sonnet-4.5","max_tokens":4096,` + messages + `,"reasoning":{"effort":"high"},"usage":{"include":true}}`,
			"reasoning", true, upstream.Thinking{Effort: "high", Display: "auto"}},
		{"@ai-sdk/groq", `{"model":"openai/gpt-oss-120b","max_tokens":4096,"reasoning_format":"parsed","reasoning_effort":"high",` + messages + `}`,
			"reasoning", false, upstream.Thinking{Effort: "high", Display: "auto"}},
		{"@ai-sdk/deepseek", `{"model":"deepseek-reasoner","max_tokens":4096,` + messages + `,"thinking":{"type":"enabled"},"stream_options":{"include_usage":true}}`,
			"reasoning_content", true, upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "auto"}},
		{"@ai-sdk/fireworks", `{"model":"accounts/fireworks/models/x","max_tokens":4096,` + messages + `,"thinking":{"type":"enabled","budget_tokens":2048}}`,
			"reasoning_content", false, upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptr(int64(2048)), Display: "auto"}},
		{"openai", `{"model":"gpt-5",` + messages + `,"reasoning_effort":"high"}`, "reasoning_content", false, upstream.Thinking{Effort: "high", Display: "auto"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got upstream.Thinking
			h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
				got = r.Thinking
				_ = w.Thinking("Hm.")
				return w.Usage(content.Usage{Input: 1, Output: 2})
			}), nil)
			for _, body := range []string{tt.body, `{"stream":true,` + tt.body[1:]} {
				if body == tt.body && strings.Contains(body, "stream_options") {
					continue // only for streams
				}
				text := ask(h, "POST", "/v1/chat/completions", body).Body.String()
				if !strings.Contains(text, `"`+tt.member+`":"Hm."`) || strings.Count(text, `"Hm."`) != 1 {
					t.Errorf("got %s", text)
				}
				if usage := strings.Contains(text, `"total_tokens":3`); body != tt.body && usage != tt.usage {
					t.Errorf("usage %t in %s", usage, text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
