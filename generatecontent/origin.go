package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// An origin holds what parsing found in a document and [Request] has no fields for:
// violations, unknown names, and the indices of parts and tools for paths. It is read-only
// and safe for concurrent use.
type origin struct {
	body   string
	nested bool // the request is a member of the body of countTokens
	model  codec.Extent
	cost   int64 // see [codec.Quota.Cost]

	violations *codec.ParseViolations // nil if the document has none
	unknown    content.ViolationList  // unknown names and values; violations under Strict

	// base64 are the long base64 texts that the parser has validated, in
	// document order. Validate does not validate them again.
	base64 []string

	dropped       []place // parts without data that were left out of turns
	droppedSystem []place // and of the system instruction
	madeUp        []int   // turns whose only part is not in the document
	tools         []place // by tool: its tool object, and its index in the declarations
}

// A place is an index into a list of lists. The system instruction is turn -1.
type place struct{ outer, inner int }

// builtIn is the inner index of a tool that is not a function declaration.
const builtIn = -1

// wire returns the document for adapters.
func (o *origin) wire() upstream.Wire {
	w := upstream.Wire{Format: Format, Body: o.body}
	if o.model.To > 0 {
		w.Spans = []upstream.Span{o.model.Span("model")}
	}
	return w
}

// allViolations returns the violations that parsing found, unknown names and values
// if strict is set, and then those of the rules. Both are left out where parsing found
// a violation at the same path or around it.
func (r *Request) allViolations(rules *content.ViolationList, strict bool) error {
	o := r.origin
	if o == nil && strict {
		o = r.encodedOrigin()
	}
	if o == nil {
		return rules.Err()
	}
	var unknown error
	if strict {
		unknown = o.unknown.Err()
	}
	return o.violations.Join(o.violations.Covers, unknown, rules.Err())
}

// encodedOrigin returns the unknown names and values in the document that a request made by
// hand encodes to. It returns nil if the request cannot be encoded, which
// encoding reports.
func (r *Request) encodedOrigin() *origin {
	doc, err := r.AppendJSON(nil)
	if err != nil {
		return nil
	}
	parsed, _ := parseRequest(string(doc), reading{limits: codec.UnlimitedRequest})
	if parsed == nil {
		return nil
	}
	return &origin{unknown: parsed.origin.unknown}
}

// toolPlaces returns where each tool is in the document: where it was when the
// document was parsed, if Tools still has tools of the same kinds, or else where
// the encoder writes it.
func (r *Request) toolPlaces() []place {
	if o := r.origin; o != nil && len(o.tools) == len(r.Tools) {
		same := true
		for i, at := range o.tools {
			same = same && (at.inner == builtIn) == (r.Tools[i].Kind != "")
		}
		if same {
			return o.tools
		}
	}
	return canonicalPlaces(r.Tools)
}

// canonicalPlaces returns where the encoder writes each tool: adjacent functions
// are in one tool object, any other tool has an object to itself.
func canonicalPlaces(tools []content.Tool) []place {
	list := make([]place, len(tools))
	last := place{-1, builtIn}
	for i := range tools {
		switch {
		case tools[i].Kind != "":
			last = place{last.outer + 1, builtIn}
		case last.inner == builtIn:
			last = place{last.outer + 1, 0}
		default:
			last.inner++
		}
		list[i] = last
	}
	return list
}
