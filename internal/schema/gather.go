package schema

import (
	"iter"

	"github.com/polywire/polywire/internal/jsonwire"
)

// gather adds to the stack what v says. allOf, references and alternatives of
// which only one is not null are taken apart, so that what is on the stack must
// hold together. null says that v holds for all values but null. Targets of
// references stay entered; the caller leaves them when they have been written.
func (c *converter) gather(v value, null bool) {
	c.nodes--
	switch v.Kind() {
	case jsonwire.True:
		return
	case jsonwire.Object:
	default:
		c.lose(rFalse)
		return
	}
	if c.nodes < 0 {
		c.room()
		return
	}
	far := false
	null = null || v.Get("nullable").Kind() == jsonwire.True
	for name, x := range v.Members() {
		kw := byName[name]
		if !fits(table[kw].shape, x) {
			c.malformed(name, x)
			continue
		}
		switch kw {
		case kRef, kAllOf:
			far = true
		case kAnyOf, kOneOf:
			c.gatherUnion(member{kw: kw, name: name, v: x, null: null})
		default:
			c.admit(member{kw: kw, name: name, v: x, null: null})
		}
	}
	if !far {
		return
	}
	// What v says itself comes first: its description is the one to keep.
	if ref := v.Get("$ref"); ref.Kind() == jsonwire.String {
		c.gatherRef(ref.Str(), null)
	}
	if list := v.Get("allOf"); fits(schemas, list) {
		for _, s := range list.Elems() {
			c.gather(s, null)
		}
	}
}

// malformed reports a keyword whose value is of no use. A null says nothing.
func (c *converter) malformed(name string, v value) {
	c.changed = true
	if v.Kind() != jsonwire.Null {
		c.lose(rMalformed, name)
	}
}

// admit adds m to the stack if the dialect has a way to say it.
func (c *converter) admit(m member) {
	if c.d == GeminiSchema {
		r := c.d.rule(m.kw)
		switch {
		case r.action == without:
			return
		case r.action == lost:
			if !vacuous(m) {
				c.lose(r.reason, m.name)
			}
			return
		}
	}
	c.members = append(c.members, m)
}

// vacuous reports whether m says nothing.
func vacuous(m member) bool {
	switch m.kw {
	case kUniqueItems, kDeprecated, kReadOnly, kWriteOnly:
		return m.v.Kind() == jsonwire.False
	case kPatternProperties, kDependentRequired, kDependentSchemas, kDependencies:
		return m.v.Len() == 0
	case kUnevaluated, kUnevaluatedItems, kPropertyNames:
		return anything(m.v)
	}
	return false
}

func (c *converter) gatherRef(ref string, null bool) {
	target, ok := c.enter(ref)
	switch {
	case ok:
		c.gather(target, null)
	case !target.Exists():
		c.lose(rRef, "$ref")
	default:
		// What is cut keeps its type, so that the shape can be guessed.
		c.lose(rRecursion)
		for _, kw := range []keyword{kType, kDescription} {
			if x := target.Get(table[kw].name); x.Exists() && fits(table[kw].shape, x) {
				c.members = append(c.members, member{kw: kw, name: table[kw].name, v: x,
					null: null || target.Get("nullable").Kind() == jsonwire.True})
			}
		}
	}
}

// gatherUnion adds alternatives. Those that are null are a matter of its flag,
// and a single one that is left is no alternative.
func (c *converter) gatherUnion(m member) {
	n, literal := 0, true
	var only value
	for x := range m.values() {
		if isNull(x) {
			m.null = true
			continue
		}
		n++
		only = x
		literal = literal && isLiteral(x)
	}
	switch {
	case n == 0:
		if m.null {
			c.members = append(c.members, member{kw: kType, name: "type"})
		}
	case n == 1:
		c.gather(only, m.null)
	case literal:
		var elems []value
		for x := range m.values() {
			if x.Get("const").Kind() == jsonwire.String {
				elems = append(elems, x.Get("const"))
			}
		}
		c.members = append(c.members, member{kw: kEnum, name: m.name, elems: elems, null: m.null})
	default:
		if m.kw == kOneOf {
			c.lose(c.d.rule(kOneOf).reason, m.name)
		}
		c.members = append(c.members, m)
	}
}

// isLiteral reports whether v is one string and says nothing else.
func isLiteral(v value) bool {
	typed := 1
	if t := v.Get("type"); t.Exists() {
		if typesOf(t)&tString == 0 {
			return false
		}
		typed = 2
	}
	return v.Get("const").Kind() == jsonwire.String && v.Len() == typed
}

// values ranges over the elements of m's value.
func (m *member) values() iter.Seq[value] {
	return func(yield func(value) bool) {
		if m.elems != nil {
			for _, x := range m.elems {
				if !yield(x) {
					return
				}
			}
			return
		}
		for _, x := range m.v.Elems() {
			if !yield(x) {
				return
			}
		}
	}
}

// alternatives ranges over those values of m that are not null, with the places
// they have among all.
func (m *member) alternatives() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		i := -1
		for x := range m.values() {
			if i++; !isNull(x) && !yield(i, x) {
				return
			}
		}
	}
}

// isNull reports whether only null satisfies v.
func isNull(v value) bool {
	if t := v.Get("type"); t.Exists() {
		return typesOf(t) == tNull
	}
	if x := v.Get("const"); x.Exists() {
		return x.Kind() == jsonwire.Null
	}
	e := v.Get("enum")
	return e.Len() == 1 && elem(e, 0).Kind() == jsonwire.Null
}

// anything reports whether every value satisfies v.
func anything(v value) bool {
	return v.Kind() == jsonwire.True || v.Kind() == jsonwire.Object && v.Len() == 0
}

// fits reports whether v is of shape s.
func fits(s shape, v value) bool {
	k := v.Kind()
	isFlag := k == jsonwire.True || k == jsonwire.False
	switch s {
	case flag:
		return isFlag
	case text:
		return k == jsonwire.String
	case number:
		_, ok := v.Float()
		return ok
	case count:
		n, ok := v.Int()
		return ok && n >= 0
	case names:
		return k == jsonwire.Array && all(v, func(x value) bool { return x.Kind() == jsonwire.String })
	case list:
		return k == jsonwire.Array
	case oneType:
		return typesOf(v) != 0
	case bound:
		_, ok := v.Float()
		return ok || isFlag
	case schema:
		return isSchema(v)
	case schemas:
		return k == jsonwire.Array && v.Len() > 0 && all(v, isSchema)
	case members:
		if k != jsonwire.Object {
			return false
		}
		for _, x := range v.Members() {
			if !isSchema(x) {
				return false
			}
		}
	case either:
		return isSchema(v) || k == jsonwire.Array && all(v, isSchema)
	}
	return true
}

func isSchema(v value) bool {
	switch v.Kind() {
	case jsonwire.Object, jsonwire.True, jsonwire.False:
		return true
	}
	return false
}

func all(v value, ok func(value) bool) bool {
	for _, x := range v.Elems() {
		if !ok(x) {
			return false
		}
	}
	return true
}
