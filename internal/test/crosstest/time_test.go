package crosstest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestKeepAlives checks that a stream sends a keep-alive every 15 seconds without an
// event, the first with the headers, and that they change nothing else. A whole response
// has none.
func TestKeepAlives(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		s.inBubble(t, formattest.Pausing, upstream.HandlerOptions{}, func(t *testing.T, b *bubble) {
			start := time.Now()
			res, err := b.send(t, t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			first := 90 * time.Second
			if m.stream {
				first = 15 * time.Second
			}
			formattest.Took(t, "the headers", time.Since(start), first, time.Second)
			a := s.receive(t, m, res)
			want := []string{`"abcd"`}
			if m.stream {
				want = s.deltas
			}
			for _, text := range want {
				if a.word != "" || !strings.Contains(a.body, text) {
					t.Errorf("%s %s; want %s", a.word, a.body, text)
				}
			}
			if a.pings != m.pings {
				t.Errorf("%d keep-alives in\n%s", a.pings, a.body)
			}
		})
	})
}

// TestTimeouts checks the timeouts for streams and whole responses, and their errors.
func TestTimeouts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		up    upstream.Upstream
		after time.Duration
		times upstream.Timeouts
	}{
		{"first byte", upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}}) // is not an event of the response
			<-c.Done()
			return context.Cause(c)
		}), 10 * time.Minute, upstream.Timeouts{}},
		{"silence", waiting{begun: true}, 5 * time.Minute, upstream.Timeouts{}},
		{"total", upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for {
				if err := w.Text("ab"); err != nil {
					return err
				}
				if err := formattest.Sleep(c, 20*time.Second); err != nil {
					return err
				}
			}
		}), time.Hour, upstream.Timeouts{}},
		{"short", waiting{}, 300 * time.Millisecond, upstream.Timeouts{FirstByte: 300 * time.Millisecond}},
	} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			t.Run(tt.name, func(t *testing.T) {
				var seen probe
				o := seen.options()
				o.Timeouts = tt.times
				s.inBubble(t, tt.up, o, func(t *testing.T, b *bubble) {
					start := time.Now()
					a := b.ask(t, m)
					formattest.Took(t, "the call", time.Since(start), tt.after, 1400*time.Millisecond) // grace, and pauses before and after an error
					a.wants(t, s.failure(upstream.CodeTimeout), "")
					if a.status == http.StatusOK && !m.stream {
						t.Errorf("status %d", a.status)
					}
					if r := seen.one(t); r.Status != a.status || r.Code != upstream.CodeTimeout {
						t.Errorf("report: %+v", r)
					}
				})
			})
		})
	}
}

// TestSlowReader writes without end to a client that does not read.
func TestSlowReader(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		if !m.stream {
			return
		}
		taken, failed := 0, time.Time{}
		piece := strings.Repeat("x", 1<<10)
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for {
				if err := w.Text(piece); err != nil {
					failed = time.Now()
					return err
				}
				taken++
			}
		})
		var seen probe
		s.inBubble(t, up, seen.options(), func(t *testing.T, b *bubble) {
			start := time.Now()
			c, err := b.Dial()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() { _, _ = io.WriteString(c, m.withBody(m.body)) }()
			time.Sleep(time.Minute)
			synctest.Wait()
			formattest.Took(t, "giving up", failed.Sub(start), 30*time.Second, 2*time.Second)
			if taken > 16 {
				t.Errorf("%d KB were accepted for a client that does not read", taken)
			}
			if r := seen.one(t); r.Err == nil {
				t.Errorf("report: %+v", r)
			}
		})
	})
}

// TestSlowButSteady checks that a client that reads slowly for a long time gets the whole
// response.
func TestSlowButSteady(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 100 {
			if err := w.Text("x"); err != nil {
				return err
			}
		}
		return nil
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		s.inBubble(t, up, upstream.HandlerOptions{}, func(t *testing.T, b *bubble) {
			res, err := b.send(t, t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			body := res.Body
			defer body.Close()
			var all strings.Builder
			for b := bufio.NewReader(body); ; {
				line, err := b.ReadString('\n')
				all.WriteString(line)
				if err != nil {
					break
				}
				time.Sleep(time.Second)
			}
			res.Body = io.NopCloser(strings.NewReader(all.String()))
			if a := s.receive(t, m, res); a.word != "" || strings.Count(a.body, "x") < 100 {
				t.Errorf("%s %s", a.word, a.body)
			}
		})
	})
}

// TestClientLeaves checks that the context of the upstream ends at once when the client
// disconnects.
func TestClientLeaves(t *testing.T) {
	for _, begun := range []bool{false, true} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			var ended time.Time
			up := upstream.Func(func(c context.Context, r *upstream.Request, w *upstream.Writer) error {
				defer func() { ended = time.Now() }()
				return waiting{begun: begun}.Generate(c, r, w)
			})
			var seen probe
			s.inBubble(t, up, seen.options(), func(t *testing.T, b *bubble) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				start := time.Now()
				res, err := b.send(t, ctx, m)
				if err == nil {
					_, err = io.ReadAll(res.Body)
				}
				if err == nil {
					t.Fatal("no error")
				}
				time.Sleep(time.Second)
				synctest.Wait()
				formattest.Took(t, "noticing", ended.Sub(start), 10*time.Second, time.Second)
				want := 499
				if begun && m.stream {
					want = 200
				}
				if r := seen.one(t); r.Status != want || r.Code != upstream.CodeCanceled {
					t.Errorf("report: %+v", r)
				}
			})
		})
	}
}

// TestUnresponsiveUpstream checks that an upstream that ignores its context does not delay
// the handler, and that its request stays in the budget until it returns.
func TestUnresponsiveUpstream(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var late error
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("ab")
			time.Sleep(time.Hour)
			late = w.Text("late")
			return nil
		})
		var seen probe
		o := seen.options()
		s.inBubble(t, up, o, func(t *testing.T, b *bubble) {
			start := time.Now()
			a := b.ask(t, m)
			formattest.Took(t, "giving up", time.Since(start), 5*time.Minute, 3*time.Second)
			a.wants(t, s.failure(upstream.CodeTimeout), "")
			seen.one(t)
			checkInFlight(t, o.Budget, 1, int64(len(m.body)))
			time.Sleep(time.Hour)
			synctest.Wait()
			checkInFlight(t, o.Budget, 0, 0)
			if late == nil {
				t.Error("text after the end of the response was accepted")
			}
		})
	})
}

// TestPanics checks that a panic of the upstream at any stage ends only the response.
func TestPanics(t *testing.T) {
	text := func(w *upstream.Writer) { _ = w.Text("ab") }
	for _, tt := range []struct {
		name string
		up   upstream.Func
	}{
		{"immediately", func(context.Context, *upstream.Request, *upstream.Writer) error { panic("secret") }},
		{"nil", func(context.Context, *upstream.Request, *upstream.Writer) error { panic(nil) }},
		{"goexit", func(context.Context, *upstream.Request, *upstream.Writer) error { runtime.Goexit(); return nil }},
		{"abort", func(context.Context, *upstream.Request, *upstream.Writer) error { panic(http.ErrAbortHandler) }},
		{"after text", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { text(w); panic("secret") }},
		{"in a tool call", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.ToolCall("a", "b").Input("{")
			panic(errors.New("secret"))
		}},
		{"while others write", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			go func() {
				for w.Text("b") == nil {
					time.Sleep(time.Millisecond)
				}
			}()
			time.Sleep(time.Second)
			panic("secret")
		}},
	} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			t.Run(tt.name, func(t *testing.T) {
				var seen probe
				o := seen.options()
				s.inBubble(t, tt.up, o, func(t *testing.T, b *bubble) {
					a := b.ask(t, m)
					a.wants(t, s.failure(upstream.CodeInternal), "")
					if strings.Contains(a.body, "secret") {
						t.Errorf("response: %s", a.body)
					}
					if r := seen.one(t); r.Code != upstream.CodeInternal {
						t.Errorf("report: %+v", r)
					}
					checkInFlight(t, o.Budget, 0, 0)
					time.Sleep(time.Second) // for those that still write
				})
			})
		})
	}
}

// TestManyWriters writes from several goroutines, during Generate and after.
func TestManyWriters(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var late sync.WaitGroup
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 50 {
						_ = w.Text("x")
					}
				})
				late.Go(func() {
					for w.Thinking("y") == nil {
						time.Sleep(time.Millisecond)
					}
				})
			}
			wg.Wait()
			return nil
		})
		s.inBubble(t, up, upstream.HandlerOptions{}, func(t *testing.T, b *bubble) {
			if a := b.ask(t, m); a.word != "" {
				t.Errorf("error %s", a.word)
			}
			late.Wait()
		})
	})
}

// TestCountTimes checks that the time to count tokens is limited, and that counting ends
// when the client disconnects.
func TestCountTimes(t *testing.T) {
	eachCounting(t, func(t *testing.T, s wireFormat) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			gone := false
			up := &formattest.Able{Count: func(ctx context.Context, _ *upstream.Request) (upstream.TokenCount, error) {
				if gone {
					cancel()
				}
				<-ctx.Done()
				return upstream.TokenCount{}, context.Cause(ctx)
			}}
			var seen probe
			h := s.handler(up, seen.options())
			start := time.Now()
			s.serve(t, h, mode{}, s.counting()).wants(t, s.failure(upstream.CodeTimeout), "")
			formattest.Took(t, "the count", time.Since(start), 10*time.Minute, 0)
			seen, gone = nil, true
			h.ServeHTTP(httptest.NewRecorder(), s.counting().WithContext(ctx))
			if r := seen.one(t); r.Status != 499 || r.Mode != "count" || r.Model != "m" {
				t.Errorf("report: %+v", r)
			}
		})
	})
}

// TestIdleStreamCost checks the memory and goroutines of streams that wait.
func TestIdleStreamCost(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		if m.stream {
			formattest.IdleStreams(t, func(up upstream.Upstream) http.Handler { return s.handler(up, upstream.HandlerOptions{}) }, m.request)
		}
	})
}

// BenchmarkSlowStreams measures the memory of 2,000 streams that wait for their upstream, each
// after a text of 16 KB in 1,000 pieces.
func BenchmarkSlowStreams(b *testing.B) {
	texts := slices.Repeat([]string{" and then the te"}, 1000)
	for _, s := range wireFormats {
		b.Run(s.name, func(b *testing.B) {
			var bytes float64
			for range b.N {
				bytes, _ = formattest.HeldStreams(2000, texts, func(up upstream.Upstream) http.Handler { return s.handler(up, upstream.HandlerOptions{}) }, s.modes[1].request)
			}
			b.ReportMetric(bytes/1024, "KiB/stream")
		})
	}
}
