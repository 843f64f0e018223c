package schema

import "github.com/polywire/polywire/internal/jsonwire"

// writeType writes the types that a node allows.
func (c *converter) writeType(n *node, m *member) {
	t := n.types
	several := !m.v.Exists() || m.nullable && typesOf(m.v)&tNull == 0
	for x := range c.of(n.lo, kType) {
		several = several || x.v != m.v
	}
	if n.root {
		several = several || m.v.Kind() == jsonwire.Array
		t = tObject
	}
	if !several && isExact(m.v) {
		c.writeRaw(m.name, m.v)
		return
	}
	c.changed = true
	c.w.Name("type")
	if t.count() > 1 {
		c.w.BeginArray()
		defer c.w.EndArray()
	}
	t.each(func(_ types, name string) { c.w.String(name) })
}

// isExact reports whether types are spelled as in JSON Schema.
func isExact(v value) bool {
	if v.Kind() == jsonwire.Array {
		return allElems(v, isExact)
	}
	for i := range typeNames {
		if v.Is(typeNames[i].name) {
			return true
		}
	}
	return false
}

// writeFormat writes the format of strings. OpenAI-style servers reject strict schemas
// with unknown formats.
func (c *converter) writeFormat(n *node, m *member) {
	if c.dialect != OpenAIStrict {
		c.writePlain(n, m)
		return
	}
	for x := range c.of(n.lo, kFormat) {
		switch f := x.v.Str(); {
		case isStrictFormat(f):
			continue
		case f == "", f == "enum", isNumeric(f):
			c.report(rAnnotation, x.name)
		default:
			c.report(rConstraint, x.name)
		}
		c.changed = true
		*x = member{handled: true}
	}
	if isStrictFormat(m.v.Str()) {
		c.writePlain(n, m)
		return
	}
	n.written[kFormat] = false // a known format may follow
}

// isStrictFormat reports whether OpenAI-style servers accept a format in strict
// schemas.
func isStrictFormat(format string) bool {
	switch format {
	case "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

// writeEnum writes the allowed values.
func (c *converter) writeEnum(n *node, m *member) {
	if c.dialect == GeminiJSON {
		if _, unsupported := m.literals(); unsupported {
			c.report(rIgnored, m.name)
		}
	}
	if !c.mustMergeEnums(n.lo) {
		c.writeRaw(m.name, m.v)
		return
	}
	c.changed = true
	values, of, _ := c.enumIn(n.lo, tAll)
	n.written[kEnum], n.written[kConst] = true, true
	if of == 0 {
		c.report(rConflict, m.name)
		return
	}
	c.w.Array("enum")
	for _, x := range values {
		c.w.Raw(x.Raw())
	}
	if of&tNull != 0 {
		c.w.Null()
	}
	c.w.EndArray()
}

// mustMergeEnums reports whether all enumerations from lo on must become one enum.
// Otherwise each member is written unchanged.
func (c *converter) mustMergeEnums(lo int) bool {
	if c.countMembers(lo, kEnum) > 1 || c.countMembers(lo, kConst) > 1 {
		return true
	}
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		if m.kw != kEnum && m.kw != kConst {
			continue
		}
		null, unsupported := m.literals()
		if m.elems != nil || m.nullable && !null || m.kw == kConst && c.dialect == GeminiJSON && !unsupported {
			return true
		}
	}
	return false
}

// literals reports whether m enumerates null, and whether it enumerates values that
// GeminiJSON ignores.
func (m *member) literals() (null, unsupported bool) {
	look := func(x value) {
		null = null || x.Kind() == jsonwire.Null
		unsupported = unsupported || typeOf(x)&(tString|tNumber|tNull) == 0
	}
	if m.kw == kConst {
		look(m.v)
		return null, unsupported
	}
	for x := range m.values() {
		look(x)
	}
	return null, unsupported
}

// writeItems writes the schema of elements. A list of schemas becomes prefixItems.
func (c *converter) writeItems(n *node, m *member) {
	tuple := c.firstOf(n.lo, kItems).Kind() == jsonwire.Array
	switch {
	case m.kw == kAdditionalItems:
		c.changed = true
		if !tuple {
			return // it has no meaning without a list of items
		}
		c.writeUnder("items", m)
		return
	case tuple && c.hasAny(n.lo, kPrefixItems):
		c.changed = true
		c.report(rConflict, m.name)
		return
	case tuple && m.v.Len() == 0:
		c.changed = true
		return
	case tuple:
		c.changed = true
		x := *m
		x.kw, x.name = kPrefixItems, "prefixItems"
		c.writePlain(n, &x)
		return
	}
	c.writePlain(n, m)
}

// writeLimit writes a limit of numbers. The boolean exclusive limits of draft 4 become
// numbers.
func (c *converter) writeLimit(n *node, m *member) {
	in, ex := kMinimum, kExclusiveMinimum
	if m.kw == kMaximum || m.kw == kExclusiveMaximum {
		in, ex = kMaximum, kExclusiveMaximum
	}
	if c.dialect == GeminiJSON && c.hasAny(n.lo, ex) {
		n.written[in], n.written[ex] = true, true
		c.changed = true
		t := n.types
		if !n.typed {
			t = tNumber
		}
		c.w.OptRawMember(keywordSpecs[in].name, c.numericLimit(n.lo, t&tNumber, in, ex))
		return
	}
	lower := in == kMinimum
	v := c.strictest(n.lo, m.kw, lower)
	if c.hasAny(n.lo, in) && c.hasExclusiveFlag(n.lo, ex) {
		c.changed = true
		if m.kw == ex {
			return // it is written in place of the inclusive limit
		}
		m.name = keywordSpecs[ex].name
		n.written[ex] = true
		x, _ := v.Float()
		if e := c.strictest(n.lo, ex, lower); e.Exists() {
			if y, _ := e.Float(); y > x == lower && y != x {
				v = e
			}
		}
	}
	c.changed = c.changed || !v.Exists() // a flag without a limit has no meaning
	c.writeRaw(m.name, v)
}

// hasExclusiveFlag reports whether a boolean keyword of draft 4 makes a limit
// exclusive.
func (c *converter) hasExclusiveFlag(lo int, kw keyword) bool {
	for m := range c.of(lo, kw) {
		if m.v.Kind() == jsonwire.True {
			return true
		}
	}
	return false
}

// writeProperties writes the properties of an object.
func (c *converter) writeProperties(n *node, m *member) {
	var required map[string]bool
	if c.dialect == OpenAIStrict {
		required = make(map[string]bool)
		for _, s := range c.requiredIn(n.lo) {
			required[s] = true
		}
	}
	c.w.Object("properties")
	c.push("properties")
	if c.countMembers(n.lo, kProperties) == 1 && m.props == nil {
		for name, x := range m.v.Members() {
			null := c.beginProp(name, required)
			c.writeSchema(x, null)
			c.pop(1)
		}
	} else {
		list := c.propsIn(n.lo)
		for i := range list {
			null := c.beginProp(list[i].name, required)
			c.writeProp(&list[i], null)
			c.pop(1)
		}
	}
	c.pop(1)
	c.w.EndObject()
}

// beginProp writes the name of a property. It reports whether the property may be null
// because it was optional and is required now.
func (c *converter) beginProp(name string, required map[string]bool) (null bool) {
	c.push(name)
	c.w.Name(name)
	if c.dialect != OpenAIStrict || required[name] {
		return false
	}
	c.report(rOptional)
	return true
}

// writeProp writes the schema of a property.
func (c *converter) writeProp(p *prop, null bool) {
	if len(p.all) == 1 && len(p.any) == 0 {
		c.writeSchema(p.all[0], null)
		return
	}
	lo, mark := len(c.members), len(c.expanding)
	if len(p.all) == 0 && len(p.any) == 1 {
		c.writeSchema(p.any[0], null)
		return
	}
	c.changed = true
	if c.hasRoom() {
		for _, x := range p.all {
			c.gather(x, null)
		}
		if len(p.any) > 0 {
			c.gatherUnion(member{kw: kAnyOf, name: "anyOf", elems: p.any, nullable: null})
		}
		c.writeNode(&node{lo: lo, mixed: true})
	} else {
		c.w.Raw("{}")
	}
	c.leave(lo, mark)
}

// writeRequired writes the names of required properties. OpenAIStrict requires all
// properties.
func (c *converter) writeRequired(n *node) {
	n.written[kRequired] = true
	if m := c.firstOf(n.lo, kRequired); c.dialect != OpenAIStrict && c.countMembers(n.lo, kRequired) == 1 && m.Exists() {
		c.writeRaw("required", m)
		return
	}
	list := c.requiredIn(n.lo)
	source := c.firstOf(n.lo, kRequired)
	if c.dialect == OpenAIStrict {
		list = c.allRequired(n, list)
	}
	if source.Len() == len(list) && source.Exists() && c.countMembers(n.lo, kRequired) == 1 {
		c.writeRaw("required", source)
		return
	}
	c.changed = true
	c.w.Array("required")
	for _, s := range list {
		c.w.String(s)
	}
	c.w.EndArray()
}

// allRequired returns the names of all properties. It returns list itself if it has
// exactly these names.
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
			c.report(rConflict, "required")
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

// writeAdditionalProperties writes the schema of unlisted properties.
func (c *converter) writeAdditionalProperties(n *node, m *member) {
	for x := range c.of(n.lo, kAdditionalProperties) {
		if x.v.Kind() == jsonwire.False {
			m.v = x.v // one schema that forbids them suffices
		}
	}
	if m.v.Kind() == jsonwire.False {
		c.writeRaw(m.name, m.v)
		return
	}
	if c.dialect != MessagesStrict && c.dialect != OpenAIStrict {
		c.writeUnder(m.name, m)
		return
	}
	c.changed = true
	c.report(rForbidden, m.name)
	c.w.BoolMember(m.name, false)
}

// writeUnion writes alternatives.
func (c *converter) writeUnion(n *node, m *member) {
	name := m.name
	switch r := c.dialect.rule(m.kw); {
	case r.action == actionRewrite: // oneOf as anyOf
		c.changed = true
		if m.elems == nil {
			c.report(r.reason, name)
		}
		if n.written[kAnyOf] || c.hasAny(n.lo, kAnyOf) {
			c.report(rSecondUnion, name)
			return
		}
		name = "anyOf"
		n.written[kAnyOf] = true
	case r.reason != rNone:
		c.report(r.reason, name)
	}
	if c.countMembers(n.lo, m.kw) > 1 {
		c.report(rSecondUnion, name)
	}
	c.w.Name(name)
	c.push(m.name)
	c.w.BeginArray()
	i, null := 0, false
	for x := range m.values() {
		null = null || isNull(x)
		c.pushElem(i)
		c.writeSchema(x, false)
		c.pop(1)
		i++
	}
	if m.nullable && !null {
		c.changed = true
		c.w.Raw(`{"type":"null"}`)
	}
	c.w.EndArray()
	c.pop(1)
}

// isNumeric reports whether a format applies to numbers.
func isNumeric(format string) bool {
	switch format {
	case "int32", "int64", "float", "double":
		return true
	}
	return false
}
