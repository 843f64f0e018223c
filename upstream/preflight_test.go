package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A counter counts the HTTP requests that an adapter sends, the files that it loads and the
// keys that it looks up. Every HTTP request fails.
type counter struct{ sent, fetched, keys int }

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent++
	if r.Body != nil {
		r.Body.Close()
	}
	return nil, errors.New("there is no server")
}

func (c *counter) Resolve(context.Context, content.Source) (content.Blob, error) {
	c.fetched++
	return content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, nil
}

func (c *counter) key(context.Context) (string, error) {
	c.keys++
	return "k", nil
}

// adapters returns all adapters.
func adapters(t *testing.T, c *counter) map[string]upstream.Upstream {
	t.Helper()
	client := &http.Client{Transport: c}
	claude, err1 := anthropic.New(&anthropic.Options{HTTPClient: client, KeyFunc: c.key})
	gem, err2 := gemini.New(&gemini.Options{HTTPClient: client, KeyFunc: c.key})
	chat, err3 := openai.New(&openai.Options{HTTPClient: client, KeyFunc: c.key})
	responses, err4 := openai.NewResponses(&openai.Options{HTTPClient: client, KeyFunc: c.key})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return map[string]upstream.Upstream{"claude": claude, "gemini": gem, "chat": chat, "responses": responses}
}

// everything returns a request with losses for every vendor, and with a link.
func everything(model string) *upstream.Request {
	k, seed := int64(3), int64(7)
	return &upstream.Request{
		Model:  model,
		System: []content.Part{&content.Text{Text: "Be kind.", Cache: &content.Cache{TTL: "1h"}}},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Image{Source: &content.URL{URL: "https://example.com/a.png"}}}},
			{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: "Hm.", Signature: content.Signature{Format: "elsewhere", Data: "x"}},
				&content.Text{Text: "I see."}}},
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "And?"}}},
		},
		TopK: &k, Seed: &seed, Candidates: 2, UserID: "u-1",
	}
}

// TestPreflightOfAdapters checks that Preflight of each adapter returns the losses that
// Generate reports, also through a Mux and an Edit, without sending anything.
func TestPreflightOfAdapters(t *testing.T) {
	var c counter
	same := func(_ context.Context, r *upstream.Request) (*upstream.Request, error) { return r, nil }
	for name, up := range adapters(t, &c) {
		t.Run(name, func(t *testing.T) {
			var m upstream.Mux
			m.HandleAs("via/*", upstream.Edit(upstream.First(up), same), "*")
			r := everything("via/some-model")
			r.Resolver = &c
			c = counter{}
			losses, err := upstream.Preflight(t.Context(), &m, r)
			if err != nil || len(losses) == 0 {
				t.Fatalf("%d losses, %v", len(losses), err)
			}
			if c != (counter{}) {
				t.Errorf("sent or loaded: %+v", c)
			}
			var reported []content.Loss
			err = upstream.Run(t.Context(), &m, r, upstream.SinkFunc(func(events []upstream.Event) error {
				for _, e := range events {
					if e.Loss != nil {
						reported = append(reported, *e.Loss)
					}
				}
				return nil
			}))
			if diff := cmp.Diff(reported, losses); diff != "" {
				t.Errorf("losses (-Generate +Preflight):\n%s", diff)
			}
			if c.sent == 0 {
				t.Errorf("the request was not sent: %v", err)
			}
		})
	}
}

// TestRefusedByAdapters checks that a loss that is not allowed ends Generate before
// anything is sent or fetched.
func TestRefusedByAdapters(t *testing.T) {
	var c counter
	for name, up := range adapters(t, &c) {
		r := everything("some-model")
		r.Resolver, r.RejectLoss = &c, content.LossHint
		c = counter{}
		_, err := upstream.Collect(t.Context(), up, r)
		if list, _ := content.Violations(err); len(list) == 0 || c.sent+c.fetched != 0 {
			t.Errorf("%s: %v, and sent or loaded: %+v", name, err, c)
		}
	}
}
