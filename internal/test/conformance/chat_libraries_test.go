package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	openaiv1 "github.com/openai/openai-go"
	optionv1 "github.com/openai/openai-go/option"
	"github.com/openai/openai-go/packages/param"
	goopenai "github.com/sashabaranov/go-openai"
)

// A chatRound sends one request of Chat Completions with a library for Go. It returns the message of
// the response, and sets the texts and counts of the reply.
type chatRound func(ctx context.Context, c libraryCall, body []byte, r *libraryReply) (chatReply, error)

type chatReply struct {
	Content string     `json:"content"`
	Calls   []chatCall `json:"tool_calls"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// goChatLoop returns a loop over a library for Go that has none.
func goChatLoop(round chatRound) func(t *testing.T, c libraryCall) (*libraryReply, error) {
	return func(t *testing.T, c libraryCall) (*libraryReply, error) {
		t.Helper()
		r := &libraryReply{}
		content := arr{obj{"type": "text", "text": c.Prompt}}
		if c.Image != "" {
			content = append(content, obj{"type": "image_url", "image_url": obj{"url": "data:image/png;base64," + c.Image}})
		}
		messages := arr{obj{"role": "user", "content": content}}
		body := obj{"model": "gpt-5", "max_completion_tokens": c.MaxTokens, "stream": c.Stream}
		if c.Stream {
			body["stream_options"] = obj{"include_usage": true}
		}
		if c.Think {
			body["reasoning_effort"] = "high"
		}
		if c.Object {
			body["response_format"] = obj{"type": "json_schema", "json_schema": obj{"name": "answer", "strict": true, "schema": objectSchema}}
		}
		if c.Tools {
			tool := func(name, property string) obj {
				return obj{"type": "function", "function": obj{"name": name, "description": "Does it.",
					"parameters": obj{"type": "object", "properties": obj{property: obj{"type": "string"}}, "required": arr{property}}}}
			}
			body["tools"] = arr{tool("weather", "city"), tool("time", "tz")}
		}
		for range 10 {
			body["messages"] = messages
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			r.Text, r.Thinking = "", ""
			m, err := round(t.Context(), c, text, r)
			if err != nil {
				return r, err
			}
			if r.Text = m.Content; len(m.Calls) == 0 {
				if c.Object {
					err = json.Unmarshal([]byte(r.Text), &r.Object)
				}
				return r, err
			}
			messages = append(messages, obj{"role": "assistant", "content": m.Content, "tool_calls": m.Calls})
			for _, x := range m.Calls {
				r.Calls = append(r.Calls, x.Function.Name+" "+x.Function.Arguments)
				messages = append(messages, obj{"role": "tool", "tool_call_id": x.ID, "content": fmt.Sprintf("result %d of %s", len(r.Calls), x.Function.Name)})
			}
		}
		return r, errors.New("the loop does not end")
	}
}

// as converts a value of a library through JSON.
func as[T any](v any) (to T, err error) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	return to, err
}

// communityChat is the round of go-openai, the library of the community.
func communityChat(ctx context.Context, c libraryCall, body []byte, r *libraryReply) (m chatReply, err error) {
	config := goopenai.DefaultConfig(c.Key)
	config.BaseURL = c.BaseURL + "/v1"
	client := goopenai.NewClientWithConfig(config)
	var request goopenai.ChatCompletionRequest
	if err := json.Unmarshal(body, &request); err != nil {
		return m, err
	}
	if !c.Stream {
		response, err := client.CreateChatCompletion(ctx, request)
		if err != nil {
			return m, err
		}
		message := response.Choices[0].Message
		r.Thinking, r.Input, r.Output = message.ReasoningContent, int64(response.Usage.PromptTokens), int64(response.Usage.CompletionTokens)
		return as[chatReply](message)
	}
	stream, err := client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return m, err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		if chunk.Usage != nil {
			r.Input, r.Output = int64(chunk.Usage.PromptTokens), int64(chunk.Usage.CompletionTokens)
		}
		for _, choice := range chunk.Choices {
			m.Content += choice.Delta.Content
			r.Thinking += choice.Delta.ReasoningContent
			for _, x := range choice.Delta.ToolCalls {
				if *x.Index == len(m.Calls) {
					m.Calls = append(m.Calls, chatCall{ID: x.ID, Type: string(x.Type)})
					m.Calls[*x.Index].Function.Name = x.Function.Name
				}
				m.Calls[*x.Index].Function.Arguments += x.Function.Arguments
			}
		}
	}
}

// openAIGoV1 is the round of the vendor's SDK in its major version 1.
func openAIGoV1(ctx context.Context, c libraryCall, body []byte, r *libraryReply) (m chatReply, err error) {
	client := openaiv1.NewClient(optionv1.WithBaseURL(c.BaseURL+"/v1"), optionv1.WithAPIKey(c.Key), optionv1.WithMaxRetries(0))
	request := param.Override[openaiv1.ChatCompletionNewParams](json.RawMessage(body))
	if !c.Stream {
		response, err := client.Chat.Completions.New(ctx, request)
		if err != nil {
			return m, err
		}
		r.Input, r.Output = response.Usage.PromptTokens, response.Usage.CompletionTokens
		r.Thinking = thinkingOf(response.Choices[0].Message.JSON.ExtraFields["reasoning_content"].Raw())
		return as[chatReply](response.Choices[0].Message)
	}
	stream := client.Chat.Completions.NewStreaming(ctx, request)
	defer stream.Close()
	var all openaiv1.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if !all.AddChunk(chunk) {
			return m, errors.New("the accumulator does not accept a chunk")
		}
		if len(chunk.Choices) > 0 {
			r.Thinking += thinkingOf(chunk.Choices[0].Delta.JSON.ExtraFields["reasoning_content"].Raw())
		}
	}
	if err := stream.Err(); err != nil {
		return m, err
	}
	r.Input, r.Output = all.Usage.PromptTokens, all.Usage.CompletionTokens
	return as[chatReply](all.Choices[0].Message)
}

// thinkingOf returns a member of which a library does not know the name.
func thinkingOf(text string) (s string) {
	_ = json.Unmarshal([]byte(text), &s)
	return s
}
