package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
)

// An sdk is one of the official clients.
type sdk interface {
	// ask sends a request and returns the response as the client reads it. An
	// error that the client reports is a *failure.
	ask(ctx context.Context, c call) (*answer, error)

	// count returns the number of tokens in a request.
	count(ctx context.Context, c call) (int64, error)

	// models lists all models, c.Limit per page.
	models(ctx context.Context, c call) ([]model, error)

	// model returns the model named c.Name.
	model(ctx context.Context, c call) (model, error)
}

// A model is a model as a client reads it.
type model struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Created string `json:"created"` // RFC 3339, UTC
}

// A call is one request and how to send it.
type call struct {
	BaseURL string `json:"base_url"`
	Key     string `json:"key"`    // sent in the client's usual way
	Token   string `json:"token"`  // sent as a bearer token, if there is no Key
	Stream  bool   `json:"stream"` // ask for events and accumulate them
	Leave   int    `json:"leave"`  // stop reading after this many events
	Cloud   string `json:"cloud"`  // the cloud for which the client is configured, or empty
	Beta    bool   `json:"beta"`   // use the beta client; for TypeScript only
	Params  any    `json:"params"` // the request's body
	Limit   int64  `json:"limit"`
	Name    string `json:"name"`
	Op      string `json:"op"`     // "count", "models", "model", or empty; for TypeScript only
	Format  string `json:"format"` // for clients of several formats
	Major   string `json:"major"`  // the folder in ts/majors; for TypeScript only

	Header map[string]string `json:"header"` // extra headers
}

// An answer is a response as a client reads it.
type answer struct {
	ID         string  `json:"id"`
	Model      string  `json:"model"`
	StopReason string  `json:"stop_reason"`
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	Blocks     []block `json:"blocks"`
	RequestID  string  `json:"request_id"`

	// Events are the types of a stream's events, in order.
	Events []string `json:"events"`

	// Turn is the response as the client sends it in the next request.
	Turn json.RawMessage `json:"turn"`

	Models []model `json:"models"` // for TypeScript only

	// Document is the whole response as the client reads it, for the formats of OpenAI.
	Document  json.RawMessage `json:"document"`
	reasoning string          // of a stream's deltas
}

// A block is a content block; fields that its type does not have are empty.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// A failure is an API error as a client reports it.
type failure struct {
	Status    int    `json:"status"`
	Type      string `json:"type"`
	Message   string `json:"message"`
	RequestID string `json:"request_id"`
	Cause     string `json:"cause"` // the client's own text

	RetryAfter string `json:"retry_after"`
	Code       string `json:"code"`  // in the formats of OpenAI
	Param      string `json:"param"` // in the formats of OpenAI
}

func (f *failure) Error() string {
	return fmt.Sprintf("%d %s: %s (%s) [%s]", f.Status, f.Type, f.Message, f.RequestID, f.Cause)
}

// messageOf returns the message of an error's envelope.
func messageOf(raw string) string {
	var envelope struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(raw), &envelope) // other texts have no message
	return envelope.Error.Message
}

// each runs a scenario with each client.
func each(t *testing.T, f func(t *testing.T, s sdk)) {
	t.Run("go-v1", func(t *testing.T) { f(t, goV1{}) })
	t.Run("go-v1-beta", func(t *testing.T) { f(t, goV1Beta{}) })
	t.Run("go-v2", func(t *testing.T) { f(t, goV2{}) })
	t.Run("go-v2-beta", func(t *testing.T) { f(t, goV2Beta{}) })
	t.Run("typescript", func(t *testing.T) { f(t, typescript(t, false)) })
	t.Run("typescript-beta", func(t *testing.T) { f(t, typescript(t, true)) })
}

// older reports whether a client uses the older version of the API.
func older(s sdk) bool {
	switch s.(type) {
	case goV1, goV1Beta:
		return true
	}
	return false
}
