package codec

// A Chunk allocates many values of one type in few arrays of growing size. The zero
// Chunk is ready to use. It must not be used concurrently.
type Chunk[T any] struct {
	free []T
	last int // size of the newest array
}

// LargestChunk is the maximum number of values that are allocated in advance.
const LargestChunk = 256

// Seed sets the first array. Its values must be zero.
func (c *Chunk[T]) Seed(free []T) { c.free = free }

// New returns a zero value. first is the size of the first array.
func (c *Chunk[T]) New(first int) *T {
	if len(c.free) == 0 {
		c.grow(1, first)
	}
	p := &c.free[0]
	c.free = c.free[1:]
	return p
}

// List returns an empty list with capacity n. Appending more reallocates it.
func (c *Chunk[T]) List(n, first int) []T {
	if len(c.free) < n {
		if n >= LargestChunk {
			return make([]T, 0, n)
		}
		c.grow(n, first)
	}
	s := c.free[:0:n]
	c.free = c.free[n:]
	return s
}

func (c *Chunk[T]) grow(n, first int) {
	c.last = max(n, min(max(c.last*2, first), LargestChunk))
	c.free = make([]T, c.last)
}
