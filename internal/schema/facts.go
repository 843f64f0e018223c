package schema

import (
	"math"
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

// typesIn returns the types that the members from lo on allow together, and
// whether one of them speaks of types at all.
func (c *converter) typesIn(lo int) (t types, typed bool) {
	t = tAll
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kType {
			continue
		}
		typed = true
		x := tNull
		if m.v.Exists() {
			x = typesOf(m.v)
		}
		if m.null {
			x |= tNull
		}
		t &= x
	}
	return t, typed
}

// enumIn returns the values that the members from lo on allow together, those
// of a type in t and not null; and the types they have, with null if that is
// allowed. has is false if nothing is enumerated.
func (c *converter) enumIn(lo int, t types) (values []value, of types, has bool) {
	null := true
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kEnum && m.kw != kConst {
			continue
		}
		var set []value
		hasNull := m.null
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
			set = common(values, set)
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

// common returns the values of a that are in b too.
func common(a, b []value) []value {
	in := make(map[string]bool, len(b))
	for _, x := range b {
		in[identity(x)] = true
	}
	var out []value
	for _, x := range a {
		if in[identity(x)] {
			out = append(out, x)
		}
	}
	return out
}

// identity returns a text that two values share if they are the same, as far as
// that is easily told: objects and lists are compared by how they are written.
func identity(v value) string {
	switch v.Kind() {
	case jsonwire.String:
		return `"` + v.Str()
	case jsonwire.Number:
		f, _ := v.Float()
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return v.Raw()
}

// first returns the first member of kw from lo on; its value is none if there
// is none. If a later one says something else, the loss is reported.
func (c *converter) first(lo int, kw keyword, conflict reason) value {
	var v value
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		switch {
		case m.kw != kw:
		case !v.Exists():
			v = m.v
		case identity(v) != identity(m.v):
			c.lose(conflict, m.name)
		}
	}
	return v
}

// hasAny reports whether there is a member of one of the keywords from lo on.
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

// tightest returns the largest of the numbers that kw has from lo on, or the
// smallest; none if it has no numbers.
func (c *converter) tightest(lo int, kw keyword, largest bool) value {
	var best value
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kw {
			continue
		}
		x, number := m.v.Float()
		if y, ok := best.Float(); number && (!ok || x > y == largest && x != y) {
			best = m.v
		}
	}
	return best
}

// limit returns the lower or upper bound of numbers that the members from lo on
// set, as JSON text; empty if there is none. An exclusive bound of whole numbers
// becomes the next whole number.
func (c *converter) limit(lo int, t types, inclusive, exclusive keyword) string {
	lower := inclusive == kMinimum
	in, ex := c.tightest(lo, inclusive, lower), value{}
	beside := false // draft 4 has a flag beside the bound
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != exclusive {
			continue
		}
		x, ok := m.v.Float()
		if y, has := ex.Float(); ok && (!has || x > y == lower && x != y) {
			ex = m.v
		}
		beside = beside || m.v.Kind() == jsonwire.True
	}
	a, _ := in.Float()
	b, ok := ex.Float()
	switch {
	case in.Exists() && (!ok || a > b == lower && a != b):
		if !beside {
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
	c.lose(rExclusive, table[exclusive].name)
	return ex.Raw()
}

// propsIn returns the properties that the members from lo on describe, each
// once, in the order in which they come.
func (c *converter) propsIn(lo int) []prop {
	var at map[string]int
	sources, n := 0, 0
	for i := range c.members[lo:] {
		if c.members[lo+i].kw == kProperties {
			sources++
			n += len(c.members[lo+i].props) + c.members[lo+i].v.Len()
		}
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
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kProperties {
			continue
		}
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
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kRequired {
			continue
		}
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

// gatherProp adds what a property must be.
func (c *converter) gatherProp(p *prop) {
	for _, x := range p.all {
		c.gather(x, false)
	}
	if len(p.any) > 0 {
		c.gatherUnion(member{kw: kAnyOf, name: "anyOf", elems: p.any})
	}
}
