// Package floor measures benchmarks against the floor that the project's goals
// are told in: V, the time that gjson.Valid takes for the same document.
package floor

import (
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// Run benchmarks op in the usual way, and reports besides how long it takes in
// units of V. Both are taken in turns, and the best of each counts, so that a
// busy machine slows both.
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

// Against reports the time of op in units of another function's.
func Against(b *testing.B, unit string, floor, bench, op func()) {
	b.Helper()
	bench()
	best := [2]time.Duration{1 << 62, 1 << 62}
	for range 7 {
		for i, f := range []func(){op, floor} {
			best[i] = min(best[i], each(f))
		}
	}
	b.ReportMetric(float64(best[0])/float64(best[1]), unit)
}

// each returns the time of one call in picoseconds, from a run of some
// milliseconds.
func each(f func()) time.Duration {
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
