package adapter

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// A Response is a response with a 2xx status. The caller must close it.
type Response struct {
	// Stream reports whether the response is a stream.
	Stream bool

	client  *Client
	ctx     context.Context
	sent    *http.Request
	secrets *redact.Secrets // of the host, to be removed from the response
	header  http.Header
	id      string // the server's id of the request
	body    io.ReadCloser
	length  int64 // of the body; -1 if unknown
}

// idHeaders are the headers with the id of a request that vendors, clouds and
// proxies send, in order of precedence.
var idHeaders = []string{
	"Request-Id",        // Anthropic
	"X-Request-Id",      // OpenAI and most others
	"X-Goog-Request-Id", // Google Cloud
	"Apim-Request-Id",   // Azure
	"X-Amzn-Requestid",  // AWS
	"X-Ds-Trace-Id",     // DeepSeek
	"X-Generation-Id",   // OpenRouter
	"X-Vercel-Id",       // Vercel
	"Cf-Ray",            // Cloudflare
}

// requestID returns the server's id of a request, or "". An id that contains a
// secret is not returned.
func requestID(h http.Header, secrets *redact.Secrets) string {
	for _, name := range idHeaders {
		if id := h.Get(name); reqctx.IsID(id) && secrets.Clean(id) == id {
			return id
		}
	}
	return ""
}

// withUpstream adds the name of the adapter and the server's id of the request to an
// [*upstream.Error]. Other errors are returned unchanged.
func withUpstream(err error, name, id string) error {
	e, ok := err.(*upstream.Error)
	if !ok || e.Upstream != "" || name == "" {
		return err
	}
	c := *e
	c.Upstream = name
	if id != "" { // from the headers, which all responses have, rather than from the error object
		c.UpstreamID = id
	}
	if c.Err != nil {
		c.Err = fmt.Errorf("%s: %w", name, c.Err)
	} else {
		c.Err = errors.New(name + ": the response is an error")
	}
	return &c
}

// statusError returns the error for a response with a status other than 2xx. p may be nil.
//
// An error about a model that the client has not requested by this name, because the host
// maps names, is the host's, and so is one about a model that its server has not loaded. The
// cause of an error of the host includes the URL, because that is usually wrong.
func (a *Response) statusError(res *http.Response, body []byte, p *Plan) *upstream.Error {
	e := a.client.config.DecodeError(res.StatusCode, cleanHeader(res.Header, a.secrets), []byte(a.secrets.Clean(string(body))))
	if a.id != "" {
		e.UpstreamID = a.id
	}
	cause := &statusError{status: res.StatusCode, aboutModel: e.Text != "", err: e.Err}
	if p != nil && (p.isMapped(a.ctx, e) || codec.IsModelUnloaded(e)) {
		e.Code, e.Text, e.Details, e.Status, e.Header = upstream.CodeBadGateway, "", nil, 0, nil
	}
	if e.Code == upstream.CodeBadGateway && !e.KeyRefused || e.Code == upstream.CodeNotFound {
		cause.url = logURL(a.sent.URL)
		cause.location = redact.Line(res.Header.Get("Location"))
	}
	e.Err = cause
	cleanError(e, a.secrets)
	a.client.hideAccount(e)
	return e
}

// isMapped reports whether e is about the model of the request and the host has mapped
// another name to it. A name with or without a prefix that ends in a slash, such as that of a
// route "openai/*", is the client's. A request that refers to state of the vendor may have an
// error about that instead.
func (p *Plan) isMapped(ctx context.Context, e *upstream.Error) bool {
	v := reqctx.From(ctx)
	requested := "/" + cmp.Or(v.Model, p.Source.Model)
	sent := "/" + p.Model
	if strings.HasSuffix(requested, sent) || strings.HasSuffix(sent, requested) || !codec.IsModelRefused(e) {
		return false
	}
	return v.StateFormat == "" || strings.Contains(e.Text, p.Model)
}

// A statusError is the cause of the error for a response with a status other than 2xx.
type statusError struct {
	status     int
	aboutModel bool   // the vendor has a text about the request
	url        string // without keys; empty if it does not matter
	location   string // of a redirect, without keys
	err        error  // from the body
}

func (e *statusError) Error() string {
	text := e.err.Error()
	if e.url != "" {
		text += ", requested URL " + e.url
	}
	if e.location != "" {
		text += ", which redirects to " + e.location
	}
	return text
}

func (e *statusError) Unwrap() error { return e.err }

// logURL returns a URL without keys, user-info and query.
func logURL(u *url.URL) string {
	return u.Scheme + "://" + redact.Line(u.Host) + logPath(u)
}

// logPath returns the path of a URL without keys.
func logPath(u *url.URL) string {
	steps := strings.Split(u.EscapedPath(), "/")
	for i, s := range steps {
		steps[i] = redact.Line(s)
	}
	return redact.Line(strings.Join(steps, "/"))
}

// Read reads the body, as an [io.Reader]. After the end of the request's context it
// returns the cause of that.
func (a *Response) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if err != nil && err != io.EOF && a.ctx.Err() != nil {
		err = context.Cause(a.ctx)
	}
	return n, err
}

// Buffer returns a buffered reader of the body, with which the caller can peek at
// its beginning. Read continues from it.
func (a *Response) Buffer() *bufio.Reader {
	b := bufio.NewReaderSize(a.body, 4<<10)
	a.body = struct {
		io.Reader
		io.Closer
	}{b, a.body}
	return b
}

// Close closes the body. The connection is reused if the body was read to its end.
func (a *Response) Close() error { return a.body.Close() }

// StartInfo returns the information that is available before the body is read: the
// names of the server and the request, and the headers that clients may receive.
func (a *Response) StartInfo(modelAsRequested bool) StartInfo {
	head := StartInfo{ModelAsRequested: modelAsRequested, Upstream: a.client.config.Name, UpstreamID: a.id, response: a}
	for _, pattern := range a.client.config.ForwardedHeaders {
		for name, values := range a.header {
			if name != pattern && !(strings.HasSuffix(pattern, "-") && strings.HasPrefix(name, pattern)) {
				continue
			}
			for _, v := range values {
				head.Header = append(head.Header, upstream.HeaderField{Name: name, Value: a.secrets.Clean(v)})
			}
		}
	}
	return head
}

// Text reads the whole body.
func (a *Response) Text() (string, error) {
	limit := a.client.config.MaxResponse
	text, more, err := codec.ReadText(a, a.length, limit)
	switch {
	case a.ctx.Err() != nil:
		return "", context.Cause(a.ctx)
	case err != nil:
		return "", a.withUpstream(codec.BadGateway(fmt.Errorf("the response ended early: %w", err)))
	case more:
		return "", a.withUpstream(codec.BadGateway(fmt.Errorf("the response has more than %d bytes", limit)))
	}
	return text, nil
}

// Decode reads and decodes the whole body within the client's limits.
func (a *Response) Decode(decode func(text string, l content.Limits) (*upstream.Frame, error)) (*upstream.Frame, error) {
	text, err := a.Text()
	if err != nil {
		return nil, err
	}
	f, err := decode(text, a.client.ResponseLimits())
	return f, a.complete(err)
}

// withUpstream adds the name and the id of the response to an error: see the
// function.
func (a *Response) withUpstream(err error) error {
	return withUpstream(err, a.client.config.Name, a.id)
}

// complete removes the host's secrets from an error that decoding found, and adds
// the name and the id. It returns nil for nil.
func (a *Response) complete(err error) error { return a.withUpstream(a.clean(err)) }

// A FrameReader decodes a stream in one format. The error of Next is [io.EOF] after a
// complete response, and otherwise an [*upstream.Error] or an error of the source.
type FrameReader interface {
	upstream.FrameReader

	// Buffered reports whether Next would return without a read.
	Buffered() bool
}

// A StartInfo contains the fields of [upstream.Start] that come from the HTTP headers.
type StartInfo struct {
	// Header are the vendor's headers for the client.
	Header []upstream.HeaderField

	// ModelAsRequested means that the client requested the model by another name or
	// in another format: see [upstream.Start].
	ModelAsRequested bool

	// Upstream is the server's name, UpstreamID its id of the request.
	Upstream, UpstreamID string

	response *Response // its secrets are removed from errors; may be nil
}

// Relay writes the frames of a stream to w as they arrive. change, if not nil, may
// edit a frame, such as [Plan.Restore] does.
func Relay(ctx context.Context, w *upstream.Writer, from FrameReader, head StartInfo, change func(*upstream.Frame)) error {
	return w.Frames(&relayed{FrameReader: from, ctx: ctx, w: w, head: head, change: change})
}

// A relayed is a FrameReader for Relay.
type relayed struct {
	FrameReader
	ctx    context.Context
	w      *upstream.Writer
	head   StartInfo
	change func(*upstream.Frame)
	begun  bool // the start is done
}

// Next returns the next frame with the information of the headers in its start.
func (r *relayed) Next() (*upstream.Frame, error) {
	f, err := r.FrameReader.Next()
	switch {
	case err == io.EOF:
		return nil, err
	case err != nil && r.ctx.Err() != nil:
		return nil, context.Cause(r.ctx)
	case err != nil:
		return nil, withUpstream(r.head.response.clean(err), r.head.Upstream, r.head.UpstreamID)
	}
	if !r.begun {
		if r.begun, err = ensureStart(r.w, f, r.head); err != nil {
			return nil, err
		}
	}
	if r.change != nil {
		r.change(f)
	}
	return f, nil
}

// ensureStart adds head to the start event in f, or writes a start before the first
// frame with content. It reports whether the start is done.
func ensureStart(w *upstream.Writer, f *upstream.Frame, head StartInfo) (begun bool, err error) {
	begun, missing := head.add(f)
	if !missing {
		return begun, nil
	}
	var s upstream.Start
	head.apply(&s)
	return true, w.Start(s)
}

// AddStart adds head to the start event in f, or inserts one into the first frame with
// content. It reports whether the start is done.
func AddStart(f *upstream.Frame, head StartInfo) (begun bool) {
	begun, missing := head.add(f)
	if missing {
		var s upstream.Start
		head.apply(&s)
		f.Events = slices.Insert(f.Events, 0, upstream.Event{Kind: upstream.EventStart, Start: &s})
	}
	return begun || missing
}

// add adds h to the start event in f. It reports whether it has done so, or whether a start
// is missing before f.
func (h *StartInfo) add(f *upstream.Frame) (done, missing bool) {
	for i := range f.Events {
		switch e := &f.Events[i]; e.Kind {
		case upstream.EventStart:
			h.apply(e.Start)
			return true, false
		case upstream.EventLoss, upstream.EventExtra:
		default:
			missing = true
		}
	}
	return false, missing && (len(h.Header) > 0 || h.Upstream != "" || h.UpstreamID != "")
}

// apply sets the fields of s.
func (h *StartInfo) apply(s *upstream.Start) {
	s.Header, s.ModelAsRequested = h.Header, h.ModelAsRequested
	s.Upstream, s.UpstreamID = h.Upstream, h.UpstreamID
}

// WriteResponse writes a whole response to w.
func WriteResponse(w *upstream.Writer, f *upstream.Frame, head StartInfo, change func(*upstream.Frame)) error {
	if _, err := ensureStart(w, f, head); err != nil {
		return err
	}
	if change != nil {
		change(f)
	}
	return w.Frame(f)
}
