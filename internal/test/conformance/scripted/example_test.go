// Package scripted has the tests of docs/testing.md: of agents with the official SDKs.
package scripted

import (
	"context"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"testing"

	claude "github.com/anthropics/anthropic-sdk-go/v2"
	claudeoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/record"
	"github.com/polywire/polywire/upstream/script"
)

// rainyOslo calls a tool, checks the result of the agent, and responds.
func rainyOslo() *script.Model {
	return script.New(
		script.Reply{script.Say("Let me look."), script.Call("weather", `{"city":"Oslo"}`)},
		script.Reply{script.Expect(toolResult), script.Say("It rains in Oslo.")},
	)
}

// toolResult returns an error if the last turn has no result of a tool.
func toolResult(r *upstream.Request) error {
	for _, p := range r.LastParts() {
		if t, ok := p.(*content.ToolResult); ok && !t.Error {
			return nil
		}
	}
	return errors.New("the request does not end with the result of a tool")
}

// serve serves a model to the SDKs of all vendors and returns its address.
func serve(t *testing.T, model upstream.Upstream) string {
	server := httptest.NewServer(polywire.NewHandler(model, nil))
	t.Cleanup(server.Close)
	return server.URL
}

// check compares the answer of an agent, and checks that the whole script was played.
func check(t *testing.T, model *script.Model, answer string, err error) {
	t.Helper()
	if err != nil || answer != "It rains in Oslo." {
		t.Errorf("the agent answered %q, %v", answer, err)
	}
	if err := model.Verify(); err != nil {
		t.Error(err)
	}
}

func TestAnthropic(t *testing.T) {
	model := rainyOslo()
	client := claude.NewClient(claudeoption.WithBaseURL(serve(t, model)), claudeoption.WithAPIKey("test"))
	answer, err := askClaude(t.Context(), client, "How is the weather in Oslo?")
	check(t, model, answer, err)
}

// askClaude is the agent under test.
func askClaude(ctx context.Context, client claude.Client, question string) (string, error) {
	weather := claude.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}}
	turns := []claude.MessageParam{claude.NewUserMessage(claude.NewTextBlock(question))}
	for {
		m, err := client.Messages.New(ctx, claude.MessageNewParams{
			Model: "demo", MaxTokens: 1024, Messages: turns,
			Tools: []claude.ToolUnionParam{claude.ToolUnionParamOfTool(weather, "weather")},
		})
		if err != nil {
			return "", err
		}
		var results []claude.ContentBlockParamUnion
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				results = append(results, claude.NewToolResultBlock(b.ID, "rain", false))
			}
		}
		if len(results) == 0 {
			return m.Content[0].Text, nil
		}
		turns = append(turns, m.ToParam(), claude.NewUserMessage(results...))
	}
}

func TestGenAI(t *testing.T) {
	model := rainyOslo()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: "test", HTTPOptions: genai.HTTPOptions{BaseURL: serve(t, model)},
	})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := askGemini(t.Context(), client, "How is the weather in Oslo?")
	check(t, model, answer, err)
}

// askGemini is the agent under test.
func askGemini(ctx context.Context, client *genai.Client, question string) (string, error) {
	chat, err := client.Chats.Create(ctx, "demo", &genai.GenerateContentConfig{
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather"}}}},
	}, nil)
	if err != nil {
		return "", err
	}
	parts := []*genai.Part{genai.NewPartFromText(question)}
	for {
		r, err := chat.Send(ctx, parts...)
		if err != nil {
			return "", err
		}
		parts = nil
		for _, call := range r.FunctionCalls() {
			parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: call.ID, Name: call.Name, Response: map[string]any{"output": "rain"},
			}})
		}
		if len(parts) == 0 {
			return r.Text(), nil
		}
	}
}

func TestOpenAI(t *testing.T) {
	model := rainyOslo()
	client := openai.NewClient(option.WithBaseURL(serve(t, model)+"/v1"), option.WithAPIKey("test"))
	answer, err := askGPT(t.Context(), client, "How is the weather in Oslo?")
	check(t, model, answer, err)
}

// askGPT is the agent under test. It streams.
func askGPT(ctx context.Context, client openai.Client, question string) (string, error) {
	params := openai.ChatCompletionNewParams{
		Model: "demo", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "weather"})},
	}
	for {
		var all openai.ChatCompletionAccumulator
		stream := client.Chat.Completions.NewStreaming(ctx, params)
		for stream.Next() {
			all.AddChunk(stream.Current())
		}
		if err := stream.Err(); err != nil {
			return "", err
		}
		m := all.Choices[0].Message
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		params.Messages = append(params.Messages, m.ToParam())
		for _, call := range m.ToolCalls {
			params.Messages = append(params.Messages, openai.ToolMessage("rain", call.ID))
		}
	}
}

// The client learns when to try again.
func TestOverloaded(t *testing.T) {
	model := script.New(
		script.Reply{script.Fail(&upstream.Error{Code: upstream.CodeOverloaded, Text: "Busy."})},
		script.Reply{script.Say("It rains in Oslo.")},
	)
	client := claude.NewClient(claudeoption.WithBaseURL(serve(t, model)), claudeoption.WithAPIKey("test"))
	answer, err := askClaude(t.Context(), client, "How is the weather in Oslo?")
	check(t, model, answer, err)
}

var update = flag.Bool("update", false, "record the responses of the vendor again")

// recorded returns the recording in a file. With -update it returns the vendor, and records it.
func recorded(t *testing.T, path string) upstream.Upstream {
	if *update {
		vendor, err := anthropic.New(&anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY")})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return record.NewRecorder(vendor, file)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	model, err := record.NewPlayer(file)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestRecorded(t *testing.T) {
	url := serve(t, recorded(t, "testdata/weather.jsonl"))
	client := claude.NewClient(claudeoption.WithBaseURL(url), claudeoption.WithAPIKey("test"))
	answer, err := askClaude(t.Context(), client, "How is the weather in Oslo?")
	if err != nil || answer != "It rains in Oslo." {
		t.Errorf("the agent answered %q, %v", answer, err)
	}
}
