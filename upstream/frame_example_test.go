package upstream_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A recorded response, as a value.
func ExampleResponse() {
	resp, err := messages.DecodeResponse([]byte(`{"type":"message","role":"assistant","id":"msg_1","model":"m","content":[{"type":"text","text":"Hi."}],`+
		`"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason, resp.Usage.Output)
	// Output: Hi. end 3
}

// A recorded stream, as a value.
func ExampleReplay() {
	const recording = `data: {"candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}]}` + "\n\n"
	recorded := generatecontent.NewStreamReader(strings.NewReader(recording), nil)
	resp, err := upstream.Collect(context.Background(), upstream.Replay(recorded), &upstream.Request{})
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason, err)
	// Output: Hi. end <nil>
}
