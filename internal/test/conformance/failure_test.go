package conformance

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

// wantFailure checks the error that a client reports. message is a part of its
// text.
func wantFailure(t *testing.T, s *server, err error, status int, kind, message string) *failure {
	t.Helper()
	var f *failure
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want status %d %s", err, status, kind)
	}
	if f.Status != status || f.Type != kind || !strings.Contains(f.Message, message) {
		t.Errorf("got %d %s %q, want %d %s and %q", f.Status, f.Type, f.Message, status, kind, message)
	}
	r := s.report(t)
	if f.RequestID == "" || f.RequestID != r.ID {
		t.Errorf("the client received request id %q, the host %q", f.RequestID, r.ID)
	}
	if r.Err == nil {
		t.Error("the report has no error")
	}
	return f
}

func TestBadRequests(t *testing.T) {
	tests := []struct {
		name, message string
		params        obj
	}{
		{"no tokens", "max_tokens", request(arr{user("Hi.")}, obj{"max_tokens": -1})},
		{"no turns", "messages", request(arr{}, nil)},
		{"empty text", "messages", request(arr{user(arr{text("")})}, nil)},
		{"call without result", "messages.1", request(arr{
			user("Hi."),
			obj{"role": "assistant", "content": arr{obj{"type": "tool_use", "id": "toolu_x", "name": "clock", "input": obj{}}}},
			user("Never mind."),
		}, obj{"tools": arr{clock}})},
		{"not base64", "messages.0.content.0.image.source.base64.data", request(arr{user(arr{
			obj{"type": "image", "source": obj{"type": "base64", "media_type": "image/png", "data": "####"}},
		})}, nil)},
		{"wrong media type", "messages.0.content.0.image.source.base64", request(arr{user(arr{
			obj{"type": "image", "source": obj{"type": "base64", "media_type": "image/jpeg", "data": png64}},
		})}, nil)},
		{"invalid link", "messages.0.content.0.image.source", request(arr{user(arr{
			obj{"type": "image", "source": obj{"type": "url", "url": "https://files.example/a.png"}},
		})}, nil)},
	}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := s.ask(t, c, stream, tt.params)
				wantFailure(t, s, err, http.StatusBadRequest, "invalid_request_error", tt.message)
			})
		}
	})
}

func TestKeys(t *testing.T) {
	params := request(arr{user("echo: say Come in.")}, nil)
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		for _, good := range []call{{Key: key}, {Token: key}} {
			good.BaseURL, good.Stream, good.Params = s.url, stream, params
			a, err := c.ask(t.Context(), good)
			if err != nil || a.text() != "Come in." {
				t.Errorf("with the right key: %v, %v", a, err)
			}
			s.report(t)
		}
		for _, bad := range []call{{Key: key + "x"}, {Token: "K" + key[1:]}} {
			bad.BaseURL, bad.Stream, bad.Params = s.url, stream, params
			_, err := c.ask(t.Context(), bad)
			wantFailure(t, s, err, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
		}
		// The SDKs require a key, but they can send it in another header.
		_, err := c.ask(t.Context(), call{
			BaseURL: s.url, Token: " ", Stream: stream, Params: params,
			Header: map[string]string{"x-other-key": key},
		})
		wantFailure(t, s, err, http.StatusUnauthorized, "authentication_error", "")
	})
}

// TestVersionsAndKeys checks that the tested clients cover both versions of the API
// and both places of the key. If an update changes that, other tests must cover
// it.
func TestVersionsAndKeys(t *testing.T) {
	type carrier struct{ Version, Place string }
	each(t, func(t *testing.T, c sdk) {
		s := serve(t, nil)
		s.mustAsk(t, c, false, request(arr{user("Hi.")}, nil))
		h := *s.header.Load()
		got := carrier{Version: h.Get("anthropic-version")}
		for _, place := range []string{"x-api-key", "authorization"} {
			if h.Get(place) != "" {
				got.Place += place
			}
		}
		want := carrier{"2026-10-21", "authorization"}
		if older(c) {
			want = carrier{"2023-06-01", "x-api-key"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("version and place of the key (-want +got):\n%s", diff)
		}
	})
}

func TestTooLarge(t *testing.T) {
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, &messages.Options{HandlerOptions: upstream.HandlerOptions{Limits: content.Limits{Body: 4000}}})
		s.mustAsk(t, c, stream, request(arr{user("echo: say Fits.")}, nil))
		_, err := s.ask(t, c, stream, request(arr{user(strings.Repeat("x", 4001))}, nil))
		wantFailure(t, s, err, http.StatusRequestEntityTooLarge, "request_too_large", "")
	})
}

func TestUpstreamFailures(t *testing.T) {
	tests := []struct {
		order  string
		status int
		kind   string
	}{
		{"fail invalid", 400, "invalid_request_error"},
		{"fail billing", 402, "billing_error"},
		{"fail permission", 403, "permission_error"},
		{"fail not_found", 404, "not_found_error"},
		{"fail conflict", 409, "conflict_error"},
		{"fail too_large", 413, "request_too_large"},
		{"fail rate_limit retry 7s", 429, "rate_limit_error"},
		{"fail internal", 500, "api_error"},
		{"fail timeout", 504, "timeout_error"},
		{"fail overloaded", 529, "overloaded_error"},
	}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		for _, tt := range tests {
			t.Run(tt.order, func(t *testing.T) {
				_, err := s.ask(t, c, stream, request(arr{user(play(failing(tt.order)))}, nil))
				f := wantFailure(t, s, err, tt.status, tt.kind, "")
				if f.Message == "" {
					t.Error("no message")
				}
				after := ""
				if strings.Contains(tt.order, "retry 7s") {
					after = "7"
				}
				if f.RetryAfter != after {
					t.Errorf("retry-after is %q, want %q", f.RetryAfter, after)
				}
			})
		}
	})
}

// TestFailureMidStream checks that an error after a part of the response
// reaches the client in the stream, after that part. A whole response has not
// begun and fails with a status.
func TestFailureMidStream(t *testing.T) {
	params := request(arr{user(play(script.Say("One two "), failing("fail overloaded")))}, nil)
	each(t, func(t *testing.T, c sdk) {
		s := serve(t, nil)
		a, err := s.ask(t, c, true, params)
		status := http.StatusOK
		if _, ts := c.(typeScript); ts {
			status = 0 // this SDK has no status for it
		}
		wantFailure(t, s, err, status, "overloaded_error", "")
		want := []string{"message_start", "content_block_start", "content_block_delta", "content_block_delta"}
		if diff := cmp.Diff(want, a.Events); diff != "" {
			t.Errorf("events before the failure (-want +got):\n%s", diff)
		}
		_, err = s.ask(t, c, false, params)
		wantFailure(t, s, err, 529, "overloaded_error", "")
	})
}

// TestClientDisconnect checks that the upstream's work ends when the client
// disconnects.
func TestClientDisconnect(t *testing.T) {
	each(t, func(t *testing.T, c sdk) {
		s := serve(t, nil)
		a, err := c.ask(t.Context(), call{
			BaseURL: s.url, Key: key, Stream: true, Leave: 4,
			Params: request(arr{user(play(words(1000, 10*time.Millisecond)...))}, obj{"max_tokens": 100000}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(a.text(), "word") {
			t.Errorf("got text %q before the client disconnected", a.text())
		}
		r := s.report(t)
		if r.Err == nil {
			t.Error("the report has no error")
		}
		if took := r.Usage.Completion(); took >= 1000 {
			t.Errorf("the upstream generated %d tokens", took)
		}
		s.stop() // waits for handlers
		if n, held := s.budget.InFlight(); n != 0 || held != 0 {
			t.Errorf("%d requests with %d bytes left in the budget", n, held)
		}
	})
}
