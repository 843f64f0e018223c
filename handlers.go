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
