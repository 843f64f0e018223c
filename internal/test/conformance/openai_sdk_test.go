package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	openairesponses "github.com/polywire/polywire/upstream/openai/responses"
)

// Values of call.Format.
const (
	chatFormat      = "chat"
	responsesFormat = "responses"
)

// An openaiSDK is an official client of Chat Completions and Responses.
type openaiSDK interface {
	ask(ctx context.Context, c call) (*answer, error)
}

// bothOpenAI runs a scenario plain and streamed, with each client.
func bothOpenAI(t *testing.T, f func(t *testing.T, c openaiSDK, stream bool)) {
	t.Helper()
	eachOpenAI(t, func(t *testing.T, c openaiSDK) {
		t.Run("plain", func(t *testing.T) { f(t, c, false) })
		t.Run("stream", func(t *testing.T) { f(t, c, true) })
	})
}

// eachOpenAI runs a scenario with each client.
func eachOpenAI(t *testing.T, f func(t *testing.T, c openaiSDK)) {
	t.Helper()
	t.Run("go", func(t *testing.T) { f(t, goOpenAI{}) })
	t.Run("typescript", func(t *testing.T) { f(t, tsOpenAI{needNode(t, openaiNode), "openai-7"}) })
	t.Run("typescript-old", func(t *testing.T) { f(t, tsOpenAI{needNode(t, openaiNode), "openai-4"}) })
}

// serveChat starts a server of Chat Completions on loopback. opts may be nil.
func serveChat(t *testing.T, up upstream.Upstream, opts *chatcompletions.Options) *server {
	t.Helper()
	if opts == nil {
		opts = &chatcompletions.Options{}
	}
	s := newServer(&opts.HandlerOptions)
	return s.start(t, chatcompletions.NewHandler(up, opts))
}

// serveResponses starts a server of Responses on loopback. opts may be nil.
func serveResponses(t *testing.T, up upstream.Upstream, opts *openairesponses.Options) *server {
	t.Helper()
	if opts == nil {
		opts = &openairesponses.Options{}
	}
	s := newServer(&opts.HandlerOptions)
	return s.start(t, openairesponses.NewHandler(up, opts))
}

// serveOpenAI starts a server of one of the two formats.
func serveOpenAI(t *testing.T, format string, up upstream.Upstream) *server {
	t.Helper()
	if format == chatFormat {
		return serveChat(t, up, nil)
	}
	return serveResponses(t, up, nil)
}

// goOpenAI is the Go SDK.
type goOpenAI struct{}

func (d goOpenAI) ask(ctx context.Context, c call) (*answer, error) {
	var reply *http.Response
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	opts := []option.RequestOption{
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithBaseURL(c.BaseURL + "/v1"), option.WithAPIKey(c.Key), option.WithMaxRetries(0),
		option.WithResponseInto(&reply),
	}
	for k, v := range c.Header {
		opts = append(opts, option.WithHeader(k, v))
	}
	body, err := json.Marshal(c.Params)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	client := openaisdk.NewClient(opts...)
	if c.Format == chatFormat {
		err = d.chat(ctx, client, body, c.Stream, a)
	} else {
		err = d.responses(ctx, client, body, c.Stream, a)
	}
	var e *openaisdk.Error
	if errors.As(err, &e) {
		return a, &failure{
			Status: e.StatusCode, Type: e.Type, Message: e.Message, Code: e.Code, Param: e.Param,
			RequestID: e.Response.Header.Get("x-request-id"), RetryAfter: e.Response.Header.Get("retry-after"), Cause: e.Error(),
		}
	}
	if err != nil {
		return a, err
	}
	a.RequestID = reply.Header.Get("x-request-id")
	return a, a.readDocument(c.Format)
}

// chat sends a request of Chat Completions.
func (goOpenAI) chat(ctx context.Context, client openaisdk.Client, body []byte, stream bool, a *answer) error {
	var params openaisdk.ChatCompletionNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return err
	}
	if !stream {
		completion, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return err
		}
		a.Document = json.RawMessage(completion.RawJSON())
		a.Turn, err = json.Marshal(completion.Choices[0].Message.ToParam())
		return err
	}
	events := client.Chat.Completions.NewStreaming(ctx, params)
	defer events.Close()
	var acc openaisdk.ChatCompletionAccumulator
	for events.Next() {
		chunk := events.Current()
		a.Events = append(a.Events, chunk.RawJSON())
		if !acc.AddChunk(chunk) {
			return errors.New("the accumulator refuses the chunk " + chunk.RawJSON())
		}
		if len(chunk.Choices) > 0 {
			var delta struct {
				Reasoning string `json:"reasoning_content"`
			}
			if err := json.Unmarshal([]byte(chunk.Choices[0].Delta.RawJSON()), &delta); err != nil {
				return err
			}
			a.reasoning += delta.Reasoning
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	var err error
	if a.Document, err = json.Marshal(acc.ChatCompletion); err != nil {
		return err
	}
	if len(acc.Choices) == 0 {
		return errors.New("the stream has no choice")
	}
	a.Turn, err = json.Marshal(acc.Choices[0].Message.ToParam())
	return err
}

// responses sends a request of Responses. Its stream is read as the documentation shows: the
// last event has the response.
func (goOpenAI) responses(ctx context.Context, client openaisdk.Client, body []byte, stream bool, a *answer) error {
	// The types of the SDK cannot be decoded from input items.
	params := param.Override[responses.ResponseNewParams](json.RawMessage(body))
	if !stream {
		response, err := client.Responses.New(ctx, params)
		if err != nil {
			return err
		}
		a.Document = json.RawMessage(response.RawJSON())
		return nil
	}
	events := client.Responses.NewStreaming(ctx, params)
	defer events.Close()
	for events.Next() {
		event := events.Current()
		a.Events = append(a.Events, event.RawJSON())
		switch event.Type {
		case "response.completed", "response.incomplete", "response.failed":
			a.Document = json.RawMessage(event.Response.RawJSON())
		}
	}
	if err := events.Err(); err != nil {
		return err
	}
	if a.Document == nil {
		return errors.New("the stream has no response")
	}
	return nil
}

// A chatDocument is a response of Chat Completions.
type chatDocument struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
		Logprobs struct {
			Content []struct {
				Token   string  `json:"token"`
				Logprob float64 `json:"logprob"`
			} `json:"content"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`
}

// A responseDocument is a response of Responses.
type responseDocument struct {
	ID         string `json:"id"`
	Model      string `json:"model"`
	Status     string `json:"status"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []json.RawMessage `json:"output"`
	Usage  struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

// A responseItem is an item of a response.
type responseItem struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	CallID  string `json:"call_id"`
	Name    string `json:"name"`
	Args    string `json:"arguments"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Summary []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Encrypted string `json:"encrypted_content"`
}

// readDocument fills the blocks of the answer from its document.
func (a *answer) readDocument(format string) error {
	if format == chatFormat {
		return a.readChat()
	}
	return a.readResponse()
}

func (a *answer) readChat() error {
	var d chatDocument
	if err := json.Unmarshal(a.Document, &d); err != nil {
		return err
	}
	a.ID, a.Model, a.Input, a.Output = d.ID, d.Model, d.Usage.Prompt, d.Usage.Completion
	if len(d.Choices) == 0 {
		return errors.New("the response has no choice")
	}
	m := d.Choices[0].Message
	a.StopReason = d.Choices[0].FinishReason
	if r := cmp.Or(m.Reasoning, a.reasoning); r != "" {
		a.Blocks = append(a.Blocks, block{Type: "thinking", Thinking: r})
	}
	if m.Content != "" {
		a.Blocks = append(a.Blocks, block{Type: "text", Text: m.Content})
	}
	for _, c := range m.ToolCalls {
		a.Blocks = append(a.Blocks, block{Type: "tool_use", ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	return nil
}

func (a *answer) readResponse() error {
	var d responseDocument
	if err := json.Unmarshal(a.Document, &d); err != nil {
		return err
	}
	a.ID, a.Model, a.Input, a.Output = d.ID, d.Model, d.Usage.Input, d.Usage.Output
	a.StopReason = strings.TrimSpace(d.Status + " " + d.Incomplete.Reason)
	for _, raw := range d.Output {
		var i responseItem
		if err := json.Unmarshal(raw, &i); err != nil {
			return err
		}
		switch i.Type {
		case "reasoning":
			var text strings.Builder
			for _, s := range i.Summary {
				text.WriteString(s.Text)
			}
			a.Blocks = append(a.Blocks, block{Type: "thinking", Thinking: text.String(), Signature: i.Encrypted})
		case "message":
			for _, p := range i.Content {
				a.Blocks = append(a.Blocks, block{Type: "text", Text: p.Text})
			}
		case "function_call":
			a.Blocks = append(a.Blocks, block{Type: "tool_use", ID: i.CallID, Name: i.Name, Input: json.RawMessage(i.Args)})
		}
	}
	if a.Turn == nil {
		turn, err := json.Marshal(d.Output)
		if err != nil {
			return err
		}
		a.Turn = turn
	}
	return nil
}

// mustAskOpenAI sends a request that must succeed, and compares what the client and the host
// receive. f is the vendor.
func (s *server) mustAskOpenAI(t *testing.T, c openaiSDK, q call, f *fake.Server) *answer {
	t.Helper()
	q.BaseURL, q.Key = s.url, key
	a, err := c.ask(t.Context(), q)
	if err != nil {
		t.Fatalf("the request failed: %v\nsent to the vendor: %.3000s", err, f.Last().Body)
	}
	r := s.report(t)
	if r.Err != nil || r.Status != http.StatusOK {
		t.Errorf("report: status %d, error %v, want 200 and none", r.Status, r.Err)
	}
	// The helpers for streams do not return the id of the request.
	if _, typescript := c.(tsOpenAI); a.RequestID != r.ID && !(typescript && q.Stream) {
		t.Errorf("the client received request id %q, the host %q", a.RequestID, r.ID)
	}
	if a.Output == 0 || a.Output != r.Usage.Completion() || a.Input != r.Usage.Prompt() {
		t.Errorf("the client received %d+%d tokens, the host %d+%d", a.Input, a.Output, r.Usage.Prompt(), r.Usage.Completion())
	}
	return a
}
