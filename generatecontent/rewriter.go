package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/violation"
)

// A rewriter notes whether a value of a document is in canonical form, or writes that form. The
// caller walks over the value and calls one method for each thing in it. The zero rewriter is
// ready to use.
type rewriter struct {
	changed bool // the value is not canonical
	writing bool
	b       []byte
	arena   jsonwire.Arena
}

// canonical returns the canonical form of the value x over which walk walks, which is its text in
// the document if that is canonical. Few documents have other values, so a second walk writes them.
func (p *parser) canonical(x jsonwire.Value, walk func()) string {
	w := &p.out
	w.changed = false
	if walk(); !w.changed {
		return x.Raw()
	}
	violations, strict, quota := p.Violations, p.Strict, p.Quota // the first walk has counted
	p.Violations, p.Strict = violation.List{}, nil
	w.writing = true
	walk()
	w.writing = false
	p.Violations, p.Strict, p.Quota = violations, strict, quota
	s := w.arena.Bytes(w.b)
	if w.b = w.b[:0]; cap(w.b) > maxScratch {
		w.b = nil
	}
	return s
}

// maxScratch is the maximum memory that is kept for the next text.
const maxScratch = 64 << 10

// open enters an object or list, and close leaves it.
func (w *rewriter) open(x jsonwire.Value)  { w.write(x.Raw()[:1]) }
func (w *rewriter) close(x jsonwire.Value) { w.write(x.Raw()[len(x.Raw())-1:]) }

// bracket writes a bracket that the document does not have.
func (w *rewriter) bracket(c string) { w.change(); w.write(c) }

// name writes the canonical name of a member, which is called known in the document.
func (w *rewriter) name(name, known string) {
	w.changed = w.changed || name != known
	if w.writing {
		w.b = codec.AppendName(w.b, name)
	}
}

// elem begins an element of a list.
func (w *rewriter) elem() {
	if w.writing && w.b[len(w.b)-1] != '[' {
		w.b = append(w.b, ',')
	}
}

// change notes that the value is not canonical, as without a member that is removed.
func (w *rewriter) change() { w.changed = true }

// keep writes a value that is canonical.
func (w *rewriter) keep(x jsonwire.Value) { w.write(x.Raw()) }

func (w *rewriter) write(s string) {
	if w.writing {
		w.b = append(w.b, s...)
	}
}

// enum writes an enum: s is the string that x is, or a known name.
func (w *rewriter) enum(s string, x jsonwire.Value) {
	w.changed = w.changed || !x.Is(s)
	if w.writing {
		w.b = jsonwire.AppendString(w.b, s)
	}
}

// integer writes an integer. The vendor writes those of 64 bits as strings.
func (w *rewriter) integer(n int64, form object.Form, x jsonwire.Value) {
	isNumber := x.Kind() == jsonwire.Number
	w.changed = w.changed || strings.IndexByte(x.Raw(), '.') >= 0 || !isNumber && form == object.Int32
	switch {
	case !w.writing:
	case isNumber || form == object.Int32:
		w.b = jsonwire.AppendInt(w.b, n)
	default:
		w.b = append(jsonwire.AppendInt(append(w.b, '"'), n), '"')
	}
}

// number writes a number that is a string in the document.
func (w *rewriter) number(x jsonwire.Value) { w.change(); w.write(x.Str()) }
