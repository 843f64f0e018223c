package schema

import "github.com/polywire/polywire/content"

// A Spare is how much the schemas of one request may grow in all, beyond multiples
// of their own sizes, when references are written out. Each may take some of it,
// which is plenty for a few and would be many times the request for thousands of
// small ones. When it is used up, references stay open as in a schema that is too
// large by itself. The zero Spare has all of it. Nil is one for each schema.
type Spare struct{ nodes, bytes int } // used

// allSpare is how many schemas may grow as far as one can.
const allSpare = 64

// Input is the function Input, within what is left.
func (s *Spare) Input(d Dialect, x content.Schema) (string, []content.Loss) {
	return translate(d, x, true, s)
}

// Output is the function Output, within what is left.
func (s *Spare) Output(d Dialect, x content.Schema) (string, []content.Loss) {
	if x.JSON == "" {
		return "", nil
	}
	return translate(d, x, false, s)
}

// left returns what one schema may take.
func (s *Spare) left() (nodes, bytes int) {
	return min(spareNodes, allSpare*spareNodes-s.nodes), min(spareBytes, allSpare*spareBytes-s.bytes)
}

// lend has a translation that begins keep to what is left.
func (s *Spare) lend(c *converter) {
	if s != nil {
		nodes, bytes := s.left()
		c.nodes -= spareNodes - nodes
		c.size -= spareBytes - bytes
	}
}

// take notes what a translation has taken of that. What a schema may have by its
// own size is not counted.
func (s *Spare) take(c *converter) {
	if s != nil {
		nodes, bytes := s.left()
		s.nodes += min(nodes, max(0, nodes-c.nodes))
		s.bytes += min(bytes, max(0, bytes-(c.size-c.w.Len())))
	}
}
