package messages_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
)

func ExampleRequest_Validate() {
	body := `{"model":"m","max_tokens":1000,"thinking":{"type":"enabled","budget_tokens":512},"messages":[
	  {"role":"user","content":[
	    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"R0lGODlhAQABAAAAACw="}}]},
	  {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"clock","input":{}}]}]}`
	r, err := messages.ParseRequest([]byte(body))
	if r == nil {
		fmt.Println(err) // not valid JSON
		return
	}
	// Validate repeats the violations that parsing found.
	list, _ := content.Violations(r.Validate(&messages.ValidateOptions{Version: "2023-06-01"}))
	for _, e := range list {
		fmt.Printf("%s %s\n", e.Code, e)
	}
	// Output:
	// media messages.0.content.0.image.source.base64: The image was specified using the image/png media type, but the image appears to be a image/gif image
	// pairing messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
	// range thinking.enabled.budget_tokens: Input should be greater than or equal to 1024
}
