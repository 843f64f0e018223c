package e2e

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// TestOtherFormatErrors checks which error messages of a vendor reach clients
// of another format and the host's log: robustness.md R5.3. Waits of any length
// reach clients.
func TestOtherFormatErrors(t *testing.T) {
	ofOpenAI := func(int) string { return `{"message":"marked words","type":"server_error","param":null,"code":null}` }
	objects := map[string]func(status int) string{
		"messages": func(status int) string {
			kind := map[int]string{400: "invalid_request_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
			if kind == "" {
				kind = "api_error"
			}
			return `{"type":"` + kind + `","message":"marked words"}`
		},
		"generatecontent": func(status int) string {
			name := map[int]string{400: "INVALID_ARGUMENT", 402: "RESOURCE_EXHAUSTED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
			if name == "" {
				name = "INTERNAL"
			}
			return `{"message":"marked words","status":"` + name + `"}`
		},
		"": ofOpenAI, "chatcompletions": ofOpenAI, "responses": ofOpenAI,
	}
	each(t, func(t *testing.T, f endpoint, b adapter) {
		if b.format == f.name {
			return
		}
		for _, tt := range []struct {
			status int
			client bool   // the message reaches the client
			retry  string // Retry-After for the client
		}{{400, true, ""}, {402, false, ""}, {403, false, ""}, {404, true, ""}, {429, true, "604800"}, {500, false, "604800"}, {503, false, "604800"}, {529, false, "604800"}} {
			s := httptest.NewServer(&constant{sentError{tt.status, http.Header{"Retry-After": {"604800"}, "X-Ratelimit-Left": {"0"}, "Anthropic-Other": {"1"}}, objects[b.format](tt.status)}, b.format, false})
			var seen bytes.Buffer
			h := f.handler(b.at(t, s.URL, s.Client()), upstream.HandlerOptions{Logger: slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))})
			for _, m := range f.modes {
				seen.Reset()
				w := httptest.NewRecorder()
				h.ServeHTTP(w, f.request("m", (&vendorResponse{}).request(f), m))
				if got := strings.Contains(w.Body.String(), "marked words"); got != tt.client || w.Code < 400 {
					t.Errorf("%s: %d became status %d %s", m, tt.status, w.Code, w.Body)
				}
				if !strings.Contains(seen.String(), "marked words") {
					t.Errorf("%s: %d: the log has %s", m, tt.status, seen.String())
				}
				if got := w.Header().Get("Retry-After"); tt.retry != "" && got != tt.retry || w.Header().Get("X-Ratelimit-Left") != "" {
					t.Errorf("%s: %d: headers %v", m, tt.status, w.Header())
				}
				if f.name == "generatecontent" && tt.status == 429 && !strings.Contains(w.Body.String(), `"retryDelay":"604800s"`) {
					t.Errorf("%s: %s", m, w.Body)
				}
			}
			s.Close()
		}
	})
}
