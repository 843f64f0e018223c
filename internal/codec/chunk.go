package codec

// A Chunk hands out values of one type from arrays that grow from one to the
// next, so that many nodes cost few allocations. The zero Chunk is ready. It is
// for one goroutine at a time.
type Chunk[T any] struct {
	free []T
	last int // size of the newest array
}

// LargestChunk bounds how many values are allocated ahead.
const LargestChunk = 256

// Seed gives the chunk its first array, whose values must be zero.
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

// Take returns an empty list with room for n. What is appended beyond that
// does not reach its neighbours.
func (c *Chunk[T]) Take(n, first int) []T {
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
