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
func ExampleFrame_Response() {
	f, err := messages.DecodeResponse(`{"type":"message","role":"assistant","id":"msg_1","model":"m","content":[{"type":"text","text":"Hi."}],`+
		`"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3}}`, content.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := f.Response()
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason, resp.Usage.Output, err)
	// Output: Hi. end 3 <nil>
}

// A recorded stream, as a value.
func ExampleReplay() {
	const recording = `data: {"candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}]}` + "\n\n"
	recorded := generatecontent.NewStreamReader(strings.NewReader(recording), content.Limits{})
	resp, err := upstream.Collect(context.Background(), upstream.Replay(recorded), &upstream.Request{})
	fmt.Println(resp.Parts[0].(*content.Text).Text, resp.Stop.Reason, err)
	// Output: Hi. end <nil>
}
