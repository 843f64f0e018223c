package anthropic

import (
	"fmt"
	"slices"

	"github.com/polywire/polywire/internal/test/fake"
)

var schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// validSchema reports whether n is a valid JSON Schema of draft 2020-12. It
// checks common keywords only.
func validSchema(n *fake.Node) bool {
	if n.Kind == fake.Bool {
		return true
	}
	if n.Kind != fake.Object {
		return false
	}
	for i, key := range n.Keys {
		v := n.Items[i]
		if v.Kind == fake.Null && (key == "properties" || key == "required" || key == "default" || key == "const") {
			continue
		}
		if !validWord(key, v) {
			return false
		}
	}
	return true
}

func validWord(key string, v *fake.Node) bool {
	switch key {
	case "type":
		if v.Kind == fake.String {
			return slices.Contains(schemaTypes, v.Str)
		}
		return v.Kind == fake.Array && len(v.Items) > 0 && all(v, func(n *fake.Node) bool {
			return n.Kind == fake.String && slices.Contains(schemaTypes, n.Str)
		})
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return v.Kind == fake.Object && all(v, validSchema)
	case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties":
		return validSchema(v)
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return v.Kind == fake.Array && len(v.Items) > 0 && all(v, validSchema)
	case "required":
		return v.Kind == fake.Array && all(v, func(n *fake.Node) bool { return n.Kind == fake.String })
	case "enum", "examples":
		return v.Kind == fake.Array
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum":
		return v.Kind == fake.Number
	case "description", "title", "format", "pattern", "$ref", "$schema", "$id", "$anchor":
		return v.Kind == fake.String
	}
	return true
}

func all(n *fake.Node, ok func(*fake.Node) bool) bool {
	return !slices.ContainsFunc(n.Items, func(i *fake.Node) bool { return !ok(i) })
}

// strictRule checks strict tools and output formats for unsupported keywords.
func strictRule(a *ask) string {
	strict := 0
	for i, t := range a.tools() {
		if !t.True("strict") || t.Get("input_schema") == nil {
			continue
		}
		if strict++; strict > 20 {
			return "Schema is too complex for compilation."
		}
		if s := strictSchema(t.Get("input_schema")); s != "" {
			return fmt.Sprintf("tools.%d.custom: %s", i, s)
		}
	}
	if f := a.doc.Get("output_config").Get("format").Get("schema"); f != nil {
		if s := strictSchema(f); s != "" {
			return "output_config.format.schema: " + s
		}
	}
	return ""
}

// strictSchema checks the rules that strict:true and output_config.format
// share.
func strictSchema(n *fake.Node) string {
	if n.Kind != fake.Object {
		return ""
	}
	if t := n.Get("type"); t != nil && t.Str == "object" || n.Get("properties") != nil {
		if v := n.Get("additionalProperties"); v == nil || v.Kind != fake.Bool || v.Str != "false" {
			return "For 'object' type, 'additionalProperties' must be explicitly set to false"
		}
	}
	for _, word := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "maxItems"} {
		if n.Has(word) {
			return "For '" + n.Text("type") + "' type, property '" + word + "' is not supported"
		}
	}
	if v := n.Get("minItems"); v != nil && v.Str != "0" && v.Str != "1" {
		return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
	}
	for _, inner := range []string{"properties", "$defs", "definitions"} {
		if m := n.Get(inner); m != nil {
			for _, s := range m.Items {
				if complaint := strictSchema(s); complaint != "" {
					return complaint
				}
			}
		}
	}
	for _, inner := range []string{"items", "anyOf", "allOf", "oneOf"} {
		for _, s := range n.List(inner) {
			if complaint := strictSchema(s); complaint != "" {
				return complaint
			}
		}
	}
	return ""
}
