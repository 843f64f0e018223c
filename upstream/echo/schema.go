package echo

import (
	"maps"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// instance returns a simple value of a JSON Schema, or of a schema in the OpenAPI dialect, as
// JSON text. It knows the keywords const, enum, type, properties, required and minimum. Where a
// schema needs more than these, the value is {}.
func instance(schema string) string {
	doc, err := jsonwire.Parse(schema, jsonwire.Limits{})
	if err != nil {
		return "{}"
	}
	defer doc.Close()
	return string(appendInstance(nil, doc.Root(), "text"))
}

// appendInstance appends an instance of schema to dst. A string has the name of
// the property that it is the value of.
func appendInstance(dst []byte, schema jsonwire.Value, name string) []byte {
	for _, v := range []jsonwire.Value{schema.Get("const"), first(schema.Get("enum"))} {
		if v.Exists() {
			return jsonwire.AppendCompact(dst, v.Raw())
		}
	}
	kind := schema.Get("type")
	if kind.Kind() == jsonwire.Array {
		kind = first(kind)
	}
	switch strings.ToLower(kind.Str()) {
	case "string":
		return jsonwire.AppendString(dst, name)
	case "integer", "number":
		if v := schema.Get("minimum"); v.Kind() == jsonwire.Number {
			return append(dst, v.Raw()...)
		}
		return append(dst, '0')
	case "boolean":
		return append(dst, "true"...)
	case "null":
		return append(dst, "null"...)
	case "array":
		return append(dst, "[]"...)
	}
	properties := maps.Collect(schema.Get("properties").Members())
	written := map[string]bool{}
	dst = append(dst, '{')
	for _, v := range schema.Get("required").Elems() {
		name := v.Str()
		if v.Kind() != jsonwire.String || written[name] {
			continue
		}
		if len(written) > 0 {
			dst = append(dst, ',')
		}
		written[name] = true
		dst = append(jsonwire.AppendString(dst, name), ':')
		dst = appendInstance(dst, properties[name], name)
	}
	return append(dst, '}')
}

// first returns the first element of a list.
func first(list jsonwire.Value) jsonwire.Value {
	for _, element := range list.Elems() {
		return element
	}
	return jsonwire.Value{}
}
