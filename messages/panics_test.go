package messages

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// A failing upstream returns an error from every operation.
type failing struct {
	err  error
	word bool // writes a word before
}

func (f failing) Generate(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if f.word {
		_ = w.Text("a")
	}
	return f.err
}
func (f failing) CountTokens(context.Context, *upstream.Request) (upstream.TokenCount, error) {
	return upstream.TokenCount{}, f.err
}
func (f failing) Models(context.Context) ([]upstream.Model, error) { return nil, f.err }

// operations are requests for every operation.
func operations() map[string]*http.Request {
	count := post(strings.Replace(smallBody, `"max_tokens":64,`, "", 1))
	count.URL.Path = "/v1/messages/count_tokens"
	get := func(path string) *http.Request {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("anthropic-version", "2023-06-01")
		return r
	}
	return map[string]*http.Request{
		"plain": post(smallBody), "stream": post(streamBody), "count": count,
		"models": get("/v1/models"), "model": get("/v1/models/m"),
	}
}

// A hostPanic is a hook or an Upstream that panics.
type hostPanic struct {
	name string
	up   upstream.Upstream
	o    upstream.HandlerOptions
	fine bool // the answer is none the worse
}

func hostPanics() []hostPanic {
	lossy := upstream.Func(func(c context.Context, r *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}})
		return w.Text("Hello")
	})
	loading := upstream.Func(func(c context.Context, r *upstream.Request, w *upstream.Writer) error {
		done := make(chan error)
		go func() { // where a panic would end the process
			_, err := r.Load(c, &content.URL{URL: "https://a.example"})
			done <- err
		}()
		return <-done
	})
	elsewhere := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		done := make(chan error)
		go func() { // a part that no encoder can look at
			_ = w.Text("a")
			done <- w.Part(&content.Image{Source: (*content.Base64)(nil)})
		}()
		return <-done
	})
	return []hostPanic{
		{"upstream", panicking{}, upstream.HandlerOptions{}, false},
		{"authenticate", failing{}, upstream.HandlerOptions{Authenticate: func(context.Context, *http.Request, string) (context.Context, error) { panic(poison) }}, false},
		{"authenticate's error", failing{}, upstream.HandlerOptions{Authenticate: func(context.Context, *http.Request, string) (context.Context, error) {
			return nil, wrapless{}
		}}, false},
		{"resolver", loading, upstream.HandlerOptions{Links: panicking{}}, false},
		{"loss", lossy, upstream.HandlerOptions{OnLoss: func(context.Context, []content.Loss) { panic(poison) }}, true},
		{"logger", failing{err: errors.New(poison)}, upstream.HandlerOptions{Logger: slog.New(panicking{})}, false},
		{"logger and loss", lossy, upstream.HandlerOptions{Logger: slog.New(panicking{}), OnLoss: func(context.Context, []content.Loss) { panic(poison) }}, true},
		{"another goroutine", elsewhere, upstream.HandlerOptions{}, true},
		{"typed nil", failing{err: (*upstream.Error)(nil)}, upstream.HandlerOptions{}, false},
		{"typed nil, late", failing{err: (*upstream.Error)(nil), word: true}, upstream.HandlerOptions{}, false},
		{"typed nil violation", failing{err: (*content.Violation)(nil)}, upstream.HandlerOptions{}, false},
		{"error with panicking Error", failing{err: textless{}, word: true}, upstream.HandlerOptions{}, false},
		{"error with panicking Unwrap", failing{err: wrapless{}, word: true}, upstream.HandlerOptions{}, false},
		{"error with panicking As", failing{err: asless{}, word: true}, upstream.HandlerOptions{}, false},
		{"edit", upstream.Edit(failing{}, func(context.Context, *upstream.Request) (*upstream.Request, error) { panic(poison) }), upstream.HandlerOptions{}, false},
		{"tap", upstream.Tap(hello, func(context.Context, *upstream.Request, upstream.Sink) (upstream.Sink, func(error)) { panic(poison) }), upstream.HandlerOptions{}, false},
		{"sink of a tap", upstream.Tap(hello, func(context.Context, *upstream.Request, upstream.Sink) (upstream.Sink, func(error)) {
			return upstream.SinkFunc(func([]upstream.Event) error { panic(poison) }), nil
		}), upstream.HandlerOptions{}, false},
	}
}

// TestHostPanics checks panics in hooks and Upstreams, for every operation. The
// client receives a complete response or an error in the format, and there is
// exactly one report.
func TestHostPanics(t *testing.T) {
	for _, tt := range hostPanics() {
		for operation, r := range operations() {
			t.Run(tt.name+"/"+operation, func(t *testing.T) { tt.check(t, operation, r) })
		}
	}
}

func (tt *hostPanic) check(t *testing.T, operation string, r *http.Request) {
	var got []*upstream.Report
	o := Options{HandlerOptions: tt.o}
	o.Budget = new(upstream.Budget)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.OnDone = func(_ context.Context, r *upstream.Report) { got = append(got, r); panic(poison) }
	w := httptest.NewRecorder()
	NewHandler(tt.up, &o).ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), poison) || w.Header().Get("Request-Id") == "" {
		t.Errorf("%v\n%s", w.Header(), w.Body)
	}
	failed := false
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		_, kind := mustEnd(t, w.Body.String())
		failed = kind != ""
	} else if doc, err := decode(w.Body.Bytes()); err != nil {
		t.Errorf("%v\n%s", err, w.Body)
	} else {
		failed = doc["type"] == "error"
	}
	// Middleware around Generate does not apply to other operations.
	if generates := operation == "plain" || operation == "stream"; generates && failed == tt.fine {
		t.Errorf("failed is %v: %s", failed, w.Body)
	}
	if len(got) != 1 || (got[0].Code != "") != failed || (got[0].Err != nil) != failed {
		t.Errorf("failed is %v, reports: %+v", failed, got)
	}
	if n, bytes := o.Budget.InFlight(); n != 0 || bytes != 0 {
		t.Errorf("in flight: %d, %d bytes", n, bytes)
	}
}

// TestAbort checks that an aborted response is not counted as a complete
// response.
func TestAbort(t *testing.T) {
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("panic %v, want http.ErrAbortHandler", v)
		}
	}()
	r := post(smallBody)
	r.Body = aborting{}
	NewHandler(hello, nil).ServeHTTP(httptest.NewRecorder(), r)
}

type aborting struct{}

func (aborting) Read([]byte) (int, error) { panic(http.ErrAbortHandler) }
func (aborting) Close() error             { return nil }

// TestReportCode checks the error code in the report.
func TestReportCode(t *testing.T) {
	unresponsive := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		<-c.Done()
		return c.Err()
	})
	fail := func(code upstream.Code) upstream.Upstream { return failing{err: &upstream.Error{Code: code}} }
	for _, tt := range []struct {
		name string
		up   upstream.Upstream
		edit func(r *http.Request)
		want upstream.Code
	}{
		{"success", hello, func(*http.Request) {}, ""},
		{"upstream error", fail(upstream.CodeQuota), func(*http.Request) {}, upstream.CodeQuota},
		{"unknown code", fail("odd"), func(*http.Request) {}, upstream.CodeInternal},
		{"no code", fail(""), func(*http.Request) {}, upstream.CodeInternal},
		{"other error", failing{err: errors.New("x")}, func(*http.Request) {}, upstream.CodeInternal},
		{"violation", failing{err: &content.Violation{Code: content.CodeValue, Text: "x"}}, func(*http.Request) {}, upstream.CodeInvalid},
		{"late", failing{err: errors.New("x"), word: true}, func(*http.Request) {}, upstream.CodeInternal},
		{"timeout", unresponsive, func(*http.Request) {}, upstream.CodeTimeout},
		{"path", hello, func(r *http.Request) { r.URL.Path = "/" }, upstream.CodeNotFound},
		{"method", hello, func(r *http.Request) { r.Method = "PUT" }, upstream.CodeMethod},
		{"version", hello, func(r *http.Request) { r.Header.Del("Anthropic-Version") }, upstream.CodeInvalid},
		{"length", hello, func(r *http.Request) { r.ContentLength = 1 << 40 }, upstream.CodeTooLarge},
		{"disconnected client", unresponsive, func(r *http.Request) {
			c, cancel := context.WithCancel(r.Context())
			cancel()
			*r = *r.WithContext(c)
		}, upstream.CodeCanceled},
	} {
		for _, body := range []string{smallBody, streamBody} {
			var got []upstream.Code
			h := NewHandler(tt.up, &Options{HandlerOptions: upstream.HandlerOptions{
				Timeouts: upstream.Timeouts{Idle: 20 * time.Millisecond, FirstByte: 20 * time.Millisecond},
				OnDone:   func(_ context.Context, r *upstream.Report) { got = append(got, r.Code) },
			}})
			r := post(body)
			tt.edit(r)
			h.ServeHTTP(httptest.NewRecorder(), r)
			if diff := cmp.Diff([]upstream.Code{tt.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}
