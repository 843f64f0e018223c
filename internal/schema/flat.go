package schema

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// around is what a schema says of the alternatives in it, which the target
// allows only in the alternatives themselves.
type around struct {
	text  string // a description for those that have none
	front string // a description to stand in front of another
	null  bool   // null is allowed besides
}

// flat writes the schema that says all that add adds to the stack.
func (c *converter) flat(a around, add func()) {
	lo, mark := len(c.members), len(c.active)
	c.level++
	if c.room() {
		add()
		c.flatNode(lo, a)
	} else {
		c.w.Raw("{}")
	}
	c.level--
	c.leave(lo, mark)
}

func (c *converter) flatValue(v value, a around) {
	c.flat(a, func() { c.gather(v, false) })
}

// flatRoot writes the whole schema; omit says that there is nothing to say.
func (c *converter) flatRoot(root value) (omit bool) {
	c.changed = true
	if !c.input {
		c.flatValue(root, around{})
		return false
	}
	c.gather(root, false)
	c.mergeRoot(0)
	if t, _ := c.typesIn(0); t&tObject == 0 {
		c.lose(rRootType)
		return true
	}
	if len(c.requiredIn(0)) == 0 && len(c.allowed(c.propsIn(0))) == 0 {
		c.additional(0, true)
		c.omitted()
		return true
	}
	c.emit(0, tObject, nil, around{})
	return false
}

// flatNode writes what the members from lo on say.
func (c *converter) flatNode(lo int, a around) {
	t, typed := c.typesIn(lo)
	values, of, enumerated := c.enumIn(lo, t)
	if enumerated {
		t, typed = of, true
	}
	for i := range c.members[lo:] {
		if kw := c.members[lo+i].kw; kw == kAnyOf || kw == kOneOf {
			if c.flatUnion(lo, lo+i, !typed || t&tNull != 0, a) {
				return
			}
		}
	}
	if !typed {
		if t = c.inferred(lo); t == 0 {
			a.null = false // it is allowed as it is
			c.emit(lo, 0, nil, a)
			return
		}
		c.lose(rInferred)
	}
	if t == 0 {
		c.lose(rConflict)
		a.null = false // it is open
		c.emit(lo, 0, nil, a)
		return
	}
	a.null = a.null || t&tNull != 0
	c.flatTypes(lo, t, values, a)
}

// flatTypes writes one schema for each type in t.
func (c *converter) flatTypes(lo int, t types, values []value, a around) {
	if t&tFraction != 0 {
		t |= tNumber
	}
	if t &^= tNull; t == 0 {
		a.null = false
		c.emit(lo, tNull, nil, a)
		return
	}
	if t.count() == 1 {
		c.emit(lo, t, values, a)
		return
	}
	c.w.BeginObject()
	c.w.Name("anyOf")
	c.w.BeginArray()
	i := 0
	t.names(func(x types, _ string) {
		c.pushIndex("anyOf", i)
		c.emit(lo, x, values, a)
		c.pop(2)
		a.null = false // said once is enough
		i++
	})
	c.w.EndArray()
	c.w.EndObject()
}

// inferred guesses the types of values from keywords that are about one type.
func (c *converter) inferred(lo int) (t types) {
	for i := range c.members[lo:] {
		switch c.members[lo+i].kw {
		case kProperties, kRequired, kAdditional, kMinProperties, kMaxProperties, kOrdering:
			t |= tObject
		case kItems, kPrefixItems, kMinItems, kMaxItems:
			t |= tArray
		case kPattern, kMinLength, kMaxLength:
			t |= tString
		case kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum:
			t |= tNumber
		}
	}
	return t
}

// flatUnion writes the alternatives at place u: each with all that must hold
// besides. It reports false if the alternatives are left out.
func (c *converter) flatUnion(lo, u int, nullable bool, a around) bool {
	m := c.members[u]
	shaped := c.hasAny(lo, kProperties, kItems, kPrefixItems)
	if shaped && c.light(&m) {
		c.members[u].kw = kOther
		c.lose(rAlternatives, m.name)
		return false
	}
	a.null = a.null || m.null && nullable
	hi := len(c.members)
	a.text, a.front = c.unionText(lo, &m, a)
	for i := u + 1; i < hi; i++ {
		if kw := c.members[i].kw; kw == kAnyOf || kw == kOneOf {
			c.lose(rSecondUnion, c.members[i].name)
		}
	}
	c.w.BeginObject()
	c.w.Name("anyOf")
	c.w.BeginArray()
	n := 0
	for _, x := range m.alternatives() {
		c.pushIndex("anyOf", n)
		n++
		c.flat(a, func() {
			for i := lo; i < hi; i++ {
				if !isAnnotation(c.members[i].kw) {
					c.members = append(c.members, c.members[i])
				}
			}
			c.nodes -= hi - lo
			c.gather(x, false)
		})
		c.pop(2)
		a.null, a.front = false, ""
	}
	c.w.EndArray()
	c.w.EndObject()
	return true
}

// isAnnotation reports whether kw stays with the schema that it stands in when
// the alternatives beside it are written. Alternatives count, being written.
func isAnnotation(kw keyword) bool {
	switch kw {
	case kOther, kTitle, kDescription, kDefault, kExample, kExamples, kNullable, kAnyOf, kOneOf:
		return true
	}
	return false
}

// light reports whether the alternatives of m only add conditions to members
// that are described elsewhere.
func (c *converter) light(m *member) bool {
	for _, x := range m.alternatives() {
		for name := range x.Members() {
			switch byName[name] {
			case kRequired, kNot, kTitle, kDescription, kComment, kDependentRequired, kIf, kThen, kElse,
				kMinProperties, kMaxProperties, kAdditional:
			default:
				return false
			}
		}
	}
	return true
}

// unionText says where the description of alternatives goes: to those that have
// none, or else in front of the first one's. What else is said of them together
// has no place.
func (c *converter) unionText(lo int, m *member, a around) (text, front string) {
	text, front = a.text, a.front
	if d := c.firstOf(lo, kDescription); d.Exists() {
		text = d.Str()
		if front != "" {
			text, front = front+"\n"+text, ""
		}
	}
	for _, kw := range []keyword{kTitle, kDefault, kExample, kExamples} {
		if c.firstOf(lo, kw).Exists() {
			c.lose(rBesideUnion, table[kw].name)
		}
	}
	for _, x := range m.alternatives() {
		if !x.Get("description").Exists() {
			return text, front
		}
	}
	return "", text
}

// firstOf returns the first member of kw from lo on, whatever others say.
func (c *converter) firstOf(lo int, kw keyword) value {
	for i := range c.members[lo:] {
		if c.members[lo+i].kw == kw {
			return c.members[lo+i].v
		}
	}
	return value{}
}

// describe returns the description of what the members from lo on say.
func (c *converter) describe(lo int, a around, addition string) string {
	text := a.text
	if d := c.firstOf(lo, kDescription); d.Exists() {
		text = d.Str()
	}
	for _, s := range []string{a.front, addition} {
		switch {
		case s == "":
		case text == "":
			text = s
		case s == addition:
			text = strings.TrimRight(text, " ") + "\n" + s
		default:
			text = s + "\n" + text
		}
	}
	return text
}

// additional reports what becomes of members that are not listed.
func (c *converter) additional(lo int, none bool) {
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		switch {
		case m.kw != kAdditional:
		case m.v.Kind() == jsonwire.False:
			c.lose(rClosed, m.name)
		case !anything(m.v):
			c.lose(rMembers, m.name)
		case none:
			c.lose(rFreeForm, m.name)
		}
	}
}
