package jsonwire

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// refSize is the length from which texts are kept by reference.
	refSize = 4 << 10
	// chunkSize is the length from which a buffer does not grow, since that would
	// copy it: another buffer follows. chunkRoom is the free space of a buffer for
	// the next value.
	chunkSize = 64 << 10
	chunkRoom = 2 * refSize
	// maxGrow bounds the memory that Grow allocates.
	maxGrow = 1 << 20
	// keepBuffer bounds the buffer that Reset keeps.
	keepBuffer = 512 << 10
	keepRefs   = 1 << 10
)

// A Writer writes one JSON document. It inserts commas. The caller must write names
// only in objects, and end what it begins.
//
// Texts of 4 KB and more that need no escaping are kept by reference. The zero
// Writer is ready to use. A Writer must be used by one goroutine at a time.
type Writer struct {
	// Literals are strings that are likely to be written, in about this order. Their sources are
	// kept by reference.
	Literals []Literal

	literal int      // index of the Literal after the last one that was written
	full    [][]byte // full buffers, in order
	buf     []byte   // the last buffer
	refs    []ref
	long    int  // total length of refs and full
	comma   bool // the next value or name needs a comma
}

// A ref is a text in the document before buf[at:] of its buffer. If at is negative,
// the buffer ends at ^at, and the following refs belong to the next buffer.
type ref struct {
	at   int
	text string
}

// Grow makes room for n more bytes, not counting texts kept by reference. It
// allocates at most maxGrow bytes.
func (w *Writer) Grow(n int) { w.buf = slices.Grow(w.buf, min(n, maxGrow)) }

// next starts another buffer.
func (w *Writer) next() {
	w.full = append(w.full, w.buf)
	w.refs = append(w.refs, ref{at: ^len(w.buf)})
	w.long += len(w.buf)
	w.buf = make([]byte, 0, chunkSize+chunkRoom)
}

// room starts another buffer if the last one is full. It is called before each
// value, and before each piece of a long one.
func (w *Writer) room() {
	if len(w.buf) >= chunkSize && cap(w.buf)-len(w.buf) < chunkRoom {
		w.next()
	}
}

// separate writes the comma before a value or name if one is needed. next is whether
// the next value or name needs one.
func (w *Writer) separate(next bool) {
	w.room()
	if w.comma {
		w.buf = append(w.buf, ',')
	}
	w.comma = next
}

// add appends text verbatim.
func (w *Writer) add(text string) {
	if len(text) < refSize {
		w.buf = append(w.buf, text...)
		return
	}
	w.ref(text)
}

// ref adds text by reference.
func (w *Writer) ref(text string) {
	w.refs = append(w.refs, ref{len(w.buf), text})
	w.long += len(text)
}

// source returns the source of s if it is one of the next Literals, or "".
func (w *Writer) source(s string) string {
	const ahead = 64 // bounds the time
	next := w.Literals[w.literal:]
	for i := range next[:min(len(next), ahead)] {
		if next[i].Text == s {
			w.literal += i + 1
			return next[i].Source
		}
	}
	return ""
}

// BeginObject begins an object. Name and values add its members.
func (w *Writer) BeginObject() {
	w.separate(false)
	w.buf = append(w.buf, '{')
}

// EndObject ends the innermost object.
func (w *Writer) EndObject() {
	w.buf = append(w.buf, '}')
	w.comma = true
}

// BeginArray begins an array. Values add its elements.
func (w *Writer) BeginArray() {
	w.separate(false)
	w.buf = append(w.buf, '[')
}

// EndArray ends the innermost array.
func (w *Writer) EndArray() {
	w.buf = append(w.buf, ']')
	w.comma = true
}

// Name writes a member name.
func (w *Writer) Name(name string) {
	w.separate(false)
	w.buf = append(AppendString(w.buf, name), ':')
}

// RawName writes a member name that is JSON text, with its colon.
func (w *Writer) RawName(name string) {
	w.separate(false)
	w.buf = append(w.buf, name...)
}

// String writes s as [AppendString] does.
func (w *Writer) String(s string) {
	w.separate(true)
	if len(s) < literalSize || len(s) < refSize && len(w.Literals) == 0 {
		w.buf = AppendString(w.buf, s)
		return
	}
	w.buf = append(w.buf, '"')
	w.text(s)
	w.buf = append(w.buf, '"')
}

// JoinedString writes the concatenation of texts as one string.
func (w *Writer) JoinedString(texts ...string) {
	w.separate(true)
	w.buf = append(w.buf, '"')
	for _, s := range texts {
		w.text(s)
	}
	w.buf = append(w.buf, '"')
}

// text writes a part of a string. It references long stretches without escapes and
// escapes the rest.
func (w *Writer) text(s string) {
	w.room()
	if len(s) >= literalSize {
		if source := w.source(s); source != "" {
			w.ref(source)
			return
		}
	}
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

// escaped writes a part of a string without references.
func (w *Writer) escaped(s string) {
	const piece = chunkSize / 8
	for size := len(s); len(s) > piece; {
		if size > maxDecoded {
			_ = touch(s[:piece])
		}
		if len(w.buf) >= chunkSize/2 && cap(w.buf)-len(w.buf) < 3*piece {
			w.next()
		}
		w.buf, _ = appendEscaped(w.buf, s[:piece])
		s = s[piece:]
	}
	w.buf, _ = appendEscaped(w.buf, s)
}

// longPlain returns the bounds of the first stretch of s from i on that needs no
// escaping and is long enough to be referenced. If there is none, it returns len(s)
// twice.
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
		for last := ahead(s, i); i <= last; i += 8 {
			if m := special(load(s, i)); m != 0 {
				return i + firstMarked(m)
			}
		}
	}
	for i < len(s) && s[i] != '"' && s[i] != '\\' && s[i] >= ' ' {
		i++
	}
	return i
}

// Raw writes json, a valid document, verbatim.
func (w *Writer) Raw(json string) {
	w.separate(true)
	w.add(json)
}

// Verbatim appends parts of a document that are a document only together. It inserts no
// comma.
func (w *Writer) Verbatim(parts ...string) {
	for _, p := range parts {
		w.room()
		w.add(p)
	}
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

// Member writes a member whose value is a string.
func (w *Writer) Member(name, s string) {
	w.Name(name)
	w.String(s)
}

// OptMember is Member, unless s is empty.
func (w *Writer) OptMember(name, s string) {
	if s != "" {
		w.Member(name, s)
	}
}

// NullableMember writes a member whose value is a string, or null if s is empty.
func (w *Writer) NullableMember(name, s string) {
	if s == "" {
		w.RawMember(name, "null")
		return
	}
	w.Member(name, s)
}

// RawMember writes a member whose value is json, a valid document.
func (w *Writer) RawMember(name, json string) {
	w.Name(name)
	w.Raw(json)
}

// OptRawMember is RawMember, unless json is empty.
func (w *Writer) OptRawMember(name, json string) {
	if json != "" {
		w.RawMember(name, json)
	}
}

// IntMember writes a member whose value is an integer.
func (w *Writer) IntMember(name string, n int64) {
	w.Name(name)
	w.Int(n)
}

// BoolMember writes a member whose value is a boolean.
func (w *Writer) BoolMember(name string, b bool) {
	w.Name(name)
	w.Bool(b)
}

// Object begins a member whose value is an object.
func (w *Writer) Object(name string) {
	w.Name(name)
	w.BeginObject()
}

// Array begins a member whose value is an array.
func (w *Writer) Array(name string) {
	w.Name(name)
	w.BeginArray()
}

// Members writes the members of object, a valid document, verbatim into the open
// object. If object is empty or not an object, it writes nothing.
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

// MembersExcept is like Members without the members for whose names skip returns
// true. If object is not valid, it writes nothing and returns a [*SyntaxError].
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

// Len returns the length of the document so far, in bytes.
func (w *Writer) Len() int { return len(w.buf) + w.long }

// Bytes returns the document. The slice is valid until the Writer is used again.
// Texts kept by reference are copied.
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

// WriteTo implements [io.WriterTo]. It does not consume the document.
func (w *Writer) WriteTo(dst io.Writer) (int64, error) { return w.Reader().WriteTo(dst) }

// Reset starts a new document. It keeps a buffer of bounded size and no texts.
// Results of Bytes and Reader become invalid.
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
