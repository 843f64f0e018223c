package crosstest

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

// TestHeadersOfHost tests headers that a host's own upstream sets: only those that the host
// lists reach the client, of responses and of errors.
func TestHeadersOfHost(t *testing.T) {
	fields := []upstream.HeaderField{{Name: "x-cache", Value: "hit"}, {Name: "X-Secret", Value: "s"}}
	own := generate(func(w *upstream.Writer) error {
		_ = w.Start(upstream.Start{Header: fields})
		return w.Text("Hi.")
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		for _, up := range []upstream.Upstream{own, failing{err: &upstream.Error{Code: upstream.CodeOverloaded, Header: fields}}} {
			for _, listed := range []string{"", "X-Cache", "x-CACHE"} {
				o := upstream.HandlerOptions{}
				want := ""
				if listed != "" {
					o.ResponseHeaders, want = []string{listed}, "hit"
				}
				if h := s.ask(t, s.handler(up, o), m).header; h.Get("X-Cache") != want || h.Get("X-Secret") != "" {
					t.Errorf("%q is listed: headers %v", listed, h)
				}
			}
		}
	})
	for _, name := range []string{"", "Content-Length", "set cookie", "Connection", "Polywire-Loss", "request-id"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q: no panic", name)
				}
			}()
			wireFormats[0].handler(own, upstream.HandlerOptions{ResponseHeaders: []string{name}})
		}()
	}
}

// TestEncodeError tests that EncodeError returns the status, the headers and the document of a
// handler.
func TestEncodeError(t *testing.T) {
	for _, s := range wireFormats {
		for _, err := range []*upstream.Error{
			{Code: upstream.CodeRateLimit, RetryAfter: 7 * time.Second, Header: []upstream.HeaderField{{Name: "X-Ratelimit-Limit-Requests", Value: "5"}, {Name: "X-Other", Value: "1"}}},
			{Code: upstream.CodeQuota},
			{Code: upstream.CodeMethod},
		} {
			written := s.ask(t, s.handler(failing{err: err}, upstream.HandlerOptions{}), s.modes[0])
			status, header, body := s.encodeError(nil, err)
			if header.Get(s.id) == "" || len(body) == 0 {
				t.Errorf("%s, %s: no id or no document: %v %s", s.name, err.Code, header, body)
			}
			for _, h := range []http.Header{header, written.header} {
				h.Del(s.id)
				h.Del("Content-Length")
				h.Del("Date")
			}
			if diff := cmp.Diff(written.header, header); diff != "" || status != written.status {
				t.Errorf("%s, %s: status %d, want %d; headers (-handler +EncodeError):\n%s", s.name, err.Code, status, written.status, diff)
			}
		}
	}
}
