// Package document defines the document that a request keeps beside its neutral form.
// Package snapshot attaches it to a request and detects changes of the request.
package document

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Document is the document from which a request was parsed. An adapter of the same
// format sends Body with the members at Spans replaced.
type Document struct {
	In    content.Format // the format of Body
	Body  string
	Spans []Span // members that adapters replace

	Literals []jsonwire.Literal // strings of the document, also of one that only converts paths
	Model    string             // that the client requested, or empty if it is unknown

	// Parsed converts paths of the request to paths in the document. It may be nil.
	Parsed interface{ Path(neutral string) string }

	// Lenient reports that the vendor's own server accepts the document, but a stricter one
	// of the same format may not: encoded anew, the request has no loss and a stricter form.
	Lenient bool

	// Partial reports that the document has or lacks members because of the path that the client
	// used, such as that of a cloud: it is not that of a request to the vendor.
	Partial bool

	// StateDropped reports that the client did not return all state of earlier responses in
	// its place: see the placement of package messages.
	StateDropped bool

	// OtherFormatErr, if not nil, is the error if the request would be sent in another
	// format: it depends on state that the vendor of Format keeps. SameFormatErr is the
	// error if it would be sent in Format; nil means that it may. It is used only with
	// OtherFormatErr.
	OtherFormatErr, SameFormatErr error

	Request  any // the only request that the document represents, an *upstream.Request
	Snapshot Snapshot

	// Unchanged reports whether Request has the values of Snapshot. Package snapshot sets it.
	Unchanged func(d *Document) bool
}

// A Wire is what programs see of a Document: the interface upstream.Document.
type Wire interface {
	Format() content.Format
	String() string
}

// Of returns the document of a request, or nil if w is nil or no Document.
func Of(w Wire) *Document {
	d, _ := w.(*Document)
	return d
}

// Wire returns d for a request: nil if d is nil.
func (d *Document) Wire() Wire {
	if d == nil {
		return nil
	}
	return d
}

// Format returns the format of the document.
func (d *Document) Format() content.Format { return d.In }

// String returns the text of the document, or "" if the document only converts paths.
func (d *Document) String() string { return d.Body }

// Member returns the value of a member at one of the Spans, or "" if the document does not have it.
func (d *Document) Member(name string) string {
	for _, s := range d.Spans {
		if s.Name == name {
			return d.Body[s.From:s.To]
		}
	}
	return ""
}

// Paths returns a document that only converts paths. No adapter sends it.
func (d *Document) Paths() *Document {
	if d == nil {
		return nil
	}
	return &Document{
		In: d.In, Literals: d.Literals, Parsed: d.Parsed, StateDropped: d.StateDropped,
		OtherFormatErr: d.OtherFormatErr, SameFormatErr: d.SameFormatErr,
	}
}

// Represents reports whether d is the document of request, an *upstream.Request, and no field or
// part of that has changed. d may be nil.
func (d *Document) Represents(request any) bool {
	return d != nil && d.Request == request && d.Unchanged != nil && d.Unchanged(d)
}

// DropsState reports d.StateDropped. d may be nil.
func (d *Document) DropsState() bool { return d != nil && d.StateDropped }

// HasState reports whether the request depends on state that the vendor of the format keeps.
// d may be nil.
func (d *Document) HasState() bool { return d != nil && d.OtherFormatErr != nil }

// CheckFormat returns the error of a request that HasState and would be sent in format f. If
// err is not nil, the format is unknown and CheckFormat returns err.
func (d *Document) CheckFormat(f content.Format, err error) error {
	switch {
	case err != nil:
		return err
	case f != d.In:
		return d.OtherFormatErr
	}
	return d.SameFormatErr
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

// An Edit replaces the bytes of a document from From to To.
type Edit struct {
	From, To int
	Text     string
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
