package messages

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

const (
	vertexModels = "/v1/projects/p/locations/global/publishers/anthropic/models/"
	vertexBody   = `{"anthropic_version":"vertex-2023-10-16","max_tokens":64,"messages":[{"role":"user","content":"Hi"}]}`
)

// vertexPost returns a request as a client of Vertex AI sends it. path follows "models/".
func vertexPost(path, body string) *http.Request {
	r := httptest.NewRequest("POST", vertexModels+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// vertexBodyWith returns vertexBody with a member.
func vertexBodyWith(member string) string { return strings.Replace(vertexBody, "{", "{"+member+",", 1) }

// serveVertex serves a request and returns what the upstream receives.
func serveVertex(r *http.Request, o *Options) (*httptest.ResponseRecorder, *upstream.Request) {
	var got *upstream.Request
	w := httptest.NewRecorder()
	NewHandler(upstream.Func(func(_ context.Context, n *upstream.Request, w *upstream.Writer) error {
		got = n
		return w.Text("Hello")
	}), o).ServeHTTP(w, r)
	return w, got
}

func TestVertex(t *testing.T) {
	for _, tt := range []struct {
		name    string
		path    string
		body    string
		edit    func(*http.Request)
		model   string // "m" if empty
		version string // 2023-06-01 if empty
		stream  bool
	}{
		{name: "plain", path: "m:rawPredict", body: vertexBody},
		{name: "streamed", path: "m:streamRawPredict", body: vertexBodyWith(`"stream":true`), stream: true},
		{name: "streamed by the path", path: "m:streamRawPredict", body: vertexBody, stream: true},
		{name: "streamed by the body", path: "m:rawPredict", body: vertexBodyWith(`"stream":true`), stream: true},
		{name: "not streamed by the body", path: "m:streamRawPredict", body: vertexBodyWith(`"stream":false`)},
		{name: "plain with a stream member", path: "m:rawPredict", body: vertexBodyWith(`"stream":false`)},
		{name: "date", path: "claude-sonnet-4-5@20250929:rawPredict", body: vertexBody, model: "claude-sonnet-4-5@20250929"},
		{name: "escaped date", path: "claude-sonnet-4-5%4020250929:rawPredict", body: vertexBody, model: "claude-sonnet-4-5@20250929"},
		{name: "escaped colon", path: "m%3ArawPredict", body: vertexBody},
		{name: "colon and slash", path: "team/m:1:rawPredict", body: vertexBody, model: "team/m:1"},
		{name: "escaped slash", path: "team%2Fm:rawPredict", body: vertexBody, model: "team/m"},
		{name: "same model in the body", path: "m:rawPredict", body: vertexBodyWith(`"model":"m"`)},
		{name: "other header", path: "m:rawPredict", body: vertexBody, edit: header("anthropic-version", "2026-10-21")},
		{name: "unknown header", path: "m:rawPredict", body: vertexBody, edit: header("anthropic-version", "x")},
		{name: "version of the API", path: "m:rawPredict", body: strings.Replace(vertexBody, "vertex-2023-10-16", "2026-10-21", 1), version: "2026-10-21"},
		{name: "beta version of the API", path: "m:rawPredict", body: vertexBody, edit: func(r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, "v1", "v1beta1", 1)
		}},
		{name: "no prefix", path: "m:rawPredict", body: vertexBody, edit: func(r *http.Request) {
			r.URL.Path = strings.TrimPrefix(r.URL.Path, "/v1/projects/p/locations/global/")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := vertexPost(tt.path, tt.body)
			r.Header.Set("anthropic-beta", "a,b")
			if tt.edit != nil {
				tt.edit(r)
			}
			var report *upstream.Report
			w, got := serveVertex(r, &Options{HandlerOptions: upstream.HandlerOptions{
				OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
			if w.Code != 200 || got == nil {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			model := or(tt.model, "m")
			want := []upstream.HeaderField{{Name: "anthropic-version", Value: or(tt.version, "2023-06-01")}, {Name: "anthropic-beta", Value: "a,b"}}
			if diff := cmp.Diff(want, got.Header); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			if got.Model != model || got.Stream != tt.stream || got.Extra != nil {
				t.Errorf("model %q, stream %t, extra %v", got.Model, got.Stream, got.Extra)
			}
			mode, contentType := "plain", "application/json"
			if tt.stream {
				mode, contentType = "stream", "text/event-stream; charset=utf-8"
			}
			if report.Model != model || report.Mode != mode || w.Header().Get("Content-Type") != contentType {
				t.Errorf("report: %+v, response: %v", report, w.Header())
			}
			if !strings.Contains(w.Body.String(), `"model":"`+model+`"`) {
				t.Errorf("the response does not have the model: %s", w.Body)
			}
			// A client of the format outside this module cannot send this document.
			if text, ok := upstream.WireOf(got, Format); ok {
				t.Errorf("WireOf: %s", text)
			}
		})
	}
}

func TestVertexRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		path   string
		body   string
		edit   func(*http.Request)
		strict bool
		status int
		text   string
	}{
		{name: "get", path: "m:rawPredict", body: vertexBody, edit: func(r *http.Request) { r.Method = "GET" }, status: 405, text: "Method not allowed; use POST"},
		{name: "method", path: "m:predict", body: vertexBody, status: 404, text: "there is nothing at this path" + servedPaths},
		{name: "slash at the end", path: "m:rawPredict/", body: vertexBody, status: 404},
		{name: "slash at the end of a stream", path: "m:streamRawPredict//", body: vertexBody, status: 404},
		{name: "method in another case", path: "m:RawPredict", body: vertexBody, status: 404},
		{name: "publisher", path: "m:rawPredict", body: vertexBody, status: 404, edit: func(r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, "anthropic", "notanthropic", 1)
		}},
		{name: "longer publishers", path: "m:rawPredict", body: vertexBody, status: 404, edit: func(r *http.Request) {
			r.URL.Path = strings.Replace(r.URL.Path, "/publishers", "/mypublishers", 1)
		}},
		{name: "no model", path: ":rawPredict", body: vertexBody, status: 400, text: "model: String should have at least 1 character"},
		{name: "long model", path: strings.Repeat("m", 1025) + ":rawPredict", body: vertexBody, status: 400, text: "model: String should have at most 1024 bytes"},
		{name: "other model", path: "m:rawPredict", body: vertexBodyWith(`"model":"n"`), status: 400, text: "model: must be the model in the path, 'm', if the body has it"},
		{name: "null model", path: "m:rawPredict", body: vertexBodyWith(`"model":null`), status: 400, text: "model: Input should be a valid string"},
		{name: "strict model", path: "m:rawPredict", body: vertexBodyWith(`"model":"m"`), strict: true, status: 400, text: "model: Extra inputs are not permitted"},
		{name: "no version", path: "m:rawPredict", body: `{"max_tokens":1,"messages":[{"role":"user","content":"Hi"}]}`,
			edit: header("anthropic-version", "2023-06-01"), status: 400, text: "anthropic_version: Field required"},
		{name: "other version", path: "m:rawPredict", body: strings.Replace(vertexBody, "vertex-2023-10-16", "vertex-2023-10-17", 1),
			status: 400, text: "anthropic_version: Input should be 'vertex-2023-10-16', 'bedrock-2023-05-31', '2023-01-01', '2023-06-01' or '2026-10-21'"},
		{name: "empty version", path: "m:rawPredict", body: strings.Replace(vertexBody, "vertex-2023-10-16", "", 1),
			status: 400, text: "anthropic_version: String should have at least 1 character"},
		{name: "number as version", path: "m:rawPredict", body: strings.Replace(vertexBody, `"vertex-2023-10-16"`, "1", 1),
			status: 400, text: "anthropic_version: Input should be a valid string"},
		{name: "rules of the version", path: "m:rawPredict", status: 400, text: "temperature: ",
			body: strings.Replace(vertexBodyWith(`"temperature":1`), "vertex-2023-10-16", "2026-10-21", 1)},
		{name: "many betas", path: "m:rawPredict", body: vertexBody, edit: header("anthropic-beta", strings.Repeat("a,", 65)), status: 400, text: "anthropic-beta: has 65 values"},
		{name: "no model to count for", path: "count-tokens:rawPredict", body: `{"messages":[{"role":"user","content":"Hi"}]}`, status: 400, text: "model: Field required"},
		{name: "no JSON", path: "m:rawPredict", body: `{"anthropic_version":`, status: 400, text: "The request body is not valid JSON: "},
		{name: "list", path: "m:rawPredict", body: `[]`, status: 400, text: "The request body must be a JSON object"},
		{name: "strict", path: "m:rawPredict", body: vertexBodyWith(`"anthropic_other":["a"]`), strict: true, status: 400, text: "anthropic_other: Extra inputs are not permitted"},
		{name: "betas of another type", path: "m:rawPredict", body: vertexBodyWith(`"anthropic_beta":"a"`), status: 400, text: "anthropic_beta: Input should be a valid list"},
		{name: "beta of another type", path: "m:rawPredict", body: vertexBodyWith(`"anthropic_beta":["a",1]`), status: 400, text: "anthropic_beta.1: Input should be a valid string"},
		{name: "many betas in the body", path: "m:rawPredict", body: vertexBodyWith(`"anthropic_beta":[` + manyBetas() + `]`), status: 400, text: "anthropic_beta: has 65 values; the maximum is 64"},
		{name: "long beta", path: "m:rawPredict", body: vertexBodyWith(`"anthropic_beta":["` + strings.Repeat("a", 129) + `"]`), status: 400, text: "anthropic_beta: a value is not the name of a beta"},
		{name: "beta with a line break", path: "m:rawPredict", body: vertexBodyWith(`"anthropic_beta":["a\nb"]`), status: 400, text: "anthropic_beta: a value is not the name of a beta"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := vertexPost(tt.path, tt.body)
			if tt.edit != nil {
				tt.edit(r)
			}
			w, got := serveVertex(r, &Options{HandlerOptions: upstream.HandlerOptions{Strict: tt.strict, Logger: slog.New(slog.DiscardHandler)}})
			kind := "invalid_request_error"
			if tt.status == 404 {
				kind = "not_found_error"
			}
			checkError(t, w.Result(), tt.status, kind, tt.text, "")
			if got != nil {
				t.Error("the upstream was called")
			}
		})
	}
}

// manyBetas returns one beta more than are accepted.
func manyBetas() string {
	var list []string
	for i := range 65 {
		list = append(list, fmt.Sprintf(`"b%d"`, i))
	}
	return strings.Join(list, ",")
}

// TestVertexBetas checks that betas in the body are added to those in the header, and that
// the member is not sent on.
func TestVertexBetas(t *testing.T) {
	for list, want := range map[string]string{`["c","b","c,d"," "]`: "a,b,c,d", `[]`: "a,b", `null`: "a,b"} {
		r := vertexPost("m:rawPredict", strings.Replace(vertexBodyWith(`"anthropic_beta":`+list), "vertex-2023-10-16", "bedrock-2023-05-31", 1))
		r.Header.Set("anthropic-beta", "a,b")
		w, got := serveVertex(r, &Options{HandlerOptions: upstream.HandlerOptions{Strict: true}})
		if w.Code != 200 || got == nil {
			t.Fatalf("%s: %d %s", list, w.Code, w.Body)
		}
		if diff := cmp.Diff([]upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "anthropic-beta", Value: want}}, got.Header); diff != "" || got.Extra != nil {
			t.Errorf("%s: extra %v, header (-want +got):\n%s", list, got.Extra, diff)
		}
	}
}

// TestVertexStrict checks that strict validation accepts a body for these paths, and refuses
// it at the path of the vendor.
func TestVertexStrict(t *testing.T) {
	o := &Options{HandlerOptions: upstream.HandlerOptions{Strict: true, Logger: slog.New(slog.DiscardHandler)}}
	if w, _ := serveVertex(vertexPost("m:rawPredict", vertexBody), o); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w, _ := serveVertex(post(vertexBodyWith(`"model":"m"`)), o)
	checkError(t, w.Result(), 400, "invalid_request_error", "anthropic_version: Extra inputs are not permitted", "")
}

// TestVersionMember checks that the member has no meaning at the path of the vendor.
func TestVersionMember(t *testing.T) {
	_, got := serveVertex(post(vertexBodyWith(`"model":"m"`)), nil)
	if v, _ := got.Extra.Get("anthropic_version"); v != `"vertex-2023-10-16"` {
		t.Errorf("extra: %v", got.Extra)
	}
}

func TestVertexCount(t *testing.T) {
	for _, body := range []string{
		`{"model":"n","messages":[{"role":"user","content":"Hi"}]}`, // as in Google's reference
		`{"anthropic_version":"vertex-2023-10-16","model":"n","messages":[{"role":"user","content":"Hi"}]}`,
		`{"anthropic_beta":["b"],"model":"n","messages":[{"role":"user","content":"Hi"}]}`,
	} {
		var got *upstream.Request
		up := &formattest.Able{Count: func(_ context.Context, n *upstream.Request) (upstream.TokenCount, error) {
			got = n
			return upstream.TokenCount{Tokens: 7}, nil
		}}
		w := httptest.NewRecorder()
		NewHandler(up, nil).ServeHTTP(w, vertexPost("count-tokens:rawPredict", body))
		if w.Code != 200 || w.Body.String() != `{"input_tokens":7}` {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if text, ok := upstream.WireOf(got, Format); ok != !strings.Contains(body, "anthropic_") {
			t.Errorf("WireOf: %q, %t", text, ok)
		}
		if got.Model != "n" || got.Header[0].Value != "2023-06-01" {
			t.Errorf("model %q, header %v", got.Model, got.Header)
		}
	}
}

func TestVertexKey(t *testing.T) {
	o := &Options{HandlerOptions: upstream.HandlerOptions{Authenticate: upstream.Keys("k"), Logger: slog.New(slog.DiscardHandler)}}
	r := vertexPost("m:rawPredict", vertexBody)
	r.Header.Set("Authorization", "Bearer k")
	if w, _ := serveVertex(r, o); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w, _ := serveVertex(vertexPost("m:rawPredict", vertexBody), o)
	checkError(t, w.Result(), 401, "authentication_error", "", "")
}

func TestVertexMatch(t *testing.T) {
	h := NewHandler(hello, nil)
	for path, want := range map[string]bool{
		vertexModels + "m:rawPredict":                                      true,
		vertexModels + "m:streamRawPredict":                                true,
		vertexModels + "count-tokens:rawPredict":                           true,
		vertexModels + "m:generateContent":                                 false,
		"/v1/projects/p/locations/l/publishers/google/models/m:rawPredict": false,
	} {
		if got := h.Match(httptest.NewRequest("POST", path, nil)); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// TestVertexDocument checks that the document of a request is kept with its bytes.
func TestVertexDocument(t *testing.T) {
	body := `{ "messages":[{"role":"user","content":"Hi"}], "max_tokens":64,  "anthropic_version" : "vertex-2023-10-16" }`
	_, got := serveVertex(vertexPost("m:rawPredict", body), nil)
	if got.Wire == nil || got.Wire.String() != body {
		t.Errorf("document: %+v", got.Wire)
	}
}

// FuzzVertexPath checks that no path of a client makes the handler fail in another way than
// with an error of the format.
func FuzzVertexPath(f *testing.F) {
	for _, s := range []string{"m:rawPredict", ":streamRawPredict", "a/b:c:rawPredict", "count-tokens:rawPredict", "%2F..%2F:rawPredict"} {
		f.Add(vertexModels+s, vertexBody)
	}
	f.Add("publishers/anthropic/models/publishers/anthropic/models/:rawPredict", vertexBody)
	h := NewHandler(hello, &Options{HandlerOptions: upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}})
	f.Fuzz(func(t *testing.T, path, body string) {
		at := parseVertexPath(path)
		if at == nil {
			return
		}
		if !strings.HasSuffix(path, "publishers/anthropic/models/"+at.model+":rawPredict") &&
			!strings.HasSuffix(path, "publishers/anthropic/models/"+at.model+":streamRawPredict") {
			t.Fatalf("%q: model %q", path, at.model)
		}
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.URL.Path = path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if res := w.Result(); res.StatusCode != 200 {
			text, _ := io.ReadAll(res.Body)
			if _, err := formattest.DecodeObject(text); err != nil || res.StatusCode >= 500 {
				t.Fatalf("%d %s", res.StatusCode, text)
			}
		}
	})
}

// TestWholeCount checks that a document of Bedrock for counting, which is one for a response, is
// valid, and that it is not sent as a count request.
func TestWholeCount(t *testing.T) {
	for version, status := range map[string]int{"bedrock-2023-05-31": 200, "vertex-2023-10-16": 400} {
		var got *upstream.Request
		up := &formattest.Able{Count: func(_ context.Context, n *upstream.Request) (upstream.TokenCount, error) {
			got = n
			return upstream.TokenCount{Tokens: 7}, nil
		}}
		body := `{"anthropic_version":"` + version + `","model":"n","max_tokens":1,"temperature":1,"messages":[{"role":"user","content":"Hi"}]}`
		w := httptest.NewRecorder()
		o := &Options{HandlerOptions: upstream.HandlerOptions{Strict: true, Logger: slog.New(slog.DiscardHandler)}}
		NewHandler(up, o).ServeHTTP(w, vertexPost("count-tokens:rawPredict", body))
		if w.Code != status {
			t.Errorf("%s: %d %s", version, w.Code, w.Body)
		}
		if status != 200 {
			continue
		}
		if snapshot.DocumentOf(got, Format) != nil {
			t.Error("the request has its document")
		}
	}
}
