package generatecontent_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// Recorded streams of a server of this format, in events and in an array.
func ExampleStreamReader() {
	up := func(body string) upstream.Upstream {
		return upstream.Replay(generatecontent.NewStreamReader(strings.NewReader(body), nil))
	}
	const (
		first = `{"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"index":0}],"responseId":"r-1"}`
		last  = `{"candidates":[{"content":{"parts":[{"text":"lo"}],"role":"model"},"finishReason":"STOP","index":0}],` +
			`"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"responseId":"r-1"}`
	)
	for _, body := range []string{"data: " + first + "\r\n\r\ndata: " + last + "\r\n\r\n", "[" + first + ",\r\n" + last + "]"} {
		reply, err := upstream.Collect(context.Background(), up(body), &upstream.Request{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Stop.Reason, reply.Usage.Input, reply.Usage.Output)
	}
	_, err := upstream.Collect(context.Background(), up("data: "+first+"\r\n\r\n"), &upstream.Request{})
	fmt.Println(err)
	// Output:
	// Hello end 3 2
	// Hello end 3 2
	// upstream: bad_gateway: generatecontent: the stream ended without a finishReason: unexpected EOF
}

func ExampleDecodeResponse() {
	const body = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","args":{"city":"Lima"}}}],"role":"model"},` +
		`"finishReason":"STOP","index":0}]}`
	resp, err := generatecontent.DecodeResponse([]byte(body), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	call := resp.Parts[0].(*content.ToolUse)
	fmt.Println(call.Name, call.Input, resp.Stop.Reason)
	// Output: get_weather {"city":"Lima"} tool_use
}

func ExampleDecodeError() {
	err := generatecontent.DecodeError(429, http.Header{}, []byte(
		`{"error":{"code":429,"message":"Slow down.\nPlease retry in 7.5s.","status":"RESOURCE_EXHAUSTED"}}`))
	fmt.Println(err.Code, err.RetryAfter, err.Text)
	// A rejected key is the host's problem, not the client's.
	err = generatecontent.DecodeError(400, nil, []byte(`{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",`+
		`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`))
	fmt.Println(err.Code, err.Text)
	// Output:
	// rate_limit 7.5s Slow down. Please retry in 7.5s.
	// bad_gateway The upstream rejected the credentials of this service
}

func ExampleDecodeCount() {
	n, err := generatecontent.DecodeCount([]byte(`{"totalTokens":57}`))
	fmt.Println(n.Tokens, err)
	// Output: 57 <nil>
}

func ExampleDecodeModels() {
	list, next, err := generatecontent.DecodeModels([]byte(
		`{"models":[{"name":"models/m","displayName":"M","inputTokenLimit":200000}],"nextPageToken":"p2"}`))
	fmt.Println(list[0].ID, list[0].Name, list[0].MaxInput, next, err)
	// Output: m M 200000 p2 <nil>
}
