package messages

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// BenchmarkStreamEvent encodes events. V is the time of gjson.ValidBytes for the data of the
// encoded event.
func BenchmarkStreamEvent(b *testing.B) {
	for _, bb := range []struct {
		name  string
		event upstream.Event
	}{
		{"text", upstream.Event{Kind: upstream.EventText, Block: 0, Text: " and then the"}},
		{"escapes", upstream.Event{Kind: upstream.EventText, Block: 0, Text: "\tif x == \"a\" {\n\t\treturn\n\t}\n"}},
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

// BenchmarkCall encodes a tool call with 200 deltas of arguments, which are validated at the
// end. V is the time of gjson.Valid for the data of its events.
func BenchmarkCall(b *testing.B) {
	batch := make([]upstream.Event, 1)
	var out []byte
	events := append([]upstream.Event{openEvent(0, namedCall("f")), inputEvent(0, `{"text": "`)}, slices.Repeat([]upstream.Event{inputEvent(0, "and then the f")}, 198)...)
	events = append(events, inputEvent(0, `"}`), closeEvent(0), stopEvent(content.StopToolUse))
	run := func(each func([]byte)) {
		s := newStream("req_1", "msg_1", "m", nil)
		for _, batch[0] = range events {
			out = s.Events(out[:0], batch)
			each(out)
		}
		out = s.End(out[:0], nil)
	}
	var doc strings.Builder
	run(func(out []byte) {
		for line := range strings.Lines(string(out)) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				doc.WriteString("," + data)
			}
		}
	})
	floor.Run(b, "["+doc.String()[1:]+"]", func() { run(func([]byte) {}) })
}

func BenchmarkHandlerEvent(b *testing.B) {
	formattest.BenchmarkEvents(b, func(up upstream.Upstream) http.Handler { return NewHandler(up, nil) }, post(streamBody))
}

// BenchmarkHandlerRequest measures a small request, whole and streamed.
func BenchmarkHandlerRequest(b *testing.B) {
	for name, body := range map[string]string{"plain": smallBody, "stream": streamBody} {
		b.Run(name, func(b *testing.B) {
			h := NewHandler(hello, nil)
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(&formattest.DiscardWriter{}, post(body))
			}
		})
	}
}
