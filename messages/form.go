package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
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
	notes  codec.Notes
	plain  []*content.Text // the texts that were plain strings instead of lists
	wrong  *wrong          // nil if parsing found no fault
	sealed *codec.Sealed   // nil if it is not remembered
	cost   int64           // see [codec.Quota.Cost]

	model, stream codec.Extent

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
	list []*content.Violation
	more int // faults that were only counted
}

// Equal says true: spelling is not meaning.
func (*Form) Equal(*Form) bool { return true }

// spellings returns the notes by node and name; nil if there are none.
func (f *Form) spellings() map[codec.NoteKey]string {
	if f == nil {
		return nil
	}
	return f.notes.Table()
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
	return min(n+n/16, mostAhead)
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

// document returns the document in the shape in which adapters want it.
func (f *Form) document(header []upstream.Field) upstream.Wire {
	w := upstream.Wire{Format: Format, Body: f.body, Header: header}
	if f.model.To > 0 {
		w.Spans = append(make([]upstream.Span, 0, 2), f.model.Span("model"))
	}
	if f.stream.To > 0 {
		w.Spans = append(w.Spans, f.stream.Span("stream"))
	}
	return w
}
