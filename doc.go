// Package polywire lets a Go service serve the APIs of model vendors with any model behind them.
// It has the handler and the validator of all formats; the packages below have everything else.
//
// A service implements upstream.Upstream or uses one of the adapters, and mounts [NewHandler], or
// the handler of one wire format, for it. Clients of that vendor's API, such as SDKs and
// coding agents, then work with the service unchanged.
//
// # Packages
//
//   - [github.com/polywire/polywire/content] defines the neutral form of conversations:
//     parts, turns, tools, usage, violations and losses.
//   - [github.com/polywire/polywire/content/fetch] downloads the files that requests
//     refer to by link, and restricts the hosts and addresses that links may name.
//   - [github.com/polywire/polywire/upstream] defines the Upstream interface, ways to
//     combine upstreams, and the options that all handlers have in common.
//   - [github.com/polywire/polywire/upstream/echo] is an upstream without a model. It
//     describes the request that it received.
//   - [github.com/polywire/polywire/upstream/script] is a model that plays a script, for tests
//     of agents. [github.com/polywire/polywire/upstream/record] records the exchanges with a
//     model and plays them.
//   - [github.com/polywire/polywire/upstream/anthropic],
//     [github.com/polywire/polywire/upstream/gemini] and
//     [github.com/polywire/polywire/upstream/openai] are adapters: upstreams that call
//     the servers of vendors, or compatible servers.
//   - [github.com/polywire/polywire/upstream/upstreamtest] tests an upstream.
//   - [github.com/polywire/polywire/messages] implements the Messages format (POST
//     /v1/messages): parser, validator, encoder, handler and client.
//   - [github.com/polywire/polywire/generatecontent] implements the generateContent
//     format (POST …/models/{model}:generateContent) in the same way.
//   - [github.com/polywire/polywire/upstream/openai/chatcompletions] and
//     [github.com/polywire/polywire/upstream/openai/responses] implement Chat Completions (POST
//     /v1/chat/completions) and Responses (POST /v1/responses) of OpenAI.
//
// The examples directory contains programs: gateway is a server, validate checks a
// request body, translate prints a request in another format, playground shows
// translations on a page, embed is a service with its own model, tenants serves several
// tenants with keys, quotas and rules of their own, tools runs tool calls itself, guard
// checks texts in both directions, cache repeats responses, websearch runs
// searches itself, observed has traces and metrics, and relay compares the gateway with a
// plain proxy.
//
// The directories upstream/bedrock (Amazon Bedrock), upstream/otel (OpenTelemetry) and
// examples/observed are modules of their own, because they require further modules.
//
// # Design
//
// Programs import the packages of formats, these import upstream, and upstream imports
// content; never in the other direction. Formats do not import each other, so a new
// format is one package.
//
// There is no global state. No goroutine outlives the call that started it, unless an
// Upstream of the host ignores its context. The only environment variables used are
// those of the HTTP proxy for upstreams, unless the host provides an HTTP client.
package polywire

import (
	"net/http"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// NewHandler returns a handler that serves up in all formats, on one mux: see [upstream.Handlers].
// opts are the options of all of them; nil means the defaults. Without a Budget, the formats share
// one of 512 MiB. For options that only one format has, and for fewer formats, pass the handlers of
// their packages to upstream.Handlers. NewHandler panics as the NewHandler of each package does.
func NewHandler(up upstream.Upstream, opts *upstream.HandlerOptions) upstream.FormatHandler {
	o := shared(opts)
	return upstream.Handlers(
		generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: o}),
		messages.NewHandler(up, &messages.Options{HandlerOptions: o}),
		responses.NewHandler(up, &responses.Options{HandlerOptions: o}),
		chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: o}),
	)
}

// NewValidator returns a handler that validates requests of all formats and passes those that are
// valid to next, such as a proxy, byte for byte. It refuses others with the error of their vendor.
// See [messages.NewValidator]; opts is that of [NewHandler].
func NewValidator(next http.Handler, opts *upstream.HandlerOptions) upstream.FormatHandler {
	o := shared(opts)
	return upstream.Handlers(
		generatecontent.NewValidator(next, &generatecontent.Options{HandlerOptions: o}),
		messages.NewValidator(next, &messages.Options{HandlerOptions: o}),
		responses.NewValidator(next, &responses.Options{HandlerOptions: o}),
		chatcompletions.NewValidator(next, &chatcompletions.Options{HandlerOptions: o}),
	)
}

// shared returns a copy of opts with a Budget.
func shared(opts *upstream.HandlerOptions) (o upstream.HandlerOptions) {
	if opts != nil {
		o = *opts
	}
	if o.Budget == nil {
		o.Budget = new(upstream.Budget)
	}
	return o
}
