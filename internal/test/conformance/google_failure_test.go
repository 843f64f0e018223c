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
	"github.com/polywire/polywire/upstream/script"
)

// wantFailure checks the error that the SDK reports. message is a part of its
// text.
func (s googleServer) wantFailure(t *testing.T, err error, code int, status, message string) *googleFailure {
	t.Helper()
	var f *googleFailure
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want %d %s", err, code, status)
	}
	class := "ApiError"
	if _, ok := s.sdk.(goGenai); ok {
		class = "APIError"
	}
	if f.Class != class || f.Code != code || f.Body != code || f.Status != status || !strings.Contains(f.Message, message) {
		t.Errorf("got %s %d (%d) %s %q, want %s %d %s and %q", f.Class, f.Code, f.Body, f.Status, f.Message, class, code, status, message)
	}
	if r := s.report(t); r.Err == nil {
		t.Error("the report has no error")
	}
	return f
}

// failures are the errors of an upstream.
var failures = []struct {
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

func TestGoogleUpstreamFailures(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for _, tt := range failures {
			t.Run(tt.order, func(t *testing.T) {
				a, err := s.ask(t, stream, genai.Text(play(failing(tt.order))), nil)
				f := s.wantFailure(t, err, tt.code, tt.status, orderedMessage(tt.order))
				if a.chunks != 0 {
					t.Errorf("failed after %d chunks", a.chunks)
				}
				wantDelay(t, f, tt.order)
			})
		}
	})
}

// wantDelay checks the retry delay that the client receives, if any.
func wantDelay(t *testing.T, f *googleFailure, order string) {
	t.Helper()
	delay := ""
	for _, d := range f.Details {
		if d["@type"] == "type.googleapis.com/google.rpc.RetryInfo" {
			delay, _ = d["retryDelay"].(string)
		}
	}
	if want := strings.Contains(order, "retry"); want != (delay == "7s") {
		t.Errorf("retry delay %q", delay)
	}
}

func TestGoogleBadRequests(t *testing.T) {
	tests := []struct {
		name, message string
		turns         []*genai.Content
	}{
		{"unknown role", "role", []*genai.Content{genai.NewContentFromText("Hi.", "narrator")}},
		{"invalid image data", "contents[0].parts[0].inline_data", []*genai.Content{
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
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		ask := func(k string) error {
			c := s.call(genai.Text("Hi."), nil)
			c.Key, c.Stream = k, stream
			_, err := s.sdk.ask(t.Context(), c)
			return err
		}
		s.wantFailure(t, ask(""), http.StatusForbidden, "PERMISSION_DENIED", "unregistered callers")
		f := s.wantFailure(t, ask(key+"x"), http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
		if len(f.Details) == 0 || f.Details[0]["reason"] != "API_KEY_INVALID" {
			t.Errorf("details %v, want API_KEY_INVALID", f.Details)
		}
	})
}

func TestGoogleNoModel(t *testing.T) {
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		s := serveGoogle(t, c, actor{})
		call := s.call(nil, nil)
		call.Model = "absent"
		_, err := c.model(t.Context(), call)
		s.wantFailure(t, err, http.StatusNotFound, "NOT_FOUND", "models/absent")
	})
}

// TestGoogleFailureMidStream checks that an error after a part of the response
// reaches the client in the stream, after that part. A whole response has not
// begun and fails with a status.
func TestGoogleFailureMidStream(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		wantMidway := func(order string, code int, status, message string) *googleFailure {
			t.Helper()
			a, err := s.ask(t, stream, genai.Text(play(script.Say("One two "), failing(order))), nil)
			f := s.wantFailure(t, err, code, status, message)
			want := ""
			if stream {
				want = "One two "
			}
			if a.text() != want || a.finish != "" {
				t.Errorf("%s: text %q and finish reason %q before the error, want %q and none", order, a.text(), a.finish, want)
			}
			return f
		}
		for _, tt := range failures {
			wantDelay(t, wantMidway(tt.order, tt.code, tt.status, orderedMessage(tt.order)), tt.order)
		}
		wantMidway("cut", http.StatusServiceUnavailable, "UNAVAILABLE", "the connection to the model broke")
	})
}

// watched is an actor and records the context's error at the end of each request.
type watched struct {
	actor
	ended chan error
}

func (w watched) Generate(ctx context.Context, r *upstream.Request, to *upstream.Writer) error {
	err := w.actor.Generate(ctx, r, to)
	w.ended <- ctx.Err()
	return err
}

// TestGoogleClientDisconnect checks that the upstream's work ends when the client
// disconnects.
func TestGoogleClientDisconnect(t *testing.T) {
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		up := watched{actor{}, make(chan error, 1)}
		s := serveGoogle(t, c, up)
		call := s.call(genai.Text(play(words(1000, 10*time.Millisecond)...)), nil)
		call.Stream, call.Leave = true, 4
		a, err := c.ask(t.Context(), call)
		if !errors.Is(err, errLeft) {
			t.Errorf("got %v, want errLeft", err)
		}
		if !strings.HasPrefix(a.text(), "word word ") || a.finish != "" {
			t.Errorf("text %q and finish reason %q before the client disconnected", a.text(), a.finish)
		}
		select {
		case err := <-up.ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the upstream's context: %v, want canceled", err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the upstream continues")
		}
		r := s.report(t)
		if r.Code != upstream.CodeCanceled || r.Usage.Output >= 1000 {
			t.Errorf("report has code %q after %d tokens", r.Code, r.Usage.Output)
		}
		s.stop() // waits for handlers
		if n, held := s.budget.InFlight(); n != 0 || held != 0 {
			t.Errorf("%d requests with %d bytes left in the budget", n, held)
		}
	})
}

// TestGoogleVersions checks that the tested clients use different versions of
// the API. If an update changes that, other tests must cover it.
func TestGoogleVersions(t *testing.T) {
	want := map[string]string{"go": "/v1beta/", "typescript": "/v1/", "typescript-1.30": "/v1beta/"}
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		s := serveGoogle(t, c, actor{})
		s.mustAsk(t, false, genai.Text("Hi."), nil)
		_, name, _ := strings.Cut(t.Name(), "/")
		if path := *s.path.Load(); path != want[name]+"models/"+googleModel+":generateContent" {
			t.Errorf("%s, want version %s", path, want[name])
		}
	})
}
