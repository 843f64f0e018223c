package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// closedKeys are the keywords of the Schema message of generateContent.
var closedKeys = []string{"type", "format", "title", "description", "nullable", "enum", "items", "maxItems", "minItems",
	"properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum",
	"anyOf", "propertyOrdering", "default", "example"}

// checkDialect returns an error if a vendor that accepts dialect d would reject s.
func checkDialect(d Dialect, s any, input bool) error {
	if d == GeminiSchema {
		o, ok := s.(object)
		if input && (!ok || o["type"] != "OBJECT" || o["nullable"] != nil) {
			return fmt.Errorf("the root must be a non-nullable OBJECT")
		}
		return checkGeminiSchema(s)
	}
	if input {
		o, _ := s.(object)
		if o["type"] != "object" {
			return fmt.Errorf("type: Field required")
		}
		for _, name := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
			if o[name] != nil {
				return fmt.Errorf("%s at the root", name)
			}
		}
	}
	return checkJSONSchema(d, s)
}

// checkGeminiSchema validates an OpenAPI schema of generateContent.
func checkGeminiSchema(s any) error {
	o, ok := s.(object)
	if !ok {
		return fmt.Errorf("%v is not an object", s)
	}
	for name := range o {
		if !slices.Contains(closedKeys, name) {
			return fmt.Errorf("unknown name %q", name)
		}
	}
	t, typed := o["type"]
	if typed && !slices.Contains([]any{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}, t) {
		return fmt.Errorf("type %v", t)
	}
	if o["items"] == nil && t == "ARRAY" {
		return fmt.Errorf("items: missing field")
	}
	if list, ok := o["enum"].([]any); ok {
		for _, x := range list {
			if _, ok := x.(string); !ok || t != "STRING" {
				return fmt.Errorf("enum: only allowed for STRING type")
			}
		}
	}
	for _, name := range []string{"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"} {
		if x, ok := o[name]; ok {
			digits, _ := x.(string)
			if _, err := strconv.ParseUint(digits, 10, 63); err != nil {
				return fmt.Errorf("%s: %v", name, x)
			}
		}
	}
	for _, name := range []string{"title", "description", "format", "pattern"} {
		if _, ok := o[name].(string); o[name] != nil && !ok {
			return fmt.Errorf("%s is not a string", name)
		}
	}
	props, _ := o["properties"].(object)
	for _, name := range []string{"required", "propertyOrdering"} {
		list, _ := o[name].([]any)
		for _, x := range list {
			if _, ok := props[x.(string)]; !ok {
				return fmt.Errorf("%s: property %v is not defined", name, x)
			}
		}
	}
	list, _ := o["anyOf"].([]any)
	if list != nil && len(o) > 1 {
		return fmt.Errorf("anyOf must be the only field in a schema node")
	}
	return checkInner(o, checkGeminiSchema)
}

// checkInner calls check for the schemas in o.
func checkInner(o object, check func(any) error) error {
	for _, name := range []string{"properties", "$defs", "definitions"} {
		m, _ := o[name].(object)
		for _, x := range m {
			if err := check(x); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := o[name].([]any)
		for _, x := range list {
			if err := check(x); err != nil {
				return err
			}
		}
	}
	if x, ok := o["items"]; ok {
		return check(x)
	}
	return nil
}

// checkJSONSchema validates a schema of a dialect of JSON Schema.
func checkJSONSchema(d Dialect, s any) error {
	o, ok := s.(object)
	if !ok {
		if _, ok := s.(bool); !ok {
			return fmt.Errorf("%v is not a schema", s)
		}
		return nil
	}
	list, ok := o["type"].([]any)
	if !ok && o["type"] != nil {
		list = []any{o["type"]}
	}
	for _, t := range list {
		if !slices.Contains([]any{"string", "number", "integer", "boolean", "array", "object", "null"}, t) {
			return fmt.Errorf("type %v", t)
		}
	}
	if _, ok := o["items"].([]any); ok {
		return fmt.Errorf("items is a list")
	}
	for _, name := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
		if _, ok := o[name].(bool); ok {
			return fmt.Errorf("%s is a flag", name)
		}
	}
	if err := checkStrict(d, o, slices.Contains(list, "object")); err != nil {
		return err
	}
	return checkInner(o, func(x any) error { return checkJSONSchema(d, x) })
}

// checkStrict validates what d requires beyond JSON Schema.
func checkStrict(d Dialect, o object, isObject bool) error {
	var banned []string
	switch d {
	case MessagesStrict:
		banned = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "maxItems"}
		if n, _ := o["minItems"].(float64); n > 1 {
			return fmt.Errorf("minItems %v", n)
		}
	case OpenAIStrict:
		banned = []string{"allOf", "not", "if", "dependentRequired", "dependentSchemas", "patternProperties", "default"}
		if f, ok := o["format"]; ok && !slices.Contains([]any{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}, f) {
			return fmt.Errorf("'%v' is not a valid format", f)
		}
		props, _ := o["properties"].(object)
		if list, _ := o["required"].([]any); isObject && len(list) != len(props) {
			return fmt.Errorf("required: %v", list)
		}
	case GeminiJSON:
		if len(o) > 1 && o["$ref"] != nil {
			for name := range o {
				if name[0] != '$' {
					return fmt.Errorf("$ref has the sibling %s", name)
				}
			}
		}
		return nil
	default:
		return nil
	}
	for _, name := range banned {
		if _, ok := o[name]; ok {
			return fmt.Errorf("%s is not allowed", name)
		}
	}
	if isObject && o["additionalProperties"] != false {
		return fmt.Errorf("for 'object' type, 'additionalProperties' must be explicitly set to false")
	}
	return nil
}
