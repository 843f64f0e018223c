package messages

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

func TestPings(t *testing.T) {
	up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := formattest.Sleep(c, 50*time.Second); err != nil {
			return err
		}
		_ = w.Text("a")
		if err := formattest.Sleep(c, 20*time.Second); err != nil {
			return err
		}
		return w.Text("b")
	})
	inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
		start := time.Now()
		res, err := p.send(t, t.Context(), streamBody)
		if err != nil {
			t.Fatal(err)
		}
		formattest.Took(t, "the first sign of life", time.Since(start), 15*time.Second, time.Second)
		stream, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		a, kind := mustEnd(t, string(stream))
		if a.pings != 4 || kind != "" {
			t.Errorf("%d pings, error %q; want 4 pings\n%s", a.pings, kind, stream)
		}
	})
	inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
		res, body := p.mustSend(t, smallBody)
		if res.StatusCode != 200 || !strings.Contains(body, `"ab"`) {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	})
}

// TestLimits checks the timeouts, for streams and whole responses.
func TestLimits(t *testing.T) {
	wait := func(c context.Context) error { <-c.Done(); return context.Cause(c) }
	for _, tt := range []struct {
		name  string
		up    upstream.Func
		after time.Duration
		times upstream.Timeouts
	}{
		{"first byte", func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}}) // is not an event of the response
			return wait(c)
		}, 10 * time.Minute, upstream.Timeouts{}},
		{"silence", func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("a")
			return wait(c)
		}, 5 * time.Minute, upstream.Timeouts{}},
		{"total", func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for {
				if err := w.Text("a"); err != nil {
					return err
				}
				if err := formattest.Sleep(c, 20*time.Second); err != nil {
					return err
				}
			}
		}, time.Hour, upstream.Timeouts{}},
		{"short", func(c context.Context, _ *upstream.Request, w *upstream.Writer) error { return wait(c) },
			300 * time.Millisecond, upstream.Timeouts{FirstByte: 300 * time.Millisecond}},
	} {
		for _, body := range []string{smallBody, streamBody} {
			t.Run(tt.name, func(t *testing.T) {
				var seen probe
				o := Options{HandlerOptions: seen.serving()}
				o.Timeouts = tt.times
				inBubble(t, tt.up, o, func(t *testing.T, p *pipeServer) {
					start := time.Now()
					res, answer := p.mustSend(t, body)
					formattest.Took(t, "the call", time.Since(start), tt.after, time.Second)
					if res.StatusCode == http.StatusOK {
						if _, kind := mustEnd(t, answer); kind != "timeout_error" || body == smallBody {
							t.Errorf("error %q\n%s", kind, answer)
						}
					} else {
						res.Body = io.NopCloser(strings.NewReader(answer))
						checkError(t, res, 504, "timeout_error", "", "")
					}
					if r := seen.one(t); r.Status != res.StatusCode || r.Err == nil {
						t.Errorf("report: %+v", r)
					}
				})
			})
		}
	}
}

// TestSlowReader writes without end to a client that does not read.
func TestSlowReader(t *testing.T) {
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
	inBubble(t, up, Options{HandlerOptions: seen.serving()}, func(t *testing.T, p *pipeServer) {
		start := time.Now()
		c, err := p.Dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go fmt.Fprintf(c, "POST /v1/messages HTTP/1.1\r\nHost: x\r\nanthropic-version: 2023-06-01\r\nContent-Length: %d\r\n\r\n%s",
			len(streamBody), streamBody)
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
}

// TestSlowButSteady checks that a client that reads slowly for a long time gets the
// whole response.
func TestSlowButSteady(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 100 {
			if err := w.Text("x"); err != nil {
				return err
			}
		}
		return nil
	})
	inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
		res, err := p.send(t, t.Context(), streamBody)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var all strings.Builder
		for b := bufio.NewReader(res.Body); ; {
			line, err := b.ReadString('\n')
			all.WriteString(line)
			if err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if _, kind := mustEnd(t, all.String()); kind != "" {
			t.Errorf("error %q", kind)
		}
	})
}

// TestClientLeaves checks that the context of the upstream ends immediately when the
// client disconnects.
func TestClientLeaves(t *testing.T) {
	for _, tt := range []struct {
		name  string
		body  string
		early bool // before the first byte
	}{
		{"plain", smallBody, true},
		{"stream, before the first event", streamBody, true},
		{"stream, after the first event", streamBody, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ended time.Time
			up := upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
				if !tt.early {
					_ = w.Text("a")
				}
				<-c.Done()
				ended = time.Now()
				return c.Err()
			})
			var seen probe
			inBubble(t, up, Options{HandlerOptions: seen.serving()}, func(t *testing.T, p *pipeServer) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				start := time.Now()
				res, err := p.send(t, ctx, tt.body)
				if err == nil {
					_, err = io.ReadAll(res.Body)
				}
				if err == nil {
					t.Fatal("no error")
				}
				time.Sleep(time.Second)
				synctest.Wait()
				formattest.Took(t, "noticing", ended.Sub(start), 10*time.Second, time.Second)
				want := 200
				if tt.early {
					want = 499
				}
				if r := seen.one(t); r.Status != want || r.Err == nil {
					t.Errorf("report: %+v", r)
				}
			})
		})
	}
}

// TestUnresponsiveUpstream checks that an upstream that ignores its context does not delay
// the handler, and that its request stays in the budget until it returns.
func TestUnresponsiveUpstream(t *testing.T) {
	for _, body := range []string{smallBody, streamBody} {
		var late error
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("a")
			time.Sleep(time.Hour)
			late = w.Text("late")
			return nil
		})
		var seen probe
		o := Options{HandlerOptions: seen.serving()}
		o.Budget = new(upstream.Budget)
		inBubble(t, up, o, func(t *testing.T, p *pipeServer) {
			start := time.Now()
			_, answer := p.mustSend(t, body)
			formattest.Took(t, "giving up", time.Since(start), 5*time.Minute, 3*time.Second)
			if !strings.Contains(answer, "timeout_error") {
				t.Errorf("response: %s", answer)
			}
			seen.one(t)
			if n, bytes := o.Budget.InFlight(); n != 1 || bytes != int64(len(body)) {
				t.Errorf("in flight: %d, %d bytes", n, bytes)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if n, bytes := o.Budget.InFlight(); n != 0 || bytes != 0 {
				t.Errorf("in flight at the end: %d, %d bytes", n, bytes)
			}
			if late == nil {
				t.Error("what came late was taken")
			}
		})
	}
}

// TestPanics checks that a panic at any stage ends only the response.
func TestPanics(t *testing.T) {
	text := func(w *upstream.Writer) { _ = w.Text("a") }
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
		for _, body := range []string{smallBody, streamBody} {
			t.Run(tt.name, func(t *testing.T) {
				var seen probe
				o := Options{HandlerOptions: seen.serving()}
				o.Budget = new(upstream.Budget)
				inBubble(t, tt.up, o, func(t *testing.T, p *pipeServer) {
					res, answer := p.mustSend(t, body)
					if !strings.Contains(answer, `"api_error"`) || strings.Contains(answer, "secret") {
						t.Errorf("response: %s", answer)
					}
					if res.StatusCode == 200 {
						mustEnd(t, answer)
					} else if res.StatusCode != 500 {
						t.Errorf("status %d", res.StatusCode)
					}
					if r := seen.one(t); r.Err == nil {
						t.Errorf("report: %+v", r)
					}
					if n, bytes := o.Budget.InFlight(); n != 0 || bytes != 0 {
						t.Errorf("in flight: %d, %d bytes", n, bytes)
					}
					time.Sleep(time.Second) // for those that still write
				})
			})
		}
	}
}

// TestManyWriters writes from several goroutines, during Generate and after.
func TestManyWriters(t *testing.T) {
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
	for range 3 {
		inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
			_, stream := p.mustSend(t, streamBody)
			if _, kind := mustEnd(t, stream); kind != "" {
				t.Errorf("error %q", kind)
			}
			late.Wait()
		})
	}
}
