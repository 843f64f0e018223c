package messages

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

const smallBody = `{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"Hi"}]}`

var streamBody = strings.Replace(smallBody, `{`, `{"stream":true,`, 1)

// hello responds with one word.
var hello = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	return w.Text("Hello")
})

// post returns a valid HTTP request.
func post(body string) *http.Request {
	r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("anthropic-version", "2023-06-01")
	return r
}

// header returns an edit that sets a header.
func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

const servedPaths = "; this handler serves POST /v1/messages"

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// checkError checks an error response.
func checkError(t *testing.T, res *http.Response, status int, kind, text, code string) {
	t.Helper()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := formattest.DecodeObject(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	e, _ := got["error"].(map[string]any)
	message, _ := e["message"].(string)
	want := map[string]any{"type": kind, "message": message}
	if code != "" {
		want["details"] = map[string]any{"error_code": code}
	}
	id := res.Header.Get("request-id")
	if diff := cmp.Diff(map[string]any{"type": "error", "error": want, "request_id": id}, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if res.StatusCode != status || !strings.HasPrefix(message, text) || message == "" || !strings.HasPrefix(id, "req_") {
		t.Errorf("got %d %q (request-id %q), want %d %q", res.StatusCode, message, id, status, text)
	}
	if ct := res.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type: %q", ct)
	}
}
