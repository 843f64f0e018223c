package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// A rewriter writes a value of a document in canonical form. The caller walks over the value
// and calls one method for each thing in it. Text that is canonical and has no white space is
// copied in long pieces. The zero rewriter is ready to use.
type rewriter struct {
	b       []byte
	start   int    // the length of b at the beginning
	src     string // the value's text in the document
	base    int    // its offset; the others are in the document, too
	from    int    // where the text begins that is not in b yet
	at      int    // where the next thing begins, after a comma if comma is 1
	comma   int
	removed bool // the latest member
	changed bool // the value is not canonical

	scratch []byte
	arena   jsonwire.Arena
}

// begin begins a text with the value x. If b is not nil, the text is appended to it.
func (w *rewriter) begin(b []byte, x jsonwire.Value) {
	if b == nil {
		b = w.scratch
	}
	w.b, w.start, w.src, w.base = b, len(b), x.Raw(), x.Offset()
	w.from, w.at = w.base, w.base
	w.comma, w.removed, w.changed = 0, false, false
}

// end returns the text, in which x is unchanged if it is canonical.
func (w *rewriter) end(x jsonwire.Value) []byte {
	if !w.changed {
		return append(w.b[:w.start], x.Raw()...)
	}
	w.flush()
	return w.b
}

// text is end for a text that begin(nil, x) has begun.
func (w *rewriter) text(x jsonwire.Value) string {
	s := x.Raw()
	if w.changed {
		w.flush()
		s = w.arena.Bytes(w.b)
	}
	if cap(w.b) <= maxScratch {
		w.scratch = w.b[:0]
	}
	return s
}

// maxScratch is the maximum memory that is kept for the next text.
const maxScratch = 64 << 10

// flush copies the canonical text up to the next thing.
func (w *rewriter) flush() {
	if len(w.b) == w.start {
		w.b = slices.Grow(w.b, len(w.src))
	}
	w.b = append(w.b, w.src[w.from-w.base:w.at-w.base]...)
	w.from = w.at
}

// skip continues at an offset. The text before it is not copied.
func (w *rewriter) skip(to int) { w.from, w.at = to, to }

// open enters an object or list.
func (w *rewriter) open(x jsonwire.Value) { w.at, w.comma = x.Offset()+1, 0 }

// close leaves it.
func (w *rewriter) close(x jsonwire.Value) {
	end := x.End()
	if w.at != end-1 {
		w.flush()
		w.skip(end - 1)
	}
	w.at, w.comma, w.removed = end, 1, false
}

// name writes the canonical name of a member.
func (w *rewriter) name(name string, x jsonwire.Value) {
	if at := x.Offset(); at == w.at+w.comma+len(name)+len(`"":`) && !w.removed {
		w.at = at // neither white space nor escapes
		return
	}
	w.flush()
	w.b = codec.AppendName(w.b, name)
	w.skip(x.Offset())
	w.removed = false
}

// rename is name for a member that has another name in the document. The canonical name has
// no characters that need escapes.
func (w *rewriter) rename(name string, x jsonwire.Value) {
	w.flush()
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
	w.skip(x.Offset())
	w.changed, w.removed = true, false
}

// remove removes a member.
func (w *rewriter) remove(x jsonwire.Value) {
	w.flush()
	w.skip(x.End())
	w.changed, w.removed = true, true
}

// elem begins an element of a list.
func (w *rewriter) elem(x jsonwire.Value) {
	if w.at+w.comma != x.Offset() {
		w.flush()
		if w.comma > 0 {
			w.b = append(w.b, ',')
		}
		w.skip(x.Offset())
	}
	w.at = x.Offset()
}

// keep writes a member or element that is canonical.
func (w *rewriter) keep(x jsonwire.Value) { w.at, w.comma = x.End(), 1 }

// bracket writes a bracket that the document does not have before or after a value.
func (w *rewriter) bracket(c byte) {
	w.flush()
	w.b = append(w.b, c)
	w.changed = true
}

// enum writes an enum: s is the string that x is, or a known name.
func (w *rewriter) enum(s string, x jsonwire.Value) {
	if raw := x.Raw(); len(raw) == len(s)+len(`""`) && raw[1:1+len(s)] == s {
		w.keep(x)
		return
	}
	w.flush()
	if x.Is(s) { // escaped
		w.b = jsonwire.AppendString(w.b, s)
	} else {
		w.b = append(append(append(w.b, '"'), s...), '"')
		w.changed = true
	}
	w.skip(x.End())
	w.keep(x)
}

// integer writes an integer. The vendor writes those of 64 bits as strings.
func (w *rewriter) integer(n int64, form object.Form, x jsonwire.Value) {
	isNumber := x.Kind() == jsonwire.Number
	whole := strings.IndexByte(x.Raw(), '.') < 0
	if !isNumber || !whole || x.Raw()[0] == '-' {
		w.flush()
		if isNumber || form == object.Int32 {
			w.b = jsonwire.AppendInt(w.b, n)
		} else {
			w.b = append(jsonwire.AppendInt(append(w.b, '"'), n), '"')
		}
		w.skip(x.End())
		w.changed = w.changed || !whole || !isNumber && form == object.Int32
	}
	w.keep(x)
}

// number writes a number that is a string in the document.
func (w *rewriter) number(x jsonwire.Value) {
	w.flush()
	w.b = append(w.b, x.Str()...)
	w.skip(x.End())
	w.keep(x)
	w.changed = true
}
