package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Form is how a document spelled what a [Request] says: which texts were plain
// strings instead of lists, which members were null or had their default
// written out, how numbers were written. With it a parsed request encodes
// again to the same JSON value. Where a value has been changed since, its
// spelling counts no longer.
//
// It also keeps the document itself and the faults that parsing found. It is
// read-only, and may be used from several goroutines at once.
type Form struct {
	body   string
	notes  []note
	plain  []*content.Text // the texts that were plain strings instead of lists
	wrong  *wrong          // nil if parsing found no fault
	sealed *sealed         // nil if it is not remembered

	model, stream extent

	// sound are the long base64 texts that the reader has looked at already
	// and found good, in their order. Validate skips what is still the same.
	sound []string

	// free are the free JSON texts in tools and messages, in their order: the
	// encoder need not check again what is still the same. Those of the tools
	// begin at tools, those of the messages at turns.
	free         []string
	tools, turns int
}

// wrong is the faults that parsing found, in the order of the document.
type wrong struct {
	list []*content.Error
	more int // faults that were only counted
}

// An extent is where the value of a top-level member stands in the body. It is
// zero if there is none. Documents are shorter than 2 GiB.
type extent struct{ from, to int32 }

// sealed is what a request said in neutral words when it was parsed. It shares
// parts and lists with the request, so upstream's own comparison sees whatever
// has been changed in place.
type sealed struct {
	request upstream.Request
	wire    upstream.Wire
}

// Equal says true: spelling is not meaning.
func (*Form) Equal(*Form) bool { return true }

// A note is how one member was spelled, where its value does not tell.
type note struct {
	node any    // a pointer to what the member belongs to
	name string // the member's
	raw  string // the JSON text it had, or absent
}

// absent notes a member that was left out although an encoder would by itself
// write a null.
const absent = ""

type noteKey struct {
	node any
	name string
}

// spellings returns the notes by node and name; nil if there are none.
func (f *Form) spellings() map[noteKey]string {
	if f == nil || len(f.notes) == 0 {
		return nil
	}
	m := make(map[noteKey]string, len(f.notes))
	for _, n := range f.notes {
		m[noteKey{n.node, n.name}] = n.raw
	}
	return m
}

// size returns about how long the document will be when it is encoded again,
// not counting long texts.
func (f *Form) size() int {
	if f == nil {
		return 0
	}
	n := len(f.body)
	for _, s := range f.sound {
		n -= len(s)
	}
	return min(n+n/16, 512<<10)
}

// plainTexts returns the texts that were plain strings; nil if there are none.
func (f *Form) plainTexts() map[*content.Text]bool {
	if f == nil || len(f.plain) == 0 {
		return nil
	}
	m := make(map[*content.Text]bool, len(f.plain))
	for _, t := range f.plain {
		m[t] = true
	}
	return m
}

func extentOf(v jsonwire.Value) extent { return extent{int32(v.Offset()), int32(v.End())} }

// document returns the document in the shape in which adapters want it.
func (f *Form) document(header []upstream.Field) upstream.Wire {
	w := upstream.Wire{Format: Format, Body: f.body, Header: header}
	if f.model.to > 0 {
		w.Spans = append(make([]upstream.Span, 0, 2), f.model.span("model"))
	}
	if f.stream.to > 0 {
		w.Spans = append(w.Spans, f.stream.span("stream"))
	}
	return w
}

func (e extent) span(name string) upstream.Span {
	return upstream.Span{Name: name, From: int(e.from), To: int(e.to)}
}
