package main

import (
	"log/slog"
	"net/http"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// handler returns a handler of all formats and of the health of the gateway.
func (c *config) handler(up upstream.Upstream, logger *slog.Logger) http.Handler {
	c.install(up, c.monitors)
	s := c.handlerOptions(logger)
	formats := upstream.Handlers(
		generatecontent.NewHandler(&c.current, &generatecontent.Options{HandlerOptions: s, MediaTypes: c.types}),
		messages.NewHandler(&c.current, &messages.Options{HandlerOptions: s, MediaTypes: c.types}),
		responses.NewHandler(&c.current, &responses.Options{HandlerOptions: s, OpenResponses: c.openResponses, Store: c.store}),
		chatcompletions.NewHandler(&c.current, &chatcompletions.Options{HandlerOptions: s}),
	)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			serveAlive(w, r)
		case "/readyz":
			c.health.ServeHTTP(w, r)
		default:
			formats.ServeHTTP(w, r)
		}
	})
}

// install makes up the upstream of all requests that begin from now on.
func (c *config) install(up upstream.Upstream, monitors []*monitor) {
	c.health.monitors.Store(&monitors)
	c.current.Store(up)
}
