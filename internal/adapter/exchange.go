package adapter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// An Exchange is one request to a server.
type Exchange struct {
	Path   string // behind the base URL, escaped, with a query if it has one
	Header http.Header
	Client http.Header // headers of the client, for names that the host has not set
	Body   Body        // nil for a GET
	Stream bool        // the answer is wanted as events
}

// An Response is what a server said with a status of 2xx. It has to be closed.
type Response struct {
	// Stream says that the answer comes as events, whatever was asked for.
	Stream bool

	server *Server
	ctx    context.Context
	sent   *http.Request
	hidden *redact.Secrets // what went with the request and must not come back
	header http.Header
	id     string // that the server gave the exchange
	body   io.ReadCloser
}

// idHeaders are the headers in which vendors, clouds and the networks in front of
// them send the id of an exchange, the vendors' own first.
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

// requestID returns the id that a server gave an exchange, or "". One that quotes a
// secret is not returned.
func requestID(h http.Header, secrets *redact.Secrets) string {
	for _, name := range idHeaders {
		if id := h.Get(name); reqctx.IsID(id) && secrets.Clean(id) == id {
			return id
		}
	}
	return ""
}

// Do sends a request. The error is an [*upstream.Error] that names the server, or
// the cause of ctx's end.
func (s *Server) Do(ctx context.Context, x *Exchange) (*Response, error) {
	a, err := s.do(ctx, x)
	if err != nil {
		return nil, named(err, s.conf.Name, "")
	}
	return a, nil
}

// named adds the name of an adapter, and the id that its server gave the exchange,
// to an [*upstream.Error]. It returns all other errors unchanged: they are the
// context's, or about the request.
func named(err error, name, id string) error {
	e, ok := err.(*upstream.Error)
	if !ok || e.Upstream != "" || name == "" {
		return err
	}
	c := *e
	c.Upstream = name
	if id != "" { // of the headers, which successes have too, rather than of an envelope
		c.UpstreamID = id
	}
	if c.Err != nil {
		c.Err = fmt.Errorf("%s: %w", name, c.Err)
	} else {
		c.Err = errors.New(name + ": the response is an error")
	}
	return &c
}

func (s *Server) do(ctx context.Context, x *Exchange) (*Response, error) {
	req, err := s.request(ctx, x)
	if err != nil {
		return nil, err
	}
	if asks := reqctx.From(ctx).Asks; asks != nil {
		asks(s.conf.Name)
	}
	res, err := s.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // which is not this exchange's own, and stays as it is
		}
		return nil, clean(failed(err), s.secrets(req))
	}
	a := &Response{server: s, ctx: ctx, sent: req, header: res.Header, body: res.Body}
	if res.Request != nil {
		a.sent = res.Request // with what the client's transport has added
	}
	a.hidden = s.secrets(a.sent)
	a.id = requestID(res.Header, a.hidden)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer a.Close()
		body, _ := io.ReadAll(io.LimitReader(res.Body, mostFailure)) // what came is enough to go by
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, a.refused(res, body)
	}
	if a.Stream, err = streamed(res.Header, x.Stream); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// refused returns the error of an answer with another status than 2xx. Where
// there is nothing, the cause names the path that was asked for: as a rule it is
// the base URL that ends too early, or too late.
func (a *Response) refused(res *http.Response, body []byte) *upstream.Error {
	e := a.server.conf.Failure(res.StatusCode, cleanHeader(res.Header, a.hidden), []byte(a.hidden.Clean(string(body))))
	if a.id != "" {
		e.UpstreamID = a.id
	}
	switch res.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		e.Err = fmt.Errorf("%w, asked for %s", e.Err, pathOf(a.sent.URL))
	}
	cleanError(e, a.hidden)
	return e
}

// pathOf returns the path of a URL for the log, without what looks like a key.
func pathOf(u *url.URL) string {
	steps := strings.Split(u.EscapedPath(), "/")
	for i, s := range steps {
		steps[i] = redact.Line(s)
	}
	return redact.Line(strings.Join(steps, "/"))
}

// request makes the HTTP request. Its own errors are faults of the host's.
func (s *Server) request(ctx context.Context, x *Exchange) (*http.Request, error) {
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
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, &upstream.Error{Code: upstream.CodeInternal, Err: errors.New("the request cannot be made")}
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
	for _, h := range []http.Header{x.Client, s.conf.Header, x.Header} {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return req, s.show(ctx, req.Header)
}

// show shows the key.
func (s *Server) show(ctx context.Context, h http.Header) error {
	key, err := s.conf.Key, error(nil)
	if s.conf.KeyFunc != nil {
		key, err = s.conf.KeyFunc(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("the key cannot be had: %w", err)}
	case !sendable(key):
		return &upstream.Error{Code: upstream.CodeInternal, Err: errors.New("no header can hold the key that KeyFunc returned: " + unsendable)}
	case key == "":
	case s.conf.KeyHeader != "":
		h.Set(s.conf.KeyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return nil
}

// streamed tells from the type of an answer whether it is a stream.
func streamed(h http.Header, asked bool) (bool, error) {
	if c := h.Get("Content-Encoding"); c != "" && !strings.EqualFold(c, "identity") {
		return false, codec.BadGateway(errors.New("the answer is compressed, which was not asked for"))
	}
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		return true, nil
	case kind == "application/json", strings.HasSuffix(kind, "+json"):
		return false, nil
	case kind == "text/html":
		return false, codec.BadGateway(errors.New("the answer is a web page"))
	}
	return asked, nil // servers that only resemble the vendor name any type, or none
}

// failed says what it means that there is no answer. The cause leaves out the
// URL, which may hold what is nobody's business.
func failed(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	code := upstream.CodeUnavailable
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		code = upstream.CodeTimeout
	}
	return &upstream.Error{Code: code, Err: fmt.Errorf("the server cannot be reached: %w", err)}
}

// Read reads what is to come of the answer, as an [io.Reader]. Once the context
// of the exchange has ended, its cause is the error.
func (a *Response) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if err != nil && err != io.EOF && a.ctx.Err() != nil {
		err = context.Cause(a.ctx)
	}
	return n, err
}

// Buffer puts a buffer in front of what is to come of the answer, for looking
// at how it begins. Read goes on from it.
func (a *Response) Buffer() *bufio.Reader {
	b := bufio.NewReaderSize(a.body, 4<<10)
	a.body = struct {
		io.Reader
		io.Closer
	}{b, a.body}
	return b
}

// Close gives the connection back if the answer was read to its end, and
// closes it otherwise.
func (a *Response) Close() error { return a.body.Close() }

// Head returns what is known before the answer is read: the server's name and id,
// and those of its headers that clients may receive.
func (a *Response) Head(asAsked bool) Head {
	head := Head{ModelAsRequested: asAsked, Upstream: a.server.conf.Name, UpstreamID: a.id, answer: a}
	for _, told := range a.server.conf.ForwardedHeaders {
		for name, values := range a.header {
			if name != told && !(strings.HasSuffix(told, "-") && strings.HasPrefix(name, told)) {
				continue
			}
			for _, v := range values {
				head.Header = append(head.Header, upstream.Field{Name: name, Value: a.hidden.Clean(v)})
			}
		}
	}
	return head
}

// Text reads a whole answer.
func (a *Response) Text() (string, error) {
	var b strings.Builder
	most := a.server.conf.MaxResponse
	n, err := io.Copy(&b, io.LimitReader(a, most+1))
	switch {
	case a.ctx.Err() != nil:
		return "", context.Cause(a.ctx)
	case err != nil:
		return "", a.named(codec.BadGateway(fmt.Errorf("the answer was cut: %w", err)))
	case n > most:
		return "", a.named(codec.BadGateway(fmt.Errorf("the answer has more than %d bytes", most)))
	}
	return b.String(), nil
}

// Decode reads a whole answer as a format has it, within the bounds of the
// server.
func (a *Response) Decode(decode func(text string, l content.Limits) (*upstream.Frame, error)) (*upstream.Frame, error) {
	text, err := a.Text()
	if err != nil {
		return nil, err
	}
	f, err := decode(text, a.server.whole())
	return f, a.failure(err)
}

// named adds to an error where it comes from: see [named].
func (a *Response) named(err error) error { return named(err, a.server.conf.Name, a.id) }

// failure completes an error that was found in what the server sent: it removes
// the host's secrets and adds where it comes from. Of nil it makes nil.
func (a *Response) failure(err error) error { return a.named(a.clean(err)) }

// Send makes an exchange whose answer is wanted whole, and calls decode with its
// text. It returns the id that the server gave the exchange. The errors are those
// of Do, of [Response.Text] and of decode.
func (s *Server) Send(ctx context.Context, x *Exchange, decode func(text string) error) (id string, err error) {
	a, err := s.Do(ctx, x)
	if err != nil {
		return "", err
	}
	defer a.Close()
	text, err := a.Text()
	if err != nil {
		return a.id, err
	}
	return a.id, a.failure(decode(text))
}

// SendCount asks for a count of tokens, which decode reads. The errors are those
// of Ask.
func (s *Server) SendCount(ctx context.Context, x *Exchange, decode func(text string) (upstream.TokenCount, error)) (upstream.TokenCount, error) {
	var n upstream.TokenCount
	id, err := s.Send(ctx, x, func(text string) (err error) {
		n, err = decode(text)
		return err
	})
	n.Upstream, n.UpstreamID = s.conf.Name, id
	return n, err
}

// What is read of a list of models, whose pages may be large and need not end.
const (
	mostPages  = 100
	mostModels = 100_000 // and what is on the page
)

// Models reads a list of models page by page. page reads the one behind a mark,
// which is empty for the first, and returns the mark of the page behind it,
// which is empty for the last.
func Models(ctx context.Context, page func(ctx context.Context, after string) (list []upstream.Model, next string, err error)) ([]upstream.Model, error) {
	var all []upstream.Model
	after := ""
	for range mostPages {
		list, next, err := page(ctx, after)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		if next == "" || next == after || len(all) >= mostModels {
			break
		}
		after = next
	}
	return all, nil
}

// Estimate guesses what a server that cannot be asked would count.
func Estimate(req *upstream.Request) upstream.TokenCount {
	return upstream.TokenCount{Tokens: upstream.EstimateTokens(req), Estimated: true}
}

// NotServed reports whether an error of Do or Ask says that there is nothing at the
// path. One that says so in the words of the format is about the model.
func NotServed(err error) bool {
	var e *upstream.Error
	if !errors.As(err, &e) || e.Text != "" {
		return false
	}
	switch e.Code {
	case upstream.CodeNotFound, upstream.CodeMethod, upstream.CodeUnsupported:
		return true
	}
	return false
}
