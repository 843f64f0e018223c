package chatcompletions_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

func ExampleDecodeRequest() {
	body := `{"model":"gpt-5.2","reasoning_effort":"low","stop":"END","messages":[
		{"role":"developer","content":"Be brief."},
		{"role":"user","content":"What is the weather in Oslo and in Rome?"},
		{"role":"assistant","content":null,"tool_calls":[
			{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}},
			{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Rome\"}"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"rain"},
		{"role":"tool","tool_call_id":"call_2","content":"sun"}]}`
	r, _, err := chatcompletions.DecodeRequest([]byte(body), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Model, r.Thinking.Effort, r.StopSequences)
	fmt.Println(r.System[0].(*content.Text).Text)
	for _, t := range r.Turns {
		fmt.Println(t.Role, len(t.Parts))
	}
	fmt.Println(r.Path("turns.2.parts.1"))
	// Output:
	// gpt-5.2 low [END]
	// Be brief.
	// user 1
	// assistant 2
	// user 2
	// messages[4]
}

func ExampleRequest_Validate() {
	body := `{"model":"gpt-5.2","temperature":3,"messages":[
		{"role":"user","content":[{"type":"image_url","image_url":{"url":"photo.png"}}]},
		{"role":"tool","tool_call_id":"call_1","content":"rain"}]}`
	r, err := chatcompletions.ParseRequest([]byte(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	list, _ := content.Violations(r.Validate(nil))
	for _, v := range list {
		fmt.Println(v.Path)
		fmt.Println("   ", v.Text)
	}
	// Output:
	// messages[0].content[0].image_url.url
	//     Invalid 'messages[0].content[0].image_url.url'. Expected a valid URL, but got a value with an invalid format.
	// messages[1].role
	//     Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.
	// temperature
	//     Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.
}
