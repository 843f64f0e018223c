package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// unknownNameText returns the vendor's text for a member that the object at the path
// must not have.
func (p *parser) unknownNameText(name, why string) string {
	text := "Invalid JSON payload received. Unknown name \"" + codec.Clip(name) + "\""
	if at := p.Path.At(); at != "" {
		text += " at '" + at + "'"
	}
	return text + ": " + why
}

// Unknown records an unknown name, or a known one that the object also has in its other spelling.
// An unknown name is a violation if a lenient parser could confuse it with a known name, and
// otherwise only if Strict is set.
func (p *parser) Unknown(t *object.Type, name string) {
	known := t.Similar(name)
	f := t.Find(name)
	if f == nil && known == "" {
		p.AddStrict(content.CodeUnknown, "", func() string { return p.unknownNameText(name, "Cannot find field.") })
		return
	}
	if p.Full(content.CodeUnknown) {
		return
	}
	why := "Cannot find field. Did you mean \"" + known + "\"?"
	if f != nil {
		why = "The field is already set as \"" + f.Name + "\" or \"" + f.Alias + "\"."
	}
	p.Violation(content.CodeUnknown, "", p.unknownNameText(name, why))
}

// unknownValue records the unknown value of an open enum at the path. It is a violation
// if Strict is set.
func (p *parser) unknownValue(v *object.Value, x jsonwire.Value) {
	p.AddStrict(content.CodeType, "", func() string { return p.invalidValueText(v, quoted(x)) })
}

// invalid records that the value at the path is not one that v accepts.
func (p *parser) invalid(v *object.Value, why string) {
	if !p.Full(content.CodeType) {
		p.Violation(content.CodeType, "", p.invalidValueText(v, why))
	}
}

func (p *parser) invalidValueText(v *object.Value, why string) string {
	return "Invalid value at '" + p.Path.At() + "' (" + p.typeName(v) + "), " + why
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

// Mismatch records a value that a member of the object at the path does not accept. name is
// the client's spelling of the member.
func (p *parser) Mismatch(f *object.Field, name string, x jsonwire.Value) {
	if p.Full(content.CodeType) {
		return
	}
	if x.Kind() == jsonwire.Array {
		p.Violation(content.CodeType, "", p.unknownNameText(name, "Proto field is not repeating, cannot start list."))
		return
	}
	p.Path.Push(f.Alias)
	p.Kind(f.Value, x)
	p.Path.Pop()
}

// Kind is Mismatch for the value at the path.
func (p *parser) Kind(v *object.Value, x jsonwire.Value) {
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
	p.Kind(v, x)
	return false
}
