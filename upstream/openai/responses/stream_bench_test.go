package responses

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// BenchmarkStreamEvent encodes deltas of texts of 64 KiB, with the room for the text.
func BenchmarkStreamEvent(b *testing.B) {
	for name, s := range map[string]string{
		"text":    " and then the",
		"escapes": "\tif x == \"a\" {\n\t\treturn\n\t}\n",
		"long":    strings.Repeat("all work and no play ", 50),
	} {
		b.Run(name, func(b *testing.B) {
			var e *encoder
			var out []byte
			batch := []upstream.Event{evText(0, s)}
			b.ReportAllocs()
			sent := 64 << 10
			for b.Loop() {
				if sent += len(s); sent > 64<<10 {
					e, sent = testStream(expectation{}), 0
					out = e.Events(out[:0], []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, s)})
				}
				out = e.Events(out[:0], batch)
			}
		})
	}
}

// BenchmarkHandlerEvent measures a delta from the model to the response writer.
func BenchmarkHandlerEvent(b *testing.B) {
	r := httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(`{"model":"m","stream":true,"input":"Hi"}`))
	r.Header.Set("Content-Type", "application/json")
	formattest.BenchmarkEvents(b, func(up upstream.Upstream) http.Handler { return NewHandler(up, nil) }, r)
}
