package crosstest

import (
	"runtime"
	"testing"

	"github.com/polywire/polywire/internal/test/race"
)

// TestParseAllocations checks that parsing and validating typical requests stays within the
// documented limits of objects and of memory.
func TestParseAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop items at random under the race detector")
	}
	const share, files = 0, 128 << 10 // the limit of memory: half as much as the body again, or bytes
	for _, tt := range []struct {
		name  string
		bytes int
	}{{"small", 4 << 10}, {"chat", share}, {"agent", share}, {"intl", share}, {"image", files}, {"pdf", files}} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			if s.workloads[tt.name] == nil {
				return
			}
			body := s.workloads[tt.name]()
			limit := uint64(tt.bytes + len(body)) // ParseRequest copies the body
			if tt.bytes == share {
				limit += uint64(len(body)) * 3 / 2
			}
			read := func() error { return s.validate(body) }
			if err := read(); err != nil {
				t.Fatal(err)
			}
			least := ^uint64(0)
			objects := testing.AllocsPerRun(5, func() { // a pool may be emptied
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_ = read()
				runtime.ReadMemStats(&after)
				least = min(least, after.TotalAlloc-before.TotalAlloc)
			})
			if maxObjects := s.allocations[tt.name]; objects > maxObjects || least > limit {
				t.Errorf("%s: %d bytes in %v objects, at most %d in %v", tt.name, least, objects, limit, maxObjects)
			}
		})
	}
}
