package crosstest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const poison = "secret of the host's"

// Errors with methods that panic. A typed nil is the most common one.
type (
	textless  struct{}
	wrapless  struct{}
	asless    struct{}
	panicking struct{} // everything that a host may bring
)

func (textless) Error() string { panic(poison) }
func (wrapless) Error() string { return poison }
func (wrapless) Unwrap() error { panic(poison) }
func (asless) Error() string   { return poison }
func (asless) As(any) bool     { panic(poison) }
func (asless) Is(error) bool   { panic(poison) }

func (panicking) Resolve(context.Context, content.Source) (content.Blob, error) { panic(poison) }
func (panicking) Generate(context.Context, *upstream.Request, *upstream.Writer) error {
	panic(poison)
}
func (panicking) CountTokens(context.Context, *upstream.Request) (upstream.TokenCount, error) {
	panic(poison)
}
func (panicking) Models(context.Context) ([]upstream.Model, error) { panic(poison) }
func (panicking) Enabled(context.Context, slog.Level) bool         { panic(poison) }
func (panicking) Handle(context.Context, slog.Record) error        { panic(poison) }
func (panicking) WithAttrs([]slog.Attr) slog.Handler               { panic(poison) }
func (panicking) WithGroup(string) slog.Handler                    { panic(poison) }

// A hostPanic is a hook or an Upstream that panics.
type hostPanic struct {
	name  string
	up    upstream.Upstream
	o     upstream.HandlerOptions
	whole bool // the response is complete nevertheless
}

func hostPanics() []hostPanic {
	lossy := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}})
		return w.Text("Hello.")
	})
	loading := upstream.Func(func(c context.Context, r *upstream.Request, _ *upstream.Writer) error {
		done := make(chan error)
		go func() { // where a panic would end the process
			_, err := r.Load(c, &content.URL{URL: "https://a.example"})
			done <- err
		}()
		return <-done
	})
	elsewhere := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		done := make(chan error)
		go func() { // a part that no encoder can read
			_ = w.Text("ab")
			done <- w.Part(&content.Image{Source: (*content.Base64)(nil)})
		}()
		return <-done
	})
	none := upstream.HandlerOptions{}
	return []hostPanic{
		{"upstream", panicking{}, none, false},
		{"authenticate", failing{}, upstream.HandlerOptions{Authenticate: func(context.Context, *http.Request, string) (context.Context, error) { panic(poison) }}, false},
		{"authenticate's error", failing{}, upstream.HandlerOptions{Authenticate: func(context.Context, *http.Request, string) (context.Context, error) {
			return nil, wrapless{}
		}}, false},
		{"resolver", loading, upstream.HandlerOptions{Links: panicking{}}, false},
		{"loss", lossy, upstream.HandlerOptions{OnLoss: func(context.Context, []content.Loss) { panic(poison) }}, true},
		{"logger", failing{err: errors.New(poison)}, upstream.HandlerOptions{Logger: slog.New(panicking{})}, false},
		{"logger and loss", lossy, upstream.HandlerOptions{Logger: slog.New(panicking{}), OnLoss: func(context.Context, []content.Loss) { panic(poison) }}, true},
		{"another goroutine", elsewhere, none, true},
		{"typed nil", failing{err: (*upstream.Error)(nil)}, none, false},
		{"typed nil, late", failing{err: (*upstream.Error)(nil), begun: true}, none, false},
		{"typed nil violation", failing{err: (*content.Violation)(nil)}, none, false},
		{"error with panicking Error", failing{err: textless{}, begun: true}, none, false},
		{"error with panicking Unwrap", failing{err: wrapless{}, begun: true}, none, false},
		{"error with panicking As", failing{err: asless{}, begun: true}, none, false},
		{"edit", upstream.Edit(failing{}, func(context.Context, *upstream.Request) (*upstream.Request, error) { panic(poison) }), none, false},
		{"tap", upstream.Tap(hello, func(context.Context, *upstream.Request, upstream.Sink) (upstream.Sink, func(error)) { panic(poison) }), none, false},
		{"sink of a tap", upstream.Tap(hello, func(context.Context, *upstream.Request, upstream.Sink) (upstream.Sink, func(error)) {
			return upstream.SinkFunc(func([]upstream.Event) error { panic(poison) }), nil
		}), none, false},
	}
}

// TestHostPanics checks panics in hooks and Upstreams, for every operation. The client
// receives a complete response or an error in the format, and there is exactly one report.
func TestHostPanics(t *testing.T) {
	for _, tt := range hostPanics() {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			t.Run(tt.name, func(t *testing.T) { tt.check(t, s, m, m.request(), true) })
		})
		eachFormat(t, func(t *testing.T, s wireFormat) {
			operations := map[string]*http.Request{"models": newRequest("GET", s.models, ""), "model": newRequest("GET", s.models+"/m", "")}
			if s.count != "" {
				operations["count"] = s.counting()
			}
			for operation, r := range operations {
				t.Run(tt.name+"/"+operation, func(t *testing.T) { tt.check(t, s, mode{}, r, false) })
			}
		})
	}
}

func (tt *hostPanic) check(t *testing.T, s wireFormat, m mode, r *http.Request, generates bool) {
	var got []*upstream.Report
	o := tt.o
	o.Budget = new(upstream.Budget)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.OnDone = func(_ context.Context, r *upstream.Report) { got = append(got, r); panic(poison) }
	a := s.serve(t, s.handler(tt.up, o), m, r)
	if strings.Contains(a.body, poison) {
		t.Errorf("response: %s", a.body)
	}
	failed := a.word != ""
	// Middleware around Generate does not apply to other operations.
	if generates && failed == tt.whole {
		t.Errorf("failed is %v: %s", failed, a.body)
	}
	if len(got) != 1 || (got[0].Code != "") != failed || (got[0].Err != nil) != failed {
		t.Errorf("failed is %v, reports: %+v", failed, got)
	}
	checkInFlight(t, o.Budget, 0, 0)
}

// TestAbort checks that an aborted response is not counted as a complete response.
func TestAbort(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		defer func() {
			if v := recover(); v != http.ErrAbortHandler {
				t.Errorf("panic %v, want http.ErrAbortHandler", v)
			}
		}()
		r := m.request()
		r.Body = aborting{}
		s.handler(hello, upstream.HandlerOptions{}).ServeHTTP(httptest.NewRecorder(), r)
	})
}

type aborting struct{}

func (aborting) Read([]byte) (int, error) { panic(http.ErrAbortHandler) }
func (aborting) Close() error             { return nil }

// TestNoUpstream checks that the constructor panics without an Upstream.
func TestNoUpstream(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		defer func() {
			if text, _ := recover().(string); text != s.name+": NewHandler: nil Upstream" {
				t.Errorf("panic %q", text)
			}
		}()
		s.handler(nil, upstream.HandlerOptions{})
	})
}
