package generatecontent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestKeepAlive checks the keep-alives of both framings, each in a read of its own. In
// events they are the beginning of the next event, and the first one sends the headers,
// too. In JSON they are white space.
func TestKeepAlive(t *testing.T) {
	inBubble(t, formattest.Pausing, Options{}, func(t *testing.T, p *pipeServer) {
		start := time.Now()
		res := p.send(t.Context(), t, eventsPath)
		formattest.Took(t, "the headers", time.Since(start), 15*time.Second, time.Second)
		list := reads(t, res, start)
		var got []string
		for _, r := range list {
			got = append(got, r.data[:min(len(r.data), 7)])
		}
		if diff := cmp.Diff([]string{"data: ", " ", " ", `{"candi`, "data: ", " ", `{"candi`, "data: {"}, got); diff != "" {
			t.Fatalf("reads (-want +got):\n%s\n%v", diff, list)
		}
		for i, after := range []time.Duration{15, 30, 45, 50, 65, 80, 90} {
			formattest.Took(t, fmt.Sprint("read ", i), list[i].after, after*time.Second, time.Second)
		}
		h, _ := mustHear(t, inEvents, joinedReads(list))
		if h.Pings != 3 || len(h.List) != 3 {
			t.Errorf("%d blanks in %d events", h.Pings, len(h.List))
		}
	})
	inBubble(t, formattest.Pausing, Options{}, func(t *testing.T, p *pipeServer) {
		start := time.Now()
		list := reads(t, p.send(t.Context(), t, arrayPath), start)
		if strings.TrimSpace(list[0].data) != "" || len(list) < 4 {
			t.Errorf("reads: %v", list)
		}
		formattest.Took(t, "the first white space", list[0].after, 15*time.Second, time.Second)
		mustHear(t, inArray, joinedReads(list))
	})
}

// TestErrorPause checks that both forms of an error after the first byte arrive in
// separate reads, some tens of milliseconds apart, that the connection breaks after them,
// and that the report, which is complete before, has the error.
func TestErrorPause(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Once")
		return &upstream.Error{Code: upstream.CodeUnavailable}
	})
	var log strings.Builder
	var reports []*upstream.Report
	o := Options{HandlerOptions: upstream.HandlerOptions{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
		OnDone: func(_ context.Context, r *upstream.Report) { reports = append(reports, r) },
	}}
	inBubble(t, up, o, func(t *testing.T, p *pipeServer) {
		start := time.Now()
		list := reads(t, p.send(t.Context(), t, eventsPath), start)
		const failure = `{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}` + "\r\n\r\n"
		if list = list[1:]; len(list) != 4 || list[1].data != failure || list[2].data != "data: "+failure || list[3].data != broken {
			t.Fatalf("reads: %v", list)
		}
		for i, pause := range []time.Duration{errorPause, errorPause, breakPause} {
			formattest.Took(t, "the pause", list[i+1].after-list[i].after, pause, 30*time.Millisecond)
		}
		if len(reports) != 1 || reports[0].Status != 200 || reports[0].Code != upstream.CodeUnavailable || reports[0].Duration > 150*time.Millisecond {
			t.Errorf("reports: %+v", reports)
		}
		if strings.Count(log.String(), "level=") != 1 || strings.Contains(log.String(), "panic") {
			t.Errorf("log: %s", &log)
		}
	})
	inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
		list := reads(t, p.send(t.Context(), t, arrayPath), time.Now())
		if h, _ := mustHear(t, inArray, joinedReads(list)); h.Failure == nil || len(h.List) != 2 || list[len(list)-1].data != broken {
			t.Errorf("%v", list)
		}
	})
}

// TestUnbroken checks what does not break the connection: an error before content, in a
// stream that a keep-alive has begun; a complete response; a writer that has sent nothing,
// because it cannot flush; and no server that recovers the panic.
func TestUnbroken(t *testing.T) {
	failed := &upstream.Error{Code: upstream.CodeUnavailable}
	silent := upstream.Func(func(c context.Context, _ *upstream.Request, _ *upstream.Writer) error {
		if err := formattest.Sleep(c, 20*time.Second); err != nil {
			return err
		}
		return failed
	})
	begun := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Once")
		return failed
	})
	for name, up := range map[string]upstream.Upstream{"keep-alive": silent, "complete": hello} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
				for _, path := range []string{eventsPath, arrayPath} {
					if list := reads(t, p.send(t.Context(), t, path), time.Now()); list[len(list)-1].data == broken {
						t.Errorf("%s: %v", path, list)
					}
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		withServer := context.WithValue(t.Context(), http.ServerContextKey, new(http.Server))
		for name, serve := range map[string]func(h http.Handler, w http.ResponseWriter){
			"unflushable": func(h http.Handler, w http.ResponseWriter) {
				h.ServeHTTP(struct{ http.ResponseWriter }{w}, post(eventsPath, smallBody).WithContext(withServer))
			},
			"no server": func(h http.Handler, w http.ResponseWriter) { h.ServeHTTP(w, post(eventsPath, smallBody)) },
		} {
			w := httptest.NewRecorder()
			serve(NewHandler(begun, nil), w)
			if h, err := receive(inEvents, w.Body.String()); err != nil || h.Failure == nil {
				t.Errorf("%s: %v %s", name, err, w.Body)
			}
		}
	})
}

// TestBreakClientGone checks that the pause before the break ends when the client leaves,
// and that the request is not counted in the budget then.
func TestBreakClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(context.WithValue(t.Context(), http.ServerContextKey, new(http.Server)))
		budget := new(upstream.Budget)
		var done time.Time
		h := NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("Once")
			return errors.New("x")
		}), &Options{HandlerOptions: upstream.HandlerOptions{Budget: budget, OnDone: func(context.Context, *upstream.Report) {
			done = time.Now()
			if requests, n := budget.InFlight(); requests != 0 || n != 0 {
				t.Errorf("%d requests and %d bytes are counted", requests, n)
			}
			time.AfterFunc(10*time.Millisecond, leave)
		}}})
		defer func() {
			if v := recover(); v != http.ErrAbortHandler {
				t.Errorf("panic %v, want http.ErrAbortHandler", v)
			}
			formattest.Took(t, "the pause", time.Since(done), 10*time.Millisecond, 10*time.Millisecond)
		}()
		h.ServeHTTP(httptest.NewRecorder(), post(eventsPath, smallBody).WithContext(ctx))
	})
}

// TestFailureAfterKeepAlive checks that an error first completes the event that a
// keep-alive has begun, and that the bare form follows in a separate read. If the end of a text
// is held, that completes the event.
func TestFailureAfterKeepAlive(t *testing.T) {
	const failure = `{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}` + "\r\n\r\n"
	for text, want := range map[string][]string{
		"":     {"data: ", failure, failure},
		"Once": {`data: {"candidates`, "data: ", `{"candidates":[{"content":{"role":"model","parts":[{"text":"e"}`, failure, "data: " + failure},
	} {
		t.Run(text, func(t *testing.T) {
			up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
				_ = w.Text(text)
				if err := formattest.Sleep(c, 20*time.Second); err != nil {
					return err
				}
				return &upstream.Error{Code: upstream.CodeUnavailable}
			})
			inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
				list := reads(t, p.send(t.Context(), t, eventsPath), time.Now())
				if text != "" {
					want = append(want, broken)
				}
				if !slices.EqualFunc(list, want, func(r read, want string) bool { return strings.HasPrefix(r.data, want) }) {
					t.Fatalf("reads: %v\nwant %q", list, want)
				}
				at := slices.Index(want, failure)
				formattest.Took(t, "the second form", list[at+1].after-list[at].after, 20*time.Millisecond, 80*time.Millisecond)
			})
		})
	}
}

// TestErrorPauseClientGone checks that there is no pause for a client that has left.
func TestErrorPauseClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		h := NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("Once")
			leave()
			return errors.New("x")
		}), nil)
		start := time.Now()
		h.ServeHTTP(httptest.NewRecorder(), post(eventsPath, smallBody).WithContext(ctx))
		formattest.Took(t, "the call", time.Since(start), 0, 0)
	})
}

// TestServerTimeout checks that x-server-timeout limits a request from its arrival: with
// 504 before the first byte, in the stream after it, and for countTokens.
func TestServerTimeout(t *testing.T) {
	late := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("ab")
		<-c.Done()
		return c.Err()
	})
	silent := upstream.Func(func(c context.Context, _ *upstream.Request, _ *upstream.Writer) error {
		<-c.Done()
		return context.Cause(c)
	})
	unresponsive := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
		time.Sleep(10 * time.Second)
		return nil
	})
	counter := &formattest.Able{Func: hello, Count: func(c context.Context, _ *upstream.Request) (upstream.TokenCount, error) {
		<-c.Done()
		return upstream.TokenCount{}, c.Err()
	}}
	for _, tt := range []struct {
		name, path string
		up         upstream.Upstream
		after      time.Duration
		begun      bool
	}{
		{"plain", plainPath, silent, 2 * time.Second, false},
		{"plain, half a response", plainPath, late, 2 * time.Second, false},
		{"unresponsive", plainPath, unresponsive, 3 * time.Second, false}, // a second of grace
		{"events", eventsPath, silent, 2 * time.Second, false},
		{"events, half a response", eventsPath, late, 2 * time.Second, true},
		{"counting", "/v1beta/models/m:countTokens", counter, 2 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := httptest.NewRecorder()
				r := post(tt.path, smallBody)
				r.Header.Set("x-server-timeout", "2")
				var report *upstream.Report
				h := NewHandler(tt.up, &Options{HandlerOptions: upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
				h.ServeHTTP(w, r)
				formattest.Took(t, "the call", time.Since(start), tt.after, 100*time.Millisecond)
				time.Sleep(10 * time.Second) // until the unresponsive upstream returns
				if report == nil || report.Code != upstream.CodeTimeout {
					t.Errorf("report: %+v", report)
				}
				if !tt.begun {
					checkError(t, w, 504, "DEADLINE_EXCEEDED", "Deadline expired")
					return
				}
				h2, err := receive(inEvents, w.Body.String())
				if err != nil || !strings.Contains(fmt.Sprint(h2.Failure), "DEADLINE_EXCEEDED") {
					t.Errorf("%v %s", err, w.Body)
				}
			})
		})
	}
}

// TestBreakOverNetwork checks the break with HTTP/1.1 and HTTP/2, and that middleware that
// recovers the panic can write nothing after the error.
func TestBreakOverNetwork(t *testing.T) {
	h := NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Once")
		return &upstream.Error{Code: upstream.CodeUnavailable}
	}), &Options{HandlerOptions: upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}})
	recovering := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
			http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		}()
		h.ServeHTTP(w, r)
	})
	for name, served := range map[string]http.Handler{"handler": h, "recovered": recovering} {
		for _, major := range []int{1, 2} {
			for _, path := range []string{eventsPath, arrayPath} {
				t.Run(fmt.Sprintf("%s/%d%s", name, major, path), func(t *testing.T) {
					t.Parallel()
					var log lockedLog
					s := httptest.NewUnstartedServer(served)
					s.EnableHTTP2 = major == 2
					s.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(&log, nil), slog.LevelError)
					s.StartTLS()
					defer s.Close()
					res, err := s.Client().Post(s.URL+path, "application/json", strings.NewReader(smallBody))
					if err != nil {
						t.Fatal(err)
					}
					defer res.Body.Close()
					body, err := io.ReadAll(res.Body)
					if err == nil || res.ProtoMajor != major || !strings.HasSuffix(strings.Trim(string(body), "\r\n]"), `"UNAVAILABLE"}}`) {
						t.Errorf("HTTP/%d, error %v after %s", res.ProtoMajor, err, body)
					}
					if text := log.text(); strings.Contains(text, "panic") {
						t.Errorf("the server logged %s", text)
					}
				})
			}
		}
	}
}

// A lockedLog is a log for several goroutines.
type lockedLog struct {
	mu  sync.Mutex
	log strings.Builder
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

func (l *lockedLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}
