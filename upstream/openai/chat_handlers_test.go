package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream/openai"
)

// An apiClient is a client of a handler.
type apiClient struct {
	first string // a complete request
	path  string
	// next returns the request that continues after a response, with tool results.
	next func(t *testing.T, answer string) string
}

const schemaOfF = `{"type":"object","properties":{"n":{"type":"integer"}}}`

var apiClients = func() map[string]apiClient {
	m := thinklessClients
	omitting := m["messages"] // thinks, and omits it from responses
	members := `{"thinking":{"type":"adaptive","display":"omitted"},"model"`
	omitting.first = strings.Replace(omitting.first, `{"model"`, members, 1)
	omitting.next = func(t *testing.T, answer string) string {
		if strings.Contains(answer, `"thinking":"Two`) {
			t.Errorf("the client got the thinking: %s", answer)
		}
		return strings.Replace(m["messages"].next(t, answer), `{"model"`, members, 1)
	}
	m["messages, thinking omitted"] = omitting
	return m
}()

var thinklessClients = map[string]apiClient{
	"messages": {
		path:  "/v1/messages",
		first: `{"model":"m","max_tokens":1000,"tools":[{"name":"f","input_schema":` + schemaOfF + `}],"messages":[{"role":"user","content":"go"}]}`,
		next: func(t *testing.T, answer string) string {
			var a struct{ Content []map[string]any }
			decode(t, answer, &a)
			var results []any
			for _, b := range a.Content {
				if b["type"] == "tool_use" {
					results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": encode(b["input"])})
				}
			}
			return `{"model":"m","max_tokens":1000,"tools":[{"name":"f","input_schema":` + schemaOfF + `}],"messages":[{"role":"user","content":"go"},{"role":"assistant","content":` +
				encode(a.Content) + `},{"role":"user","content":` + encode(results) + `}]}`
		},
	},
	"generatecontent": {
		path:  "/v1beta/models/m:generateContent",
		first: `{"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":` + schemaOfF + `}]}],"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
		next: func(t *testing.T, answer string) string {
			var a struct {
				Candidates []struct {
					Content struct{ Parts []map[string]any }
				}
			}
			decode(t, answer, &a)
			var results, kept []any
			for _, p := range a.Candidates[0].Content.Parts {
				if p["thought"] == true {
					continue // as clients do
				}
				kept = append(kept, p)
				if c, ok := p["functionCall"].(map[string]any); ok {
					results = append(results, map[string]any{"functionResponse": map[string]any{"name": c["name"], "id": c["id"], "response": map[string]any{"output": encode(c["args"])}}})
				}
			}
			return `{"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":` + schemaOfF + `}]}],"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":` +
				encode(kept) + `},{"role":"user","parts":` + encode(results) + `}]}`
		},
	},
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// A sentRequest holds the members of a Chat Completions request that the tests check.
type sentRequest struct {
	Messages []struct {
		Role             string
		Content          any
		ReasoningContent *string `json:"reasoning_content"`
		ToolCallID       string  `json:"tool_call_id"`
		ToolCalls        []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
}

// TestHandlers runs a conversation with tools and thinking through each handler, with
// servers that differ.
func TestHandlers(t *testing.T) {
	servers := map[string]fakeopenai.Options{
		"vendor":               {},
		"compatible":           {Local: true, Quirks: fakeopenai.Quirks{Reasoning: "reasoning_content"}},
		"three parallel calls": {Local: true, EchoReasoning: "reasoning_content", NoStreamOptions: true, Quirks: fakeopenai.Quirks{Reasoning: "reasoning_content", IndexZero: true, FinishStop: true}},
		"no ids":               {Local: true, Quirks: fakeopenai.Quirks{Reasoning: "reasoning", NoIDs: true, NoIndex: true, UsageNever: true, NoDone: true, FinishEmpty: true}},
		"objects":              {Local: true, Quirks: fakeopenai.Quirks{ObjectArgs: true, EmptyContent: true, Comments: true, NullError: true, UsageAlways: true}},
		"azure":                {Quirks: fakeopenai.Quirks{FilterFirst: true, RepeatIDs: true, DeltaAfterStop: true, RoleAlways: true}},
		"lists, no meta":       {Local: true, Quirks: fakeopenai.Quirks{ContentList: true, NoMeta: true, UsageAtFinish: true, WholeArgs: true}},
	}
	for server, options := range servers {
		for name, f := range apiClients {
			t.Run(server+"/"+name, func(t *testing.T) {
				c, s := client(t, options, openai.Options{})
				s.Say(fake.Thinking("Two calls."), fake.Call("f", `{"n":1}`), fake.Call("f", `{"n":2}`))
				s.Say(fake.Text("Both are done."))
				first := post(t, c, f.path, f.first)
				if first.Code != http.StatusOK {
					t.Fatalf("%d %s", first.Code, first.Body)
				}
				second := post(t, c, f.path, f.next(t, first.Body.String()))
				if second.Code != http.StatusOK || !strings.Contains(second.Body.String(), "Both are done.") {
					t.Fatalf("%d %s", second.Code, second.Body)
				}
				var got sentRequest
				decode(t, string(s.Last().Body), &got)
				checkTools(t, &got)
				if want := options.Quirks.Reasoning == "reasoning_content"; want {
					if r := got.Messages[1].ReasoningContent; r == nil || *r != "Two calls." {
						t.Errorf("the thinking was not returned: %s", s.Last().Body)
					}
				}
			})
		}
	}
}

// checkTools checks the positions of two tool calls and their results.
func checkTools(t *testing.T, got *sentRequest) {
	t.Helper()
	m := got.Messages
	if len(m) != 4 || len(m[1].ToolCalls) != 2 || m[2].Role != "tool" || m[3].Role != "tool" {
		t.Fatalf("%+v", m)
	}
	for i, want := range []string{`{"n":1}`, `{"n":2}`} {
		c := m[1].ToolCalls[i]
		if c.ID == "" || c.ID != m[2+i].ToolCallID || c.Function.Name != "f" || c.Function.Arguments != want {
			t.Errorf("call %d: %+v, result of %q", i, c, m[2+i].ToolCallID)
		}
		if text, _ := m[2+i].Content.(string); !strings.Contains(strings.ReplaceAll(text, `\`, ""), want) {
			t.Errorf("result %d: %v", i, m[2+i].Content)
		}
	}
	if m[1].ToolCalls[0].ID == m[1].ToolCalls[1].ID {
		t.Error("both calls have the same id")
	}
}

// TestHandlerStreams checks that a client of each handler receives a complete stream,
// from servers that differ.
func TestHandlerStreams(t *testing.T) {
	for server, options := range map[string]fakeopenai.Options{
		"vendor":               {},
		"three parallel calls": {Local: true, NoStreamOptions: true, Quirks: fakeopenai.Quirks{Reasoning: "reasoning", IndexZero: true, FinishStop: true, NoDone: true}},
	} {
		t.Run(server, func(t *testing.T) {
			c, s := client(t, options, openai.Options{})
			s.Always(fake.Text("Hello."), fake.Call("f", `{"n":1}`), fake.Call("f", `{"n":2}`), fake.Usage{Input: 7, Output: 9})
			body := strings.Replace(apiClients["messages"].first, `{"model"`, `{"stream":true,"model"`, 1)
			got := post(t, c, "/v1/messages", body).Body.String()
			for _, want := range []string{"message_start", `"text":"Hello."`, `"stop_reason":"tool_use"`, "message_stop"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s is missing in\n%s", want, got)
				}
			}
			if usage := strings.Contains(got, `"output_tokens":9`); usage == options.NoStreamOptions {
				t.Errorf("got the usage %v", usage)
			}
			if n := strings.Count(got, `"type":"tool_use"`); n != 2 {
				t.Errorf("%d calls in\n%s", n, got)
			}
			got = post(t, c, "/v1beta/models/m:streamGenerateContent?alt=sse", apiClients["generatecontent"].first).Body.String()
			if n := strings.Count(got, `"functionCall"`); n != 2 || !strings.Contains(got, `"finishReason":"STOP"`) {
				t.Errorf("%d calls in\n%s", n, got)
			}
		})
	}
}
