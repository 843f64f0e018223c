package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/media"
)

// A Fetcher is a [content.Resolver] for links: it downloads files from their origin.
// Use [New] to create one. It is safe for concurrent use.
type Fetcher struct {
	guard *guard
	slots chan struct{} // one slot for each file that is being fetched
	o     Options       // with defaults set

	arrived func(bytes int64) error // see Metered
}

// New returns a Fetcher. It copies opts; nil means the defaults. It returns an error if an
// option is invalid. It does not connect to anything.
func New(opts *Options) (*Fetcher, error) {
	o := *cmp.Or(opts, new(Options))
	if err := o.setDefaults(); err != nil {
		return nil, err
	}
	g, err := newGuard(&o)
	if err != nil {
		return nil, err
	}
	return &Fetcher{guard: g, slots: make(chan struct{}, o.Limits.Concurrency), o: o}, nil
}

// Check validates the text of a link. The error is a [*content.Violation] without a
// path. Check does not look up names or connect, so Resolve may still refuse a link
// that passes.
func (f *Fetcher) Check(link string) error {
	if _, problem := f.guard.parse(link); problem != "" {
		return newLinkError(problem)
	}
	return nil
}

// Check validates the text of a link as [Fetcher.Check] does with the zero [Options].
func Check(link string) error {
	g := guard{maxURL: defaultURL}
	if _, problem := g.parse(link); problem != "" {
		return newLinkError(problem)
	}
	return nil
}

// ErrBusy is the error for a file that waited for half of Timeouts.Total because as
// many other files as Limits.Concurrency allows were being fetched. It is not a
// [*content.Violation], because the request is valid.
var ErrBusy = errors.New("fetch: too many files are being fetched")

// errTimeout is the cause of contexts that end after Timeouts.Total.
var errTimeout = errors.New("fetch: timeout")

// Resolve downloads the file of a [*content.URL]. For any other source it returns
// [content.ErrUnresolved].
//
// If the file is not available, the error is a [*content.Violation] without a path. Its
// Text contains the link without query and fragment. It is the same for all failures of
// looking up names and connecting, so that clients cannot explore the network. Its Err
// is the cause, for the log of the host. If ctx is done, Resolve returns the cause of
// ctx. If too many files are being fetched, it returns [ErrBusy].
//
// MediaType of the result is that of the leading bytes if they are those of a PNG, JPEG,
// GIF, WebP or PDF file, or else the Content-Type without parameters. It may be empty, and
// may differ from the MediaType of s.
func (f *Fetcher) Resolve(ctx context.Context, s content.Source) (content.Blob, error) {
	link, ok := s.(*content.URL)
	if !ok || link == nil {
		return content.Blob{}, content.ErrUnresolved
	}
	u, problem := f.guard.parse(link.URL)
	if problem != "" {
		return content.Blob{}, newLinkError(problem)
	}
	limited, cancel := context.WithTimeoutCause(ctx, f.o.Timeouts.Total, errTimeout)
	defer cancel()
	if err := f.acquire(ctx); err != nil {
		return content.Blob{}, err
	}
	defer func() { <-f.slots }()
	blob, err := f.follow(limited, u)
	if err != nil && ctx.Err() != nil {
		return content.Blob{}, context.Cause(ctx)
	}
	if err != nil {
		return content.Blob{}, newFetchError(u, err)
	}
	return blob, nil
}

// acquire waits for a free slot.
func (f *Fetcher) acquire(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(f.o.Timeouts.Total / 2)
	defer timer.Stop()
	select {
	case f.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return ErrBusy
	}
}

// follow fetches a file, following redirects.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (content.Blob, error) {
	for n := 0; ; n++ {
		blob, next, err := f.get(ctx, u)
		if err != nil || next == nil {
			return blob, err
		}
		if n == f.o.Limits.Redirects || f.o.NoRedirects {
			return content.Blob{}, errors.New("too many redirects")
		}
		u = next
	}
}

// get sends one request. It returns the file, or the target of a redirect.
func (f *Fetcher) get(ctx context.Context, u *url.URL) (blob content.Blob, next *url.URL, err error) {
	req := newRequest(ctx, u)
	t, end, err := f.transport(ctx, req)
	if err != nil {
		return blob, nil, err
	}
	defer end()
	resp, err := t.RoundTrip(req)
	if err != nil {
		return blob, nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		blob, err = f.readFile(resp)
		return blob, nil, err
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		next, err = f.redirect(u, resp)
		return blob, next, err
	}
	return blob, nil, &responseError{content.CodeValue, fmt.Sprintf("could not be fetched: the server returned status %d instead of 200", resp.StatusCode)}
}

const userAgent = "Polywire (+https://github.com/polywire/polywire)"

// newRequest returns a request that contains nothing about the client.
func newRequest(ctx context.Context, u *url.URL) *http.Request {
	target := *u
	target.Fragment, target.RawFragment = "", ""
	target.RawQuery = escapeQuery(target.RawQuery)
	req := &http.Request{
		Method:     http.MethodGet,
		URL:        &target,
		Host:       target.Host,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header: http.Header{
			"User-Agent":      {userAgent},
			"Accept":          {"*/*"},
			"Accept-Encoding": {"identity"},
		},
	}
	return req.WithContext(ctx)
}

// escapeQuery returns a query in ASCII. Existing escapes are unchanged.
func escapeQuery(query string) string {
	if isASCII(query) {
		return query
	}
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c >= utf8.RuneSelf {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// redirect returns the target of a redirect.
func (f *Fetcher) redirect(from *url.URL, resp *http.Response) (*url.URL, error) {
	locations := resp.Header["Location"]
	if len(locations) != 1 {
		return nil, errors.New("a redirect must have exactly one Location")
	}
	next, problem := f.guard.parseRedirect(from, locations[0])
	if problem != "" {
		if next != nil {
			problem += ": " + displayURL(next)
		}
		return nil, errors.New("the target of a redirect " + problem)
	}
	if from.Scheme == "https" && next.Scheme != "https" {
		return nil, errors.New("a redirect from https to http")
	}
	return next, nil
}

// Off is a [content.Resolver] that fetches nothing.
type Off struct{}

// Resolve returns a [*content.Violation] for a [*content.URL], and
// [content.ErrUnresolved] for any other source.
func (Off) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	if _, ok := s.(*content.URL); !ok {
		return content.Blob{}, content.ErrUnresolved
	}
	return content.Blob{}, &content.Violation{Code: content.CodeUnsupported,
		Text: "this server does not fetch links; send the file as base64"}
}

// readFile reads the file in a response.
func (f *Fetcher) readFile(resp *http.Response) (content.Blob, error) {
	if isEncoded(resp) {
		return content.Blob{}, &responseError{content.CodeMedia, "was sent with a Content-Encoding; it must be sent uncompressed"}
	}
	data, err := f.readBody(f.meter(resp.Body), resp.ContentLength)
	if err != nil {
		return content.Blob{}, err
	}
	if len(data) == 0 {
		return content.Blob{}, &responseError{content.CodeMedia, "is empty"}
	}
	kind := media.Detect(data)
	if kind == "" {
		kind = contentType(resp)
		if media.IsDetectable(kind) {
			return content.Blob{}, &responseError{content.CodeMedia, "does not match its Content-Type, " + kind}
		}
	}
	return content.Blob{MediaType: kind, Data: data}, nil
}

func isEncoded(resp *http.Response) bool {
	for _, line := range resp.Header["Content-Encoding"] {
		for coding := range strings.SplitSeq(line, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return true
			}
		}
	}
	return resp.Uncompressed
}

// contentType returns the Content-Type of a response without parameters.
func contentType(resp *http.Response) string {
	lines := resp.Header["Content-Type"]
	if len(lines) != 1 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(lines[0])
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !strings.Contains(kind, "/") {
		return ""
	}
	return media.Canonical(kind)
}

const initialBuffer = 64 << 10

// readBody reads a body of length bytes, or of unknown length if length is -1. It
// allocates memory as data arrives; length only limits the last allocation.
func (f *Fetcher) readBody(body io.Reader, length int64) ([]byte, error) {
	maxBytes := f.o.Limits.File
	if length > maxBytes {
		return nil, f.tooLarge()
	}
	limit := maxBytes + 1 // one more byte shows that the file is too large
	if length >= 0 {
		limit = length + 1
	}
	data := make([]byte, 0, min(limit, initialBuffer))
	for {
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > maxBytes:
			return nil, f.tooLarge()
		case err == io.EOF && length >= 0 && int64(len(data)) != length:
			return nil, fmt.Errorf("the body ended after %d of %d bytes", len(data), length)
		case err == io.EOF:
			return compact(data), nil
		case err != nil:
			return nil, err
		case int64(len(data)) == limit:
			return nil, errors.New("the body is longer than its Content-Length")
		case len(data) == cap(data):
			next := make([]byte, len(data), min(limit, 2*int64(cap(data))))
			copy(next, data)
			data = next
		}
	}
}

// compact returns data, copied without its unused capacity if that is large.
func compact(data []byte) []byte {
	if cap(data)-len(data) <= len(data)/4 {
		return data
	}
	return append(make([]byte, 0, len(data)), data...)
}

func (f *Fetcher) tooLarge() error {
	return &responseError{content.CodeLimit, fmt.Sprintf("is larger than %d bytes", f.o.Limits.File)}
}

// Metered returns a Resolver that downloads files as f does and calls arrived with the
// number of bytes of each piece that it receives. If arrived returns an error, Resolve
// stops and fails. arrived is called by the goroutine that calls Resolve. The returned
// Resolver has the method Check of f and shares its Limits.Concurrency.
func (f *Fetcher) Metered(arrived func(bytes int64) error) content.Resolver {
	m := *f
	m.arrived = arrived
	return &m
}

// meter returns body, wrapped if f is metered.
func (f *Fetcher) meter(body io.Reader) io.Reader {
	if f.arrived == nil {
		return body
	}
	return &meteredReader{body, f.arrived}
}

type meteredReader struct {
	body    io.Reader
	arrived func(int64) error
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if n > 0 {
		if refused := r.arrived(int64(n)); refused != nil {
			return 0, refused
		}
	}
	return n, err
}
