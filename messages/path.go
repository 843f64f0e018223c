package messages

import "strconv"

// path is where a reader or validator is in a document, told in the vendor's
// style: "messages.2.content.0.image.source.base64.data". It costs a few
// appends on the way and makes a string only when something is wrong.
//
// Behind the place of a member of a union stands its tag: the type of a block
// in a message, of a source, a citation, a tool ("custom" for one of the
// caller's), of thinking and tool_choice. The texts of system and of search
// results are of no union and have no tag. A fault of the tag itself is told of
// the place without it: "messages.0.content.1.type".
type path struct {
	n     int
	first [8]step // in here, so that a reader on the stack stays there
	more  []step  // all behind first
}

type step struct {
	name  string
	index int // counts if name is empty
}

func (p *path) push(name string) { p.add(step{name: name}) }
func (p *path) pushIndex(i int)  { p.add(step{index: i}) }
func (p *path) pop()             { p.n-- }
func (p *path) truncate(n int)   { p.n = n }

func (p *path) add(s step) {
	if p.n < len(p.first) {
		p.first[p.n] = s
	} else {
		p.more = append(p.more[:p.n-len(p.first)], s)
	}
	p.n++
}

func (p *path) step(i int) step {
	if i < len(p.first) {
		return p.first[i]
	}
	return p.more[i-len(p.first)]
}

// at returns the path, with more names behind it.
func (p *path) at(names ...string) string {
	var b []byte
	for i := range p.n {
		s := p.step(i)
		if i > 0 {
			b = append(b, '.')
		}
		if s.name == "" {
			b = strconv.AppendInt(b, int64(s.index), 10)
		} else {
			b = append(b, s.name...)
		}
	}
	for _, n := range names {
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, n...)
	}
	return string(b)
}
