// Package floor runs benchmarks and reports their time as a multiple of a floor,
// the time of another operation. Performance goals use the unit V: the time of
// gjson.Valid for the same document.
package floor

import (
	"flag"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// Run benchmarks op, which processes doc, and also reports its time in V.
func Run(b *testing.B, doc string, op func()) {
	b.Helper()
	Against(b, "V", func() { gjson.Valid(doc) }, func() {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			op()
		}
	}, op)
}

// Against runs bench, and reports the time of op as a multiple of that of floor,
// with the given unit. It runs op and floor alternately and compares their best
// times, so that other load on the machine matters less. With -benchtime 1x, which only shows that
// benchmarks work, it does not compare.
func Against(b *testing.B, unit string, floor, bench, op func()) {
	b.Helper()
	bench()
	if flag.Lookup("test.benchtime").Value.String() == "1x" {
		return
	}
	best := [2]time.Duration{1 << 62, 1 << 62}
	for range 7 {
		for i, f := range []func(){op, floor} {
			best[i] = min(best[i], measure(f))
		}
	}
	b.ReportMetric(float64(best[0])/float64(best[1]), unit)
}

// measure returns the time of one call of f in picoseconds. It calls f for at
// least 4 ms.
func measure(f func()) time.Duration {
	for n := 1; ; n *= 2 {
		start := time.Now()
		for range n {
			f()
		}
		if d := time.Since(start); d > 4*time.Millisecond {
			return d * 1000 / time.Duration(n)
		}
	}
}
