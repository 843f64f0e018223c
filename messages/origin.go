package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// An origin holds what parsing learned about a document beyond the fields of the
// [Request]. It is not changed after parsing and is safe for concurrent use.
type origin struct {
	body          string
	model, stream codec.Extent
	cost          int64 // see [codec.Quota.Cost]

	violations *codec.ParseViolations // nil if the document has none

	// unread are texts and thinking blocks with a text or signature that is not a
	// string. These fields are empty. Violations that were only counted have no entry.
	unread []content.Part

	// base64 are the long base64 texts that the parser has validated, in
	// document order. Validate does not validate them again.
	base64 []string
}

// document returns the document for adapters of this format.
func (o *origin) document(header []upstream.Field) *upstream.Wire {
	w := &upstream.Wire{Format: Format, Body: o.body, Header: header}
	if o.model.To > 0 {
		w.Spans = append(make([]upstream.Span, 0, 2), o.model.Span("model"))
	}
	if o.stream.To > 0 {
		w.Spans = append(w.Spans, o.stream.Span("stream"))
	}
	return w
}

// mergeViolations returns the violations that parsing found, followed by those in
// later that do not repeat one of them. See hasViolation.
func (r *Request) mergeViolations(later *content.ViolationList) error {
	if r.origin == nil {
		return later.Err()
	}
	return r.origin.violations.Join(r.hasViolation, later.Err())
}

// hasViolation reports whether parsing found a violation at path, at an enclosing
// path, or at the "type" of the object at path.
func (r *Request) hasViolation(path string) bool {
	if r.origin == nil {
		return false
	}
	v := r.origin.violations
	return v.Whole() || v.Covers(path) || v.At(path+".type")
}

// isUnreadable reports whether parsing found a violation at path or below it. Rules
// that depend on the value at path are then not checked.
func (r *Request) isUnreadable(path string) bool {
	return r.origin != nil && r.origin.violations.Within(path)
}
