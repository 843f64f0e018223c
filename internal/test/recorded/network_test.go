package recorded

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// network carries all traffic of these tests.
var network *loopback

// A loopback is one HTTP server for all handlers of these tests.
type loopback struct {
	server   *httptest.Server
	client   *http.Transport
	handlers sync.Map // by the number in routeHeader
	last     atomic.Int64
}

// routeHeader names the handler of a request. Handlers do not see it.
const routeHeader = "Polywire-Test-Route"

func newLoopback() *loopback {
	l := &loopback{client: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true}}
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, ok := l.handlers.Load(r.Header.Get(routeHeader))
		if !ok {
			http.Error(w, "no such route", http.StatusTeapot)
			return
		}
		r.Header.Del(routeHeader)
		h.(http.Handler).ServeHTTP(w, r)
	}))
	return l
}

func (l *loopback) close() {
	l.client.CloseIdleConnections()
	l.server.Close()
}

// serve makes h reachable through the returned transport, for any host. release
// ends that, and waits for h, which may work on after a client has its response.
func (l *loopback) serve(h http.Handler) (transport http.RoundTripper, release func()) {
	key := strconv.FormatInt(l.last.Add(1), 10)
	var busy sync.WaitGroup
	l.handlers.Store(key, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		busy.Add(1)
		defer busy.Done()
		h.ServeHTTP(w, r)
	}))
	return &route{l, key}, func() {
		l.handlers.Delete(key)
		busy.Wait()
	}
}

type route struct {
	l   *loopback
	key string
}

// RoundTrip implements [http.RoundTripper].
func (t *route) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", t.l.server.Listener.Addr().String()
	r.Header.Set(routeHeader, t.key)
	return t.l.client.RoundTrip(r)
}

// A vendor sends a recorded response and keeps the last request.
type vendor struct {
	rec *record

	mu   sync.Mutex
	sent []byte // nil if there was no request
}

// ServeHTTP implements [http.Handler].
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	v.mu.Lock()
	v.sent = body
	v.mu.Unlock()
	w.Header().Set("Content-Type", v.rec.contentType())
	w.WriteHeader(v.rec.Status)
	_, _ = io.WriteString(w, v.rec.Response)
}

// received returns the last request's body.
func (v *vendor) received() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sent
}

// replay returns an adapter whose vendor sends the record's response, over
// loopback.
func replay(r *record) (up upstream.Upstream, v *vendor, release func(), err error) {
	v = &vendor{rec: r}
	transport, release := network.serve(v)
	up, err = adapter(r, transport)
	return up, v, release, err
}

// adapter makes the adapter of a record's vendor. Servers whose host the
// recording does not name are local ones.
func adapter(r *record, transport http.RoundTripper) (upstream.Upstream, error) {
	host := r.Host
	if host == "" || strings.Contains(host, "<") {
		host = "localhost:11434"
	}
	return newAdapter(r.format, "http://"+host, transport)
}

// newAdapter makes the adapter for a format. An empty base is the vendor's own
// address.
func newAdapter(format content.Format, base string, transport http.RoundTripper) (upstream.Upstream, error) {
	client := &http.Client{Transport: transport}
	version := ""
	if base != "" {
		version = base + "/v1"
	}
	switch format {
	case formatMessages:
		return anthropic.New(&anthropic.Options{BaseURL: base, HTTPClient: client})
	case formatGenerate:
		return gemini.New(&gemini.Options{BaseURL: base, HTTPClient: client})
	case formatChat:
		return openai.New(&openai.Options{BaseURL: version, HTTPClient: client})
	case formatResponses:
		return openai.NewResponses(&openai.Options{BaseURL: version, HTTPClient: client})
	}
	return nil, fmt.Errorf("unknown format %q", format)
}

// A canned transport returns the recorded response without a network. body
// returns the response's body for the recorded one.
type canned struct {
	rec  *record
	body func(recorded string) io.Reader
}

// RoundTrip implements [http.RoundTripper].
func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: c.rec.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header:  http.Header{"Content-Type": {c.rec.contentType()}},
		Body:    io.NopCloser(c.body(c.rec.Response)),
		Request: r,
	}, nil
}

// newHandler makes a handler of a format over an upstream. The report of the
// last request is written to report.
func newHandler(format content.Format, up upstream.Upstream, report *upstream.Report) http.Handler {
	serving := upstream.HandlerOptions{
		Logger:       slog.New(slog.DiscardHandler),
		ForwardLinks: true,
		OnDone:       func(_ context.Context, r *upstream.Report) { *report = *r },
	}
	if format == formatMessages {
		return messages.NewHandler(up, &messages.Options{HandlerOptions: serving, FilesWithoutBeta: true})
	}
	return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: serving})
}

// A reply is the response of a handler to a client.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // the connection was closed before the response ended
	report upstream.Report
}

// A request is a request of a client to a handler.
type request struct {
	path, body string
	header     http.Header
}

// send sends a request to a handler of a format over an upstream.
func send(format content.Format, up upstream.Upstream, q request) (*reply, error) {
	got := new(reply)
	transport, release := network.serve(newHandler(format, up, &got.report))
	defer release()
	r, err := http.NewRequest(http.MethodPost, "http://gateway"+q.path, strings.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	if q.header != nil {
		r.Header = q.header.Clone()
	}
	r.Header.Set("Content-Type", "application/json")
	if format == formatMessages && r.Header.Get("anthropic-version") == "" {
		r.Header.Set("anthropic-version", "2023-06-01")
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	got.status, got.header, got.body, got.err = res.StatusCode, res.Header, string(b), err
	return got, nil
}

// A delivery is the form in which a client requests a response.
type delivery int

const (
	whole delivery = iota
	eventStream
	jsonArray // of generateContent only
)

// simple returns a short request. Any recorded response fits, since it does not
// depend on the prompt.
func simple(format content.Format, model string, d delivery, thinking bool) request {
	if format == formatMessages {
		body := object{"model": model, "max_tokens": 2000, "messages": []any{object{"role": "user", "content": "?"}}}
		if d != whole {
			body["stream"] = true
		}
		if thinking {
			body["thinking"] = object{"type": "enabled", "budget_tokens": 1024}
		}
		return request{path: "/v1/messages", body: encodeJSON(body)}
	}
	body := object{"contents": []any{object{"role": "user", "parts": []any{object{"text": "?"}}}}}
	if thinking {
		body["generationConfig"] = object{"thinkingConfig": object{"includeThoughts": true}}
	}
	path := "/v1beta/models/" + url.PathEscape(cmp.Or(model, "model"))
	switch d {
	case whole:
		path += ":generateContent"
	case eventStream:
		path += ":streamGenerateContent?alt=sse"
	case jsonArray:
		path += ":streamGenerateContent"
	}
	return request{path: path, body: encodeJSON(body)}
}

// neutral returns a short request for adapters.
func neutral(model string, stream bool) *upstream.Request {
	limit := int64(2000)
	return &upstream.Request{
		Model: model, MaxTokens: &limit, Stream: stream,
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "?"}}}},
	}
}
