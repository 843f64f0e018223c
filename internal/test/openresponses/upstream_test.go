package openresponses

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	vendoranthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	vendorgemini "github.com/polywire/polywire/internal/test/fake/gemini"
	vendoropenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A vendor is an adapter over the strict fake of its vendor.
type vendor struct {
	name, model string
	start       func(t *testing.T) (upstream.Upstream, *fake.Server, error)
}

const key = "sk-host"

var vendors = []vendor{
	{"anthropic", "claude-sonnet-4-5", func(t *testing.T) (upstream.Upstream, *fake.Server, error) {
		f := vendoranthropic.New(t, vendoranthropic.Options{Key: key})
		up, err := anthropic.New(&anthropic.Options{BaseURL: f.URL, Key: key, HTTPClient: client(t)})
		return up, f.Server, err
	}},
	{"gemini", "gemini-3.8-flash", func(t *testing.T) (upstream.Upstream, *fake.Server, error) {
		f := vendorgemini.New(t, vendorgemini.Options{Key: key})
		up, err := gemini.New(&gemini.Options{BaseURL: f.URL, Key: key, HTTPClient: client(t)})
		return up, f.Server, err
	}},
	{"chat", "gpt-4.1", func(t *testing.T) (upstream.Upstream, *fake.Server, error) {
		f := vendoropenai.New(t, vendoropenai.Options{Key: key})
		up, err := openai.New(&openai.Options{BaseURL: f.Base(), Key: key, HTTPClient: client(t), Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
		return up, f.Server, err
	}},
	{"responses", "gpt-5.6", func(t *testing.T) (upstream.Upstream, *fake.Server, error) {
		f := vendoropenai.New(t, vendoropenai.Options{Key: key})
		up, err := openai.NewResponses(&openai.Options{BaseURL: f.Base(), Key: key, HTTPClient: client(t), Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
		return up, f.Server, err
	}},
}

// client returns a client whose idle connections are closed at the end of the test.
func client(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// A gateway is a handler in front of a fake.
type gateway struct {
	*fake.Server
	handler  http.Handler
	contract *contract
	model    string
}

// eachVendor runs a test over each vendor.
func eachVendor(t *testing.T, opts responses.Options, f func(t *testing.T, g *gateway)) {
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) {
			up, server, err := v.start(t)
			if err != nil {
				t.Fatal(err)
			}
			f(t, newGateway(t, up, server, v.model, opts))
		})
	}
}

// newGateway returns a handler with opts that logs nothing.
func newGateway(t *testing.T, up upstream.Upstream, server *fake.Server, model string, opts responses.Options) *gateway {
	opts.Logger = slog.New(slog.DiscardHandler)
	return &gateway{server, responses.NewHandler(up, &opts), contractOf(t), model}
}

// A reply is a response to a client.
type reply struct {
	status int
	header http.Header
	body   string
	object gjson.Result               // the response: of a stream that of its last event
	stream *formattest.ResponseStream // nil if the response is not a stream
}

// post sends a request of the specification, without the model, and validates it and its
// response.
func (g *gateway) post(t *testing.T, members string) *reply {
	t.Helper()
	body := `{"model":"` + g.model + `",` + members + `}`
	if err := g.contract.validate("CreateResponseBody", body); err != nil {
		t.Fatalf("the request is not in the document: %v", err)
	}
	r := g.send(t, "POST", "/v1/responses", body)
	switch {
	case r.status != 200:
		g.checkError(t, r)
	case r.stream != nil:
		if err := g.contract.stream(r.body); err != nil {
			t.Error(err)
		}
	default:
		if err := g.contract.validate("ResponseResource", r.body); err != nil {
			t.Error(err)
		}
	}
	return r
}

// send sends any request.
func (g *gateway) send(t *testing.T, method, path, body string, header ...string) *reply {
	t.Helper()
	q := httptest.NewRequest(method, path, strings.NewReader(body))
	q.Header.Set("Authorization", "Bearer client")
	q.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, q)
	r := &reply{status: w.Code, header: w.Header(), body: w.Body.String()}
	if strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		r.stream = new(formattest.ResponseStream)
		if err := r.stream.Read(r.body); err != nil {
			t.Errorf("%v in the stream\n%s", err, r.body)
		}
		r.object = r.stream.Final
		return r
	}
	if got := r.header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") || !gjson.Valid(r.body) {
		t.Errorf("%s %s: %q %s", method, path, got, r.body)
	}
	r.object = gjson.Parse(r.body)
	return r
}

// errorTypes are the types of errors, which are OpenAI's, by the status. The specification has
// other names, as examples, and requires none.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 405: "invalid_request_error", 413: "invalid_request_error",
	426: "invalid_request_error", 429: "rate_limit_error", 500: "server_error", 502: "server_error", 503: "server_error", 529: "server_error",
}

// checkError checks an error object: it has four members, and its code and param may be null.
func (g *gateway) checkError(t *testing.T, r *reply) {
	t.Helper()
	e := r.object.Get("error")
	if got, want := e.Get("type").Str, errorTypes[r.status]; got != want && got != "service_unavailable_error" && got != "tokens" { // the last one is the vendor's
		t.Errorf("status %d: type %q, want %q", r.status, got, want)
	}
	if e.Get("message").Str == "" || len(e.Map()) != 4 || len(r.object.Map()) != 1 {
		t.Errorf("not an error object: %s", r.body)
	}
	for _, name := range []string{"code", "param"} {
		if v := e.Get(name); v.Type != gjson.Null && v.Str == "" || !v.Exists() {
			t.Errorf("%s of the error is %q", name, v.Raw)
		}
	}
}
