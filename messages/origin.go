package messages

import (
	"slices"
	"strings"

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

	violations []*content.Violation
	more       int // violations that were only counted

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
	o := r.origin
	if o == nil || len(o.violations) == 0 {
		return later.Err()
	}
	list, more := content.Violations(later.Err())
	all := slices.Clone(o.violations)
	for _, e := range list {
		if !r.hasViolation(e.Path) {
			all = append(all, e)
		}
	}
	return codec.ViolationsError(all, o.more+more)
}

// hasViolation reports whether parsing found a violation at path, at an enclosing
// path, or at the "type" of the object at path.
func (r *Request) hasViolation(path string) bool {
	if r.origin == nil {
		return false
	}
	for _, e := range r.origin.violations {
		if isWithin(path, e.Path) || e.Path == path+".type" {
			return true
		}
	}
	return false
}

// isUnreadable reports whether parsing found a violation at path or below it. Rules
// that depend on the value at path are then not checked.
func (r *Request) isUnreadable(path string) bool {
	if r.origin == nil {
		return false
	}
	for _, e := range r.origin.violations {
		if isWithin(e.Path, path) {
			return true
		}
	}
	return r.origin.more > 0
}

// isWithin reports whether path equals outer or is below it.
func isWithin(path, outer string) bool {
	if outer == "" {
		return true
	}
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.')
}
