package messages_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A recorded stream of a server of this format.
func ExampleStreamReader() {
	const body = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`
	recorded := messages.NewStreamReader(strings.NewReader(body), nil)
	reply, err := upstream.Collect(context.Background(), upstream.Replay(recorded), &upstream.Request{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Stop.Reason, reply.Usage.Input, reply.Usage.Output)
	// Output: Hello end 3 2
}

func ExampleDecodeResponse() {
	const body = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello"}],` +
		`"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}`
	resp, err := messages.DecodeResponse([]byte(body), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason)
	// Output: Hello max_tokens
}

func ExampleDecodeError() {
	err := messages.DecodeError(429, http.Header{"Retry-After": {"7"}},
		[]byte(`{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}`))
	fmt.Println(err.Code, err.RetryAfter, err.Text)
	// A rejected key is not an error of the client.
	err = messages.DecodeError(401, nil, []byte(`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`))
	fmt.Println(err.Code, err.Text)
	// Output:
	// rate_limit 7s Slow down.
	// bad_gateway The upstream rejected the credentials of this service
}

func ExampleDecodeCount() {
	n, err := messages.DecodeCount([]byte(`{"input_tokens":57}`))
	fmt.Println(n.Tokens, err)
	// Output: 57 <nil>
}

func ExampleDecodeModels() {
	list, next, err := messages.DecodeModels([]byte(
		`{"data":[{"id":"m","type":"model","display_name":"M","max_input_tokens":200000}],"has_more":true,"last_id":"m"}`))
	fmt.Println(list[0].ID, list[0].Name, list[0].MaxInput, next, err)
	// Output: m M 200000 m <nil>
}
