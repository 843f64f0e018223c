package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/bedrock"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/vertex"
	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

//go:generate go run ./gen

// goV2 is the Go SDK in its major version 2.
type goV2 struct{}

// open returns a client. The caller must call closing.
func (goV2) open(c call, more ...option.RequestOption) (client anthropic.Client, closing func()) {
	transport := &http.Transport{}
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithBaseURL(c.BaseURL),
		option.WithMaxRetries(0),
	}
	switch {
	case c.Cloud == vertexCloud:
		// The option for the base URL must follow the one that sets Google's.
		credentials := &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: c.Key})}
		opts = append(opts, vertex.WithCredentials(context.Background(), "global", "project", credentials), option.WithBaseURL(c.BaseURL))
	case c.Cloud == bedrockCloud:
		config := aws.Config{Region: "us-east-1", BearerAuthTokenProvider: bedrock.NewStaticBearerTokenProvider(c.Key)}
		opts = append(opts, bedrock.WithConfig(config), option.WithBaseURL(c.BaseURL))
	case c.Key != "":
		opts = append(opts, option.WithAPIKey(c.Key))
	case c.Token != "":
		opts = append(opts, option.WithAuthToken(c.Token))
	}
	for k, v := range c.Header {
		opts = append(opts, option.WithHeader(k, v))
	}
	return anthropic.NewClient(append(opts, more...)...), transport.CloseIdleConnections
}

// failed converts an API error to a failure.
func (goV2) failed(err error) error {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return err
	}
	f := &failure{
		Status: e.StatusCode, Type: string(e.Type()), Message: messageOf(e.RawJSON()),
		RequestID: e.RequestID, Cause: e.Error(),
	}
	if e.Response != nil {
		f.RetryAfter = e.Response.Header.Get("retry-after")
	}
	return f
}

func (d goV2) ask(ctx context.Context, c call) (*answer, error) {
	var reply *http.Response
	client, closing := d.open(c, option.WithResponseInto(&reply))
	defer closing()
	body, err := json.Marshal(c.Params)
	if err != nil {
		return nil, err
	}
	var params anthropic.MessageNewParams
	if err := json.Unmarshal(body, &params); err != nil {
		return nil, err
	}
	var a answer
	var m *anthropic.Message
	if c.Stream {
		m, err = d.accumulate(ctx, client, params, c.Leave, &a)
	} else {
		m, err = client.Messages.New(ctx, params)
	}
	err = d.failed(err)
	if _, ok := err.(*failure); ok {
		return &a, err
	}
	if m == nil {
		return &a, err
	}
	if reply != nil {
		a.RequestID = reply.Header.Get("request-id")
	}
	a.ID, a.Model, a.StopReason = m.ID, string(m.Model), string(m.StopReason)
	a.Input, a.Output = m.Usage.InputTokens, m.Usage.OutputTokens
	for _, b := range m.Content {
		a.Blocks = append(a.Blocks, block{
			Type: b.Type, Text: b.Text, Thinking: b.Thinking, Signature: b.Signature,
			ID: b.ID, Name: b.Name, Input: b.Input,
		})
	}
	turn, marshalErr := json.Marshal(m.ToParam())
	a.Turn = turn
	return &a, errors.Join(err, marshalErr)
}

// accumulate reads a stream. If the stream fails, it returns what has arrived.
func (goV2) accumulate(ctx context.Context, client anthropic.Client, params anthropic.MessageNewParams, leave int, a *answer) (*anthropic.Message, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	var m anthropic.Message
	for stream.Next() {
		event := stream.Current()
		a.Events = append(a.Events, event.Type)
		if err := m.Accumulate(event); err != nil {
			return &m, err
		}
		if leave > 0 && len(a.Events) == leave {
			return &m, nil
		}
	}
	return &m, stream.Err()
}

func (d goV2) count(ctx context.Context, c call) (int64, error) {
	client, closing := d.open(c)
	defer closing()
	body, err := json.Marshal(c.Params)
	if err != nil {
		return 0, err
	}
	var params anthropic.MessageCountTokensParams
	if err := json.Unmarshal(body, &params); err != nil {
		return 0, err
	}
	n, err := client.Messages.CountTokens(ctx, params)
	if err != nil {
		return 0, d.failed(err)
	}
	return n.InputTokens, nil
}

func (d goV2) models(ctx context.Context, c call) (list []model, err error) {
	client, closing := d.open(c)
	defer closing()
	pages := client.Models.ListAutoPaging(ctx, anthropic.ModelListParams{Limit: anthropic.Int(c.Limit)})
	for pages.Next() {
		m := pages.Current()
		list = append(list, model{m.ID, m.DisplayName, m.CreatedAt.UTC().Format(time.RFC3339)})
	}
	return list, d.failed(pages.Err())
}

func (d goV2) model(ctx context.Context, c call) (model, error) {
	client, closing := d.open(c)
	defer closing()
	m, err := client.Models.Get(ctx, c.Name, anthropic.ModelGetParams{})
	if err != nil {
		return model{}, d.failed(err)
	}
	return model{m.ID, m.DisplayName, m.CreatedAt.UTC().Format(time.RFC3339)}, nil
}
