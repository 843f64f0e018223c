package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"testing"

	"golang.org/x/oauth2"
	"google.golang.org/genai"
)

// A googleSDK is one of the official generateContent clients. Scenarios are
// written in the types of the Go SDK, whose JSON the other SDKs accept.
type googleSDK interface {
	// ask sends a request and returns the response as the client reads it. An
	// error that the client reports is a *googleFailure. A client that
	// disconnects as requested returns errLeft.
	ask(ctx context.Context, c googleCall) (*googleAnswer, error)

	// chat begins a chat with the call's Model and Config.
	chat(ctx context.Context, c googleCall) (googleChat, error)

	// count returns the number of tokens in the call's Contents.
	count(ctx context.Context, c googleCall) (int32, error)

	// models lists all models, c.Size per page, and returns the number of
	// pages.
	models(ctx context.Context, c googleCall) (list []model, pages int, err error)

	// model returns the model named c.Model.
	model(ctx context.Context, c googleCall) (model, error)
}

// A googleChat is a chat of the SDK, which keeps the history.
type googleChat interface {
	send(ctx context.Context, stream bool, parts []*genai.Part) (*googleAnswer, error)

	// turns returns the number of turns in the next request's history.
	turns(ctx context.Context) (int, error)
}

// A googleCall is one request and how to send it.
type googleCall struct {
	BaseURL string `json:"base_url"`
	Key     string `json:"key"`    // none if empty
	Stream  bool   `json:"stream"` // ask for events
	Leave   int    `json:"leave"`  // disconnect after this many chunks
	Cloud   string `json:"cloud"`  // the cloud for which the client is configured, or empty

	Model    string                       `json:"model"`
	Contents []*genai.Content             `json:"contents"`
	Config   *genai.GenerateContentConfig `json:"config"`
	Size     int32                        `json:"size"`

	// For TypeScript only.
	Op    string        `json:"op"`   // "count", "models", "model", "chat", "history", or empty
	Old   bool          `json:"old"`  // use the older version
	Chat  string        `json:"chat"` // name of the chat
	Parts []*genai.Part `json:"parts"`
}

// A googleFailure is an API error as a client reports it.
type googleFailure struct {
	Class   string // the client's own name for the error
	Code    int    // code that the client reports
	Body    int    // code in the error
	Status  string
	Message string
	Details []map[string]any
}

func (f *googleFailure) Error() string {
	return fmt.Sprintf("%s %d %s: %s", f.Class, f.Code, f.Status, f.Message)
}

var errLeft = errors.New("the client disconnected as requested")

// goGenai is the Go SDK.
type goGenai struct{ t *testing.T }

// keyless removes the key from requests, since the SDK requires one.
type keyless struct{ http.RoundTripper }

func (k keyless) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("x-goog-api-key")
	return k.RoundTripper.RoundTrip(r)
}

func (g goGenai) open(ctx context.Context, c googleCall) *genai.Client {
	g.t.Helper()
	transport := &http.Transport{}
	g.t.Cleanup(transport.CloseIdleConnections)
	config := &genai.ClientConfig{
		APIKey: c.Key, Backend: genai.BackendGeminiAPI,
		HTTPClient:  &http.Client{Transport: transport},
		HTTPOptions: genai.HTTPOptions{BaseURL: c.BaseURL},
	}
	switch {
	case c.Cloud == vertexCloud:
		config.Backend, config.Project, config.Location, config.APIKey = genai.BackendVertexAI, "project", "global", ""
		token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: c.Key})
		config.HTTPClient.Transport = &oauth2.Transport{Source: token, Base: transport}
	case c.Key == "":
		config.APIKey, config.HTTPClient.Transport = "k-unsent", keyless{transport}
	}
	client, err := genai.NewClient(ctx, config)
	if err != nil {
		g.t.Fatal(err)
	}
	return client
}

// goFailure converts an error of the Go SDK.
func goFailure(err error) error {
	var e genai.APIError
	if !errors.As(err, &e) {
		return err
	}
	return &googleFailure{
		Class: "APIError", Code: e.Code, Body: e.Code, Status: e.Status, Message: e.Message, Details: e.Details,
	}
}

// one returns a stream of a single response.
func one(r *genai.GenerateContentResponse, err error) iter.Seq2[*genai.GenerateContentResponse, error] {
	return func(yield func(*genai.GenerateContentResponse, error) bool) { yield(r, err) }
}

// gather reads a stream to its end or first error. It calls leave after the
// given number of chunks.
func gather(stream iter.Seq2[*genai.GenerateContentResponse, error], after int, leave func()) (*googleAnswer, error) {
	a := newGoogleAnswer()
	for chunk, err := range stream {
		switch {
		case errors.Is(err, context.Canceled) && a.chunks == after:
			return a, errLeft
		case err != nil:
			return a, goFailure(err)
		}
		if a.add(chunk); a.chunks == after {
			leave()
		}
	}
	return a, nil
}

func (g goGenai) ask(ctx context.Context, c googleCall) (*googleAnswer, error) {
	m := g.open(ctx, c).Models
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !c.Stream {
		return gather(one(m.GenerateContent(ctx, c.Model, c.Contents, c.Config)), -1, nil)
	}
	if c.Leave == 0 {
		c.Leave = -1
	}
	return gather(m.GenerateContentStream(ctx, c.Model, c.Contents, c.Config), c.Leave, cancel)
}

func (g goGenai) count(ctx context.Context, c googleCall) (int32, error) {
	n, err := g.open(ctx, c).Models.CountTokens(ctx, c.Model, c.Contents, nil)
	if err != nil {
		return 0, goFailure(err)
	}
	return n.TotalTokens, nil
}

func (g goGenai) models(ctx context.Context, c googleCall) (list []model, pages int, err error) {
	page, err := g.open(ctx, c).Models.List(ctx, &genai.ListModelsConfig{PageSize: c.Size})
	for ; err == nil; page, err = page.Next(ctx) {
		pages++
		for _, m := range page.Items {
			list = append(list, model{ID: m.Name, Name: m.DisplayName})
		}
	}
	if err == genai.ErrPageDone {
		return list, pages, nil
	}
	return nil, 0, goFailure(err)
}

func (g goGenai) model(ctx context.Context, c googleCall) (model, error) {
	m, err := g.open(ctx, c).Models.Get(ctx, c.Model, nil)
	if err != nil {
		return model{}, goFailure(err)
	}
	return model{ID: m.Name, Name: m.DisplayName}, nil
}

type goChat struct{ *genai.Chat }

func (g goGenai) chat(ctx context.Context, c googleCall) (googleChat, error) {
	chat, err := g.open(ctx, c).Chats.Create(ctx, c.Model, c.Config, nil)
	return goChat{chat}, err
}

func (c goChat) send(ctx context.Context, stream bool, parts []*genai.Part) (*googleAnswer, error) {
	if stream {
		return gather(c.SendStream(ctx, parts...), -1, nil)
	}
	return gather(one(c.Send(ctx, parts...)), -1, nil)
}

func (c goChat) turns(context.Context) (int, error) { return len(c.History(true)), nil }

// eachGoogle runs a scenario with each client.
func eachGoogle(t *testing.T, f func(t *testing.T, c googleSDK)) {
	t.Helper()
	t.Run("go", func(t *testing.T) { f(t, goGenai{t}) })
	t.Run("typescript", func(t *testing.T) { f(t, tsGenai{googleDriver(t), false}) })
	t.Run("typescript-1.30", func(t *testing.T) { f(t, tsGenai{googleDriver(t), true}) })
}

// bothGoogle runs a scenario plain and streamed with each client, over an actor.
func bothGoogle(t *testing.T, f func(t *testing.T, s googleServer, stream bool)) {
	t.Helper()
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		t.Run("plain", func(t *testing.T) { f(t, serveGoogle(t, c, actor{}), false) })
		t.Run("stream", func(t *testing.T) { f(t, serveGoogle(t, c, actor{}), true) })
	})
}

// read parses the error's envelope, which the TypeScript SDK returns as text
// after its own message.
func (f *googleFailure) read(envelope string) error {
	var e struct {
		Error struct {
			Code    int
			Status  string
			Message string
			Details []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(envelope), &e); err != nil {
		return fmt.Errorf("the error %q: %w", envelope, err)
	}
	f.Body, f.Status, f.Message, f.Details = e.Error.Code, e.Error.Status, e.Error.Message, e.Error.Details
	return nil
}
