package schema

import (
	"iter"
	"math"
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

// gather pushes the members of v. It expands allOf, references, and alternatives of
// which all but one are null, so that all members on the stack apply together. null
// reports that null is also allowed. Expanded references stay entered; the caller
// leaves them after the members have been written.
func (c *converter) gather(v value, null bool) {
	c.nodesLeft--
	switch v.Kind() {
	case jsonwire.True:
		return
	case jsonwire.Object:
	default:
		c.report(rFalse)
		return
	}
	if c.nodesLeft < 0 {
		c.hasRoom()
		return
	}
	hasRefs := false
	null = null || v.Get("nullable").Kind() == jsonwire.True
	for name, x := range v.Members() {
		kw := keywordsByName[name]
		if !hasShape(keywordSpecs[kw].shape, x) {
			c.reportMalformed(name, x)
			continue
		}
		switch kw {
		case kRef, kAllOf:
			hasRefs = true
		case kAnyOf, kOneOf:
			c.gatherUnion(member{kw: kw, name: name, v: x, nullable: null})
		default:
			c.members = append(c.members, member{kw: kw, name: name, v: x, nullable: null})
		}
	}
	if !hasRefs {
		return
	}
	// The own members of v come first, so that its description is kept.
	if ref := v.Get("$ref"); ref.Kind() == jsonwire.String {
		c.gatherRef(ref.Str(), null)
	}
	if list := v.Get("allOf"); hasShape(shapeSchemas, list) {
		for _, s := range list.Elems() {
			c.gather(s, null)
		}
	}
}

// reportMalformed reports a keyword whose value has the wrong shape. A null value is
// treated as an absent keyword.
func (c *converter) reportMalformed(name string, v value) {
	c.changed = true
	if v.Kind() != jsonwire.Null {
		c.report(rMalformed, name)
	}
}

// isVacuous reports whether m constrains nothing.
func isVacuous(m member) bool {
	switch m.kw {
	case kUniqueItems, kDeprecated, kReadOnly, kWriteOnly:
		return m.v.Kind() == jsonwire.False
	case kPatternProperties, kDependentRequired, kDependentSchemas, kDependencies:
		return m.v.Len() == 0
	case kUnevaluatedProperties, kUnevaluatedItems, kPropertyNames:
		return allowsAnything(m.v)
	}
	return false
}

// gatherRef pushes the members of a reference's target.
func (c *converter) gatherRef(ref string, null bool) {
	target, ok := c.enter(ref)
	switch {
	case ok:
		c.gather(target, null)
	case !target.Exists():
		c.report(rRef, "$ref")
	default:
		// A schema that is cut keeps its type and description.
		c.report(rRecursion)
		for _, kw := range []keyword{kType, kDescription} {
			if x := target.Get(keywordSpecs[kw].name); x.Exists() && hasShape(keywordSpecs[kw].shape, x) {
				c.members = append(c.members, member{kw: kw, name: keywordSpecs[kw].name, v: x,
					nullable: null || target.Get("nullable").Kind() == jsonwire.True})
			}
		}
	}
}

// gatherUnion pushes alternatives. Null alternatives become the flag nullable, and a
// single remaining alternative is merged.
func (c *converter) gatherUnion(m member) {
	n, literal := 0, true
	var only value
	for x := range m.values() {
		if isNull(x) {
			m.nullable = true
			continue
		}
		n++
		only = x
		literal = literal && isLiteral(x)
	}
	switch {
	case n == 0:
		if m.nullable {
			c.members = append(c.members, member{kw: kType, name: "type"})
		}
	case n == 1:
		c.gather(only, m.nullable)
	case literal:
		var elems []value
		for x := range m.values() {
			if x.Get("const").Kind() == jsonwire.String {
				elems = append(elems, x.Get("const"))
			}
		}
		c.members = append(c.members, member{kw: kEnum, name: m.name, elems: elems, nullable: m.nullable})
	default:
		if m.kw == kOneOf {
			c.report(c.dialect.rule(kOneOf).reason, m.name)
		}
		c.members = append(c.members, m)
	}
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

// alternatives ranges over the elements of m's value that are not null.
func (m *member) alternatives() iter.Seq[value] {
	return func(yield func(value) bool) {
		for x := range m.values() {
			if !isNull(x) && !yield(x) {
				return
			}
		}
	}
}

// of ranges over the members of a keyword from lo on.
func (c *converter) of(lo int, kw keyword) iter.Seq[*member] {
	return func(yield func(*member) bool) {
		for i := range c.members[lo:] {
			if m := &c.members[lo+i]; m.kw == kw && !yield(m) {
				return
			}
		}
	}
}

// typesIn returns the types that the members from lo on allow together, and whether
// any of them constrains the type.
func (c *converter) typesIn(lo int) (t types, typed bool) {
	t = tAll
	for m := range c.of(lo, kType) {
		typed = true
		x := tNull
		if m.v.Exists() {
			x = typesOf(m.v)
		}
		if m.nullable {
			x |= tNull
		}
		t &= x
	}
	return t, typed
}

// enumIn returns the enumerated values, except null, that all members from lo on allow
// and that have a type in t. It also returns the types of these values, including null
// if it is allowed. has is false if nothing is enumerated.
func (c *converter) enumIn(lo int, t types) (values []value, of types, has bool) {
	null := true
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kEnum && m.kw != kConst {
			continue
		}
		var set []value
		hasNull := m.nullable
		add := func(x value) {
			if x.Kind() == jsonwire.Null {
				hasNull = true
			} else if t&typeOf(x) != 0 {
				set = append(set, x)
			}
		}
		if m.kw == kConst {
			add(m.v)
		} else {
			for x := range m.values() {
				add(x)
			}
		}
		null = null && hasNull
		if has {
			set = intersect(values, set)
		}
		values, has = set, true
	}
	for _, x := range values {
		of |= typeOf(x)
	}
	if null && t&tNull != 0 {
		of |= tNull
	}
	return values, of, has
}

// firstUnique returns the first value of kw from lo on. If a later value differs, it
// reports conflict.
func (c *converter) firstUnique(lo int, kw keyword, conflict reason) value {
	var v value
	for m := range c.of(lo, kw) {
		if !v.Exists() {
			v = m.v
		} else if identity(v) != identity(m.v) {
			c.report(conflict, m.name)
		}
	}
	return v
}

// firstOf returns the first value of kw from lo on.
func (c *converter) firstOf(lo int, kw keyword) value {
	for i := range c.members[lo:] {
		if c.members[lo+i].kw == kw {
			return c.members[lo+i].v
		}
	}
	return value{}
}

// countMembers returns the number of members of kw from lo on.
func (c *converter) countMembers(lo int, kw keyword) (n int) {
	for range c.of(lo, kw) {
		n++
	}
	return n
}

// hasAny reports whether one of the keywords occurs from lo on.
func (c *converter) hasAny(lo int, kws ...keyword) bool {
	for i := range c.members[lo:] {
		for _, kw := range kws {
			if c.members[lo+i].kw == kw {
				return true
			}
		}
	}
	return false
}

// strictest returns the largest or the smallest number of kw from lo on.
func (c *converter) strictest(lo int, kw keyword, largest bool) value {
	var best value
	for m := range c.of(lo, kw) {
		x, number := m.v.Float()
		if y, ok := best.Float(); number && (!ok || x > y == largest && x != y) {
			best = m.v
		}
	}
	return best
}

// numericLimit returns the lower or upper limit of the members from lo on as JSON
// text, or "" if there is none. An exclusive limit of integers becomes the next
// integer.
func (c *converter) numericLimit(lo int, t types, inclusive, exclusive keyword) string {
	lower := inclusive == kMinimum
	in, ex := c.strictest(lo, inclusive, lower), value{}
	draft4 := false // draft 4 has a boolean next to the limit
	for m := range c.of(lo, exclusive) {
		x, ok := m.v.Float()
		if y, has := ex.Float(); ok && (!has || x > y == lower && x != y) {
			ex = m.v
		}
		draft4 = draft4 || m.v.Kind() == jsonwire.True
	}
	a, _ := in.Float()
	b, ok := ex.Float()
	switch {
	case in.Exists() && (!ok || a > b == lower && a != b):
		if !draft4 {
			return in.Raw()
		}
		b, ex = a, in
	case !ok:
		return ""
	}
	if t == tInteger && math.Abs(b) < 1<<53 {
		if lower {
			return strconv.FormatInt(int64(math.Floor(b))+1, 10)
		}
		return strconv.FormatInt(int64(math.Ceil(b))-1, 10)
	}
	c.report(rExclusive, keywordSpecs[exclusive].name)
	return ex.Raw()
}

// propsIn returns the properties that the members from lo on describe, each once, in
// source order.
func (c *converter) propsIn(lo int) []prop {
	var at map[string]int
	sources, n := 0, 0
	for m := range c.of(lo, kProperties) {
		sources++
		n += len(m.props) + m.v.Len()
	}
	if n == 0 {
		return nil
	}
	out := make([]prop, 0, n)
	add := func(p prop) {
		if i, ok := at[p.name]; ok {
			out[i].all = append(out[i].all, p.all...)
			out[i].any = append(out[i].any, p.any...)
			return
		}
		if sources > 1 {
			if at == nil {
				at = make(map[string]int)
			}
			at[p.name] = len(out)
		}
		out = append(out, p)
	}
	for m := range c.of(lo, kProperties) {
		for _, p := range m.props {
			add(p)
		}
		for name, x := range m.v.Members() {
			add(prop{name: name, all: []value{x}})
		}
	}
	return out
}

// requiredIn returns the names that the members from lo on require, each once.
func (c *converter) requiredIn(lo int) []string {
	var out []string
	var seen map[string]bool
	for m := range c.of(lo, kRequired) {
		if seen == nil {
			seen = make(map[string]bool)
		}
		for x := range m.values() {
			if s := x.Str(); !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}
