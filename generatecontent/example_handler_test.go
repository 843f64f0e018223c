package generatecontent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

const question = `{"contents":[{"parts":[{"text":"Hi"}]}]}`

// A service consists of an upstream and a handler, which the vendor's clients can
// use.
func ExampleNewHandler() {
	shout := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		return w.Text("HELLO FROM " + strings.ToUpper(req.Model))
	})
	h := generatecontent.NewHandler(shout, nil)

	r := httptest.NewRequest("POST", "/v1beta/models/demo:generateContent", strings.NewReader(question))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	answer, _, _ := strings.Cut(w.Body.String(), `,"responseId"`)
	fmt.Println(w.Code, answer)
	// Output:
	// 200 {"candidates":[{"content":{"parts":[{"text":"HELLO FROM DEMO"}],"role":"model"},"finishReason":"STOP","index":0}],"modelVersion":"demo"
}

// With alt=sse the response is streamed as server-sent events, and without it as
// a JSON array.
func ExampleNewHandler_stream() {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r-1", Model: "demo"})
		return w.Text("Hello")
	})
	h := generatecontent.NewHandler(up, nil)
	for _, query := range []string{"?alt=sse", ""} {
		r := httptest.NewRequest("POST", "/v1beta/models/demo:streamGenerateContent"+query, strings.NewReader(question))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(strings.TrimSpace(strings.ReplaceAll(w.Body.String(), "\r", "")))
	}
	// Output:
	// data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hell"}]},"index":0}],"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5},"modelVersion":"demo","responseId":"r-1"}
	//
	// data: {"candidates":[{"content":{"role":"model","parts":[{"text":"o"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5},"modelVersion":"demo","responseId":"r-1"}
	// [{"candidates":[{"content":{"role":"model","parts":[{"text":"Hell"}]},"index":0}],"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5},"modelVersion":"demo","responseId":"r-1"},
	// {"candidates":[{"content":{"role":"model","parts":[{"text":"o"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"totalTokenCount":5},"modelVersion":"demo","responseId":"r-1"}]
}

// A handler reads paths from the right. It works below any prefix, with and without
// http.StripPrefix, and names of models may contain slashes and colons.
func ExampleNewHandler_prefix() {
	up := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		fmt.Print(req.Model, " ")
		return w.Text("Hello")
	})
	h := generatecontent.NewHandler(up, nil)
	mux := http.NewServeMux()
	mux.Handle("/ai/", h)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", h))

	for _, path := range []string{"/ai/v1/models/a/b:8b:generateContent", "/stripped/v1alpha/models/m:generateContent", "/ai/v9/models/m:generateContent"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(question)))
		fmt.Println(path, w.Code)
	}
	// Output:
	// a/b:8b /ai/v1/models/a/b:8b:generateContent 200
	// m /stripped/v1alpha/models/m:generateContent 200
	// /ai/v9/models/m:generateContent 404
}

// Middleware can write errors in this format.
func ExampleNewHandler_writeError() {
	h := generatecontent.NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
		return nil
	}), nil)
	w := httptest.NewRecorder()
	h.WriteError(w, httptest.NewRequest("POST", "/v1beta/models/demo:generateContent", nil),
		&upstream.Error{Code: upstream.CodeRateLimit, Text: "five a minute"})
	fmt.Println(w.Code, w.Body)
	// Output:
	// 429 {"error":{"code":429,"message":"five a minute","status":"RESOURCE_EXHAUSTED"}}
}

// EncodeResponse encodes a neutral response and reports the losses. Thinking of
// another vendor is carried by the signature of the tool call after it.
func ExampleEncodeResponse_signature() {
	doc, lost := generatecontent.EncodeResponse(nil, &upstream.Response{
		Start: upstream.Start{ID: "r"},
		Parts: []content.Part{
			&content.Thinking{Text: "A greeting.", Signature: content.Signature{Format: "other", Data: "x"}},
			&content.ToolUse{ID: "1", Name: "wave", Input: `{"hand":"left"}`},
		},
		Stop:  upstream.Stop{Reason: content.StopToolUse},
		Usage: content.Usage{Input: 7, CacheRead: 2, CacheWrite: 1, Output: 3, Thinking: 4},
	})
	fmt.Println(string(doc))
	fmt.Println(lost)
	// Output:
	// {"candidates":[{"content":{"parts":[{"text":"A greeting.","thought":true},{"functionCall":{"id":"1","name":"wave","args":{"hand":"left"}},"thoughtSignature":"cHcxLm90aGVyLjllMTUyODQzOTE4NDRhYWQudFt7InRleHQiOiJBIGdyZWV0aW5nLiIsInNpZ25hdHVyZSI6IngifV0="}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4,"totalTokenCount":17},"responseId":"r"}
	// [hint usage: generateContent does not have some token counts or usage members; they were added to another count or dropped]
}
