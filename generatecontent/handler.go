package generatecontent

import (
	"net/http"
	"slices"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// Options configures a [Handler]. The zero value holds the defaults.
type Options struct {
	// HandlerOptions is what handlers of all formats share. The defaults of its
	// Limits are here: bodies of 100 MiB, nesting of 256, 1,000,000 values,
	// 100,000 parts, 10,000 tools, 250,000 values in schemas, 100
	// files of 75 MiB each, images of 24,000 by 24,000 and 100,000,000 pixels.
	upstream.HandlerOptions

	// MediaTypes are types of files that are welcome besides the usual ones:
	// see [ValidateOptions].
	MediaTypes []string
}

// A Handler lets an Upstream answer requests in the content generation format.
// It is safe for concurrent use.
//
// It serves POST …/models/{model}:generateContent, :streamGenerateContent (as
// server-sent events with the query alt=sse, else as a JSON array) and
// :countTokens, GET …/models and GET …/models/{model}, under v1, v1beta,
// v1alpha and v1beta1 and below any prefix: it finds its resource from the
// right, so http.StripPrefix is allowed but not needed. What stands where a
// version could, such as v9, and is none, is 404, and so is every other path, in
// the format's own way.
//
// The model is the upstream's to judge: any name is passed on, without the
// collection: "models/a/b" and "publishers/a/models/b" ask for "a/b",
// "publishers/google/models/a" for "a"; "tunedModels/a", "dynamic/a" and what
// has a place in a project are asked for as they stand. A model named in the
// body must be the same.
//
// Tokens are counted by an Upstream that can ([upstream.TokenCounter]), and
// otherwise estimated ([upstream.EstimateTokens]). Models are those that the
// Upstream lists ([upstream.ModelLister]), in its order and in pages; of one
// that cannot list them, both model paths answer 404.
//
// A fileUri of http or https is a link, see [upstream.HandlerOptions]; "files/…", an
// address below https://generativelanguage.googleapis.com/ and "gs://…" are
// files by id. Anything else is a bad request.
//
// While the Upstream of a stream is silent, keep-alives go out, the first one after
// Timeouts.KeepAlive and with the headers. In a JSON array they are white space. Between
// server-sent events they are the beginning of the next event: "data: " and then one
// blank each time, followed by the event's JSON on the same line. A failure completes
// such an event. Empty pairs of lines and comments are not sent, because widely used
// clients fail on them. After the finishReason of all candidates there are no
// keep-alives between events.
//
// The header x-server-timeout bounds a request, in seconds: after that it
// fails with 504.
type Handler struct {
	front   *handler.Handler
	dialect *dialect
}

// maxBody is how long bodies may be by default.
const maxBody = 100 << 20

// NewHandler returns a handler that lets up answer requests in this format.
// opts may be nil; it is copied. NewHandler panics if up is nil, or if a limit
// or a time in opts is negative or cannot be meant; it names the field.
func NewHandler(up upstream.Upstream, opts *Options) *Handler {
	var o Options
	if opts != nil {
		o = *opts
	}
	d := &dialect{limits: o.Limits, strict: o.Strict, mediaTypes: slices.Clone(o.MediaTypes), forward: slices.Clone(o.ForwardHeaders), body: orDefault(o.Limits.Body, maxBody)}
	return &Handler{front: handler.New("generatecontent: NewHandler", up, o.HandlerOptions, maxBody, d), dialect: d}
}

// ServeHTTP answers one request. Whatever fails before the first byte of an
// answer is an HTTP error. A later failure is part of the stream: with alt=sse
// it is a bare error object, a blank line, and the same object as an event,
// because some clients read only one of the two; otherwise it is the last
// element of the array. A stream never just ends.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.front.ServeHTTP(w, r) }

// Match reports whether the request's path is one that h serves, whatever its
// method, so that several handlers can share a mux. The paths of models are
// other formats' too: they do not match with the header anthropic-version.
func (h *Handler) Match(r *http.Request) bool {
	route, err := h.dialect.Route(r)
	return err == nil && (route.Method == http.MethodPost || r.Header.Get("Anthropic-Version") == "")
}

// WriteError answers a request with an error in the format's own way, for
// middleware around h. What is told of err is what would be told if the
// Upstream had returned it: see [upstream.Error] and [content.Violation]. Nothing
// may have been written to w yet. The request is logged and reported to OnDone
// like one that h refuses.
func (h *Handler) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	h.front.WriteError(w, r, err)
}
