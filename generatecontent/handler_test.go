package generatecontent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/formattest"
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

// checkError checks an error before the first byte.
func checkError(t *testing.T, w *httptest.ResponseRecorder, status int, word, text string) map[string]any {
	t.Helper()
	got, err := formattest.DecodeObject(w.Body.Bytes())
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

// TestAlt checks the framing of responses, and the parameters with which Google's generated
// REST clients request it.
func TestAlt(t *testing.T) {
	const enums = "?%24alt=json%3Benum-encoding%3Dint"
	for path, contentType := range map[string]string{plainPath: "application/json", eventsPath: "text/event-stream",
		arrayPath: "application/json", arrayPath + "?%24alt=sse": "text/event-stream", plainPath + enums: "application/json",
		arrayPath + enums: "application/json", arrayPath + "?alt=json;enum-encoding=int": "application/json"} {
		w := httptest.NewRecorder()
		NewHandler(hello, nil).ServeHTTP(w, post(path, smallBody))
		if w.Code != 200 || !strings.Contains(w.Body.String(), "Hell") || w.Header().Get("Content-Type") != contentType {
			t.Errorf("%s: %d %s %s", path, w.Code, w.Header(), w.Body)
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
