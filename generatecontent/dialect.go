package generatecontent

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A dialect implements [handler.Protocol] for this format.
type dialect struct{ Options }

func (d *dialect) Format() content.Format { return Format }

// WirePath returns the path of a response, or of a request without a document, in this
// format.
func (d *dialect) WirePath(neutral string) string { return new(Request).path(neutral) }

// SetHeader sets the request's id. The vendor has no such header; its clients ignore it.
func (d *dialect) SetHeader(h http.Header, id string) { h.Set("X-Request-Id", id) }

// ForwardsHeader forwards the header that names the service tier of the response.
func (d *dialect) ForwardsHeader(name string) bool { return name == "X-Gemini-Service-Tier" }

func (d *dialect) Error(_ string, f *handler.Failure) (int, []byte) {
	return statusFor(f), appendError(nil, f)
}

// Keys returns the keys in all headers and parameters that can carry one. It ignores
// an Authorization header without a bearer token.
func (d *dialect) Keys(r *http.Request) []string {
	keys := handler.HeaderKeys(r.Header, "X-Goog-Api-Key")
	if r.URL.RawQuery != "" {
		q := r.URL.Query()
		for _, name := range [...]string{"key", "access_token", "oauth_token"} {
			keys = append(keys, q[name]...)
		}
	}
	return keys
}

// Owns reports whether r has a version or a key that only this format has.
func (d *dialect) Owns(r *http.Request) bool {
	return hasOwnVersion(r.URL.Path) || hasOwnKey(r) && r.Header.Get("Anthropic-Version") == ""
}

// Resembles reports whether the path of r has a version that only this format has or ends in a method
// such as ":embedContent", or whether r has a key where only this format has it.
func (d *dialect) Resembles(r *http.Request) bool {
	path := r.URL.Path
	return hasOwnVersion(path) || strings.Contains(path[strings.LastIndexByte(path, '/')+1:], ":") || hasOwnKey(r)
}

// hasOwnVersion reports whether a path has a version that only this format has.
func hasOwnVersion(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		switch name {
		case "v1beta", "v1alpha", "v1beta1":
			return true
		}
	}
	return false
}

// hasOwnKey reports whether r has a key where other formats have none.
func hasOwnKey(r *http.Request) bool {
	return r.Header.Get("X-Goog-Api-Key") != "" || r.URL.Query().Get("key") != ""
}

// Route returns the route of a request.
func (d *dialect) Route(r *http.Request) (*handler.Route, error) {
	t, err := parseTarget(r.URL.Path, r.Method)
	if err != nil {
		return nil, err
	}
	route := &handler.Route{Method: http.MethodPost, CheckHeader: checkHead, Error: d.errorOf(t, false)}
	switch {
	case t.list != "":
		route.Method, route.Shared, route.Parse = http.MethodGet, true, d.models(t)
	case t.method == "":
		route.Method, route.Shared, route.Parse = http.MethodGet, true, d.model(t)
	case t.method == "countTokens":
		route.Parse = d.count(t)
	case t.method == "generateContent":
		route.Parse = d.generate(t, nil)
	default:
		f := inArray
		if alt(r.URL.Query()) == "sse" {
			f = inEvents
		}
		route.Parse = d.generate(t, &f)
		route.Error = d.errorOf(t, f == inArray)
	}
	return route, nil
}

// alt returns the representation that the client requests. Google's generated REST
// clients add a request for numeric enums, but also read names.
func alt(q url.Values) string {
	s := cmp.Or(q.Get("alt"), q.Get("$alt"))
	return strings.TrimSuffix(s, ";enum-encoding=int")
}

// errorOf returns a function that writes an error of a request about t. It reports an
// unknown model in the vendor's words. If list is set, the error is in a list, like
// the response would be.
func (d *dialect) errorOf(t *target, list bool) func(string, *handler.Failure) (int, []byte) {
	return func(_ string, f *handler.Failure) (int, []byte) {
		if f.Code == upstream.CodeNotFound && f.Text == "" && t.name != "" {
			own := *f
			own.Text = t.notFoundMessage()
			f = &own
		}
		status, body := d.Error("", f)
		if list {
			body = append(append([]byte{'['}, body...), ']')
		}
		return status, body
	}
}

// notFoundMessage is the vendor's text for a model that does not exist.
func (t *target) notFoundMessage() string {
	version, method := t.version, t.method
	version = cmp.Or(version, "v1beta")
	method = cmp.Or(method, "this method")
	return handler.OneLine(t.name, 256) + " is not found for API version " + version + ", or is not supported for " + method +
		". Call ListModels to see the list of available models and their supported methods."
}

// checkHead validates the headers and the query.
func checkHead(r *http.Request) error {
	q := r.URL.Query()
	if a, b := q.Get("alt"), q.Get("$alt"); a != "" && b != "" && a != b {
		return invalid("alt and $alt differ; send one")
	}
	switch alt(q) {
	case "", "json", "sse":
	default:
		return invalid("alt: must be json or sse")
	}
	_, err := clientTimeout(r)
	return err
}

func invalid(text string) error {
	return &handler.Failure{Code: upstream.CodeInvalid, Text: text, Reason: text}
}

// clientTimeout returns how long the client waits, or 0 if it sets no limit.
func clientTimeout(r *http.Request) (time.Duration, error) {
	s := r.Header.Get("X-Server-Timeout")
	if s == "" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || !(seconds > 0) {
		return 0, invalid("x-server-timeout: must be a number of seconds")
	}
	const maxSeconds = 1e6 // longer than any request may take
	return time.Duration(min(seconds, maxSeconds) * float64(time.Second)), nil
}

// request parses and validates a body.
func (d *dialect) request(t *target, body string, count bool) (*Request, error) {
	if err := t.checkModel(); err != nil {
		return nil, err
	}
	req, err := readRequest(body, t.version, &ValidateOptions{Strict: d.Strict, Count: count, MediaTypes: d.MediaTypes, Limits: d.Limits})
	if err != nil {
		return nil, err
	}
	if req.Model != "" && req.Model != t.name && req.Model != t.model && strings.TrimPrefix(req.Model, "models/") != t.model {
		return nil, &content.Violation{Code: content.CodeConflict, Path: "model",
			Text: "the model in the body must be the one in the URL, " + handler.OneLine(t.name, 256)}
	}
	req.Model = t.model
	return req, nil
}

// checkModel returns an error if the name of the model is not valid. Valid names have no
// steps that lead out of their collection.
func (t *target) checkModel() error {
	switch {
	case len(t.model) > codec.MaxModelName:
		return &content.Violation{Code: content.CodeLimit, Path: "model", Text: textModelName}
	case t.model == "" || !isModel(t.model):
		return &content.Violation{Code: content.CodeValue, Path: "model", Text: "unexpected model name format"}
	}
	return nil
}

// generate returns a function that makes an operation of a request's body. f is the
// framing of a streamed response, or nil for a whole one.
func (d *dialect) generate(t *target, f *framing) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, body string) (*handler.Operation, error) {
		req, err := d.request(t, body, false)
		if err != nil {
			return nil, err
		}
		c := &handler.Operation{Files: d.linkedFiles(req), Memory: req.origin.Cost}
		c.Request, c.Losses = req.withDocument(handler.ForwardedHeaders(r, d.ForwardHeaders))
		c.Timeout, _ = clientTimeout(r) // checkHead has validated it
		if c.Response = responseFor; f != nil {
			c.Request.Stream = true
			c.Stream = streamFor(*f, c.Request)
			c.ErrorPause, c.BreakPause = errorPause, breakPause
		}
		return c, nil
	}
}

// errorPause is the pause of a stream before each form of an error. Some clients
// recognize a bare error object only if they receive it in a separate read.
const errorPause = 50 * time.Millisecond

// breakPause is the pause after an error before the connection breaks. AI SDK 4,
// LangChain JS (@langchain/google) and Effect AI ignore the error in each form, so only the
// break shows them that the response is incomplete. Other clients read the error, but drop
// one that they have received and not read yet when the connection breaks.
const breakPause = 200 * time.Millisecond

// count returns a function that makes an operation of a countTokens body.
func (d *dialect) count(t *target) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, body string) (*handler.Operation, error) {
		req, err := d.request(t, body, true)
		if err != nil {
			return nil, err
		}
		call := &handler.Operation{Files: d.linkedFiles(req), Memory: req.origin.Cost}
		call.Request, call.Losses = req.withDocument(handler.ForwardedHeaders(r, d.ForwardHeaders))
		call.Timeout, _ = clientTimeout(r) // checkHead has validated it
		call.CountTokens(Format, isCount, writeCount)
		return call, nil
	}
}

// isCount reports whether writeCount writes the member of that name.
func isCount(name string) bool { return name == "totalTokens" || name == "cachedContentTokenCount" }

func writeCount(w *jsonwire.Writer, n upstream.TokenCount) {
	w.IntMember("totalTokens", n.Tokens)
	if n.Cached != 0 {
		w.IntMember("cachedContentTokenCount", n.Cached)
	}
}
