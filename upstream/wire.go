package upstream

import (
	"github.com/polywire/polywire/content"
)

// A Wire is the document that a request was parsed from. An adapter of the
// same format sends these very bytes, with the members at Spans replaced.
type Wire struct {
	Format content.Format
	Body   string
	Header []Field // what belongs to the bytes, such as the format's version and betas
	Spans  []Span  // of the members that adapters replace

	of   *Request
	seen snapshot
}

// Equal says true: the bytes are how a request was said, not what.
func (*Wire) Equal(*Wire) bool { return true }

// A Span is where the value of a top-level member stands in a document.
type Span struct {
	Name     string
	From, To int
}

// Remember notes that r, as it is now, says what w says. A wire package calls
// it when it has made r of a document; w is read-only from then on, and is for
// this r alone. It costs a walk through r and two allocations.
func (r *Request) Remember(w *Wire) {
	w.of = r
	w.seen = snapshot{}
	w.seen.take(r)
	r.Wire = w
}

// WireOf returns what r was parsed from, or nil if r is not in that format, is
// a copy, or says anything else by now: every field and part is compared, but
// for Model, Stream, Resolver, ForwardLinks and RejectLoss, which are not the document's
// or are written by the encoder always. A part that was replaced by an equal one is
// no change, nor is a nil list by an empty one.
//
// It costs a walk through r and no allocation. Texts that still share memory
// with the document are not read.
func WireOf(r *Request, f content.Format) *Wire {
	w := r.Wire
	if w == nil || w.of != r || w.Format != f || !w.seen.same(r) {
		return nil
	}
	return w
}
