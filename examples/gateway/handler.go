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
	c.install(up, c.monitors, logger)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz":
			serveAlive(w, r)
		case "/readyz":
			c.health.ServeHTTP(w, r)
		default:
			(*c.formats.Load()).ServeHTTP(w, r)
		}
	})
}

// install makes up the upstream of all requests that begin from now on.
func (c *config) install(up upstream.Upstream, monitors []*monitor, logger *slog.Logger) {
	s := c.handlerOptions(logger)
	c.health.monitors.Store(&monitors)
	h := upstream.Handlers(
		generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s, MediaTypes: c.types}),
		messages.NewHandler(up, &messages.Options{HandlerOptions: s, MediaTypes: c.types}),
		responses.NewHandler(up, &responses.Options{HandlerOptions: s, OpenResponses: c.openResponses, Store: c.store}),
		chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s}),
	)
	c.formats.Store(&h)
}
