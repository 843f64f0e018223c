package messages

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// An origin is what parsing found out about a document and the fields of the
// [Request] do not hold. It is read-only, and may be used by several goroutines.
type origin struct {
	body          string
	model, stream codec.Extent
	cost          int64 // see [codec.Quota.Cost]

	violations []*content.Violation
	more       int // violations that were only counted

	// unread are the texts and thinking blocks whose text or signature could not be
	// read, as far as violations has them. Their fields are empty.
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

// withoutRepeats returns the violations that parsing found, followed by those of
// later that do not repeat one of them: at the same place, about something around
// it, or about the type of what is there.
func (r *Request) withoutRepeats(later *content.ViolationList) error {
	o := r.origin
	if o == nil || len(o.violations) == 0 {
		return later.Err()
	}
	list, more := content.Violations(later.Err())
	all := slices.Clone(o.violations)
	for _, e := range list {
		if !r.violated(e.Path) {
			all = append(all, e)
		}
	}
	return codec.ViolationsError(all, o.more+more)
}

// violated reports whether parsing found a violation at path, around it, or in the
// type of what is there.
func (r *Request) violated(path string) bool {
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

// unreadable reports whether parsing found a violation at path or below it, so that
// what depends on it cannot be validated.
func (r *Request) unreadable(path string) bool {
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

// isWithin reports whether path is outer or below it.
func isWithin(path, outer string) bool {
	if outer == "" {
		return true
	}
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.')
}
