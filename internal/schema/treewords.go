package schema

import (
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

func (c *converter) pathIndex(i int) { c.push(strconv.Itoa(i)) }

// writeType writes the types that a schema allows.
func (c *converter) writeType(n *node, m *member) {
	t := n.t
	several := !m.v.Exists() || m.null && typesOf(m.v)&tNull == 0
	for i := range c.members[n.lo:] {
		x := &c.members[n.lo+i]
		several = several || x.kw == kType && x.v != m.v
	}
	if n.root {
		several = several || m.v.Kind() == jsonwire.Array
		t = tObject
	}
	if !several && isExact(m.v) {
		c.raw(m.name, m.v)
		return
	}
	c.changed = true
	c.w.Name("type")
	if t.count() > 1 {
		c.w.BeginArray()
		defer c.w.EndArray()
	}
	t.names(func(_ types, name string) { c.w.String(name) })
}

// isExact reports whether types are spelled as JSON Schema spells them.
func isExact(v value) bool {
	if v.Kind() == jsonwire.Array {
		return all(v, isExact)
	}
	for i := range typeNames {
		if v.Is(typeNames[i].name) {
			return true
		}
	}
	return false
}

// format writes what a text looks like. A strict schema with a format that the
// vendor does not know is refused.
func (c *converter) format(n *node, m *member) {
	if c.d != OpenAIStrict {
		c.plain(n, m)
		return
	}
	for i := range c.members[n.lo:] {
		x := &c.members[n.lo+i]
		f := x.v.Str()
		switch {
		case x.kw != kFormat || isStrictFormat(f):
			continue
		case f == "", f == "enum", isNumeric(f):
			c.lose(rAnnotation, x.name)
		default:
			c.lose(rConstraint, x.name)
		}
		c.changed = true
		*x = member{gone: true}
	}
	if isStrictFormat(m.v.Str()) {
		c.plain(n, m)
		return
	}
	n.done[kFormat] = false // one that is known may follow
}

// isStrictFormat reports whether strict schemas of OpenAI-style servers may have
// a format.
func isStrictFormat(format string) bool {
	switch format {
	case "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

// enum writes the values that are allowed.
func (c *converter) enum(n *node, m *member) {
	if c.d == GeminiJSON {
		if _, odd := m.literals(); odd {
			c.lose(rIgnored, m.name)
		}
	}
	if !c.mergesEnums(n.lo) {
		c.raw(m.name, m.v)
		return
	}
	c.changed = true
	values, of, _ := c.enumIn(n.lo, tAll)
	n.done[kEnum], n.done[kConst] = true, true
	if of == 0 {
		c.lose(rConflict, m.name)
		return
	}
	c.w.Name("enum")
	c.w.BeginArray()
	for _, x := range values {
		c.w.Raw(x.Raw())
	}
	if of&tNull != 0 {
		c.w.Null()
	}
	c.w.EndArray()
}

// mergesEnums reports whether all that enumerates values from lo on has to become
// one enum. If not, each member can stay as it is.
func (c *converter) mergesEnums(lo int) bool {
	if c.sources(lo, kEnum) > 1 || c.sources(lo, kConst) > 1 {
		return true
	}
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kEnum && m.kw != kConst {
			continue
		}
		null, odd := m.literals()
		if m.elems != nil || m.null && !null || m.kw == kConst && c.d == GeminiJSON && !odd {
			return true
		}
	}
	return false
}

// literals reports whether null is among the values that m enumerates, and
// whether some are such that GeminiJSON does not look at.
func (m *member) literals() (null, odd bool) {
	look := func(x value) {
		null = null || x.Kind() == jsonwire.Null
		odd = odd || typeOf(x)&(tString|tNumber|tNull) == 0
	}
	if m.kw == kConst {
		look(m.v)
		return null, odd
	}
	for x := range m.values() {
		look(x)
	}
	return null, odd
}

// items writes what elements are. Lists of schemas got a name of their own.
func (c *converter) items(n *node, m *member) {
	tuple := c.firstOf(n.lo, kItems).Kind() == jsonwire.Array
	switch {
	case m.kw == kAdditionalItems:
		c.changed = true
		if !tuple {
			return // it means nothing without a list
		}
		c.w.Name("items")
		c.push(m.name)
		c.tree(m.v, false)
		c.pop(1)
		return
	case tuple && c.hasAny(n.lo, kPrefixItems):
		c.changed = true
		c.lose(rConflict, m.name)
		return
	case tuple && m.v.Len() == 0:
		c.changed = true
		return
	case tuple:
		c.changed = true
		x := *m
		x.kw, x.name = kPrefixItems, "prefixItems"
		c.plain(n, &x)
		return
	}
	c.plain(n, m)
}

// limits writes a bound of numbers, and turns the flags that draft 4 has beside
// them into bounds.
func (c *converter) limits(n *node, m *member) {
	in, ex := kMinimum, kExclusiveMinimum
	if m.kw == kMaximum || m.kw == kExclusiveMaximum {
		in, ex = kMaximum, kExclusiveMaximum
	}
	if c.d == GeminiJSON && c.hasAny(n.lo, ex) {
		n.done[in], n.done[ex] = true, true
		c.changed = true
		t := n.t
		if !n.typed {
			t = tNumber
		}
		c.bound(table[in].name, c.limit(n.lo, t&tNumber, in, ex))
		return
	}
	lower := in == kMinimum
	v := c.tightest(n.lo, m.kw, lower)
	if c.hasAny(n.lo, in) && c.flagged(n.lo, ex) {
		c.changed = true
		if m.kw == ex {
			return // is written where the bound stands
		}
		m.name = table[ex].name
		n.done[ex] = true
		x, _ := v.Float()
		if e := c.tightest(n.lo, ex, lower); e.Exists() {
			if y, _ := e.Float(); y > x == lower && y != x {
				v = e
			}
		}
	}
	c.changed = c.changed || !v.Exists() // a flag that is alone says nothing
	c.raw(m.name, v)
}

// flagged reports whether a flag of draft 4 makes a bound exclusive.
func (c *converter) flagged(lo int, kw keyword) bool {
	for i := range c.members[lo:] {
		if m := &c.members[lo+i]; m.kw == kw && m.v.Kind() == jsonwire.True {
			return true
		}
	}
	return false
}

// properties writes the members of an object.
func (c *converter) properties(n *node, m *member) {
	var required map[string]bool
	if c.d == OpenAIStrict {
		required = make(map[string]bool)
		for _, s := range c.requiredIn(n.lo) {
			required[s] = true
		}
	}
	c.w.Name("properties")
	c.w.BeginObject()
	c.push("properties")
	if c.sources(n.lo, kProperties) == 1 && m.props == nil {
		for name, x := range m.v.Members() {
			null := c.beginProp(name, required)
			c.tree(x, null)
			c.pop(1)
		}
	} else {
		list := c.propsIn(n.lo)
		for i := range list {
			null := c.beginProp(list[i].name, required)
			c.treeProp(&list[i], null)
			c.pop(1)
		}
	}
	c.pop(1)
	c.w.EndObject()
}

// beginProp writes the name of a property, and reports whether it may be null
// because it cannot be left out any more.
func (c *converter) beginProp(name string, required map[string]bool) (null bool) {
	c.push(name)
	c.w.Name(name)
	if c.d != OpenAIStrict || required[name] {
		return false
	}
	c.lose(rOptional)
	return true
}

// sources returns how many members of kw there are from lo on.
func (c *converter) sources(lo int, kw keyword) (n int) {
	for i := range c.members[lo:] {
		if c.members[lo+i].kw == kw {
			n++
		}
	}
	return n
}

// treeProp writes what a property must be.
func (c *converter) treeProp(p *prop, null bool) {
	if len(p.all) == 1 && len(p.any) == 0 {
		c.tree(p.all[0], null)
		return
	}
	lo, mark := len(c.members), len(c.active)
	if len(p.all) == 0 && len(p.any) == 1 {
		c.tree(p.any[0], null)
		return
	}
	c.changed = true
	if c.room() {
		for _, x := range p.all {
			c.gather(x, null)
		}
		if len(p.any) > 0 {
			c.gatherUnion(member{kw: kAnyOf, name: "anyOf", elems: p.any, null: null})
		}
		c.treeNode(&node{lo: lo, mixed: true})
	} else {
		c.w.Raw("{}")
	}
	c.leave(lo, mark)
}

// required writes which members there must be: where strict, all of them.
func (c *converter) required(n *node) {
	n.done[kRequired] = true
	if m := c.firstOf(n.lo, kRequired); c.d != OpenAIStrict && c.sources(n.lo, kRequired) == 1 && m.Exists() {
		c.raw("required", m)
		return
	}
	list := c.requiredIn(n.lo)
	source := c.firstOf(n.lo, kRequired)
	if c.d == OpenAIStrict {
		list = c.allRequired(n, list)
	}
	if source.Len() == len(list) && source.Exists() && c.sources(n.lo, kRequired) == 1 {
		c.raw("required", source)
		return
	}
	c.changed = true
	c.w.Name("required")
	c.w.BeginArray()
	for _, s := range list {
		c.w.String(s)
	}
	c.w.EndArray()
}

// allRequired returns the names of all properties: the list itself if it names
// all of them and no others.
func (c *converter) allRequired(n *node, list []string) []string {
	props := c.propsIn(n.lo)
	known := make(map[string]bool, len(props))
	for i := range props {
		known[props[i].name] = true
	}
	kept := 0
	for _, s := range list {
		if known[s] {
			kept++
		} else {
			c.lose(rConflict, "required")
		}
	}
	if kept == len(list) && kept == len(props) {
		return list
	}
	out := make([]string, len(props))
	for i := range props {
		out[i] = props[i].name
	}
	return out
}

// additionalProperties writes what members that are not listed may be.
func (c *converter) additionalProperties(n *node, m *member) {
	for i := range c.members[n.lo:] {
		if x := &c.members[n.lo+i]; x.kw == kAdditional && x.v.Kind() == jsonwire.False {
			m.v = x.v // what one of several forbids is forbidden
		}
	}
	if m.v.Kind() == jsonwire.False {
		c.raw(m.name, m.v)
		return
	}
	if c.d != MessagesStrict && c.d != OpenAIStrict {
		c.w.Name(m.name)
		c.push(m.name)
		c.tree(m.v, false)
		c.pop(1)
		return
	}
	c.changed = true
	c.lose(rShut, m.name)
	c.w.Name(m.name)
	c.w.Bool(false)
}

// union writes alternatives.
func (c *converter) union(n *node, m *member) {
	name := m.name
	switch r := c.d.rule(m.kw); {
	case r.action == said: // oneOf as anyOf
		c.changed = true
		if m.elems == nil {
			c.lose(r.reason, name)
		}
		if n.done[kAnyOf] || c.hasAny(n.lo, kAnyOf) {
			c.lose(rSecondUnion, name)
			return
		}
		name = "anyOf"
		n.done[kAnyOf] = true
	case r.reason != rNone:
		c.lose(r.reason, name)
	}
	if c.sources(n.lo, m.kw) > 1 {
		c.lose(rSecondUnion, name)
	}
	c.w.Name(name)
	c.push(m.name)
	c.w.BeginArray()
	i, null := 0, false
	for x := range m.values() {
		null = null || isNull(x)
		c.pathIndex(i)
		c.tree(x, false)
		c.pop(1)
		i++
	}
	if m.null && !null {
		c.changed = true
		c.w.Raw(`{"type":"null"}`)
	}
	c.w.EndArray()
	c.pop(1)
}
