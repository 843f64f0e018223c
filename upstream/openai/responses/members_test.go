package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// The ways in which a member of a request is treated.
const (
	typed   = "typed"   // a neutral field represents it
	carried = "carried" // it is in the Extra, so that other formats report it
	echoed  = "echoed"  // only the response needs it
	refused = "refused"
)

// memberTests have each member of the body of the vendor's API and of Open Responses.
var memberTests = []struct{ name, value, want string }{
	{"model", `"other"`, typed},
	{"input", `[{"role":"user","content":"other"}]`, typed},
	{"instructions", `"Be brief."`, typed},
	{"tools", `[{"type":"function","name":"f","parameters":{},"strict":false}]`, typed},
	{"tool_choice", `"required"`, typed},
	{"parallel_tool_calls", `false`, typed},
	{"parallel_tool_calls", `true`, echoed}, // the default
	{"max_output_tokens", `100`, typed},
	{"temperature", `0.5`, typed},
	{"top_p", `0.5`, typed},
	{"presence_penalty", `0.5`, typed},
	{"frequency_penalty", `0.5`, typed},
	{"reasoning", `{"effort":"low"}`, typed},
	{"reasoning", `{"effort":"none"}`, typed},
	{"reasoning", `{"summary":"auto"}`, typed},
	{"reasoning", `{"generate_summary":"concise"}`, typed},
	{"reasoning", `{"context":"all_turns"}`, carried},
	{"reasoning", `{"mode":"pro"}`, carried},
	{"text", `{"verbosity":"low"}`, typed},
	{"text", `{"format":{"type":"json_object"}}`, typed},
	{"text", `{"format":{"type":"json_schema","name":"n","schema":{},"strict":true,"description":"d"}}`, typed},
	{"text", `{"format":{"type":"text"}}`, echoed},
	{"text", `{"new":1}`, carried},
	{"user", `"u"`, typed},
	{"safety_identifier", `"u"`, typed},
	{"service_tier", `"flex"`, typed},
	{"stream", `true`, typed},
	{"include", `["reasoning.encrypted_content"]`, echoed},
	{"include", `["message.output_text.logprobs"]`, carried},
	{"store", `true`, carried},
	{"store", `false`, echoed},
	{"max_tool_calls", `3`, carried},
	{"top_logprobs", `3`, carried},
	{"metadata", `{"a":"b"}`, carried},
	{"prompt_cache_key", `"k"`, carried},
	{"prompt_cache_retention", `"24h"`, carried},
	{"prompt_cache_options", `{"mode":"explicit","ttl":"30m"}`, carried},
	{"truncation", `"auto"`, carried},
	{"truncation", `"disabled"`, echoed}, // the default
	{"stream_options", `{"include_obfuscation":true}`, carried},
	{"stream_options", `{"include_obfuscation":false}`, echoed}, // no response is padded
	{"context_management", `[{"type":"compaction","compact_threshold":1000}]`, carried},
	{"moderation", `{"model":"m"}`, carried},
	{"client_metadata", `{"a":"b"}`, carried},
	{"access_programs", `["p"]`, carried},
	{"image", `{"context_compression":"auto"}`, carried},
	{"background", `false`, echoed},
	{"background", `true`, refused},
	{"previous_response_id", `"resp_1"`, refused},
	{"conversation", `"conv_1"`, refused},
	{"conversation", `{"id":"conv_1"}`, refused},
	{"prompt", `{"id":"pmpt_1","version":"2"}`, refused},
	{"new_member", `1`, carried},
}

// advice is what the texts of refusals suggest.
var advice = map[string]string{
	"previous_response_id": "send `store: false`, and all items", "conversation": "send all items of the conversation as `input`",
	"prompt": "send their text as `instructions` and `input`", "background": "leave out `background`, and stream",
}

// TestMembers checks that no member of a request is dropped without a report.
func TestMembers(t *testing.T) {
	const base = `{"model":"m","input":"hi"}`
	plain, _, err := DecodeRequest([]byte(base), nil)
	if err != nil {
		t.Fatal(err)
	}
	plain.Wire = nil
	for _, tt := range memberTests {
		member := `"` + tt.name + `":` + tt.value
		body := strings.Replace(base, "{", "{"+member+",", 1)
		switch tt.name {
		case "model":
			body = `{"input":"hi",` + member + `}`
		case "input":
			body = `{"model":"m",` + member + `}`
		}
		n, _, err := DecodeRequest([]byte(body), nil)
		if tt.want == refused {
			list, _ := content.Violations(err)
			if len(list) != 1 || list[0].Path != tt.name || list[0].Vendor != "previous_response_not_found" ||
				!strings.Contains(list[0].Text, advice[tt.name]) {
				t.Errorf("%s: %v", member, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", member, err)
			continue
		}
		if n.Wire == nil {
			t.Errorf("%s: there is no document", member)
		}
		json, isCarried := n.Extra.Get(tt.name)
		n.Wire, n.Extra = nil, nil
		got := echoed
		switch {
		case isCarried:
			got = carried
			if json != tt.value {
				t.Errorf("%s is carried as %s", member, json)
			}
		case cmp.Diff(plain, n) != "":
			got = typed
		}
		if got != tt.want {
			t.Errorf("%s is %s, want %s", member, got, tt.want)
		}
		if body = strings.Replace(body, member, `"`+tt.name+`":null`, 1); tt.name == "model" || tt.name == "input" {
			continue
		}
		if n, _, err := DecodeRequest([]byte(body), nil); err != nil || tt.name != "new_member" && n.Extra != nil {
			t.Errorf("null as %s: %v, %v", tt.name, n, err)
		}
	}
}

// TestSettings checks the neutral form of settings.
func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		members string
		want    upstream.Request
	}{
		{`"reasoning":{"effort":"none","summary":"auto"}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}}},
		{`"reasoning":{"effort":"high"}`, upstream.Request{Thinking: upstream.Thinking{Effort: "high", Display: "omitted"}}},
		{`"reasoning":{"effort":"low","summary":"detailed"}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "low", Display: "detailed"}}},
		{`"reasoning":{"summary":"auto"}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "summarized"}}},
		{`"reasoning":{"effort":null,"summary":null}`, upstream.Request{}},
		{`"text":{"format":{"type":"json_schema","name":"n","description":"d","schema":{"a":1},"strict":false},"verbosity":"high"}`,
			upstream.Request{Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"a":1}`},
				Name: "n", Description: "d", Strict: new(false), Verbosity: "high"}}},
		{`"text":{}`, upstream.Request{}},
		{`"safety_identifier":"s","user":"u"`, upstream.Request{UserID: "s", Extra: &content.Extra{Format: Format, JSON: `{"user":"u"}`}}},
		{`"tool_choice":"auto"`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAuto}}},
		{`"tool_choice":{"type":"function","name":"f"}`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}}},
		{`"tool_choice":{"type":"custom","name":"c"}`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"c"}}}},
		{`"tool_choice":{"type":"web_search_preview"}`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search_preview"}}}},
		{`"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`,
			upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f", "web_search"}}}},
		{`"tool_choice":{"mode":"required","tools":[{"name":"f","type":"function"}],"type":"allowed_tools"},"parallel_tool_calls":false`,
			upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}, NoParallel: true}}},
		{`"tool_choice":{"type":"mcp","server_label":"s"}`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"mcp"},
			Extra: &content.Extra{Format: Format, JSON: `{"server_label":"s"}`}}}},
	} {
		n, _, err := DecodeRequest([]byte(`{"model":"m","input":"hi",`+tt.members+`}`), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.members, err)
			continue
		}
		n.Wire, n.Model, n.Turns = nil, "", nil
		tt.want.Defaults = upstream.Defaults{Format: Format, Display: "omitted", LooseOutput: true}
		if diff := cmp.Diff(&tt.want, n); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.members, diff)
		}
	}
}

// TestTools checks the neutral form of tools.
func TestTools(t *testing.T) {
	raw := func(kind, json string) content.Tool { return content.Tool{Kind: kind, Format: Format, Raw: json} }
	for json, want := range map[string][]content.Tool{
		`{"type":"function","name":"f","description":null,"parameters":null,"strict":null}`: {{Name: "f"}},
		`{"type":"function","name":"f","parameters":{"type":"object"},"output_schema":{"x":1},"defer_loading":true,"async":false}`: {
			{Name: "f", Input: content.Schema{JSON: `{"type":"object"}`}, Output: content.Schema{JSON: `{"x":1}`},
				Deferred: true}},
		`{"type":"function","name":"f","strict":true}`:          {{Name: "f", Strict: new(true)}},
		`{"type":"function","name":"f","strict":false}`:         {{Name: "f", Strict: new(false)}},
		`{"type":"custom","name":"c","format":{"type":"text"}}`: {{Name: "c", Freeform: true}},
		`{"type":"custom","name":"c","description":"d","format":{"type":"grammar","syntax":"regex","definition":"a+"}}`: {
			{Name: "c", Description: "d", Freeform: true, Grammar: &content.Grammar{Syntax: "regex", Definition: "a+"}}},
		`{"type":"web_search","search_context_size":"low"}`:  {raw("web_search", `{"type":"web_search","search_context_size":"low"}`)},
		`{"type":"mcp","server_label":"s","server_url":"u"}`: {raw("mcp", `{"type":"mcp","server_label":"s","server_url":"u"}`)},
		`{"type":"acme:x","a":1}`:                            {raw("acme:x", `{"type":"acme:x","a":1}`)},
		`{"type":"namespace","name":"n","tools":[{"type":"web_search"},{"type":"custom","name":"c"}]}`: {
			{Kind: "web_search", Format: Format, Raw: `{"type":"web_search"}`, Namespace: "n"}, {Name: "c", Freeform: true, Namespace: "n"}},
	} {
		n, _, err := DecodeRequest([]byte(`{"model":"m","input":"hi","tools":[`+json+`]}`), nil)
		if err != nil {
			t.Errorf("%s: %v", json, err)
			continue
		}
		if diff := cmp.Diff(want, n.Tools); diff != "" {
			t.Errorf("%s (-want +got):\n%s", json, diff)
		}
	}
}
