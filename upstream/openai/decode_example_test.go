package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// A client without HTTP: the program sends the document of the request, such as in a file
// for a batch, and receives the body of the response.
func ExampleClient_DecodeResponse() {
	c, err := openai.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req := &upstream.Request{
		Model: "gpt-5.2",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
	}
	sent, err := upstream.EncodeRequest(context.Background(), c, req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gjson.Get(sent.Document, "messages"))
	resp, err := c.DecodeResponse(req, []byte(`{"model":"gpt-5.2","choices":[{"index":0,"message":{"content":"Hello."},"finish_reason":"stop"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason)
	// Output:
	// [{"role":"user","content":"Hi"}]
	// Hello. end
}

// A recorded stream.
func ExampleResponses_NewStreamReader() {
	const recording = `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}

data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hello."}

data: {"type":"response.completed","response":{"status":"completed"}}

`
	c, err := openai.NewResponses(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded := c.NewStreamReader(nil, strings.NewReader(recording))
	resp, err := upstream.Collect(context.Background(), upstream.Replay(recorded), &upstream.Request{})
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason, err)
	// Output: Hello. end <nil>
}

func ExampleClient_DecodeError() {
	c, err := openai.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	e := c.DecodeError(429, http.Header{"Retry-After": {"7"}}, []byte(`{"error":{"code":"rate_limit_exceeded","message":"Slow down."}}`))
	fmt.Println(e.Code, e.RetryAfter, e.Text)
	// Output: rate_limit 7s Slow down.
}
