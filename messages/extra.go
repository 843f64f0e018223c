package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// extra returns the members of v that have no field, in their order and with
// their values as they came. Names that a laxer reader would take for known
// ones are faults.
func (p *parser) extra(v jsonwire.Value, n *names) *content.Extra {
	return p.extraCiting(v, n, jsonwire.Value{})
}

// extraCiting is extra for an object whose member "citations", odd, has
// members besides the one that is known. They become a "citations" of their
// own in the Extra.
func (p *parser) extraCiting(v jsonwire.Value, n *names, odd jsonwire.Value) *content.Extra {
	b, known := append(p.scratch[:0], '{'), n.sieve()
	for name, x := range v.Members() {
		switch {
		case known.strange(name):
			b = append(appendName(b, name), x.Raw()...)
		case !n.has(name):
			p.lookAlike(name, n)
			b = append(appendName(b, name), x.Raw()...)
		case name == "citations" && odd.Exists():
			b = append(appendName(b, name), '{')
			for name, x := range odd.Members() {
				if !citationsNames.has(name) {
					b = append(appendName(b, name), x.Raw()...)
				}
			}
			b = append(b, '}')
		}
	}
	b = append(b, '}')
	p.scratch = b[:0]
	if cap(b) > maxScratch {
		p.scratch = nil
	}
	return p.newExtra(p.arena.Bytes(b))
}

const maxScratch = 64 << 10

// appendName appends the name of the next member of an object.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(jsonwire.AppendString(dst, name), ':')
}

func (p *parser) newExtra(json string) *content.Extra {
	e := p.extras.new(1)
	e.Format, e.JSON = Format, json
	return e
}

// lookAlikes reports names that are not known and that a laxer reader would
// take for known ones.
func (p *parser) lookAlikes(v jsonwire.Value, n *names) {
	known := n.sieve()
	for name := range v.Members() {
		if !known.strange(name) {
			p.lookAlike(name, n)
		}
	}
}

func (p *parser) lookAlike(name string, n *names) {
	if known := n.likely(name); known != "" {
		p.fault(content.CodeUnknown, clip(name), textExtra+": did you mean '"+known+"'?")
	}
}
