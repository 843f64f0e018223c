package responses_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream/openai/responses"
)

func ExampleDecodeRequest() {
	body := `{"model":"m","store":false,"input":[
	  {"role":"developer","content":"Be brief."},
	  {"role":"user","content":"What time is it?"},
	  {"type":"function_call","call_id":"call_1","name":"clock","arguments":"{}"},
	  {"type":"function_call_output","call_id":"call_1","output":"9:41"}]}`
	n, _, err := responses.DecodeRequest([]byte(body), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, t := range n.Turns {
		fmt.Printf("%s %T, the first part is %s\n", t.Role, t.Parts[0], n.Path(fmt.Sprintf("turns.%d.parts.0", i)))
	}
	// Output:
	// user *content.Text, the first part is input[1].content
	// assistant *content.ToolUse, the first part is input[2]
	// user *content.ToolResult, the first part is input[3]
}

func ExampleRequest_Validate() {
	body := `{"model":"m","temperature":-1,"previous_response_id":"resp_1","input":[
	  {"role":"user","content":[{"type":"text","text":"Hi"}]}]}`
	r, err := responses.ParseRequest([]byte(body))
	if r == nil {
		fmt.Println(err) // not valid JSON
		return
	}
	// Validate repeats the violations that parsing found.
	list, _ := content.Violations(r.Validate(nil))
	for _, v := range list {
		fmt.Printf("%s %s: %s\n", v.Path, v.Vendor, v.Text)
	}
	// Output:
	// input[0].content[0] invalid_value: Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'input_file', and 'input_audio'.
	// previous_response_id previous_response_not_found: Previous response with id 'resp_1' not found. This server does not store responses: send `store: false`, and all items of the conversation as `input`.
	// temperature decimal_below_min_value: Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.
}
