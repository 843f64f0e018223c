package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// newUpstream returns an adapter for a server of a model, and counts its requests.
func newUpstream(t *testing.T, model upstream.Upstream) (upstream.Upstream, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	h := messages.NewHandler(model, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	up, err := anthropic.New(&anthropic.Options{BaseURL: s.URL, Key: "k", HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	return up, &calls
}

func TestCache(t *testing.T) {
	up, calls := newUpstream(t, echo.New())
	c := newCache(up, 3)
	h := handler(c)
	const hi = `"model":"demo","messages":[{"role":"user","content":"Hi"}]`
	for i, tt := range []struct {
		name, path, key, body string
		calls                 int32
		want                  []string // parts of the response or of its headers
	}{
		{"first", "/v1/messages", "a", `{"max_tokens":64,` + hi + `}`, 1, []string{`"text":"echo of demo`}},
		{"again", "/v1/messages", "a", `{"max_tokens":64,` + hi + `}`, 1, []string{`"text":"echo of demo`, "X-Cache: hit"}},
		{"streamed", "/v1/messages", "a", `{"max_tokens":64,"stream":true,` + hi + `}`, 1, []string{"event: message_stop", "X-Cache: hit"}},
		{"other client", "/v1/messages", "b", `{"max_tokens":64,` + hi + `}`, 2, nil},
		{"other text", "/v1/messages", "a", `{"max_tokens":64,` + strings.Replace(hi, "Hi", "Ho", 1) + `}`, 3, nil},
		{"with a loss", "/v1/chat/completions", "a", `{"seed":5,"max_tokens":64,` + hi + `}`, 4, []string{"Polywire-Loss: dropped seed"}},
		{"with the loss again", "/v1/chat/completions", "a", `{"seed":6,"max_tokens":64,` + hi + `}`, 4, []string{"Polywire-Loss: dropped seed", "X-Cache: hit"}},
		{"a link, which is not known before", "/v1/messages", "a",
			`{"model":"demo","max_tokens":64,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://127.0.0.1/a.png"}}]}]}`, 4, []string{"error"}},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, tt.path, strings.NewReader(tt.body))
		r.Header.Set("Authorization", "Bearer "+tt.key)
		if tt.path == "/v1/messages" {
			r.Header.Set("Anthropic-Version", "2023-06-01")
		}
		h.ServeHTTP(w, r)
		var all strings.Builder
		_ = w.Header().Write(&all)
		all.WriteString(w.Body.String())
		for _, want := range tt.want {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%s: no %q in\n%s", tt.name, want, &all)
			}
		}
		if n := calls.Load(); n != tt.calls || len(c.responses) > 3 {
			t.Fatalf("%d: %s: %d calls, %d responses", i, tt.name, n, len(c.responses))
		}
	}
}

// TestFailure checks that a response that failed is not kept.
func TestFailure(t *testing.T) {
	up, calls := newUpstream(t, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("begun")
		return &upstream.Error{Code: upstream.CodeOverloaded}
	}))
	c := newCache(up, 3)
	for range 2 {
		_, err := upstream.Collect(t.Context(), c, &upstream.Request{Model: "m", Stream: true, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}}}}})
		if err == nil {
			t.Error("no error")
		}
	}
	if calls.Load() != 2 || len(c.responses) != 0 {
		t.Errorf("%d calls, %d responses", calls.Load(), len(c.responses))
	}
}

func TestUpstream(t *testing.T) {
	up, _ := newUpstream(t, echo.New())
	upstreamtest.Run(t, newCache(up, 100), &upstreamtest.Options{Model: "demo", Deterministic: true})
}
