package record_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/record"
	"github.com/polywire/polywire/upstream/script"
)

type document struct{ path, body, stream string }

// conversation is the same request in every format: a tool call and its result.
var conversation = map[string]document{
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
	return send(up, conversation[format], stream)
}

func send(up upstream.Upstream, c document, stream bool) *httptest.ResponseRecorder {
	h := polywire.NewHandler(up, nil)
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

// While an adapter is recorded, clients of its format receive the vendor's bytes. The recording
// plays for clients of other formats.
func TestAdapter(t *testing.T) {
	const stream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"demo","content":[],"stop_reason":null,"stop_sequence":null,"novel":1,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It rains in Oslo."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":6}}

event: message_stop
data: {"type":"message_stop"}

`
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Request-Id", "req_secret")
		_, _ = w.Write([]byte(stream))
	}))
	defer vendor.Close()
	client := vendor.Client()
	up, err := anthropic.New(&anthropic.Options{BaseURL: vendor.URL, Key: "k-secret", HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if w := post(record.NewRecorder(up, &file), "messages", true); w.Body.String() != stream {
		t.Errorf("the client received\n%s\nwant\n%s", w.Body, stream)
	}
	client.CloseIdleConnections()
	for _, secret := range []string{"secret", vendor.URL, strings.TrimPrefix(vendor.URL, "http://")} {
		if strings.Contains(file.String(), secret) {
			t.Errorf("%q is in the recording:\n%s", secret, &file)
		}
	}
	w := post(player(t, file.String()), "responses", false)
	if body := w.Body.String(); !strings.Contains(body, "It rains in Oslo.") || !strings.Contains(body, `"output_tokens":6`) {
		t.Errorf("played: %d %s", w.Code, body)
	}
}

// A client learns where in its own document the request differs from the recording.
func TestPaths(t *testing.T) {
	var file strings.Builder
	post(record.NewRecorder(script.Reply{script.Say("Bye.")}, &file), "messages", false)
	for format, want := range map[string]string{
		"messages":         "messages.2.content.0.content.0.text: there is",
		"generateContent":  "GenerateContentRequest.contents[2].parts[0].function_response.response: there is",
		"chat completions": "Invalid 'messages[3].content': there is",
		"responses":        "Invalid 'input[3].output': there is",
	} {
		c := conversation[format]
		c.body = strings.Replace(c.body, "rain", "snow", 1)
		w := send(player(t, file.String()), c, false)
		if body := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(body, want) || !strings.Contains(body, `here it has \"snow\", and the most similar one, number 1, has \"rain\"`) {
			t.Errorf("%s: got %d %s, want %s", format, w.Code, body, want)
		}
	}
}
