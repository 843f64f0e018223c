package jsonwire

import (
	"hash/maphash"
	"strings"
	"sync"
)

// Limits bounds what [Parse] accepts.
type Limits struct {
	// Depth is how deep objects and arrays may be nested, both counted
	// together; 0 means 256.
	Depth int

	// Values is how many values the document may hold, of any kind and at any
	// depth, names not counted; 0 means 1,000,000. No more than 16,777,215 are
	// ever accepted.
	Values int

	// Lenient accepts lone surrogates and bytes that are not UTF-8 in strings.
	// Each becomes U+FFFD and is counted by [Doc.Replaced]. Everything else
	// stays as strict, and names that become equal by it are duplicates.
	Lenient bool

	// Repeated accepts member names that come twice, which saves comparing
	// them. It is for text that has passed without it before.
	Repeated bool
}

const (
	defaultDepth  = 256
	defaultValues = 1_000_000
	maxValues     = 1<<24 - 1
	maxSource     = 1<<31 - 1
)

// A Doc is a document that has passed every check. It is for one goroutine at
// a time.
type Doc struct {
	src      string
	nodes    []node // the tape; nil when closed
	tape     *tape
	replaced int
	arena    Arena
}

// A tape is what a Doc borrows: the nodes and the memory that making and
// reading them takes.
type tape struct {
	nodes   []node
	open    []frame
	table   []uint64
	scratch []byte
	seed    maphash.Seed
	seeded  bool
}

// What is larger than this does not go back to the pool, or one giant document
// would be remembered for ever.
const (
	keepNodes = 1 << 16
	keepOpen  = 1 << 10
	keepTable = 1 << 15
)

// scratchSize has room for any text that goes to the arena and for the word
// that unescape writes ahead.
const scratchSize = arenaWhole + 16

var tapes = sync.Pool{New: func() any { return new(tape) }}

// Parse checks src and indexes it. The error is a [*SyntaxError] about the
// first fault found; a name that comes twice may be found later than a fault
// behind it. Close the Doc when its values have been read.
//
// If lenient parsing has to replace something, it first makes a repaired copy
// of src, and Source, Raw, Offset and End speak of that copy. So nothing broken
// is ever handed out.
func Parse(src string, lim Limits) (*Doc, error) {
	d := new(Doc)
	if err := d.ParseOnce(src, lim); err != nil {
		return nil, err
	}
	return d, nil
}

// parse fills d, which is closed, and leaves it so if there is an error.
func (d *Doc) parse(src string, lim Limits) error {
	t := tapes.Get().(*tape)
	s := scanner{tape: t, src: src, limits: lim}
	ok := s.document()
	replaced := 0
	if !ok && lim.Lenient && (s.reason == InvalidUTF8 || s.reason == LoneSurrogate) {
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

// IsObject reports whether json, a checked document, is an object.
func IsObject(json string) bool {
	i := skipSpace(json, 0)
	return i < len(json) && json[i] == '{'
}

// ValidObject reports whether json, which may come from anywhere, is a document
// within the usual limits, and an object.
func ValidObject(json string) bool {
	d, err := Parse(json, Limits{})
	if err != nil {
		return false
	}
	defer d.Close()
	return d.Root().Kind() == Object
}

// Root returns the document's one value.
func (d *Doc) Root() Value { return Value{d, 0} }

// Source returns the text that the values are part of: the one that was
// parsed, or its repaired copy.
func (d *Doc) Source() string { return d.src }

// Replaced returns how many bytes and escapes became U+FFFD. It is 0 unless
// the limits were lenient.
func (d *Doc) Replaced() int { return d.replaced }

// Close gives the memory of the index back. From then on the values of the
// document are of Kind None; strings taken from it stay valid for ever. Closing
// a closed or nil Doc does nothing.
func (d *Doc) Close() {
	if d == nil || d.tape == nil {
		return
	}
	t := d.tape
	d.nodes, d.tape = nil, nil
	release(t)
}

// release puts t into the pool without what is too large to keep. Nothing in it
// refers to a document.
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

// byteOrderMark returns what to say of the byte order mark that src begins
// with, or "".
func byteOrderMark(src string) string {
	switch {
	case strings.HasPrefix(src, "\xEF\xBB\xBF"):
		return "the document begins with a byte order mark, which JSON does not allow"
	case strings.HasPrefix(src, "\xFE\xFF"), strings.HasPrefix(src, "\xFF\xFE"):
		return "the document begins with a byte order mark of UTF-16; JSON is sent as UTF-8"
	}
	return ""
}
