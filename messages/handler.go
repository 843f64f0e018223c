package messages

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
	// In this format the defaults of Limits are bodies of 32 MiB, nesting of 256,
	// 1,000,000 values, 100,000 parts, 10,000 tools, 250,000 values in schemas,
	// 100 files of 32 MiB each, and images of 8000 by 8000 pixels.
	upstream.HandlerOptions

	// FilesWithoutBeta accepts file ids in requests of version 2023-06-01 that do
	// not have the beta header files-api-2025-04-14.
	FilesWithoutBeta bool

	// MediaTypes are the media types of documents that the handler accepts in
	// addition to PDF and plain text. The Upstream must be able to read them.
	MediaTypes []string
}

// maxBody is the default limit for request bodies, in bytes.
const maxBody = 32 << 20

// NewHandler returns a handler that serves up in the Messages format. It is safe for concurrent use. It
// copies opts; nil means the defaults. NewHandler panics if up is nil, or if a limit or a timeout in
// opts is negative or out of range. The panic message names the field.
//
// It serves POST …/messages (plain and streamed), POST …/messages/count_tokens,
// GET …/models and GET …/models/{id} under any prefix. It matches only the end of
// the path, so http.StripPrefix is allowed but not needed. For every other path it
// responds with status 404 and an error in this format.
//
// It also serves clients that are configured for Vertex AI of Google Cloud: POST
// …/publishers/anthropic/models/{model}:rawPredict and :streamRawPredict, and POST
// …/publishers/anthropic/models/count-tokens:rawPredict. There the body has the member
// anthropic_version in place of the header: "vertex-2023-10-16" or "bedrock-2023-05-31",
// which are version 2023-06-01, or a version of the API. Its member anthropic_beta adds to
// the betas of the header. The model is in the path, except for counting. A body with
// another model is refused. The response is streamed as the member "stream" requests. If
// the body does not have it, the path decides. Errors have the form of this format.
//
// Clients of Amazon Bedrock need the module upstream/bedrock around this handler.
//
// The handler does not check the name of the model. An Upstream that implements
// [upstream.TokenCounter] counts tokens; for others, [upstream.EstimateTokens]
// estimates them. The model paths list the models of an [upstream.ModelLister],
// newest first and in pages. For other Upstreams they respond with status 404.
//
// The vendor stores the messages of a "thread". The handler refuses a request with
// a thread unless the Upstream sends it in this format ([upstream.FormatOf]). The
// error has the code thread_unsupported_request, upon which the vendor's SDKs send
// the whole conversation.
//
// Tool results name the id of their tool call. The Upstream receives its own ids
// unchanged. A tool call without an id, or with the id of another tool call,
// receives the id "toolu_pw" and a number that is unique in the conversation. The
// number depends only on the request and the response. Clients receive the same
// ids as the Upstream, except for ids that carry state which the vendor requires
// in the next request. Those begin with "toolu_pwsig_" and have up to 64 KiB, or
// begin with "toolu_pwblk_" and have less than 64 bytes. See docs/signatures.md.
//
// An error before the first byte of the response becomes an HTTP error; a later one becomes an error
// event of the stream. A stream never ends without a final event.
//
// Other formats use the model paths too: Match reports true for these if the request has the header
// anthropic-version, which this format requires.
func NewHandler(up upstream.Upstream, opts *Options) upstream.FormatHandler {
	d := newDialect(opts)
	return handler.New("messages: NewHandler", up, d.HandlerOptions, maxBody, d)
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
	return handler.NewValidator("messages: NewValidator", next, d.HandlerOptions, maxBody, d)
}

// newDialect returns the dialect for a copy of opts.
func newDialect(opts *Options) *dialect {
	d := &dialect{Options: *cmp.Or(opts, new(Options))}
	d.MediaTypes, d.ForwardHeaders = slices.Clone(d.MediaTypes), slices.Clone(d.ForwardHeaders)
	return d
}
