package responses

import (
	"slices"
	"testing"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestTexts checks that no text of a document slips past a guard. The first document has the items,
// the second the settings of the format.
func TestTexts(t *testing.T) {
	formattest.CheckTexts(t, slices.Values([]string{
		`{"model":"m","x_new":{"a":["b"]},"input":[
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"a","x_new":"b"}],"x_other":"c"},
			{"role":"user","content":[
				{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},
				{"type":"input_image","image_url":"https://files.example/a.png","detail":"low"},
				{"type":"input_file","file_data":"data:application/pdf;base64,JVBERi0=","filename":"a.pdf"},
				{"type":"input_file","file_url":"https://files.example/a.pdf"},
				{"type":"input_new","a":{"b":"c"}}]},
			{"type":"message","role":"assistant","id":"msg_1","status":"completed","phase":"commentary","content":[
				{"type":"output_text","text":"a"},
				{"type":"refusal","refusal":"a"}]},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}],"encrypted_content":"c"},
			{"type":"function_call","call_id":"call_1","name":"f","namespace":"n","arguments":"{\"a\":\"\\u0062\"}","x_new":"c"},
			{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://files.example/b.png"}]},
			{"type":"custom_tool_call","call_id":"call_2","name":"g","input":"a"},
			{"type":"custom_tool_call_output","call_id":"call_2","output":"a"},
			{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"a"}},
			{"type":"additional_tools","tools":[{"type":"function","name":"h","description":"a"}]},
			{"type":"new_item","a":["b"]},
			{"role":"user","content":"a"}]}`,
		`{"model":"m","input":"a","instructions":"b","metadata":{"a":"b"},"user":"u","safety_identifier":"s","prompt_cache_key":"k",
			"service_tier":"auto","truncation":"auto","include":["reasoning.encrypted_content"],
			"reasoning":{"effort":"low","summary":"auto","x_new":"a"},
			"text":{"format":{"type":"json_schema","name":"n","description":"d","schema":{"type":"object","properties":{"a":{"description":"b","enum":[7]}}}},"verbosity":"low"},
			"tool_choice":{"type":"function","name":"f"},
			"tools":[
				{"type":"function","name":"f","description":"a","parameters":{"type":"object","properties":{"a":{"description":"b"}}},"x_new":"c"},
				{"type":"custom","name":"g","description":"a","format":{"type":"grammar","syntax":"lark","definition":"start: /a/"}},
				{"type":"web_search","filters":{"allowed_domains":["a.example"]},"user_location":{"type":"approximate","city":"b"}},
				{"type":"mcp","server_label":"a","server_url":"https://a.example","headers":{"a":"b"}},
				{"type":"new_tool","a":"b"}]}`,
	}), func(document string) (*upstream.Request, error) {
		r, _, err := DecodeRequest([]byte(document), nil)
		return r, err
	}, "model", "id", "status", "phase", "encrypted_content", "mode", "effort", "summary", "verbosity", "service_tier")
}
