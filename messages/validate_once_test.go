package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/formattest"
)

// faultless are documents without a fault that have all the unions of the format.
var faultless = []string{
	`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}},
		{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhDQAHAAAAAA=="}},
		{"type":"image","source":{"type":"url","url":"https://a.example/b"}},
		{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t","context":"c","citations":{"enabled":false}},
		{"type":"document","source":{"type":"content","content":[{"type":"text","text":"e"}]}}]}]}`,
	`{"model":"m","max_tokens":9000,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"a"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"AAAA"},{"type":"redacted_thinking","data":"AAAA"},
		{"type":"text","text":"b"},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":false,"content":[{"type":"text","text":"r"},
		{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhDQAHAAAAAA=="}}]}]}],
		"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}],
		"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"thinking":{"type":"enabled","budget_tokens":2000}}`,
	`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"x"}],
		"citations":{"enabled":false}}]},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},
		{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"t","url":"https://a.example","encrypted_content":"AAAA"}]},
		{"type":"text","text":"c","citations":[{"type":"char_location","cited_text":"a","document_index":0,"document_title":"t","start_char_index":0,"end_char_index":1}]}]},
		{"role":"user","content":"b"}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":2}],
		"metadata":{"user_id":"u"},"stop_sequences":["a"],"service_tier":"auto","temperature":1,"output_config":{"effort":"low"}}`,
	`{"model":"m","max_tokens":9,"stream":true,"top_k":2,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f","input_schema":{"type":"object"}}],
		"tool_choice":{"type":"tool","name":"f"},"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}}}`,
}

// A member or element of a wrong type is told once: no fault follows from it.
func TestWrongTypesAreToldOnce(t *testing.T) {
	formattest.WrongTypesAreToldOnce(t, faultless, func(body string) (validate func() error, parsed error) {
		r, err := ParseRequestString(body)
		return func() error { return r.Validate(nil) }, err
	})
}
