package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// modelLister returns an upstream with the models m1 to mn, oldest first. m2 is
// retired.
func modelLister(n int) *formattest.Able {
	list := make([]upstream.Model, n)
	for i := range list {
		list[i] = upstream.Model{ID: fmt.Sprint("m", i+1), Created: time.Unix(int64(1000*i), 0)}
		if i == 1 {
			list[i].Extra = &content.Extra{Format: Format, JSON: `{"lifecycle":"retired","line":"opus"}`}
		}
	}
	return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return list, nil }}
}

func get(path string) *http.Request {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("anthropic-version", "2023-06-01")
	return r
}

func serve(up upstream.Upstream, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	NewHandler(up, nil).ServeHTTP(w, r)
	return w
}

func TestModelPages(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"", "m5 m4 m3 m1 |"},
		{"?limit=2", "m5 m4 | more"},
		{"?limit=2&after_id=m4", "m3 m1 |"},
		{"?limit=1&after_id=m4", "m3 | more"},
		{"?after_id=m1", "|"},
		{"?limit=2&before_id=m3", "m5 m4 |"},
		{"?limit=1&before_id=m3", "m4 | more"},
		{"?lifecycle%5B%5D=retired", "m2 |"},
		{"?lifecycle[]=active&lifecycle[]=retired&limit=4", "m5 m4 m3 m2 | more"},
		{"?beta=true&unknown=1", "m5 m4 m3 m1 |"},
	} {
		w := serve(modelLister(5), get("/v1/models"+tt.query))
		var page struct {
			Data    []struct{ ID string }
			HasMore *bool   `json:"has_more"`
			FirstID *string `json:"first_id"`
			LastID  *string `json:"last_id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || page.HasMore == nil {
			t.Fatalf("%q: %d %s", tt.query, w.Code, w.Body)
		}
		got := ""
		for _, m := range page.Data {
			got += m.ID + " "
		}
		got += "|"
		if *page.HasMore {
			got += " more"
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.query, got, tt.want)
		}
		if n := len(page.Data); n == 0 {
			if page.FirstID != nil || page.LastID != nil {
				t.Errorf("%q: ids of an empty page: %s", tt.query, w.Body)
			}
		} else if *page.FirstID != page.Data[0].ID || *page.LastID != page.Data[n-1].ID {
			t.Errorf("%q: first and last: %s", tt.query, w.Body)
		}
	}
}

func TestModel(t *testing.T) {
	w := serve(modelLister(2), get("/any/v1/models/m2"))
	want := `{"type":"model","id":"m2","display_name":"m2","created_at":"1970-01-01T00:16:40Z","lifecycle":"retired",` +
		`"max_input_tokens":null,"max_tokens":null,"deprecated_at":null,"retires_at":null,"capabilities":null,"line":"opus"}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != 200 {
		t.Errorf("%d (-want +got):\n%s", w.Code, diff)
	}
	slashes := &formattest.Able{List: func(context.Context) ([]upstream.Model, error) {
		return []upstream.Model{{ID: "a/b", MaxInput: 10, MaxOutput: 5, Name: "A"}}, nil
	}}
	w = serve(slashes, get("/v1/models/a/b"))
	if !strings.Contains(w.Body.String(), `"display_name":"A","created_at":"1970-01-01T00:00:00Z","lifecycle":"active","max_input_tokens":10,"max_tokens":5,`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestModelsRefused(t *testing.T) {
	fails := func(err error) *formattest.Able {
		return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return nil, err }}
	}
	for _, tt := range []struct {
		name, path string
		up         upstream.Upstream
		status     int
		kind, text string
	}{
		{"unknown", "/v1/models/nope", modelLister(1), 404, "not_found_error", "model: nope"},
		{"cannot list", "/v1/models", hello, 404, "not_found_error", "models: "},
		{"limit", "/v1/models?limit=0", modelLister(1), 400, "invalid_request_error", "limit: Input should be greater than or equal to 1"},
		{"limit too large", "/v1/models?limit=1001", modelLister(1), 400, "invalid_request_error", "limit: Input should be less than or equal to 1000"},
		{"limit not a number", "/v1/models?limit=x", modelLister(1), 400, "invalid_request_error", "limit: Input should be a valid integer"},
		{"after_id and before_id", "/v1/models?after_id=m1&before_id=m1", modelLister(1), 400, "invalid_request_error", "after_id and before_id"},
		{"unknown after_id", "/v1/models?after_id=m9", modelLister(1), 400, "invalid_request_error", "after_id: unknown model"},
		{"lifecycle", "/v1/models?lifecycle[]=dead", modelLister(1), 400, "invalid_request_error", "lifecycle.0: "},
		{"upstream's error", "/v1/models", fails(&upstream.Error{Code: upstream.CodeOverloaded}), 529, "overloaded_error", "Overloaded"},
		{"fails to list", "/v1/models", fails(fmt.Errorf("down: %w", http.ErrNotSupported)), 500, "api_error", "Internal server error"},
		{"other error", "/v1/models", fails(errors.New("secret")), 500, "api_error", "Internal server error"},
		{"panic", "/v1/models", &formattest.Able{}, 500, "api_error", "Internal server error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkError(t, serve(tt.up, get(tt.path)).Result(), tt.status, tt.kind, tt.text, "")
		})
	}
	w := serve(modelLister(1), post(smallBody))
	if w.Code == 404 {
		t.Error("an upstream that lists models does not serve messages")
	}
	r := get("/v1/models")
	r.Method = "POST"
	checkError(t, serve(modelLister(1), r).Result(), 405, "invalid_request_error", "Method not allowed; use GET", "")
}

func countRequest(body string) *http.Request {
	r := post(body)
	r.URL.Path = "/v1/messages/count_tokens"
	return r
}

func TestCountTokens(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"How many words are in this sentence?"}]}`
	var counted *upstream.Request
	counts := func(n upstream.TokenCount, err error) *formattest.Able {
		return &formattest.Able{Count: func(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
			counted = r
			return n, err
		}}
	}
	for _, tt := range []struct {
		name string
		up   upstream.Upstream
		want string
	}{
		{"upstream", counts(upstream.TokenCount{Tokens: 57}, nil), `{"input_tokens":57}`},
		{"upstream with more", counts(upstream.TokenCount{Tokens: 57, Extra: &content.Extra{Format: Format,
			JSON: `{"context_management":{"original_input_tokens":60}}`}}, nil), `{"input_tokens":57,"context_management":{"original_input_tokens":60}}`},
		// Eight words, a punctuation mark and the overhead of a turn.
		{"estimate", hello, `{"input_tokens":12}`},
		// The estimate includes the system prompt that Edit adds.
		{"estimate behind an edit", upstream.Edit(hello, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			r = r.Clone()
			r.System = []content.Part{&content.Text{Text: "one two three"}}
			return r, nil
		}), `{"input_tokens":15}`},
	} {
		w := serve(tt.up, countRequest(body))
		if w.Code != 200 || w.Body.String() != tt.want {
			t.Errorf("%s: %d %s, want %s", tt.name, w.Code, w.Body, tt.want)
		}
	}
	if counted == nil || snapshot.DocumentOf(counted, Format) == nil {
		t.Error("the upstream did not get the document")
	}
	checkError(t, serve(counts(upstream.TokenCount{}, &upstream.Error{Code: upstream.CodeRateLimit}), countRequest(body)).Result(), 429, "rate_limit_error", "", "")
	// If the upstream fails to count, the handler does not estimate.
	checkError(t, serve(counts(upstream.TokenCount{}, fmt.Errorf("down: %w", http.ErrNotSupported)), countRequest(body)).Result(), 500, "api_error", "", "")
	checkError(t, serve(hello, countRequest(`{"model":"m"}`)).Result(), 400, "invalid_request_error", "messages: Field required", "")
}

// The handler limits the time that an upstream has to count tokens.
func TestCountTokensTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &formattest.Able{Count: func(ctx context.Context, _ *upstream.Request) (upstream.TokenCount, error) {
			<-ctx.Done()
			return upstream.TokenCount{}, ctx.Err()
		}}
		start := time.Now()
		w := serve(up, countRequest(`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))
		checkError(t, w.Result(), 504, "timeout_error", "", "")
		if d := time.Since(start); d != 10*time.Minute {
			t.Errorf("after %v", d)
		}
	})
}

// Counting ends when the client closes the connection.
func TestCountTokensClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		up := &formattest.Able{Count: func(ctx context.Context, _ *upstream.Request) (upstream.TokenCount, error) {
			cancel()
			<-ctx.Done()
			return upstream.TokenCount{}, context.Cause(ctx)
		}}
		done := 0
		h := NewHandler(up, &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) {
			done++
			if r.Status != 499 || r.Mode != "count" || r.Model != "m" {
				t.Errorf("report: %+v", r)
			}
		}}})
		h.ServeHTTP(httptest.NewRecorder(), countRequest(`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`).WithContext(ctx))
		if done != 1 {
			t.Errorf("%d reports", done)
		}
	})
}
