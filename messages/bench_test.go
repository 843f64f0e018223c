package messages

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/workload"
	"github.com/polywire/polywire/upstream"
)

var workloads = []struct {
	name string
	make func() string
}{
	{"small", workload.Small},
	{"chat", workload.Chat},
	{"agent", workload.Agent},
	{"intl", workload.Intl},
	{"image", workload.Image},
	{"pdf", workload.PDF},
}

// quickest returns the best time of several runs of each function. They take
// turns, so that what else the machine does meets them alike.
func quickest(fs ...func()) []time.Duration {
	best := make([]time.Duration, len(fs))
	for round := range 9 {
		for i, f := range fs {
			n := 0
			start := time.Now()
			for n == 0 || time.Since(start) < 4*time.Millisecond {
				f()
				n++
			}
			if d := time.Since(start) / time.Duration(n); round == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	return best
}

// against benchmarks f, and reports its time as a multiple of gjson.Valid's
// (V) and of encoding/json's into any (any) on the same body.
func against(b *testing.B, body string, f func()) {
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		f()
	}
	b.StopTimer()
	raw := []byte(body)
	t := quickest(f, func() { gjson.ValidBytes(raw) }, func() {
		var v any
		_ = json.Unmarshal(raw, &v)
	})
	b.ReportMetric(float64(t[0])/float64(t[1]), "V")
	b.ReportMetric(float64(t[0])/float64(t[2]), "any")
}

func BenchmarkParse(b *testing.B) {
	for _, load := range workloads {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			against(b, body, func() {
				if _, err := ParseRequestString(body); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

func BenchmarkParseValidate(b *testing.B) {
	for _, load := range workloads {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			against(b, body, func() {
				r, err := ParseRequestString(body)
				if err == nil {
					err = r.Validate(nil)
				}
				if err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkEncode writes a parsed request again.
func BenchmarkEncode(b *testing.B) {
	for _, load := range workloads {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			r, err := ParseRequestString(body)
			if err != nil {
				b.Fatal(err)
			}
			against(b, body, func() {
				if _, err := r.Body(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkParseRelay parses a request and finds the bytes to send on: against
// BenchmarkParse this is what a relay costs.
func BenchmarkParseRelay(b *testing.B) {
	for _, load := range workloads {
		b.Run(load.name, func(b *testing.B) {
			body := load.make()
			against(b, body, func() {
				r, err := ParseRequestString(body)
				if err != nil {
					b.Fatal(err)
				}
				if upstream.WireOf(r.Upstream(), Format) == nil {
					b.Fatal("no Wire")
				}
			})
		})
	}
}

// BenchmarkParseWorst parses what strangers may think of.
func BenchmarkParseWorst(b *testing.B) {
	const user = `{"role":"user","content":`
	many := func(s string, n int) string { return strings.Repeat(s+",", n-1) + s }
	for _, tt := range []struct{ name, body string }{
		{"blocks", `{"model":"m","messages":[` + user + `[` + many(`{"type":"text","text":"x"}`, 100_000) + `]}]}`},
		{"unknown blocks", `{"model":"m","messages":[` + user + `[` + many(`{"type":"y"}`, 100_000) + `]}]}`},
		{"turns", `{"model":"m","messages":[` + many(user+`"x"}`, 100_000) + `]}`},
		{"results", `{"model":"m","messages":[` + user + `[` +
			many(`{"type":"tool_result","tool_use_id":"i","content":"x","is_error":false}`, 10_000) + `]}]}`},
		{"calls", `{"model":"m","messages":[` + user + `[` +
			many(`{"type":"tool_use","id":"i","name":"n","input":{},"caller":{"type":"direct"}}`, 10_000) + `]}]}`},
		{"members", `{"model":"m","messages":[],` + manyMembers(100_000) + `}`},
		{"members of blocks", `{"model":"m","messages":[` + user + `[{` + manyMembers(100_000) + `,"type":"text"}]}]}`},
		{"faults", `{"model":"m","messages":[` + many(user+`"x"}`, 100_000) + `,` + many("1", 100_000) + `]}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			against(b, tt.body, func() { _, _ = ParseRequestString(tt.body) })
		})
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"model_` + strconv.Itoa(i) + `":1`)
	}
	return b.String()
}
