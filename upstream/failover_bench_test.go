package upstream_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// messagesStream returns a Messages stream with n deltas of a word.
func messagesStream(n int) string {
	var b strings.Builder
	b.WriteString("event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}` + "\n\n" +
		"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n")
	for i := range n {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: "+`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word%d"}}`+"\n\n", i)
	}
	b.WriteString("event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\n" +
		"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":200}}` + "\n\n" +
		"event: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n")
	return b.String()
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// BenchmarkFailover compares a Failover with one healthy Upstream to the bare Upstream.
// Both serve the same request in turns, and the ratio of their shortest times is
// reported.
func BenchmarkFailover(b *testing.B) {
	stream := messagesStream(500)
	up, err := anthropic.New(&anthropic.Options{Key: "k", HTTPClient: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(stream))}, nil
	})}})
	if err != nil {
		b.Fatal(err)
	}
	body := strings.Replace(workload.Small(), "{", `{"stream":true,`, 1)
	serve := func(h http.Handler) time.Duration {
		r, _ := http.NewRequest("POST", "/v1/messages", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		w := &formattest.DiscardWriter{}
		start := time.Now()
		h.ServeHTTP(w, r)
		d := time.Since(start)
		if w.Flushes < 2 {
			b.Fatal("no stream")
		}
		return d
	}
	bare := messages.NewHandler(up, nil)
	for name, opts := range map[string]*upstream.FailoverOptions{
		"default": nil, "limits": {FirstContent: time.Minute, Hedge: time.Minute},
	} {
		failover := messages.NewHandler(upstream.Failover([]upstream.Upstream{up, up}, opts), nil)
		b.Run(name, func(b *testing.B) {
			least := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				least[0] = min(least[0], serve(bare))
				least[1] = min(least[1], serve(failover))
			}
			b.ReportMetric(float64(least[0].Nanoseconds()), "bare-ns")
			b.ReportMetric(float64(least[1].Nanoseconds()), "failover-ns")
			b.ReportMetric(float64(least[1])/float64(least[0]), "ratio")
		})
	}
}
