package chatcompletions

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// Options configures the handler of [NewHandler]. The zero value holds the defaults.
type Options struct {
	// HandlerOptions are the options that the handlers of all formats share.
	// In this format the default of Limits.Body is 50 MiB; see [ValidateOptions] for the others.
	upstream.HandlerOptions

	// MediaTypes are the media types of files that the handler accepts in addition to PDF, and to
	// text unless Strict is set. The Upstream must be able to read them.
	MediaTypes []string

	// HideReasoning omits reasoning_content, in which clients receive the text of thinking, and
	// does not ask the upstream for that text, as a request with an effort does otherwise. The
	// state that a vendor needs of its thinking is in the ids of tool calls in either case.
	HideReasoning bool
}

// maxBody is the default limit for request bodies, in bytes.
const maxBody = 50 << 20

// NewHandler returns a handler that serves up in the Chat Completions format. It is safe for concurrent use. It
// copies opts; nil means the defaults. NewHandler panics if up is nil, or if a limit or a timeout in
// opts is negative or out of range. The panic message names the field.
//
// It serves POST …/chat/completions (plain and streamed), GET …/models and GET …/models/{id}
// under any prefix. It matches only the end of the path, so http.StripPrefix is allowed but not
// needed. For every other path it responds with status 404 and an error in this format.
//
// It also serves clients that are configured for Azure: on a path
// …/deployments/{model}/chat/completions the body may omit the model. A key may be in the header
// api-key in place of Authorization. The query api-version is ignored.
//
// The handler does not check the name of the model. The model paths list the models of an
// [upstream.ModelLister]. For other Upstreams they respond with status 404.
//
// Clients receive the text of thinking as reasoning_content, a member that compatible servers have, or
// as reasoning if they send members that only OpenRouter and Groq have. A stream has the usage only if the
// request has stream_options.include_usage, or OpenRouter's usage.include. A client that sends functions,
// which are deprecated, in place of tools receives function_call in place of tool_calls.
//
// Tool results name the id of their tool call. The Upstream receives its own ids unchanged. A
// tool call without an id, or with the id of another tool call, receives the id "call_pw" and a
// number that is unique in the conversation. The number depends only on the request and the
// response. Clients receive the same ids as the Upstream, except for ids that carry state which
// the vendor requires in the next request. Those begin with "toolu_pwsig_" and have up to
// 64 KiB. See docs/signatures.md.
//
// An error before the first byte of the response becomes an HTTP error; a later one becomes the last
// event of the stream. A stream never ends without "data: [DONE]" or an error.
//
// Other formats use the model paths too: Match reports true for these unless the request has the header
// anthropic-version or x-goog-api-key, or the query key.
func NewHandler(up upstream.Upstream, opts *Options) upstream.FormatHandler {
	d := newDialect(opts)
	return handler.New("chatcompletions: NewHandler", up, d.HandlerOptions, maxBody, d)
}

// NewValidator returns a handler that validates requests and passes those that are valid to next,
// such as a proxy of the vendor. It refuses others as the handler of [NewHandler] does: paths,
// methods, headers, bodies, and keys if Authenticate is set. next receives the body byte for byte,
// with its Content-Length and a GetBody, and the context that Authenticate returned.
//
// Of opts it uses what concerns requests before an Upstream is called. Files are not loaded, and
// links are only checked by the method Check of Links. The Budget counts a request until next
// returns. OnDone is called for refused requests only. NewValidator panics as NewHandler does.
func NewValidator(next http.Handler, opts *Options) upstream.FormatHandler {
	d := newDialect(opts)
	return handler.NewValidator("chatcompletions: NewValidator", next, d.HandlerOptions, maxBody, d)
}

// newDialect returns the dialect for a copy of opts.
func newDialect(opts *Options) *dialect {
	d := &dialect{Options: *cmp.Or(opts, new(Options))}
	d.MediaTypes, d.ForwardHeaders = slices.Clone(d.MediaTypes), slices.Clone(d.ForwardHeaders)
	return d
}
