package main

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// handler returns a handler of both formats and of the health of the gateway. It chooses
// the format by path, and by a header of the vendor for paths that both formats have,
// such as /v1/models.
func (c *config) handler(up upstream.Upstream, logger *slog.Logger) http.Handler {
	c.install(up, c.monitors, logger)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			serveAlive(w, r)
		case "/readyz":
			c.health.ServeHTTP(w, r)
		default:
			c.formats.Load().ServeHTTP(w, r)
		}
	})
}

// install makes up the upstream of all requests that begin from now on.
func (c *config) install(up upstream.Upstream, monitors []*monitor, logger *slog.Logger) {
	s := c.handlerOptions(logger)
	c.health.monitors.Store(&monitors)
	c.formats.Store(&formats{
		messages:        messages.NewHandler(up, &messages.Options{HandlerOptions: s, MediaTypes: c.types}),
		generateContent: generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s, MediaTypes: c.types}),
	})
}

// formats serves the clients of both formats.
type formats struct {
	messages        *messages.Handler
	generateContent *generatecontent.Handler
}

// errNoPath is the error for paths of neither format.
var errNoPath = &upstream.Error{Code: upstream.CodeNotFound, Text: "there is nothing at this path; this server serves POST /v1/messages, " +
	"POST /v1/messages/count_tokens, POST /v1beta/models/{model}:generateContent, :streamGenerateContent and :countTokens, " +
	"for both formats GET /v1/models and GET /v1/models/{model}, and the paths of Vertex AI for both"}

// A format is a handler of one format.
type format interface {
	http.Handler
	WriteError(http.ResponseWriter, *http.Request, error)
}

// ServeHTTP serves one request.
func (f *formats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, served := f.choose(r)
	if !served {
		h.WriteError(w, r, errNoPath)
		return
	}
	h.ServeHTTP(w, r)
}

// choose returns the handler for a request, and whether it serves the path. For a path
// that neither format has, it returns the format that the request resembles.
func (f *formats) choose(r *http.Request) (h format, served bool) {
	m, g := f.messages, f.generateContent
	if isGenerateContent(r.URL.Path) {
		path := *r
		path.Header = nil // Match also looks at headers
		if hasMethod(r.URL.Path) && m.Match(&path) {
			return m, true // Vertex AI has these versions for both formats
		}
		return g, g.Match(&path)
	}
	switch {
	case m.Match(r):
		return m, true
	case g.Match(r):
		return g, true
	case hasMethod(r.URL.Path), r.Header.Get("anthropic-version") == "" && r.Header.Get("x-goog-api-key") != "":
		return g, false
	}
	return m, false
}

// isGenerateContent reports whether path begins with a version that only
// generateContent has.
func isGenerateContent(path string) bool {
	version, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch version {
	case "v1beta", "v1alpha", "v1beta1":
		return true
	}
	return false
}

// hasMethod reports whether path ends in a method such as ":generateContent".
func hasMethod(path string) bool {
	return strings.Contains(path[strings.LastIndexByte(path, '/')+1:], ":")
}
