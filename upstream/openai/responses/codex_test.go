package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/upstream"
)

// The requests of Codex CLI 0.169.0, with shorter texts.
const (
	// codexStart begins all of them.
	codexStart = `"stream":true,"store":false,"include":["reasoning.encrypted_content"],"tool_choice":"auto","prompt_cache_key":"019c-thread",` +
		`"client_metadata":{"session_id":"s1","turn_id":"t1"},`

	codexInput = `{"type":"message","id":"msg_1","role":"developer","content":[{"type":"input_text","text":"You are Codex."}]},` +
		`{"type":"message","id":"msg_2","role":"developer","content":[{"type":"input_text","text":"Sandbox: read-only."}]},` +
		`{"type":"message","id":"msg_3","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]},` +
		`{"type":"message","id":"msg_4","role":"user","content":[{"type":"input_text","text":"Fix it."},` +
		`{"type":"input_image","image_url":"data:image/png;base64,` + onePixel + `","detail":"original"}]}`

	codexFunctions = `{"type":"function","name":"exec_command","description":"Runs a command.","strict":false,"parameters":{"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"]}},` +
		`{"type":"function","name":"get_goal","description":"Gets the goal.","strict":false,"parameters":{"type":"object","properties":{}}}`

	codexUnknownModel = `{"model":"claude-x",` + codexStart + `"parallel_tool_calls":true,"reasoning":{"summary":"auto"},"tools":[` + codexFunctions +
		`,{"type":"namespace","name":"multi_agent_v1","description":"Agents.","tools":[{"type":"function","name":"spawn","description":"Starts one.","strict":false,"parameters":{"type":"object"}}]}` +
		`,{"type":"web_search","external_web_access":true}],"input":[` + codexInput + `]}`

	codexKnownModel = `{"model":"gpt-5.5",` + codexStart + `"parallel_tool_calls":true,"reasoning":{"effort":"medium"},"text":{"verbosity":"low"},"tools":[` + codexFunctions +
		`,{"type":"custom","name":"apply_patch","description":"Edits files.","format":{"type":"grammar","syntax":"lark","definition":"start: \"x\""}}` +
		`,{"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object","properties":{}}}` +
		`,{"type":"web_search","external_web_access":true,"search_content_types":["text"]}],"input":[` + codexInput + `]}`

	codexLite = `{"model":"gpt-6.2-sol",` + codexStart + `"parallel_tool_calls":false,"reasoning":{"effort":"low","context":"all_turns"},"text":{"verbosity":"low"},"input":[` +
		`{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","description":"The tools.","tools":[` +
		`{"type":"custom","name":"exec","description":"Runs code.","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}},` +
		`{"type":"function","name":"wait","strict":false,"parameters":{"type":"object","properties":{"cell":{"type":"string","encrypted":true}}}}]},` +
		`{"type":"namespace","name":"clock","description":"Time.","tools":[{"type":"function","name":"now","strict":false,"parameters":{"type":"object"}}]}]},` + codexInput + `]}`

	codexSecondTurn = `{"model":"gpt-5.5",` + codexStart + `"tools":[` + codexFunctions + `,{"type":"custom","name":"apply_patch"}],"input":[` + codexInput +
		`,{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Second."}],"content":null,"encrypted_content":"gAAA"}` +
		`,{"type":"function_call","id":"fc_1","status":"completed","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"}` +
		`,{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"call_2","name":"apply_patch","input":"*** Begin Patch"}` +
		`,{"type":"function_call","id":"fc_2","status":"completed","name":"spawn","namespace":"multi_agent_v1","arguments":"{}","call_id":"call_3"}` +
		`,{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"a.go"}` +
		`,{"type":"custom_tool_call_output","id":"ctco_1","call_id":"call_2","output":[{"type":"input_text","text":"Done."}]}` +
		`,{"type":"function_call_output","call_id":"call_3","output":[{"type":"input_image","image_url":"data:image/png;base64,` + onePixel + `","detail":"original"}]}` +
		`,{"type":"message","role":"assistant","id":"msg_5","phase":"final_answer","status":"completed","content":[{"type":"output_text","text":"It is done.","annotations":[],"logprobs":[]}]}` +
		`,{"type":"message","id":"msg_6","role":"user","content":[{"type":"input_text","text":"Thanks."}],"internal_chat_message_metadata_passthrough":{"turn_id":"t2","create_time":1.5}}]}`

	codexCompaction = `{"model":"gpt-5.5",` + codexStart + `"tools":[],"input":[` + codexInput + `,{"type":"compaction_trigger"}]}`

	codexCompacted = `{"model":"gpt-5.5",` + codexStart + `"input":[` + codexInput + `,{"type":"compaction","id":"cmp_1","encrypted_content":"gAAB"}]}`

	codexSchema = `{"model":"gpt-5.5",` + codexStart + `"text":{"format":{"type":"json_schema","name":"codex_output_schema","strict":true,"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}},"input":[` + codexInput + `]}`
)

// onePixel is a PNG image.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var codexBodies = map[string]string{
	"a model that it does not know": codexUnknownModel, "a model that it knows": codexKnownModel, "lite": codexLite,
	"second turn": codexSecondTurn, "compaction": codexCompaction, "after a compaction": codexCompacted, "schema": codexSchema,
}

// TestCodex checks that the requests of Codex have no violation, keep their bytes, and that each of
// their strings is in the neutral request.
func TestCodex(t *testing.T) {
	for name, body := range codexBodies {
		t.Run(name, func(t *testing.T) {
			n, losses, err := DecodeRequest([]byte(body), &ValidateOptions{})
			if err != nil || len(losses) > 0 {
				t.Fatalf("%v, losses %v", err, losses)
			}
			if wire, ok := upstream.WireOf(n, Format); !ok || wire != body {
				t.Error("the document is not kept")
			}
			for _, s := range unrepresented(t, body, n) {
				t.Errorf("%s is not in the neutral request", s)
			}
		})
	}
}

// unrepresented returns the strings in a document that a neutral request does not have, except
// those that follow from others.
func unrepresented(t *testing.T, body string, n *upstream.Request) (missing []string) {
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	b, err := json.Marshal(struct {
		*upstream.Request
		Wire any // instead of the document
	}{Request: n})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), `\"`, `"`)
	text = strings.ReplaceAll(text, `\\`, `\`)
	var visit func(name string, v jsonwire.Value)
	visit = func(name string, v jsonwire.Value) {
		switch v.Kind() {
		case jsonwire.Object:
			for name, x := range v.Members() {
				visit(name, x)
			}
		case jsonwire.Array:
			for _, x := range v.Elems() {
				visit(name, x)
			}
		case jsonwire.String:
			switch name {
			case "type", "id", "status", "phase": // types are those of the parts; nothing stores items
				return
			}
			s, _ := json.Marshal(v.Str())
			inner := string(s[1 : len(s)-1])
			inner = strings.ReplaceAll(inner, `\"`, `"`)
			if url, ok := strings.CutPrefix(inner, "data:image/png;base64,"); ok {
				inner = url
			}
			switch {
			case name == "include" && inner == encryptedReasoning: // what the response sends
			case name == "summary" && inner == "auto": // "summarized"
			default:
				if !strings.Contains(text, inner) && !strings.Contains(text, strings.ReplaceAll(inner, `"`, `\"`)) {
					missing = append(missing, name+" "+inner)
				}
			}
		}
	}
	visit("", doc.Root())
	return missing
}

// TestCodexNeutral checks the neutral form of a second turn.
func TestCodexNeutral(t *testing.T) {
	n, _, err := DecodeRequest([]byte(codexSecondTurn), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) *content.Text { return &content.Text{Text: s} }
	dev := func(s string) *content.Text {
		return &content.Text{Text: s, Extra: &content.Extra{Format: Format, JSON: `{"role":"developer"}`}}
	}
	image := func() *content.Image {
		return &content.Image{Source: &content.Base64{MediaType: "image/png", Data: onePixel},
			Extra: &content.Extra{Format: Format, JSON: `{"detail":"original"}`}}
	}
	want := []content.Turn{
		{Role: content.RoleUser, Parts: []content.Part{text("<environment_context>"), text("Fix it."), image()}},
		{Role: content.RoleAssistant, Parts: []content.Part{
			&content.Thinking{Text: "First.\n\nSecond.", Signature: content.Signature{Format: Format,
				Data: `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Second."}],"content":null,"encrypted_content":"gAAA"}`}},
			&content.ToolUse{ID: "call_1", Name: "exec_command", Input: `{"cmd":"ls"}`},
			&content.ToolUse{ID: "call_2", Name: "apply_patch", Freeform: true, Text: "*** Begin Patch"},
			&content.ToolUse{ID: "call_3", Name: "spawn", Namespace: "multi_agent_v1", Input: "{}"},
		}},
		{Role: content.RoleUser, Parts: []content.Part{
			&content.ToolResult{ID: "call_1", Parts: []content.Part{text("a.go")}},
			&content.ToolResult{ID: "call_2", Parts: []content.Part{text("Done.")}},
			&content.ToolResult{ID: "call_3", Parts: []content.Part{image()}},
		}},
		{Role: content.RoleAssistant, Parts: []content.Part{text("It is done.")}},
		{Role: content.RoleUser, Parts: []content.Part{text("Thanks.")}, Extra: &content.Extra{Format: Format,
			JSON: `{"internal_chat_message_metadata_passthrough":{"turn_id":"t2","create_time":1.5}}`}},
	}
	if diff := cmp.Diff([]content.Part{dev("You are Codex."), dev("Sandbox: read-only.")}, n.System); diff != "" {
		t.Errorf("system (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, n.Turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
}

// TestLiteTools checks the tools of an item, in namespaces.
func TestLiteTools(t *testing.T) {
	n, _, err := DecodeRequest([]byte(codexLite), nil)
	if err != nil {
		t.Fatal(err)
	}
	extra := func(json string) *content.Extra { return &content.Extra{Format: Format, JSON: json} }
	schema := func(json string) content.Schema { return content.Schema{JSON: json} }
	want := []content.Tool{
		{Name: "exec", Namespace: "functions", Description: "Runs code.", Freeform: true,
			Grammar: &content.Grammar{Syntax: "lark", Definition: "start: /.+/"}, Extra: extra(`{"namespace":{"description":"The tools."}}`)},
		{Name: "wait", Namespace: "functions", Strict: new(false), Input: schema(`{"type":"object","properties":{"cell":{"type":"string","encrypted":true}}}`)},
		{Name: "now", Namespace: "clock", Strict: new(false), Input: schema(`{"type":"object"}`), Extra: extra(`{"namespace":{"description":"Time."}}`)},
	}
	if diff := cmp.Diff(want, n.Tools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ neutral, want string }{
		{"tools.1", "input[0].tools[0].tools[1]"},
		{"tools.1.input.properties", "input[0].tools[0].tools[1].parameters.properties"},
		{"tools.2.extra.namespace.description", "input[0].tools[1].description"},
		{"turns.0.parts.2", "input[4].content[1]"},
		{"system.1", "input[2].content[0]"},
	} {
		if got := n.Path(tt.neutral); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.neutral, got, tt.want)
		}
	}
}

// BenchmarkParseValidate measures the documented performance goals, and requests of Codex.
func BenchmarkParseValidate(b *testing.B) {
	for _, load := range []struct {
		name string
		make func() string
	}{
		{"small", workload.ResponsesSmall},
		{"chat", workload.ResponsesChat},
		{"agent", workload.ResponsesAgent},
	} {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			floor.Run(b, body, func() {
				r, err := parseRequest(body, content.Limits{})
				if err == nil {
					err = r.Validate(nil)
				}
				if err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	for _, w := range []struct{ name, body string }{
		{"codex-short", codexKnownModel}, {"codex-turns", longBody(20, 1500)}, {"codex-agent", longBody(100, 3400)},
	} {
		b.Run(w.name, func(b *testing.B) {
			floor.Run(b, w.body, func() {
				if _, err := decodeRequest(w.body, nil); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// longBody returns a request of Codex with n steps, each with an output of size bytes.
func longBody(n, size int) string {
	var s strings.Builder
	s.WriteString(strings.TrimSuffix(codexKnownModel, "]}"))
	output := strings.Repeat("x", size)
	for i := range n {
		id := string(rune('a'+i%26)) + strings.Repeat("z", i/26)
		s.WriteString(`,{"type":"reasoning","id":"rs_` + id + `","summary":[],"content":null,"encrypted_content":"gAAAAABpiiq0"}` +
			`,{"type":"function_call","id":"fc_` + id + `","status":"completed","name":"exec_command","arguments":"{\"cmd\":\"ls\"}","call_id":"call_` + id + `"}` +
			`,{"type":"function_call_output","call_id":"call_` + id + `","output":"` + output + `"}`)
	}
	s.WriteString("]}")
	return s.String()
}
