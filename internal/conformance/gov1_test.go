// Code generated from gov2_test.go by gen; DO NOT EDIT.

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// goV1 is the Go SDK in its major version 1.
type goV1 struct{}

func (goV1) ask(ctx context.Context, c call) (*answer, error) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithBaseURL(c.BaseURL),
		option.WithMaxRetries(0),
	}
	if c.Key != "" {
		opts = append(opts, option.WithAPIKey(c.Key))
	} else if c.Token != "" {
		opts = append(opts, option.WithAuthToken(c.Token))
	}
	for k, v := range c.Header {
		opts = append(opts, option.WithHeader(k, v))
	}
	var reply *http.Response
	opts = append(opts, option.WithResponseInto(&reply))
	client := anthropic.NewClient(opts...)

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
		m, err = goV1{}.accumulate(ctx, client, params, c.Leave, &a)
	} else {
		m, err = client.Messages.New(ctx, params)
	}
	if failed := new(anthropic.Error); errors.As(err, &failed) {
		f := &failure{
			Status: failed.StatusCode, Type: string(failed.Type()), Message: messageOf(failed.RawJSON()),
			RequestID: failed.RequestID, Cause: failed.Error(),
		}
		if failed.Response != nil {
			f.RetryAfter = failed.Response.Header.Get("retry-after")
		}
		return &a, f
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

// accumulate reads a stream. It returns what has come if it fails midway.
func (goV1) accumulate(ctx context.Context, client anthropic.Client, params anthropic.MessageNewParams, leave int, a *answer) (*anthropic.Message, error) {
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
