package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// keepSettings restores the settings of the garbage collector when the test ends, and lets the
// environment set none.
func keepSettings(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "")
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// The memory limit leaves room for garbage besides a full budget, unless the environment
// sets one.
func TestTune(t *testing.T) {
	keepSettings(t)
	const other = 3 << 30
	for _, tt := range []struct {
		bytes       int64
		environment string
		limit       int64
	}{
		{512 << 20, "", 768 << 20},
		{128 << 20, "", 192 << 20},
		{1 << 20, "", leastMemory},
		{128 << 20, "3GiB", other}, // as the runtime has set it
	} {
		debug.SetMemoryLimit(other)
		t.Setenv("GOMEMLIMIT", tt.environment)
		t.Setenv("GOGC", "100") // nothing adapts the limit
		tune(t.Context(), &upstream.Budget{Bytes: tt.bytes})
		if got := debug.SetMemoryLimit(-1); got != tt.limit {
			t.Errorf("budget %d, GOMEMLIMIT=%s: the limit is %d, want %d", tt.bytes, tt.environment, got, tt.limit)
		}
	}
}

// Large bodies in flight lower the percentage and the limit, until they have left.
func TestAdapt(t *testing.T) {
	keepSettings(t)
	b := &upstream.Budget{Bytes: 512 << 20}
	tune(t.Context(), b)
	const size = 128 << 20
	body := make([]byte, size)
	if !b.Enter() || !b.Reserve(size) {
		t.Fatal("the budget is full")
	}
	await := func(want func(percent, limit int64) bool) { // by the deadline of the test
		for m := []metrics.Sample{{Name: "/gc/gogc:percent"}}; ; runtime.GC() {
			if metrics.Read(m); want(int64(m[0].Value.Uint64()), debug.SetMemoryLimit(-1)) {
				return
			}
		}
	}
	await(func(percent, limit int64) bool { return percent <= 75 && limit < 2*size+leastMemory })
	runtime.KeepAlive(body)
	b.Leave(size)
	await(func(percent, limit int64) bool { return percent == idlePercent && limit < size })
}

func TestGCPercent(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct{ live, inFlight, want int64 }{
		{0, 0, idlePercent},
		{8 * mb, 2 * mb, idlePercent},
		{33 * mb, 33 * mb, 100},          // 32 MB of garbage
		{132 * mb, 132 * mb, 25},         // one body
		{400 * mb, 400 * mb, 25},         // a quarter of the bodies
		{132 * mb, 66 * mb, 50},          // two bodies ended during the collection
		{400 * mb, 100 * mb, 75},         // mostly other values
		{400 * mb, 0, 100},               // only other values
		{16 * mb, 500 * mb, idlePercent}, // bodies that have not arrived
	} {
		if got := gcPercent(tt.live, tt.inFlight); got != tt.want {
			t.Errorf("%d live, %d in flight: %d%%, want %d%%", tt.live, tt.inFlight, got, tt.want)
		}
	}
}
