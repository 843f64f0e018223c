package lower

import (
	"cmp"
	"strconv"
	"strings"
)

// A List is a list of a request that a [Path] goes through.
type List uint8

// The lists of a request. A list of a later number follows in reports.
const (
	System      List = iota + 1 // the parts of the system text
	Turns                       // the turns
	Parts                       // the parts of a turn, a tool result or a search result
	SourceParts                 // the parts of a document
	Citations                   // the citations of a text
	Tools                       // the tools
)

var listNames = [...]string{
	System: "system", Turns: "turns", Parts: "parts", SourceParts: "source.parts", Citations: "citations", Tools: "tools",
}

// A Path is a place in a neutral request. It is a value: it can be compared, and is
// made without an allocation. [Path.String] makes it text. The zero Path is the request.
type Path struct {
	steps [maxSteps]step
	n     uint8
	tail  string // names behind the steps, joined by dots
}

// maxSteps is the number of lists that a path holds as numbers. Deeper ones become text.
const maxSteps = 5

type step struct {
	list  List
	index int32
}

// At returns the path of a member of the request, such as "thinking.mode".
func At(member string) Path { return Path{tail: member} }

// In returns the path of an element of a list of the request.
func In(l List, i int) Path { return Path{}.In(l, i) }

// In returns the path of an element of a list at p.
func (p Path) In(l List, i int) Path {
	if p.tail != "" || p.n == maxSteps {
		return p.Member(listNames[l] + "." + strconv.Itoa(i))
	}
	p.steps[p.n] = step{l, int32(i)}
	p.n++
	return p
}

// Member returns the path of a member at p. An empty name means p itself.
func (p Path) Member(name string) Path {
	switch {
	case name == "":
	case p.tail == "":
		p.tail = name
	default:
		p.tail += "." + name
	}
	return p
}

// HeaderPath returns the path of a header.
func HeaderPath(name string) Path { return At("headers." + strings.ToLower(name)) }

// Turn returns the index of the turn that p is in or of. inside reports whether p is
// within the turn. The index is negative if p is elsewhere.
func (p *Path) Turn() (turn int, inside bool) {
	if p.n == 0 || p.steps[0].list != Turns {
		return -1, false
	}
	return int(p.steps[0].index), p.n > 1
}

// String returns the path as text, such as "turns.3.parts.1.source".
func (p Path) String() string {
	if p.n == 0 {
		return p.tail
	}
	var b [64]byte // limits most paths to one allocation
	return string(p.append(b[:0]))
}

// append appends the path as text.
func (p *Path) append(s []byte) []byte {
	for i := range p.n {
		if i > 0 {
			s = append(s, '.')
		}
		s = append(append(s, listNames[p.steps[i].list]...), '.')
		s = strconv.AppendInt(s, int64(p.steps[i].index), 10)
	}
	if p.n > 0 && p.tail != "" {
		s = append(s, '.')
	}
	return append(s, p.tail...)
}

// A spot is the place of a part of a turn. It is smaller than its path.
type spot struct{ turn, part int32 }

// spot returns the place of p, a path of a part of a turn.
func (p *Path) spot() spot { return spot{p.steps[0].index, p.steps[1].index} }

// path returns the path of s.
func (s spot) path() Path { return In(Turns, int(s.turn)).In(Parts, int(s.part)) }

// compare orders paths: members of the request, the system text, the turns, the tools.
// Paths of the same element are equal.
func (p *Path) compare(q *Path) int {
	for i := range min(p.n, q.n) {
		a, b := p.steps[i], q.steps[i]
		if c := cmp.Or(cmp.Compare(a.list, b.list), cmp.Compare(a.index, b.index)); c != 0 {
			return c
		}
	}
	return cmp.Compare(p.n, q.n)
}
