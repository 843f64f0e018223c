package messages

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/upstream"
)

// BenchmarkStreamEvent encodes one event after another. V is what
// gjson.ValidBytes takes for the data of the event that comes out.
func BenchmarkStreamEvent(b *testing.B) {
	for _, bb := range []struct {
		name  string
		event upstream.Event
	}{
		{"text", upstream.Event{Kind: upstream.EventText, Block: 0, Text: " and then the"}},
		{"escapes", upstream.Event{Kind: upstream.EventText, Block: 0, Text: "\tif x == \"a\" {\n\t\treturn\n\t}\n"}},
		{"input", upstream.Event{Kind: upstream.EventInput, Block: 1, Text: `"path": "/src/`}},
		{"long", upstream.Event{Kind: upstream.EventText, Block: 0, Text: strings.Repeat("all work and no play ", 50)}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := newStream("req_1", "msg_1", "m", nil)
			out := s.Events(nil, blocksOpen())
			batch := []upstream.Event{bb.event}
			out = s.Events(out[:0], batch)
			data, _, _ := strings.Cut(strings.SplitN(string(out), "data: ", 2)[1], "\n")
			doc := []byte(data)
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				out = s.Events(out[:0], batch)
			}
			took := float64(b.Elapsed()) / float64(b.N)
			start := time.Now()
			for range b.N {
				if !gjson.ValidBytes(doc) {
					b.Fatal("invalid")
				}
			}
			b.ReportMetric(took/(float64(time.Since(start))/float64(b.N)), "V")
		})
	}
}

// BenchmarkHandlerEvent is what one event costs from Writer.Text to a response
// writer that does nothing.
func BenchmarkHandlerEvent(b *testing.B) {
	n := b.N
	h := NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		b.ResetTimer()
		for range n {
			if err := w.Text(" and then the"); err != nil {
				return err
			}
		}
		b.StopTimer()
		return nil
	}), nil)
	b.ReportAllocs()
	w := &nullWriter{header: http.Header{}}
	h.ServeHTTP(w, post(streamBody))
	if w.flushes < n {
		b.Errorf("%d flushes for %d events", w.flushes, n)
	}
}

// BenchmarkHandlerRequest is what a small request costs, plain and streamed.
func BenchmarkHandlerRequest(b *testing.B) {
	for name, body := range map[string]string{"plain": smallBody, "stream": streamBody} {
		b.Run(name, func(b *testing.B) {
			h := NewHandler(hello, nil)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(&nullWriter{header: http.Header{}}, post(body))
			}
		})
	}
}

// A nullWriter is the least a response writer can do.
type nullWriter struct {
	header  http.Header
	flushes int
}

func (w *nullWriter) Header() http.Header               { return w.header }
func (w *nullWriter) Write(p []byte) (int, error)       { return len(p), nil }
func (w *nullWriter) WriteHeader(int)                   {}
func (w *nullWriter) FlushError() error                 { w.flushes++; return nil }
func (w *nullWriter) SetWriteDeadline(time.Time) error  { return nil }
func (w *nullWriter) SetReadDeadline(_ time.Time) error { return nil }
