package jsonwire

import (
	"hash/maphash"
	"math/bits"
)

// A node is one entry of the tape: a value or a name. An object's node is followed
// by the name and the nodes of the value of each member, an array's by the nodes of
// its elements.
type node struct {
	start, end uint32 // of the text in the source, with quotes
	next       uint32 // index of the node after the whole value
	meta       uint32 // kind, flag, and a 24-bit number above them
}

const (
	kindMask   = 15
	flagBase64 = 16 // a string of only the standard base64 alphabet and up to two '=' at its end
	numShift   = 8
	numMax     = 1<<24 - 1
)

// firstNodes is the capacity of a new tape: 2 KB.
const firstNodes = 128

func (n *node) kind() Kind { return Kind(n.meta & kindMask) }

// num returns the number of members or elements of an object or array. For a string
// it returns by how many bytes the source text, without quotes, is longer than the
// decoded text, but at most numMax. It is 0 if there are no escapes.
func (n *node) num() int { return int(n.meta >> numShift) }

// A frame is an object or array that is not closed yet.
type frame struct {
	bloom  uint64 // set of the names so far, by nameBit
	node   uint32
	count  uint32 // number of members or elements so far
	object bool
	hash   bool // compare the names by hash when the object closes
}

// A scanner is the state of one pass over a document.
type scanner struct {
	*tape
	src    string
	limits Limits
	top    *frame // the last of open, the first of which is the document itself
	values int

	at     int // position of the violation
	reason Reason
	text   string
}

// fail records a violation and returns -1, which callers return as an index.
func (s *scanner) fail(at int, r Reason, text string) int {
	s.at, s.reason, s.text = at, r, text
	return -1
}

const textTruncated = "unexpected end of the document"

// failAt records the violation at an index: a truncated document at the end of the
// source, and otherwise the given text.
func (s *scanner) failAt(at int, otherwise string) int {
	if at >= len(s.src) {
		return s.fail(len(s.src), Truncated, textTruncated)
	}
	return s.fail(at, Syntax, otherwise)
}

// document scans the whole source and reports whether it is valid.
func (s *scanner) document() bool {
	if s.limits.Depth <= 0 {
		s.limits.Depth = defaultDepth
	}
	if s.limits.Values <= 0 {
		s.limits.Values = defaultValues
	}
	s.limits.Values = min(s.limits.Values, maxValues)
	s.nodes, s.open, s.decoded = s.nodes[:0], append(s.open[:0], frame{}), s.decoded[:0]
	s.top = &s.open[0]
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
	i = s.scanValue(i)
	if i < 0 {
		return false
	}
	if i = skipSpace(s.src, i); i < len(s.src) {
		s.fail(i, Trailing, "unexpected text after the document")
		return false
	}
	return true
}

// scanValue scans one value and returns the index after it. Each iteration scans one
// member or element, or opens an object or array.
func (s *scanner) scanValue(i int) int {
	src := s.src
	for {
		if cap(s.nodes)-len(s.nodes) < 2 { // a name and a value
			s.grow(i)
		}
		if s.top.object {
			if i = s.scanName(i); i < 0 {
				return i
			}
		}
		i = skipSpace(src, i)
		if i >= len(src) {
			return s.failAt(i, "")
		}
		if s.values++; s.values > s.limits.Values {
			return s.fail(i, TooManyValues, "the document has too many values")
		}
		s.top.count++
		switch c := src[i]; {
		case c == '"':
			i = s.scanString(i)
		case c == '{' || c == '[':
			if i = s.begin(i); i < 0 {
				return i
			}
			if i = skipSpace(src, i); i < len(src) && src[i] == c+2 {
				break // empty: afterValue closes it
			}
			continue
		case c-'0' < 10 || c == '-':
			i = s.scanNumber(i)
		default:
			i = s.scanLiteral(i)
		}
		if i < 0 {
			return i
		}
		if i < len(src) && src[i] == ',' && len(s.open) > 1 {
			i++
			continue
		}
		if i = s.afterValue(i); i < 0 || len(s.open) == 1 {
			return i
		}
	}
}

// begin opens the object or array at i.
func (s *scanner) begin(i int) int {
	if len(s.open) > s.limits.Depth {
		return s.fail(i, TooDeep, "objects and arrays are nested too deeply")
	}
	s.open = append(s.open, frame{node: uint32(len(s.nodes)), object: s.src[i] == '{'})
	s.top = &s.open[len(s.open)-1]
	s.nodes = append(s.nodes, node{start: uint32(i)})
	return i + 1
}

// afterValue continues after a value that ends at i. It closes the objects and
// arrays that end there, and returns the index after the following comma, or after
// the top-level value.
func (s *scanner) afterValue(i int) int {
	for len(s.open) > 1 {
		if i = skipSpace(s.src, i); i >= len(s.src) {
			return s.failAt(i, "")
		}
		switch c := s.src[i]; {
		case c == ',':
			return i + 1
		case c == '}' && s.top.object:
			if s.top.hash && !s.distinctNames() {
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

// end completes the node of the innermost frame and removes the frame.
func (s *scanner) end(end int, k Kind) {
	n := &s.nodes[s.top.node]
	n.end = uint32(end)
	n.next = uint32(len(s.nodes))
	n.meta = uint32(k) | s.top.count<<numShift
	s.open = s.open[:len(s.open)-1]
	s.top = &s.open[len(s.open)-1]
}

// add appends the node of a scalar, for which scanValue has made room.
func (s *scanner) add(start, end int, meta uint32) int {
	s.nodes = append(s.nodes, node{uint32(start), uint32(end), uint32(len(s.nodes) + 1), meta})
	return end
}

// extrapolate is the number of nodes from which the tape grows in proportion to the
// rest of the document.
const extrapolate = 1 << 12

// grow enlarges the tape for a node that begins at from. append would grow in small
// steps and leave several times as much garbage, and doubling would leave as much
// again. A large tape is therefore sized as if the rest of the document resembled
// its beginning.
func (s *scanner) grow(from int) {
	n := cap(s.nodes)
	size := max(firstNodes, 2*n)
	if n >= extrapolate {
		whole := int(int64(n) * int64(len(s.src)) / int64(from+1))
		size = min(max(whole+whole/32, n+n/4), 8*n)
	}
	s.nodes = append(make([]node, 0, size), s.nodes...)
}

// scanLiteral scans true, false or null.
func (s *scanner) scanLiteral(i int) int {
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
			return s.failAt(i+j, "expected a value")
		}
	}
	return s.fail(i, Syntax, "expected a value")
}

// scanNumber scans the number that begins at i.
func (s *scanner) scanNumber(i int) int {
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
			return s.failAt(i, wrong)
		}
	}
	if i < len(src) && src[i] == '.' {
		from := i + 1
		if i = digits(src, from); i == from {
			return s.failAt(i, wrong)
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		from := i + 1
		if from < len(src) && (src[from] == '+' || src[from] == '-') {
			from++
		}
		if i = digits(src, from); i == from {
			return s.failAt(i, wrong)
		}
	}
	if i < len(src) && src[i]-'0' < 10 {
		return s.fail(i, Syntax, "a number must not begin with 0")
	}
	return s.add(start, i, uint32(Number))
}

// digits returns the index of the first byte from i on that is not a digit.
func digits(src string, i int) int {
	for i < len(src) && src[i]-'0' < 10 {
		i++
	}
	return i
}

// skipSpace returns the index of the first byte from i on that is not white space.
func skipSpace(src string, i int) int {
	for i < len(src) && src[i] <= ' ' && (src[i] == ' ' || src[i] == '\n' || src[i] == '\r' || src[i] == '\t') {
		i++
	}
	return i
}

// Up to maxLinearNames names of an object are compared one by one. If there are
// more, or one has escapes, the names are compared by hash when the object closes.
const maxLinearNames = 16

// scanName scans a member name and the colon after it, from i on.
func (s *scanner) scanName(i int) int {
	src := s.src
	if i = skipSpace(src, i); i >= len(src) || src[i] != '"' {
		return s.failAt(i, "expected a member name in quotes")
	}
	start, n := i+1, len(s.nodes)
	if i = s.scanString(i); i < 0 {
		return i
	}
	if top := s.top; !top.hash && !s.limits.AllowDuplicateNames {
		text := src[start : i-1]
		switch bit := nameBit(text); {
		case s.nodes[n].num() > 0 || top.count >= maxLinearNames:
			top.hash = true
		case top.bloom&bit != 0 && s.hasName(uint32(n), text):
			return s.failDuplicate(uint32(n))
		default:
			top.bloom |= bit
		}
	}
	if i = skipSpace(src, i); i >= len(src) || src[i] != ':' {
		return s.failAt(i, "expected a colon after a member name")
	}
	return i + 1
}

// nameBit returns one bit of a hash of a name.
func nameBit(name string) uint64 {
	if name == "" {
		return 1
	}
	h := uint(len(name)) + uint(name[0])*3 + uint(name[len(name)-1])*7 + uint(name[len(name)/2])*11
	return 1 << (h & 63)
}

// hasName reports whether the open object has a member named text before node n.
// None of its names has escapes.
func (s *scanner) hasName(n uint32, text string) bool {
	for k := s.top.node + 1; k < n; k = s.nodes[k+1].next {
		if nd := &s.nodes[k]; s.src[nd.start+1:nd.end-1] == text {
			return true
		}
	}
	return false
}

// failDuplicate records the duplicate name at node n.
func (s *scanner) failDuplicate(n uint32) int {
	nd := &s.nodes[n]
	name := quoteName(decode(s.src[nd.start+1 : nd.end-1]))
	return s.fail(int(nd.start), DuplicateName, "duplicate member name "+name)
}

// distinctNames compares the names of the innermost object by hash after all its
// members were scanned. It reads each name once. The hash has a random seed, so that
// clients cannot choose names that collide.
func (s *scanner) distinctNames() bool {
	if !s.seeded {
		s.seed, s.seeded = maphash.MakeSeed(), true
	}
	size := 1 << bits.Len(uint(s.top.count)*2)
	if cap(s.table) < size {
		s.table = make([]uint64, size)
	}
	table := s.table[:size]
	clear(table)
	// A slot holds the upper half of the hash, and the node, which is never 0.
	for k := s.top.node + 1; int(k) < len(s.nodes); k = s.nodes[k+1].next {
		h := s.hashName(k)
		for slot := int(h) & (size - 1); ; slot = (slot + 1) & (size - 1) {
			e := table[slot]
			if e == 0 {
				table[slot] = h&^(1<<32-1) | uint64(k)
				break
			}
			if e>>32 == h>>32 && s.sameName(uint32(e), k) {
				s.failDuplicate(k)
				return false
			}
		}
	}
	return true
}

// hashName returns the hash of the unescaped name at node k.
func (s *scanner) hashName(k uint32) uint64 {
	nd := &s.nodes[k]
	text := s.src[nd.start+1 : nd.end-1]
	if nd.num() == 0 {
		return maphash.String(s.seed, text)
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	buf := s.buffer()
	for len(text) > 0 {
		n, used := unescape(buf, text)
		h.Write(buf[:n])
		text = text[used:]
	}
	return h.Sum64()
}

// sameName compares two names with equal hashes. Different names with equal hashes
// are too rare to matter.
func (s *scanner) sameName(a, b uint32) bool {
	x, y := &s.nodes[a], &s.nodes[b]
	return decode(s.src[x.start+1:x.end-1]) == decode(s.src[y.start+1:y.end-1])
}
