package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// fault notes a fault at the path.
func (p *parser) fault(code content.Code, text string) {
	if !p.full(code) {
		p.faults.Add(code, p.path.At(), text)
	}
}

// unknownName tells that the object at the path has a member that it should
// not have.
func (p *parser) unknownName(name, why string) string {
	text := "Invalid JSON payload received. Unknown name \"" + codec.Clip(name) + "\""
	if at := p.path.At(); at != "" {
		text += " at '" + at + "'"
	}
	return text + ": " + why
}

// unknown notes a name that is not known. It is a fault at once if a laxer
// reader would take it for another, and else only where the rules are strict.
func (p *parser) unknown(m *message, name string) {
	if known := m.likely(name); known != "" {
		if p.full(content.CodeUnknown) {
			return
		}
		p.fault(content.CodeUnknown, p.unknownName(name, "Cannot find field. Did you mean \""+known+"\"?"))
		return
	}
	odd := &p.form.odd
	if odd.Len() >= content.MaxViolations {
		odd.Add(content.CodeUnknown, "", "") // is only counted
		return
	}
	odd.Add(content.CodeUnknown, p.path.At(), p.unknownName(name, "Cannot find field."))
}

// full reports whether there are so many faults that the next is only counted.
// It counts it then: to word a fault costs more than all the rest.
func (p *parser) full(code content.Code) bool {
	if p.faults.Len() < content.MaxViolations {
		return false
	}
	p.faults.Add(code, "", "")
	return true
}

// invalid tells that the value at the path is not of a field's type.
func (p *parser) invalid(f *field, m *message, why string) {
	if p.full(content.CodeType) {
		return
	}
	p.fault(content.CodeType, "Invalid value at '"+p.path.At()+"' ("+p.typeName(f, m)+"), "+why)
}

// mismatch reports a value of the wrong kind for a field. The path is at the
// object that the field is in; name is how the client wrote it.
func (p *parser) mismatch(x jsonwire.Value, m *message, i int, name string) {
	if p.full(content.CodeType) {
		return
	}
	if x.Kind() == jsonwire.Array {
		p.fault(content.CodeType, p.unknownName(name, "Proto field is not repeating, cannot start list."))
		return
	}
	p.path.Push(m.snake[i])
	p.wrongKind(x, &m.fields[i], m)
	p.path.Pop()
}

// wrongKind is mismatch for a value that the path is at.
func (p *parser) wrongKind(x jsonwire.Value, f *field, m *message) {
	switch {
	case x.Kind() == jsonwire.Object && !f.isMessage():
		p.invalid(f, m, "Starting an object on a scalar field")
	case x.Kind() == jsonwire.Array:
		p.invalid(f, m, "Proto field is not repeating, cannot start list.")
	case x.Kind() == jsonwire.String && len(x.Raw()) > 64:
		p.invalid(f, m, "\""+codec.Clip(x.Str())+"\"")
	default:
		p.invalid(f, m, codec.Clip(x.Raw()))
	}
}

func (f *field) isMessage() bool {
	switch f.kind {
	case kMessage, kStruct, kTextMap, kSelf, kSelfMap:
		return true
	}
	return false
}

// note remembers how a member was spelled.
func (p *parser) note(node any, name, raw string) { p.form.notes.Add(node, name, raw, 2*p.size) }

// noteEmpty notes a list with nothing in it.
func (p *parser) noteEmpty(node any, v jsonwire.Value, name string) {
	if v.Kind() == jsonwire.Array {
		p.note(node, name, "[]")
	}
}

// isObject reports whether v, which the path is at, is an object of the API.
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

// enter reports whether a member is an object to be read, and goes there. Null
// is none.
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

// size returns the length of a list, or of the one that a value stands for.
func size(v jsonwire.Value) int {
	switch v.Kind() {
	case jsonwire.Array:
		return v.Len()
	case jsonwire.Null, jsonwire.None:
		return 0
	}
	return 1
}

// each calls read for the elements of a list, or for the one value that stands
// for it.
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

// text reads a string. Null is no value, and so is an empty string, but that is
// written again.
func (p *parser) text(node any, x jsonwire.Value, m *message, i int, name string) string {
	switch x.Kind() {
	case jsonwire.String:
		s := x.Str()
		if s == "" {
			p.note(node, m.camel[i], `""`)
		}
		return s
	case jsonwire.Null:
	default:
		p.mismatch(x, m, i, name)
	}
	return ""
}

// strings reads a list of strings.
func (p *parser) strings(node any, v jsonwire.Value, m *message, i int) []string {
	n := size(v)
	if n == 0 {
		p.noteEmpty(node, v, m.camel[i])
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

// flag reads a boolean.
func (p *parser) flag(node any, x jsonwire.Value, m *message, i int, name string) bool {
	b := p.optFlag(x, m, i, name)
	if b == nil {
		return false
	}
	if !*b {
		p.note(node, m.camel[i], "false")
	}
	return *b
}

// optFlag reads a boolean and returns nil for null.
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

// wholeNumber reads a whole number, which may be a string, for a field of the given
// number of bits.
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

// integer reads a whole number into to, and returns nil for null and for what
// is no such number.
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

// number is integer for any number. It notes the spelling always: to find out
// whether it is the encoder's own costs more.
func (p *parser) number(node any, x jsonwire.Value, m *message, i int, name string, to *float64) *float64 {
	if x.Kind() == jsonwire.Null {
		return nil
	}
	f, ok := decimal(x)
	if !ok {
		p.mismatch(x, m, i, name)
		return nil
	}
	if x.Kind() == jsonwire.Number {
		p.note(node, m.camel[i], x.Raw())
	}
	*to = f
	return to
}

// decimal reads a number, which may be a string.
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

// choice reads an enum. One that is not set is noted.
func (p *parser) choice(node any, x jsonwire.Value, m *message, i int, name string) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	e := m.fields[i].enum
	s := e.read(x)
	switch {
	case s == "":
		p.mismatch(x, m, i, name)
	case e.unset(s):
		p.note(node, m.camel[i], `"`+s+`"`)
		return ""
	}
	return s
}

// read returns the canonical name of a value of an enum, "" if it is none.
func (e *enum) read(x jsonwire.Value) string {
	if x.Kind() == jsonwire.String {
		return e.find(x.Str())
	}
	if n, ok := x.Int(); ok && n >= 0 && n < int64(e.numbered) {
		return e.values[n]
	}
	return ""
}

// bytes reads base64 and leaves its spelling alone.
func (p *parser) bytes(node any, x jsonwire.Value, m *message, i int, name string) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	s, _, e := x.Base64Any()
	switch e {
	case 0:
		return s
	case jsonwire.Base64Empty:
		p.note(node, m.camel[i], `""`)
	case jsonwire.Base64NotString:
		p.mismatch(x, m, i, name)
	default:
		p.path.Push(m.snake[i])
		p.notBase64(x, m, i)
		p.path.Pop()
	}
	return ""
}

// notBase64 reports a string that the path is at.
func (p *parser) notBase64(x jsonwire.Value, m *message, i int) {
	p.invalid(&m.fields[i], m, "Base64 decoding failed for \""+codec.Clip(x.Str())+"\"")
}

// syntaxError tells why a body was refused.
func syntaxError(err error) *content.Violation {
	const head = "Invalid JSON payload received. "
	e, ok := err.(*jsonwire.SyntaxError)
	if !ok {
		return &content.Violation{Code: content.CodeSyntax, Text: head + err.Error()}
	}
	code := content.CodeSyntax
	switch e.Reason {
	case jsonwire.Empty: // no body is no member, as the vendor has it
		return &content.Violation{Code: content.CodeMissing, Path: "contents", Text: textNoContents}
	case jsonwire.TooDeep, jsonwire.TooManyValues, jsonwire.TooLong:
		code = content.CodeLimit
	}
	return &content.Violation{Code: code, Text: head + strings.ToUpper(e.Text[:1]) + e.Text[1:] +
		" at line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column)}
}
