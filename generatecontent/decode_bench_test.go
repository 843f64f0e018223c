package generatecontent

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

// chunks returns n chunks of text and a last one. Each has the result of usage.
func chunks(n int, usage func(i int) string) (events, elements []string) {
	for i := range n {
		data := fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":" word%d and\n more"}],"role":"model"},"index":0}]%s,"modelVersion":"gemini-3.8-flash","responseId":"r-1"}`, i, usage(i))
		data = strings.ReplaceAll(data, "\n", `\n`)
		events, elements = append(events, "data: "+data+"\r\n\r\n"), append(elements, data)
	}
	end := `{"candidates":[{"finishReason":"STOP","index":0}],"modelVersion":"gemini-3.8-flash","responseId":"r-1"}`
	return append(events, "data: "+end+"\r\n\r\n"), append(elements, end)
}

func noUsage(int) string { return "" }

func running(i int) string {
	return fmt.Sprintf(`,"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":5}]}`, i, i+5)
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
	for _, w := range []struct {
		name   string
		usage  func(int) string
		array  bool
		usages bool // each chunk has new counts
	}{
		{"events", noUsage, false, false}, {"array", noUsage, true, false},
		{"same usage", func(int) string { return running(0) }, false, false},
		{"running usage", running, false, true}, {"array, running usage", running, true, true},
	} {
		t.Run(w.name, func(t *testing.T) {
			stream := func(n int) string {
				events, elements := chunks(n, w.usage)
				if w.array {
					return "[" + strings.Join(elements, "\r\n,\r\n") + "]"
				}
				return strings.Join(events, "")
			}
			run := func(s string) (allocs, bytes float64) {
				const runs = 20
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				allocs = testing.AllocsPerRun(runs, func() { drain(t, s) })
				runtime.ReadMemStats(&after)
				return allocs, float64(after.TotalAlloc-before.TotalAlloc) / (runs + 1)
			}
			short, long := stream(1000), stream(2000)
			allocs1, bytes1 := run(short)
			allocs2, bytes2 := run(long)
			kb := float64(len(long)-len(short)) / (16 << 10)
			maxAllocs, maxBytes := kb*1.05+2, (kb+1)*20*1024 // the last of each 16 KB is left over
			if w.usages {                                    // 64 of 1000 usages come from one allocation
				maxAllocs, maxBytes = maxAllocs+17, maxBytes+17*6144
			}
			t.Logf("%.1f KB more: %v allocations, %.0f bytes", 16*kb, allocs2-allocs1, bytes2-bytes1)
			if allocs2-allocs1 > maxAllocs {
				t.Errorf("%.1f KB more took %v more allocations", 16*kb, allocs2-allocs1)
			}
			if bytes2-bytes1 > maxBytes {
				t.Errorf("%.1f KB more took %.0f more bytes", 16*kb, bytes2-bytes1)
			}
		})
	}
}

// BenchmarkStreamReader reports the time to read a stream, in V of the data of its events.
func BenchmarkStreamReader(b *testing.B) {
	whole := func(parts string) (events, elements []string) {
		data := `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"STOP"}]}`
		return []string{"data: " + data + "\r\n\r\n"}, []string{data}
	}
	text300, plain300 := strings.Repeat("some words ", 1000), strings.Repeat("QUFB", 1<<18)
	for _, w := range []struct {
		name  string
		make  func() (events, elements []string)
		array bool
	}{
		{"text300", func() ([]string, []string) { return chunks(300, noUsage) }, false},
		{"usage300", func() ([]string, []string) { return chunks(300, running) }, false},
		{"usage300 array", func() ([]string, []string) { return chunks(300, running) }, true},
		{"usage30000", func() ([]string, []string) { return chunks(30000, running) }, false},
		{"long", func() ([]string, []string) { return whole(`{"text":"` + text300 + `"}`) }, false},
		{"calls", func() ([]string, []string) {
			return whole(strings.Repeat(`{"functionCall":{"id":"fc-1","name":"get_weather","args":{"city":"Lima","days":[1,2,3]}}},`, 50) + `{"text":"x"}`)
		}, false},
		{"image", func() ([]string, []string) {
			return whole(`{"inlineData":{"mimeType":"image/png","data":"` + plain300 + `"}}`)
		}, false},
		{"image array", func() ([]string, []string) {
			return whole(`{"inlineData":{"mimeType":"image/png","data":"` + plain300 + `"}}`)
		}, true},
		{"escapes array", func() ([]string, []string) { return whole(`{"text":"` + strings.Repeat(`\n`, 1<<17) + `"}`) }, true},
	} {
		b.Run(w.name, func(b *testing.B) {
			events, elements := w.make()
			stream := strings.Join(events, "")
			if w.array {
				stream = "[" + strings.Join(elements, ",\r\n") + "]"
			}
			valid := func() {
				for _, d := range elements {
					gjson.Valid(d)
				}
			}
			floor.Against(b, "V", valid, func() {
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					drain(b, stream)
				}
			}, func() { drain(b, stream) })
		})
	}
}

// BenchmarkStreamThroughWriter measures a stream from the reader to a sink.
func BenchmarkStreamThroughWriter(b *testing.B) {
	events, elements := chunks(300, running)
	stream := strings.Join(events, "")
	run := func() {
		sink := upstream.SinkFunc(func([]upstream.Event) error { return nil })
		if err := upstream.Run(b.Context(), replay(stream), &upstream.Request{}, sink); err != nil {
			b.Fatal(err)
		}
	}
	floor.Against(b, "V", func() {
		for _, d := range elements {
			gjson.Valid(d)
		}
	}, func() {
		b.ReportAllocs()
		for b.Loop() {
			run()
		}
	}, run)
}

// BenchmarkDecodeResponse reports V for a response with a long text, and for responses with
// many elements.
func BenchmarkDecodeResponse(b *testing.B) {
	wide := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `,"m%d":%d`, i, i)
		}
		return s.String()
	}
	reply := func(parts, candidate, rest string) string {
		return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"finishReason":"STOP"` + candidate + `}]` + rest + `}`
	}
	part := func(s string) string { return strings.Repeat(s+",", 100_000) + s }
	for _, w := range []struct{ name, body string }{
		{"text", reply(`{"text":"`+strings.Repeat(`some words and\n more `, 2000)+`"}`, "", "")},
		{"texts", reply(part(`{"text":"a"}`), "", "")},
		{"calls", reply(part(`{"functionCall":{"name":"f","args":{"a":1}}}`), "", "")},
		{"unknown parts", reply(part(`{"x":{"y":1}}`), "", "")},
		{"members", reply(`{"text":"a"`+wide(100_000)+`}`, wide(100_000), wide(100_000))},
		{"members of usage", reply(`{"text":"a"}`, "", `,"usageMetadata":{"promptTokenCount":1`+wide(100_000)+`}`)},
		{"candidates", `{"candidates":[` + part(`{"content":{"parts":[{"text":"a"}]},"index":1,"finishReason":"STOP"}`) + `]}`},
		{"pieces of a call", reply(`{"functionCall":{"name":"f","willContinue":true,"partialArgs":[`+part(`{"jsonPath":"$.a","stringValue":"x"}`)+`]}}`, "", "")},
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
