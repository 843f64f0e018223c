package upstream

import (
	"cmp"
	"sync"
)

// defaultBudget is the limit of bytes that 0 means.
const defaultBudget = 512 << 20

// A Budget bounds the number of requests in flight and the bytes of their bodies and
// files. It is safe for concurrent use and may be shared by several handlers. The zero
// Budget allows 512 MiB and any number of requests.
//
// For a body with a Content-Length, all of its bytes are reserved before it is read.
// Large requests reserve memory for the parsed values as well: 512 bytes for each part,
// 2,048 for each tool and 128 for each value of a schema. The first MiB of these is
// free.
//
// Handlers call Enter, Reserve and Leave. A host may call them, too, to count work of its own.
type Budget struct {
	Bytes    int64 // of bodies, files and the output that streams keep; 0 means 512 MiB
	Requests int   // 0 means no limit

	mu       sync.Mutex
	bytes    int64
	requests int
}

// Enter adds a request to those in flight and returns true, or returns false if there are
// b.Requests already. After true, the caller must call Leave once.
func (b *Budget) Enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Requests > 0 && b.requests >= b.Requests {
		return false
	}
	b.requests++
	return true
}

// Reserve reserves n bytes for a request in flight and returns true, or returns false if more
// than b.Bytes would be reserved. Leave releases them.
func (b *Budget) Reserve(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := cmp.Or(b.Bytes, defaultBudget)
	if n > limit-b.bytes {
		return false
	}
	b.bytes += n
	return true
}

// Leave ends a request and releases all bytes that were reserved for it.
func (b *Budget) Leave(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests--
	b.bytes -= bytes
}

// InFlight returns the number of requests in flight and of bytes reserved for them.
func (b *Budget) InFlight() (requests int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, b.bytes
}
