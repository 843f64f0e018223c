package responses

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// Options configures the handler of [NewHandler]. The zero value holds the defaults.
type Options struct {
	// HandlerOptions are the options that the handlers of all formats share. In this format the
	// defaults of Limits are bodies of 50 MiB and 500 files.
	upstream.HandlerOptions

	// MediaTypes are the media types of files that the handler accepts in addition to PDF, text
	// and office documents. The Upstream must be able to read them.
	MediaTypes []string

	// OpenResponses makes the handler send what the Open Responses specification demands where
	// OpenAI's own service differs: error events have only a nested error, the schema of a JSON
	// format, and efforts that the specification does not list, are repeated as null, every item
	// has a status, and images that the request did not ask for are dropped. Responses are then
	// always encoded anew, also those of servers of this format.
	OpenResponses bool

	// Store, if not nil, stores responses, so that clients can refer to them and to their items:
	// see [Store]. Nil stores nothing.
	Store Store
}

// maxBody is the default limit for request bodies, in bytes.
const maxBody = 50 << 20

// NewHandler returns a handler that serves up in the Responses format. It is safe for concurrent use. It
// copies opts; nil means the defaults. NewHandler panics if up is nil, or if a limit or a timeout in
// opts is negative or out of range. The panic message names the field.
//
// It serves POST …/responses (plain and streamed), POST …/responses/input_tokens, POST
// …/responses/compact, GET …/models and GET …/models/{id} under any prefix, and with a Store GET
// and DELETE …/responses/{id} and GET …/responses/{id}/input_items. It matches only the end of the path, so http.StripPrefix is allowed
// but not needed. For every other path it responds with status 404 and an error in this format.
// A WebSocket on …/responses is refused with status 426, upon which clients use HTTP.
//
// An Upstream that implements [upstream.TokenCounter] counts tokens; for others,
// [upstream.EstimateTokens] estimates them. The model paths list the models of an
// [upstream.ModelLister]. For other Upstreams they respond with status 404.
//
// Without a Store, requests that refer to stored responses, items, conversations or prompts are
// refused with status 400, also in front of a server that stores them. Responses have
// "store": false then, whatever the request has. Only OpenAI's own server gets the request as it
// is, and the client its response.
//
// Clients receive reasoning items only if the request asks for them: with
// "reasoning.encrypted_content" in include, or with a summary in reasoning. The state of other
// vendors is in their encrypted_content and in the call_id of tool calls. Such ids begin with
// "toolu_pwsig_" and have up to 64 KiB. See docs/signatures.md. A tool call without an id, or
// with the id of another call, receives the id "call_pw" and a number that is unique in the
// conversation.
//
// A call of a tool that the request's allowed_tools do not list, or of any tool if the choice is
// "none", is dropped with a loss.
//
// The last event of a stream repeats all items. A stream that has more than 8 MiB of them repeats
// none, and reports a loss.
//
// An error before the first byte of the response becomes an HTTP error; a later one becomes the events
// "error" and "response.failed". A stream never ends without a final event.
//
// Other formats use the model paths too: Match reports true for these unless the request has the header
// anthropic-version or x-goog-api-key, or the query key.
func NewHandler(up upstream.Upstream, opts *Options) upstream.FormatHandler {
	d := newDialect(opts)
	return handler.New("responses: NewHandler", up, d.HandlerOptions, maxBody, d)
}

// NewValidator returns a handler that validates requests and passes those that are valid to next,
// such as a proxy of the vendor. It refuses others as the handler of [NewHandler] does: paths,
// methods, headers, bodies, and keys if Authenticate is set. next receives the body byte for byte,
// with its Content-Length and a GetBody, and the context that Authenticate returned.
//
// References to state at the server, which NewHandler refuses without a Store, are valid, and so
// are the paths of stored responses. Store and OpenResponses are not used.
//
// Of opts it uses what concerns requests before an Upstream is called. Files are not loaded, and
// links are only checked by the method Check of Links. The Budget counts a request until next
// returns. OnDone is called for refused requests only. NewValidator panics as NewHandler does.
func NewValidator(next http.Handler, opts *Options) upstream.FormatHandler {
	d := newDialect(opts)
	d.Store, d.validates = nil, true
	return handler.NewValidator("responses: NewValidator", next, d.HandlerOptions, maxBody, d)
}

// newDialect returns the dialect for a copy of opts.
func newDialect(opts *Options) *dialect {
	d := &dialect{Options: *cmp.Or(opts, new(Options))}
	d.MediaTypes, d.ForwardHeaders = slices.Clone(d.MediaTypes), slices.Clone(d.ForwardHeaders)
	return d
}
