package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A mode is how a client wants its answer.
type mode string

const (
	whole mode = "whole"
	sse   mode = "sse"
	array mode = "array" // generateContent streams without alt=sse
	count mode = "count"
)

// clientKey is what clients show. No vendor may ever see it.
const clientKey = "sk-client-0ff1ce"

// A front is a handler and a client's way to talk to it.
type front struct {
	name    string
	modes   []mode
	handler func(upstream.Upstream, upstream.HandlerOptions) http.Handler
	request func(model, members string, m mode) *http.Request
	read    func(*answer, mode)
}

var fronts = []front{
	{"messages", []mode{whole, sse}, func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
		return messages.NewHandler(up, &messages.Options{HandlerOptions: s, FilesWithoutBeta: true})
	}, messagesRequest, readMessages},
	{"generatecontent", []mode{whole, sse, array}, func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
		return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
	}, generateRequest, readGenerate},
}

func frontNamed(name string) front {
	for _, f := range fronts {
		if f.name == name {
			return f
		}
	}
	panic("no front " + name)
}

// messagesRequest makes a request of the members of a document. It adds what
// every client of the format sends.
func messagesRequest(model, members string, m mode) *http.Request {
	path := "/v1/messages"
	body := `{"model":"` + model + `",`
	if m == count {
		path += "/count_tokens"
	} else if !strings.Contains(members, `"max_tokens"`) {
		body += `"max_tokens":9000,`
	}
	if m == sse {
		body += `"stream":true,`
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body+members+"}"))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Api-Key", clientKey)
	r.Header.Set("User-Agent", "client-agent-mark")
	r.Header.Set("X-Stainless-Lang", "client-lang-mark")
	r.Header.Set("Content-Type", "application/json")
	return r
}

func generateRequest(model, members string, m mode) *http.Request {
	path, body := "/v1beta/models/"+model, "{"+members+"}"
	switch m {
	case whole:
		path += ":generateContent"
	case sse:
		path += ":streamGenerateContent?alt=sse"
	case array:
		path += ":streamGenerateContent"
	case count:
		path += ":countTokens"
		body = `{"generateContentRequest":{"model":"models/` + model + `",` + members + "}}"
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-Goog-Api-Key", clientKey)
	r.Header.Set("User-Agent", "client-agent-mark")
	r.Header.Set("X-Goog-Api-Client", "client-lang-mark")
	r.Header.Set("Content-Type", "application/json")
	return r
}

// A gateway is one instance: a front over a back.
type gateway struct {
	front   front
	handler http.Handler
	reports chan *upstream.Report
}

// newGateway returns an instance that notes what it reports.
func newGateway(f front, up upstream.Upstream, s upstream.HandlerOptions) *gateway {
	g := &gateway{front: f, reports: make(chan *upstream.Report, 1)}
	s.OnDone = func(_ context.Context, r *upstream.Report) { g.reports <- r }
	g.handler = f.handler(up, s)
	return g
}

// ask sends a document and reads the answer.
func (g *gateway) ask(model, members string, m mode) *answer {
	return g.do(g.front.request(model, members, m), m)
}

func (g *gateway) do(r *http.Request, m mode) *answer {
	w := httptest.NewRecorder()
	a := &answer{}
	func() {
		defer func() {
			if p := recover(); p != nil {
				if p != http.ErrAbortHandler {
					panic(p)
				}
				a.Aborted = true
			}
		}()
		g.handler.ServeHTTP(w, r)
	}()
	a.Status, a.Header, a.Body = w.Code, w.Header(), w.Body.String()
	a.Report = <-g.reports
	g.front.read(a, m)
	if s := leaks(a); s != "" {
		a.broken("the client hears of %s", s)
	}
	return a
}

// each runs f for every pair of a front and a back, in parallel.
func each(t *testing.T, f func(t *testing.T, f front, b back)) {
	for _, fr := range fronts {
		for _, b := range backs {
			t.Run(fr.name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				f(t, fr, b)
			})
		}
	}
}
