package messages_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

var greeter = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	_ = w.Start(upstream.Start{ID: "msg_1"})
	_ = w.Usage(content.Usage{Input: 3, Output: 1})
	return w.Text("Hello")
})

// A streamed response without HTTP.
func ExampleNewStreamWriter() {
	req, _, err := messages.DecodeRequest([]byte(
		`{"model":"demo","max_tokens":20,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var events strings.Builder
	w := messages.NewStreamWriter(&events, req)
	err = w.End(upstream.Run(context.Background(), greeter, req, w))
	for line := range strings.Lines(events.String()) {
		if strings.HasPrefix(line, "event: ") || strings.Contains(line, "Hello") {
			fmt.Print(line)
		}
	}
	fmt.Println(w.Losses(), err)
	// Output:
	// event: message_start
	// event: content_block_start
	// event: content_block_delta
	// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}
	// event: content_block_stop
	// event: message_delta
	// event: message_stop
	// [] <nil>
}

// A whole response without HTTP.
func ExampleEncodeResponse() {
	req, _, err := messages.DecodeRequest([]byte(
		`{"model":"demo","max_tokens":20,"messages":[{"role":"user","content":"Hi"}]}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := upstream.Collect(context.Background(), greeter, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	document, losses := messages.EncodeResponse(req, resp)
	start, _, _ := strings.Cut(string(document), `,"stop_sequence"`)
	fmt.Println(start, losses)
	// Output:
	// {"id":"msg_1","type":"message","role":"assistant","model":"demo","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn" []
}

// The client receives the Text of an error, with the type for its Code.
func ExampleEncodeError() {
	status, header, document := messages.EncodeError(nil, &upstream.Error{Code: upstream.CodeRateLimit, Text: "Slow down.", RetryAfter: 7 * time.Second})
	start, _, _ := strings.Cut(string(document), `,"request_id"`)
	fmt.Println(status, header.Get("Retry-After"), start)
	// Output:
	// 429 7 {"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}
}

// The vendor's own error for a wrong key, from middleware that has checked it. The client also
// receives headers that its SDK knows.
func ExampleEncodeError_key() {
	status, header, document := messages.EncodeError(nil, &upstream.Error{
		Code:   upstream.CodeUnauthenticated,
		Header: []upstream.HeaderField{{Name: "x-should-retry", Value: "false"}},
	})
	start, _, _ := strings.Cut(string(document), `,"request_id"`)
	fmt.Println(status, header.Get("X-Should-Retry"), start)
	// Output:
	// 401 false {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}
}
