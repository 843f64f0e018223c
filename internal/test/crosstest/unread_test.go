package crosstest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestRefusedWhileSending checks that a client that is rejected while it sends
// can read the error. If the connection were closed with unread bytes, it would
// be reset and the response would be lost.
func TestRefusedWhileSending(t *testing.T) {
	body := strings.Repeat(" ", 8<<20)
	key := func(context.Context, *http.Request, string) (context.Context, error) { return nil, upstream.ErrNoKey }
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, tt := range []struct {
			name    string
			serving upstream.HandlerOptions
			path    string
			want    int
		}{
			{"body too large", upstream.HandlerOptions{Limits: content.Limits{Body: 1 << 20}}, s.path, s.failure(upstream.CodeTooLarge).status},
			{"exhausted budget", upstream.HandlerOptions{Budget: &upstream.Budget{Bytes: 1 << 20}}, s.path, s.failure(upstream.CodeOverloaded).status},
			{"no key", upstream.HandlerOptions{Authenticate: key}, s.path, keyErrors[s.name][noKey].status},
			{"unknown path", upstream.HandlerOptions{}, "/v1beta/files", 404},
		} {
			t.Run(tt.name, func(t *testing.T) {
				server := httptest.NewServer(s.handler(&model{}, tt.serving))
				defer server.Close()
				for n := range 8 {
					res, answer := send(t, server.URL+tt.path, "", func(r *http.Request) {
						r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), 0
						r.Close = n&1 != 0
						if n&2 != 0 {
							r.ContentLength = int64(len(body))
						}
					})
					if res.StatusCode != tt.want || !res.Close {
						t.Errorf("request %d: status %d %s", n, res.StatusCode, answer)
					}
				}
			})
		}
	})
}
