package formattest

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream"
)

// Pieces returns a reader of r that reads at most n bytes at a time.
func Pieces(r io.Reader, n int) io.Reader { return &pieces{r, n} }

type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// A Counter is a reader that counts the bytes that are read.
type Counter struct {
	io.Reader
	N int
}

// Read implements [io.Reader].
func (c *Counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.N += n
	return n, err
}

// A DiscardWriter is a response writer for one request that discards the response and
// counts its flushes. It supports the methods that [http.ResponseController]
// needs.
type DiscardWriter struct {
	Flushes int
	header  http.Header
}

// Header implements [http.ResponseWriter].
func (w *DiscardWriter) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// Write implements [http.ResponseWriter].
func (w *DiscardWriter) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements [http.ResponseWriter].
func (w *DiscardWriter) WriteHeader(int) {}

// FlushError counts a flush.
func (w *DiscardWriter) FlushError() error { w.Flushes++; return nil }

// SetReadDeadline does nothing.
func (w *DiscardWriter) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (w *DiscardWriter) SetWriteDeadline(time.Time) error { return nil }

// CheckStreams returns h. It reports an error for each stream of Chat Completions or Responses that
// h ends and that breaks the grammar.
func CheckStreams(t testing.TB, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &copyWriter{ResponseWriter: w}
		h.ServeHTTP(c, r)
		if c.err != nil || r.Context().Err() != nil || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			return
		}
		if err := ReadSent(r.URL.Path, c.body.String()); err != nil {
			t.Errorf("%s: %v in the stream\n%s", r.URL.Path, err, c.body.String())
		}
	})
}

// A copyWriter copies what it writes, until an error.
type copyWriter struct {
	http.ResponseWriter
	body strings.Builder
	err  error
}

// Write implements [http.ResponseWriter].
func (c *copyWriter) Write(p []byte) (n int, err error) {
	n, err = c.ResponseWriter.Write(p)
	c.body.Write(p[:n])
	if err != nil {
		c.err = err
	}
	return n, err
}

// Unwrap is for [http.ResponseController].
func (c *copyWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// An Able is an Upstream that can count tokens and list models.
type Able struct {
	upstream.Func
	Count func(ctx context.Context, r *upstream.Request) (upstream.TokenCount, error)
	List  func(ctx context.Context) ([]upstream.Model, error)
}

// CountTokens implements [upstream.TokenCounter].
func (a *Able) CountTokens(ctx context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	return a.Count(ctx, r)
}

// Models implements [upstream.ModelLister].
func (a *Able) Models(ctx context.Context) ([]upstream.Model, error) { return a.List(ctx) }

// IdleStreams checks how much memory and how many goroutines a stream needs
// while it waits for its upstream, and that nothing is left when it ends. ask
// returns a request for a stream.
func IdleStreams(t *testing.T, handler func(upstream.Upstream) http.Handler, ask func() *http.Request) {
	t.Helper()
	before := runtime.NumGoroutine()
	bytes, goroutines := HeldStreams(100, []string{"a"}, handler, ask)
	if bytes > 64<<10 {
		t.Errorf("idle stream: got %v bytes, want at most 64 KiB", bytes)
	}
	if goroutines > 3 {
		t.Errorf("idle stream: got %v goroutines, want at most 3", goroutines)
	}
	// Goroutines need time to end, more under the race detector.
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines are left", runtime.NumGoroutine()-before)
}

// HeldStreams returns how much memory and how many goroutines each of many streams needs that
// wait for their upstream after it has written texts.
func HeldStreams(streams int, texts []string, handler func(upstream.Upstream) http.Handler, ask func() *http.Request) (bytes, goroutines float64) {
	var begun, over sync.WaitGroup
	begun.Add(streams)
	h := handler(upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) (err error) {
		for _, s := range texts {
			err = w.Text(s)
		}
		begun.Done()
		<-c.Done()
		return err
	}))
	measure := func() (bytes, goroutines float64) {
		runtime.GC()
		runtime.GC() // a second time to empty pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc + m.StackInuse), float64(runtime.NumGoroutine())
	}
	before, routines := measure()
	ctx, cancel := context.WithCancel(context.Background())
	for range streams {
		over.Go(func() { h.ServeHTTP(&DiscardWriter{}, ask().WithContext(ctx)) })
	}
	begun.Wait()
	after, more := measure()
	cancel()
	over.Wait()
	return (after - before) / float64(streams), (more - routines) / float64(streams)
}

// BenchmarkEvents measures one event from Writer.Text to a response writer that
// discards it. ask is a request for a stream.
func BenchmarkEvents(b *testing.B, handler func(upstream.Upstream) http.Handler, ask *http.Request) {
	n := b.N
	h := handler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		b.ResetTimer()
		for range n {
			if err := w.Text(" and then the"); err != nil {
				return err
			}
		}
		b.StopTimer()
		return nil
	}))
	b.ReportAllocs()
	w := &DiscardWriter{}
	h.ServeHTTP(w, ask)
	if w.Flushes < n {
		b.Errorf("%d flushes for %d events", w.Flushes, n)
	}
}
