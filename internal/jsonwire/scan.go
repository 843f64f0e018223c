package jsonwire

// A node is one entry of the tape: a value or a name. The nodes of an object
// are its own, then for each member the name and the nodes of the value; those
// of an array are its own and then those of the elements.
type node struct {
	start, end uint32 // the text in the source, quotes included
	next       uint32 // index of the node behind the whole value
	meta       uint32 // kind, flag and, above them, a number of 24 bits
}

const (
	kindMask   = 15
	flagBase64 = 16 // a string of nothing but the standard alphabet and at most two '=' at its end
	numShift   = 8
	numMax     = 1<<24 - 1
)

// firstNodes is the capacity of a new tape: 2 KB.
const firstNodes = 128

func (n *node) kind() Kind { return Kind(n.meta & kindMask) }

// num is, for an object or array, how many members or elements it has; for a
// string how many bytes its text is longer in the source than decoded, not
// counting the quotes, or numMax if that or more. It is 0 only if there are no
// escapes.
func (n *node) num() int { return int(n.meta >> numShift) }

// A frame is an object or array that is still open.
type frame struct {
	bloom  uint64 // the names so far, by nameBit
	node   uint32
	count  uint32 // members or elements so far
	object bool
	many   bool // compare the names when the object closes
}

// A scanner holds the state of one pass over a document.
type scanner struct {
	*tape
	src    string
	limits Limits
	top    frame // the innermost open frame; what is around it is in open
	values int

	at     int // of the fault
	reason Reason
	text   string
}

// fail notes a fault and returns -1, the place that stands for one.
func (s *scanner) fail(at int, r Reason, text string) int {
	s.at, s.reason, s.text = at, r, text
	return -1
}

const textTruncated = "unexpected end of the document"

// truncated notes the fault of text that ends at its end, or if it does not end
// there, another fault.
func (s *scanner) truncated(at int, otherwise string) int {
	if at >= len(s.src) {
		return s.fail(len(s.src), Truncated, textTruncated)
	}
	return s.fail(at, Syntax, otherwise)
}

// document scans the whole source and reports whether it passes.
func (s *scanner) document() bool {
	if s.limits.Depth <= 0 {
		s.limits.Depth = defaultDepth
	}
	if s.limits.Values <= 0 {
		s.limits.Values = defaultValues
	}
	s.limits.Values = min(s.limits.Values, maxValues)
	s.nodes, s.open = s.nodes[:0], s.open[:0]
	if len(s.src) > maxSource {
		s.fail(0, TooLong, "the document is longer than 2 GiB")
		return false
	}
	if text := byteOrderMark(s.src); text != "" {
		s.fail(0, ByteOrderMark, text)
		return false
	}
	i := skipSpace(s.src, 0)
	if i == len(s.src) {
		s.fail(i, Empty, "the document is empty")
		return false
	}
	i = s.scan(i)
	if i < 0 {
		return false
	}
	if i = skipSpace(s.src, i); i < len(s.src) {
		s.fail(i, Trailing, "unexpected text after the document")
		return false
	}
	return true
}

// scan scans one value, and returns the index behind it. Each turn of the loop
// deals with one member or element, or opens an object or array.
func (s *scanner) scan(i int) int {
	src := s.src
	for {
		if s.top.object {
			if i = s.name(i); i < 0 {
				return i
			}
		}
		i = skipSpace(src, i)
		if i >= len(src) {
			return s.truncated(i, "")
		}
		if s.values++; s.values > s.limits.Values {
			return s.fail(i, TooManyValues, "the document has too many values")
		}
		s.top.count++
		switch c := src[i]; {
		case c == '"':
			i = s.str(i)
		case c == '{' || c == '[':
			if i = s.begin(i); i < 0 {
				return i
			}
			if i = skipSpace(src, i); i < len(src) && src[i] == c+2 {
				break // it is empty: the bracket is dealt with below
			}
			continue
		case c-'0' < 10 || c == '-':
			i = s.number(i)
		default:
			i = s.literal(i)
		}
		if i < 0 {
			return i
		}
		if i < len(src) && src[i] == ',' && len(s.open) > 0 {
			i++
			continue
		}
		if i = s.behind(i); i < 0 || len(s.open) == 0 {
			return i
		}
	}
}

// begin opens the object or array whose bracket is at i.
func (s *scanner) begin(i int) int {
	if len(s.open) == s.limits.Depth {
		return s.fail(i, TooDeep, "objects and arrays are nested too deeply")
	}
	s.open = append(s.open, s.top)
	s.top = frame{node: uint32(len(s.nodes)), object: s.src[i] == '{'}
	s.push(node{start: uint32(i)})
	return i + 1
}

// behind goes on behind a value that ends at i: it closes all that ends there,
// and returns the index behind the comma that must follow, or behind the
// outermost value.
func (s *scanner) behind(i int) int {
	for len(s.open) > 0 {
		if i = skipSpace(s.src, i); i >= len(s.src) {
			return s.truncated(i, "")
		}
		switch c := s.src[i]; {
		case c == ',':
			return i + 1
		case c == '}' && s.top.object:
			if s.top.many && !s.distinctNames() {
				return -1
			}
			s.end(i+1, Object)
		case c == ']' && !s.top.object:
			s.end(i+1, Array)
		case s.top.object:
			return s.fail(i, Syntax, "expected a comma or the end of the object")
		default:
			return s.fail(i, Syntax, "expected a comma or the end of the array")
		}
		i++
	}
	return i
}

// end completes the node of the innermost frame and leaves the frame.
func (s *scanner) end(end int, k Kind) {
	n := &s.nodes[s.top.node]
	n.end = uint32(end)
	n.next = uint32(len(s.nodes))
	n.meta = uint32(k) | s.top.count<<numShift
	s.top = s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
}

// add appends the node of a scalar.
func (s *scanner) add(start, end int, meta uint32) int {
	s.push(node{uint32(start), uint32(end), uint32(len(s.nodes) + 1), meta})
	return end
}

// push appends a node.
func (s *scanner) push(n node) {
	if len(s.nodes) == cap(s.nodes) {
		s.grow(n.start)
	}
	s.nodes = append(s.nodes, n)
}

// extrapolate is the number of nodes from which on the tape grows by what the
// document has shown so far.
const extrapolate = 1 << 12

// grow makes room on the tape, for a node that begins at from. Left to itself
// append would take small steps, and leave several times as much garbage.
// Doubling would leave as much again, so a tape that is large already gets the
// size that it will have if the rest of the document is like its beginning.
func (s *scanner) grow(from uint32) {
	n := cap(s.nodes)
	size := max(firstNodes, 2*n)
	if n >= extrapolate {
		whole := int(int64(n) * int64(len(s.src)) / int64(from+1))
		size = min(max(whole+whole/32, n+n/4), 8*n)
	}
	s.nodes = append(make([]node, 0, size), s.nodes...)
}

// literal scans what can only be true, false or null.
func (s *scanner) literal(i int) int {
	var want string
	var k Kind
	switch s.src[i] {
	case 't':
		want, k = "true", True
	case 'f':
		want, k = "false", False
	case 'n':
		want, k = "null", Null
	case ']', '}':
		return s.fail(i, Syntax, "expected a value before the closing bracket")
	default:
		return s.fail(i, Syntax, "expected a value")
	}
	if rest := s.src[i:]; len(rest) >= len(want) && rest[:len(want)] == want {
		return s.add(i, i+len(want), uint32(k))
	}
	for j := range len(want) {
		if i+j >= len(s.src) || s.src[i+j] != want[j] {
			return s.truncated(i+j, "expected a value")
		}
	}
	return s.fail(i, Syntax, "expected a value")
}

// number scans a number that begins at i with a digit or a minus sign.
func (s *scanner) number(i int) int {
	const wrong = "invalid number"
	src, start := s.src, i
	if src[i] == '-' {
		i++
	}
	switch from := i; {
	case i < len(src) && src[i] == '0':
		i++
	default:
		if i = digits(src, i); i == from {
			return s.truncated(i, wrong)
		}
	}
	if i < len(src) && src[i] == '.' {
		from := i + 1
		if i = digits(src, from); i == from {
			return s.truncated(i, wrong)
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		from := i + 1
		if from < len(src) && (src[from] == '+' || src[from] == '-') {
			from++
		}
		if i = digits(src, from); i == from {
			return s.truncated(i, wrong)
		}
	}
	if i < len(src) && src[i]-'0' < 10 {
		return s.fail(i, Syntax, "a number must not begin with 0")
	}
	return s.add(start, i, uint32(Number))
}

// digits returns the index of the first byte from i on that is no digit.
func digits(src string, i int) int {
	for i < len(src) && src[i]-'0' < 10 {
		i++
	}
	return i
}

// skipSpace returns the index of the first byte from i on that is no white
// space.
func skipSpace(src string, i int) int {
	for i < len(src) && src[i] <= ' ' && (src[i] == ' ' || src[i] == '\n' || src[i] == '\r' || src[i] == '\t') {
		i++
	}
	return i
}
