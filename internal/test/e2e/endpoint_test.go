package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A mode is the kind of response that a client requests.
type mode string

const (
	whole mode = "whole"
	sse   mode = "sse"
	array mode = "array" // a generateContent stream without alt=sse
	count mode = "count"
)

// clientKey is the key that clients send. No vendor may receive it.
const clientKey = "sk-client-0ff1ce"

// An endpoint is a handler, and functions to make its requests and read its
// responses.
type endpoint struct {
	name    string
	modes   []mode
	handler func(upstream.Upstream, upstream.HandlerOptions) http.Handler
	request func(model, members string, m mode) *http.Request
	read    func(*response, mode)
}

var endpoints = []endpoint{
	{"messages", []mode{whole, sse}, func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
		return messages.NewHandler(up, &messages.Options{HandlerOptions: s, FilesWithoutBeta: true})
	}, messagesRequest, readMessages},
	{"generatecontent", []mode{whole, sse, array}, func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
		return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
	}, generateRequest, readGenerate},
}

// openAIEndpoints are the handlers of OpenAI's formats.
var openAIEndpoints = []endpoint{
	{"chatcompletions", []mode{whole, sse}, func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
		return chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s})
	}, chatRequest, readChat},
	{"responses", []mode{whole, sse}, func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
		return responses.NewHandler(up, &responses.Options{HandlerOptions: s})
	}, responsesRequest, readResponses},
}

var allEndpoints = slices.Concat(endpoints, openAIEndpoints)

func endpointNamed(name string) endpoint {
	for _, f := range allEndpoints {
		if f.name == name {
			return f
		}
	}
	panic("no endpoint " + name)
}

// messagesRequest returns a request with the given members of a document, and
// the headers that all clients send.
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

// chatRequest returns a request with the given members of a document, and the headers that all
// clients send.
func chatRequest(model, members string, m mode) *http.Request {
	body := `{"model":"` + model + `",`
	if m == sse {
		body += `"stream":true,"stream_options":{"include_usage":true},`
	}
	return openAIRequest("/v1/chat/completions", body+members+"}")
}

func responsesRequest(model, members string, m mode) *http.Request {
	path, body := "/v1/responses", `{"model":"`+model+`",`
	switch m {
	case count:
		path += "/input_tokens"
	case sse:
		body += `"stream":true,`
	}
	return openAIRequest(path, body+members+"}")
}

func openAIRequest(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+clientKey)
	r.Header.Set("User-Agent", "client-agent-mark")
	r.Header.Set("X-Stainless-Lang", "client-lang-mark")
	r.Header.Set("Content-Type", "application/json")
	return r
}

// A gateway is one instance: a handler over an adapter.
type gateway struct {
	endpoint endpoint
	handler  http.Handler
	reports  chan *upstream.Report
}

// newGateway returns an instance whose reports can be read.
func newGateway(f endpoint, up upstream.Upstream, s upstream.HandlerOptions) *gateway {
	g := &gateway{endpoint: f, reports: make(chan *upstream.Report, 1)}
	s.OnDone = func(_ context.Context, r *upstream.Report) { g.reports <- r }
	g.handler = f.handler(up, s)
	return g
}

// ask sends a document and reads the response.
func (g *gateway) ask(model, members string, m mode) *response {
	return g.do(g.endpoint.request(model, members, m), m)
}

func (g *gateway) do(r *http.Request, m mode) *response {
	w := httptest.NewRecorder()
	a := &response{}
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
	g.endpoint.read(a, m)
	if s := leaks(a); s != "" {
		a.broken("the response contains %s", s)
	}
	return a
}

// each runs f for each pair of endpoint and adapter, in parallel.
func each(t *testing.T, f func(t *testing.T, f endpoint, b adapter)) { eachOf(t, endpoints, f) }

// eachOpenAI is each for OpenAI's formats, without the clouds.
func eachOpenAI(t *testing.T, f func(t *testing.T, f endpoint, b adapter)) {
	for _, e := range openAIEndpoints {
		for _, b := range adapters {
			t.Run(e.name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				f(t, e, b)
			})
		}
	}
}

// eachOf is each for some endpoints.
func eachOf(t *testing.T, list []endpoint, f func(t *testing.T, f endpoint, b adapter)) {
	for _, e := range list {
		run := func(name string, b adapter) {
			t.Run(e.name+"→"+name, func(t *testing.T) {
				t.Parallel()
				f(t, e, b)
			})
		}
		for _, b := range adapters {
			run(b.name, b)
		}
		if race.Enabled {
			continue // clouds differ from their vendors in documents and paths, not in goroutines
		}
		for name, b := range clouds {
			if !strings.HasSuffix(name, ", dated") { // TestClouds runs them
				run(name, b)
			}
		}
	}
}
