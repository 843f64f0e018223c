package generatecontent

import (
	"iter"

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

	violations *parseViolations      // nil if the document has none
	unknown    content.ViolationList // unknown names and values; violations under Strict

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

// parseViolations are the violations that parsing found, in document order. The
// rules look up paths in it, at a cost that does not depend on their number.
type parseViolations struct {
	list []*content.Violation
	more int // violations that were counted only

	at     map[string]bool // the paths of list
	around map[string]bool // the same, and paths around them
}

func newParseViolations(err error) *parseViolations {
	v := &parseViolations{at: map[string]bool{}, around: map[string]bool{}}
	v.list, v.more = content.Violations(err)
	for _, e := range v.list {
		// Violations of the whole document are about its names; no path is within them.
		if e.Path == "" {
			continue
		}
		v.at[e.Path] = true
		for path := range around(e.Path) {
			v.around[path] = true
		}
	}
	return v
}

func (v *parseViolations) err() error { return codec.ViolationsError(v.list, v.more) }

// has reports whether parsing found a violation at path or around it.
func (v *parseViolations) has(path string) bool {
	if v == nil {
		return false
	}
	for p := range around(path) {
		if v.at[p] {
			return true
		}
	}
	return false
}

// hasWithin reports whether parsing found a violation at path or below it.
// Violations that were counted only may be anywhere.
func (v *parseViolations) hasWithin(path string) bool {
	return v != nil && (v.more > 0 || v.around[path])
}

// maxAround bounds the paths around a path. Names in a schema may contain any
// number of dots; rules look up no path that deep.
const maxAround = 16

// around yields the paths around a path, outermost first, and the path itself.
func around(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, n := 1, 0; i < len(path) && n < maxAround; i++ {
			if path[i] == '.' || path[i] == '[' {
				if n++; !yield(path[:i]) {
					return
				}
			}
		}
		yield(path)
	}
}

// wire returns the document for adapters.
func (o *origin) wire() upstream.Wire {
	w := upstream.Wire{Format: Format, Body: o.body}
	if o.model.To > 0 {
		w.Spans = []upstream.Span{o.model.Span("model")}
	}
	return w
}

// allViolations returns the violations that parsing found, unknown names and values
// if strict is set, and then those of the rules. Violations of the rules are left
// out where parsing found one at the same path or around it.
func (r *Request) allViolations(rules *content.ViolationList, strict bool) error {
	o := r.origin
	if o == nil && strict {
		o = r.encodedOrigin()
	}
	if o == nil {
		return rules.Err()
	}
	var all []*content.Violation
	more := 0
	if o.violations != nil {
		all, more = append(all, o.violations.list...), o.violations.more
	}
	if strict {
		unknown, n := content.Violations(o.unknown.Err())
		all, more = append(all, unknown...), more+n
	}
	list, n := content.Violations(rules.Err())
	more += n
	for _, e := range list {
		if !o.violations.has(e.Path) {
			all = append(all, e)
		}
	}
	return codec.ViolationsError(all, more)
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
