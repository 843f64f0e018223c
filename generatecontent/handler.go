package generatecontent

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// Options configures the handler of [NewHandler]. The zero value holds the defaults.
type Options struct {
	// HandlerOptions are the options that handlers of all formats share. The defaults of
	// Limits are: bodies of 100 MiB, nesting of 256, 1,000,000 values, 100,000 parts,
	// 10,000 tools, 250,000 values in schemas, 100 files of 75 MiB each, and images of
	// 24,000 by 24,000 and 100,000,000 pixels.
	upstream.HandlerOptions

	// MediaTypes are media types that files may have in addition to the usual ones:
	// see [ValidateOptions].
	MediaTypes []string
}

// maxBody is the default limit of bodies.
const maxBody = 100 << 20

// NewHandler returns a handler that serves up in the generateContent format. It is safe for concurrent use. It
// copies opts; nil means the defaults. NewHandler panics if up is nil, or if a limit or a timeout in
// opts is negative or out of range. The panic message names the field.
//
// It serves POST …/models/{model}:generateContent, :streamGenerateContent (as
// server-sent events with the query alt=sse, else as a JSON array) and :countTokens, GET
// …/models and GET …/models/{model}, under v1, v1beta, v1alpha and v1beta1 and below any
// prefix. It matches only the end of the path, so http.StripPrefix is allowed but not
// needed. For every other path, and for an unknown version such as v9, it responds with
// status 404 and an error in this format.
//
// The handler does not check that a model exists. The Upstream receives the name without
// the collection: "models/a/b" and "publishers/a/models/b" become "a/b", and
// "publishers/google/models/a" becomes "a". Names in other collections, such as
// "tunedModels/a" and "dynamic/a", and names within a project are not changed. A model
// in the body must be the same as in the URL.
//
// If the Upstream implements [upstream.TokenCounter], it counts tokens. Otherwise
// the handler estimates them ([upstream.EstimateTokens]). If the Upstream implements
// [upstream.ModelLister], the handler serves its models, in its order and in pages.
// Otherwise both model paths return 404.
//
// A fileUri of http or https is a link, see [upstream.HandlerOptions]. A fileUri
// "files/…" or "gs://…", or one below https://generativelanguage.googleapis.com/, is the
// id of a stored file. Any other is a bad request.
//
// While the Upstream of a stream sends nothing, the handler sends a keep-alive each
// Timeouts.KeepAlive. The first one is sent with the headers. In a JSON array,
// keep-alives are white space. Between server-sent events, the first keep-alive is the
// beginning of the next event, "data: ", and each further one is a space. The JSON of
// the event, or of an error, follows on the same line. The handler does not send empty
// lines or comments, because widely used clients fail on them. It sends no keep-alives
// after the finishReason of all candidates.
//
// Each chunk of a translated stream has one part, and the last one has the finishReason, too:
// the histories of some clients need this form. So the last character of a text, and any other
// part, is sent when more text, another part or the end follows.
//
// The header x-server-timeout limits the duration of a request, in seconds. A request
// that takes longer fails with 504.
//
// An error before the first byte of the response is an
// HTTP error. A later error is part of the stream. With alt=sse it is a bare error
// object, a blank line, and the same object as an event, because some clients read only
// one of the two. In an array it is the last element. A stream never ends without a
// finishReason or an error.
//
// If a stream with content fails, ServeHTTP panics with [http.ErrAbortHandler] 200 ms after
// the error and after OnDone, which breaks the connection: some clients read no form of the
// error. Middleware must not stop this panic. It does not panic if the context of a request has no
// [http.ServerContextKey], as in tests without a server.
//
// Other formats also have model paths without a version or with "v1": Match reports true for these if
// the request has a key where only this format has it, in the header x-goog-api-key or the parameter
// key, and no header anthropic-version.
func NewHandler(up upstream.Upstream, opts *Options) upstream.FormatHandler {
	d := newDialect(opts)
	return handler.New("generatecontent: NewHandler", up, d.HandlerOptions, maxBody, d)
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
	return handler.NewValidator("generatecontent: NewValidator", next, d.HandlerOptions, maxBody, d)
}

// newDialect returns the dialect for a copy of opts.
func newDialect(opts *Options) *dialect {
	d := &dialect{Options: *cmp.Or(opts, new(Options))}
	d.MediaTypes, d.ForwardHeaders = slices.Clone(d.MediaTypes), slices.Clone(d.ForwardHeaders)
	return d
}

// versions are the versions of the API. All are served in the same way.
var versions = []string{"v1beta", "v1", "v1alpha", "v1beta1"}

// A target is the resource that a path names.
type target struct {
	version string // "" if the path has none
	list    string // the path of a collection of models, or ""
	name    string // the path of a model, such as "models/x", or ""
	model   string // the name for the upstream, such as "x"
	method  string // the text after the last colon of a name, if it is a method
}

const servedPaths = "; this handler serves POST /v1beta/models/{model}:generateContent, :streamGenerateContent and :countTokens, " +
	"GET /v1beta/models and GET /v1beta/models/{model}"

func notFound(text string) error {
	return &handler.Failure{Code: upstream.CodeNotFound, Reason: text, Text: text + servedPaths}
}

// Methods and collections of the vendor that this package does not serve.
var (
	otherMethods = []string{"embedContent", "batchEmbedContents", "asyncBatchEmbedContent", "batchGenerateContent",
		"generateAnswer", "generateText", "generateMessage", "embedText", "batchEmbedText", "countTextTokens",
		"countMessageTokens", "predict", "predictLongRunning", "rawPredict", "streamRawPredict", "computeTokens",
		"bidiGenerateContent", "fetchPredictOperation", "transferOwnership"}
	otherCollections = []string{"files", "batches", "cachedContents", "corpora", "fileSearchStores", "ragStores",
		"operations", "generatedFiles", "interactions", "upload", "download", "media", "auth_tokens", "authTokens", "agents"}
)

// parseTarget parses a path.
func parseTarget(path, method string) (*target, error) {
	steps := strings.Split(strings.Trim(path, "/"), "/")
	if strings.HasSuffix(path, "/") {
		steps = append(steps, "")
	}
	version, steps, err := resource(steps)
	if err != nil {
		return nil, err
	}
	t := &target{version: version}
	if !t.find(steps) {
		return nil, unservedError(steps)
	}
	if t.list != "" {
		return t, nil
	}
	if i := strings.LastIndexByte(t.model, ':'); i >= 0 {
		word := t.model[i+1:]
		switch {
		case word == "generateContent", word == "streamGenerateContent", word == "countTokens":
			t.method = word
			t.model = t.model[:i]
			t.name = t.name[:strings.LastIndexByte(t.name, ':')]
		case slices.Contains(otherMethods, word): // bounded by otherMethods
			return nil, notFound(word + ": this part of the API is not supported")
		case method != http.MethodGet: // names of models may contain colons
			return nil, notFound("there is no method " + handler.OneLine(word, 64))
		}
	}
	return t, nil
}

// resource cuts off the steps before the resource. A known version marks its beginning
// best. A path without one is parsed from the right, which allows any prefix.
func resource(steps []string) (version string, rest []string, err error) {
	for i := len(steps) - 2; i >= 0; i-- {
		if slices.Contains(versions, steps[i]) && isRoot(steps[i+1]) { // bounded by versions
			return steps[i], steps[i+1:], nil
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if !isCollection(steps[i]) && !slices.Contains(otherCollections, steps[i]) { // bounded by otherCollections
			continue
		}
		if i >= 2 && steps[i-2] == "publishers" {
			i -= 2
		}
		if i >= 4 && steps[i-4] == "projects" && steps[i-2] == "locations" {
			i -= 4
		}
		if i > 0 && len(steps[i-1]) > 1 && steps[i-1][0] == 'v' && steps[i-1][1] >= '0' && steps[i-1][1] <= '9' {
			return "", nil, notFound("there is no version " + handler.OneLine(steps[i-1], 64) + " of the API")
		}
		return "", steps[i:], nil
	}
	return "", nil, notFound("there is nothing at this path")
}

func isCollection(step string) bool {
	return step == "models" || step == "tunedModels" || step == "dynamic"
}

// isRoot reports whether step can be the first of a resource.
func isRoot(step string) bool {
	// bounded by otherCollections
	return isCollection(step) || step == "publishers" || step == "projects" || slices.Contains(otherCollections, step)
}

// find sets the model or the collection that steps name.
func (t *target) find(steps []string) bool {
	at := 0
	place := ""
	if len(steps) > 4 && steps[0] == "projects" && steps[2] == "locations" {
		at, place = 4, strings.Join(steps[:4], "/")+"/"
	}
	publisher := ""
	if len(steps) > at+2 && steps[at] == "publishers" && steps[at+2] == "models" {
		publisher = steps[at+1]
		at += 2
	}
	if at == len(steps) {
		return false
	}
	collection, id := steps[at], strings.Join(steps[at+1:], "/")
	own := isCollection(collection) || place != "" && collection == "endpoints"
	switch {
	case !own:
		return false
	case len(steps) == at+1:
		t.list = strings.Join(steps, "/")
		return collection == "models"
	}
	t.name = strings.Join(steps, "/")
	switch {
	case publisher == "google", publisher == "" && collection == "models" && place == "":
		t.model = id
	case publisher != "":
		t.model = publisher + "/" + id
	default:
		t.model = t.name
	}
	return true
}

// unservedError returns the error for steps that name a resource that is not served.
func unservedError(steps []string) error {
	for _, s := range steps {
		s, _, _ = strings.Cut(s, ":")
		if slices.Contains(otherCollections, s) || s == "tunedModels" { // bounded by otherCollections
			return notFound(s + ": this part of the API is not supported")
		}
	}
	return notFound("there is nothing at this path")
}
