package codec

import (
	"iter"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
)

// ParseViolations are the violations that parsing found in a document, in document
// order. Rules look up paths in it, at a cost that does not depend on the number of
// violations. A nil ParseViolations has none. It is read-only and safe for concurrent
// use.
type ParseViolations struct {
	style Style
	list  []*content.Violation
	more  int // violations that were only counted

	whole bool            // list has a violation of the whole document
	at    map[string]bool // the other paths of list (true), and paths around them (false)
}

// NewParseViolations returns the violations in err, whose paths have a style. It
// returns nil if err is nil.
func NewParseViolations(err error, style Style) *ParseViolations {
	if err == nil {
		return nil
	}
	v := &ParseViolations{style: style, at: map[string]bool{}}
	v.list, v.more = content.Violations(err)
	for _, e := range v.list {
		if e.Path == "" {
			v.whole = true
			continue
		}
		for n := range v.pathsAround([]byte(e.Path)) {
			v.at[e.Path[:n]] = n == len(e.Path) || v.at[e.Path[:n]]
		}
	}
	return v
}

// Whole reports whether one of the violations is of the whole document.
func (v *ParseViolations) Whole() bool { return v != nil && v.whole }

// Incomplete reports whether some violations were only counted, so that their paths
// are not known.
func (v *ParseViolations) Incomplete() bool { return v != nil && v.more > 0 }

// At reports whether parsing found a violation at exactly this path, which is not
// empty.
func (v *ParseViolations) At(path string) bool { return v != nil && v.at[path] }

// Covers reports whether parsing found a violation at path or at a path around it,
// except the whole document.
func (v *ParseViolations) Covers(path string) bool {
	return v != nil && v.covers([]byte(path))
}

// CoversPath is Covers for a path followed by names.
func (v *ParseViolations) CoversPath(path *Path, names ...string) bool {
	if v == nil {
		return false
	}
	var b [maxShortPath]byte
	return v.covers(path.Append(b[:0], names...))
}

func (v *ParseViolations) covers(path []byte) bool {
	for n := range v.pathsAround(path) {
		// Without a violation within a path there is none within a longer one.
		if at, within := v.at[string(path[:n])]; at || !within {
			return at
		}
	}
	return false
}

// Within reports whether parsing found a violation at path or below it. Violations
// that were only counted may be anywhere.
func (v *ParseViolations) Within(path string) bool {
	if v == nil || v.more > 0 {
		return v != nil
	}
	_, within := v.at[path]
	return within
}

// WithinPath is Within for a path followed by names.
func (v *ParseViolations) WithinPath(path *Path, names ...string) bool {
	if v == nil || v.more > 0 {
		return v != nil
	}
	var b [maxShortPath]byte
	_, within := v.at[string(path.Append(b[:0], names...))]
	return within
}

// maxShortPath is the length of paths that are looked up without an allocation.
const maxShortPath = 128

// Join returns one error for these violations, followed by those of later, one error
// after the other, for whose paths repeats returns false.
func (v *ParseViolations) Join(repeats func(path string) bool, later ...error) error {
	var all []*content.Violation
	more := 0
	if v != nil {
		all, more = append(all, v.list...), v.more
	}
	for _, err := range later {
		list, n := content.Violations(err)
		more += n
		for _, e := range list {
			if !repeats(e.Path) {
				all = append(all, e)
			}
		}
	}
	return violationsError(all, more)
}

// Repeats reports whether a violation at path repeats one that parsing found: at path, at a path
// around it, at the "type" of the object at path, or of the whole document.
func (v *ParseViolations) Repeats(path string) bool {
	return v.Whole() || v.Covers(path) || v.At(path+".type")
}

// Found is what parsing has found in a document. The methods accept nil, for a request that was
// not parsed.
type Found struct {
	Violations *ParseViolations // nil if the document has none
	Unknown    violation.List   // unknown names and values; violations under strict validation
}

// Merge returns one error for the violations that parsing found, followed by Unknown if strict is
// set, and by rules, those of the rules of a format. It leaves out those that repeat a violation
// that parsing found. See Repeats.
func (f *Found) Merge(rules *violation.List, strict bool) error {
	switch {
	case f == nil, f.Violations == nil && !strict:
		return rules.Err()
	case strict:
		return f.Violations.Join(f.Violations.Repeats, f.Unknown.Err(), rules.Err())
	}
	return f.Violations.Join(f.Violations.Repeats, rules.Err())
}

// Repeats reports whether parsing found a violation that one at path repeats: see
// [ParseViolations.Repeats].
func (f *Found) Repeats(path string) bool { return f != nil && f.Violations.Repeats(path) }

// Within reports whether parsing found a violation at path or below it. Rules that depend on the
// value at path are then not checked.
func (f *Found) Within(path string) bool { return f != nil && f.Violations.Within(path) }

// violationsError returns one error for violations in their order. more is the number
// of further violations.
func violationsError(list []*content.Violation, more int) error {
	if over := len(list) - content.MaxViolations; over >= 0 {
		return content.JoinViolations(list[:content.MaxViolations], more+over)
	}
	return content.JoinViolations(list, 0)
}

// maxAround bounds the paths around a path. Names in a schema may contain any
// number of dots; rules look up no path that deep.
const maxAround = 16

// pathsAround yields the lengths of the paths around a path, outermost first, and of the path
// itself.
func (v *ParseViolations) pathsAround(path []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, n := 1, 0; i < len(path) && n < maxAround; i++ {
			if path[i] == '.' || path[i] == '[' && v.style == Bracketed {
				if n++; !yield(i) {
					return
				}
			}
		}
		yield(len(path))
	}
}

// SyntaxViolation returns the violation for a body that is not valid JSON, with the text head and
// that of err.
func SyntaxViolation(head string, err error) *content.Violation {
	e, ok := err.(*jsonwire.SyntaxError)
	if !ok {
		return &content.Violation{Code: content.CodeSyntax, Text: head + err.Error()}
	}
	code := content.CodeSyntax
	switch e.Reason {
	case jsonwire.TooDeep, jsonwire.TooManyValues, jsonwire.TooLong:
		code = content.CodeLimit
	}
	return &content.Violation{Code: code, Text: head + e.Text +
		" at line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column)}
}
