package adapter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/upstream"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// A textBody is a Body of a text.
type textBody string

func (d textBody) Len() int64 { return int64(len(d)) }

func (d textBody) Reader() io.ReadCloser { return io.NopCloser(strings.NewReader(string(d))) }

// failure decodes errors of the tests' format: the body is the text.
func failure(status int, _ http.Header, body []byte) *upstream.Error {
	code := upstream.CodeBadGateway
	if status == http.StatusNotFound {
		code = upstream.CodeNotFound
	}
	return &upstream.Error{Code: code, Text: string(body), Err: errOwn}
}

var errOwn = errors.New("the tests' own")

// serve starts a server on loopback and returns a client for it.
func serve(t *testing.T, h http.HandlerFunc, change func(*Config)) *Client {
	t.Helper()
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	client := ts.Client()
	client.Transport.(*http.Transport).MaxResponseHeaderBytes = maxHeader
	c := Config{BaseURL: ts.URL + "/base", HTTPClient: client, DecodeError: failure}
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDo(t *testing.T) {
	type seen struct {
		Method, Path, Query, Body, Key, Type string
		Length                               int64
		Extra                                []string
	}
	var got seen
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header.Get("X-Key"),
			r.Header.Get("Content-Type"), r.ContentLength, r.Header.Values("X-Extra")}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a":1}`)
	}, func(c *Config) {
		c.BaseURL += "?tenant=1"
		c.Header = http.Header{"X-Extra": {"host"}, "x-other": {"1"}}
		c.KeyFunc = func(context.Context) (string, error) { return "k", nil }
		c.KeyHeader = "X-Key"
	})
	a, err := s.Do(t.Context(), &Request{Path: "/v1/a%2Fb:do?alt=sse", Body: textBody(`{}`), Header: http.Header{"X-Extra": {"format"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if text, err := a.Text(); text != `{"a":1}` || err != nil || a.Stream {
		t.Errorf("the answer is %q %v %v", text, err, a.Stream)
	}
	want := seen{"POST", "/base/v1/a%2Fb:do", "tenant=1&alt=sse", `{}`, "k", "application/json", 2, []string{"format"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// TestStartInfo checks which headers of a response clients may receive: those that
// are named, and those with a named prefix.
func TestStartInfo(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"X-Id", "X-Id-Of-Account", "X-Rate-A", "X-Rate", "X-Other"} {
			w.Header()[name] = []string{name + " 1", name + " 2"}
		}
		w.Header().Set("Content-Type", "application/json")
	}, func(c *Config) { c.ForwardedHeaders = []string{"X-Id", "X-Rate-", "X-None"} })
	a, err := s.Do(t.Context(), &Request{Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	want := []upstream.HeaderField{
		{Name: "X-Id", Value: "X-Id 1"}, {Name: "X-Id", Value: "X-Id 2"},
		{Name: "X-Rate-A", Value: "X-Rate-A 1"}, {Name: "X-Rate-A", Value: "X-Rate-A 2"},
	}
	head := a.StartInfo(true)
	if diff := cmp.Diff(want, head.Header); diff != "" || !head.ModelAsRequested {
		t.Errorf("as asked: %v; headers (-want +got):\n%s", head.ModelAsRequested, diff)
	}
}

// TestErrors checks the error for each kind of failure, and that none has a text for
// clients.
func TestErrors(t *testing.T) {
	say := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, text)
		}
	}
	tests := []struct {
		name   string
		h      http.HandlerFunc
		change func(*Config)
		code   upstream.Code
		url    bool // is in the cause
	}{
		{"closed port", say("application/json", "{}"), func(c *Config) { c.BaseURL = "http://127.0.0.1:1" }, upstream.CodeUnavailable, false},
		{"server without TLS", say("application/json", "{}"), func(c *Config) { c.BaseURL = "https" + strings.TrimPrefix(c.BaseURL, "http") }, upstream.CodeUnavailable, false},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/else", http.StatusTemporaryRedirect)
		}, nil, upstream.CodeBadGateway, true},
		{"HTML page", say("text/html", "<html>"), nil, upstream.CodeBadGateway, true},
		{"compressed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "xxx")
		}, nil, upstream.CodeBadGateway, false},
		{"closed at once", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, nil, upstream.CodeUnavailable, false},
		{"cut", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"a":`)
		}, nil, upstream.CodeBadGateway, false},
		{"too long", say("application/json", strings.Repeat(" ", 101)), func(c *Config) { c.MaxResponse = 100 }, upstream.CodeBadGateway, false},
		{"headers too long", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 2*maxHeader))
		}, nil, upstream.CodeUnavailable, false},
		{"failing KeyFunc", say("application/json", "{}"), func(c *Config) {
			c.KeyFunc = func(context.Context) (string, error) { return "", errors.New("vault") }
		}, upstream.CodeInternal, false},
		{"invalid key", say("application/json", "{}"), func(c *Config) {
			c.KeyFunc = func(context.Context) (string, error) { return "secret\r\nX: y", nil }
		}, upstream.CodeInternal, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.h, test.change)
			a, err := s.Do(t.Context(), &Request{Path: "/v1/x", Body: textBody(`{}`)})
			if err == nil {
				defer a.Close()
				_, err = a.Text()
			}
			var e *upstream.Error
			if !errors.As(err, &e) || e.Code != test.code || e.Text != "" || e.Err == nil {
				t.Fatalf("the error is %#v, want the code %s, no text and a cause", err, test.code)
			}
			named := strings.Contains(e.Err.Error(), ", requested URL "+s.base.JoinPath("/v1/x").String())
			if cause := e.Err.Error(); named != test.url || strings.Contains(cause, "secret") {
				t.Errorf("got the cause %q, want the URL: %v", cause, test.url)
			}
		})
	}
}

// TestTransportError tests that an error of a host's transport is kept.
func TestTransportError(t *testing.T) {
	own := &upstream.Error{Code: upstream.CodeInternal, Err: errors.New("no credentials with host-key")}
	fails := roundTripper(func(*http.Request) (*http.Response, error) { return nil, own })
	s := serve(t, nil, func(c *Config) { c.Name, c.Key, c.HTTPClient = "name", "host-key", &http.Client{Transport: fails} })
	_, err := s.Do(t.Context(), &Request{Path: "/x"})
	e, ok := err.(*upstream.Error)
	if !ok || e.Code != upstream.CodeInternal || e.Upstream != "name" || e.Err.Error() != "name: no credentials with [removed]" {
		t.Errorf("got %v", err)
	}
	if own.Upstream != "" {
		t.Error("the error of the transport was changed")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCanceled(t *testing.T) {
	gone := errors.New("gone")
	for _, stage := range []string{"waiting", "reading"} {
		t.Run(stage, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if stage == "reading" {
					_, _ = io.WriteString(w, "{")
					_ = http.NewResponseController(w).Flush()
				}
				_, _ = io.Copy(io.Discard, r.Body)
				cancel(gone)
				<-r.Context().Done()
			}, nil)
			a, err := s.Do(ctx, &Request{Path: "/", Body: textBody(`{}`)})
			if err == nil {
				defer a.Close()
				_, err = a.Text()
			}
			if !errors.Is(err, gone) {
				t.Errorf("the error is %v, want the cause", err)
			}
		})
	}
}

func TestStreamed(t *testing.T) {
	for _, test := range []struct {
		kind          string
		asked, stream bool
	}{
		{"text/event-stream; charset=utf-8", false, true},
		{"application/json", true, false},
		{"application/problem+json", true, false},
		{"", true, true},
		{"", false, false},
		{"text/plain", true, true},
	} {
		h := http.Header{"Content-Type": {test.kind}}
		if got, err := isStream(h, test.asked); got != test.stream || err != nil {
			t.Errorf("%q, asked for a stream: %v: it is %v, %v", test.kind, test.asked, got, err)
		}
	}
}

func TestNotServed(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&upstream.Error{Code: upstream.CodeBadGateway, Err: &statusError{status: 404}}, true},
		{&upstream.Error{Code: upstream.CodeBadGateway, Err: &statusError{status: 405}}, true},
		{&upstream.Error{Code: upstream.CodeUnavailable, Err: &statusError{status: 501}}, true},
		{&upstream.Error{Code: upstream.CodeNotFound, Text: "model: x", Err: &statusError{status: 404, aboutModel: true}}, false},
		{&upstream.Error{Code: upstream.CodeBadGateway, Err: &statusError{status: 302}}, false},
		{&upstream.Error{Code: upstream.CodeNotFound}, false},
		{io.EOF, false},
	} {
		if got := isNotServed(test.err); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}

// TestManyModels checks that an endless list of models takes bounded memory.
func TestManyModels(t *testing.T) {
	pages := 0
	list, err := listPages(func(string) ([]upstream.Model, string, error) {
		pages++
		return make([]upstream.Model, maxModels/2), strings.Repeat("x", pages), nil
	})
	if len(list) != maxModels || pages != 2 || err != nil {
		t.Errorf("%d models of %d pages, %v", len(list), pages, err)
	}
}

// TestModels checks that a list is read to its last page, and that an endless list
// is cut.
func TestModels(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name  string
		next  func(at int) string
		fails int // the page that cannot be had, if not 0
		pages int
	}{
		{"one page", func(int) string { return "" }, 0, 1},
		{"three pages", func(at int) string { return []string{"b", "c", ""}[at] }, 0, 3},
		{"the same page again", func(int) string { return "b" }, 0, 2},
		{"endless list", func(at int) string { return strings.Repeat("x", at+1) }, 0, 100},
		{"failing page", func(int) string { return "b" }, 1, 1},
	} {
		asked := []string{}
		list, err := listPages(func(after string) ([]upstream.Model, string, error) {
			at := len(asked)
			if test.fails > 0 && at == test.fails {
				return nil, "", broken
			}
			asked = append(asked, after)
			return []upstream.Model{{ID: after}}, test.next(at), nil
		})
		if len(asked) != test.pages {
			t.Errorf("%s: %d pages were read, want %d", test.name, len(asked), test.pages)
		}
		if test.fails > 0 {
			if !errors.Is(err, broken) || list != nil {
				t.Errorf("%s: %v, %v", test.name, list, err)
			}
			continue
		}
		var got []string
		for _, m := range list {
			got = append(got, m.ID)
		}
		if diff := cmp.Diff(asked, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-asked +got):\n%s", test.name, err, diff)
		}
		if asked[0] != "" {
			t.Errorf("%s: the first page is asked for behind %q", test.name, asked[0])
		}
	}
}

func TestSplice(t *testing.T) {
	const body = ` { "stream" : false, "model":"a", "x":[1] } `
	span := func(name, value string) document.Span {
		at := strings.Index(body, value)
		return document.Span{Name: name, From: at, To: at + len(value)}
	}
	w := &document.Document{Body: body, Spans: []document.Span{span("model", `"a"`), span("stream", `false`)}}
	doc := func(body string) *document.Document { // with the spans of a and b
		d := &document.Document{Body: body}
		v, err := jsonwire.Parse(body, jsonwire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		for name, x := range v.Root().Members() {
			if name == "a" || name == "b" {
				d.Spans = append(d.Spans, document.Span{Name: name, From: x.Offset(), To: x.End()})
			}
		}
		return d
	}
	tests := []struct {
		name    string
		wire    *document.Document
		members []Member
		want    string
	}{
		{"nothing", w, nil, body},
		{"both", w, []Member{{"model", `"bcd"`}, {"stream", "true"}}, ` { "stream" : true, "model":"bcd", "x":[1] } `},
		{"missing location", w, []Member{{"n", "1"}}, ` {"n":1, "stream" : false, "model":"a", "x":[1] } `},
		{"closed location", &document.Document{Body: "{ }"}, []Member{{"n", "1"}}, `{"n":1 }`},
		{"first removed", w, []Member{{"stream", ""}}, ` {  "model":"a", "x":[1] } `},
		{"middle removed", w, []Member{{"model", ""}}, ` { "stream" : false,  "x":[1] } `},
		{"removed and inserted", w, []Member{{"stream", ""}, {"n", "1"}, {"model", ""}}, ` {"n":1,   "x":[1] } `},
		{"removal of a missing member", w, []Member{{"n", ""}}, body},
		{"last removed", doc(`{"x":1 , "a" : "\\\"," }`), []Member{{"a", ""}}, `{"x":1  }`},
		{"last two removed", doc(`{"x":1,"b":2 ,"a":3}`), []Member{{"a", ""}, {"b", ""}}, `{"x":1}`},
		{"all removed", doc(`{ "a":1, "b":[2] }`), []Member{{"a", ""}, {"b", ""}}, `{ }`},
		{"all replaced", doc(`{ "a":1, "b":[2] }`), []Member{{"a", ""}, {"b", ""}, {"n", "4"}}, `{"n":4 }`},
		{"kept between", doc(`{"a":1,"b":2,"x":3}`), []Member{{"a", ""}, {"b", "4"}}, `{"b":4,"x":3}`},
		{"escaped name", doc(`{"x":"\"y","\u0061":1}`), []Member{{"a", ""}}, `{"x":"\"y"}`},
	}
	for _, test := range tests {
		b := Splice(test.wire, test.members...)
		for range 2 { // another attempt reads it again
			got, err := io.ReadAll(b.Reader())
			if string(got) != test.want || err != nil || b.Len() != int64(len(test.want)) {
				t.Errorf("%s: %s (%d bytes) %v, want %s", test.name, got, b.Len(), err, test.want)
			}
		}
	}
}

// TestMappedModel checks that an error about a model is the host's if the host has mapped
// another name to it, and not if it may be about state of the vendor.
func TestMappedModel(t *testing.T) {
	unknown := upstream.Error{Code: upstream.CodeNotFound, Text: "no m-real"}
	file := upstream.Error{Code: upstream.CodeNotFound, Text: "File `file_x` not found."}
	for _, tt := range []struct {
		name            string
		client, request string // the model of the client, "" without a handler, and of the request
		sent            string
		state           content.Format
		err             upstream.Error
		want            bool
	}{
		{"same", "m", "m", "m", "", unknown, false},
		{"MapModel", "m", "m", "m-real", "", unknown, true},
		{"MapModel, without a handler", "", "m", "m-real", "", unknown, true},
		{"route", "m", "m-real", "m-real", "", unknown, true},
		{"route and back", "m-real", "m", "m-real", "", unknown, false},
		{"prefix removed", "vendor/m-real", "m-real", "m-real", "", unknown, false},
		{"prefix added", "m-real", "m-real", "vendor/m-real", "", unknown, false},
		{"end of another name", "m", "m", "other-m", "", unknown, true},
		{"file", "m", "m", "m-real", "messages", file, false},
		{"model beside a file", "m", "m", "m-real", "messages", unknown, true},
		{"member", "m", "m", "m-real", "", upstream.Error{Code: upstream.CodeInvalid, Text: "'x' is not supported with the model m-real"}, false},
		{"name", "m", "m", "m-real", "", upstream.Error{Code: upstream.CodeInvalid, Text: "Unknown model: m-real"}, true},
	} {
		ctx := reqctx.With(t.Context(), &reqctx.Values{Model: tt.client, StateFormat: tt.state})
		p := &Plan{Source: &upstream.Request{Model: tt.request}, Model: tt.sent}
		if got := p.isMapped(ctx, &tt.err); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
