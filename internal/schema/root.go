package schema

import "github.com/polywire/polywire/internal/jsonwire"

// mergeRoot makes one object of the alternatives that a root of arguments has
// among the members from lo on: no vendor takes alternatives there. A property
// that several of them describe becomes one with alternatives; required is what
// all of them require.
func (c *converter) mergeRoot(lo int) {
	for i := lo; i < len(c.members); i++ {
		if kw := c.members[i].kw; kw != kAnyOf && kw != kOneOf {
			continue
		}
		m := c.members[i]
		c.members[i] = member{gone: true}
		c.changed = true
		if c.hasAny(lo, kProperties) && c.light(&m) {
			c.lose(rAlternatives, m.name)
			continue
		}
		c.mergeUnion(&m)
	}
}

// noArguments reports whether what is on the stack says of the root of arguments
// that there are none, and besides only what is for people.
func (c *converter) noArguments() bool {
	for i := range c.members {
		switch m := &c.members[i]; m.kw {
		case kProperties:
			if m.v.Len() > 0 || len(m.props) > 0 {
				return false
			}
		case kAdditional:
			if m.v.Kind() != jsonwire.False {
				return false
			}
		case kType, kNullable, kSchema, kID, kComment, kDefs, kDefinitions, kTitle, kDescription, kDefault, kExample, kExamples:
		default:
			if !m.gone {
				return false
			}
		}
	}
	return true
}

// omitted reports what is on the stack besides the members of an object that
// lists none, because the whole schema is left out. A schema without the type
// object and without members allows anything, and so is not quite one of no
// arguments.
func (c *converter) omitted() {
	if !c.hasAny(0, kType, kProperties, kAdditional) {
		c.lose(rNoMembers)
	}
	for i := range c.members {
		switch m := &c.members[i]; m.kw {
		case kTitle, kDescription, kDefault, kExample, kExamples, kID, kComment:
			c.lose(rAnnotation, m.name)
		case kMinProperties, kMaxProperties:
			c.lose(rConstraint, m.name)
		}
	}
}

// A merged is the object that alternatives become.
type merged struct {
	props    []prop
	at       map[string]int
	required []value
	times    map[string]int // by how many a name is required
	describe []int          // by how many a property is described
	branches int
	open     bool // one of them allows members that it does not list
	closed   value
}

func (c *converter) mergeUnion(m *member) {
	u := merged{at: map[string]int{}, times: map[string]int{}}
	lo := len(c.members)
	i := -1
	for _, x := range m.alternatives() {
		i++
		c.pushIndex(m.name, i)
		c.gather(x, false)
		c.mergeRoot(lo)
		if t, _ := c.typesIn(lo); t&tObject != 0 {
			c.addBranch(&u, lo)
		} else if c.answer {
			c.lose(rRootType)
		}
		c.pop(2)
		c.leave(lo, len(c.active))
	}
	if u.branches == 0 {
		c.lose(rRootType)
		return
	}
	why := rRootUnion
	for i := range u.props {
		// An open alternative said nothing of what another one describes.
		if u.open && u.describe[i] < u.branches {
			why = rRootOpen
		}
	}
	c.lose(why, m.name)
	c.members = append(c.members, member{kw: kProperties, name: "properties", props: u.props})
	var all []value
	for _, x := range u.required {
		if u.times[x.Str()] == u.branches {
			all = append(all, x)
		}
	}
	if len(all) > 0 {
		c.members = append(c.members, member{kw: kRequired, name: "required", elems: all})
	}
	if !u.open {
		c.members = append(c.members, member{kw: kAdditional, name: "additionalProperties", v: u.closed})
	}
}

// addBranch adds the alternative that stands on the stack from lo on.
func (c *converter) addBranch(u *merged, lo int) {
	u.branches++
	for _, p := range c.propsIn(lo) {
		i, ok := u.at[p.name]
		if !ok {
			i = len(u.props)
			u.at[p.name] = i
			u.props = append(u.props, prop{name: p.name})
			u.describe = append(u.describe, 0)
		}
		u.describe[i]++
		q := &u.props[i]
		if len(p.all) > 1 {
			// What must hold together cannot be told from what is alone.
			c.lose(rConflict, "properties", p.name)
			p.all = p.all[:1]
		}
		for _, list := range [][]value{p.all, p.any} {
			for _, x := range list {
				if !has(q.any, x) {
					q.any = append(q.any, x)
				}
			}
		}
		c.nodes -= len(q.any)
	}
	counted := map[string]bool{}
	closed := false
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		switch {
		case m.kw == kRequired:
			for x := range m.values() {
				name := x.Str()
				if counted[name] {
					continue
				}
				counted[name] = true
				if u.times[name] == 0 {
					u.required = append(u.required, x)
				}
				u.times[name]++
			}
		case m.kw == kAdditional && m.v.Kind() == jsonwire.False:
			closed, u.closed = true, m.v
		}
	}
	u.open = u.open || !closed
}
