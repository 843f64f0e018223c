package messages_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A complete service: a custom Upstream, and the handler that serves it to the vendor's
// clients.
func ExampleNewHandler() {
	shout := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		return w.Text("HELLO FROM " + strings.ToUpper(req.Model))
	})
	h := messages.NewHandler(shout, nil)

	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(
		`{"model":"demo","max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`))
	r.Header.Set("anthropic-version", "2023-06-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	_, after, _ := strings.Cut(w.Body.String(), `"content":`)
	text, _, _ := strings.Cut(after, `,"stop_sequence"`)
	fmt.Println(w.Code, text)
	// Output:
	// 200 [{"type":"text","text":"HELLO FROM DEMO"}],"stop_reason":"end_turn"
}

// A handler matches the end of the path. It works below any prefix, with or without
// http.StripPrefix.
func ExampleNewHandler_prefix() {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Text("Hello")
	})
	h := messages.NewHandler(up, nil)
	mux := http.NewServeMux()
	mux.Handle("/ai/", h)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", h))

	for _, path := range []string{"/ai/v1/messages", "/stripped/v1/messages", "/ai/v1/other"} {
		r := httptest.NewRequest("POST", path, strings.NewReader(
			`{"model":"demo","max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`))
		r.Header.Set("anthropic-version", "2023-06-01")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(path, w.Code)
	}
	// Output:
	// /ai/v1/messages 200
	// /stripped/v1/messages 200
	// /ai/v1/other 404
}

// Middleware can send its own errors in the format of the handler.
func ExampleNewHandler_writeError() {
	h := messages.NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
		return nil
	}), nil)
	w := httptest.NewRecorder()
	h.WriteError(w, httptest.NewRequest("POST", "/v1/messages", nil),
		&upstream.Error{Code: upstream.CodeRateLimit, Text: "five a minute"})
	kind, _, _ := strings.Cut(w.Body.String(), `,"request_id"`)
	fmt.Println(w.Code, kind)
	// Output:
	// 429 {"type":"error","error":{"type":"rate_limit_error","message":"five a minute"}
}
