package chatcompletions

import (
	"slices"
	"testing"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestTexts checks that no text of a document slips past a guard. The first document has the messages,
// the others the settings of the format.
func TestTexts(t *testing.T) {
	formattest.CheckTexts(t, slices.Values([]string{
		`{"model":"m","x_new":{"a":["b"]},"messages":[
			{"role":"system","content":"a","name":"n"},
			{"role":"developer","content":[{"type":"text","text":"a","x_new":"b"}],"x_new":"c"},
			{"role":"user","name":"n","content":[
				{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},
				{"type":"image_url","image_url":{"url":"https://files.example/a.png","detail":"low"}},
				{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},
				{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0=","filename":"a.pdf"}},
				{"type":"new_part","a":{"b":"c"}}]},
			{"role":"assistant","content":"a","refusal":"b","reasoning_content":"c","name":"n","audio":{"id":"audio_1"},
				"tool_calls":[
					{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\u0062\"}","x_new":"c"},"x_new":"d"},
					{"id":"call_2","type":"custom","custom":{"name":"g","input":"a"}}]},
			{"role":"tool","tool_call_id":"call_1","content":"a"},
			{"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"a"}]},
			{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},
			{"role":"function","name":"f","content":"a"},
			{"role":"user","content":"a"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"metadata":{"a":"b"},"user":"u","safety_identifier":"s","prompt_cache_key":"k",
			"service_tier":"auto","reasoning_effort":"low","verbosity":"low","stop":["a","b"],"modalities":["text","audio"],
			"audio":{"voice":"alloy","format":"wav"},"logit_bias":{"5":1},"web_search_options":{"user_location":{"type":"approximate","approximate":{"city":"b"}}},
			"prediction":{"type":"content","content":"a"},"stream":true,"stream_options":{"include_usage":true,"x_new":"a"},
			"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"type":"object","properties":{"a":{"description":"b"}}}}},
			"tool_choice":{"type":"function","function":{"name":"f"}},
			"tools":[
				{"type":"function","function":{"name":"f","description":"a","parameters":{"type":"object","properties":{"a":{"description":"b"}}},"x_new":"c"}},
				{"type":"custom","custom":{"name":"g","description":"a","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: /a/"}}}},
				{"type":"new_tool","a":"b"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"a"}],"stop":"a","functions":[{"name":"f","description":"a","parameters":{"type":"object"}}],
			"function_call":{"name":"f"}}`,
	}), func(document string) (*upstream.Request, error) {
		r, _, err := DecodeRequest([]byte(document), nil)
		return r, err
	}, "model", "format", "modalities", "reasoning_effort", "verbosity", "service_tier", "syntax")
}
