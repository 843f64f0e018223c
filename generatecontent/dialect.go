package generatecontent

import (
	"crypto/rand"
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

// A dialect says everything that is the format's around an answer. It
// implements [handler.Protocol].
type dialect struct {
	limits     content.Limits
	body       int64 // the limit of bodies
	strict     bool
	mediaTypes []string
	forward    []string // headers
}

func (d *dialect) Format() content.Format { return Format }

// WirePath tells paths of answers; those of requests are told by who knows the
// document.
func (d *dialect) WirePath(neutral string) string { return new(Request).path(neutral) }

// SetHeader sets the request's id. The vendor sends none; its clients ignore it.
func (d *dialect) SetHeader(h http.Header, id string) { h.Set("X-Request-Id", id) }

// ForwardsHeader lets through which tier has answered.
func (d *dialect) ForwardsHeader(name string) bool { return name == "X-Gemini-Service-Tier" }

func (d *dialect) Error(_ string, f *handler.Failure) (int, []byte) {
	return statusFor(f, d.body), appendError(nil, f, d.body)
}

// Keys reads all carriers, which mean the same; what is no bearer token is no
// key.
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

// Route finds out what the path wants.
func (d *dialect) Route(r *http.Request) (*handler.Route, error) {
	t, err := parseTarget(r.URL.Path, r.Method)
	if err != nil {
		return nil, err
	}
	route := &handler.Route{Method: http.MethodPost, CheckHeader: head, Error: d.errorOf(t, false)}
	switch {
	case t.list != "":
		route.Method, route.Parse = http.MethodGet, d.models(t)
	case t.method == "":
		route.Method, route.Parse = http.MethodGet, d.model(t)
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

// alt is the representation that the client wants. Google's generated REST
// clients add that enums shall be numbers, although they read names, too.
func alt(q url.Values) string {
	s := q.Get("alt")
	if s == "" {
		s = q.Get("$alt")
	}
	return strings.TrimSuffix(s, ";enum-encoding=int")
}

// errorOf tells failures of requests about a target: an unknown model in the
// vendor's words, and in a list where the answer would be one.
func (d *dialect) errorOf(t *target, list bool) func(string, *handler.Failure) (int, []byte) {
	return func(_ string, f *handler.Failure) (int, []byte) {
		if f.Code == upstream.CodeNotFound && f.Text == "" && t.name != "" {
			own := *f
			own.Text = t.unknown()
			f = &own
		}
		status, body := d.Error("", f)
		if list {
			body = append(append([]byte{'['}, body...), ']')
		}
		return status, body
	}
}

// unknown says that there is no such model.
func (t *target) unknown() string {
	version, method := t.version, t.method
	if version == "" {
		version = "v1beta"
	}
	if method == "" {
		method = "this method"
	}
	return handler.OneLine(t.name, 256) + " is not found for API version " + version + ", or is not supported for " + method +
		". Call ListModels to see the list of available models and their supported methods."
}

// head judges the headers and the query.
func head(r *http.Request) error {
	q := r.URL.Query()
	if a, b := q.Get("alt"), q.Get("$alt"); a != "" && b != "" && a != b {
		return invalid("alt and $alt differ; send one")
	}
	switch alt(q) {
	case "", "json", "sse":
	default:
		return invalid("alt: only json and sse are served")
	}
	_, err := patience(r)
	return err
}

func invalid(text string) error {
	return &handler.Failure{Code: upstream.CodeInvalid, Text: text, Reason: text}
}

// patience is how long the client says that it will wait; 0 if it does not.
func patience(r *http.Request) (time.Duration, error) {
	s := r.Header.Get("X-Server-Timeout")
	if s == "" {
		return 0, nil
	}
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil || !(seconds > 0) {
		return 0, invalid("x-server-timeout: must be a number of seconds")
	}
	const most = 1e6 // longer than any call may take
	return time.Duration(min(seconds, most) * float64(time.Second)), nil
}

// request makes a request of a body, if nothing is wrong with it.
func (d *dialect) request(t *target, body string, count bool) (*Request, error) {
	if len(t.model) > codec.MaxModelName {
		return nil, &content.Violation{Code: content.CodeLimit, Path: "model", Text: textModelName}
	}
	if !isModelName(t.model) {
		return nil, &content.Violation{Code: content.CodeValue, Path: "model", Text: "unexpected model name format"}
	}
	req, err := readRequest(body, t.version, &ValidateOptions{Strict: d.strict, Count: count, MediaTypes: d.mediaTypes, Limits: d.limits})
	if err != nil {
		return nil, err
	}
	if req.Model != "" && req.Model != t.name && req.Model != t.model && strings.TrimPrefix(req.Model, "models/") != t.model {
		return nil, &content.Violation{Code: content.CodeConflict, Path: "model",
			Text: "the model in the body is another than that in the URL, " + handler.OneLine(t.name, 256)}
	}
	req.Model = t.model
	return req, nil
}

// isModelName reports whether a URL names a model. What upstreams are asked for
// never climbs out of where it stands.
func isModelName(s string) bool { return s != "" && isModel(s) }

// generate makes calls of the bodies of requests. f is how to stream the
// answer; nil if it is wanted whole.
func (d *dialect) generate(t *target, f *framing) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, body string) (*handler.Operation, error) {
		req, err := d.request(t, body, false)
		if err != nil {
			return nil, err
		}
		c := &handler.Operation{WirePath: req.path, Files: d.elsewhere(req), Memory: req.origin.cost}
		c.Request, c.Losses = req.withDocument(handler.ForwardedHeaders(r, d.forward))
		c.Timeout, _ = patience(r) // head has judged it
		id := rand.Text()          // not the request's, which may be an edge's, and come again
		if f != nil {
			c.Request.Stream = true
			s := newStream(*f, id, t.model, d.body)
			s.signs = signsCalls(t.model)
			c.Stream, c.ErrorPause = s, apart
			return c, nil
		}
		c.Response = func(r *upstream.Response) (*jsonwire.Writer, []content.Loss) {
			res, lost := responseOf(r, signsCalls(t.model))
			if res.ResponseID == "" {
				res.ResponseID = id
			}
			if res.ModelVersion == "" {
				res.ModelVersion = t.model
			}
			w := new(jsonwire.Writer)
			_ = res.write(w) // ResponseFromUpstream leaves nothing that cannot be written
			return w, lost
		}
		return c, nil
	}
}

// apart is how long a stream pauses before each form of a failure: some clients
// recognize a bare error object only in a read of its own.
const apart = 50 * time.Millisecond
