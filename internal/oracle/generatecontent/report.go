package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
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

// unknownName records an unknown name. It is a violation if a lenient parser could
// confuse it with a known name, and otherwise only if Strict is set.
func (p *parser) unknownName(t *object.Type, name string) {
	if known := t.Similar(name); known != "" {
		if p.full(content.CodeUnknown) {
			return
		}
		p.violation(content.CodeUnknown, p.unknownNameText(name, "Cannot find field. Did you mean \""+known+"\"?"))
		return
	}
	unknown := &p.origin.unknown
	if unknown.Len() >= content.MaxViolations {
		unknown.Add(content.CodeUnknown, "", "") // counted, not stored
		return
	}
	unknown.Add(content.CodeUnknown, p.path.At(), p.unknownNameText(name, "Cannot find field."))
}

// unknownValue records the unknown value of an open enum at the path. It is a violation
// if Strict is set.
func (p *parser) unknownValue(v *object.Value, x jsonwire.Value) {
	list := &p.origin.unknown
	if list.Len() >= content.MaxViolations {
		list.Add(content.CodeType, "", "") // counted, not stored
		return
	}
	list.Add(content.CodeType, p.path.At(), p.invalidValueText(v, quoted(x)))
}

// full reports whether the list of violations is full. If so, it counts the next
// violation, for which no text is then needed.
func (p *parser) full(code content.Code) bool {
	if p.violations.Len() < content.MaxViolations {
		return false
	}
	p.violations.Add(code, "", "")
	return true
}

// invalid records that the value at the path is not one that v accepts.
func (p *parser) invalid(v *object.Value, why string) {
	if !p.full(content.CodeType) {
		p.violation(content.CodeType, p.invalidValueText(v, why))
	}
}

func (p *parser) invalidValueText(v *object.Value, why string) string {
	return "Invalid value at '" + p.path.At() + "' (" + p.typeName(v) + "), " + why
}

// typeName returns the vendor's name of the type of a value, or of its elements.
func (p *parser) typeName(v *object.Value) string {
	const known = "type.googleapis.com/google.protobuf."
	if v.Elem != nil {
		v = v.Elem
	}
	switch {
	case v.Members != nil:
		return p.vendorType(v.Members.Object.Name)
	case v.Object != nil:
		return p.vendorType(v.Object.Name)
	case v.Enum != nil:
		return p.vendorType(v.Enum.Name)
	case v.Form == object.Base64:
		return "TYPE_BYTES"
	case v.Form == object.Timestamp:
		return known + "Timestamp"
	case v.Form == object.Int32:
		return "TYPE_INT32"
	}
	switch v.Kinds {
	case object.Flag:
		return "TYPE_BOOL"
	case object.Integer:
		return "TYPE_INT64"
	case object.Number:
		return "TYPE_FLOAT"
	case object.Object:
		return known + "Struct"
	case object.Any:
		return known + "Value"
	}
	return "TYPE_STRING"
}

func (p *parser) vendorType(name string) string {
	return "type.googleapis.com/google.ai.generativelanguage." + p.version + "." + name
}

// quoted returns a value as error texts quote it.
func quoted(x jsonwire.Value) string {
	if x.Kind() == jsonwire.String && len(x.Raw()) > 64 {
		return "\"" + codec.Clip(x.Str()) + "\""
	}
	return codec.Clip(x.Raw())
}

// mismatch records a value that a member of the object at the path does not accept. name is
// the client's spelling of the member.
func (p *parser) mismatch(f *object.Field, name string, x jsonwire.Value) {
	if p.full(content.CodeType) {
		return
	}
	if x.Kind() == jsonwire.Array {
		p.violation(content.CodeType, p.unknownNameText(name, "Proto field is not repeating, cannot start list."))
		return
	}
	p.path.Push(f.Alias)
	p.wrongKind(f.Value, x)
	p.path.Pop()
}

// wrongKind is mismatch for the value at the path.
func (p *parser) wrongKind(v *object.Value, x jsonwire.Value) {
	if v.Elem != nil {
		v = v.Elem
	}
	switch {
	case x.Kind() == jsonwire.Object && v.Kinds != object.Object:
		p.invalid(v, "Starting an object on a scalar field")
	case x.Kind() == jsonwire.Array:
		p.invalid(v, "Proto field is not repeating, cannot start list.")
	default:
		p.invalid(v, quoted(x))
	}
}

// notBase64 records that the string at the path is not base64.
func (p *parser) notBase64(v *object.Value, x jsonwire.Value) {
	p.invalid(v, "Base64 decoding failed for \""+codec.Clip(x.Str())+"\"")
}

// isObject reports whether x, the value at the path, is an object. It records a violation if
// not.
func (p *parser) isObject(x jsonwire.Value, v *object.Value) bool {
	if x.Kind() == jsonwire.Object {
		return true
	}
	if !p.full(content.CodeType) {
		p.wrongKind(v, x)
	}
	return false
}
