package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A sentLimit is an HTTP client that records the output limit of a request and
// does not respond.
type sentLimit struct{ tokens int64 }

func (s *sentLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	var b struct {
		A int64 `json:"max_tokens"`
		B int64 `json:"max_completion_tokens"`
		C int64 `json:"max_output_tokens"`
		D struct {
			N int64 `json:"maxOutputTokens"`
		} `json:"generationConfig"`
	}
	err := json.NewDecoder(r.Body).Decode(&b)
	s.tokens = b.A + b.B + b.C + b.D.N
	return &http.Response{StatusCode: 503, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader("{}"))}, err
}

// TestOutputLimits checks that each adapter lowers an output limit to that of
// the model, as vendors document or the host configures it, and reports that.
func TestOutputLimits(t *testing.T) {
	host := map[string]int64{"house": 1000, "gpt-4o": 20000, "claude-sonnet-4-5": 0, "gemini-2.5-pro": 70000}
	sent := new(sentLimit)
	client := &http.Client{Transport: sent}
	must := func(u upstream.Upstream, err error) upstream.Upstream {
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	claude := must(anthropic.New(&anthropic.Options{HTTPClient: client, OutputLimits: host}))
	google := must(gemini.New(&gemini.Options{HTTPClient: client, OutputLimits: host}))
	chat := must(openai.New(&openai.Options{HTTPClient: client, OutputLimits: host}))
	responses := must(openai.NewResponses(&openai.Options{HTTPClient: client, OutputLimits: host}))
	for _, tt := range []struct {
		up    upstream.Upstream
		model string
		want  int64 // limit sent for 128,000 tokens
	}{
		{google, "gemini-3.8-flash", 65536}, {google, "gemini-2.5-flash", 65536}, {google, "gemini-2.0-flash", 8192},
		{google, "gemini-2.5-pro", 70000}, {google, "gemma-3", 128000}, {google, "house", 1000},
		{chat, "gpt-4.1", 32768}, {chat, "gpt-4.1-mini", 32768}, {chat, "gpt-4o", 20000}, {chat, "o3", 100000}, {chat, "gpt-5", 128000},
		{chat, "other", 128000}, {chat, "house-2", 1000},
		{responses, "gpt-4.1", 32768}, {responses, "gpt-4o-mini", 20000}, {responses, "house", 1000},
		{claude, "claude-opus-4-1", 32000}, {claude, "claude-sonnet-4-5", 128000}, {claude, "house", 1000}, {claude, "other", 128000},
	} {
		for _, asked := range []int64{128000, 100} {
			want := min(tt.want, asked)
			req := &upstream.Request{Model: tt.model, MaxTokens: &asked,
				Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}}}
			var paths []string
			_ = upstream.Run(context.Background(), tt.up, req, upstream.SinkFunc(func(events []upstream.Event) error {
				for i := range events {
					if events[i].Kind == upstream.EventLoss {
						paths = append(paths, events[i].Loss.Path)
					}
				}
				return nil
			}))
			if sent.tokens != want {
				t.Errorf("%s: sent limit %d for %d tokens, want %d", tt.model, sent.tokens, asked, want)
			}
			if got := strings.Join(paths, " "); (got == "max_tokens") != (want < asked) {
				t.Errorf("%s: unexpected losses %q", tt.model, got)
			}
		}
	}
}
