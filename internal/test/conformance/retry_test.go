package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/polywire/polywire/upstream"
)

// TestRetries checks that the official SDK retries by default when a rate limit
// is reached, and never when a quota is exhausted for which waiting does not
// help.
func TestRetries(t *testing.T) {
	for code, want := range map[upstream.Code]int64{upstream.CodeRateLimit: 2, upstream.CodeQuota: 1} {
		for _, stream := range []bool{false, true} {
			var hits atomic.Int64
			s := serveModel(t, upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
				hits.Add(1)
				return &upstream.Error{Code: code, Text: "No more."}
			}), nil)
			client, closing := goV1{}.open(call{BaseURL: s.url, Key: key}, option.WithMaxRetries(1))
			params := anthropic.MessageNewParams{
				Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("q"))},
			}
			var err error
			if stream {
				events := client.Messages.NewStreaming(t.Context(), params)
				for events.Next() {
				}
				err = events.Err()
			} else {
				_, err = client.Messages.New(t.Context(), params)
			}
			closing()
			var e *anthropic.Error
			if !errors.As(err, &e) || e.StatusCode != 429 || hits.Load() != want {
				t.Errorf("%s, stream %v: %v after %d requests, want 429 after %d", code, stream, err, hits.Load(), want)
			}
		}
	}
}
