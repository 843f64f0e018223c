package echo

import (
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/jsonwire"
)

// satisfied reports whether JSON text satisfies every schema of a list, as far
// as the maker's work allows to find out.
func (m *maker) satisfied(json []byte, list []node) bool {
	doc, err := jsonwire.Parse(string(json), jsonwire.Limits{})
	if err != nil {
		return false
	}
	defer doc.Close()
	return m.fits(doc.Root(), list, 0)
}

func (m *maker) fits(v jsonwire.Value, list []node, depth int) bool {
	for _, n := range list {
		if !m.fit(v, n.v, depth) {
			return false
		}
	}
	return true
}

// fit reports whether v satisfies one schema. What it does not understand, and
// what is too much work, counts as satisfied: the question is whether to look
// for something better.
func (m *maker) fit(v, schema jsonwire.Value, depth int) bool {
	if m.work--; m.work < 0 || depth > 4*maxNested {
		return true
	}
	if schema.Kind() != jsonwire.Object {
		return schema.Kind() != jsonwire.False
	}
	if names := m.types(schema); len(names) > 0 && !slices.ContainsFunc(names, func(k string) bool { return isKind(v, k) }) {
		return false
	}
	if c := m.get(schema, "const"); c.Exists() && !m.equal(c, v) {
		return false
	}
	if enum := m.get(schema, "enum"); enum.Kind() == jsonwire.Array && !m.among(enum, v) {
		return false
	}
	if !m.fitCombined(v, schema, depth+1) {
		return false
	}
	switch v.Kind() {
	case jsonwire.Number:
		b := &bounds{}
		m.boundOne(b, schema)
		r := rat(v)
		return r == nil || b.has(r)
	case jsonwire.String:
		return m.fitString(v.Str(), schema)
	case jsonwire.Array:
		return m.fitArray(v, schema, depth+1)
	case jsonwire.Object:
		return m.fitObject(v, schema, depth+1)
	}
	return true
}

func isKind(v jsonwire.Value, kind string) bool {
	if kind == "integer" {
		r := rat(v)
		return v.Kind() == jsonwire.Number && (r == nil || r.IsInt())
	}
	return v.Kind().String() == kind
}

func (m *maker) among(list, v jsonwire.Value) bool {
	for _, e := range list.Elems() {
		if m.equal(e, v) {
			return true
		}
	}
	return false
}

// fitCombined looks at the schemas that a schema is made of.
func (m *maker) fitCombined(v, schema jsonwire.Value, depth int) bool {
	if ref := m.get(schema, "$ref"); ref.Kind() == jsonwire.String {
		if to := m.resolve(ref.Str()); to.Exists() && !m.fit(v, to, depth) {
			return false
		}
	}
	for _, s := range m.get(schema, "allOf").Elems() {
		if !m.fit(v, s, depth) {
			return false
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		branches := m.get(schema, name)
		n := 0
		for _, s := range branches.Elems() {
			if m.fit(v, s, depth) {
				n++
			}
		}
		if branches.Len() > 0 && (n == 0 || name == "oneOf" && n > 1) && m.work > 0 {
			return false
		}
	}
	if not := m.get(schema, "not"); not.Exists() && m.fit(v, not, depth) && m.work > 0 {
		return false
	}
	if cond := m.get(schema, "if"); cond.Exists() {
		then := m.get(schema, "else")
		if m.fit(v, cond, depth) {
			then = m.get(schema, "then")
		}
		return !then.Exists() || m.fit(v, then, depth)
	}
	return true
}

func (m *maker) fitString(s string, schema jsonwire.Value) bool {
	m.work -= len(s) / 16
	n := utf8.RuneCountInString(s)
	if least, ok := whole(m.get(schema, "minLength")); ok && n < least {
		return false
	}
	if most, ok := whole(m.get(schema, "maxLength")); ok && n > most {
		return false
	}
	p := m.get(schema, "pattern")
	return p.Kind() != jsonwire.String || matches(p.Str(), s)
}

func (m *maker) fitArray(v, schema jsonwire.Value, depth int) bool {
	if least, ok := whole(m.get(schema, "minItems")); ok && v.Len() < least {
		return false
	}
	if most, ok := whole(m.get(schema, "maxItems")); ok && v.Len() > most {
		return false
	}
	tuple, rest := m.get(schema, "prefixItems"), m.get(schema, "items")
	if rest.Kind() == jsonwire.Array {
		tuple, rest = rest, m.get(schema, "additionalItems")
	}
	unique, _ := m.get(schema, "uniqueItems").Bool()
	contains := m.get(schema, "contains")
	found := !contains.Exists()
	var before []jsonwire.Value
	for i, e := range v.Elems() {
		s := rest
		if i < tuple.Len() {
			s = element(tuple, i)
		}
		if s.Exists() && !m.fit(e, s, depth) {
			return false
		}
		found = found || m.fit(e, contains, depth)
		if unique {
			if slices.ContainsFunc(before, func(b jsonwire.Value) bool { return m.equal(b, e) }) {
				return false
			}
			before = append(before, e)
		}
	}
	return found
}

func (m *maker) fitObject(v, schema jsonwire.Value, depth int) bool {
	if least, ok := whole(m.get(schema, "minProperties")); ok && v.Len() < least {
		return false
	}
	if most, ok := whole(m.get(schema, "maxProperties")); ok && v.Len() > most {
		return false
	}
	for _, name := range m.get(schema, "required").Elems() {
		if name.Kind() == jsonwire.String && !m.get(v, name.Str()).Exists() && m.work > 0 {
			return false
		}
	}
	properties, patterns := m.get(schema, "properties"), m.get(schema, "patternProperties")
	others, names := m.get(schema, "additionalProperties"), m.get(schema, "propertyNames")
	for name, x := range v.Members() {
		said := false
		if s := m.get(properties, name); s.Exists() {
			said = true
			if !m.fit(x, s, depth) {
				return false
			}
		}
		for p, s := range patterns.Members() {
			if m.work--; m.work > 0 && matches(p, name) {
				said = true
				if !m.fit(x, s, depth) {
					return false
				}
			}
		}
		if !said && others.Exists() && !m.fit(x, others, depth) {
			return false
		}
		if p := m.get(names, "pattern"); p.Kind() == jsonwire.String && !matches(p.Str(), name) {
			return false
		}
	}
	return true
}

// equal reports whether two values are equal as JSON Schema has it: numbers by
// value, objects in any order.
func (m *maker) equal(a, b jsonwire.Value) bool {
	if m.work--; m.work < 0 {
		return false
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case jsonwire.Number:
		x, y := rat(a), rat(b)
		if x == nil || y == nil {
			return a.Raw() == b.Raw()
		}
		return x.Cmp(y) == 0
	case jsonwire.String:
		return a.Str() == b.Str()
	case jsonwire.Array:
		next, stop := iter.Pull2(b.Elems())
		defer stop()
		for _, e := range a.Elems() {
			if _, x, _ := next(); !m.equal(e, x) {
				return false
			}
		}
	case jsonwire.Object:
		for name, e := range a.Members() {
			if !m.equal(e, m.get(b, name)) {
				return false
			}
		}
	}
	return true
}
