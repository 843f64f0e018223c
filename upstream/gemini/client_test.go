package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// seen is a request that the vendor received.
type seen struct{ Path, Query, Body, Key, Cookie, Client string }

// vendor starts a server with a fixed response and returns a client for it. The last
// request is in the seen.
func vendor(t *testing.T, kind, answer string, o gemini.Options) (*gemini.Client, *seen) {
	t.Helper()
	got := new(seen)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = seen{r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Get("X-Goog-Api-Key"),
			r.Header.Get("Cookie"), r.Header.Get("X-Goog-Api-Client")}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(ts.Close)
	o.BaseURL, o.HTTPClient = ts.URL, ts.Client()
	c, err := gemini.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, got
}

// ask sends a body through a handler to the client and returns the response.
func ask(t *testing.T, c *gemini.Client, path, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	generatecontent.NewHandler(c, nil).ServeHTTP(w, r)
	return w
}

const asked = `{"x_new":{"b":1,"a":2}, "contents":{"parts":[{"text":"hi"}]}, "generation_config":{"top_k": 3}}`

const stream = `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]},"x":[ ]}],"modelVersion":"gemini-y","responseId":"r1"}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"modelVersion":"gemini-y","responseId":"r1"}

`

// TestVerbatim checks that requests and responses of one format are not changed, and
// that no header of the client is sent.
func TestVerbatim(t *testing.T) {
	c, got := vendor(t, "text/event-stream", stream, gemini.Options{
		Key: "host-key", MapModel: func(string) string { return "gemini y" },
	})
	w := ask(t, c, "/v1alpha/models/gemini-x:streamGenerateContent?alt=sse&key=client-key", asked, http.Header{
		"Cookie": {"a=b"}, "X-Goog-Api-Client": {"sdk"},
	})
	want := seen{"/v1beta/models/gemini%20y:streamGenerateContent", "alt=sse", asked, "host-key", "", ""}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if got := strings.ReplaceAll(w.Body.String(), "\r\n", "\n"); got != stream {
		t.Errorf("answered (-want +got):\n%s", cmp.Diff(stream, got))
	}
}

// TestModelPath checks that a model name is one path element, whatever it contains,
// and that the handler reads the same name from it.
func TestModelPath(t *testing.T) {
	for name, want := range map[string]string{
		"m":                       "/v1beta/models/m:generateContent",
		"ft:m:org:x":              "/v1beta/models/ft%3Am%3Aorg%3Ax:generateContent",
		"m:generateContent":       "/v1beta/models/m%3AgenerateContent:generateContent",
		"tunedModels/a:b":         "/v1beta/tunedModels/a%3Ab:generateContent",
		"a b/c":                   "/v1beta/models/a%20b/c:generateContent",
		strings.Repeat("m", 1025): "",
	} {
		c, got := vendor(t, "application/json", reply, gemini.Options{MapModel: func(string) string { return name }})
		_, err := upstream.Collect(t.Context(), c, &upstream.Request{Model: "x", Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "hi"}}}}})
		if got.Path != want || (err == nil) != (want != "") {
			t.Errorf("%.40q: sent to %q, want %q (%v)", name, got.Path, want, err)
		}
	}
}

const reply = `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP","avgLogprobs":-0.1}],
 "usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5,"x":1},"modelVersion":"gemini-y","responseId":"r1","z":{"b":1}}`

// TestVerbatimModel checks that a body that names the requested model in any form is
// not changed.
func TestVerbatimModel(t *testing.T) {
	for _, name := range []string{"gemini-x", "models/gemini-x"} {
		body := `{"model":"` + name + `","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
		c, got := vendor(t, "application/json", reply, gemini.Options{})
		if w := ask(t, c, "/v1beta/models/gemini-x:generateContent", body, nil); w.Code != http.StatusOK || got.Body != body {
			t.Errorf("answered %d, sent %s", w.Code, got.Body)
		}
	}
}

func TestVerbatimReply(t *testing.T) {
	const body = `{"model":"models/gemini-x","contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	c, got := vendor(t, "application/json", reply, gemini.Options{MapModel: func(string) string { return "tunedModels/t" }})
	if w := ask(t, c, "/v1beta/models/gemini-x:generateContent", body, nil); w.Body.String() != reply || w.Code != http.StatusOK {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	want := seen{"/v1beta/tunedModels/t:generateContent", "", strings.Replace(body, "models/gemini-x", "tunedModels/t", 1), "", "", ""}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}
