package chatcompletions

import (
	"testing"

	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
)

// everything has each member of a request that Messages does not have, besides those that it has.
const everything = `{"model":"m","messages":[
{"role":"developer","name":"boss","content":"Be brief."},
{"role":"user","name":"ann","new":1,"content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"},"new":1},
 {"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low","new":1}},{"type":"new","x":1}]},
{"role":"assistant","content":"b","reasoning_content":"c","audio":{"id":"a1"},"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{"}}]},
{"role":"tool","tool_call_id":"1","name":"f","new":1,"content":"x"}],
"max_completion_tokens":9,"temperature":0.5,"top_p":0.5,"presence_penalty":1,"frequency_penalty":1,"seed":1,"n":2,"stop":"s",
"tools":[{"type":"function","new":1,"function":{"name":"f","parameters":{"type":"object"},"new":1}},{"type":"new"}],
"tool_choice":{"type":"function","new":1,"function":{"name":"f","new":1}},"parallel_tool_calls":false,
"response_format":{"type":"json_schema","new":1,"json_schema":{"name":"n","schema":{"type":"object"},"new":1}},
"modalities":["text","audio"],"audio":{"format":"wav","voice":"alloy"},"reasoning_effort":"high","verbosity":"low",
"safety_identifier":"s","user":"u","service_tier":"flex","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":true,"new":1},
"logprobs":true,"top_logprobs":2,"logit_bias":{"5":1},"metadata":{"a":"b"},"store":true,"prediction":{"type":"content","content":"p"},
"web_search_options":{},"prompt_cache_key":"k","prompt_cache_options":{"mode":"implicit"},"prompt_cache_retention":"24h",
"moderation":{"model":"m"},"new":1}`

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
		"hint messages[0].content", // the name of its author
		"hint messages[1]",
		"hint messages[1].content[0]",
		"hint messages[1].content[1]",
		"dropped messages[1].content[2]",
		"degraded messages[2].audio",
		"hint messages[2].reasoning_content",
		"degraded messages[2].tool_calls[0].function.arguments",
		"hint messages[3]",
		"dropped presence_penalty", "dropped frequency_penalty", "dropped seed", "dropped n",
		"dropped tools[0]", "dropped tools[1]", "dropped tool_choice",
		"dropped response_format.new", "dropped response_format.json_schema.new",
		"dropped modalities", "dropped audio",
		"hint user", "hint service_tier", "hint stream_options",
		"dropped logprobs", "dropped top_logprobs", "dropped logit_bias",
		"hint metadata", "hint store", "hint prediction", "degraded web_search_options",
		"hint prompt_cache_key", "hint prompt_cache_options", "hint prompt_cache_retention",
		"degraded moderation", "dropped new",
	} {
		if !got[want] {
			t.Errorf("not reported: %s", want)
		}
	}
}
