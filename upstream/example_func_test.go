package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// words are sent by a model that runs somewhere else, until one cannot be had.
func words(ctx context.Context) (<-chan string, <-chan error) {
	out, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(out)
		for _, word := range []string{"Once ", "upon "} {
			select {
			case out <- word:
			case <-ctx.Done():
				return
			}
		}
		failed <- errors.New("gpu 7 at 10.0.0.9 is gone")
	}()
	return out, failed
}

// A model that streams from a channel and fails halfway. What was written stands;
// the client is told the Code and the Text, and Err is for the host's log only.
func ExampleFunc() {
	up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop() // ends the sender, however this ends
		out, failed := words(ctx)
		for word := range out {
			if err := w.Text(word); err != nil {
				return err // nobody is listening any more
			}
		}
		select {
		case err := <-failed:
			return &upstream.Error{Code: upstream.CodeUnavailable, Text: "The storyteller is away.", Err: err}
		default:
			return ctx.Err()
		}
	})

	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model": "m", "max_tokens": 99,
	  "stream": true, "messages": [{"role": "user", "content": "A story, please."}]}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("anthropic-version", "2023-06-01")
	client := httptest.NewRecorder()
	messages.NewHandler(up, nil).ServeHTTP(client, r)
	for line := range strings.Lines(client.Body.String()) {
		if strings.Contains(line, `"text_delta"`) || strings.Contains(line, `"error"`) {
			line, _, _ = strings.Cut(line, `,"request_id"`)
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Once "}}
	// data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"upon "}}
	// data: {"type":"error","error":{"type":"api_error","message":"The storyteller is away."}
}

// A service that lets in who has one of two keys.
func ExampleKeys() {
	h := messages.NewHandler(parrot, &messages.Options{HandlerOptions: upstream.HandlerOptions{
		Authenticate: upstream.Keys("k-ada", "k-bob"),
	}})
	for _, key := range []string{"k-bob", "k-eve", ""} {
		r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model": "parrot", "max_tokens": 99,
		  "messages": [{"role": "user", "content": "Hello!"}]}`))
		r.Header = http.Header{
			"Content-Type":      {"application/json"},
			"Anthropic-Version": {"2023-06-01"},
			"X-Api-Key":         {key},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	// Output:
	// 200
	// 401
	// 401
}
