package jsonwire

import (
	"iter"
	"strconv"
	"strings"
)

// A Kind is the kind of a [Value].
type Kind uint8

// The kinds of values. None is the kind of a missing Value.
const (
	None Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// String returns the kind as in JSON Schema: "boolean" for True and False, and
// "nothing" for None.
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case False, True:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case Array:
		return "array"
	case Object:
		return "object"
	}
	return "nothing"
}

// A Value is one value of a [Doc]. It is valid until the Doc is closed. It is two
// words long and passed by value. The zero Value has Kind None. Methods that do not
// fit the kind of a value return zero values.
type Value struct {
	d *Doc
	i uint32
}

// node returns the value's node, or a zero node if the document is closed.
func (v Value) node() *node {
	if v.d != nil && int(v.i) < len(v.d.nodes) {
		return &v.d.nodes[v.i]
	}
	return &noNode
}

var noNode node

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	n := v.node()
	return n.kind()
}

// Exists reports whether v is a value, including Null.
func (v Value) Exists() bool { return v.Kind() != None }

// Raw returns the source text of v, without the white space around it. It shares the
// source's memory.
func (v Value) Raw() string {
	n := v.node()
	if n.end == 0 {
		return ""
	}
	return v.d.src[n.start:n.end]
}

// Offset returns the index of v's first byte in the source.
func (v Value) Offset() int { return int(v.node().start) }

// End returns the index after v's last byte in the source.
func (v Value) End() int { return int(v.node().end) }

// Str returns the decoded text of a String. Without escapes it is a substring of the
// source. Otherwise each call decodes it again, into memory that strings of the
// document share.
func (v Value) Str() string {
	n := v.node()
	if n.kind() != String {
		return ""
	}
	return v.d.text(n)
}

// text decodes the string or name at n.
func (d *Doc) text(n *node) string {
	text := d.src[n.start+1 : n.end-1]
	if n.num() == 0 {
		return text
	}
	s := d.decode(n, text)
	if d.Literals != nil && len(s) >= literalSize {
		if *d.Literals == nil {
			*d.Literals = make([]Literal, 0, 32) // those of a chat
		}
		*d.Literals = append(*d.Literals, Literal{s, text})
	}
	return s
}

// decode decodes text, the inside of the string at n.
func (d *Doc) decode(n *node, text string) string {
	if decoded := d.decoded(n); decoded != nil {
		return d.arena.Bytes(decoded)
	}
	buf := d.tape.buffer()
	if size := len(text) - n.num(); size > arenaWhole {
		return decodeLong(buf, text, size)
	}
	k, _ := unescape(buf, text)
	return d.arena.Bytes(buf[:k])
}

// decoded returns the text of a string with escapes that was decoded while the document was
// scanned, or nil.
func (d *Doc) decoded(n *node) []byte {
	if len(d.src) > maxDecoded {
		return nil
	}
	return d.tape.decoded[n.start+1 : int(n.end)-1-n.num()]
}

// Is reports whether v is a String with the text s. It does not allocate.
func (v Value) Is(s string) bool {
	n := v.node()
	return n.kind() == String && v.d.textIs(n, s)
}

func (d *Doc) textIs(n *node, s string) bool {
	text := d.src[n.start+1 : n.end-1]
	shrink := n.num()
	if shrink == 0 {
		return text == s
	}
	if shrink < numMax && len(text)-shrink != len(s) {
		return false
	}
	if decoded := d.decoded(n); decoded != nil {
		return string(decoded) == s
	}
	buf := d.tape.buffer()
	for len(text) > 0 {
		k, used := unescape(buf, text)
		if k > len(s) || s[:k] != string(buf[:k]) {
			return false
		}
		s, text = s[k:], text[used:]
	}
	return s == ""
}

// Len returns the number of members of an Object or elements of an Array.
func (v Value) Len() int {
	if n := v.node(); n.kind() >= Array {
		return n.num()
	}
	return 0
}

// Size returns the number of values and names in v, including v itself.
func (v Value) Size() int {
	n := v.node()
	if n.end == 0 {
		return 0
	}
	return int(n.next - v.i)
}

// Members returns an iterator over the members of an Object in source order, with
// decoded names.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		n := v.node()
		if n.kind() != Object {
			return
		}
		d := v.d
		for i, end := v.i+1, n.next; i < end; {
			if int(i)+1 >= len(d.nodes) {
				return // closed by the loop body
			}
			name, next := &d.nodes[i], d.nodes[i+1].next
			if !yield(d.text(name), Value{d, i + 1}) {
				return
			}
			i = next
		}
	}
}

// Elems returns an iterator over the indices and elements of an Array.
func (v Value) Elems() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		n := v.node()
		if n.kind() != Array {
			return
		}
		d := v.d
		k := 0
		for i, end := v.i+1, n.next; i < end; k++ {
			if int(i) >= len(d.nodes) {
				return // closed by the loop body
			}
			next := d.nodes[i].next
			if !yield(k, Value{d, i}) {
				return
			}
			i = next
		}
	}
}

// Get returns the member of an Object with the given name. It compares names one by
// one; to read many members, use Members.
func (v Value) Get(name string) Value {
	n := v.node()
	if n.kind() != Object {
		return Value{}
	}
	for i := v.i + 1; i < n.next; i = v.d.nodes[i+1].next {
		if v.d.textIs(&v.d.nodes[i], name) {
			return Value{v.d, i + 1}
		}
	}
	return Value{}
}

// Bool returns the value of a True or False; otherwise ok is false.
func (v Value) Bool() (b, ok bool) {
	k := v.Kind()
	return k == True, k == True || k == False
}

// Int returns the value of a Number that is an integer in the range of int64. A
// fraction of zeros is accepted, an exponent is not. The result is exact.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	raw := v.Raw()
	if n, ok := parseShortInt(raw); ok {
		return n, true
	}
	whole, fraction, _ := strings.Cut(raw, ".")
	for i := range len(fraction) {
		if fraction[i] != '0' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	return n, err == nil
}

// parseShortInt parses a number of up to 18 digits and nothing else: the common
// case.
func parseShortInt(s string) (n int64, ok bool) {
	if len(s) > 18 {
		return 0, false
	}
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, true
}

// Float returns the float64 nearest to a Number. It returns false if the number is
// out of range.
func (v Value) Float() (float64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	raw := v.Raw()
	if f, ok := parseShortFloat(raw); ok {
		return f, true
	}
	f, err := strconv.ParseFloat(raw, 64)
	return f, err == nil
}

// parseShortFloat parses a number of up to 15 digits, perhaps with a decimal point: the
// common case. The digits and the power of ten are exact, so that the result of the
// division is the nearest float64.
func parseShortFloat(s string) (f float64, ok bool) {
	if len(s) > 16 {
		return 0, false
	}
	n, digits, fraction := uint64(0), 0, 0
	for i := range len(s) {
		switch c := s[i] - '0'; {
		case c <= 9:
			n = n*10 + uint64(c)
			digits++
		case s[i] == '.':
			fraction = len(s) - i - 1
		default:
			return 0, false
		}
	}
	if digits > 15 {
		return 0, false
	}
	return float64(n) / powersOfTen[fraction], true
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
