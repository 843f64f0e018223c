package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
)

// A Fetcher is a [content.Resolver] of url sources: it downloads them from
// their origin. It is safe for concurrent use; make one with [New].
type Fetcher struct {
	guard *guard
	room  chan struct{} // a place for each file that is under way
	o     Options       // settled

	arrived func(bytes int64) error // nil unless it is metered
}

// New returns a Fetcher. It does not connect to anything, and is cheap.
func New(o Options) (*Fetcher, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	g, err := newGuard(&o)
	if err != nil {
		return nil, err
	}
	return &Fetcher{guard: g, room: make(chan struct{}, o.Limits.AtOnce), o: o}, nil
}

// Check reports what the text of a link shows to be wrong with it, as a
// [*content.Violation] without a path. Nothing is looked up or connected to: a link
// that passes may still be refused by Resolve.
func (f *Fetcher) Check(link string) error {
	if _, fault := f.guard.parse(link); fault != "" {
		return refused(fault)
	}
	return nil
}

// Check is [Fetcher.Check] with the defaults of [Options].
func Check(link string) error {
	g := guard{length: usualURL}
	if _, fault := g.parse(link); fault != "" {
		return refused(fault)
	}
	return nil
}

// ErrBusy says that a file was not fetched because too many others were under
// way ([Limits.AtOnce]) for half of its time. It is no fault of the request.
var ErrBusy = errors.New("fetch: too many files are being fetched")

// errTime is why a fetch ends that took too long.
var errTime = errors.New("fetch: the time for the file is over")

// Resolve downloads the file behind a [*content.URL]. Of any other source it
// knows nothing ([content.ErrUnresolved]).
//
// A file that cannot be had is a [*content.Violation] without a path. Its text is
// for the client: it names the link without query and fragment, and does not
// tell apart what was learnt by looking up names and connecting. Its Err is for
// the host's log. Where ctx ends, its cause is returned; where there was no
// room, [ErrBusy].
//
// The type of the file is what its leading bytes show, or else what the origin
// says without parameters; it may be empty. What the source declares is not
// compared with it: the caller knows what the file is for.
func (f *Fetcher) Resolve(ctx context.Context, s content.Source) (content.Blob, error) {
	link, ok := s.(*content.URL)
	if !ok || link == nil {
		return content.Blob{}, content.ErrUnresolved
	}
	u, fault := f.guard.parse(link.URL)
	if fault != "" {
		return content.Blob{}, refused(fault)
	}
	limited, cancel := context.WithTimeoutCause(ctx, f.o.Timeouts.Total, errTime)
	defer cancel()
	if err := f.enter(ctx); err != nil {
		return content.Blob{}, err
	}
	defer func() { <-f.room }()
	blob, err := f.follow(limited, u)
	if err != nil && ctx.Err() != nil {
		return content.Blob{}, context.Cause(ctx)
	}
	if err != nil {
		return content.Blob{}, explain(u, err)
	}
	return blob, nil
}

// enter takes a place among the files that are under way.
func (f *Fetcher) enter(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	patience := time.NewTimer(f.o.Timeouts.Total / 2)
	defer patience.Stop()
	select {
	case f.room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-patience.C:
		return ErrBusy
	}
}

// follow fetches a file from where its link leads to in the end.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (content.Blob, error) {
	for n := 0; ; n++ {
		blob, next, err := f.get(ctx, u)
		if err != nil || next == nil {
			return blob, err
		}
		if n == f.o.Limits.Redirects || f.o.NoRedirects {
			return content.Blob{}, errors.New("one redirect more than allowed")
		}
		u = next
	}
}

// get makes one request, and returns a file or where it has gone.
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
		blob, err = f.receive(resp)
		return blob, nil, err
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		next, err = f.redirect(u, resp)
		return blob, next, err
	}
	return blob, nil, &verdict{content.CodeValue, fmt.Sprintf("was answered with status %d instead of 200", resp.StatusCode)}
}

const userAgent = "Polywire (+https://github.com/polywire/polywire)"

// newRequest returns a request that says nothing about whom it is for.
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

// escapeQuery returns a query as it may be sent: in ASCII. Its escapes stay as
// they are.
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

// redirect reads where an answer leads to.
func (f *Fetcher) redirect(from *url.URL, resp *http.Response) (*url.URL, error) {
	locations := resp.Header["Location"]
	if len(locations) != 1 {
		return nil, errors.New("a redirect without one Location")
	}
	next, fault := f.guard.refer(from, locations[0])
	if fault != "" {
		if next != nil {
			fault += ": " + nameOf(next)
		}
		return nil, errors.New("a redirect whose link " + fault)
	}
	if from.Scheme == "https" && next.Scheme != "https" {
		return nil, errors.New("a redirect from https to http")
	}
	return next, nil
}

// Off is a [content.Resolver] that fetches nothing: a [*content.URL] is a
// [*content.Violation], and any other source is not its own.
type Off struct{}

// Resolve returns an error.
func (Off) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	if _, ok := s.(*content.URL); !ok {
		return content.Blob{}, content.ErrUnresolved
	}
	return content.Blob{}, &content.Violation{Code: content.CodeUnsupported,
		Text: "links are not fetched here; send the file as base64"}
}
