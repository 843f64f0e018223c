package codec

import (
	"math"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// An Encoder writes the members of a request with the spelling that they had.
// It goes on after a fault, so that all of them are told; what was written is
// then worth nothing.
type Encoder struct {
	W          *jsonwire.Writer
	Notes      map[NoteKey]string
	Path       Path
	Violations content.ViolationList

	// DisplayPath tells a path with names as they are written in the words of paths;
	// nil: as it is. It is asked only when there is a fault.
	DisplayPath func(path string) string
}

// Violation notes what cannot be written: the member name of the object that the
// path is at, or that object if name is empty.
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

// Noted returns how a member was spelled.
func (e *Encoder) Noted(node any, name string) (raw string, ok bool) {
	raw, ok = e.Notes[NoteKey{node, name}]
	return raw, ok
}

// AsNoted writes a member that has its zero value as it was spelled: null, or
// the zero value written out. If it was not there, or has not been parsed,
// nothing is written.
func (e *Encoder) AsNoted(node any, name string) {
	switch raw := e.Notes[NoteKey{node, name}]; {
	case raw == Absent, raw == AsString, isNumber(raw) && raw != "0":
	default:
		e.W.Name(name)
		e.W.Raw(raw)
	}
}

// asNull writes a number that is nil as null if it was null. Any number that
// was noted is one that it no longer has.
func (e *Encoder) asNull(node any, name string) {
	if e.Notes[NoteKey{node, name}] == "null" {
		e.W.Name(name)
		e.W.Null()
	}
}

// isNumber reports whether a note is that of a number.
func isNumber(raw string) bool {
	return raw != "" && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// Must writes a string that is always there.
func (e *Encoder) Must(name, s string) {
	e.W.Name(name)
	e.W.String(s)
}

// Text writes a string, or nothing but what was noted if it is empty.
func (e *Encoder) Text(node any, name, s string) {
	if s == "" {
		e.AsNoted(node, name)
		return
	}
	e.Must(name, s)
}

// Flag writes true, or what was noted.
func (e *Encoder) Flag(node any, name string, b bool) {
	if !b {
		e.AsNoted(node, name)
		return
	}
	e.W.Name(name)
	e.W.Bool(true)
}

// OptFlag writes a boolean, or what was noted if it is nil.
func (e *Encoder) OptFlag(node any, name string, b *bool) {
	if b == nil {
		e.AsNoted(node, name)
		return
	}
	e.W.Name(name)
	e.W.Bool(*b)
}

// OptInt writes a whole number, or null if it is nil and was null.
func (e *Encoder) OptInt(node any, name string, n *int64) {
	if n == nil {
		e.asNull(node, name)
		return
	}
	e.Int(node, name, *n)
}

// Int writes a number with the digits it had, if it still is that number.
func (e *Encoder) Int(node any, name string, n int64) {
	e.W.Name(name)
	raw := e.Notes[NoteKey{node, name}]
	whole, _, _ := strings.Cut(raw, ".")
	if old, err := strconv.ParseInt(whole, 10, 64); err == nil && old == n {
		e.W.Raw(raw)
		return
	}
	e.W.Int(n)
}

// OptNumber writes a number with the digits it had, if it still is that
// number, or null if it is nil and was null.
func (e *Encoder) OptNumber(node any, name string, f *float64) {
	if f == nil {
		e.asNull(node, name)
		return
	}
	if math.IsNaN(*f) || math.IsInf(*f, 0) {
		e.Violation(content.CodeRange, name, "must be a finite number")
		return
	}
	e.W.Name(name)
	raw := e.Notes[NoteKey{node, name}]
	if old, err := strconv.ParseFloat(raw, 64); err == nil && old == *f {
		e.W.Raw(raw)
		return
	}
	e.W.Float(*f)
}

// Strings writes a list of strings, or what was noted if it is empty.
func (e *Encoder) Strings(node any, name string, list []string) {
	if len(list) == 0 {
		e.AsNoted(node, name)
		return
	}
	e.W.Name(name)
	e.W.BeginArray()
	for _, s := range list {
		e.W.String(s)
	}
	e.W.EndArray()
}

// OptRaw writes a member that is kept as JSON text, or what was noted if it is
// empty.
func (e *Encoder) OptRaw(node any, name, json string) {
	if json == "" {
		e.AsNoted(node, name)
		return
	}
	e.Raw(name, json)
}

// Raw writes a member that is kept as JSON text. It may come from anywhere, so
// it is checked: broken text could say anything about what stands behind it.
func (e *Encoder) Raw(name, json string) {
	if e.Valid(name, json) {
		e.W.Name(name)
		e.W.Raw(json)
	}
}

// Free writes free JSON, which is an object. If there is none, it is empty.
func (e *Encoder) Free(name, json string) {
	if json == "" {
		json = "{}"
	}
	if !jsonwire.IsObject(json) {
		e.Violation(content.CodeType, name, "must be a JSON object")
		return
	}
	e.Raw(name, json)
}

// Valid reports whether json is a JSON document, and notes a fault if not.
func (e *Encoder) Valid(name, json string) bool {
	if err := jsonwire.Valid(json, UnlimitedJSON); err != nil {
		e.Violation(content.CodeSyntax, name, "is not valid JSON: "+err.Error())
		return false
	}
	return true
}

// Begin begins a member that is an object.
func (e *Encoder) Begin(name string) {
	e.W.Name(name)
	e.Path.Push(name)
	e.W.BeginObject()
}

// End ends what Begin began.
func (e *Encoder) End() {
	e.W.EndObject()
	e.Path.Pop()
}

// Extra writes the members of x, but none that skip names, if they are of the
// format f.
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
