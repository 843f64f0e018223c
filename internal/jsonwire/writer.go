package jsonwire

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// refSize is the length from which a text is kept by reference.
	refSize = 4 << 10
	// chunkSize is the length from which the buffer is not grown any more, which
	// would copy it each time: another one follows it. chunkRoom is how much
	// room a buffer has for the next value.
	chunkSize = 256 << 10
	chunkRoom = 2 * refSize
	// maxGrow bounds what is allocated at once for a document to come.
	maxGrow = 1 << 20
	// keepBuffer bounds the buffer that a Writer keeps for its next document.
	keepBuffer = 512 << 10
	keepRefs   = 1 << 10
)

// A Writer writes one JSON document. Commas are its own business; that names
// stand only in objects, and that what was begun is ended, is the caller's.
//
// Texts of 4 KB and more that need no change are kept by reference, not copied.
// The zero Writer is ready. A Writer is for one goroutine at a time.
type Writer struct {
	full  [][]byte // buffers that are full, in their order
	buf   []byte   // the last buffer
	refs  []ref
	long  int  // bytes in refs and in full
	comma bool // a value was just written at this level
}

// A ref is a text that is in the document before buf[at:] of the buffer that it
// is about. If at is negative, the buffer ends at ^at, and the refs behind are
// about the next one.
type ref struct {
	at   int
	text string
}

// Grow makes room for n more bytes, not counting texts that are kept by
// reference. Of very many it makes room for the first.
func (w *Writer) Grow(n int) { w.buf = slices.Grow(w.buf, min(n, maxGrow)) }

// next begins another buffer.
func (w *Writer) next() {
	w.full = append(w.full, w.buf)
	w.refs = append(w.refs, ref{at: ^len(w.buf)})
	w.long += len(w.buf)
	w.buf = make([]byte, 0, chunkSize+chunkRoom)
}

// room begins another buffer if the last one is full. It is called before a
// value, and before a piece of one that is long.
func (w *Writer) room() {
	if len(w.buf) >= chunkSize && cap(w.buf)-len(w.buf) < chunkRoom {
		w.next()
	}
}

// separate writes the comma that is due before a value or name, and notes that
// after a value one is due again.
func (w *Writer) separate(next bool) {
	w.room()
	if w.comma {
		w.buf = append(w.buf, ',')
	}
	w.comma = next
}

// add appends text as it is.
func (w *Writer) add(text string) {
	if len(text) < refSize {
		w.buf = append(w.buf, text...)
		return
	}
	w.refs = append(w.refs, ref{len(w.buf), text})
	w.long += len(text)
}

// BeginObject begins an object, to which Name and values then add members.
func (w *Writer) BeginObject() {
	w.separate(false)
	w.buf = append(w.buf, '{')
}

// EndObject ends the innermost object.
func (w *Writer) EndObject() {
	w.buf = append(w.buf, '}')
	w.comma = true
}

// BeginArray begins an array, to which values then add elements.
func (w *Writer) BeginArray() {
	w.separate(false)
	w.buf = append(w.buf, '[')
}

// EndArray ends the innermost array.
func (w *Writer) EndArray() {
	w.buf = append(w.buf, ']')
	w.comma = true
}

// Name writes the name of the next value.
func (w *Writer) Name(name string) {
	w.separate(false)
	w.buf = append(AppendString(w.buf, name), ':')
}

// String writes s as [AppendString] does.
func (w *Writer) String(s string) {
	w.separate(true)
	if len(s) < refSize {
		w.buf = AppendString(w.buf, s)
		return
	}
	w.buf = append(w.buf, '"')
	w.text(s)
	w.buf = append(w.buf, '"')
}

// Joined writes the texts, one behind the other, as one String.
func (w *Writer) Joined(texts ...string) {
	w.separate(true)
	w.buf = append(w.buf, '"')
	for _, s := range texts {
		w.text(s)
	}
	w.buf = append(w.buf, '"')
}

// text writes a piece of a string. Long stretches without escapes are
// referenced; what is between them is escaped together.
func (w *Writer) text(s string) {
	w.room()
	if len(s) < refSize {
		n, high := len(w.buf), false
		if w.buf, high = appendEscaped(w.buf, s); !high || utf8.ValidString(s) {
			return
		}
		w.buf, _ = appendEscaped(w.buf[:n], toUTF8(s))
		return
	}
	if !utf8.ValidString(s) {
		s = toUTF8(s)
	}
	for from := 0; from < len(s); {
		i, end := longPlain(s, from)
		w.escaped(s[from:i])
		w.add(s[i:end])
		from = end
	}
}

// escaped writes a piece of a string that is not referenced.
func (w *Writer) escaped(s string) {
	const piece = chunkSize / 8
	for len(s) > piece {
		if len(w.buf) >= chunkSize/2 && cap(w.buf)-len(w.buf) < 3*piece {
			w.next()
		}
		w.buf, _ = appendEscaped(w.buf, s[:piece])
		s = s[piece:]
	}
	w.buf, _ = appendEscaped(w.buf, s)
}

// longPlain returns the bounds of the first stretch of s from i on that needs
// no escaping and is long enough to be referenced. If there is none, both are
// len(s).
func longPlain(s string, i int) (from, end int) {
	for i < len(s) {
		end = plainEnd(s, i)
		if end-i >= refSize {
			return i, end
		}
		i = end + 1
	}
	return len(s), len(s)
}

// plainEnd returns the index of the first byte from i on that must be escaped.
func plainEnd(s string, i int) int {
	for i <= len(s)-8 {
		if m := special(load(s, i)); m != 0 {
			return i + first(m)
		}
		i += 8
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

// Raw writes json, a checked document, verbatim.
func (w *Writer) Raw(json string) {
	w.separate(true)
	w.add(json)
}

// Int writes n.
func (w *Writer) Int(n int64) {
	w.separate(true)
	w.buf = AppendInt(w.buf, n)
}

// Float writes f as [AppendFloat] does.
func (w *Writer) Float(f float64) {
	w.separate(true)
	w.buf = AppendFloat(w.buf, f)
}

// Bool writes b.
func (w *Writer) Bool(b bool) {
	if b {
		w.Raw("true")
	} else {
		w.Raw("false")
	}
}

// Null writes null.
func (w *Writer) Null() { w.Raw("null") }

// Members writes the members of object, a checked document, verbatim into the
// open object. If it is empty or no object, nothing is written.
func (w *Writer) Members(object string) {
	object = strings.Trim(object, " \t\r\n")
	if len(object) < 2 || object[0] != '{' || object[len(object)-1] != '}' {
		return
	}
	if members := strings.Trim(object[1:len(object)-1], " \t\r\n"); members != "" {
		w.separate(true)
		w.add(members)
	}
}

// MembersExcept is Members without those whose names skip reports. It parses
// object; if that fails, nothing is written and the error is a [*SyntaxError].
func (w *Writer) MembersExcept(object string, skip func(name string) bool) error {
	d, err := Parse(object, Limits{Depth: maxSource, Values: maxValues})
	if err != nil {
		return err
	}
	defer d.Close()
	for name, v := range d.Root().Members() {
		if !skip(name) {
			w.Name(name)
			w.Raw(v.Raw())
		}
	}
	return nil
}

// Len returns the length of the document so far.
func (w *Writer) Len() int { return len(w.buf) + w.long }

// Bytes returns the document. The slice is valid until the Writer is used
// again; long texts are copied into it.
func (w *Writer) Bytes() []byte {
	if len(w.refs) == 0 {
		return w.buf
	}
	out := make([]byte, 0, w.Len())
	r := w.Reader()
	for {
		owned, text := r.segment()
		if len(owned)+len(text) == 0 {
			return out
		}
		out = append(append(out, owned...), text...)
		r.pos += int64(len(owned) + len(text))
	}
}

// Text returns a copy of the document as a string.
func (w *Writer) Text() string {
	var b strings.Builder
	b.Grow(w.Len())
	_, _ = w.WriteTo(&b)
	return b.String()
}

// WriteTo writes the document to dst. It can be called again.
func (w *Writer) WriteTo(dst io.Writer) (int64, error) { return w.Reader().WriteTo(dst) }

// Reset begins a new document. It keeps a buffer of bounded size, and no text
// of the old one. What Bytes and Reader returned is invalid from here on.
func (w *Writer) Reset() {
	clear(w.refs)
	buf, refs := w.buf[:0], w.refs[:0]
	if cap(buf) > keepBuffer {
		buf = nil
	}
	if cap(refs) > keepRefs {
		refs = nil
	}
	*w = Writer{buf: buf, refs: refs}
}
