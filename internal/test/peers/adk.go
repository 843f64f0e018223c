package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/achetronic/adk-utils-go/genai/anthropic"
	"github.com/achetronic/adk-utils-go/genai/openai/completions"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// adkUtils returns the models of adk-utils-go. Their requests have the types of
// generateContent, which encoding/json reads. They send with the vendors' SDKs; a transport
// without a network receives the request and returns a short stream, or the one to translate.
func adkUtils() *contestant {
	return &contestant{name: "adk-utils", module: "github.com/achetronic/adk-utils-go", routes: map[route]translator{
		{formatGemini, formatMessages, false}: {translate: adkRequest(writeMessages(ended), newADKAnthropic)},
		{formatGemini, formatChat, false}:     {translate: adkRequest(writeChat(ended), newADKChat)},
		{formatMessages, formatGemini, true}:  {translate: adkStream},
	}}
}

// ended is the shortest response.
var ended = &reply{stop: stopEnd, input: 1, output: 1}

func newADKAnthropic(c *http.Client) model.LLM {
	return anthropic.New(anthropic.Config{APIKey: "key", ModelName: claudeModel, HTTPOptions: anthropic.HTTPOptions{Client: c}})
}

func newADKChat(c *http.Client) model.LLM {
	return completions.New(completions.Config{APIKey: "key", ModelName: chatModel, HTTPOptions: completions.HTTPOptions{Client: c}})
}

// A transport writes the body of each request to out and returns a stream.
type transport struct {
	out    io.Writer
	stream []byte
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(t.out, r.Body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(t.stream)), Request: r,
	}, r.Body.Close()
}

// A generateBody is the document of a request, in the types of the SDK.
type generateBody struct {
	Contents          []*genai.Content             `json:"contents"`
	SystemInstruction *genai.Content               `json:"systemInstruction"`
	Tools             []*genai.Tool                `json:"tools"`
	ToolConfig        *genai.ToolConfig            `json:"toolConfig"`
	GenerationConfig  *genai.GenerateContentConfig `json:"generationConfig"`
}

// adkRequest returns a function that sends a request. All are streamed, because the SDK
// for Messages refuses others with many output tokens.
func adkRequest(response string, newModel func(*http.Client) model.LLM) func([]byte, io.Writer) error {
	t := &transport{stream: []byte(response)}
	m := newModel(&http.Client{Transport: t})
	return func(body []byte, out io.Writer) error {
		t.out = out
		var b generateBody
		if err := json.Unmarshal(body, &b); err != nil {
			return err
		}
		c := b.GenerationConfig
		if c == nil {
			c = new(genai.GenerateContentConfig)
		}
		c.SystemInstruction, c.Tools, c.ToolConfig = b.SystemInstruction, b.Tools, b.ToolConfig
		for _, err := range m.GenerateContent(context.Background(), &model.LLMRequest{Contents: b.Contents, Config: c}, true) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// adkStream writes the partial responses of the model as they arrive. The last response has
// all content once more, of which only what has not been written follows: tool calls.
func adkStream(stream []byte, out io.Writer) error {
	t := &transport{out: io.Discard, stream: stream}
	m := newADKAnthropic(&http.Client{Transport: t})
	req := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("q", genai.RoleUser)}}
	var frame bytes.Buffer
	for r, err := range m.GenerateContent(context.Background(), req, true) {
		if err != nil {
			return err
		}
		candidate := &genai.Candidate{Content: r.Content}
		doc := &genai.GenerateContentResponse{Candidates: []*genai.Candidate{candidate}, ModelVersion: r.ModelVersion}
		if !r.Partial {
			rest := &genai.Content{Role: r.Content.Role}
			for _, p := range r.Content.Parts {
				if p.FunctionCall != nil {
					rest.Parts = append(rest.Parts, p)
				}
			}
			candidate.Content, candidate.FinishReason, doc.UsageMetadata = rest, r.FinishReason, r.UsageMetadata
		}
		data, err := json.Marshal(doc)
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
	return nil
}
