package schema

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An evaluator reports whether values satisfy a schema. It is small, slow, and based
// on the JSON Schema drafts and the vendors' references only.
type evaluator struct {
	root any
	// ignored are keywords that have no effect.
	ignored map[string]bool
	// oneOfAsAnyOf treats oneOf as anyOf.
	oneOfAsAnyOf bool
	depth        int
}

// geminiSkips are the keywords that generateContent ignores.
var geminiSkips = map[string]bool{
	"const": true, "allOf": true, "not": true, "pattern": true, "minLength": true, "maxLength": true, "multipleOf": true,
	"exclusiveMinimum": true, "exclusiveMaximum": true, "uniqueItems": true, "contains": true, "patternProperties": true,
	"propertyNames": true, "minProperties": true, "maxProperties": true, "nullable": true, "dependentRequired": true,
}

func (e *evaluator) valid(schema, v any) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema == true
	}
	if e.depth++; e.depth > 10_000 {
		return true
	}
	if s["nullable"] == true && v == nil && !e.ignored["nullable"] {
		return true
	}
	for name, x := range s {
		if !e.ignored[name] && !e.keyword(s, name, x, v) {
			return false
		}
	}
	return true
}

func (e *evaluator) keyword(s map[string]any, name string, x, v any) bool {
	switch name {
	case "$ref":
		t := e.root
		for _, step := range strings.Split(x.(string), "/")[1:] {
			t = t.(map[string]any)[step]
		}
		return e.valid(t, v)
	case "type":
		if list, ok := x.([]any); ok {
			return slices.ContainsFunc(list, func(t any) bool { return isType(t.(string), v) })
		}
		return isType(x.(string), v)
	case "enum":
		return slices.ContainsFunc(x.([]any), func(y any) bool { return reflect.DeepEqual(y, v) })
	case "const":
		return reflect.DeepEqual(x, v)
	case "anyOf", "oneOf", "allOf":
		n := 0
		for _, y := range x.([]any) {
			if e.valid(y, v) {
				n++
			}
		}
		return name == "allOf" && n == len(x.([]any)) || name == "anyOf" && n > 0 || name == "oneOf" && (n == 1 || n > 0 && e.oneOfAsAnyOf)
	case "not":
		return !e.valid(x, v)
	}
	switch v := v.(type) {
	case float64:
		return numberOK(s, name, x, v)
	case string:
		return stringOK(name, x, v)
	case []any:
		return e.arrayOK(s, name, x, v)
	case map[string]any:
		return e.objectOK(s, name, x, v)
	}
	return true
}

func isType(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return strings.EqualFold(t, "null")
	case bool:
		return strings.EqualFold(t, "boolean")
	case float64:
		return strings.EqualFold(t, "number") || strings.EqualFold(t, "integer") && v == math.Trunc(v)
	case string:
		return strings.EqualFold(t, "string")
	case []any:
		return strings.EqualFold(t, "array")
	}
	return strings.EqualFold(t, "object")
}

// limit reads a limit, which is a string if it is a 64-bit integer of protobuf.
func limit(x any) float64 {
	if s, ok := x.(string); ok {
		f, _ := strconv.ParseFloat(s, 64)
		return f
	}
	f, _ := x.(float64)
	return f
}

func numberOK(s map[string]any, name string, x any, v float64) bool {
	switch name {
	case "minimum":
		return v >= limit(x) && !(s["exclusiveMinimum"] == true && v == limit(x))
	case "maximum":
		return v <= limit(x) && !(s["exclusiveMaximum"] == true && v == limit(x))
	case "exclusiveMinimum":
		_, flag := x.(bool)
		return flag || v > limit(x)
	case "exclusiveMaximum":
		_, flag := x.(bool)
		return flag || v < limit(x)
	case "multipleOf":
		return math.Mod(v, limit(x)) == 0
	}
	return true
}

func stringOK(name string, x any, v string) bool {
	n := float64(utf8.RuneCountInString(v))
	switch name {
	case "minLength":
		return n >= limit(x)
	case "maxLength":
		return n <= limit(x)
	case "pattern":
		return regexp.MustCompile(x.(string)).MatchString(v)
	}
	return true
}

func (e *evaluator) arrayOK(s map[string]any, name string, x any, v []any) bool {
	tuple, _ := s["prefixItems"].([]any)
	if list, ok := s["items"].([]any); ok {
		tuple = list
	}
	switch name {
	case "minItems":
		return float64(len(v)) >= limit(x)
	case "maxItems":
		return float64(len(v)) <= limit(x)
	case "prefixItems", "items", "additionalItems":
		list, isList := x.([]any)
		for i, y := range v {
			switch {
			case isList && i < len(list) && !e.valid(list[i], y):
				return false
			case !isList && i >= len(tuple) && (name == "items" || tuple != nil) && !e.valid(x, y):
				return false
			}
		}
	case "uniqueItems":
		for i := range v {
			for k := range i {
				if x == true && reflect.DeepEqual(v[i], v[k]) {
					return false
				}
			}
		}
	case "contains":
		return slices.ContainsFunc(v, func(y any) bool { return e.valid(x, y) })
	}
	return true
}

func (e *evaluator) objectOK(s map[string]any, name string, x any, v map[string]any) bool {
	switch name {
	case "minProperties":
		return float64(len(v)) >= limit(x)
	case "maxProperties":
		return float64(len(v)) <= limit(x)
	case "required":
		for _, y := range x.([]any) {
			if _, ok := v[y.(string)]; !ok {
				return false
			}
		}
	case "properties":
		for k, y := range x.(map[string]any) {
			if z, ok := v[k]; ok && !e.valid(y, z) {
				return false
			}
		}
	case "patternProperties":
		for p, y := range x.(map[string]any) {
			for k, z := range v {
				if regexp.MustCompile(p).MatchString(k) && !e.valid(y, z) {
					return false
				}
			}
		}
	case "additionalProperties":
		known, _ := s["properties"].(map[string]any)
		for k, z := range v {
			if _, ok := known[k]; !ok && !e.patterned(s, k) && !e.valid(x, z) {
				return false
			}
		}
	case "propertyNames":
		for k := range v {
			if !e.valid(x, k) {
				return false
			}
		}
	}
	return true
}

func (e *evaluator) patterned(s map[string]any, k string) bool {
	patterns, _ := s["patternProperties"].(map[string]any)
	for p := range patterns {
		if regexp.MustCompile(p).MatchString(k) {
			return true
		}
	}
	return false
}
