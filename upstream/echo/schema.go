package echo

import (
	"maps"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// maxInstance bounds an instance: after so many bytes, arrays get no more elements.
const maxInstance = 64 << 10

// instance returns the simplest value of a JSON Schema, or of a schema in the
// OpenAPI dialect, as JSON text. It knows the keywords const, default, enum,
// type, properties, required, items, minItems and minimum. Where a schema needs
// more than these, the value is {}.
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
	for _, v := range []jsonwire.Value{schema.Get("const"), schema.Get("default"), first(schema.Get("enum"))} {
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
		return appendArray(dst, schema, name)
	default:
		return appendObject(dst, schema)
	}
}

// appendArray appends an array of minItems equal elements.
func appendArray(dst []byte, schema jsonwire.Value, name string) []byte {
	count, _ := strconv.Atoi(strings.Trim(schema.Get("minItems").Raw(), `"`)) // OpenAPI has strings
	dst = append(dst, '[')
	if count > 0 && len(dst) < maxInstance {
		start := len(dst)
		dst = appendInstance(dst, schema.Get("items"), name)
		element := dst[start:]
		for ; count > 1 && len(dst)+len(element) < maxInstance; count-- {
			dst = append(append(dst, ','), element...)
		}
	}
	return append(dst, ']')
}

// appendObject appends an object that has the required properties.
func appendObject(dst []byte, schema jsonwire.Value) []byte {
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
