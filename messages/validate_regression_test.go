package messages

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
)

// Values that cannot be parsed are reported once and cause no other violations.
func TestNoFollowUps(t *testing.T) {
	talkOf := func(messages string) string {
		return `{"model":"m","max_tokens":9,"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[` + messages + `]}`
	}
	const (
		hello  = `{"role":"user","content":"a"},`
		result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":"x"}]}`
		call   = `{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"t","input":{}}]},`
	)
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"missing text", withBlocks(`{"type":"text"}`), []string{"messages.0.content.0.text.text: Field required"}},
		{"text of wrong type", withBlocks(`{"type":"text","text":5}`),
			[]string{"messages.0.content.0.text.text: Input should be a valid string"}},
		{"text of wrong type and empty text", withBlocks(`{"type":"text","text":5},{"type":"text","text":""}`),
			[]string{"messages.0.content.0.text.text: Input should be a valid string", "messages: text content blocks must be non-empty"}},
		{"null text with cache_control", withBlocks(`{"type":"text","text":null,"cache_control":{"type":"ephemeral"}}`),
			[]string{"messages.0.content.0.text.text: Input should be a valid string"}},
		{"system", with(`"system":[{"type":"text","cache_control":{"type":"ephemeral"}}]`), []string{"system.0.text: Field required"}},
		{"missing text in a result", inResultOf(`{"type":"text"}`),
			[]string{"messages.2.content.0.tool_result.content.0.text.text: Field required"}},
		{"tools not a list", strings.Replace(talkOf(hello+call+result), `[{"name":"t","input_schema":{"type":"object"}}]`, `5`, 1),
			[]string{"tools: Input should be a valid list"}},
		{"tool choice, tools not a list", with(`"tools":5,"tool_choice":{"type":"any"}`), []string{"tools: Input should be a valid list"}},
		{"result after an invalid message", talkOf(hello + `5,` + result), []string{"messages.1: Input should be an object"}},
		{"result after invalid content", talkOf(hello + `{"role":"assistant","content":5},` + result),
			[]string{"messages.1.content: Input should be a valid list"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := ParseRequest([]byte(tt.body))
			list, _ := content.Violations(r.Validate(nil))
			var got []string
			for _, e := range list {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	r, _ := ParseRequest([]byte(withBlocks(`{"type":"text","text":"a"},` + many(`{"type":"text","text":5}`, 200))))
	list, more := content.Violations(r.Validate(nil))
	if len(list)+more != 200 {
		t.Errorf("%d violations for 200 blocks", len(list)+more)
	}
	// The same with Strict.
	r, _ = ParseRequest([]byte(talkOf(hello + `{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":5}]}`)))
	list, _ = content.Violations(r.Validate(&ValidateOptions{Strict: true}))
	if len(list) != 1 {
		t.Errorf("signature of wrong type: %v", list)
	}
}

// Paths of violations exist in the document.
func TestPathsOfPlainStrings(t *testing.T) {
	for _, message := range []string{
		`{"role":"user","content":""}`, `{"role":"user","content":" "}`, `{"role":"x","content":"a"}`, `{"role":"assistant","content":"a "}`,
		`{"role":"system","content":"a","clear_at":"next_user_message","output_config":{}}`,
		`{"role":"user","content":[{"type":"document","source":{"type":"content","content":" "}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":"a"}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":""}]}`,
	} {
		for _, rules := range []*ValidateOptions{nil, {Strict: true}, {Version: version2026}} {
			r, _ := ParseRequest([]byte(`{"model":"m","max_tokens":9,"messages":[` + message + `]}`))
			list, _ := content.Violations(r.Validate(rules))
			for _, e := range list {
				asString := !strings.Contains(message, `"content":[`)
				if asString && strings.HasPrefix(e.Path, "messages.0.content.") || strings.Contains(e.Path[min(len(e.Path), 18):], ".content.0") {
					t.Errorf("%s: %v", message, e)
				}
			}
		}
	}
}

// Default values that clients write explicitly are dropped and cause no losses.
func TestExplicitDefaults(t *testing.T) {
	for _, block := range []string{
		`{"type":"tool_use","id":"i","name":"t","input":{},"caller":{"type":"direct"}}`,
		`{"type":"tool_use","id":"i","name":"t","input":{},"caller":null,"toolset_name":null,"cache_control":null}`,
		`{"type":"text","text":"a","citations":null}`,
		`{"type":"text","text":"a","citations":[]}`,
		`{"type":"server_tool_use","id":"i","name":"web_search","input":{},"caller":{"type":"direct"}}`,
		`{"type":"web_search_tool_result","tool_use_id":"i","content":[],"caller":{"type":"direct"}}`,
		`{"type":"mcp_tool_result","tool_use_id":"i","content":"","is_error":false}`,
	} {
		body := `{"model":"m","max_tokens":9,"tools":[{"type":"custom","name":"t","input_schema":{"type":"object"},"description":null,` +
			`"strict":null,"defer_loading":false,"allowed_callers":["direct"],"input_examples":null,"eager_input_streaming":null,` +
			`"cache_control":{"type":"ephemeral","ttl":null}}],"thinking":{"type":"adaptive","display":null,"block_binding":null},` +
			`"metadata":{"user_id":null},"output_config":{"effort":null,"format":null,"task_budget":null},"speed":null,` +
			`"messages":[{"role":"user","content":[{"type":"document","title":null,"context":null,"citations":null,"source":` +
			`{"type":"text","media_type":"text/plain","data":"d"}},{"type":"document","citations":{"enabled":false},"source":` +
			`{"type":"text","media_type":"text/plain","data":"d"}},{"type":"image","transformations":null,"source":` +
			`{"type":"url","url":"https://a.example/"}}]},{"role":"assistant","content":[` + block + `]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","is_error":null,"toolset_name":null}]},` +
			`{"role":"system","content":"s","clear_at":null,"output_config":null}]}`
		r := mustParse(t, body)
		n := r.Upstream()
		extras := []*content.Extra{n.Extra, n.Thinking.Extra, n.Output.Extra, n.Choice.Extra, n.Tools[0].Extra, n.Tools[0].Cache.Extra}
		for _, turn := range n.Turns {
			extras = append(extras, turn.Extra)
			for _, p := range turn.Parts {
				extras = append(extras, partfield.ExtraOf(p))
			}
		}
		if i := slices.IndexFunc(extras, func(x *content.Extra) bool { return x != nil }); i >= 0 {
			t.Errorf("%s: other formats get %s", block, extras[i].JSON)
		}
	}
	// Other values are kept.
	for _, block := range []string{
		`{"type":"tool_use","id":"i","name":"t","input":{},"caller":{"type":"code_execution_20250825","tool_id":"x"}}`,
		`{"type":"tool_use","id":"i","name":"t","input":{},"caller":{"type":"direct","x":1}}`,
		`{"type":"tool_use","id":"i","name":"t","input":{},"x":null}`,
		`{"type":"mcp_tool_result","tool_use_id":"i","content":"","is_error":true}`,
	} {
		r := mustParse(t, withBlocks(block))
		if partfield.ExtraOf(r.Messages[0].Parts[0]) == nil {
			t.Errorf("%s: a member was dropped", block)
		}
	}
}
