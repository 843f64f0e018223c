package conformance

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// wantFailure checks how the SDK reports a failure. message is a part of it.
func (s googleServer) wantFailure(t *testing.T, err error, code int, status, message string) genai.APIError {
	t.Helper()
	var e genai.APIError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %d %s", err, code, status)
	}
	if e.Code != code || e.Status != status || !strings.Contains(e.Message, message) {
		t.Errorf("got %d %s %q, want %d %s and %q", e.Code, e.Status, e.Message, code, status, message)
	}
	if r := s.report(t); r.Err == nil {
		t.Error("reported without an error")
	}
	return e
}

func TestGoogleUpstreamFailures(t *testing.T) {
	tests := []struct {
		order, status string
		code          int
	}{
		{"fail invalid", "INVALID_ARGUMENT", 400},
		{"fail permission", "PERMISSION_DENIED", 403},
		{"fail not_found", "NOT_FOUND", 404},
		{"fail rate_limit retry 7s", "RESOURCE_EXHAUSTED", 429},
		{"fail internal", "INTERNAL", 500},
		{"fail unavailable", "UNAVAILABLE", 503},
		{"fail overloaded", "UNAVAILABLE", 503},
		{"fail timeout", "DEADLINE_EXCEEDED", 504},
	}
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for _, tt := range tests {
			t.Run(tt.order, func(t *testing.T) {
				a, err := s.ask(t, stream, genai.Text("echo: "+tt.order), nil)
				e := s.wantFailure(t, err, tt.code, tt.status, "")
				if e.Message == "" || a.chunks != 0 {
					t.Errorf("message %q after %d chunks", e.Message, a.chunks)
				}
				delay := ""
				for _, d := range e.Details {
					if d["@type"] == "type.googleapis.com/google.rpc.RetryInfo" {
						delay, _ = d["retryDelay"].(string)
					}
				}
				if want := strings.Contains(tt.order, "retry"); want != (delay == "7s") {
					t.Errorf("retry delay %q", delay)
				}
			})
		}
	})
}

func TestGoogleBadRequests(t *testing.T) {
	tests := []struct {
		name, message string
		turns         []*genai.Content
	}{
		{"no such role", "role", []*genai.Content{genai.NewContentFromText("Hi.", "narrator")}},
		{"not the image it says", "contents[0].parts[0].inline_data", []*genai.Content{
			genai.NewContentFromBytes([]byte("no picture"), "image/png", genai.RoleUser),
		}},
	}
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := s.ask(t, stream, tt.turns, nil)
				s.wantFailure(t, err, http.StatusBadRequest, "INVALID_ARGUMENT", tt.message)
			})
		}
	})
}

func TestGoogleKeys(t *testing.T) {
	s := serveGoogle(t, echo.New())
	ask := func(k string, stream bool) error {
		if !stream {
			_, err := s.open(t, k).Models.GenerateContent(t.Context(), googleModel, genai.Text("Hi."), nil)
			return err
		}
		_, err := gather(s.open(t, k).Models.GenerateContentStream(t.Context(), googleModel, genai.Text("Hi."), nil))
		return err
	}
	for _, stream := range []bool{false, true} {
		s.wantFailure(t, ask("", stream), http.StatusForbidden, "PERMISSION_DENIED", "unregistered callers")
		e := s.wantFailure(t, ask(key+"x", stream), http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
		if len(e.Details) == 0 || e.Details[0]["reason"] != "API_KEY_INVALID" {
			t.Errorf("details %v, want API_KEY_INVALID", e.Details)
		}
	}
}

func TestGoogleNoModel(t *testing.T) {
	s := serveGoogle(t, echo.New())
	_, err := s.open(t, key).Models.Get(t.Context(), "nobody", nil)
	s.wantFailure(t, err, http.StatusNotFound, "NOT_FOUND", "models/nobody")
}

// A failure midway reaches the client in the stream, after what was said; a
// plain answer is not begun yet, and fails by its status.
func TestGoogleMidway(t *testing.T) {
	for _, order := range []string{"cut after 2", "fail overloaded after 2"} {
		bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
			a, err := s.ask(t, stream, genai.Text("echo: say One two three.\necho: "+order), nil)
			s.wantFailure(t, err, http.StatusServiceUnavailable, "UNAVAILABLE", "")
			want := ""
			if stream {
				want = "One two "
			}
			if a.said() != want || a.finish != "" {
				t.Errorf("%s: said %q and ended with %q before the failure, want %q and no end", order, a.said(), a.finish, want)
			}
		})
	}
}

// watched is echo, and tells how the context of a request was when it returned.
type watched struct {
	*echo.Upstream
	ended chan error
}

func (w watched) Generate(ctx context.Context, r *upstream.Request, to *upstream.Writer) error {
	err := w.Upstream.Generate(ctx, r, to)
	w.ended <- ctx.Err()
	return err
}

// A client that leaves ends the upstream's work.
func TestGoogleLeaving(t *testing.T) {
	up := watched{echo.New(), make(chan error, 1)}
	s := serveGoogle(t, up)
	c := s.open(t, key)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turns := genai.Text("echo: repeat 1000 word \necho: pause 10ms")
	a := &googleAnswer{content: &genai.Content{}}
	for chunk, err := range c.Models.GenerateContentStream(ctx, googleModel, turns, nil) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want that it was canceled", err)
			}
			break
		}
		if a.add(chunk); a.chunks == 4 {
			cancel()
		}
	}
	if !strings.HasPrefix(a.said(), "word word ") || a.finish != "" {
		t.Errorf("said %q and ended with %q before the client left", a.said(), a.finish)
	}
	select {
	case err := <-up.ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the upstream's context: %v, want canceled", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the upstream goes on")
	}
	r := s.report(t)
	if r.Code != upstream.CodeCanceled || r.Usage.Output >= 1000 {
		t.Errorf("reported as %q after %d tokens", r.Code, r.Usage.Output)
	}
	s.stop() // waits for handlers
	if n, held := s.budget.InFlight(); n != 0 || held != 0 {
		t.Errorf("%d requests with %d bytes are still in flight", n, held)
	}
}
