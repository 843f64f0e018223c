package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/polywire/polywire/upstream"
)

const (
	leastMemory = 64 << 20 // the memory limit for small budgets: the process itself takes some
	idlePercent = 400      // the GC percentage while little memory is in use
)

// A collector configures the garbage collector for many requests that live for milliseconds
// and occasional ones of 30 MB. A high GC percentage saves time while little memory is in use.
// Bodies and files in flight lower it. The memory limit makes the runtime return memory that is
// free but too fragmented for large bodies.
type collector struct {
	budget *upstream.Budget
	limit  int64 // the greatest memory limit: room for garbage besides a full budget; 0 sets none
}

// tune configures the garbage collector until ctx ends. GOGC and GOMEMLIMIT take precedence.
func tune(ctx context.Context, b *upstream.Budget) {
	c := &collector{budget: b}
	if os.Getenv("GOMEMLIMIT") == "" {
		c.limit = max(b.Bytes+b.Bytes/2, leastMemory)
		debug.SetMemoryLimit(c.limit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(idlePercent)
		c.watch(ctx)
	}
}

// watch adapts the settings after each garbage collection until ctx ends.
func (c *collector) watch(ctx context.Context) {
	type object struct{ _ *int } // objects without pointers may share memory
	runtime.AddCleanup(new(object), func(c *collector) {
		if ctx.Err() == nil {
			c.adapt()
			c.watch(ctx)
		}
	}, c)
}

func (c *collector) adapt() {
	m := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(m)
	live, stacks := int64(m[0].Value.Uint64()), int64(m[1].Value.Uint64())
	_, inFlight := c.budget.InFlight()
	percent := gcPercent(live, inFlight)
	if percent != int64(m[2].Value.Uint64()) {
		debug.SetGCPercent(int(percent))
	}
	if c.limit > 0 {
		goal := live + (live+stacks)*percent/100
		debug.SetMemoryLimit(min(goal+goal/8+stacks+leastMemory, c.limit))
	}
}

// gcPercent returns the GC percentage for a heap of live bytes, with the bytes of bodies and files
// in flight. These have no pointers, so a collection costs little however many there are: garbage
// may have a quarter of their size, or 32 MiB. It may have four times the size of everything else while
// that is small, then as much: a body that was in flight only when the collection began is part of it.
func gcPercent(live, inFlight int64) int64 {
	other := live - inFlight
	garbage := max(min(4*other, max(other, 64<<20)), inFlight/4, 32<<20)
	return min((garbage*100/max(live, 1)+24)/25*25, idlePercent)
}
