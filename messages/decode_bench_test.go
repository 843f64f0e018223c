package messages

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/upstream"
)

// deltaStream returns a stream of n deltas of one kind.
func deltaStream(n int, open string, delta func(i int) string) string {
	var b strings.Builder
	b.WriteString(line(lineStart) + line(open))
	for i := range n {
		b.WriteString(line(`content_block_delta {"type":"content_block_delta","index":0,"delta":` + delta(i) + `}`))
	}
	b.WriteString(line(lineStop0) + line(lineDelta) + line(lineEnd))
	return b.String()
}

func textStream(n int) string {
	return deltaStream(n, lineOpen0, func(i int) string {
		return fmt.Sprintf(`{"type":"text_delta","text":" word%d and\\n more"}`, i)
	})
}

func inputStream(n int) string {
	return deltaStream(n, strings.Replace(lineOpen1, `"index":1`, `"index":0`, 1), func(i int) string {
		return fmt.Sprintf(`{"type":"input_json_delta","partial_json":"\"key%d\": \"va"}`, i)
	})
}

// drain reads a stream to its end.
func drain(tb testing.TB, stream string) {
	tb.Helper()
	formattest.Drain(tb, NewStreamReader(strings.NewReader(stream), nil))
}

func TestStreamReaderAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations cannot be counted under the race detector")
	}
	for name, stream := range map[string]func(int) string{"text": textStream, "input": inputStream} {
		t.Run(name, func(t *testing.T) {
			short, long := stream(1000), stream(2000)
			run := func(s string) (allocs, bytes float64) {
				const runs = 20
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				allocs = testing.AllocsPerRun(runs, func() { drain(t, s) })
				runtime.ReadMemStats(&after)
				return allocs, float64(after.TotalAlloc-before.TotalAlloc) / (runs + 1)
			}
			allocs1, bytes1 := run(short)
			allocs2, bytes2 := run(long)
			chunks := float64(len(long)-len(short)) / (16 << 10)
			t.Logf("%.1f KB more: %v allocations, %.0f bytes", 16*chunks, allocs2-allocs1, bytes2-bytes1)
			if allocs2-allocs1 > chunks+1 {
				t.Errorf("%.1f KB more took %v more allocations", 16*chunks, allocs2-allocs1)
			}
			if bytes2-bytes1 > (chunks+1)*20*1024 {
				t.Errorf("%.1f KB more took %.0f more bytes", 16*chunks, bytes2-bytes1)
			}
		})
	}
}

// TestShortStream checks that a short stream does not allocate as much as a long one.
func TestShortStream(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations cannot be counted under the race detector")
	}
	stream := example(t, "E22.sse")
	drain(t, stream) // fills the pools
	const runs = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		drain(t, stream)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 24<<10 {
		t.Errorf("a stream of %d bytes allocates %d bytes", len(stream), each)
	}
}

// BenchmarkStreamReader reports the time to read the events of a stream, in V of their data.
func BenchmarkStreamReader(b *testing.B) {
	for _, w := range []struct{ name, stream string }{
		{"text1000", textStream(1000)}, {"input200", inputStream(200)}, {"tools", example(b, "E22.sse")},
		{"long10", deltaStream(10, lineOpen0, func(int) string {
			return `{"type":"text_delta","text":"` + strings.Repeat("some words ", 1000) + `"}`
		})},
	} {
		b.Run(w.name, func(b *testing.B) {
			var data []string
			for event := range strings.SplitSeq(strings.TrimSpace(w.stream), "\n\n") {
				_, d, _ := strings.Cut(event, "\ndata: ")
				data = append(data, d)
			}
			valid := func() {
				for _, d := range data {
					gjson.Valid(d)
				}
			}
			floor.Against(b, "V", valid, func() {
				b.SetBytes(int64(len(w.stream)))
				b.ReportAllocs()
				for b.Loop() {
					drain(b, w.stream)
				}
			}, func() { drain(b, w.stream) })
		})
	}
}

// BenchmarkStreamRelay measures the whole path of a stream: read, decode, Writer, and encode
// or forward.
func BenchmarkStreamRelay(b *testing.B) {
	stream := textStream(1000)
	var data []string
	for event := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		_, d, _ := strings.Cut(event, "\ndata: ")
		data = append(data, d)
	}
	for _, verbatim := range []bool{true, false} {
		b.Run(map[bool]string{true: "verbatim", false: "encoded"}[verbatim], func(b *testing.B) {
			run := func() {
				enc := newStream("req_1", "msg_1", "m", nil)
				var out []byte
				sink := upstream.SinkFunc(func(events []upstream.Event) error {
					if !verbatim {
						events[0].Frame = nil
					}
					out = enc.Events(out[:0], events)
					return nil
				})
				if err := upstream.Run(b.Context(), replay(stream), &upstream.Request{}, sink); err != nil {
					b.Fatal(err)
				}
			}
			floor.Against(b, "V", func() {
				for _, d := range data {
					gjson.Valid(d)
				}
			}, func() {
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			}, run)
		})
	}
}

// BenchmarkDecodeResponse reports V for a response with a long text, and for one with very many
// blocks or members.
func BenchmarkDecodeResponse(b *testing.B) {
	wide := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `,"m%d":%d`, i, i)
		}
		return s.String()
	}
	for _, w := range []struct{ name, body string }{
		{"text", `{"content":[{"type":"text","text":"` + strings.Repeat(`some words and\n more `, 2000) + `"}],"stop_reason":"end_turn"}`},
		{"blocks", `{"content":[` + strings.Repeat(`{"type":"text","text":"a"},`, 100_000) + `{"type":"text","text":"a"}],"stop_reason":"end_turn"}`},
		{"members", `{"content":[]` + wide(100_000) + `,"stop_reason":"end_turn","usage":{"input_tokens":1` + wide(100_000) + `}}`},
		{"members of a block", `{"content":[{"type":"text","text":"a"` + wide(100_000) + `}],"stop_reason":"end_turn"}`},
	} {
		b.Run(w.name, func(b *testing.B) {
			floor.Run(b, w.body, func() {
				if _, err := DecodeFrame(w.body, content.Limits{}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
