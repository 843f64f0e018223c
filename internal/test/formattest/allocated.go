package formattest

import (
	"runtime"
	"runtime/debug"
)

// Allocated returns how many bytes and objects f allocates, at best of three calls. Pools keep
// their items meanwhile: the garbage collector is off, and all goroutines share one processor.
func Allocated(f func()) (bytes, objects uint64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	bytes, objects = 1<<63, 1<<63
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		bytes = min(bytes, after.TotalAlloc-before.TotalAlloc)
		objects = min(objects, after.Mallocs-before.Mallocs)
	}
	return bytes, objects
}
