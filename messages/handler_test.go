package messages

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
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

// refusedRequests are requests that the handler refuses.
var refusedRequests = []struct {
	name   string
	body   string // smallBody if empty
	edit   func(*http.Request)
	status int
	kind   string
	text   string // prefix of the message
	code   string
}{
	{name: "path", edit: func(r *http.Request) { r.URL.Path = "/v1/nothing" }, status: 404, kind: "not_found_error", text: "there is nothing at this path" + servedPaths},
	{name: "path below", edit: func(r *http.Request) { r.URL.Path = "/v1/messages/" }, status: 404, kind: "not_found_error", text: "there is nothing at this path"},
	{name: "batches", edit: func(r *http.Request) { r.URL.Path = "/v1/messages/batches" }, status: 404, kind: "not_found_error", text: "batches: this part of the API is not supported" + servedPaths},
	{name: "files", edit: func(r *http.Request) { r.URL.Path = "/v1/files/file_1/content" }, status: 404, kind: "not_found_error", text: "files: "},
	{name: "get", edit: func(r *http.Request) { r.Method = "GET" }, status: 405, kind: "invalid_request_error", text: "Method not allowed; use POST"},
	{name: "options", edit: func(r *http.Request) { r.Method = "OPTIONS" }, status: 405, kind: "invalid_request_error", text: "Method not allowed; use POST"},
	{name: "no version", edit: func(r *http.Request) { r.Header.Del("anthropic-version") }, status: 400, kind: "invalid_request_error", text: "anthropic-version: header is required"},
	{name: "unknown version", edit: header("anthropic-version", "2024-01-01"), status: 400, kind: "invalid_request_error", text: "anthropic-version: "},
	{name: "two versions", edit: header("anthropic-version", "2023-06-01", "2026-10-21"), status: 400, kind: "invalid_request_error", text: "anthropic-version: "},
	{name: "many betas", edit: header("anthropic-beta", strings.Repeat("a, ", 64), "b"), status: 400, kind: "invalid_request_error", text: "anthropic-beta: has 65 values; the maximum is 64"},
	{name: "long beta", edit: header("anthropic-beta", "a,"+strings.Repeat("b", 129)), status: 400, kind: "invalid_request_error", text: "anthropic-beta: a value has 129 bytes; the maximum is 128"},
	{name: "form", edit: header("content-type", "application/x-www-form-urlencoded"), status: 400, kind: "invalid_request_error", text: "content-type: must be application/json"},
	{name: "text", edit: header("content-type", "text/plain"), status: 400, kind: "invalid_request_error", text: "content-type: must be application/json"},
	{name: "invalid content type", edit: header("content-type", "application/json; charset"), status: 400, kind: "invalid_request_error", text: "content-type: "},
	{name: "charset", edit: header("content-type", "application/json; charset=utf-16"), status: 400, kind: "invalid_request_error", text: "content-type: ", code: "unsupported_charset"},
	{name: "latin-1", edit: header("content-type", "application/json; charset=iso-8859-1"), body: strings.Replace(smallBody, "Hi", "é", 1), status: 400, kind: "invalid_request_error", text: "content-type: ", code: "unsupported_charset"},
	{name: "gzip", edit: header("content-encoding", "gzip"), status: 400, kind: "invalid_request_error", text: "content-encoding: ", code: "request_body_encoding_unsupported"},
	{name: "too long", edit: func(r *http.Request) { r.ContentLength = 32<<20 + 1 }, status: 413, kind: "request_too_large", text: "Request exceeds the maximum size of 33554432 bytes"},
	{name: "invalid JSON", body: `{"model":`, status: 400, kind: "invalid_request_error", text: "The request body is not valid JSON: "},
	{name: "empty", body: ` `, status: 400, kind: "invalid_request_error", text: "The request body is not valid JSON: "},
	{name: "deep", body: `{"model":"m","max_tokens":1,"messages":[],"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, status: 400, kind: "invalid_request_error"},
	{name: "duplicate name", body: `{"model":"a","model":"b"}`, status: 400, kind: "invalid_request_error"},
	{name: "long model", body: strings.Replace(smallBody, `"model":"`, `"model":"`+strings.Repeat("m", 1024), 1), status: 400, kind: "invalid_request_error", text: "model: String should have at most 1024 bytes"},
	{name: "wrong type", body: strings.Replace(smallBody, "64", `"64"`, 1), status: 400, kind: "invalid_request_error", text: "max_tokens: "},
	{name: "stream of wrong type", body: strings.Replace(smallBody, `{`, `{"stream":"yes",`, 1), status: 400, kind: "invalid_request_error", text: "stream: "},
}

// TestRefused checks the status and the body of refused requests. They do not reach
// the upstream.
func TestRefused(t *testing.T) {
	for _, tt := range refusedRequests {
		t.Run(tt.name, func(t *testing.T) {
			called, done := 0, 0
			h := NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
				called++
				return nil
			}), &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) {
				done++
				if r.Status != tt.status || r.Err == nil || r.Path == "" {
					t.Errorf("report: %+v", r)
				}
			}}})
			r := post(or(tt.body, smallBody))
			if tt.edit != nil {
				tt.edit(r)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			checkError(t, w.Result(), tt.status, tt.kind, tt.text, tt.code)
			if called != 0 || done != 1 {
				t.Errorf("called %d times, done %d times", called, done)
			}
			if allow := w.Header().Get("Allow"); (tt.status == 405) != (allow == "POST") {
				t.Errorf("Allow: %q", allow)
			}
		})
	}
}

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
	got, err := decode(body)
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

// TestServed checks requests that the handler accepts.
func TestServed(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*http.Request)
	}{
		{"unchanged", func(*http.Request) {}},
		{"beta query", func(r *http.Request) { r.URL.RawQuery = "beta=true" }},
		{"prefix", func(r *http.Request) { r.URL.Path = "/ai/eu/v1/messages" }},
		{"no slash", func(r *http.Request) { r.URL.Path = "messages" }},
		{"no type", func(r *http.Request) { r.Header.Del("Content-Type") }},
		{"charset", func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=UTF-8") }},
		{"ascii", func(r *http.Request) { r.Header.Set("Content-Type", `Application/JSON;charset="US-ASCII"`) }},
		{"identity", func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") }},
		{"2023-01-01", func(r *http.Request) { r.Header.Set("anthropic-version", "2023-01-01") }},
		{"2026-10-21", func(r *http.Request) { r.Header.Set("anthropic-version", "2026-10-21") }},
		{"betas", func(r *http.Request) { r.Header["Anthropic-Beta"] = []string{"made-up-2027-01-01, x", "y"} }},
		{"betas at the limits", func(r *http.Request) {
			r.Header["Anthropic-Beta"] = []string{strings.Repeat(strings.Repeat("b", 128)+", ", 40), strings.Repeat(",a", 24)}
		}},
		{"unknown length", func(r *http.Request) { r.ContentLength = -1 }},
		{"accept", func(r *http.Request) { r.Header.Set("Accept", "text/html") }},
		{"different keys without Authenticate", func(r *http.Request) {
			r.Header.Set("X-Api-Key", "a")
			r.Header.Set("Authorization", "Bearer b")
		}},
	} {
		for _, body := range []string{smallBody, streamBody} {
			r := post(body)
			tt.edit(r)
			w := httptest.NewRecorder()
			NewHandler(hello, nil).ServeHTTP(w, r)
			if w.Code != 200 || !strings.Contains(w.Body.String(), "Hello") {
				t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
			}
		}
	}
}

func TestResponseHeaders(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{
			{Path: "turns.0.parts.0", Severity: content.LossDegraded, Reason: "r"}, {Path: "top_k", Severity: content.LossDropped, Reason: "r"}})
		_ = w.Start(upstream.Start{Header: []upstream.HeaderField{
			{Name: "anthropic-ratelimit-requests-limit", Value: "5"}, {Name: "Set-Cookie", Value: "a=b"}, {Name: "Content-Type", Value: "text/html"}}})
		return w.Text("Hello")
	})
	for body, want := range map[string]http.Header{
		smallBody: {"Content-Type": {"application/json"}},
		streamBody: {"Content-Type": {"text/event-stream; charset=utf-8"}, "Cache-Control": {"no-cache"},
			"X-Accel-Buffering": {"no"}},
	} {
		w := httptest.NewRecorder()
		NewHandler(up, nil).ServeHTTP(w, post(body))
		got := w.Result().Header
		want.Set("anthropic-ratelimit-requests-limit", "5")
		want.Set("Polywire-Loss", "dropped top_k; degraded messages.0.content.0")
		if id := got.Get("Request-Id"); !strings.HasPrefix(id, "req_") {
			t.Errorf("request-id %q", id)
		}
		got.Del("Request-Id")
		got.Del("Content-Length")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestKeys checks both headers for keys, and that no key is logged.
func TestKeys(t *testing.T) {
	const good = "marked-key-7f3c"
	for _, tt := range []struct {
		name   string
		header http.Header
		status int
		kind   string
		text   string
	}{
		{"bearer", http.Header{"Authorization": {"Bearer " + good}}, 200, "", ""},
		{"scheme in another case", http.Header{"Authorization": {"bearer  " + good}}, 200, "", ""},
		{"x-api-key", http.Header{"X-Api-Key": {good}}, 200, "", ""},
		{"same key twice", http.Header{"X-Api-Key": {good}, "Authorization": {"Bearer " + good}}, 200, "", ""},
		{"none", nil, 401, "authentication_error", "x-api-key header is required"},
		{"empty", http.Header{"X-Api-Key": {""}, "Authorization": {"Bearer "}}, 401, "authentication_error", "x-api-key header is required"},
		{"basic", http.Header{"Authorization": {"Basic " + good}}, 401, "authentication_error", "x-api-key header is required"},
		{"bare", http.Header{"Authorization": {good}}, 401, "authentication_error", "x-api-key header is required"},
		{"wrong", http.Header{"X-Api-Key": {good + "x"}}, 401, "authentication_error", "invalid x-api-key"},
		{"shorter", http.Header{"X-Api-Key": {good[:4]}}, 401, "authentication_error", "invalid x-api-key"},
		{"conflict", http.Header{"X-Api-Key": {good}, "Authorization": {"Bearer other"}}, 401, "authentication_error", "authorization and x-api-key"},
		{"two values", http.Header{"X-Api-Key": {good, "other"}}, 401, "authentication_error", "authorization and x-api-key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			h := NewHandler(hello, &Options{HandlerOptions: upstream.HandlerOptions{
				Authenticate: upstream.Keys("another", good),
				Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				OnDone: func(_ context.Context, r *upstream.Report) {
					if r.Err != nil {
						log.WriteString(r.Err.Error())
					}
				},
			}})
			body := &formattest.Counter{Reader: strings.NewReader(smallBody)}
			r := post("")
			r.Body, r.ContentLength = io.NopCloser(body), int64(len(smallBody))
			r.URL.RawQuery = "key=" + good
			for k, v := range tt.header {
				r.Header[k] = v
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if tt.status == 200 {
				if w.Code != 200 {
					t.Fatalf("%d %s", w.Code, w.Body)
				}
			} else {
				checkError(t, w.Result(), tt.status, tt.kind, tt.text, "")
				if body.N != 0 || w.Header().Get("Connection") != "close" {
					t.Errorf("%d bytes of the body were read; Connection: %q", body.N, w.Header().Get("Connection"))
				}
			}
			if strings.Contains(log.String()+w.Body.String(), good[:6]) {
				t.Errorf("output contains the key: %s %s", log.String(), w.Body)
			}
		})
	}
}

func TestAuthenticate(t *testing.T) {
	type tenant struct{}
	for _, tt := range []struct {
		name   string
		auth   func(context.Context, *http.Request, string) (context.Context, error)
		status int
		kind   string
		text   string
	}{
		{"permission", func(context.Context, *http.Request, string) (context.Context, error) {
			return nil, &upstream.Error{Code: upstream.CodePermission, Text: "not yours"}
		}, 403, "permission_error", "not yours"},
		{"own text", func(context.Context, *http.Request, string) (context.Context, error) {
			return nil, &upstream.Error{Code: upstream.CodeUnauthenticated, Text: "your key has expired"}
		}, 401, "authentication_error", "your key has expired"},
		{"broken", func(context.Context, *http.Request, string) (context.Context, error) {
			return nil, errors.New("secret")
		}, 500, "api_error", "Internal server error"},
		{"panic", func(context.Context, *http.Request, string) (context.Context, error) { panic("secret") }, 500, "api_error", "Internal server error"},
		{"context", func(c context.Context, _ *http.Request, key string) (context.Context, error) {
			return context.WithValue(c, tenant{}, key), nil
		}, 200, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex
			var seen []any
			see := func(c context.Context) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, c.Value(tenant{}))
			}
			h := NewHandler(upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
				see(c)
				return w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped}})
			}), &Options{HandlerOptions: upstream.HandlerOptions{
				Authenticate: tt.auth,
				OnLoss:       func(c context.Context, _ []content.Loss) { see(c) },
				OnDone:       func(c context.Context, _ *upstream.Report) { see(c) },
			}})
			r := post(smallBody)
			r.Header.Set("X-Api-Key", "k")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if tt.status != 200 {
				checkError(t, w.Result(), tt.status, tt.kind, tt.text, "")
				return
			}
			if diff := cmp.Diff([]any{"k", "k", "k"}, seen); diff != "" || w.Code != 200 {
				t.Errorf("%d; contexts of Generate, OnLoss, OnDone:\n%s", w.Code, diff)
			}
		})
	}
}

// TestReport checks the report that OnDone receives.
func TestReport(t *testing.T) {
	var got *upstream.Report
	h := NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped, Reason: "r"}})
		_ = w.Start(upstream.Start{Model: "m-1"})
		_ = w.Part(&content.Image{})
		return w.Usage(content.Usage{Input: 1, Output: 2})
	}), &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { got = r }}})
	for _, body := range []string{smallBody, streamBody} {
		got = nil
		w := httptest.NewRecorder()
		h.ServeHTTP(w, post(body))
		if got == nil || got.FirstByte <= 0 || got.Duration < got.FirstByte || got.Start.IsZero() {
			t.Fatalf("report: %+v", got)
		}
		got.Start, got.FirstByte, got.Duration = time.Time{}, 0, 0
		want := &upstream.Report{
			ID: w.Header().Get("request-id"), Format: Format, Method: "POST", Path: "/v1/messages", Mode: "plain", Model: "m", ResponseModel: "m-1",
			Status: 200, Usage: content.Usage{Input: 1, Output: 2}, Stop: upstream.Stop{Reason: content.StopEnd},
			Losses: []content.Loss{{Path: "top_k", Severity: content.LossDropped, Reason: "r"},
				{Path: "parts.0", Severity: content.LossDropped, Reason: "Messages responses cannot contain images; the part was dropped"}},
			BytesIn: int64(len(body)), BytesOut: int64(w.Body.Len()),
		}
		if body == streamBody {
			want.Mode = "stream"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestMatchAndWriteError(t *testing.T) {
	h := NewHandler(hello, nil)
	for path, want := range map[string][2]bool{ // without the header anthropic-version, and with it
		"/v1/messages": {true, true}, "/a/messages": {true, true}, "/v1/messages/count_tokens": {true, true},
		"/v1/models": {false, true}, "/v1/models/a/b": {false, true}, "/v1/models/my/files": {false, true},
		"/v1beta/models/m:generateContent": {false, false}, "/v1/files": {false, false}, "/": {false, false},
	} {
		r := httptest.NewRequest("GET", path, nil)
		got := [2]bool{h.Match(r)}
		r.Header.Set("anthropic-version", "2026-10-21")
		got[1] = h.Match(r)
		if got != want {
			t.Errorf("Match(%s) = %v", path, got)
		}
	}
	for _, tt := range []struct {
		err        error
		status     int
		kind, text string
	}{
		{upstream.ErrNoKey, 401, "authentication_error", "x-api-key header is required"},
		{&content.Violation{Path: "turns.0.parts.1", Text: "no"}, 400, "invalid_request_error", "messages.0.content.1: no"},
		{errors.New("secret"), 500, "api_error", "Internal server error"},
	} {
		w := httptest.NewRecorder()
		h.WriteError(w, post(smallBody), tt.err)
		checkError(t, w.Result(), tt.status, tt.kind, tt.text, "")
	}
	w := httptest.NewRecorder()
	h.WriteError(w, post(smallBody), &upstream.Error{Code: upstream.CodeRateLimit, Text: "wait", RetryAfter: 1500 * time.Millisecond})
	checkError(t, w.Result(), 429, "rate_limit_error", "wait", "")
	if h := w.Header(); h.Get("Retry-After") != "2" || h.Values("X-Should-Retry") != nil {
		t.Errorf("rate limit: %v", h)
	}
	for _, code := range []upstream.Code{upstream.CodeQuota, upstream.CodeOverloaded, upstream.CodeUnavailable, upstream.CodeInvalid} {
		w := httptest.NewRecorder()
		h.WriteError(w, post(smallBody), &upstream.Error{Code: code})
		want := ""
		if code == upstream.CodeQuota {
			want = "false" // retrying does not help
		}
		if got := w.Header().Get("X-Should-Retry"); got != want || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: X-Should-Retry %q, want %q; Retry-After %q", code, got, want, w.Header().Get("Retry-After"))
		}
	}
}
