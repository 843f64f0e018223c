package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/upstream/echo"
)

func TestService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := service(echo.New(), []tenant{
			{name: "ada", key: "k-ada", tokens: 10},
			{name: "bob", key: "k-bob", tokens: 100_000, strict: true},
		}, slog.New(slog.DiscardHandler))
		const plain = `{"model": "demo", "max_tokens": 99, "messages": [{"role": "user", "content": "Hello."}]}`
		const unknown = `{"model": "demo", "max_tokens": 99, "colour": "red", "messages": [{"role": "user", "content": "Hello."}]}`
		for _, tt := range []struct {
			name, path, key, body string
			status                int
			text                  string
		}{
			{"key of another tenant", "/ada/v1/messages", "k-bob", plain, 401, `"authentication_error"`},
			{"unknown member, strict", "/bob/v1/messages", "k-bob", unknown, 400, "colour: Extra inputs are not permitted"},
			{"unknown member, not strict", "/ada/v1/messages", "k-ada", unknown, 200, "echo of demo"},
			{"quota used up", "/ada/v1/messages", "k-ada", plain, 429, `"rate_limit_error","message":"The token quota of this key is used up."`},
			{"quota of another tenant", "/bob/v1/messages", "k-bob", plain, 200, "echo of demo"},
		} {
			status, header, text := post(h, tt.path, tt.key, tt.body)
			if status != tt.status || !strings.Contains(text, tt.text) {
				t.Errorf("%s: %d %s, want %d and %s", tt.name, status, text, tt.status, tt.text)
			}
			if status == http.StatusTooManyRequests && header.Get("Retry-After") != "60" {
				t.Errorf("%s: Retry-After is %q, want 60", tt.name, header.Get("Retry-After"))
			}
		}
		time.Sleep(window)
		if status, _, text := post(h, "/ada/v1/messages", "k-ada", plain); status != http.StatusOK {
			t.Errorf("next window: %d %s, want 200", status, text)
		}
	})
}

// post sends a request to h and returns the response.
func post(h http.Handler, path, key, body string) (int, http.Header, string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("anthropic-version", "2023-06-01")
	r.Header.Set("x-api-key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	text, _ := io.ReadAll(res.Body) // a recorder does not fail
	return res.StatusCode, res.Header, string(text)
}
