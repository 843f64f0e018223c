package adapter_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// TestFreeform sends a free-form tool in a namespace and a function in one to servers that
// have neither, and reads their calls, whole and streamed.
func TestFreeform(t *testing.T) {
	const whole, stream = "application/json", "text/event-stream"
	for _, tt := range []struct {
		name         string
		open         func(url string) (upstream.Upstream, error)
		sent         []string // in the document of the request
		body, events string
	}{
		{
			name: "Messages",
			open: func(url string) (upstream.Upstream, error) {
				return anthropic.New(&anthropic.Options{BaseURL: url, Key: "k"})
			},
			sent: []string{`"name":"functions__exec"`, `"name":"functions__wait"`, `"input":{"input":"ls -l\n"}`, "The input must match this Lark grammar:"},
			body: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` +
				`{"type":"tool_use","id":"toolu_1","name":"functions__exec","input":{"input":"echo \"a\"\n"}},{"type":"tool_use","id":"toolu_2","name":"functions__wait","input":{"s":1}}],` +
				`"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}`,
			events: `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"functions__exec","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"input\": \"echo \\\""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"a\\\"\\n\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_2","name":"functions__wait","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"s\":1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`,
		},
		{
			name: "generateContent",
			open: func(url string) (upstream.Upstream, error) {
				return gemini.New(&gemini.Options{BaseURL: url, Key: "k"})
			},
			sent: []string{`"name":"functions__exec"`, `"name":"functions__wait"`, `{"input":"ls -l\n"}`, "The input must match this Lark grammar:"},
			body: `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"functions__exec","args":{"input":"echo \"a\"\n"}}},` +
				`{"functionCall":{"id":"toolu_2","name":"functions__wait","args":{"s":1}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`,
			events: `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"functions__exec","args":{"input":"echo \"a\"\n"}}}]},"index":0}]}

data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"toolu_2","name":"functions__wait","args":{"s":1}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}

`,
		},
		{
			name: "Chat Completions",
			open: func(url string) (upstream.Upstream, error) {
				return openai.New(&openai.Options{BaseURL: url, Key: "k"})
			},
			sent: []string{`"name":"functions__exec"`, `"name":"functions__wait"`, `"arguments":"{\"input\":\"ls -l\\n\"}"`, "The input must match this Lark grammar:"},
			body: `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` +
				`{"id":"toolu_1","type":"function","function":{"name":"functions__exec","arguments":"{\"input\":\"echo \\\"a\\\"\\n\"}"}},` +
				`{"id":"toolu_2","type":"function","function":{"name":"functions__wait","arguments":"{\"s\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
			events: `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"toolu_1","type":"function","function":{"name":"functions__exec","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"input\":\"echo \\\"a"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\\"\\n\"}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"toolu_2","type":"function","function":{"name":"functions__wait","arguments":"{\"s\":1}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`,
		},
	} {
		for _, streamed := range []bool{false, true} {
			name := tt.name
			if streamed {
				name += ", streamed"
			}
			t.Run(name, func(t *testing.T) {
				var got string
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					b, _ := io.ReadAll(r.Body)
					got = string(b)
					kind, text := whole, tt.body
					if streamed {
						kind, text = stream, tt.events
					}
					w.Header().Set("Content-Type", kind)
					_, _ = io.WriteString(w, text)
				}))
				defer srv.Close()
				u, err := tt.open(srv.URL)
				if err != nil {
					t.Fatal(err)
				}
				res, err := upstream.Collect(t.Context(), u, &upstream.Request{
					Model: "m", Stream: streamed,
					Tools: []content.Tool{
						{Name: "exec", Namespace: "functions", Freeform: true, Grammar: &content.Grammar{Syntax: "lark", Definition: "start: /.+/"}},
						{Name: "wait", Namespace: "functions", Input: content.Schema{JSON: `{"type":"object","properties":{"s":{"type":"integer"}}}`}},
					},
					Turns: []content.Turn{
						{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "List."}}},
						{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "toolu_0", Namespace: "functions", Name: "exec", Freeform: true, Text: "ls -l\n"}}},
						{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "toolu_0", Parts: []content.Part{&content.Text{Text: "total 0"}}}}},
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range tt.sent {
					if !strings.Contains(got, s) {
						t.Errorf("the request has no %s:\n%s", s, got)
					}
				}
				want := []content.Part{
					&content.ToolUse{ID: "toolu_1", Namespace: "functions", Name: "exec", Freeform: true, Text: "echo \"a\"\n"},
					&content.ToolUse{ID: "toolu_2", Namespace: "functions", Name: "wait", Input: `{"s":1}`},
				}
				if diff := cmp.Diff(want, res.Parts); diff != "" {
					t.Errorf("parts (-want +got):\n%s", diff)
				}
				if res.Stop.Reason != content.StopToolUse {
					t.Errorf("stop %+v", res.Stop)
				}
			})
		}
	}
}
