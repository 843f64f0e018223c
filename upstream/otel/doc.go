// Package otelwire records traces and metrics of an [upstream.Upstream] with
// OpenTelemetry. It follows the semantic conventions for generative AI of version
// 1.41.0, the last release that contains them. They are in development: a later version
// of this package may use later names.
//
//	up = otelwire.Wrap(up, nil)
//
// The package is a module of its own, so that programs without OpenTelemetry do not
// depend on it.
//
// # What to wrap
//
// Wrap the upstream that the handlers get: a Mux, or the result of Failover, and not
// the upstreams in it. Two wrappers around one another record every request twice. The
// operations other than Generate, such as counting tokens, pass through unrecorded.
//
// Events pass unchanged, so a handler of the vendor's format still sends the vendor's
// bytes.
//
// # Traces
//
// A request is a span "chat MODEL" of the kind client, a child of the span in the
// context, such as that of [otelhttp.NewHandler] around the handler. It has these
// attributes, as far as they are known:
//
//	gen_ai.operation.name           "chat"
//	gen_ai.provider.name            see Options.Providers
//	gen_ai.request.*                model, stream, max_tokens, temperature, top_p, top_k, seed,
//	                                frequency_penalty, presence_penalty, stop_sequences, choice.count
//	gen_ai.output.type              "json", "image" or "speech", if the request asks for it
//	gen_ai.response.*               id, model, finish_reasons, time_to_first_chunk
//	gen_ai.usage.input_tokens       all tokens of the prompt, those of caches included
//	gen_ai.usage.cache_read.input_tokens, gen_ai.usage.cache_creation.input_tokens
//	gen_ai.usage.output_tokens      all tokens of the response, thinking included
//	gen_ai.usage.reasoning.output_tokens
//	error.type                      an upstream.Code, such as "overloaded"
//	polywire.request.id             see upstream.RequestID
//	polywire.upstream               name of the adapter that responded
//	polywire.upstream.request.id    id that its server gave the exchange
//	polywire.usage.estimated        true if the token counts are estimates
//	polywire.losses                 number of losses
//	polywire.attempts               number of attempts of a Failover
//
// The address of the server is an attribute of the span of [otelhttp.NewTransport].
//
// A finish reason is "stop", "length", "tool_call" or "content_filter", or else a
// [content.StopReason].
//
// A loss is a span event "polywire.loss" with the attributes polywire.loss.severity,
// polywire.loss.path, polywire.loss.reason and polywire.loss.more. The first 100 losses of a
// request have events.
//
// The status of a failed span is Error, and its description contains the code and the
// cause, as the log of a handler does. A request whose client left has the error.type
// "canceled", and its status is not set.
//
// An attempt of an [upstream.Failover] is a child span "attempt" with the attributes
// polywire.attempt.index, the position in the list, and polywire.attempt.chosen. If its response was
// dropped, it has the tokens of that response, so that no token is in two spans.
//
// # Trace context of vendors
//
// The context that the wrapped upstream gets contains the span of the request or of its
// attempt. An adapter whose HTTP
// client has an [otelhttp.NewTransport] therefore sends the header traceparent to the
// vendor:
//
//	anthropic.Options{HTTPClient: &http.Client{Transport: otelhttp.NewTransport(transport,
//		otelhttp.WithPropagators(propagation.TraceContext{}))}}
//
// Set the propagator as shown: the global one may include [propagation.Baggage], which
// would send the host's own values to the vendor.
//
// # Metrics
//
//	gen_ai.client.operation.duration               seconds, all requests; error.type if it failed
//	gen_ai.client.operation.time_to_first_chunk    seconds, streamed requests
//	gen_ai.client.operation.time_per_output_chunk  seconds, streamed requests
//	gen_ai.client.token.usage                      tokens, by gen_ai.token.type
//
// They are histograms with the attributes gen_ai.operation.name, gen_ai.provider.name,
// gen_ai.request.model, gen_ai.response.model and polywire.upstream, and those of
// [Options] Attributes. Clients choose the requested model, and could otherwise create any
// number of time series. It is "other" unless a response had this model or [Options] Models
// lists it, and so is a response's model beyond 20 that are not listed.
//
// Further metrics describe the attempts of a Failover:
//
//	polywire.attempt.duration        seconds; histogram
//	polywire.attempt.dropped_tokens  tokens of responses that were dropped; counter
//
// They have the attributes gen_ai.provider.name, gen_ai.request.model, polywire.upstream and
// polywire.attempt.index, and the former polywire.attempt.chosen and error.type. The tokens
// that vendors charge for are these and those of gen_ai.client.token.usage.
//
// A chunk is what arrives together and contains output: text, thinking, or a part of
// another kind, such as a tool call. The duration of a request includes the time in
// which the client reads.
//
// # Tokens
//
// In gen_ai.client.token.usage every token has one type, so that the sum of all types is
// the number of tokens, and a bill is the sum of each type times its price:
//
//	gen_ai.token.type   field of content.Usage
//	input               Input + ToolPrompt: the prompt without tokens read from or written to a cache
//	cache_read          CacheRead
//	cache_creation      CacheWrite: a cache with the default lifetime
//	cache_creation_1h   CacheWrite1h
//	output              Output + Thinking
//
// This differs from the attribute gen_ai.usage.input_tokens of spans, which by the
// conventions includes the tokens of caches: it is the sum of the first four types.
//
// Tokens are recorded when a request ends, also if it failed or the client left. The last
// report of the upstream counts. Counts of 0, and requests without a report, are not
// recorded. Estimates have the attribute polywire.usage.estimated.
//
// # Content
//
// No prompt or response is recorded unless Options.Content is set, and bytes of files
// are never recorded. Span names and attributes contain the model's name as the client
// sent it.
//
// [otelhttp.NewHandler]: https://pkg.go.dev/go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp#NewHandler
// [otelhttp.NewTransport]: https://pkg.go.dev/go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp#NewTransport
// [propagation.Baggage]: https://pkg.go.dev/go.opentelemetry.io/otel/propagation#Baggage
package otelwire
