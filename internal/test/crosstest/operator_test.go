package crosstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// An operator serves an upstream on loopback and records reports and logs.
type operator struct {
	format  wireFormat
	handler handler
	reports chan *upstream.Report
	log     *bytes.Buffer // one line per entry; read after the report
}

// newOperator returns an operator of a handler with the given options.
func newOperator(s wireFormat, up upstream.Upstream, options upstream.HandlerOptions) *operator {
	o := &operator{format: s, reports: make(chan *upstream.Report, 10), log: new(bytes.Buffer)}
	options.OnDone = func(_ context.Context, r *upstream.Report) { o.reports <- r }
	options.Logger = slog.New(slog.NewTextHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.handler = s.handler(up, options)
	return o
}

// serve serves h, which is the operator's handler or wraps it.
func (o *operator) serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// report waits for the report of a request.
func (o *operator) report(t *testing.T) *upstream.Report {
	t.Helper()
	select {
	case r := <-o.reports:
		return r
	case <-time.After(10 * time.Second):
		t.Fatal("no report")
		return nil
	}
}

// request returns the path and body of a request for a stream or a whole response.
func (o *operator) request(stream bool) (path, body string) {
	m := o.format.modes[0]
	if stream {
		m = o.format.modes[1]
	}
	return m.path, m.body
}

// withDeadline wraps a handler in middleware that sets a deadline, like chi's
// Timeout.
func withDeadline(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 50*time.Millisecond)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// TestHostStops checks the response, log and report of a request whose context
// the host ends: by a deadline in middleware, or by canceling it with a cause.
func TestHostStops(t *testing.T) {
	plain := func(h http.Handler) http.Handler { return h }
	cancels := func(cause error) func(http.Handler) http.Handler {
		return func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithCancelCause(r.Context())
				defer time.AfterFunc(50*time.Millisecond, func() { cancel(cause) }).Stop()
				h.ServeHTTP(w, r.WithContext(ctx))
			})
		}
	}
	const deadline = "the deadline that the host set (http.TimeoutHandler, timeout middleware or context.WithTimeout around the handler) passed after "
	const canceled = "the host canceled the context of the request"
	for _, tt := range []struct {
		name     string
		wrap     func(http.Handler) http.Handler
		auth     func(context.Context, *http.Request, string) (context.Context, error)
		asis     bool   // the upstream returns its own error
		status   int    // before the first byte
		words    string // in the response; empty: those of a timeout
		code     upstream.Code
		cause    string
		buffered bool // the wrapper buffers the response and may replace it
	}{
		{name: "http.TimeoutHandler", wrap: func(h http.Handler) http.Handler { return http.TimeoutHandler(h, 50*time.Millisecond, "") },
			status: 503, words: "Timeout", code: upstream.CodeTimeout, cause: deadline, buffered: true},
		{name: "context.WithTimeout", wrap: withDeadline, status: 504, code: upstream.CodeTimeout, cause: deadline},
		{name: "own error of an upstream", wrap: withDeadline, asis: true, status: 504, code: upstream.CodeTimeout, cause: deadline},
		{name: "Authenticate", wrap: plain, auth: func(ctx context.Context, _ *http.Request, _ string) (context.Context, error) {
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			context.AfterFunc(ctx, cancel)
			return ctx, nil
		}, status: 504, code: upstream.CodeTimeout, cause: deadline},
		{name: "cause", wrap: cancels(errors.New("cause of the host")), status: 503, words: "unavailable", code: upstream.CodeUnavailable, cause: canceled + ": cause of the host"},
		{name: "cause with Text", wrap: cancels(&upstream.Error{Code: upstream.CodeOverloaded, Text: "please come back"}), words: "please come back",
			code: upstream.CodeOverloaded, cause: canceled},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			for _, begun := range []bool{false, true} {
				for _, stream := range []bool{false, true} {
					t.Run(tt.name, func(t *testing.T) {
						up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
							if begun {
								if err := w.Text("begun."); err != nil {
									return err
								}
							}
							<-ctx.Done()
							if tt.asis {
								return errors.New("secret: the database has closed")
							}
							return ctx.Err()
						})
						o := newOperator(s, up, upstream.HandlerOptions{Authenticate: tt.auth})
						path, body := o.request(stream)
						res, answer := send(t, o.serve(t, tt.wrap(o.handler)).URL+path, body)
						r := o.report(t)
						status, words := tt.status, tt.words
						if status == 0 {
							status = s.failure(tt.code).status
						}
						if words == "" {
							words = s.failure(tt.code).word
						}
						inBand := begun && stream && !tt.buffered
						if inBand {
							status = 200
							if tt.words == "" && s.codedEvents {
								words = s.failure(tt.code).code
							}
						}
						if res.StatusCode != status || !strings.Contains(answer, words) || inBand && !strings.Contains(answer, "begun") || strings.Contains(answer, "secret") {
							t.Errorf("stream %v, begun %v: %d %s, want %d and %q", stream, begun, res.StatusCode, answer, status, words)
						}
						if r.Code != tt.code || !strings.Contains(r.Err.Error(), tt.cause) {
							t.Errorf("stream %v, begun %v: the report has %q: %v", stream, begun, r.Code, r.Err)
						}
						// If a wrapper responds itself, the handler cannot know
						// whether it was first.
						if !tt.buffered && r.Status != status {
							t.Errorf("stream %v, begun %v: the report has status %d, want %d", stream, begun, r.Status, status)
						}
						log := o.log.String()
						if !strings.Contains(log, "level=WARN msg=\"request failed\" code="+string(tt.code)) || !strings.Contains(log, tt.cause) {
							t.Errorf("stream %v, begun %v: log:\n%s", stream, begun, log)
						}
					})
				}
			}
		})
	}
}

// TestHostStopsUpload checks that a host that ends the context of a request
// also ends reading its body, and that log and report have the reason.
func TestHostStopsUpload(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newOperator(s, &model{}, upstream.HandlerOptions{})
		server := o.serve(t, withDeadline(o.handler))
		path, body := o.request(false)
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: h\r\nAnthropic-Version: 2023-06-01\r\nContent-Length: 1000\r\n\r\n"+body)
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		b, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 504 ") {
			t.Errorf("%v %s", err, b)
		}
		if r := o.report(t); r.Code != upstream.CodeTimeout || r.Status != 504 {
			t.Errorf("the report has %q and %d: %v", r.Code, r.Status, r.Err)
		}
	})
}

// TestReasons checks that log and report have the reason why a handler rejects
// a request for its headers, method or path, and that they quote no client.
func TestReasons(t *testing.T) {
	keys := upstream.Keys("sk-right")
	for _, tt := range []struct {
		name, method string
		header       [][2]string // a key is added if it has none
		format       string      // empty: all
		code         upstream.Code
		want         string
		key          int // index of the error
	}{
		{"no version", "POST", [][2]string{{"Anthropic-Version", ""}}, "messages", "invalid", "anthropic-version: header is required", 0},
		{"unknown version", "POST", [][2]string{{"Anthropic-Version", "hidden"}}, "messages", "invalid", "anthropic-version: unknown version", 0},
		{"server timeout", "POST", [][2]string{{"X-Server-Timeout", "hidden"}}, "generatecontent", "invalid", "x-server-timeout: must be a number of seconds", 0},
		{"gzip", "POST", [][2]string{{"Content-Encoding", "gzip"}}, "", "invalid", "the body has a Content-Encoding", 0},
		{"form", "POST", [][2]string{{"Content-Type", "text/hidden"}}, "", "invalid", "the Content-Type is not application/json", 0},
		{"charset", "POST", [][2]string{{"Content-Type", "application/json; charset=hidden"}}, "", "invalid", "the charset of the body is not UTF-8", 0},
		{"method", "PUT", nil, "", "method", "the method is PUT instead of POST", 0},
		{"long method", "HIDDEN" + strings.Repeat("X", 50), nil, "", "method", "the method is HIDDENXXXXXXX… instead of POST", 0},
		{"no key", "POST", [][2]string{{"Authorization", "Basic hidden"}}, "", "unauthenticated", "the request has no key", noKey},
		{"wrong key", "POST", [][2]string{{"Authorization", "Bearer hidden"}}, "", "unauthenticated", "the key is not valid", badKey},
		{"two keys", "POST", [][2]string{{"Authorization", "Bearer hidden"}, {"X-Api-Key", "sk-right"}, {"X-Goog-Api-Key", "sk-right"}, {"Api-Key", "sk-right"}}, "",
			"unauthenticated", "the request has two keys that differ", twoKeys},
		{"too large", "POST", nil, "", "too_large", "Limits.Body is 20", 0},
		{"path", "POST", nil, "", "not_found", "there is nothing at this path", 0},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			if tt.format != "" && tt.format != s.name {
				return
			}
			serving := upstream.HandlerOptions{Authenticate: keys}
			if tt.name == "too large" {
				serving.Limits.Body = 20
			}
			o := newOperator(s, &model{}, serving)
			path, body := o.request(false)
			if tt.name == "path" {
				path = "/hidden/place"
			}
			r := httptest.NewRequest(tt.method, path, strings.NewReader(body))
			r.Header.Set("Anthropic-Version", "2023-06-01")
			shown := false
			for _, h := range tt.header {
				r.Header.Set(h[0], h[1])
				shown = shown || h[0] == "Authorization"
			}
			if !shown {
				r.Header.Set("Authorization", "Bearer sk-right")
			}
			w := httptest.NewRecorder()
			o.handler.ServeHTTP(w, r)
			report := o.report(t)
			status := s.failure(tt.code).status
			if tt.key != 0 {
				status = keyErrors[s.name][tt.key].status
			}
			if w.Code != status || report.Code != tt.code || !strings.Contains(report.Err.Error(), tt.want) {
				t.Errorf("%s: %d, want %d; the report has %q: %v", tt.name, w.Code, status, report.Code, report.Err)
			}
			log := strings.ReplaceAll(o.log.String(), "path=/hidden/place", "")
			if !strings.Contains(log, tt.want) || !strings.Contains(log, "level=DEBUG") || strings.Contains(log, "hidden") || strings.Contains(log, "sk-") {
				t.Errorf("%s: log: %s", tt.name, log)
			}
		})
	}
}

// TestUnknownCodes checks that an upstream's error with no Code or an unknown
// one is internal, and that log and report name the mistake.
func TestUnknownCodes(t *testing.T) {
	for code, want := range map[upstream.Code]string{
		"":                    `an upstream.Error with the unknown Code ""`,
		"weird":               `an upstream.Error with the unknown Code "weird"`,
		upstream.CodeCanceled: `an upstream.Error with the unknown Code "canceled"`,
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			for _, begun := range []bool{false, true} {
				o := newOperator(s, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
					if begun {
						_ = w.Text("begun.")
					}
					return &upstream.Error{Code: code, Text: "x", Err: errors.New("cause")}
				}), upstream.HandlerOptions{})
				path, body := o.request(begun)
				status, answer, _ := post(t, o.handler, path, body)
				report := o.report(t)
				if begun == (status == 500) || !strings.Contains(answer, `"x"`) {
					t.Errorf("%q: %d %s", code, status, answer)
				}
				if report.Code != upstream.CodeInternal || !strings.Contains(report.Err.Error(), want+": cause") {
					t.Errorf("%q: the report has %q: %v", code, report.Code, report.Err)
				}
				if log := o.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(strings.ReplaceAll(log, `\"`, `"`), want+": cause") {
					t.Errorf("%q: log: %s", code, log)
				}
			}
		})
	}
}

// A typedNil is an error whose methods panic on nil.
type typedNil struct{ text string }

func (e *typedNil) Error() string { return e.text }
func (e *typedNil) Unwrap() error { return errors.New(e.text) }

// TestRefusals checks that a rejection, by the handler or by middleware through
// WriteError, keeps the connection of a client that has sent its body, and that
// it is logged and reported.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		code  upstream.Code
		level string
	}{
		{"no key", upstream.ErrNoKey, upstream.CodeUnauthenticated, "DEBUG"},
		{"wrong key", upstream.ErrBadKey, upstream.CodeUnauthenticated, "DEBUG"},
		{"not allowed", &upstream.Error{Code: upstream.CodePermission, Err: errors.New("cause")}, upstream.CodePermission, "DEBUG"},
		{"too fast", &upstream.Error{Code: upstream.CodeRateLimit, Err: errors.New("cause")}, upstream.CodeRateLimit, "WARN"},
		{"broken host", errors.New("cause"), upstream.CodeInternal, "ERROR"},
		{"typed nil", (*typedNil)(nil), upstream.CodeInternal, "ERROR"},
	} {
		for _, middleware := range []bool{false, true} {
			eachFormat(t, func(t *testing.T, s wireFormat) {
				o := newOperator(s, &model{}, upstream.HandlerOptions{
					Authenticate: func(ctx context.Context, _ *http.Request, _ string) (context.Context, error) { return ctx, tt.err },
				})
				var h http.Handler = o.handler
				if middleware {
					h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.handler.WriteError(w, r, tt.err) })
				}
				server := httptest.NewUnstartedServer(h)
				var connections atomic.Int32
				server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
					if s == http.StateNew {
						connections.Add(1)
					}
				}
				server.Start()
				defer server.Close()
				path, body := o.request(false)
				for range 3 {
					res, _ := send(t, server.URL+path, body)
					r := o.report(t)
					id := res.Header.Get("Request-Id") + res.Header.Get("X-Request-Id")
					if r.Code != tt.code || r.Status != res.StatusCode || r.ID != id || r.Err == nil || r.Method != "POST" || r.Path == "" {
						t.Errorf("%s, %v: %d, report %+v", tt.name, middleware, res.StatusCode, r)
					}
					if log := o.log.String(); !strings.Contains(log, "level="+tt.level) || !strings.Contains(log, "cause=") || !strings.Contains(log, "request="+id) {
						t.Errorf("%s, %v: log: %s", tt.name, middleware, log)
					}
					o.log.Reset()
				}
				if n := connections.Load(); n != 1 {
					t.Errorf("%s, %v: %d connections for 3 requests, want 1", tt.name, middleware, n)
				}
			})
		}
	}
}

// A bufferingWriter is a writer of middleware that cannot flush and has no
// Unwrap.
type bufferingWriter struct{ http.ResponseWriter }

// TestWriterWithoutFlush checks that a handler logs once, with the type of the
// writer, if the writer cannot flush its streams.
func TestWriterWithoutFlush(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for name, tt := range map[string]struct {
			wrap  func(w http.ResponseWriter) http.ResponseWriter
			lines int
		}{
			"writer with Flush":    {func(w http.ResponseWriter) http.ResponseWriter { return w }, 0},
			"writer without Flush": {func(w http.ResponseWriter) http.ResponseWriter { return bufferingWriter{w} }, 1},
			"writer with Unwrap":   {func(w http.ResponseWriter) http.ResponseWriter { return unwrappingWriter{bufferingWriter{w}} }, 0},
			"http.TimeoutHandler":  {nil, 1},
		} {
			o := newOperator(s, &model{}, upstream.HandlerOptions{})
			h := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.handler.ServeHTTP(tt.wrap(w), r) }))
			if tt.wrap == nil {
				h = http.TimeoutHandler(o.handler, time.Minute, "")
			}
			server := o.serve(t, h)
			for _, stream := range []bool{false, true, true} {
				path, body := o.request(stream)
				if res, answer := send(t, server.URL+path, body); res.StatusCode != 200 || !strings.Contains(answer, "ok") {
					t.Errorf("%s: %d %s", name, res.StatusCode, answer)
				}
				o.report(t)
			}
			log := o.log.String()
			if n := strings.Count(log, "level=WARN"); n != tt.lines || n > 0 && !(strings.Contains(log, "cannot flush") && strings.Contains(log, "writer=")) {
				t.Errorf("%s: log:\n%s", name, log)
			}
		}
	})
}

// An unwrappingWriter has the method that http.NewResponseController looks for.
type unwrappingWriter struct{ bufferingWriter }

func (u unwrappingWriter) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// A lister is a model that lists models, waits for its context to end, or
// fails.
type lister struct {
	*model
	list []upstream.Model
	err  error
	wait bool
}

func (l *lister) Models(ctx context.Context) ([]upstream.Model, error) {
	if l.wait {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return l.list, l.err
}

// TestModelsGap checks that the list of models of several vendors omits a
// vendor that is down or unresponsive, and that log, report and header show
// that.
func TestModelsGap(t *testing.T) {
	for name, tt := range map[string]struct {
		broken *lister
		code   string
		cause  string
	}{
		"down": {&lister{err: &upstream.Error{Code: upstream.CodeUnavailable, Upstream: "acme", Err: errors.New("acme: connection refused")}},
			"unavailable", "acme: connection refused"},
		"waits":   {&lister{wait: true}, "timeout", "the models were not listed within 10s"},
		"untyped": {&lister{err: errors.New("broken")}, "internal", "broken"},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			synctest.Test(t, func(t *testing.T) {
				up := &upstream.Mux{}
				up.Handle("a-*", tt.broken)
				up.Handle("b-*", &lister{list: []upstream.Model{{ID: "b-1"}}})
				o := newOperator(s, up, upstream.HandlerOptions{})
				for _, path := range []string{"/v1/models", "/v1beta/models/b-1"} {
					r := httptest.NewRequest("GET", path, nil)
					if s.name == "messages" {
						r.Header.Set("Anthropic-Version", "2023-06-01")
					}
					w := httptest.NewRecorder()
					o.handler.ServeHTTP(w, r)
					if w.Code != 200 || !strings.Contains(w.Body.String(), `b-1"`) || w.Header().Get("Polywire-Loss") != "dropped models" {
						t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
					}
					if report := o.report(t); len(report.Losses) != 1 || report.Losses[0].Path != "models" || report.Code != "" {
						t.Errorf("%s: report %+v", name, report)
					}
					log := o.log.String()
					if strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "code="+tt.code) || !strings.Contains(log, tt.cause) {
						t.Errorf("%s: log: %s", name, log)
					}
					o.log.Reset()
				}
			})
		})
	}
}

// A request that Authenticate refuses is reported with the context that it returned, so that
// a host knows which client it has refused.
func TestRefusedContext(t *testing.T) {
	type clientKey struct{}
	limit := &upstream.Error{Code: upstream.CodeRateLimit, Text: "used up"}
	for _, tt := range []struct {
		name         string
		authenticate func(ctx context.Context) (context.Context, error)
		want         any // client in the context
		status       int
	}{
		{"context and error", func(ctx context.Context) (context.Context, error) {
			return context.WithValue(ctx, clientKey{}, "ada"), limit
		}, "ada", http.StatusTooManyRequests},
		{"error", func(context.Context) (context.Context, error) { return nil, limit }, nil, http.StatusTooManyRequests},
		{"context that is not derived", func(context.Context) (context.Context, error) {
			return context.WithValue(context.Background(), clientKey{}, "ada"), limit
		}, "ada", http.StatusTooManyRequests},
		{"panic", func(context.Context) (context.Context, error) { panic("authenticate") }, nil, http.StatusInternalServerError},
		{"body refused later", func(ctx context.Context) (context.Context, error) {
			return context.WithValue(ctx, clientKey{}, "ada"), nil
		}, "ada", http.StatusBadRequest},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			for _, path := range s.paths() {
				var client any
				var id, reported string
				h := s.handler(echo.New(), upstream.HandlerOptions{
					Logger: slog.New(slog.DiscardHandler),
					Authenticate: func(ctx context.Context, _ *http.Request, _ string) (context.Context, error) {
						return tt.authenticate(ctx)
					},
					OnDone: func(ctx context.Context, r *upstream.Report) {
						client, id, reported = ctx.Value(clientKey{}), upstream.RequestID(ctx), r.ID
					},
				})
				w := httptest.NewRecorder()
				h.ServeHTTP(w, newRequest("POST", path, "{"))
				if w.Code != tt.status || client != tt.want || id == "" || id != reported {
					t.Errorf("%s, %s: status %d, client %v, request id %q; want %d, %v, %q", tt.name, path, w.Code, client, id, tt.status, tt.want, reported)
				}
			}
		})
	}
}
