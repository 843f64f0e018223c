package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bytedance/sonic"
	"github.com/maximhq/bifrost/core/providers/anthropic"
	"github.com/maximhq/bifrost/core/providers/gemini"
	"github.com/maximhq/bifrost/core/providers/openai"
	"github.com/maximhq/bifrost/core/providers/utils"
	"github.com/maximhq/bifrost/core/schemas"
)

// bifrost returns the converters of Bifrost, called as its providers and its gateway call
// them: decoded with the JSON package that Bifrost uses, converted to its own schema of
// OpenAI's Responses, and from that to the target. Its queues, plugins and HTTP clients are
// not part of it. Requests are encoded without the indentation that its providers add.
func bifrost() *contestant {
	return &contestant{name: "Bifrost", module: "github.com/maximhq/bifrost/core", routes: map[route]translator{
		{formatMessages, formatGemini, false}: {translate: bifrostRequest(bifrostFromMessages, bifrostToGemini)},
		{formatMessages, formatChat, false}:   {translate: bifrostRequest(bifrostFromMessages, bifrostToChat)},
		{formatGemini, formatMessages, false}: {translate: bifrostRequest(bifrostFromGemini, bifrostToMessages)},
		{formatGemini, formatChat, false}:     {translate: bifrostRequest(bifrostFromGemini, bifrostToChat)},
		{formatChat, formatMessages, true}:    {translate: bifrostChatStream},
		{formatGemini, formatMessages, true}:  {translate: bifrostGeminiStream},
		{formatMessages, formatGemini, true}:  {translate: bifrostMessagesStream},
	}}
}

func bifrostContext() *schemas.BifrostContext {
	return schemas.NewBifrostContext(context.Background(), time.Time{})
}

func bifrostRequest(from func(*schemas.BifrostContext, []byte) (*schemas.BifrostResponsesRequest, error),
	to func(*schemas.BifrostContext, *schemas.BifrostResponsesRequest) ([]byte, error)) func([]byte, io.Writer) error {
	return func(body []byte, out io.Writer) error {
		ctx := bifrostContext()
		req, err := from(ctx, body)
		if err != nil {
			return err
		}
		doc, err := to(ctx, req)
		if err != nil {
			return err
		}
		_, err = out.Write(doc)
		return err
	}
}

func bifrostFromMessages(ctx *schemas.BifrostContext, body []byte) (*schemas.BifrostResponsesRequest, error) {
	var req anthropic.AnthropicMessageRequest
	if err := sonic.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	return req.ToBifrostResponsesRequest(ctx), nil
}

func bifrostFromGemini(ctx *schemas.BifrostContext, body []byte) (*schemas.BifrostResponsesRequest, error) {
	var req gemini.GeminiGenerationRequest
	if err := sonic.Unmarshal(body, &req); err != nil {
		return nil, err
	}
	return req.ToBifrostResponsesRequest(ctx), nil
}

func bifrostToGemini(ctx *schemas.BifrostContext, req *schemas.BifrostResponsesRequest) ([]byte, error) {
	req.Provider, req.Model = schemas.Gemini, geminiModel
	doc, err := gemini.ToGeminiResponsesRequest(ctx, req)
	if err != nil {
		return nil, err
	}
	return utils.MarshalSorted(doc)
}

func bifrostToChat(ctx *schemas.BifrostContext, req *schemas.BifrostResponsesRequest) ([]byte, error) {
	req.Provider, req.Model = schemas.OpenAI, chatModel
	doc := openai.ToOpenAIChatRequest(ctx, req.ToChatRequest())
	if doc == nil {
		return nil, errors.New("the request has no messages")
	}
	return utils.MarshalSorted(doc)
}

func bifrostToMessages(ctx *schemas.BifrostContext, req *schemas.BifrostResponsesRequest) ([]byte, error) {
	req.Provider, req.Model = schemas.Anthropic, claudeModel
	doc, failed := anthropic.BuildAnthropicResponsesRequestBody(ctx, req, anthropic.AnthropicRequestBuildConfig{Provider: schemas.Anthropic})
	if failed != nil {
		return nil, bifrostError(failed)
	}
	return doc, nil
}

func bifrostError(e *schemas.BifrostError) error {
	if e.Error == nil {
		return errors.New("error without a text")
	}
	return fmt.Errorf("%s: %w", e.Error.Message, e.Error.Error)
}

// bifrostEvents returns a function that writes an event of Bifrost to a Messages client.
func bifrostEvents(ctx *schemas.BifrostContext, out io.Writer) func(*schemas.BifrostResponsesStreamResponse) error {
	var frame bytes.Buffer
	return func(r *schemas.BifrostResponsesStreamResponse) error {
		for _, e := range anthropic.ToAnthropicResponsesStreamResponse(ctx, r) {
			data, err := sonic.Marshal(e)
			if err != nil {
				return err
			}
			frame.Reset()
			frame.WriteString("event: ")
			frame.WriteString(string(e.Type))
			frame.WriteString("\ndata: ")
			frame.Write(data)
			frame.WriteString("\n\n")
			if _, err := out.Write(frame.Bytes()); err != nil {
				return err
			}
		}
		return nil
	}
}

// eachData calls f with the data of each event of a stream.
func eachData(ctx *schemas.BifrostContext, stream []byte, f func([]byte) error) error {
	events := utils.GetSSEDataReader(ctx, bytes.NewReader(stream))
	for {
		data, err := events.ReadDataLine()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(data); err != nil {
			return err
		}
	}
}

// bifrostChatStream holds the last event back until the usage has arrived, as Bifrost's
// provider does.
func bifrostChatStream(stream []byte, out io.Writer) error {
	ctx := bifrostContext()
	state := schemas.AcquireChatToResponsesStreamState()
	defer schemas.ReleaseChatToResponsesStreamState(state)
	send := bifrostEvents(ctx, out)
	var last *schemas.BifrostResponsesStreamResponse
	var usage *schemas.BifrostLLMUsage
	err := eachData(ctx, stream, func(data []byte) error {
		var chunk schemas.BifrostChatResponse
		if err := sonic.Unmarshal(data, &chunk); err != nil {
			return err
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
		for _, r := range chunk.ToBifrostResponsesStreamResponse(state) {
			if r.Type == schemas.ResponsesStreamResponseTypeCompleted || r.Type == schemas.ResponsesStreamResponseTypeIncomplete {
				last = r
				continue
			}
			if err := send(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || last == nil {
		return err
	}
	if usage != nil && last.Response != nil {
		last.Response.Usage = usage.ToResponsesResponseUsage()
	}
	return send(last)
}

func bifrostGeminiStream(stream []byte, out io.Writer) error {
	ctx := bifrostContext()
	state := &gemini.GeminiResponsesStreamState{
		ItemIDs: make(map[int]string), ToolCallIDs: make(map[int]string), ToolCallNames: make(map[int]string),
		ToolArgumentBuffers: make(map[int]string), TextOutputIndex: -1, CreatedAt: int(time.Now().Unix()),
	}
	send := bifrostEvents(ctx, out)
	n := 0
	sendAll := func(list []*schemas.BifrostResponsesStreamResponse) error {
		for _, r := range list {
			n++
			if err := send(r); err != nil {
				return err
			}
		}
		return nil
	}
	var usage *gemini.GenerateContentResponseUsageMetadata
	err := eachData(ctx, stream, func(data []byte) error {
		var chunk gemini.GenerateContentResponse
		if err := sonic.Unmarshal(data, &chunk); err != nil {
			return err
		}
		if chunk.UsageMetadata != nil {
			usage = chunk.UsageMetadata
		}
		list, failed := chunk.ToBifrostResponsesStream(n, state)
		if failed != nil {
			return bifrostError(failed)
		}
		return sendAll(list)
	})
	if err != nil || state.HasEmittedCompleted {
		return err
	}
	return sendAll(gemini.FinalizeGeminiResponsesStream(state, usage, n))
}

// bifrostMessagesStream adds the usage to the last event, as Bifrost's provider does.
func bifrostMessagesStream(stream []byte, out io.Writer) error {
	ctx := bifrostContext()
	from := anthropic.AcquireAnthropicResponsesStreamState()
	defer anthropic.ReleaseAnthropicResponsesStreamState(from)
	to := gemini.NewBifrostToGeminiStreamState()
	usage := new(schemas.ResponsesResponseUsage)
	events := utils.GetSSEEventReader(ctx, bytes.NewReader(stream))
	var frame bytes.Buffer
	for n := 0; ; {
		_, data, err := events.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var event anthropic.AnthropicStreamEvent
		if err := sonic.Unmarshal(data, &event); err != nil {
			return err
		}
		if event.Message != nil {
			addUsage(usage, event.Message.Usage)
		}
		addUsage(usage, event.Usage)
		list, failed, last := event.ToBifrostResponsesStream(ctx, n, from)
		if failed != nil {
			return bifrostError(failed)
		}
		for i, r := range list {
			n++
			if last && i == len(list)-1 {
				if r.Response == nil {
					r.Response = new(schemas.BifrostResponsesResponse)
				}
				r.Response.Usage = usage
			}
			doc := gemini.ToGeminiResponsesStreamResponse(r, to)
			if doc == nil {
				continue
			}
			data, err := sonic.Marshal(doc)
			if err != nil {
				return err
			}
			frame.Reset()
			frame.WriteString("data: ")
			frame.Write(data)
			frame.WriteString("\n\n")
			if _, err := out.Write(frame.Bytes()); err != nil {
				return err
			}
		}
	}
}

func addUsage(sum *schemas.ResponsesResponseUsage, u *anthropic.AnthropicUsage) {
	if u == nil {
		return
	}
	sum.InputTokens = max(sum.InputTokens, u.InputTokens)
	sum.OutputTokens = max(sum.OutputTokens, u.OutputTokens)
	sum.TotalTokens = sum.InputTokens + sum.OutputTokens
}
