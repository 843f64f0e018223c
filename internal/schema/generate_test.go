package schema

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A generator makes schemas and values from a small set of names and values, so that
// many values almost satisfy a schema.
type generator struct {
	*rand.Rand
	// strict makes objects that strict dialects accept.
	strict bool
}

type object = map[string]any

func (g generator) pick(list ...any) any { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

var propNames = []string{"a", "b", "type", "$ref"}

// root makes a schema with definitions, one of them recursive.
func (g generator) root(input bool) any {
	s := object{}
	for _, name := range []string{"x", "y"} {
		s[name] = g.schema(2, false)
	}
	s["n"] = object{"type": "object", "properties": object{"a": object{"$ref": "#/$defs/n"}, "b": g.schema(1, false)}}
	if g.strict {
		s["n"] = object{"type": "array", "items": g.schema(1, false)}
	}
	r, _ := g.schema(3, true).(object)
	if r == nil {
		return true
	}
	if input {
		r = g.object(3)
		if g.chance(25) {
			r = object{g.pick("anyOf", "oneOf", "allOf").(string): []any{g.object(2), g.object(2)}}
		}
	}
	r["$defs"] = s
	return r
}

func (g generator) schema(depth int, refs bool) any {
	if g.chance(4) {
		return g.chance(70)
	}
	if refs && g.chance(15) {
		s := object{"$ref": "#/$defs/" + g.pick("x", "y", "n").(string)}
		if g.chance(40) {
			s["description"] = "d"
		}
		if g.chance(15) {
			s["nullable"] = true
		}
		return s
	}
	if depth > 0 && g.chance(25) {
		return g.composed(depth, refs)
	}
	s := g.leaf(depth)
	if g.chance(8) {
		delete(s, "type")
	}
	if g.chance(8) {
		s["nullable"] = true
	}
	if g.chance(10) {
		s["enum"] = []any{g.value(1), g.value(0), g.value(0)}
	}
	if g.chance(5) {
		s["const"] = g.value(0)
	}
	if s["nullable"] == nil && g.chance(3) {
		s["not"] = g.schema(0, false)
	}
	if t, ok := s["type"]; ok && g.chance(15) {
		s["type"] = []any{t, g.pick("null", "boolean", "string")}
		if s["type"].([]any)[1] == t {
			s["type"] = t
		}
	}
	return s
}

func (g generator) composed(depth int, refs bool) object {
	s := object{}
	if g.chance(30) {
		s = g.leaf(depth - 1)
	}
	var list []any
	for range 1 + g.IntN(3) {
		list = append(list, g.schema(depth-1, refs))
	}
	if g.chance(30) {
		list = append(list, object{"type": "null"})
	}
	s[g.pick("anyOf", "anyOf", "oneOf", "allOf").(string)] = list
	return s
}

func (g generator) leaf(depth int) object {
	switch g.IntN(7) {
	case 0, 1:
		s := object{"type": g.pick("string", "STRING")}
		g.some(s, "minLength", 1, "maxLength", 3, "pattern", "^[a-c]")
		return s
	case 2, 3:
		s := object{"type": g.pick("integer", "number")}
		g.some(s, "minimum", 0, "maximum", 2, "exclusiveMinimum", g.pick(0, 0.5, true), "exclusiveMaximum", g.pick(2, false), "multipleOf", 2)
		return s
	case 4:
		return object{"type": "boolean"}
	case 5:
		s := object{"type": "array"}
		switch {
		case depth <= 0:
		case g.chance(15):
			s["prefixItems"] = []any{g.schema(depth-1, false), g.schema(0, false)}
			g.some(s, "items", false)
		case g.chance(10):
			s["items"] = []any{g.schema(depth-1, false)}
			g.some(s, "additionalItems", false)
		default:
			s["items"] = g.schema(depth-1, true)
		}
		g.some(s, "minItems", 1, "maxItems", 2, "uniqueItems", true)
		return s
	}
	return g.object(depth)
}

func (g generator) object(depth int) object {
	s := object{"type": "object"}
	if depth > 0 {
		p := object{}
		for _, name := range propNames {
			if g.chance(50) {
				p[name] = g.schema(depth-1, true)
			}
		}
		s["properties"] = p
	}
	if g.strict {
		list := []any{}
		p, _ := s["properties"].(object)
		for _, name := range propNames {
			if _, ok := p[name]; ok {
				list = append(list, name)
			}
		}
		s["properties"], s["required"], s["additionalProperties"] = p, list, false
		if p == nil {
			s["properties"] = object{}
		}
		return s
	}
	if g.chance(40) {
		s["required"] = []any{g.pick("a", "b", "type")}
	}
	g.some(s, "additionalProperties", g.pick(true, false, false, object{"type": "string"}), "minProperties", 1, "maxProperties", 3)
	if g.chance(5) {
		s["patternProperties"] = object{"^a": object{"type": "string"}}
	}
	return s
}

// some adds some of the pairs of names and values to s.
func (g generator) some(s object, pairs ...any) {
	for pair := range slices.Chunk(pairs, 2) {
		if g.chance(25) {
			s[pair[0].(string)] = pair[1]
		}
	}
}

// value makes a random value.
func (g generator) value(depth int) any {
	if depth > 0 {
		switch g.IntN(4) {
		case 0:
			list := []any{}
			for range g.IntN(3) {
				list = append(list, g.value(depth-1))
			}
			return list
		case 1:
			o := object{}
			for _, name := range append(propNames, "other") {
				if g.chance(40) {
					o[name] = g.value(depth - 1)
				}
			}
			return o
		}
	}
	return g.pick(nil, true, false, 0.0, 1.0, 2.0, 0.5, "", "a", "abc", "zzzz")
}

// fitting makes a value that often satisfies s.
func (g generator) fitting(e *evaluator, s any, depth int) any {
	o, _ := s.(object)
	if o == nil || depth == 0 || g.chance(5) {
		return g.value(1)
	}
	for range 6 {
		v := g.fittingOnce(e, o, depth)
		if e.valid(s, v) {
			return v
		}
	}
	return g.value(2)
}

func (g generator) fittingOnce(e *evaluator, s object, depth int) any {
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[name].([]any); ok && len(list) > 0 {
			return g.fitting(e, list[g.IntN(len(list))], depth-1)
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		return g.fitting(e, e.root.(object)["$defs"].(object)[ref[len("#/$defs/"):]], depth-1)
	}
	if list, ok := s["enum"].([]any); ok {
		return g.pick(list...)
	}
	if props, ok := s["properties"].(object); ok {
		o := object{}
		names := make([]string, 0, len(props))
		for name := range props {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if g.chance(60) {
				o[name] = g.fitting(e, props[name], depth-1)
			}
		}
		list, _ := s["required"].([]any)
		for _, name := range list {
			if _, ok := o[name.(string)]; !ok {
				o[name.(string)] = g.fitting(e, props[name.(string)], depth-1)
			}
		}
		return o
	}
	if items, ok := s["items"]; ok {
		list := []any{}
		for range g.IntN(3) {
			list = append(list, g.fitting(e, items, depth-1))
		}
		return list
	}
	return g.value(1)
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func unmarshal(s string) (v any) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber() // JSON numbers may exceed the range of float64
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return floats(v)
}

// floats converts the numbers in v to float64, infinite if they are too large.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(string(v), 64)
		return f
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case object:
		for name := range v {
			v[name] = floats(v[name])
		}
	}
	return v
}
