package schema

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// openAPILimits are the limits for the output of fromOpenAPI. An example that became a
// list of examples is one level deeper than in the validated document.
var openAPILimits = jsonwire.Limits{Depth: 256 + 1, AllowDuplicateNames: true}

// fromOpenAPI rewrites the parts of an OpenAPI schema that other dialects do not have
// or would report as malformed: counts in strings, the unspecified type, the single
// example and the order of properties. All dialects read upper-case types and
// nullable. There are no losses; malformed values stay for the translation to report.
// fromOpenAPI returns text unchanged if it is not an object.
func (c *converter) fromOpenAPI(text string, d Dialect) string {
	if err := c.doc.Parse(text, jsonwire.Limits{}); err != nil || c.doc.Root().Kind() != jsonwire.Object {
		return text
	}
	c.start(d, false, text)
	c.writeOpenAPI(c.doc.Root())
	out := c.w.Text()
	c.w.Reset()
	return out
}

// writeOpenAPI writes an OpenAPI schema as JSON Schema.
func (c *converter) writeOpenAPI(v value) {
	if v.Kind() != jsonwire.Object {
		c.w.Raw(v.Raw())
		return
	}
	c.w.BeginObject()
	for name, x := range v.Members() {
		c.writeOpenAPIMember(v, name, x)
	}
	c.w.EndObject()
}

func (c *converter) writeOpenAPIMember(v value, name string, x value) {
	switch kw := keywordsByName[name]; kw {
	case kType:
		if !x.Is("TYPE_UNSPECIFIED") {
			c.writeRaw(name, x)
		}
	case kMinItems, kMaxItems, kMinLength, kMaxLength, kMinProperties, kMaxProperties, kMinimum, kMaximum:
		c.w.RawMember(name, unquotedNumber(x))
	case kProperties:
		c.w.Name(name)
		c.writeOpenAPIProperties(x, v.Get("propertyOrdering"))
	case kPropertyOrdering:
		if c.dialect == GeminiJSON || !hasShape(shapeStrings, x) {
			c.writeRaw(name, x)
		}
	case kExample:
		if v.Get("examples").Exists() {
			c.writeRaw(name, x)
			return
		}
		c.w.Array("examples")
		c.w.Raw(x.Raw())
		c.w.EndArray()
	default:
		c.w.Name(name)
		c.writeParts(keywordSpecs[kw].shape, x, c.writeOpenAPI)
	}
}

// unquotedNumber returns the number in a string, which is the form of 64-bit integers
// in protobuf's JSON. It returns x unchanged if the string is not a number.
func unquotedNumber(x value) string {
	if x.Kind() != jsonwire.String {
		return x.Raw()
	}
	raw := strings.TrimSpace(x.Str())
	digits := strings.TrimPrefix(raw, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(raw) > 32 || jsonwire.Valid(raw, jsonwire.Limits{}) != nil {
		return x.Raw()
	}
	return raw
}

// writeOpenAPIProperties writes properties in the requested order, if there is one.
// JSON Schema cannot represent the order otherwise.
func (c *converter) writeOpenAPIProperties(props, order value) {
	if order.Len() == 0 || !hasShape(shapeStrings, order) || props.Kind() != jsonwire.Object {
		c.writeParts(shapeSchemaMap, props, c.writeOpenAPI)
		return
	}
	at := make(map[string]value, props.Len())
	for name, x := range props.Members() {
		at[name] = x
	}
	write := func(name string, x value) {
		c.w.Name(name)
		c.writeOpenAPI(x)
		delete(at, name)
	}
	c.w.BeginObject()
	for _, y := range order.Elems() {
		if x, ok := at[y.Str()]; ok {
			write(y.Str(), x)
		}
	}
	for name, x := range props.Members() {
		if _, ok := at[name]; ok {
			write(name, x)
		}
	}
	c.w.EndObject()
}
