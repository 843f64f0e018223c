package responses

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
)

// everything has each member of a request that Messages does not have, besides those that it has.
const everything = `{"model":"m","instructions":"i","input":[
{"type":"message","role":"developer","content":"Be brief.","new":1},
{"type":"message","id":"msg_1","status":"completed","role":"user","new":1,"content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"},"new":1},
 {"type":"input_image","image_url":"https://example.com/a.png","detail":"low","new":1},
 {"type":"input_file","filename":"a.pdf","file_url":"https://example.com/a.pdf","detail":"low"},{"type":"new","x":1}]},
{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"g","parameters":{"type":"object"},"new":1}]},
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"gAAA","status":"completed","new":1},
{"type":"message","id":"msg_2","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"t","annotations":[{"type":"file_citation","file_id":"f","filename":"a.pdf","index":0}],"logprobs":[{"token":"t"}]},
 {"type":"refusal","refusal":"no"}]},
{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
{"type":"function_call","id":"fc_1","call_id":"1","name":"f","namespace":"n","arguments":"{","status":"completed","caller":{"type":"direct"}},
{"type":"custom_tool_call","id":"ctc_1","call_id":"2","name":"c","input":"raw"},
{"type":"function_call_output","id":"fco_1","call_id":"1","output":"x","new":1},
{"type":"custom_tool_call_output","call_id":"2","output":[{"type":"input_text","text":"y"}]},
{"type":"acme:item","id":"x"}],
"max_output_tokens":99,"temperature":0.5,"top_p":0.5,"presence_penalty":1,"frequency_penalty":1,
"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false,"defer_loading":true,"async":true,"allowed_callers":["x"],"output_schema":{"type":"object"},"new":1},
 {"type":"namespace","name":"n","description":"d","new":1,"tools":[{"type":"custom","name":"c","format":{"type":"grammar","syntax":"lark","definition":"start: \"x\""}}]},
 {"type":"tool_search","execution":"client"},{"type":"new"}],
"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"custom","name":"c"}],"new":1},"parallel_tool_calls":false,
"reasoning":{"effort":"high","summary":"auto","context":"current_turn","mode":"pro","new":1},
"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","description":"d","strict":true,"schema":{"type":"object"},"new":1},"new":1},
"include":["reasoning.encrypted_content","message.output_text.logprobs"],"store":true,"max_tool_calls":3,"top_logprobs":2,
"safety_identifier":"s","user":"u","service_tier":"flex","stream":true,"stream_options":{"include_obfuscation":true},
"metadata":{"a":"b"},"prompt_cache_key":"k","prompt_cache_options":{"mode":"implicit"},"prompt_cache_retention":"24h",
"truncation":"auto","context_management":[{"type":"compaction"}],"moderation":{"model":"m"},"client_metadata":{"a":"b"},"new":1}`

// TestNothingSilent checks that each member that Messages does not have is reported at its path in
// the document of the client.
func TestNothingSilent(t *testing.T) {
	n, losses, err := DecodeRequest([]byte(everything), nil)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	_, losses, err = messages.RequestFromUpstream(n)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, l := range lossplaces.Of(losses) {
		got[l.Severity.String()+" "+n.Path(l.Path)] = true
	}
	for _, want := range []string{
		"hint input[0].content", // its new member
		"hint input[1]",
		"hint input[1].content[0]",
		"hint input[1].content[1]",
		"hint input[1].content[2]",
		"dropped input[1].content[3]",
		"hint input[3]",
		"hint input[4].content[0]",
		"hint input[5]",
		"hint input[8]",
		"dropped input[10]",
		"dropped presence_penalty", "dropped frequency_penalty",
		"dropped tools[0].new", "degraded tools[0].async", "degraded tools[0].allowed_callers", "hint tools[0].output_schema",
		"degraded tools[1].description", "dropped tools[1].new", "degraded tools[1].tools[0].format", "hint tools[2]", "dropped tools[3]",
		"degraded tool_choice", "dropped tool_choice.new", // the tool of input[2] is not allowed
		"degraded reasoning.context", "dropped reasoning.mode", "dropped reasoning.new",
		"dropped text.new", "dropped text.format.new",
		"hint include", "hint store", "dropped max_tool_calls", "dropped top_logprobs",
		"hint user", "hint service_tier", "hint stream_options", "hint metadata",
		"hint prompt_cache_key", "hint prompt_cache_options", "hint prompt_cache_retention",
		"degraded truncation", "dropped context_management", "degraded moderation", "hint client_metadata", "dropped new",
	} {
		if !got[want] {
			t.Errorf("no %s", want)
		}
		delete(got, want)
	}
	for more := range got {
		t.Logf("also %s", more)
	}
}

// TestWrongTypes checks that values of wrong types are reported once, at their paths.
func TestWrongTypes(t *testing.T) {
	documents := []string{everything}
	for _, body := range codexBodies {
		documents = append(documents, body)
	}
	formattest.CheckWrongTypes(t, documents, func(body string) (validate func() error, parsed error) {
		r, err := parseRequest(body, content.Limits{})
		return func() error { return r.Validate(nil) }, err
	})
}
