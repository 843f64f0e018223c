package messages

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/upstream"
)

// A dialect says everything that is the format's around an answer. It
// implements [handler.Protocol].
type dialect struct {
	limits content.Limits
	files  bool
	strict bool

	mediaTypes []string // of documents, besides the usual ones
	forward    []string // headers; nil means the usual ones
}

func (d *dialect) Format() content.Format { return Format }

func (d *dialect) WirePath(neutral string) string { return wirePath(neutral) }

// SetHeader sets the request's id.
func (d *dialect) SetHeader(h http.Header, id string) { h.Set("Request-Id", id) }

// ForwardsHeader reports whether a header of the vendor is about rates.
func (d *dialect) ForwardsHeader(name string) bool {
	for _, prefix := range [...]string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (d *dialect) Error(id string, f *handler.Failure) (int, []byte) {
	return statusFor(f), appendError(nil, id, f)
}

// Keys reads both carriers; what is no bearer token is no key.
func (d *dialect) Keys(r *http.Request) []string {
	return handler.HeaderKeys(r.Header, "X-Api-Key")
}

// Route finds the collection from the right, so that any prefix will do.
func (d *dialect) Route(r *http.Request) (*handler.Route, error) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	last := len(path) - 1
	switch {
	case path[last] == "messages":
		return &handler.Route{Method: http.MethodPost, CheckHeader: head, Parse: d.call}, nil
	case path[last] == "count_tokens" && last > 0 && path[last-1] == "messages":
		return &handler.Route{Method: http.MethodPost, CheckHeader: head, Parse: d.count}, nil
	case path[last] == "models":
		return &handler.Route{Method: http.MethodGet, CheckHeader: head, Parse: d.models}, nil
	}
	if id, ok := modelID(path); ok {
		return &handler.Route{Method: http.MethodGet, CheckHeader: head, Parse: d.model(id)}, nil
	}
	text := "there is nothing at this path"
	for _, name := range slices.Backward(path) {
		switch name {
		case "batches", "files", "skills", "complete":
			text = name + ": this part of the API is not served here"
		default:
			continue
		}
		break
	}
	return nil, &handler.Failure{Code: upstream.CodeNotFound, Reason: text, Text: text +
		"; what is served is POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models and GET /v1/models/{id}"}
}

// modelID returns the name of a model, which is all that stands behind
// "models": it may hold slashes. What has a colon in its last segment is
// another format's method.
func modelID(path []string) (id string, ok bool) {
	i := slices.Index(path, "models")
	if i < 0 || strings.Contains(path[len(path)-1], ":") {
		return "", false
	}
	return strings.Join(path[i+1:], "/"), true
}

const betaHeader = "anthropic-beta"

// The limits of the values of a header that is a list.
const (
	maxHeaderValues = 64
	maxHeaderValue  = 128 // bytes
)

// checkHeaderList checks the limits of a list header. name is as the vendor
// spells it.
func checkHeaderList(h http.Header, name string) error {
	n := 0
	for _, line := range h.Values(name) {
		for v := range strings.SplitSeq(line, ",") {
			switch v = strings.TrimSpace(v); {
			case len(v) > maxHeaderValue:
				return invalid(fmt.Sprintf("%s: a value has %d bytes; at most %d are allowed", name, len(v), maxHeaderValue))
			case v != "":
				n++
			}
		}
	}
	if n > maxHeaderValues {
		return invalid(fmt.Sprintf("%s: has %d values; at most %d are allowed", name, n, maxHeaderValues))
	}
	return nil
}

// head judges the headers.
func head(r *http.Request) error {
	versions := r.Header.Values("Anthropic-Version")
	if len(versions) == 0 || versions[0] == "" {
		return invalid("anthropic-version: header is required")
	}
	for _, v := range versions {
		if v != versions[0] {
			return invalid("anthropic-version: several different values")
		}
	}
	switch versions[0] {
	case "2023-01-01", version2023, version2026:
		return checkHeaderList(r.Header, betaHeader)
	}
	return invalid("anthropic-version: this is not a version that is known here; known are 2023-01-01, 2023-06-01 and 2026-10-21")
}

func invalid(text string) error {
	return &handler.Failure{Code: upstream.CodeInvalid, Text: text, Reason: text}
}

// request parses and validates a body. If all violations are in the thread, they
// become those of the call: see [errThread]. where is for the response.
func (d *dialect) request(r *http.Request, body string, count bool) (req *Request, c *handler.Operation, where placement, err error) {
	opts := &ValidateOptions{
		Version: r.Header.Get("Anthropic-Version"), Betas: codec.HeaderList(r.Header.Values(betaHeader)...),
		AllowFiles: d.files, Strict: d.strict, Count: count, MediaTypes: d.mediaTypes, Limits: d.limits,
	}
	req, err = decodeRequest(body, opts)
	if req == nil || err != nil && !ofThread(err) {
		return nil, nil, where, err
	}
	c = &handler.Operation{SameFormatErr: err}
	if req.Thread != "" || err != nil {
		c.OtherFormatErr = errThread
	}
	c.Files, c.Memory = d.elsewhere(req), req.origin.cost
	return req, c, d.passOn(c, r, req, opts), nil
}

// errThread refuses a request with a thread, whose messages the vendor keeps,
// for an upstream that would not ask that vendor: nothing else knows them. By
// its details the vendor's SDKs know that they have to send the whole
// conversation instead. It takes precedence over what is wrong with the thread.
var errThread error = &handler.Failure{
	Code:    upstream.CodeInvalid,
	Text:    "thread: message threads are not supported for this model here; send all messages of the conversation, without `thread`",
	Details: &content.Extra{Format: Format, JSON: `{"error_code":"thread_unsupported_request"}`},
}

// ofThread reports whether all violations are in the thread.
func ofThread(err error) bool {
	list, more := content.Violations(err)
	return more == 0 && !slices.ContainsFunc(list, func(e *content.Violation) bool {
		return e.Path != "thread" && !strings.HasPrefix(e.Path, "thread.")
	})
}

// call makes a call of the body of a request.
func (d *dialect) call(id string, r *http.Request, body string) (*handler.Operation, error) {
	req, c, where, err := d.request(r, body, false)
	if err != nil {
		return nil, err
	}
	c.WirePath = req.Path
	message := "msg_" + rand.Text() // not of the id, which may be an edge's, and come again
	if req.Stream {
		s := newStream(id, message, req.Model, c.Request.Turns)
		s.prompt = func() int64 { return upstream.EstimateTokens(c.Request) }
		s.placement = where
		c.Stream = s
		return c, nil
	}
	c.Response = func(r *upstream.Response) (*jsonwire.Writer, []content.Loss) {
		res, lost := responseOf(r, c.Request.Turns, where)
		if res.ID == "" {
			res.ID = message
		}
		if res.Model == "" {
			res.Model = req.Model
		}
		w := new(jsonwire.Writer)
		_ = res.write(w) // ResponseFromUpstream leaves nothing that cannot be written
		return w, lost
	}
	return c, nil
}

// header returns the headers that belong to a body that was validated by these
// options.
func (o *ValidateOptions) header() []upstream.Field {
	version := o.Version
	if version == "" {
		version = version2023
	}
	header := []upstream.Field{{Name: "anthropic-version", Value: version}}
	if len(o.Betas) > 0 {
		header = append(header, upstream.Field{Name: betaHeader, Value: strings.Join(o.Betas, ",")})
	}
	return header
}

// The headers that select something at the vendor.
const (
	workspaceHeader = "anthropic-workspace-id"
	profileHeader   = "anthropic-user-profile-id"
)

// passOn makes the request of a call, with the headers that belong to it. The
// vendor's own that are not sent are losses. where is for the response.
func (d *dialect) passOn(c *handler.Operation, r *http.Request, req *Request, opts *ValidateOptions) (where placement) {
	sent := handler.ForwardedHeaders(r, d.forward, workspaceHeader, profileHeader)
	c.Request, where, c.Losses = req.withDocument(append(opts.header(), sent...))
	for _, name := range [...]string{workspaceHeader, profileHeader} {
		if r.Header.Get(name) == "" || slices.ContainsFunc(sent, func(f upstream.Field) bool { return f.Name == name }) {
			continue
		}
		rule := legal.HeaderNotSent
		if name == profileHeader && req.BillingPolicy != "" {
			rule = legal.RequiredHeaderNotSent
		}
		c.Losses = append(c.Losses, rule.At(legal.HeaderPath(name)))
	}
	return where
}
