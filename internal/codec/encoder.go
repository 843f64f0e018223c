package codec

import (
	"cmp"
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
)

// An Encoder writes the members of a request. It continues after a violation, so that
// all violations are reported; the document is invalid then.
type Encoder struct {
	W          *jsonwire.Writer
	Path       Path
	Violations violation.List

	// Parsed reports that all JSON texts are valid, because they were parsed before.
	Parsed bool

	// DisplayPath converts a path of names as they are written to the notation of
	// violations. Nil means no conversion.
	DisplayPath func(path string) string
}

// Violation adds a violation at the member name of the current object, or at the object
// itself if name is empty.
func (e *Encoder) Violation(code content.Code, name, text string) {
	path := e.Path.At()
	if name != "" {
		path = e.Path.At(name)
	}
	if e.DisplayPath != nil {
		path = e.DisplayPath(path)
	}
	e.Violations.Add(code, path, text)
}

// OptNumber writes a number unless it is nil. NaN and infinities are violations.
func (e *Encoder) OptNumber(name string, f *float64) {
	if f == nil {
		return
	}
	if math.IsNaN(*f) || math.IsInf(*f, 0) {
		e.Violation(content.CodeRange, name, "must be a finite number")
		return
	}
	e.W.Name(name)
	e.W.Float(*f)
}

// Strings writes a list of strings unless it is empty.
func (e *Encoder) Strings(name string, list []string) {
	if len(list) == 0 {
		return
	}
	e.W.Array(name)
	for _, s := range list {
		e.W.String(s)
	}
	e.W.EndArray()
}

// Raw writes JSON text. It checks the text, which may come from a host: invalid JSON
// could change the members after it.
func (e *Encoder) Raw(name, json string) {
	if e.Valid(name, json) {
		e.W.RawMember(name, json)
	}
}

// Free writes a JSON object. An empty text means {}.
func (e *Encoder) Free(name, json string) {
	json = cmp.Or(json, "{}")
	if !jsonwire.IsObject(json) {
		e.Violation(content.CodeType, name, "must be a JSON object")
		return
	}
	e.Raw(name, json)
}

// Valid reports whether json is a valid JSON document. If not, it adds a violation.
func (e *Encoder) Valid(name, json string) bool {
	if e.Parsed {
		return true
	}
	if err := jsonwire.Valid(json, UnlimitedJSON); err != nil {
		e.Violation(content.CodeSyntax, name, "is not valid JSON: "+err.Error())
		return false
	}
	return true
}

// Begin begins a member whose value is an object.
func (e *Encoder) Begin(name string) {
	e.W.Name(name)
	e.Path.Push(name)
	e.W.BeginObject()
}

// End ends the object that Begin began.
func (e *Encoder) End() {
	e.W.EndObject()
	e.Path.Pop()
}

// List writes a member whose value is a list of n elements, which write writes. Paths in them
// have the index.
func (e *Encoder) List(name string, n int, write func(i int)) {
	e.W.Array(name)
	e.Path.Push(name)
	for i := range n {
		e.Path.PushIndex(i)
		write(i)
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

// Extra writes the members of x, except those for which skip returns true, if they are
// of the format f.
func (e *Encoder) Extra(x *content.Extra, f content.Format, skip func(name string) bool) {
	if x == nil || x.Format != f {
		return
	}
	if !jsonwire.IsObject(x.JSON) {
		e.Violation(content.CodeType, "", "the extra members must be a JSON object")
		return
	}
	if err := e.W.MembersExcept(x.JSON, skip); err != nil {
		e.Violation(content.CodeSyntax, "", "the extra members are not valid JSON: "+err.Error())
	}
}
