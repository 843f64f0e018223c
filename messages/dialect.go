package messages

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// A dialect implements [handler.Protocol] for the Messages format.
type dialect struct{ Options }

func (d *dialect) Format() content.Format { return Format }

func (d *dialect) WirePath(neutral string) string { return wirePath(neutral) }

// Owns reports whether r has the header that this format requires.
func (d *dialect) Owns(r *http.Request) bool { return r.Header.Get("Anthropic-Version") != "" }

func (d *dialect) Resembles(r *http.Request) bool {
	return d.Owns(r) || r.Header.Get("X-Api-Key") != ""
}

// SetHeader sets the header that holds the id of the request.
func (d *dialect) SetHeader(h http.Header, id string) { h.Set("Request-Id", id) }

// ForwardsHeader reports whether the response forwards a header of the vendor. It
// forwards those about rate limits.
func (d *dialect) ForwardsHeader(name string) bool {
	for _, prefix := range [...]string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (d *dialect) Error(id string, f *handler.Failure) (int, []byte) {
	return failureStatus(f), appendError(nil, id, f)
}

// Keys returns the keys in X-Api-Key and Authorization. It ignores an Authorization
// that is not a bearer token.
func (d *dialect) Keys(r *http.Request) []string {
	return handler.HeaderKeys(r.Header, "X-Api-Key")
}

// Route matches the end of the path, so that any prefix is allowed.
func (d *dialect) Route(r *http.Request) (*handler.Route, error) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	last := len(path) - 1
	switch {
	case path[last] == "messages":
		return &handler.Route{Method: http.MethodPost, CheckHeader: checkHeader, Parse: d.createMessage(nil)}, nil
	case path[last] == "count_tokens" && last > 0 && path[last-1] == "messages":
		return &handler.Route{Method: http.MethodPost, CheckHeader: checkHeader, Parse: d.countTokens(nil)}, nil
	case path[last] == "models":
		return &handler.Route{Method: http.MethodGet, Shared: true, CheckHeader: checkHeader, Parse: d.models}, nil
	}
	if id, ok := modelID(path); ok {
		return &handler.Route{Method: http.MethodGet, Shared: true, CheckHeader: checkHeader, Parse: d.model(id)}, nil
	}
	if at := parseVertexPath(r.URL.Path); at != nil {
		route := &handler.Route{Method: http.MethodPost, CheckHeader: checkBetas, Parse: d.createMessage(at)}
		if at.count {
			route.Parse = d.countTokens(at)
		}
		return route, nil
	}
	text := "there is nothing at this path"
	for _, name := range slices.Backward(path) {
		switch name {
		case "batches", "files", "skills", "complete":
			text = name + ": this part of the API is not supported"
		default:
			continue
		}
		break
	}
	return nil, &handler.Failure{Code: upstream.CodeNotFound, Reason: text, Text: text +
		"; this handler serves POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models and GET /v1/models/{id}, and on the paths " +
		"of Vertex AI POST …/publishers/anthropic/models/{model}:rawPredict, :streamRawPredict and …/models/count-tokens:rawPredict"}
}

// modelID returns the name of the model in a path: everything after "models",
// including slashes. A colon in the last segment marks a method of another format, also if a
// slash follows it.
func modelID(path []string) (id string, ok bool) {
	i := slices.Index(path, "models") // one pass
	if i < 0 {
		return "", false
	}
	id = strings.Join(path[i+1:], "/")
	name := strings.TrimRight(id, "/")
	return id, !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":")
}

// The header that lists betas, as the vendor and as Go write it.
const (
	betaHeader = "anthropic-beta"
	betaKey    = "Anthropic-Beta"
)

// Limits for the header that lists betas.
const (
	maxHeaderValues = 64
	maxHeaderValue  = 128 // bytes
)

// isHeaderValue reports whether a value of such a header has only visible ASCII
// characters, and is not too long.
func isHeaderValue(s string) bool {
	return len(s) <= maxHeaderValue && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// checkBetas returns an error if the header that lists betas exceeds the limits, or if a value
// has other characters than visible ASCII.
func checkBetas(r *http.Request) error {
	n := 0
	for _, line := range r.Header[betaKey] {
		for v := range strings.SplitSeq(line, ",") {
			switch v = strings.TrimSpace(v); {
			case len(v) > maxHeaderValue:
				return invalid(fmt.Sprintf("%s: a value has %d bytes; the maximum is %d", betaHeader, len(v), maxHeaderValue))
			case !isHeaderValue(v):
				return invalid(betaHeader + ": a value must have only visible ASCII characters")
			case v != "":
				n++
			}
		}
	}
	if n > maxHeaderValues {
		return invalid(fmt.Sprintf("%s: has %d values; the maximum is %d", betaHeader, n, maxHeaderValues))
	}
	return nil
}

// checkHeader validates the headers of a request.
func checkHeader(r *http.Request) error {
	versions := r.Header.Values("Anthropic-Version")
	if len(versions) == 0 || versions[0] == "" {
		return invalid("anthropic-version: header is required")
	}
	for _, v := range versions {
		if v != versions[0] {
			return invalid("anthropic-version: the header has several different values; send one")
		}
	}
	if isVersion(versions[0]) {
		return checkBetas(r)
	}
	return invalid("anthropic-version: unknown version; it must be 2023-01-01, 2023-06-01 or 2026-10-21")
}

// isVersion reports whether the API has a version.
func isVersion(s string) bool { return slices.Contains(versions, s) } // bounded by versions

func invalid(text string) error {
	return &handler.Failure{Code: upstream.CodeInvalid, Text: text, Reason: text}
}

// parseRequest parses and validates a body. If all violations are in the thread, it
// returns an operation that fails with them: see [errThread]. at is the path of the
// request if it may have the model, or nil.
func (d *dialect) parseRequest(r *http.Request, body string, at *vertexPath, count bool) (*handler.Operation, error) {
	opts := &ValidateOptions{
		Version: r.Header.Get("Anthropic-Version"), Betas: codec.HeaderList(r.Header[betaKey]...),
		AllowFiles: d.FilesWithoutBeta, Strict: d.Strict, Count: count, MediaTypes: d.MediaTypes, Limits: d.Limits,
	}
	req, err := decodeRequest(body, opts, at)
	if req == nil || err != nil && !isThreadError(err) {
		return nil, err
	}
	op := &handler.Operation{Files: d.referencedFiles(req), Memory: req.origin.Cost}
	d.setRequest(op, r, req, opts)
	if err != nil {
		w := document.Of(op.Request.Wire)
		w.OtherFormatErr, w.SameFormatErr = errThread, err
	}
	return op, nil
}

// errThread refuses a request with a thread for upstreams of another format. Only
// the vendor stores the messages of a thread. If an error has these details, the
// vendor's SDKs send the whole conversation instead. errThread takes precedence
// over violations in the thread.
var errThread error = &upstream.Error{
	Code:    upstream.CodeInvalid,
	Text:    "thread: message threads are not supported for this model; send all messages of the conversation, without `thread`",
	Details: &content.Extra{Format: Format, JSON: `{"error_code":"thread_unsupported_request"}`},
}

// isThreadError reports whether all violations in err are in the thread.
func isThreadError(err error) bool {
	list, more := content.Violations(err)
	return more == 0 && !slices.ContainsFunc(list, func(e *content.Violation) bool { // one pass
		return e.Path != "thread" && !strings.HasPrefix(e.Path, "thread.")
	})
}

// createMessage returns a function that returns the operation for the body of a request.
// at is the path of the request if it has the model, or nil.
func (d *dialect) createMessage(at *vertexPath) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(id string, r *http.Request, body string) (*handler.Operation, error) {
		op, err := d.parseRequest(r, body, at, false)
		if err != nil {
			return nil, err
		}
		if op.Response = responseFor; op.Request.Stream {
			op.Stream = streamFor(id, op.Request)
		}
		return op, nil
	}
}

// header returns the headers for a body that was validated with o.
func (o *ValidateOptions) header() []upstream.HeaderField {
	version := cmp.Or(o.Version, version2023)
	header := []upstream.HeaderField{{Name: "anthropic-version", Value: version}}
	if len(o.Betas) > 0 {
		header = append(header, upstream.HeaderField{Name: betaHeader, Value: strings.Join(o.Betas, ",")})
	}
	return header
}

// Headers that select a resource of the vendor, as Go writes them.
const (
	workspaceHeader = "Anthropic-Workspace-Id"
	profileHeader   = "Anthropic-User-Profile-Id"
)

// setRequest sets the request of c, with the headers to forward. Headers of the
// vendor that are not forwarded are losses.
func (d *dialect) setRequest(op *handler.Operation, r *http.Request, req *Request, opts *ValidateOptions) {
	sent := handler.ForwardedHeaders(r, d.ForwardHeaders, workspaceHeader, profileHeader)
	op.Request, op.Losses = req.withDocument(append(opts.header(), sent...))
	for _, name := range [...]string{workspaceHeader, profileHeader} {
		// one pass
		if r.Header.Get(name) == "" || slices.ContainsFunc(sent, func(f upstream.HeaderField) bool { return strings.EqualFold(f.Name, name) }) {
			continue
		}
		rule := lower.HeaderNotSent
		if name == profileHeader && req.has("billing_policy") {
			rule = lower.RequiredHeaderNotSent
		}
		op.Losses = append(op.Losses, rule.At(lower.HeaderPath(name).String()))
	}
}

// countTokens returns a function that returns the operation for a body of count_tokens.
// at is the path of the request if it is one of Vertex AI, or nil.
func (d *dialect) countTokens(at *vertexPath) func(string, *http.Request, string) (*handler.Operation, error) {
	return func(_ string, r *http.Request, body string) (*handler.Operation, error) {
		op, err := d.parseRequest(r, body, at, true)
		if err != nil {
			return nil, err
		}
		op.CountTokens(Format, countType.Holds, func(w *jsonwire.Writer, n upstream.TokenCount) {
			w.IntMember("input_tokens", n.Tokens)
		})
		return op, nil
	}
}
