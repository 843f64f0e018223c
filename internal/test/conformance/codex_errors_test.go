package conformance

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestCodexErrors checks what Codex does and prints for each kind of failure: before the response, or
// within it, after a text.
func TestCodexErrors(t *testing.T) {
	const repeated, once = 2, 1 // requests, with one repetition allowed
	failed := func(code upstream.Code, wait time.Duration) error {
		return &upstream.Error{Code: code, Text: "The model failed here.", RetryAfter: wait}
	}
	for _, tt := range []struct {
		name            string
		err             error
		stop            content.StopReason // instead of an error
		before, within  string             // what Codex prints
		asks, asksAgain int32              // requests for a failure before the response, and for one within it
	}{
		{"invalid", failed(upstream.CodeInvalid, 0), "", "The model failed here.", "The model failed here.", once, once},
		{"too long", &upstream.Error{Code: upstream.CodeInvalid, Text: "prompt is too long: 300 tokens > 200 maximum"}, "",
			"ran out of room in the model's context window", "ran out of room in the model's context window", once, once},
		{"key", failed(upstream.CodeUnauthenticated, 0), "", "401 Unauthorized: The model failed here.", "", repeated, 0},
		{"permission", failed(upstream.CodePermission, 0), "", "403 Forbidden: The model failed here.", "", repeated, 0},
		{"unknown model", failed(upstream.CodeNotFound, 0), "", "The model failed here.", "", once, 0},
		{"rate limit", failed(upstream.CodeRateLimit, time.Second), "", "429 Too Many Requests", "rate limit exceeded: The model failed here.", repeated, repeated},
		{"rate limit without a time", failed(upstream.CodeRateLimit, 0), "", "429 Too Many Requests", "", once, 0},
		{"quota", failed(upstream.CodeQuota, 0), "", "Quota exceeded", "Quota exceeded", once, once},
		{"internal", failed(upstream.CodeInternal, 0), "", "high demand", "The model failed here.", repeated, repeated},
		{"unavailable", failed(upstream.CodeUnavailable, 0), "", "503 Service Unavailable: The model failed here.", "The model failed here.", repeated, repeated},
		{"overloaded", failed(upstream.CodeOverloaded, 0), "", "Selected model is at capacity", "Selected model is at capacity", once, once},
		{"output limit", nil, content.StopMaxTokens, "", "Incomplete response returned, reason: max_output_tokens", 0, once},
		{"safety", nil, content.StopSafety, "", "Incomplete response returned, reason: content_filter", 0, repeated},
	} {
		for _, begun := range []bool{false, true} {
			want, asks := tt.before, tt.asks
			name := tt.name + ", before"
			if begun {
				want, asks, name = tt.within, tt.asksAgain, tt.name+", within"
			}
			if asks == 0 {
				continue
			}
			t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				var n atomic.Int32
				up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
					n.Add(1)
					if begun {
						_ = w.Text("The beginning")
					}
					if tt.stop != "" {
						return w.Stop(upstream.Stop{Reason: tt.stop})
					}
					return tt.err
				})
				r := runCodex(t, codexProvider, serveResponses(t, up, nil).url, "some-model", "Do it.")
				printed := strings.Join(r.errors, "\n")
				if r.code == 0 || !strings.Contains(printed, want) || n.Load() != asks {
					t.Errorf("exit code %d after %d requests, want %d; printed %q, want %q", r.code, n.Load(), asks, printed, want)
				}
			})
		}
	}
}
