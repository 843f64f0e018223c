package messages

import (
	"net/http"
	"slices"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// Options configures a [Handler]. The zero value holds the defaults.
type Options struct {
	// HandlerOptions is what handlers of all formats share. The defaults of its
	// Limits are here: bodies of 32 MiB, nesting of 256, 1,000,000 values,
	// 100,000 parts, 10,000 tools, 250,000 values in schemas, 100
	// files of 32 MiB each, images of 8000 by 8000 pixels.
	upstream.HandlerOptions

	// FilesWithoutBeta lets requests of version 2023-06-01 name files by id
	// without the beta header files-api-2025-04-14.
	FilesWithoutBeta bool

	// MediaTypes are types of documents that are welcome besides PDF and plain
	// text: what the Upstream can read.
	MediaTypes []string
}

// A Handler lets an Upstream answer requests in the Messages format. It is
// safe for concurrent use.
//
// It serves POST …/messages, plain and streamed, POST …/messages/count_tokens,
// GET …/models and GET …/models/{id} under any prefix: it looks at the end of
// the path only, so http.StripPrefix is allowed but not needed. For every other
// path it answers 404 in the format's own way.
//
// The model is the upstream's to judge: any name is passed on. Tokens are
// counted by an Upstream that can ([upstream.TokenCounter]), and otherwise
// estimated ([upstream.EstimateTokens]). Models are those that the Upstream
// lists ([upstream.ModelLister]), newest first and in pages; of one that cannot
// list them, both model paths answer 404.
//
// A request with a "thread", whose messages the vendor keeps, is refused with the
// error code thread_unsupported_request unless the Upstream sends it in this
// format ([upstream.FormatOf]). The vendor's SDKs then send the whole conversation.
//
// Clients answer a call by its id. The Upstream gets its own ids back as they were,
// whatever characters they have; a call without one, or with that of another call,
// gets "toolu_pw" and a number that no other call of the conversation has, the same
// each time the same request is answered in the same way. Clients get these ids,
// too, except where an id carries state that the vendor needs back: it then begins
// with "toolu_pwsig_" and has up to 64 KiB, or with "toolu_pwblk_" and has less than
// 64 bytes. See the package documentation.
type Handler struct {
	front   *handler.Handler
	dialect *dialect
}

// maxBody is how long bodies may be by default.
const maxBody = 32 << 20

// NewHandler returns a handler that lets up answer requests in this format.
// opts may be nil; it is copied. NewHandler panics if up is nil, or if a limit
// or a time in opts is negative or cannot be meant; it names the field.
func NewHandler(up upstream.Upstream, opts *Options) *Handler {
	var o Options
	if opts != nil {
		o = *opts
	}
	d := &dialect{limits: o.Limits, files: o.FilesWithoutBeta, strict: o.Strict, mediaTypes: slices.Clone(o.MediaTypes), forward: slices.Clone(o.ForwardHeaders)}
	return &Handler{front: handler.New("messages: NewHandler", up, o.HandlerOptions, maxBody, d), dialect: d}
}

// ServeHTTP answers one request. Whatever fails before the first byte of an
// answer is an HTTP error, what fails later an error event of the stream; an
// answer never just ends.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.front.ServeHTTP(w, r) }

// Match reports whether the request's path is one that h serves, whatever its
// method, so that several handlers can share a mux. The paths of models are
// other formats' too: they match only with the header anthropic-version, which
// every request in this format has.
func (h *Handler) Match(r *http.Request) bool {
	route, err := h.dialect.Route(r)
	return err == nil && (route.Method == http.MethodPost || r.Header.Get("Anthropic-Version") != "")
}

// WriteError answers a request with an error in the format's own way, for
// middleware around h. What is told of err is what would be told if the
// Upstream had returned it: see [upstream.Error] and [content.Violation]. Nothing
// may have been written to w yet. The request is logged and reported to OnDone
// like one that h refuses.
func (h *Handler) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	h.front.WriteError(w, r, err)
}
