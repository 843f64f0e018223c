package generatecontent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

var greeter = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	_ = w.Start(upstream.Start{ID: "r-1"})
	_ = w.Usage(content.Usage{Input: 3, Output: 1})
	return w.Text("Hello")
})

// A streamed response without HTTP.
func ExampleNewStreamWriter() {
	req, _, err := generatecontent.DecodeRequest([]byte(`{"contents":[{"parts":[{"text":"Hi"}]}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req = req.WithModel("demo") // a copy: both are in the URL, not in the document
	req.Stream = true
	var stream strings.Builder
	w := generatecontent.NewStreamWriter(&stream, req)
	err = w.End(upstream.Run(context.Background(), greeter, req, w))
	for event := range strings.SplitSeq(stream.String(), "\r\n\r\n") {
		fmt.Println(event)
	}
	fmt.Println(w.Losses(), err)
	// Output:
	// data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hell"}]},"index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4},"modelVersion":"demo","responseId":"r-1"}
	// data: {"candidates":[{"content":{"role":"model","parts":[{"text":"o"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4},"modelVersion":"demo","responseId":"r-1"}
	//
	// [] <nil>
}

// The stream as a JSON array.
func ExampleNewArrayWriter() {
	req := &upstream.Request{Model: "demo"}
	var array strings.Builder
	w := generatecontent.NewArrayWriter(&array, req)
	if err := w.End(upstream.Run(context.Background(), greeter, req, w)); err != nil {
		fmt.Println(err)
		return
	}
	var elements []struct{ ResponseID string }
	err := json.Unmarshal([]byte(array.String()), &elements)
	fmt.Println(elements, err)
	// Output: [{r-1} {r-1}] <nil>
}

// A whole response without HTTP.
func ExampleEncodeResponse() {
	req, _, err := generatecontent.DecodeRequest([]byte(`{"contents":[{"parts":[{"text":"Hi"}]}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req = req.WithModel("demo") // of the URL
	resp, err := upstream.Collect(context.Background(), greeter, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	document, losses := generatecontent.EncodeResponse(req, resp)
	fmt.Printf("%s\n%v\n", document, losses)
	// Output:
	// {"candidates":[{"content":{"parts":[{"text":"Hello"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1,"totalTokenCount":4},"modelVersion":"demo","responseId":"r-1"}
	// []
}

// The client receives the Text of an error, with the status for its Code.
func ExampleEncodeError() {
	status, header, document := generatecontent.EncodeError(nil, &upstream.Error{Code: upstream.CodeRateLimit, Text: "Slow down.", RetryAfter: 7 * time.Second})
	fmt.Printf("%d %s %s\n", status, header.Get("Retry-After"), document)
	// Output:
	// 429 7 {"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}
}

// The vendor's own error for a wrong key, from middleware that has checked it. It is not that of
// [upstream.CodeUnauthenticated], which the vendor sends for access tokens.
func ExampleEncodeError_key() {
	status, _, document := generatecontent.EncodeError(nil, &upstream.Error{
		Code: upstream.CodeInvalid,
		Text: "API key not valid. Please pass a valid API key.",
		Details: &content.Extra{Format: generatecontent.Format,
			JSON: `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`},
	})
	fmt.Println(status, string(document))
	// Output:
	// 400 {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}
}
