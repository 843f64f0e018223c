package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// closedKeys are the keywords of the Schema message of generateContent.
var closedKeys = []string{"type", "format", "title", "description", "nullable", "enum", "items", "maxItems", "minItems",
	"properties", "required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "minimum", "maximum",
	"anyOf", "propertyOrdering", "default", "example"}

// checkDialect returns an error if a vendor that accepts dialect d would reject s.
func checkDialect(d Dialect, s any, input bool) error {
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

// openAPIOf returns a schema with the keywords, the types and the counts of the Schema message.
func openAPIOf(s any) object {
	from, _ := s.(object)
	if list, ok := from["anyOf"].([]any); ok {
		for i := range list {
			list[i] = openAPIOf(list[i])
		}
		return object{"anyOf": list}
	}
	to := object{}
	for name, x := range from {
		switch x := x.(type) {
		case float64:
			if slices.Contains(closedKeys, name) && name != "minimum" && name != "maximum" {
				to[name] = strconv.Itoa(int(x))
				continue
			}
			to[name] = x
		case object:
			switch name {
			case "properties":
				props := object{}
				for name, p := range x {
					props[name] = openAPIOf(p)
				}
				to[name] = props
			case "items":
				to[name] = openAPIOf(x)
			}
		default:
			to[name] = x
		}
	}
	delete(to, "enum")
	switch t := from["type"].(type) {
	case string:
		to["type"] = strings.ToUpper(t)
	case []any:
		to["type"] = strings.ToUpper(t[0].(string))
		to["nullable"] = slices.Contains(t, any("null"))
	}
	maps.DeleteFunc(to, func(name string, _ any) bool { return !slices.Contains(closedKeys, name) })
	return to
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
