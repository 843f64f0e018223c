package jsonwire

import "strings"

const (
	arenaChunk = 32 << 10
	arenaFirst = 1 << 10
	// A text of more than arenaWhole bytes gets memory of its own, so that the
	// end of a chunk that is given up is never more than a quarter of it.
	arenaWhole = arenaChunk / 4
)

// An Arena turns byte slices into strings with one allocation for many. The
// strings are ordinary ones and valid for ever; one that is kept keeps the up
// to 32 KB around it. The first chunks are smaller, for those who need little.
// The zero Arena is ready. It must not be copied after use, and is for one
// goroutine at a time.
type Arena struct {
	b     strings.Builder
	chunk int // size of a new chunk; 0 means four times the last, up to arenaChunk
}

// Bytes returns a string with the contents of p, and does not keep p.
func (a *Arena) Bytes(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b.Cap()-a.b.Len() < len(p) {
		if len(p) > arenaWhole {
			return string(p)
		}
		// A builder that never grows hands out substrings of itself. What was
		// given out keeps the old chunk alive.
		size := a.chunk
		if size <= 0 {
			size = min(max(4*a.b.Cap(), arenaFirst), arenaChunk)
		}
		a.b.Reset()
		a.b.Grow(max(size, len(p)))
	}
	from := a.b.Len()
	a.b.Write(p)
	return a.b.String()[from:]
}
