package script_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

// A test of an agent that talks to the model over HTTP.
func Example() {
	model := script.New(
		script.Reply{script.Say("Let me look."), script.Call("weather", `{"city":"Oslo"}`)},
		script.Reply{script.Expect(toolResult("rain")), script.Say("It rains in Oslo.")},
	)
	server := httptest.NewServer(messages.NewHandler(model, nil))
	defer server.Close()

	fmt.Println(agent(server.URL))
	fmt.Println("error:", model.Verify())
	// Output:
	// It rains in Oslo.
	// error: <nil>
}

// toolResult returns a check that the request ends with a result of a tool.
func toolResult(want string) func(*upstream.Request) error {
	return func(r *upstream.Request) error {
		for _, p := range r.LastParts() {
			if t, ok := p.(*content.ToolResult); ok && textOf(t.Parts) == want {
				return nil
			}
		}
		return fmt.Errorf("the last turn has no tool result %q", want)
	}
}

// agent stands for the program under test. It uses the SDK of a vendor in place of this.
func agent(url string) string {
	const question = `{"role":"user","content":"How is the weather?"}`
	const call = `{"role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"weather","input":{"city":"Oslo"}}]}`
	const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"rain"}]}`
	text := ""
	for _, turns := range []string{question, question + "," + call + "," + result} {
		body := `{"model":"m","max_tokens":99,"tools":[{"name":"weather","input_schema":{"type":"object"}}],"messages":[` + turns + `]}`
		req, err := http.NewRequest("POST", url+"/v1/messages", strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err.Error()
		}
		data, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		response, err := messages.DecodeResponse(data, nil)
		if err != nil {
			return string(data)
		}
		text = textOf(response.Parts)
	}
	return text
}

// A model for parallel agents, whose requests arrive in any order.
func ExampleNewFunc() {
	model := script.NewFunc(func(_ int, r *upstream.Request) script.Reply {
		if len(r.Tools) == 0 {
			return script.Reply{script.Say("A title.")}
		}
		return script.Reply{script.Call(r.Tools[0].Name, "{}")}
	})
	for _, tools := range [][]content.Tool{{{Name: "clock"}}, nil} {
		response, err := upstream.Collect(context.Background(), model, &upstream.Request{Model: "demo", Tools: tools})
		fmt.Println(len(response.Parts), response.Stop.Reason, err)
	}
	// Output:
	// 1 tool_use <nil>
	// 1 end <nil>
}
