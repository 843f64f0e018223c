package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/toolrunner"
)

// goRunner is the tool runner of the Go SDK. It uses a thread by itself.
func goRunner(t *testing.T, c libraryCall) (*libraryReply, error) {
	t.Helper()
	client, closing := goV2Beta{}.open(call{BaseURL: c.BaseURL, Key: c.Key})
	defer closing()
	r := &libraryReply{}
	params := anthropic.BetaToolRunnerParams{BetaMessageNewParams: runnerParams(t, c)}
	if c.Object {
		params.OutputConfig.Format = anthropic.BetaJSONOutputFormatParam{Schema: objectSchema}
	}
	var tools []anthropic.BetaTool
	if c.Tools {
		tools = []anthropic.BetaTool{r.tool(t, "weather", "city"), r.tool(t, "time", "tz")}
	}
	message, err := runGo(t.Context(), client, tools, params, c.Stream)
	if message != nil {
		for _, b := range message.Content {
			r.Text += b.Text
			r.Thinking += b.Thinking
		}
		if c.Object && err == nil {
			err = json.Unmarshal([]byte(r.Text), &r.Object)
		}
		r.Input, r.Output = message.Usage.InputTokens, message.Usage.OutputTokens
	}
	return r, err
}

// objectSchema is the schema of the object that a call asks for.
var objectSchema = obj{
	"type":       "object",
	"properties": obj{"city": obj{"type": "string"}, "days": obj{"type": "array", "items": obj{"type": "number"}}},
	"required":   arr{"city", "days"}, "additionalProperties": false,
}

// runGo runs a loop to its end.
func runGo(ctx context.Context, client anthropic.Client, tools []anthropic.BetaTool, params anthropic.BetaToolRunnerParams, stream bool) (*anthropic.BetaMessage, error) {
	if !stream {
		return client.Beta.Messages.NewToolRunner(tools, params).RunToCompletion(ctx)
	}
	runner := client.Beta.Messages.NewToolRunnerStreaming(tools, params)
	for events, err := range runner.AllStreaming(ctx) {
		if err != nil {
			return runner.LastMessage(), err
		}
		for _, err := range events {
			if err != nil {
				return runner.LastMessage(), err
			}
		}
	}
	return runner.LastMessage(), runner.Err()
}

func runnerParams(t *testing.T, c libraryCall) (params anthropic.BetaMessageNewParams) {
	t.Helper()
	content := arr{text(c.Prompt)}
	if c.Image != "" {
		content = append(content, obj{"type": "image", "source": obj{"type": "base64", "media_type": "image/png", "data": c.Image}})
	}
	body := request(arr{user(content)}, obj{"max_tokens": c.MaxTokens})
	if c.Think {
		body["thinking"] = obj{"type": "enabled", "budget_tokens": 2048}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &params); err != nil {
		t.Fatal(err)
	}
	return params
}

// tool returns a tool that records its calls in the reply. The runner may run
// tools concurrently.
func (r *libraryReply) tool(t *testing.T, name, property string) anthropic.BetaTool {
	t.Helper()
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%[1]q]}`, property)
	tool, err := toolrunner.NewBetaToolFromBytes(name, "Does it.", []byte(schema),
		func(_ context.Context, in map[string]any) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			args, err := json.Marshal(in)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Calls = append(r.Calls, name+" "+string(args))
			result := anthropic.BetaTextBlockParam{Text: fmt.Sprintf("result %d of %s", len(r.Calls), name)}
			return anthropic.BetaToolResultBlockParamContentUnion{OfText: &result}, err
		})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}
