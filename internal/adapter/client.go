package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
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

// A Client sends requests to a vendor's server. It is safe for concurrent use.
type Client struct {
	config      Config
	keyName     string // Config.KeyHeader as Go writes it
	base        *url.URL
	baseSecrets []string // in the parameters of base
	httpClient  *http.Client
}

// New returns a client. If c is invalid or there are problems, which the adapter
// found in its own options, it returns one error that lists everything on one line
// and contains no key.
func New(c Config, problems ...string) (*Client, error) {
	base, more := c.parseBaseURL()
	problems = slices.Concat(problems, c.checkName(), more, c.checkKey(), c.checkLimits(), c.checkHeader())
	if len(problems) > 0 {
		return nil, errors.New(c.Name + ": " + strings.Join(problems, "; "))
	}
	c.MaxResponse = cmp.Or(c.MaxResponse, maxResponse)
	c.Header = c.Header.Clone()
	s := &Client{config: c, keyName: http.CanonicalHeaderKey(c.KeyHeader), base: base, baseSecrets: secretsIn(base.Query())}
	client := http.Client{Transport: transport()}
	if c.HTTPClient != nil {
		client = *c.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.httpClient = &client
	return s, nil
}

// Model returns the server's name of a model.
func (s *Client) Model(name string) string {
	if s.config.Model == nil {
		return name
	}
	return s.config.Model(name)
}

// Name returns the name of the server.
func (s *Client) Name() string { return s.config.Name }

// Limits returns the limits of a stream, which the caller must not change.
func (s *Client) Limits() *content.Limits { return &s.config.Limits }

// ResponseLimits returns the limits of a whole response.
func (s *Client) ResponseLimits() content.Limits {
	l := s.config.Limits
	l.Body = s.config.MaxResponse
	return l
}

// A Request is one request to a server.
type Request struct {
	Path         string // escaped, relative to the base URL, with an optional query
	Header       http.Header
	ClientHeader http.Header // forwarded from the client; Config.Header takes precedence
	Body         Body        // nil for a GET
	Stream       bool        // the response is wanted as a stream
	Plan         *Plan       // of the model that the path or the body names; nil if none
}

// Do sends a request. The error is an [*upstream.Error] that names the server, or
// the cause of the end of ctx.
func (s *Client) Do(ctx context.Context, x *Request) (*Response, error) {
	a, err := s.do(ctx, x)
	if err != nil {
		return nil, withUpstream(err, s.config.Name, "")
	}
	return a, nil
}

func (s *Client) do(ctx context.Context, x *Request) (*Response, error) {
	held := new(redact.Held)
	req, err := s.request(redact.WithHeld(ctx, held), x)
	if err != nil {
		return nil, err
	}
	if report := reqctx.From(ctx).ReportSend; report != nil {
		report(s.config.Name)
	}
	res, err := s.httpClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // returned unchanged: it is not about this request
		}
		return nil, clean(transportError(err), s.secrets(req, held))
	}
	a := &Response{client: s, ctx: ctx, sent: req, header: res.Header, body: res.Body, length: res.ContentLength}
	if res.Request != nil {
		a.sent = res.Request // including headers that the transport added
	}
	a.secrets = s.secrets(a.sent, held)
	a.id = requestID(res.Header, a.secrets)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer a.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // an incomplete body may be enough
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, a.statusError(res, body, x.Plan)
	}
	if a.Stream, err = isStream(res.Header, x.Stream); err != nil {
		a.Close()
		return nil, a.clean(codec.BadGateway(fmt.Errorf("%w, requested URL %s", err, logURL(a.sent.URL))))
	}
	return a, nil
}

// maxWithHeader is the length of the longest body that is sent as a [strings.Reader]. The
// transport writes the header and the beginning of the body at once only if it knows the
// type of the body.
const maxWithHeader = 16 << 10

// request returns the HTTP request. Its own errors are mistakes of the host.
func (s *Client) request(ctx context.Context, x *Request) (*http.Request, error) {
	u := *s.base
	path, query, _ := strings.Cut(x.Path, "?")
	u = *u.JoinPath(path)
	if query != "" {
		u.RawQuery = strings.Trim(s.base.RawQuery+"&"+query, "&")
	}
	method := http.MethodGet
	var body io.Reader
	if x.Body != nil {
		method, body = http.MethodPost, x.Body.Reader()
		if x.Body.Len() <= maxWithHeader {
			text, err := Text(x.Body, nil)
			if err != nil {
				return nil, err
			}
			body = strings.NewReader(text)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, &upstream.Error{Code: upstream.CodeInternal, Err: errors.New("the HTTP request could not be created")}
	}
	if x.Body != nil {
		req.ContentLength = x.Body.Len()
		req.GetBody = func() (io.ReadCloser, error) { return x.Body.Reader(), nil }
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if x.Stream {
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	req.Header.Set("User-Agent", "polywire")
	for _, h := range []http.Header{x.ClientHeader, s.config.Header, x.Header} {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return req, s.setKey(ctx, req.Header)
}

// setKey sets the header with the key.
func (s *Client) setKey(ctx context.Context, h http.Header) error {
	key, err := s.config.Key, error(nil)
	if s.config.KeyFunc != nil {
		key, err = s.config.KeyFunc(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		err = &upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("KeyFunc failed: %w", err)}
		return clean(err, redact.NewSecrets([]string{key}))
	case !isHeaderValue(key):
		return &upstream.Error{Code: upstream.CodeInternal, Err: errors.New("the key that KeyFunc returned " + invalidValue)}
	case key == "":
	case s.config.KeyHeader != "":
		h.Set(s.config.KeyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return nil
}

// Send sends a request, reads the whole response and calls decode with it. It
// returns the server's id of the request. The errors are those of Do,
// [Response.Text] and decode.
func (s *Client) Send(ctx context.Context, x *Request, decode func(text string) error) (id string, err error) {
	a, err := s.Do(ctx, x)
	if err != nil {
		return "", err
	}
	defer a.Close()
	text, err := a.Text()
	if err != nil {
		return a.id, err
	}
	return a.id, a.complete(decode(text))
}

// Count sends a request for the tokens of p and decodes the response with decode. It returns
// an estimate if the server has no such endpoint. Other errors are those of Send.
func (s *Client) Count(ctx context.Context, p *Plan, x *Request, decode func(body []byte) (upstream.TokenCount, error)) (upstream.TokenCount, error) {
	var n upstream.TokenCount
	id, err := s.Send(ctx, x, func(text string) (err error) {
		n, err = decode([]byte(text))
		return err
	})
	if isNotServed(err) {
		return p.Estimate(), nil
	}
	n.Upstream, n.UpstreamID, n.Losses = s.config.Name, id, p.Losses
	return n, err
}

// Limits for lists of models, which may have any number of pages.
const (
	maxPages  = 100
	maxModels = 100_000 // plus the rest of a page
)

// ListModels reads a list of models page by page. x is the request for the first page, whose
// path has a query. cursor is the parameter of the others that decode returns as next.
func (s *Client) ListModels(ctx context.Context, x Request, cursor string, decode func(body []byte) (list []upstream.Model, next string, err error)) ([]upstream.Model, error) {
	return listPages(func(after string) (list []upstream.Model, next string, err error) {
		page := x
		if after != "" {
			page.Path += "&" + cursor + "=" + url.QueryEscape(after)
		}
		_, err = s.Send(ctx, &page, func(text string) (err error) {
			list, next, err = decode([]byte(text))
			return err
		})
		return list, next, err
	})
}

// listPages calls page with an empty cursor for the first page, and then with the returned
// cursor until that is empty.
func listPages(page func(after string) (list []upstream.Model, next string, err error)) ([]upstream.Model, error) {
	var all []upstream.Model
	after := ""
	for range maxPages {
		list, next, err := page(after)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if next == "" || next == after || len(all) >= maxModels {
			break
		}
		after = next
	}
	return all, nil
}

// isNotServed reports whether an error of Do or Send means that the server has no
// such endpoint. An error with a text in the vendor's format is about the model.
func isNotServed(err error) bool {
	var e *statusError
	if !errors.As(err, &e) || e.aboutModel {
		return false
	}
	switch e.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	}
	return false
}

// transportError returns the error for a request without a response. The cause omits
// the URL, which may contain secrets. A transport that has not sent the request returns
// an [*upstream.Error] of its own.
func transportError(err error) error {
	var own *upstream.Error
	if errors.As(err, &own) {
		e := *own
		return &e
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	code := upstream.CodeUnavailable
	if codec.IsTimeout(err) {
		code = upstream.CodeTimeout
	}
	return &upstream.Error{Code: code, Err: fmt.Errorf("the server cannot be reached: %w", err)}
}

// isStream reports whether the media type of a response is that of a stream.
func isStream(h http.Header, requested bool) (bool, error) {
	if c := h.Get("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") {
		return false, errors.New("the response is compressed, but the request does not accept compression")
	}
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		return true, nil
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return false, nil
	case kind == "text/html":
		return false, errors.New("the response is an HTML page, not JSON")
	}
	return requested, nil // servers that resemble the vendor's may send any media type, or none
}
