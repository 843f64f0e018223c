package messages

import (
	"strconv"

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

// violation notes a fault of the member name of the object that the path is at; an
// empty name stands for the object itself.
func (p *parser) violation(code content.Code, name, text string) {
	if p.violations.Len() >= content.MaxViolations {
		p.violations.Add(code, "", "") // is only counted
		return
	}
	if name == "" {
		p.violations.Add(code, p.path.At(), text)
		return
	}
	p.violations.Add(code, p.path.At(name), text)
}

// need notes that v lacks a required member. It is called for members whose
// field is still zero, so that a whole document costs no look-up.
func (p *parser) need(v jsonwire.Value, name string) {
	if !v.Get(name).Exists() {
		p.violation(content.CodeMissing, name, textRequired)
	}
}

// text reads a string that must be there.
func (p *parser) text(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.String {
		p.violation(content.CodeType, name, textString)
		return ""
	}
	return v.Str()
}

// optText reads a string that may be null. An empty string counts as absent.
func (p *parser) optText(v jsonwire.Value, name string) string {
	switch v.Kind() {
	case jsonwire.String:
		return v.Str()
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textString)
	}
	return ""
}

// choice is optText where "" is none of the values that are allowed. The
// field cannot hold that, so the fault is told here and not by Validate.
func (p *parser) choice(v jsonwire.Value, name, allowed string) string {
	if v.Is("") {
		p.violation(content.CodeValue, name, "Input should be "+allowed)
		return ""
	}
	return p.optText(v, name)
}

// flag reads a boolean that may be null.
func (p *parser) flag(v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.True:
		return true
	case jsonwire.False:
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textBoolean)
	}
	return false
}

// integer reads a whole number.
func (p *parser) integer(v jsonwire.Value, name string) (n int64, ok bool) {
	if n, ok = v.Int(); !ok {
		p.violation(content.CodeType, name, textInteger)
		return 0, false
	}
	return n, true
}

// optInteger reads a whole number that may be null into to, and returns nil
// for null and for what is no such number.
func (p *parser) optInteger(v jsonwire.Value, name string, to *int64) *int64 {
	if v.Kind() == jsonwire.Null {
		return nil
	}
	i, ok := p.integer(v, name)
	if !ok {
		return nil
	}
	*to = i
	return to
}

// optNumber is optInteger for any number.
func (p *parser) optNumber(v jsonwire.Value, name string, to *float64) *float64 {
	switch v.Kind() {
	case jsonwire.Null:
		return nil
	case jsonwire.Number:
	default:
		p.violation(content.CodeType, name, textNumber)
		return nil
	}
	f, ok := v.Float()
	if !ok {
		p.violation(content.CodeRange, name, textFinite)
		return nil
	}
	*to = f
	return to
}

// free reads free JSON, which must be an object.
func (p *parser) free(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, name, textFree)
		return ""
	}
	return v.Raw()
}

// schema keeps a schema as it is.
func (p *parser) schema(v jsonwire.Value, name string) string {
	if !p.quota.Schema(v.Size()) {
		return ""
	}
	return p.free(v, name)
}

// raw keeps an optional member of one of two kinds as it is.
func (p *parser) raw(v jsonwire.Value, name string, a, b jsonwire.Kind, text string) string {
	switch v.Kind() {
	case jsonwire.Null:
		return ""
	case a, b:
		return v.Raw()
	}
	p.violation(content.CodeType, name, text)
	return ""
}

// object reports whether an optional member is an object to be read.
func (p *parser) object(v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.Object:
		return true
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textObject)
	}
	return false
}

// list reports whether an optional member is a list with something in it.
func (p *parser) list(v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.Array:
		return v.Len() > 0
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textList)
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
