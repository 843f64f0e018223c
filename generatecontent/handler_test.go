package generatecontent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

const smallBody = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`

const (
	plainPath  = "/v1beta/models/m:generateContent"
	eventsPath = "/v1beta/models/m:streamGenerateContent?alt=sse"
	arrayPath  = "/v1beta/models/m:streamGenerateContent"
)

// hello responds with one word.
var hello = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	return w.Text("Hello")
})

// post returns a valid request.
func post(path, body string) *http.Request {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// header returns an edit that sets a header.
func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// refused are invalid requests.
var refused = []struct {
	name   string
	path   string // plainPath if empty
	body   string // smallBody if empty
	edit   func(*http.Request)
	status int
	word   string
	text   string // the beginning of the message
}{
	{name: "path", path: "/v1beta/nothing", status: 404, word: "NOT_FOUND", text: "there is nothing at this path; this handler serves"},
	{name: "embedding", path: "/v1beta/models/m:embedContent", status: 404, word: "NOT_FOUND", text: "embedContent: this part of the API is not supported; "},
	{name: "files", path: "/v1beta/files/f1", status: 404, word: "NOT_FOUND", text: "files: this part of the API is not supported"},
	{name: "upload", path: "/upload/v1beta/files", status: 404, word: "NOT_FOUND", text: "files: "},
	{name: "batches", path: "/v1beta/batches/b1", status: 404, word: "NOT_FOUND", text: "batches: "},
	{name: "caches", path: "/v1beta/cachedContents", status: 404, word: "NOT_FOUND", text: "cachedContents: "},
	{name: "unknown method", path: "/v1beta/models/m:dance", status: 404, word: "NOT_FOUND", text: "there is no method dance"},
	{name: "v9", path: "/v9/models/m:generateContent", status: 404, word: "NOT_FOUND", text: "there is no version v9"},
	{name: "get", edit: func(r *http.Request) { r.Method = "GET" }, status: 405, word: "UNIMPLEMENTED", text: "This HTTP method is not allowed here. Please use POST."},
	{name: "post to a model", path: "/v1beta/models/m", status: 405, word: "UNIMPLEMENTED"},
	{name: "alt", path: plainPath + "?alt=proto", status: 400, word: "INVALID_ARGUMENT", text: "alt: "},
	{name: "alt with an unknown parameter", path: plainPath + "?alt=json%3Benum-encoding%3Dx", status: 400, word: "INVALID_ARGUMENT", text: "alt: "},
	{name: "two alts", path: plainPath + "?alt=json&$alt=sse", status: 400, word: "INVALID_ARGUMENT", text: "alt and $alt differ"},
	{name: "timeout", edit: header("x-server-timeout", "soon"), status: 400, word: "INVALID_ARGUMENT", text: "x-server-timeout: "},
	{name: "invalid timeout", edit: header("x-server-timeout", "NaN"), status: 400, word: "INVALID_ARGUMENT", text: "x-server-timeout: "},
	{name: "no model", path: "/v1beta/models/:generateContent", status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.model: unexpected model name format\n"},
	{name: "model with path steps", path: "/v1beta/models/%2e%2e/x:generateContent", status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.model: "},
	{name: "long model", path: "/v1beta/models/" + strings.Repeat("m", 1025) + ":generateContent", status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.model: a model name must not be longer than 1024 bytes\n"},
	{name: "long model in the body", body: strings.Replace(smallBody, "{", `{"model":"`+strings.Repeat("m", 1025)+`",`, 1), status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.model: a model name must not be longer than 1024 bytes\n"},
	{name: "another model", body: strings.Replace(smallBody, "{", `{"model":"models/n",`, 1), status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.model: the model in the body"},
	{name: "form", edit: header("content-type", "application/x-www-form-urlencoded"), status: 400, word: "INVALID_ARGUMENT", text: "Content-Type must be application/json"},
	{name: "charset", edit: header("content-type", "application/json; charset=utf-16"), status: 400, word: "INVALID_ARGUMENT", text: "The charset"},
	{name: "gzip", edit: header("content-encoding", "gzip"), status: 400, word: "INVALID_ARGUMENT", text: "Compressed"},
	{name: "too long", edit: func(r *http.Request) { r.ContentLength = 100<<20 + 1 }, status: 400, word: "INVALID_ARGUMENT", text: "Request payload size exceeds the limit: 104857600 bytes."},
	{name: "broken", body: `{"contents":`, status: 400, word: "INVALID_ARGUMENT", text: "Invalid JSON payload received. "},
	{name: "empty", body: ` `, status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.contents: contents is not specified\n"},
	{name: "not an object", body: `[]`, status: 400, word: "INVALID_ARGUMENT", text: "Invalid JSON payload received. The request must be an object."},
	{name: "too deep", body: strings.Repeat("[", 300), status: 400, word: "INVALID_ARGUMENT", text: "Invalid JSON payload received. "},
	{name: "no contents", body: `{}`, status: 400, word: "INVALID_ARGUMENT", text: "* GenerateContentRequest.contents: contents is not specified\n"},
	{name: "two members", body: `{"contents":[{"parts":[{"text":"a","inlineData":{}}]}]}`, status: 400, word: "INVALID_ARGUMENT",
		text: "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'"},
}

// TestRequestErrors checks the status and the body of errors, in a list where the
// response would be one. The upstream is not called.
func TestRequestErrors(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			called, done := 0, 0
			h := NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
				called++
				return nil
			}), &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) {
				done++
				if r.Status != tt.status || r.Err == nil || strings.Contains(r.Path, "?") {
					t.Errorf("report: %+v", r)
				}
			}}})
			r := post(or(tt.path, plainPath), or(tt.body, smallBody))
			if tt.edit != nil {
				tt.edit(r)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			checkError(t, w, tt.status, tt.word, tt.text)
			if called != 0 || done != 1 {
				t.Errorf("called %d times, done %d times", called, done)
			}
			if allow := w.Header().Get("Allow"); (tt.status == 405) != (allow != "" && allow != r.Method) {
				t.Errorf("Allow: %q", allow)
			}
			if h.Match(r) == (tt.word == "NOT_FOUND") {
				t.Errorf("Match returned %v", h.Match(r))
			}
		})
	}
}

// checkError checks an error before the first byte.
func checkError(t *testing.T, w *httptest.ResponseRecorder, status int, word, text string) map[string]any {
	t.Helper()
	got, err := decodeObject(w.Body.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, w.Body)
	}
	e, _ := got["error"].(map[string]any)
	message, _ := e["message"].(string)
	if w.Code != status || fmt.Sprint(e["code"]) != fmt.Sprint(status) || e["status"] != word ||
		!strings.HasPrefix(message, text) || message == "" || len(got) != 1 {
		t.Errorf("got %d %s, want %d %s %q", w.Code, w.Body, status, word, text)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/json" {
		t.Errorf("Content-Type: %q", ct)
	}
	return e
}

// TestErrorInArray checks that an error is the only element if the response is an array.
func TestErrorInArray(t *testing.T) {
	for _, tt := range []struct{ path, body, key string }{
		{arrayPath, "{}", "k"}, {arrayPath, smallBody, ""}, {arrayPath, smallBody, "k"},
	} {
		h := NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
			return &upstream.Error{Code: upstream.CodeOverloaded}
		}), &Options{HandlerOptions: upstream.HandlerOptions{Authenticate: upstream.Keys("k")}})
		r := post(tt.path, tt.body)
		r.Header.Set("x-goog-api-key", tt.key)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got, err := receiveArray(w.Body.String())
		if err != nil || w.Code < 400 || got.failure == nil || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%+v: %v, %d %s", tt, err, w.Code, w.Body)
		}
	}
}

// TestValidRequests checks unusual requests that must be accepted.
func TestValidRequests(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		edit        func(*http.Request)
	}{
		{name: "plain"},
		{name: "known and unknown parameters", query: "prettyPrint=false&x=1&fields=candidates"},
		{name: "no content type", edit: func(r *http.Request) { r.Header.Del("Content-Type") }},
		{name: "unknown length", edit: func(r *http.Request) { r.ContentLength = -1 }},
		{name: "timeout", edit: header("x-server-timeout", "2")},
		{name: "very long timeout", edit: header("x-server-timeout", "1e300")},
		{name: "accept", edit: header("accept", "text/html")},
		{name: "different keys without authentication", query: "key=a", edit: header("x-goog-api-key", "b")},
	} {
		for path, contentType := range map[string]string{plainPath: "application/json", eventsPath: "text/event-stream",
			arrayPath: "application/json", arrayPath + "?%24alt=sse": "text/event-stream",
			plainPath + "?%24alt=json%3Benum-encoding%3Dint": "application/json", // as sent by Google's generated REST clients
			arrayPath + "?%24alt=json%3Benum-encoding%3Dint": "application/json", arrayPath + "?alt=json;enum-encoding=int": "application/json"} {
			r := post(path, smallBody)
			r.URL.RawQuery += "&" + tt.query
			if tt.edit != nil {
				tt.edit(r)
			}
			w := httptest.NewRecorder()
			NewHandler(hello, nil).ServeHTTP(w, r)
			if w.Code != 200 || !strings.Contains(w.Body.String(), "Hello") || w.Header().Get("Content-Type") != contentType {
				t.Errorf("%s: %d %s %s", tt.name, w.Code, w.Header(), w.Body)
			}
		}
	}
}

func TestResponseHeaders(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{
			{Path: "turns.0.parts.0", Severity: content.LossDegraded, Reason: "r"}, {Path: "top_k", Severity: content.LossDropped, Reason: "r"}})
		_ = w.Start(upstream.Start{Header: []upstream.HeaderField{{Name: "x-gemini-service-tier", Value: "flex"}, {Name: "Set-Cookie", Value: "a=b"}}})
		return w.Part(&content.Text{Text: "Hello", Cache: &content.Cache{}})
	})
	const path = "/v1beta/models/m:streamGenerateContent?alt=sse"
	for p, want := range map[string]http.Header{
		plainPath: {"Content-Type": {"application/json"}},
		path:      {"Content-Type": {"text/event-stream"}, "Cache-Control": {"no-cache"}, "X-Accel-Buffering": {"no"}},
	} {
		w := httptest.NewRecorder()
		// The first part is empty and not counted in neutral paths.
		NewHandler(up, nil).ServeHTTP(w, post(p, `{"contents":[{"parts":[{},{"text":"Hi"}]}]}`))
		got := w.Result().Header
		want.Set("X-Gemini-Service-Tier", "flex")
		want.Set("Polywire-Loss", "dropped generation_config.top_k; degraded contents[0].parts[1]; hint candidates[0].content.parts[0]")
		if id := got.Get("X-Request-Id"); !strings.HasPrefix(id, "req_") {
			t.Errorf("id %q", id)
		}
		got.Del("X-Request-Id")
		got.Del("Content-Length")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestKeys checks all ways to send a key, and that no key is logged.
func TestKeys(t *testing.T) {
	const good = "marked-key-7f3c"
	const noKey = "Method doesn't allow unregistered callers"
	const badKey = "API key not valid. Please pass a valid API key."
	for _, tt := range []struct {
		name   string
		header http.Header
		query  string
		status int
		word   string
		text   string
	}{
		{"header", http.Header{"X-Goog-Api-Key": {good}}, "", 200, "", ""},
		{"query", nil, "key=" + good, 200, "", ""},
		{"token in the query", nil, "access_token=" + good, 200, "", ""},
		{"bearer", http.Header{"Authorization": {"bearer  " + good}}, "", 200, "", ""},
		{"all equal", http.Header{"X-Goog-Api-Key": {good}, "Authorization": {"Bearer " + good}}, "key=" + good, 200, "", ""},
		{"none", nil, "", 403, "PERMISSION_DENIED", noKey},
		{"empty", http.Header{"X-Goog-Api-Key": {""}}, "key=", 403, "PERMISSION_DENIED", noKey},
		{"another vendor's header", http.Header{"X-Api-Key": {good}}, "", 403, "PERMISSION_DENIED", noKey},
		{"basic", http.Header{"Authorization": {"Basic " + good}}, "", 403, "PERMISSION_DENIED", noKey},
		{"wrong", http.Header{"X-Goog-Api-Key": {good + "x"}}, "", 400, "INVALID_ARGUMENT", badKey},
		{"wrong in the query", nil, "key=" + good[:4], 400, "INVALID_ARGUMENT", badKey},
		{"conflict", http.Header{"X-Goog-Api-Key": {good}}, "key=other", 400, "INVALID_ARGUMENT", "x-goog-api-key, key and Authorization hold different API keys"},
		{"twice", nil, "key=other&key=" + good, 400, "INVALID_ARGUMENT", "x-goog-api-key, key and Authorization hold different API keys"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			h := NewHandler(hello, &Options{HandlerOptions: upstream.HandlerOptions{
				Authenticate: upstream.Keys("another", good),
				Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				OnDone: func(_ context.Context, r *upstream.Report) {
					fmt.Fprint(&log, r.Path, r.Err)
				},
			}})
			body := &formattest.Counter{Reader: strings.NewReader(smallBody)}
			r := post(plainPath+"?"+tt.query, "")
			r.Body, r.ContentLength = io.NopCloser(body), int64(len(smallBody))
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
				e := checkError(t, w, tt.status, tt.word, tt.text)
				if body.N != 0 {
					t.Errorf("%d bytes of the body were read", body.N)
				}
				if tt.status == 400 && !strings.Contains(fmt.Sprint(e["details"]), "reason:API_KEY_INVALID") {
					t.Errorf("details: %v", e["details"])
				}
			}
			if strings.Contains(log.String()+w.Body.String(), good[:6]) {
				t.Errorf("the key was logged: %s %s", log.String(), w.Body)
			}
		})
	}
}

// TestUpstreamRequest checks the request that the upstream receives.
func TestUpstreamRequest(t *testing.T) {
	var got *upstream.Request
	up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		got = r
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	})
	var report *upstream.Report
	h := NewHandler(up, &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
	for path, stream := range map[string]bool{plainPath: false, eventsPath: true, arrayPath: true} {
		got, report = nil, nil
		body := strings.Replace(smallBody, "{", `{"model":"models/m",`, 1)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, post(path, body))
		if got == nil {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		wire := snapshot.DocumentOf(got, Format)
		if got.Model != "m" || got.Stream != stream || wire == nil || wire.Body != body {
			t.Errorf("%s: model %q, stream %v, wire %v", path, got.Model, got.Stream, wire)
		}
		mode := map[bool]string{true: "stream", false: "plain"}[stream]
		if report.Mode != mode || report.Model != "m" || report.Stop.Reason != content.StopMaxTokens || report.Err != nil || report.Status != 200 {
			t.Errorf("%s: report %+v", path, report)
		}
	}
}

// TestStrict checks that unknown names are kept, or all refused by Strict.
func TestStrict(t *testing.T) {
	body := strings.Replace(smallBody, "{", `{"foo":1,"generation_config":{"bar":2},`, 1)
	w := httptest.NewRecorder()
	NewHandler(hello, nil).ServeHTTP(w, post(plainPath, body))
	if w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	NewHandler(hello, &Options{HandlerOptions: upstream.HandlerOptions{Strict: true}}).ServeHTTP(w, post(plainPath, body))
	const foo = `Invalid JSON payload received. Unknown name "foo": Cannot find field.`
	const bar = `Invalid JSON payload received. Unknown name "bar" at 'generation_config': Cannot find field.`
	e := checkError(t, w, 400, "INVALID_ARGUMENT", foo+"\n"+bar)
	want := []any{map[string]any{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": []any{
		map[string]any{"description": foo}, map[string]any{"field": "generation_config", "description": bar}}}}
	if diff := cmp.Diff(want, e["details"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteError(t *testing.T) {
	w := httptest.NewRecorder()
	NewHandler(hello, nil).WriteError(w, post(plainPath, ""), &upstream.Error{
		Code: upstream.CodeRateLimit, Text: "five a minute", RetryAfter: 1500 * time.Millisecond, Err: errors.New("secret")})
	const want = `{"error":{"code":429,"message":"five a minute","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}`
	if w.Code != 429 || w.Body.String() != want || w.Header().Get("Retry-After") != "2" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestNewHandlerPanics(t *testing.T) {
	defer func() {
		if s, _ := recover().(string); s != "generatecontent: NewHandler: nil Upstream" {
			t.Errorf("panic %q", s)
		}
	}()
	NewHandler(nil, nil)
}

func TestRoutes(t *testing.T) {
	for _, tt := range []struct {
		path string
		want target
	}{
		{"/v1beta/models/m:generateContent", target{version: "v1beta", name: "models/m", model: "m", method: "generateContent"}},
		{"/v1/models/m:streamGenerateContent", target{version: "v1", name: "models/m", model: "m", method: "streamGenerateContent"}},
		{"/v1alpha/models/m:countTokens", target{version: "v1alpha", name: "models/m", model: "m", method: "countTokens"}},
		{"/gw/eu/v1beta/models/a/b:generateContent", target{version: "v1beta", name: "models/a/b", model: "a/b", method: "generateContent"}},
		{"/v1/v1beta/models/m", target{version: "v1beta", name: "models/m", model: "m"}},
		{"/models/m:generateContent", target{name: "models/m", model: "m", method: "generateContent"}},
		{"models/m:generateContent", target{name: "models/m", model: "m", method: "generateContent"}},
		{"/gw/models/m:generateContent", target{name: "models/m", model: "m", method: "generateContent"}},
		{"/vendor/models/m", target{name: "models/m", model: "m"}},
		{"/v1beta/models/a/models/b:generateContent", target{version: "v1beta", name: "models/a/models/b", model: "a/models/b", method: "generateContent"}},
		{"/v1beta/models/llama:8b:generateContent", target{version: "v1beta", name: "models/llama:8b", model: "llama:8b", method: "generateContent"}},
		{"/v1beta/models/llama:8b", target{version: "v1beta", name: "models/llama:8b", model: "llama:8b"}},
		{"/v1beta/models", target{version: "v1beta", list: "models"}},
		{"/gw/models", target{list: "models"}},
		{"/v1beta/tunedModels/t1:generateContent", target{version: "v1beta", name: "tunedModels/t1", model: "tunedModels/t1", method: "generateContent"}},
		{"/v1beta/tunedModels/t1", target{version: "v1beta", name: "tunedModels/t1", model: "tunedModels/t1"}},
		{"/v1beta/dynamic/d1:generateContent", target{version: "v1beta", name: "dynamic/d1", model: "dynamic/d1", method: "generateContent"}},
		{"/v1beta1/publishers/google/models/m:generateContent", target{version: "v1beta1", name: "publishers/google/models/m", model: "m", method: "generateContent"}},
		{"/v1beta1/publishers/x/models/y:generateContent", target{version: "v1beta1", name: "publishers/x/models/y", model: "x/y", method: "generateContent"}},
		{"/v1beta1/publishers/google/models", target{version: "v1beta1", list: "publishers/google/models"}},
		{"/v1beta1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent",
			target{version: "v1beta1", name: "projects/p/locations/l/publishers/google/models/m", model: "m", method: "streamGenerateContent"}},
		{"/v1/projects/p/locations/l/endpoints/77:generateContent",
			target{version: "v1", name: "projects/p/locations/l/endpoints/77", model: "projects/p/locations/l/endpoints/77", method: "generateContent"}},
		{"/gw/projects/p/locations/l/publishers/google/models/m:generateContent",
			target{name: "projects/p/locations/l/publishers/google/models/m", model: "m", method: "generateContent"}},
	} {
		got, err := parseTarget(tt.path, http.MethodGet)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if diff := cmp.Diff(tt.want, *got, cmp.AllowUnexported(target{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
}

func TestUnknownRoutes(t *testing.T) {
	h := NewHandler(hello, nil)
	for _, path := range []string{
		"/", "", "/v1beta", "/v1beta/", "/v1/messages", "/v9/models/m:generateContent", "/gw/v2/models", "/v1main/models/m",
		"/v9/publishers/google/models/m:generateContent", "/v9/projects/p/locations/l/publishers/google/models/m:generateContent",
		"/v1beta/models/m:embedContent", "/v1beta/models/m:batchGenerateContent", "/v1beta/files", "/v1beta/files/x:download",
		"/v1beta/cachedContents/c", "/v1beta/batches", "/v1beta/operations/o", "/v1beta/corpora/c/documents/d", "/v1beta/interactions",
		"/v1beta/tunedModels", "/v1beta/publishers/google", "/v1beta/projects/p/locations/l", "/v1beta/projects/p/locations/l/cachedContents",
		"/v1beta/model/m:generateContent", "/models/m:nothing",
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(smallBody))
		r.URL.Path = path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if h.Match(r) {
			t.Errorf("%q matches", path)
		}
		checkError(t, w, 404, "NOT_FOUND", "")
		if !strings.Contains(w.Body.String(), "this handler serves POST /v1beta/models/{model}:generateContent") {
			t.Errorf("%q: %s", path, w.Body)
		}
	}
}
