package chatcompletions

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
	"github.com/polywire/polywire/upstream"
)

// deltas returns a stream of n chunks in OpenAI's form.
func deltas(n int, member string) string {
	var b strings.Builder
	const head = `data: {"id":"chatcmpl-AbCdEfGh","object":"chat.completion.chunk","created":1795219200,"model":"gpt-4.1","service_tier":"default","system_fingerprint":"fp_1234567890","choices":[{"index":0,"delta":`
	const tail = `,"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n"
	b.WriteString(head + `{"role":"assistant","content":"","refusal":null}` + tail)
	for i := range n {
		fmt.Fprintf(&b, "%s{%q:%q}%s", head, member, fmt.Sprintf(" word%d", i), tail)
	}
	b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return b.String()
}

func drain(tb testing.TB, stream string) int {
	r := NewStreamReader(strings.NewReader(stream), nil)
	n := 0
	for {
		f, err := r.Next()
		if err == io.EOF {
			return n
		}
		if err != nil {
			tb.Fatal(err)
		}
		n += len(f.Events)
	}
}

// TestDeltaAllocs checks that deltas do not allocate.
func TestDeltaAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget at random under the race detector")
	}
	for _, member := range []string{"content", "reasoning_content"} {
		few, many := deltas(10, member), deltas(1010, member)
		base := testing.AllocsPerRun(10, func() { drain(t, few) })
		all := testing.AllocsPerRun(10, func() { drain(t, many) })
		// 1,000 deltas are about 240 KB; 16 KB cost one allocation.
		if per := (all - base) / 1000; per > 0.05 {
			t.Errorf("%s: %.3f allocations per delta", member, per)
		}
	}
}

func BenchmarkChatDeltas(b *testing.B) {
	for _, member := range []string{"content", "reasoning_content"} {
		b.Run(member, func(b *testing.B) {
			stream := deltas(1000, member)
			// The floor is the time to read the chunks one by one.
			floor.Run(b, "["+strings.Join(chunksOf(stream), ",")+"]", func() { drain(b, stream) })
		})
	}
}

func chunksOf(stream string) []string {
	var list []string
	for line := range strings.Lines(stream) {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok && data != done {
			list = append(list, data)
		}
	}
	return list
}

// BenchmarkStreamRelay measures the whole path of a stream whose chunks are forwarded: read,
// decode, and write.
func BenchmarkStreamRelay(b *testing.B) {
	stream := deltas(1000, "content")
	floor.Run(b, "["+strings.Join(chunksOf(stream), ",")+"]", func() {
		w := NewStreamWriter(io.Discard, nil)
		up := formattest.Replay(NewStreamReader(strings.NewReader(stream), nil))
		if err := w.End(upstream.Run(b.Context(), up, &upstream.Request{}, w)); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkHandlerEvent measures a delta from the model to the response writer.
func BenchmarkHandlerEvent(b *testing.B) {
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`))
	r.Header.Set("Content-Type", "application/json")
	formattest.BenchmarkEvents(b, func(up upstream.Upstream) http.Handler { return NewHandler(up, nil) }, r)
}
