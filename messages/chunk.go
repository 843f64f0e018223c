package messages

// A chunk hands out values of one type from arrays that grow from one to the
// next, so that many nodes cost few allocations.
type chunk[T any] struct {
	free []T
	last int // size of the newest array
}

// largestChunk bounds how much is allocated ahead.
const largestChunk = 128

// new returns a zero value. first is the size of the first array.
func (c *chunk[T]) new(first int) *T {
	if len(c.free) == 0 {
		c.grow(1, first)
	}
	p := &c.free[0]
	c.free = c.free[1:]
	return p
}

// take returns an empty list with room for n. What is appended beyond that
// does not reach its neighbours.
func (c *chunk[T]) take(n, first int) []T {
	if len(c.free) < n {
		if n >= largestChunk {
			return make([]T, 0, n)
		}
		c.grow(n, first)
	}
	s := c.free[:0:n]
	c.free = c.free[n:]
	return s
}

func (c *chunk[T]) grow(n, first int) {
	c.last = max(n, min(max(c.last*2, first), largestChunk))
	c.free = make([]T, c.last)
}
