package gemini_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/gemini"
)

// A canned vendor sends the same stream for every request.
type canned string

// RoundTrip implements [http.RoundTripper].
func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

func cannedStream(events int) (stream, docs string) {
	var b, d strings.Builder
	for i := range events {
		end := ""
		if i == events-1 {
			end = `,"finishReason":"STOP"`
		}
		doc := fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":"word %d of a long answer,"}],"role":"model"}%s,"index":0}],"usageMetadata":{"promptTokenCount":5,`+
			`"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":"gemini-3.8-flash","responseId":"r-1"}`, i, end, i+1, i+6)
		b.WriteString("data: " + doc + "\r\n\r\n")
		d.WriteString(map[bool]string{true: "[", false: ","}[i == 0] + doc)
	}
	return b.String(), d.String() + "]"
}

func relayCanned(b testing.TB, stream string) func() {
	c, err := gemini.New(&gemini.Options{BaseURL: "http://vendor.example", HTTPClient: &http.Client{Transport: canned(stream)}})
	if err != nil {
		b.Fatal(err)
	}
	h := messages.NewHandler(c, nil)
	const body = `{"model":"gemini-3.8-flash","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"q"}]}`
	return func() {
		r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		h.ServeHTTP(&formattest.DiscardWriter{}, r)
	}
}

// BenchmarkEvents converts a stream of the vendor to Messages, in multiples of the
// time to validate the JSON of the events.
func BenchmarkEvents(b *testing.B) {
	const events = 2000
	stream, docs := cannedStream(events)
	floor.Run(b, docs, relayCanned(b, stream))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
}

// TestEventAllocations checks that the events of a stream take at most one
// allocation for 16 KiB, although each event has new counts.
func TestEventAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations are not counted under the race detector")
	}
	short, _ := cannedStream(1000)
	long, _ := cannedStream(4000)
	few, many := testing.AllocsPerRun(5, relayCanned(t, short)), testing.AllocsPerRun(5, relayCanned(t, long))
	if limit := float64(len(long)-len(short)) / (16 << 10); many-few > limit {
		t.Errorf("%v allocations for %d bytes, %v for %d", few, len(short), many, len(long))
	}
}
