package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/violation"
)

// An Origin is what parsing learned about a document beyond the fields of a request. It is not
// changed after parsing and is safe for concurrent use.
type Origin struct {
	Body string
	Cost int64 // see [Quota.Cost]

	// Lenient reports a member that is null, or something else that a server without that member
	// may reject: see [document.Document].
	Lenient bool

	Found

	Literals []jsonwire.Literal // strings of the document

	base64 []string // long texts that are valid base64, in the order of the document

	spans []document.Span // of the members that adapters replace
	room  [4]document.Span
}

// Note records a member of the document. isReplaced reports whether adapters replace it.
func (o *Origin) Note(name string, x jsonwire.Value, isReplaced func(name string) bool) {
	if isReplaced(name) {
		if o.spans == nil {
			o.spans = o.room[:0]
		}
		o.spans = append(o.spans, document.Span{Name: name, From: x.Offset(), To: x.End()})
	}
	o.Lenient = o.Lenient || x.Kind() == jsonwire.Null
}

// minBase64 is the minimum length of the base64 texts of an Origin, in bytes. To validate these again
// would cost more than all other rules.
const minBase64 = 4 << 10

// KeepBase64 records a text that is valid base64.
func (o *Origin) KeepBase64(data string) {
	if len(data) >= minBase64 {
		o.base64 = append(o.base64, data)
	}
}

// Base64Rule returns how to validate a text: with rule, or not at all if KeepBase64 has recorded it. n
// is the number of recorded texts before it. The comparison is fast because both share memory.
func (o *Origin) Base64Rule(data string, n *int, rule media.Base64Rule) media.Base64Rule {
	if len(data) < minBase64 || *n >= len(o.base64) || o.base64[*n] != data {
		return rule
	}
	*n++
	return media.Base64Checked
}

// Replaced returns the value of a member that adapters replace, or "" if the document has none.
func (o *Origin) Replaced(name string) string {
	return (&document.Document{Body: o.Body, Spans: o.spans}).Member(name)
}

// Finish records the result of parsing: the cost of the request, and the violations, whose paths
// have a style. It returns the violations as an error.
func (o *Origin) Finish(q *Quota, list *violation.List, style Style) error {
	o.Cost = q.Cost()
	err := list.Err()
	o.Violations = NewParseViolations(err, style)
	return err
}

// Document returns the document of a format for adapters.
func (o *Origin) Document(f content.Format) *document.Document {
	return &document.Document{In: f, Body: o.Body, Spans: o.spans, Literals: o.Literals, Lenient: o.Lenient}
}
