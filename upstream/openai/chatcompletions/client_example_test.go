package chatcompletions_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

var greeter = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	_ = w.Start(upstream.Start{ID: "r1"})
	_ = w.Usage(content.Usage{Input: 3, Output: 1})
	return w.Text("Hello")
})

// A complete service: a custom Upstream, and the handler that serves it to clients of the format.
func ExampleNewHandler() {
	shout := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		return w.Text("HELLO FROM " + strings.ToUpper(req.Model))
	})
	h := chatcompletions.NewHandler(shout, nil)

	r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(
		`{"model":"demo","messages":[{"role":"user","content":"Hi"}]}`))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	_, choices, _ := strings.Cut(w.Body.String(), `"choices":[`)
	message, _, _ := strings.Cut(choices, `,"refusal"`)
	fmt.Println(w.Code, message)
	// Output:
	// 200 {"index":0,"message":{"role":"assistant","content":"HELLO FROM DEMO"
}

// A streamed response without HTTP.
func ExampleNewStreamWriter() {
	req, _, err := chatcompletions.DecodeRequest([]byte(
		`{"model":"demo","stream":true,"messages":[{"role":"user","content":"Hi"}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var events strings.Builder
	w := chatcompletions.NewStreamWriter(&events, req)
	err = w.End(upstream.Run(context.Background(), greeter, req, w))
	for line := range strings.Lines(events.String()) {
		if _, delta, ok := strings.Cut(line, `"choices":`); ok {
			fmt.Print(delta)
		} else if line != "\n" {
			fmt.Print(line)
		}
	}
	fmt.Println(w.Losses(), err)
	// Output:
	// [{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}]}
	// [{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}
	// [{"index":0,"delta":{},"finish_reason":"stop"}]}
	// data: [DONE]
	// [] <nil>
}

// A whole response without HTTP.
func ExampleEncodeResponse() {
	req, _, err := chatcompletions.DecodeRequest([]byte(
		`{"model":"demo","messages":[{"role":"user","content":"Hi"}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := upstream.Collect(context.Background(), greeter, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	document, losses := chatcompletions.EncodeResponse(req, resp)
	_, choices, _ := strings.Cut(string(document), `"choices":`)
	fmt.Println(choices, losses)
	// Output:
	// [{"index":0,"message":{"role":"assistant","content":"Hello","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":null} []
}

// The client receives the Text of an error, with the type and the code for its Code.
func ExampleEncodeError() {
	status, header, document := chatcompletions.EncodeError(nil, &upstream.Error{Code: upstream.CodeRateLimit, Text: "Slow down.", RetryAfter: 7 * time.Second})
	fmt.Println(status, header.Get("Retry-After"), string(document))
	// Output:
	// 429 7 {"error":{"message":"Slow down.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}
}

// The vendor's own error for a wrong key, from middleware that has checked it. The client also
// receives headers that its SDK knows.
func ExampleEncodeError_key() {
	status, header, document := chatcompletions.EncodeError(nil, &upstream.Error{
		Code:   upstream.CodeUnauthenticated,
		Header: []upstream.HeaderField{{Name: "x-should-retry", Value: "false"}},
	})
	fmt.Println(status, header.Get("X-Should-Retry"), string(document))
	// Output:
	// 401 false {"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}
}
