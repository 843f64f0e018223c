package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// What the vendor says of a value of the wrong kind.
const (
	textRequired = "Field required"
	textString   = "Input should be a valid string"
	textInteger  = "Input should be a valid integer"
	textNumber   = "Input should be a valid number"
	textFinite   = "Input should be a finite number"
	textBoolean  = "Input should be a valid boolean"
	textList     = "Input should be a valid list"
	textObject   = "Input should be an object"
	textFree     = "Input should be a valid dictionary"
	textNotEmpty = "String should have at least 1 character"
	textExtra    = "Extra inputs are not permitted"
)

// fault notes a fault of the member name of the object that the path is at; an
// empty name stands for the object itself.
func (p *parser) fault(code content.Code, name, text string) {
	if p.faults.Len() >= content.MaxViolations {
		p.faults.Add(code, "", "") // is only counted
		return
	}
	if name == "" {
		p.faults.Add(code, p.path.At(), text)
		return
	}
	p.faults.Add(code, p.path.At(name), text)
}

// need notes that v lacks a required member. It is called for members whose
// field is still zero, so that a whole document costs no look-up.
func (p *parser) need(v jsonwire.Value, name string) {
	if !v.Get(name).Exists() {
		p.fault(content.CodeMissing, name, textRequired)
	}
}

// note remembers how a member was spelled.
func (p *parser) note(node any, name, raw string) {
	p.form.notes.Add(node, name, raw, max(len(p.form.notes), 2*p.size))
}

// text reads a string that must be there.
func (p *parser) text(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.String {
		p.fault(content.CodeType, name, textString)
		return ""
	}
	return v.Str()
}

// optText reads a string that may be null.
func (p *parser) optText(node any, v jsonwire.Value, name string) string {
	switch v.Kind() {
	case jsonwire.String:
		s := v.Str()
		if s == "" {
			p.note(node, name, `""`)
		}
		return s
	case jsonwire.Null:
		p.note(node, name, "null")
	default:
		p.fault(content.CodeType, name, textString)
	}
	return ""
}

// choice is optText where "" is none of the values that are allowed. The
// field cannot hold that, so the fault is told here and not by Validate.
func (p *parser) choice(node any, v jsonwire.Value, name, allowed string) string {
	if v.Is("") {
		p.fault(content.CodeValue, name, "Input should be "+allowed)
		return ""
	}
	return p.optText(node, v, name)
}

// flag reads a boolean that may be null.
func (p *parser) flag(node any, v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.True:
		return true
	case jsonwire.False:
		p.note(node, name, "false")
	case jsonwire.Null:
		p.note(node, name, "null")
	default:
		p.fault(content.CodeType, name, textBoolean)
	}
	return false
}

// integer reads a whole number. Its spelling is noted unless it is the one
// that the encoder writes.
func (p *parser) integer(node any, v jsonwire.Value, name string) (n int64, ok bool) {
	if n, ok = v.Int(); !ok {
		p.fault(content.CodeType, name, textInteger)
		return 0, false
	}
	if raw := v.Raw(); n == 0 && raw != "0" || strings.IndexByte(raw, '.') >= 0 {
		p.note(node, name, raw)
	}
	return n, true
}

// optInteger reads a whole number that may be null into to, and returns nil
// for null and for what is no such number.
func (p *parser) optInteger(node any, v jsonwire.Value, name string, to *int64) *int64 {
	if v.Kind() == jsonwire.Null {
		p.note(node, name, "null")
		return nil
	}
	i, ok := p.integer(node, v, name)
	if !ok {
		return nil
	}
	*to = i
	return to
}

// optNumber is optInteger for any number. It notes the spelling always: to
// find out whether it is the encoder's own costs more.
func (p *parser) optNumber(node any, v jsonwire.Value, name string, to *float64) *float64 {
	switch v.Kind() {
	case jsonwire.Null:
		p.note(node, name, "null")
		return nil
	case jsonwire.Number:
	default:
		p.fault(content.CodeType, name, textNumber)
		return nil
	}
	f, ok := v.Float()
	if !ok {
		p.fault(content.CodeRange, name, textFinite)
		return nil
	}
	p.note(node, name, v.Raw())
	*to = f
	return to
}

// free reads free JSON, which must be an object.
func (p *parser) free(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.Object {
		p.fault(content.CodeType, name, textFree)
		return ""
	}
	raw := v.Raw()
	if f := p.form; f.body != "" {
		f.free = append(f.free, raw)
	}
	return raw
}

// schema keeps a schema as it is.
func (p *parser) schema(v jsonwire.Value, name string) string {
	if !p.quota.Schema(v.Size()) {
		return ""
	}
	return p.free(v, name)
}

// raw keeps an optional member of one of two kinds as it is.
func (p *parser) raw(node any, v jsonwire.Value, name string, a, b jsonwire.Kind, text string) string {
	switch v.Kind() {
	case jsonwire.Null:
		p.note(node, name, "null")
		return ""
	case a, b:
		return v.Raw()
	}
	p.fault(content.CodeType, name, text)
	return ""
}

// object reports whether an optional member is an object to be read.
func (p *parser) object(node any, v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.Object:
		return true
	case jsonwire.Null:
		p.note(node, name, "null")
	default:
		p.fault(content.CodeType, name, textObject)
	}
	return false
}

// list reports whether an optional member is a list with something in it.
func (p *parser) list(node any, v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.Array:
		if v.Len() > 0 {
			return true
		}
		p.note(node, name, "[]")
	case jsonwire.Null:
		p.note(node, name, "null")
	default:
		p.fault(content.CodeType, name, textList)
	}
	return false
}

// quoteTag tells a bad union tag in the vendor's words.
func quoteTag(tag, expected string) string {
	return "Input tag '" + codec.Clip(tag) + "' found using 'type' does not match any of the expected tags: " + expected
}

// syntaxError tells why a body was refused.
func syntaxError(err error) *content.Violation {
	const head = "The request body is not valid JSON: "
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
