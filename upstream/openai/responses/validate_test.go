package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// A violationTest is a document and the path, code and beginning of the text of its violations.
type violationTest struct {
	name, body string
	want       []string
}

// withInput returns a request with items.
func withInput(items string) string { return `{"model":"m","input":[` + items + `]}` }

// with returns a request with members.
func with(members string) string { return `{"model":"m","input":"hi",` + members + `}` }

const userHi = `{"role":"user","content":"hi"}`

var violationTests = []violationTest{
	{"not JSON", `{"model":}`, []string{" syntax We could not parse"}},
	{"not an object", `[]`, []string{" type The request body must be a JSON object."}},
	{"nothing", `{}`, []string{"model missing missing_required_parameter", "input missing missing_required_parameter Missing required parameter: 'input'."}},
	{"no items", `{"model":"m","input":[]}`, []string{"input range empty_array"}},
	{"input of a wrong type", `{"model":"m","input":{}}`, []string{"input type invalid_type Invalid type for 'input'"}},
	{"items of wrong types", withInput(`1,{},{"type":7},` + userHi), []string{
		"input[0] type invalid_type", "input[1].type missing missing_required_parameter", "input[2].type type invalid_type"}},
	{"unknown role", withInput(`{"role":"tool","content":"x"}`), []string{
		"input[0].role value invalid_value Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'."}},
	{"message without content", withInput(`{"role":"user"}`), []string{"input[0].content missing missing_required_parameter"}},
	{"part of the assistant in a user message", withInput(`{"role":"user","content":[{"type":"output_text","text":"x"}]}`), []string{
		"input[0].content[0] value invalid_value Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image',"}},
	{"part of the user in an assistant message", withInput(userHi + `,{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), []string{
		"input[1].content[0] value invalid_value Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."}},
	{"image of the developer", withInput(`{"role":"developer","content":[{"type":"input_image","image_url":"https://a.example/x.png"}]},` + userHi), []string{
		"input[0].content[0] value invalid_value"}},
	{"part of Chat Completions", withInput(`{"role":"user","content":[{"type":"text","text":"x"}]}`), []string{"input[0].content[0] value invalid_value Invalid value: 'text'."}},
	{"role after the content", withInput(userHi + `,{"content":[{"type":"output_text","text":"x"}],"role":"assistant"}`), nil},
	{"similar name", withInput(`{"role":"user","content":"x","Content":"y"}`), []string{"input[0].Content unknown unknown_parameter"}},
	{"call without a name", withInput(userHi + `,{"type":"function_call","call_id":"c","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":""}`), []string{
		"input[1].name missing missing_required_parameter"}},
	{"arguments as an object", withInput(userHi + `,{"type":"function_call","call_id":"c","name":"f","arguments":{}},{"type":"function_call_output","call_id":"c","output":""}`), []string{
		"input[1].arguments type invalid_type"}},
	{"call without an output", withInput(userHi + `,{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`), []string{
		"input pairing  No tool output found for function call c."}},
	{"asynchronous call without an output", withInput(userHi + `,{"type":"function_call","call_id":"c","name":"f","arguments":"{}","async":true}`), nil},
	{"output without a call", withInput(userHi + `,{"type":"custom_tool_call_output","call_id":"c","output":"x"}`), []string{
		"input pairing  No tool call found for custom tool call output with call_id c."}},
	{"output before its call", withInput(userHi + `,{"type":"function_call_output","call_id":"c","output":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":""}`), []string{
		"input pairing  No tool call found for function call output with call_id c."}},
	{"outputs in another order", withInput(userHi + `,{"type":"function_call","call_id":"a","name":"f","arguments":""},{"type":"function_call","call_id":"b","name":"f","arguments":""}` +
		`,{"type":"function_call_output","call_id":"b","output":"x"},{"type":"function_call_output","call_id":"a","output":"x"}`), nil},
	{"reasoning without what follows", withInput(userHi + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"},` + userHi), []string{
		"input order  Item 'rs_1' of type 'reasoning' was provided without its required following item."}},
	{"reasoning before a message without an id", withInput(userHi + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"},{"role":"assistant","content":"Hm."},` + userHi), []string{
		"input order  Item 'rs_1' of type 'reasoning' was provided without its required following item."}},
	{"the same without a store", `{"model":"m","store":false,"input":[` + userHi + `,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"},{"role":"assistant","content":"Hm."},` + userHi + `]}`, nil},
	{"reference to an item", withInput(userHi + `,{"type":"item_reference","id":"rs_1"}`), []string{
		"input[1].id unsupported previous_response_not_found Item with id 'rs_1' not found. This server does not store responses: send `store: false`"}},
	{"reference without a type", withInput(userHi + `,{"id":"msg_1"}`), []string{"input[1].id unsupported previous_response_not_found"}},
	{"outputs for a stored response", `{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c","output":"x"}]}`, []string{
		"previous_response_id unsupported previous_response_not_found Previous response with id 'resp_1' not found."}},
	{"prompt only", `{"prompt":{"id":"p"}}`, []string{"prompt unsupported previous_response_not_found"}},
	{"few tokens", with(`"max_output_tokens":1`), []string{
		"max_output_tokens range integer_below_min_value Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead."}},
	{"temperature", with(`"temperature":-1`), []string{
		"temperature range decimal_below_min_value Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead."}},
	{"top_p", with(`"top_p":1.5`), []string{"top_p range decimal_above_max_value"}},
	{"top_logprobs", with(`"top_logprobs":21`), []string{"top_logprobs range integer_above_max_value"}},
	{"max_tool_calls", with(`"max_tool_calls":0`), []string{"max_tool_calls range integer_below_min_value"}},
	{"metadata", with(`"metadata":{"a":1}`), []string{"metadata.a type invalid_type"}},
	{"tool_choice", with(`"tool_choice":"any"`), []string{"tool_choice value invalid_value Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'."}},
	{"tool_choice without a name", with(`"tool_choice":{"type":"function"}`), []string{"tool_choice.name missing missing_required_parameter"}},
	{"no allowed tools", with(`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}`), []string{"tool_choice.tools range empty_array"}},
	{"tool in the form of Chat Completions", with(`"tools":[{"type":"function","function":{"name":"f"}}]`), []string{
		"tools[0].name missing missing_required_parameter Missing required parameter: 'tools[0].name'."}},
	{"name of a tool", with(`"tools":[{"type":"function","name":"a b"}]`), []string{"tools[0].name value invalid_value Invalid 'tools[0].name': string does not match pattern."}},
	{"name in a namespace", with(`"tools":[{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"f"},{"type":"custom","name":"a b"}]}]`), []string{
		"tools[0].tools[1].name value invalid_value"}},
	{"name in an item", withInput(`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"a b"}]},` + userHi), []string{
		"input[0].tools[0].name value invalid_value"}},
	{"namespace in a namespace", with(`"tools":[{"type":"namespace","name":"n","tools":[{"type":"namespace","name":"x","tools":[]}]}]`), []string{
		"tools[0].tools[0].type value invalid_value"}},
	{"grammar", with(`"tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"ebnf"}}]`), []string{
		"tools[0].format.definition missing missing_required_parameter", "tools[0].format.syntax value invalid_value"}},
	{"strict function", with(`"tools":[{"type":"function","name":"f","strict":true,"parameters":{"type":"object","properties":{"a":{},"b":{}},"required":["a"],"additionalProperties":false}}]`), []string{
		"tools[0].parameters value invalid_function_parameters Invalid schema for function 'f': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'b'."}},
	{"format without a schema", with(`"text":{"format":{"type":"json_schema","name":"n"}}`), []string{"text.format.schema missing missing_required_parameter"}},
	{"unknown format", with(`"text":{"format":{"type":"xml"}}`), []string{"text.format.type value invalid_value"}},
	{"image that is none", withInput(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}`), []string{
		"input[0].content[0].image_url media invalid_image_format"}},
	{"image that is not base64", withInput(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,?"}]}`), []string{
		"input[0].content[0].image_url media invalid_value"}},
	{"file in an output", withInput(userHi + `,{"type":"function_call","call_id":"c","name":"f","arguments":""},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"},` +
		`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`), []string{"input[2].output[1].file_data media invalid_value"}},
	{"link that is none", withInput(`{"role":"user","content":[{"type":"input_file","file_url":"file:///etc/passwd"}]}`), []string{"input[0].content[0].file_url value invalid_value"}},
	{"two files", withInput(`{"role":"user","content":[{"type":"input_file","file_url":"https://a.example/x","file_id":"f"}]}`), []string{
		"input[0].content[0].file_id conflict mutually_exclusive_parameters"}},
	{"no file", withInput(`{"role":"user","content":[{"type":"input_image","image_url":null}]}`), []string{"input[0].content[0].image_url missing missing_required_parameter"}},
	{"audio", withInput(`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"UklGRiQAAABXQVZFZm10IA==","format":"wav"}}]}`), nil},
	{"damaged summary", withInput(`{"type":"compaction","encrypted_content":"pw1.summary.0000000000000000.sx"},` + userHi), []string{
		"input[0].encrypted_content value invalid_encrypted_content"}},
	{"unknown members, items, parts and tools", `{"model":"m","new":1,"tools":[{"type":"acme:x"}],"input":[{"type":"acme:item","a":1},{"role":"user","content":[{"type":"acme:part"}],"new":1}]}`, nil},
}

func TestViolations(t *testing.T) {
	for _, tt := range violationTests {
		_, err := decodeRequest(tt.body, nil)
		list, _ := content.Violations(err)
		var got []string
		for i, v := range list {
			s := v.Path + " " + string(v.Code) + " " + v.Vendor + " " + v.Text
			if v.Code == content.CodeSyntax || v.Path == "" {
				s = v.Path + " " + string(v.Code) + " " + v.Text
			}
			if i < len(tt.want) && strings.HasPrefix(s, tt.want[i]) {
				s = tt.want[i]
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestStrict checks what only strict validation refuses.
func TestStrict(t *testing.T) {
	for _, tt := range []struct{ body, path string }{
		{with(`"new":1`), "new"},
		{with(`"service_tier":"new"`), "service_tier"},
		{with(`"tools":[{"type":"acme:x"}]`), "tools[0].type"},
		{with(`"tool_choice":"required"`), "tool_choice"},
		{with(`"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"g"}`), "tool_choice"},
		{withInput(`{"type":"acme:item"},` + userHi), "input[0].type"},
		{withInput(`{"role":"user","content":[{"type":"acme:part"}]}`), "input[0].content[0]"},
		{withInput(userHi + `,{"type":"function_call","call_id":"` + strings.Repeat("c", 65) + `","name":"f","arguments":"","async":true}`), "input[1].call_id"},
	} {
		if _, err := decodeRequest(tt.body, nil); err != nil {
			t.Errorf("%s: %v", tt.body, err)
		}
		_, err := decodeRequest(tt.body, &ValidateOptions{Strict: true})
		if list, _ := content.Violations(err); len(list) != 1 || list[0].Path != tt.path {
			t.Errorf("strict %s: %v, want one at %s", tt.body, err, tt.path)
		}
	}
}

// Requests that were not parsed do not cause a panic.
func TestNotParsed(t *testing.T) {
	message := func(parts ...content.Part) []Item { return []Item{{Type: "message", Role: "user", Parts: parts}} }
	for _, r := range []Request{
		Request{Model: "m", Input: message((*content.Image)(nil))},
		Request{Model: "m", Input: message(&content.Unknown{Format: "messages"})},
		Request{Model: "m", Input: message(&content.Image{})},
		Request{Model: "m", Input: []Item{{}}},
		Request{Model: "m", Input: []Item{{Type: "reasoning"}}},
		Request{Model: "m", Input: []Item{{Type: "function_call", Parts: []content.Part{(*content.ToolUse)(nil)}}}},
	} {
		r.Upstream()
		_ = r.Validate(&ValidateOptions{Strict: true})
	}
}
