package responses_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A complete service: a custom Upstream, and the handler that serves it to the vendor's
// clients.
func ExampleNewHandler() {
	shout := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		return w.Text("HELLO FROM " + strings.ToUpper(req.Model))
	})
	h := responses.NewHandler(shout, nil)

	r := httptest.NewRequest("POST", "/v1/responses", strings.NewReader(`{"model":"demo","input":"Hi"}`))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)

	v := gjson.Parse(w.Body.String())
	fmt.Println(w.Code, v.Get("status"), v.Get("output.0.content"))
	// Output:
	// 200 completed [{"type":"output_text","text":"HELLO FROM DEMO","annotations":[],"logprobs":[]}]
}

var greeter = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	_ = w.Usage(content.Usage{Input: 3, Output: 1})
	return w.Text("Hello")
})

// A streamed response without HTTP.
func ExampleNewStreamWriter() {
	req, _, err := responses.DecodeRequest([]byte(`{"model":"demo","input":"Hi","stream":true}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var events strings.Builder
	w := responses.NewStreamWriter(&events, req)
	err = w.End(upstream.Run(context.Background(), greeter, req, w))
	for line := range strings.Lines(events.String()) {
		if strings.HasPrefix(line, "event: ") || strings.HasSuffix(line, "[DONE]\n") {
			fmt.Print(line)
		}
	}
	fmt.Println(w.Losses(), err)
	// Output:
	// event: response.created
	// event: response.in_progress
	// event: response.output_item.added
	// event: response.content_part.added
	// event: response.output_text.delta
	// event: response.output_text.done
	// event: response.content_part.done
	// event: response.output_item.done
	// event: response.completed
	// data: [DONE]
	// [] <nil>
}

// A whole response without HTTP.
func ExampleEncodeResponse() {
	req, _, err := responses.DecodeRequest([]byte(`{"model":"demo","input":"Hi"}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := upstream.Collect(context.Background(), greeter, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	document, losses := responses.EncodeResponse(req, resp)
	v := gjson.ParseBytes(document)
	fmt.Println(v.Get("output.0.content.0.text"), v.Get("usage.total_tokens"), losses)
	// Output:
	// Hello 4 []
}

// The vendor's own error for a wrong key, from middleware that has checked it. The client also
// receives headers that its SDK knows.
func ExampleEncodeError_key() {
	status, header, document := responses.EncodeError(nil, &upstream.Error{
		Code:   upstream.CodeUnauthenticated,
		Header: []upstream.HeaderField{{Name: "x-should-retry", Value: "false"}},
	})
	fmt.Println(status, header.Get("X-Should-Retry"), string(document))
	// Output:
	// 401 false {"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}
}
