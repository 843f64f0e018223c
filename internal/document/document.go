// Package document defines the document that a request keeps beside its neutral form.
// Package snapshot attaches it to a request and detects changes of the request.
package document

import "github.com/polywire/polywire/content"

// A Document is the document from which a request was parsed. An adapter of the same
// format sends Body with the members at Spans replaced.
type Document struct {
	Format content.Format
	Body   string
	Spans  []Span // members that adapters replace

	// Parsed converts paths of the request to paths in the document. It may be nil.
	Parsed interface{ Path(neutral string) string }

	// Lenient reports that the vendor's own server accepts the document, but a stricter one
	// of the same format may not: encoded anew, the request has no loss and a stricter form.
	Lenient bool

	Request  any // the only request that the document represents, an *upstream.Request
	Snapshot Snapshot
}

// Paths returns a document that only converts paths. No adapter sends it.
func (d *Document) Paths() *Document {
	if d == nil {
		return nil
	}
	return &Document{Format: d.Format, Parsed: d.Parsed}
}

// Equal returns true. With it, cmp.Diff compares requests by meaning and not by
// document.
func (*Document) Equal(*Document) bool { return true }

// A Span is the position of the value of a top-level member in a document:
// Body[From:To].
type Span struct {
	Name     string
	From, To int
}

// A Snapshot records the values of a request: every nonempty string and every nonzero
// number, each with its position in the order of a walk. Unchanged strings share memory
// with the recorded ones, so comparing them takes two words each.
type Snapshot struct {
	Texts   []TextAt
	Numbers []NumberAt
}

// A TextAt is a string at a position of the walk.
type TextAt struct {
	Place uint32
	Text  string
}

// A NumberAt is a number at a position of the walk.
type NumberAt struct {
	Place  uint32
	Number uint64
}
