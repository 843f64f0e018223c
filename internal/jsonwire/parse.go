package jsonwire

import (
	"hash/maphash"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits bounds the documents that [Parse] accepts.
type Limits struct {
	// Depth is the maximum nesting of objects and arrays; 0 means 256.
	Depth int

	// Values is the maximum number of values of any kind and depth, not counting
	// names; 0 means 1,000,000. The limit is never more than 16,777,215.
	Values int

	// AllowInvalidUTF8 accepts lone surrogates and invalid UTF-8 in strings. Each
	// becomes U+FFFD and is counted by [Doc.Replacements]. Names that become equal
	// are duplicates.
	AllowInvalidUTF8 bool

	// AllowDuplicateNames accepts duplicate member names, which saves comparing
	// them. It is for text that was parsed without it before.
	AllowDuplicateNames bool
}

const (
	defaultDepth  = 256
	defaultValues = 1_000_000
	maxValues     = 1<<24 - 1
	maxSource     = 1<<31 - 1
)

// A Doc is a valid document. It must be used by one goroutine at a time.
type Doc struct {
	src      string
	nodes    []node // the tape; nil when closed
	tape     *tape
	replaced int
	arena    Arena

	// Literals, if not nil, is where [Value.Str] adds long strings with escapes.
	Literals *[]Literal
}

// A Literal is a string with escapes, and the text between its quotes in a document. A [Writer]
// that has Literals references that text, instead of escaping the string again.
type Literal struct{ Text, Source string }

// literalSize is the length from which strings are Literals.
const literalSize = 512

// A tape is the pooled memory of a Doc: its nodes and scratch space.
type tape struct {
	nodes   []node
	open    []frame
	table   []uint64
	scratch []byte
	decoded []byte // decoded text of strings with escapes, at their place in the source; nil: none
	seed    maphash.Seed
	seeded  bool
}

// Larger buffers do not return to the pool, or one huge document would keep its
// memory allocated.
const (
	keepNodes = 1 << 16
	keepOpen  = 1 << 10
	keepTable = 1 << 15
)

// scratchSize has room for any text that goes to the arena, and for the word that
// unescape writes ahead.
const scratchSize = arenaWhole + 16

var tapes = sync.Pool{New: func() any { return new(tape) }}

// Parse validates src and indexes it. The error is a [*SyntaxError] about the first
// violation. A duplicate name may be found after a later violation. The caller
// should close the Doc after reading its values.
//
// If AllowInvalidUTF8 requires replacements, Parse first makes a repaired copy of
// src. Source, Raw, Offset and End refer to that copy.
func Parse(src string, lim Limits) (*Doc, error) {
	d := new(Doc)
	if err := d.ParseSingle(src, lim); err != nil {
		return nil, err
	}
	return d, nil
}

// parse fills the closed d, and leaves it closed on an error.
func (d *Doc) parse(src string, lim Limits) error {
	t := tapes.Get().(*tape)
	s := scanner{tape: t, src: src, limits: lim}
	ok := s.document()
	replaced := 0
	if !ok && lim.AllowInvalidUTF8 && (s.reason == InvalidUTF8 || s.reason == LoneSurrogate) {
		src, replaced = repair(src)
		s = scanner{tape: t, src: src, limits: lim}
		ok = s.document()
	}
	if !ok {
		release(t)
		return newError(src, s.at, s.reason, s.text)
	}
	d.src, d.nodes, d.tape, d.replaced = src, t.nodes, t, replaced
	return nil
}

// Valid returns the error that [Parse] would return.
func Valid(json string, lim Limits) error {
	d, err := Parse(json, lim)
	if err != nil {
		return err
	}
	d.Close()
	return nil
}

// IsObject reports whether json, a valid document, is an object.
func IsObject(json string) bool {
	i := skipSpace(json, 0)
	return i < len(json) && json[i] == '{'
}

// ValidObject reports whether json is a valid document within the default limits,
// and an object.
func ValidObject(json string) bool {
	d, err := Parse(json, Limits{})
	if err != nil {
		return false
	}
	defer d.Close()
	return d.Root().Kind() == Object
}

// Root returns the top-level value.
func (d *Doc) Root() Value { return Value{d, 0} }

// Source returns the text that was parsed, or its repaired copy.
func (d *Doc) Source() string { return d.src }

// Replacements returns the number of bytes and escapes that became U+FFFD.
func (d *Doc) Replacements() int { return d.replaced }

// Close releases the index. The document's values then have Kind None; strings taken
// from it stay valid. Closing a closed or nil Doc does nothing.
func (d *Doc) Close() {
	if d == nil || d.tape == nil {
		return
	}
	t := d.tape
	d.nodes, d.tape = nil, nil
	release(t)
}

// release puts t into the pool without oversized buffers. Nothing in it refers to a
// document.
func release(t *tape) {
	if cap(t.nodes) > keepNodes {
		t.nodes = nil
	}
	if cap(t.open) > keepOpen {
		t.open = nil
	}
	if cap(t.table) > keepTable {
		t.table = nil
	}
	tapes.Put(t)
}

// byteOrderMark returns the error text for a byte order mark at the beginning of
// src, or "".
func byteOrderMark(src string) string {
	switch {
	case strings.HasPrefix(src, "\xEF\xBB\xBF"):
		return "the document begins with a byte order mark, which JSON does not allow"
	case strings.HasPrefix(src, "\xFE\xFF"), strings.HasPrefix(src, "\xFF\xFE"):
		return "the document begins with a byte order mark of UTF-16; JSON is sent as UTF-8"
	}
	return ""
}

// Parse is like the function [Parse] for a Doc that is used repeatedly, such as for
// the events of a stream. It allocates only memory for decoded strings, which all
// its documents share. The zero Doc is ready to use. Parse closes the previous
// document, whose Values become invalid. If Parse fails, the Doc is closed.
func (d *Doc) Parse(src string, lim Limits) error {
	d.Close()
	return d.parse(src, lim)
}

// ParseSingle is like the function [Parse] for a zero Doc that is a field of another
// value, which saves an allocation. The Doc must not be used for another document.
func (d *Doc) ParseSingle(src string, lim Limits) error {
	if err := d.parse(src, lim); err != nil {
		return err
	}
	// Decoded strings are no longer than the source.
	d.arena.chunk = min(arenaChunk, len(src))
	return nil
}

// repair returns a copy of src with each invalid byte and each lone surrogate in
// strings replaced by U+FFFD, and the number of replacements. It runs only for
// invalid documents, so it need not be fast.
func repair(src string) (string, int) {
	const replacement = "\uFFFD"
	var b strings.Builder
	b.Grow(len(src) + 64)
	count, from, inside := 0, 0, false
	replace := func(i, n int) {
		b.WriteString(src[from:i])
		b.WriteString(replacement)
		from = i + n
		count++
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '"':
			inside = !inside
			i++
		case !inside:
			i++
		case c == '\\':
			n, lone := escape(src, i)
			if lone {
				replace(i, n)
			}
			i += n
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(src[i:])
			if r == utf8.RuneError && n == 1 {
				replace(i, 1)
			}
			i += n
		}
	}
	b.WriteString(src[from:])
	return b.String(), count
}

// escape returns the length of the escape at i, and whether it is a lone surrogate. A
// surrogate pair is one escape. The scanner refuses escapes that are invalid.
func escape(src string, i int) (n int, lone bool) {
	s := scanner{src: src}
	end, _ := s.scanUnicode(i)
	switch {
	case end >= 0:
		return end - i, false
	case s.reason == LoneSurrogate:
		return 6, true
	}
	return 2, false
}
