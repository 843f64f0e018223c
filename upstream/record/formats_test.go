package record_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
	"github.com/polywire/polywire/upstream/record"
	"github.com/polywire/polywire/upstream/script"
)

// conversation is the same request in every format: a tool call and its result.
var conversation = map[string]struct{ path, body, stream string }{
	"messages": {"/v1/messages", `{"model":"demo","max_tokens":64,"system":"Be brief.","temperature":0.5,
		"tools":[{"name":"weather","description":"Looks.","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}],
		"messages":[{"role":"user","content":"How is the weather?"},
		{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city": "Oslo"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"rain"}]}]}`, `{"stream":true,`},
	"generateContent": {"/v1beta/models/demo:generateContent", `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"generationConfig":{"temperature":0.5},
		"tools":[{"functionDeclarations":[{"name":"weather","description":"Looks.","parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}}}}]}],
		"contents":[{"role":"user","parts":[{"text":"How is the weather?"}]},
		{"role":"model","parts":[{"text":"Let me look."},{"functionCall":{"name":"weather","args":{"city":"Oslo"}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"weather","response":{"output":"rain"}}}]}]}`, ""},
	"chat completions": {"/v1/chat/completions", `{"model":"demo","temperature":0.5,
		"tools":[{"type":"function","function":{"name":"weather","description":"Looks.","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}],
		"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"How is the weather?"},
		{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
		{"role":"tool","tool_call_id":"call_a","content":"rain"}]}`, `{"stream":true,`},
	"responses": {"/v1/responses", `{"model":"demo","temperature":0.5,"store":false,"instructions":"Be brief.",
		"tools":[{"type":"function","name":"weather","description":"Looks.","parameters":{"type":"object","properties":{"city":{"type":"string"}}},"strict":false}],
		"input":[{"role":"user","content":"How is the weather?"},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me look."}]},
		{"type":"function_call","call_id":"call_b","name":"weather","arguments":"{\"city\":\"Oslo\"}"},
		{"type":"function_call_output","call_id":"call_b","output":"rain"}]}`, `{"stream":true,`},
}

// post sends the conversation in a format to up.
func post(up upstream.Upstream, format string, stream bool) *httptest.ResponseRecorder {
	h := upstream.Handlers(
		generatecontent.NewHandler(up, nil), messages.NewHandler(up, nil),
		chatcompletions.NewHandler(up, nil), responses.NewHandler(up, nil))
	c := conversation[format]
	if stream && c.stream == "" {
		c.path = strings.Replace(c.path, ":generateContent", ":streamGenerateContent?alt=sse", 1)
	} else if stream {
		c.body = strings.Replace(c.body, "{", c.stream, 1)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	h.ServeHTTP(w, r)
	return w
}

// A recording of a client of any format plays for clients of all formats.
func TestFormats(t *testing.T) {
	reply := script.Reply{script.Think("Hm."), script.Say("It rains in Oslo.")}
	for recorded := range conversation {
		var file strings.Builder
		if w := post(record.NewRecorder(reply, &file), recorded, false); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", recorded, w.Code, w.Body)
		}
		for played := range conversation {
			for _, stream := range []bool{false, true} {
				p, err := record.NewPlayer(strings.NewReader(file.String()))
				if err != nil {
					t.Fatal(err)
				}
				w := post(p, played, stream)
				if w.Code != http.StatusOK || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\n`, ""), "Oslo") {
					t.Errorf("%s for %s, stream %v: %d %s", recorded, played, stream, w.Code, w.Body)
				}
			}
		}
	}
}
