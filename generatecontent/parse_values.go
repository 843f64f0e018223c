package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// violation records a violation at the path.
func (p *parser) violation(code content.Code, text string) {
	if !p.full(code) {
		p.violations.Add(code, p.path.At(), text)
	}
}

// unknownNameText returns the vendor's text for a member that the object at the path
// must not have.
func (p *parser) unknownNameText(name, why string) string {
	text := "Invalid JSON payload received. Unknown name \"" + codec.Clip(name) + "\""
	if at := p.path.At(); at != "" {
		text += " at '" + at + "'"
	}
	return text + ": " + why
}

// unknownName records an unknown name. It is a violation if a lenient parser would
// take it for a known one, or else under Strict only.
func (p *parser) unknownName(m *message, name string) {
	if known := m.similar(name); known != "" {
		if p.full(content.CodeUnknown) {
			return
		}
		p.violation(content.CodeUnknown, p.unknownNameText(name, "Cannot find field. Did you mean \""+known+"\"?"))
		return
	}
	odd := &p.origin.unknown
	if odd.Len() >= content.MaxViolations {
		odd.Add(content.CodeUnknown, "", "") // is only counted
		return
	}
	odd.Add(content.CodeUnknown, p.path.At(), p.unknownNameText(name, "Cannot find field."))
}

// unknownValue records the unknown value of an open enum at the path. It is a
// violation under Strict.
func (p *parser) unknownValue(x jsonwire.Value, f *field, m *message) {
	list := &p.origin.unknown
	if list.Len() >= content.MaxViolations {
		list.Add(content.CodeType, "", "") // is only counted
		return
	}
	list.Add(content.CodeType, p.path.At(), p.invalidValueText(f, m, quoted(x)))
}

// full reports whether the next violation is only counted, and counts it then. The
// text of a violation costs more than everything else.
func (p *parser) full(code content.Code) bool {
	if p.violations.Len() < content.MaxViolations {
		return false
	}
	p.violations.Add(code, "", "")
	return true
}

// invalid records that the value at the path does not have a field's type.
func (p *parser) invalid(f *field, m *message, why string) {
	if p.full(content.CodeType) {
		return
	}
	p.violation(content.CodeType, p.invalidValueText(f, m, why))
}

func (p *parser) invalidValueText(f *field, m *message, why string) string {
	return "Invalid value at '" + p.path.At() + "' (" + p.typeName(f, m) + "), " + why
}

// quoted returns a value as texts of violations quote it.
func quoted(x jsonwire.Value) string {
	if x.Kind() == jsonwire.String && len(x.Raw()) > 64 {
		return "\"" + codec.Clip(x.Str()) + "\""
	}
	return codec.Clip(x.Raw())
}

// mismatch records a value of the wrong kind for a field of the object at the path.
// name is the client's spelling of the field.
func (p *parser) mismatch(x jsonwire.Value, m *message, i int, name string) {
	if p.full(content.CodeType) {
		return
	}
	if x.Kind() == jsonwire.Array {
		p.violation(content.CodeType, p.unknownNameText(name, "Proto field is not repeating, cannot start list."))
		return
	}
	p.path.Push(m.snake[i])
	p.wrongKind(x, &m.fields[i], m)
	p.path.Pop()
}

// wrongKind is mismatch for the value at the path.
func (p *parser) wrongKind(x jsonwire.Value, f *field, m *message) {
	switch {
	case x.Kind() == jsonwire.Object && !f.isMessage():
		p.invalid(f, m, "Starting an object on a scalar field")
	case x.Kind() == jsonwire.Array:
		p.invalid(f, m, "Proto field is not repeating, cannot start list.")
	default:
		p.invalid(f, m, quoted(x))
	}
}

func (f *field) isMessage() bool {
	switch f.kind {
	case kMessage, kStruct, kSelf, kSelfMap:
		return true
	}
	return false
}

// isObject reports whether v, the value at the path, is an object, and records a
// violation if not.
func (p *parser) isObject(v jsonwire.Value, m *message) bool {
	if v.Kind() == jsonwire.Object {
		return true
	}
	if p.full(content.CodeType) {
		return false
	}
	p.wrongKind(v, &field{kind: kMessage, of: m}, m)
	return false
}

// enter reports whether a member is an object, and moves the path to it. It records
// a violation for other values but null.
func (p *parser) enter(x jsonwire.Value, m *message, i int, name string) bool {
	switch x.Kind() {
	case jsonwire.Object:
		p.path.Push(m.snake[i])
		return true
	case jsonwire.Null:
	default:
		p.mismatch(x, m, i, name)
	}
	return false
}

// size returns the length of a list. A single value is a list of one.
func size(v jsonwire.Value) int {
	switch v.Kind() {
	case jsonwire.Array:
		return v.Len()
	case jsonwire.Null, jsonwire.None:
		return 0
	}
	return 1
}

// each calls read for the elements of a list, or for a single value.
func (p *parser) each(v jsonwire.Value, m *message, i int, read func(k int, x jsonwire.Value)) {
	p.path.Push(m.snake[i])
	if v.Kind() == jsonwire.Array {
		for k, x := range v.Elems() {
			p.path.PushIndex(k)
			read(k, x)
			p.path.Pop()
		}
	} else {
		p.path.PushIndex(0)
		read(0, v)
		p.path.Pop()
	}
	p.path.Pop()
}

// text parses a string. It returns "" for null.
func (p *parser) text(x jsonwire.Value, m *message, i int, name string) string {
	switch x.Kind() {
	case jsonwire.String:
		return x.Str()
	case jsonwire.Null:
	default:
		p.mismatch(x, m, i, name)
	}
	return ""
}

// strings parses a list of strings.
func (p *parser) strings(v jsonwire.Value, m *message, i int) []string {
	n := size(v)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	p.each(v, m, i, func(k int, x jsonwire.Value) {
		if x.Kind() == jsonwire.String {
			list[k] = x.Str()
		} else {
			p.wrongKind(x, &m.fields[i], m)
		}
	})
	return list
}

// flag parses a boolean.
func (p *parser) flag(x jsonwire.Value, m *message, i int, name string) bool {
	b := p.optFlag(x, m, i, name)
	return b != nil && *b
}

// optFlag parses a boolean. It returns nil for null.
func (p *parser) optFlag(x jsonwire.Value, m *message, i int, name string) *bool {
	b, ok := x.Bool()
	if !ok {
		if x.Kind() != jsonwire.Null {
			p.mismatch(x, m, i, name)
		}
		return nil
	}
	return &b
}

// wholeNumber returns an integer of the given number of bits, which may be written as
// a string.
func wholeNumber(x jsonwire.Value, bits int) (int64, bool) {
	n, ok := x.Int()
	if s := x.Str(); x.Kind() == jsonwire.String && isNumber(s) {
		digits, fraction, _ := strings.Cut(s, ".")
		var err error
		n, err = strconv.ParseInt(digits, 10, 64)
		ok = err == nil && strings.Trim(fraction, "0") == ""
	}
	return n, ok && (bits == 64 || n == int64(int32(n)))
}

// isNumber reports whether s is a number by the grammar of JSON.
func isNumber(s string) bool {
	if s == "" || len(s) > 64 || s[0] != '-' && (s[0] < '0' || s[0] > '9') || s[len(s)-1] < '0' || s[len(s)-1] > '9' {
		return false
	}
	return jsonwire.Valid(s, jsonwire.Limits{}) == nil
}

// integer parses an integer into to. It returns nil for null and invalid values.
func (p *parser) integer(x jsonwire.Value, m *message, i int, name string, to *int64) *int64 {
	if x.Kind() == jsonwire.Null {
		return nil
	}
	n, ok := wholeNumber(x, 32)
	if !ok {
		p.mismatch(x, m, i, name)
		return nil
	}
	*to = n
	return to
}

// number is integer for any number.
func (p *parser) number(x jsonwire.Value, m *message, i int, name string, to *float64) *float64 {
	if x.Kind() == jsonwire.Null {
		return nil
	}
	f, ok := decimal(x)
	if !ok {
		p.mismatch(x, m, i, name)
		return nil
	}
	*to = f
	return to
}

// decimal returns a number, which may be written as a string.
func decimal(x jsonwire.Value) (float64, bool) {
	if x.Kind() != jsonwire.String {
		return x.Float()
	}
	if s := x.Str(); isNumber(s) {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	}
	return 0, false
}

// choice parses an enum. It returns "" for a value that is not set.
func (p *parser) choice(x jsonwire.Value, m *message, i int, name string) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	e := m.fields[i].enum
	s := e.read(x)
	switch {
	case s == "":
		p.mismatch(x, m, i, name)
	case e.unset(s):
		return ""
	case !e.has(s):
		p.path.Push(m.snake[i])
		p.unknownValue(x, &m.fields[i], m)
		p.path.Pop()
	}
	return s
}

// read returns the canonical name of a value of an enum, or "" if it is not valid.
func (e *enum) read(x jsonwire.Value) string {
	if x.Kind() == jsonwire.String {
		return e.find(x.Str())
	}
	if n, ok := x.Int(); ok && n >= 0 && n < int64(e.numbered) {
		return e.values[n]
	}
	return ""
}

// bytes parses base64 and keeps its spelling.
func (p *parser) bytes(x jsonwire.Value, m *message, i int, name string) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	s, _, e := x.LenientBase64()
	switch e {
	case 0:
		return s
	case jsonwire.Base64Empty:
	case jsonwire.Base64NotString:
		p.mismatch(x, m, i, name)
	default:
		p.path.Push(m.snake[i])
		p.notBase64(x, m, i)
		p.path.Pop()
	}
	return ""
}

// notBase64 records that the string at the path is not base64.
func (p *parser) notBase64(x jsonwire.Value, m *message, i int) {
	p.invalid(&m.fields[i], m, "Base64 decoding failed for \""+codec.Clip(x.Str())+"\"")
}

// syntaxViolation returns the violation for a document that is not valid JSON.
func syntaxViolation(err error) *content.Violation {
	const head = "Invalid JSON payload received. "
	e, ok := err.(*jsonwire.SyntaxError)
	if !ok {
		return &content.Violation{Code: content.CodeSyntax, Text: head + err.Error()}
	}
	code := content.CodeSyntax
	switch e.Reason {
	case jsonwire.Empty: // the vendor treats an empty body as one without members
		return &content.Violation{Code: content.CodeMissing, Path: "contents", Text: textNoContents}
	case jsonwire.TooDeep, jsonwire.TooManyValues, jsonwire.TooLong:
		code = content.CodeLimit
	}
	return &content.Violation{Code: code, Text: head + strings.ToUpper(e.Text[:1]) + e.Text[1:] +
		" at line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column)}
}
