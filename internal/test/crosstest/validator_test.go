package crosstest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

// stateful are the refused requests that a server with a store accepts.
var stateful = []string{"stored response", "items of a stored response", "previous response", "background", "unknown item"}

// TestValidatorRefuses checks that a validator refuses what the handler of its format refuses, with
// the same response.
func TestValidatorRefuses(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, tt := range s.refused {
			done, passed := 0, 0
			o := upstream.HandlerOptions{RequestID: func(*http.Request) string { return "req_1" }, OnDone: func(context.Context, *upstream.Report) { done++ }}
			next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { passed++ })
			want, got := httptest.NewRecorder(), httptest.NewRecorder()
			r := tt.request(s)
			if slices.Contains(stateful, tt.name) {
				if strings.Contains(tt.name, "stored") {
					r.Method = "GET"
				}
				s.validator(next, o).ServeHTTP(got, r)
				if passed != 1 || done != 0 || !s.validator(next, o).Match(tt.request(s)) {
					t.Errorf("%s: passed %d times, done %d times", tt.name, passed, done)
				}
				continue
			}
			s.validator(next, o).ServeHTTP(got, r)
			s.handler(hello, o).ServeHTTP(want, tt.request(s))
			if passed != 0 || done != 2 {
				t.Errorf("%s: passed %d times, done %d times", tt.name, passed, done)
			}
			if got.Code != want.Code || !cmp.Equal(got.Header(), want.Header()) || got.Body.String() != want.Body.String() || got.Header().Get(s.id) != "req_1" {
				t.Errorf("%s: got %d %v %s; the handler responds with %d %v %s",
					tt.name, got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
			}
		}
	})
}

// TestValidatorPasses checks that valid requests reach the next handler as they were sent, that
// they count in the Budget until it returns, and that links are not checked.
func TestValidatorPasses(t *testing.T) {
	type tenant struct{}
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		budget, passed := new(upstream.Budget), 0
		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			passed++
			for range 2 {
				body, err := io.ReadAll(r.Body)
				if err != nil || string(body) != m.body || r.ContentLength != int64(len(m.body)) || len(r.TransferEncoding) > 0 {
					t.Errorf("body %q, %v; Content-Length %d", body, err, r.ContentLength)
				}
				if r.Body, err = r.GetBody(); err != nil {
					t.Error(err)
				}
			}
			if r.Context().Value(tenant{}) != "a" || upstream.RequestID(r.Context()) == "" || r.Header.Get("X-Other") != "b" || r.URL.String() != m.path {
				t.Errorf("the request has lost its context, header or path: %v", r.URL)
			}
			if n, size := budget.InFlight(); n != 1 || size < int64(len(m.body)) {
				t.Errorf("in flight: %d requests and %d bytes", n, size)
			}
			w.WriteHeader(http.StatusTeapot)
		})
		h := s.validator(next, upstream.HandlerOptions{
			Budget: budget,
			Authenticate: func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
				return context.WithValue(ctx, tenant{}, "a"), nil
			},
			OnDone: func(context.Context, *upstream.Report) { t.Error("OnDone was called") },
		})
		chunked := m.request()
		chunked.ContentLength, chunked.TransferEncoding = -1, []string{"chunked"}
		for _, r := range []*http.Request{m.request(), chunked} {
			r.Header.Set("X-Other", "b")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if len(w.Header()) > 0 || w.Code != http.StatusTeapot {
				t.Errorf("%d %v", w.Code, w.Header())
			}
		}
		if passed != 2 {
			t.Errorf("passed %d times", passed)
		}
		checkInFlight(t, budget, 0, 0)
	})
	eachFormat(t, func(t *testing.T, s wireFormat) {
		passed := 0
		next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { passed++; panic(http.ErrAbortHandler) })
		serve := func(o upstream.HandlerOptions, r *http.Request) (panicked any) {
			defer func() { panicked = recover() }()
			s.validator(next, o).ServeHTTP(httptest.NewRecorder(), r)
			return nil
		}
		link := s.body([]fileReference{{link: "http://10.0.0.1/a.png", mediaType: "image/png"}}, false)
		for _, r := range []*http.Request{newRequest("GET", s.models, ""), newRequest("POST", s.path, link)} {
			if v := serve(upstream.HandlerOptions{}, r); v != http.ErrAbortHandler {
				t.Errorf("%s: panic %v", r.URL, v)
			}
		}
		if passed != 2 {
			t.Errorf("passed %d times", passed)
		}
	})
}
