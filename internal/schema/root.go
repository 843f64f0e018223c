package schema

import "github.com/polywire/polywire/internal/jsonwire"

// mergeRoot merges the alternatives among the members from lo on into one object,
// because no vendor accepts alternatives at the root of arguments. A property that
// several alternatives describe has alternatives itself. A property is required if all
// alternatives require it.
func (c *converter) mergeRoot(lo int) {
	for i := lo; i < len(c.members); i++ {
		if kw := c.members[i].kw; kw != kAnyOf && kw != kOneOf {
			continue
		}
		m := c.members[i]
		c.members[i] = member{handled: true}
		c.changed = true
		if c.hasAny(lo, kProperties) && c.isConditional(&m) {
			c.report(rAlternatives, m.name)
			continue
		}
		c.mergeUnion(&m)
	}
}

// hasNoArguments reports whether the members on the stack describe an object without
// properties and have only annotations besides.
func (c *converter) hasNoArguments() bool {
	for i := range c.members {
		switch m := &c.members[i]; m.kw {
		case kProperties:
			if m.v.Len() > 0 || len(m.props) > 0 {
				return false
			}
		case kAdditionalProperties:
			if m.v.Kind() != jsonwire.False {
				return false
			}
		case kType, kNullable, kSchema, kID, kComment, kDefs, kDefinitions, kTitle, kDescription, kDefault, kExample, kExamples:
		default:
			if !m.handled {
				return false
			}
		}
	}
	return true
}

// reportOmitted reports the members that are dropped because the schema of a tool
// without arguments is omitted. A schema with neither a type nor properties allows any
// arguments, which is a loss too.
func (c *converter) reportOmitted() {
	if !c.hasAny(0, kType, kProperties, kAdditionalProperties) {
		c.report(rNoMembers)
	}
	for i := range c.members {
		switch m := &c.members[i]; m.kw {
		case kTitle, kDescription, kDefault, kExample, kExamples, kID, kComment:
			c.report(rAnnotation, m.name)
		case kMinProperties, kMaxProperties:
			c.report(rConstraint, m.name)
		}
	}
}

// A mergedObject is the object that results from alternatives.
type mergedObject struct {
	props        []prop
	index        map[string]int
	required     []value
	requiredBy   map[string]int // number of alternatives that require a name
	describedBy  []int          // number of alternatives that describe a property
	alternatives int
	open         bool // an alternative allows properties that it does not list
	closed       value
}

// mergeUnion merges the alternatives of m and pushes the members of the result.
func (c *converter) mergeUnion(m *member) {
	merged := mergedObject{index: map[string]int{}, requiredBy: map[string]int{}}
	lo := len(c.members)
	i := -1
	for x := range m.alternatives() {
		i++
		c.pushIndex(m.name, i)
		c.gather(x, false)
		c.mergeRoot(lo)
		if t, _ := c.typesIn(lo); t&tObject != 0 {
			c.addAlternative(&merged, lo)
		} else if c.strictOutput {
			c.report(rRootType)
		}
		c.pop(2)
		c.leave(lo, len(c.expanding))
	}
	if merged.alternatives == 0 {
		c.report(rRootType)
		return
	}
	why := rRootUnion
	for i := range merged.props {
		// An open alternative allows any value for a property of another one.
		if merged.open && merged.describedBy[i] < merged.alternatives {
			why = rRootOpen
		}
	}
	c.report(why, m.name)
	c.members = append(c.members, member{kw: kProperties, name: "properties", props: merged.props})
	var all []value
	for _, x := range merged.required {
		if merged.requiredBy[x.Str()] == merged.alternatives {
			all = append(all, x)
		}
	}
	if len(all) > 0 {
		c.members = append(c.members, member{kw: kRequired, name: "required", elems: all})
	}
	if !merged.open {
		c.members = append(c.members, member{kw: kAdditionalProperties, name: "additionalProperties", v: merged.closed})
	}
}

// addAlternative adds the alternative whose members are on the stack from lo on.
func (c *converter) addAlternative(merged *mergedObject, lo int) {
	merged.alternatives++
	for _, p := range c.propsIn(lo) {
		i, ok := merged.index[p.name]
		if !ok {
			i = len(merged.props)
			merged.index[p.name] = i
			merged.props = append(merged.props, prop{name: p.name})
			merged.describedBy = append(merged.describedBy, 0)
		}
		merged.describedBy[i]++
		q := &merged.props[i]
		if len(p.all) > 1 {
			// The alternatives of a property cannot represent several schemas that apply together.
			c.report(rConflict, "properties", p.name)
			p.all = p.all[:1]
		}
		for _, list := range [][]value{p.all, p.any} {
			for _, x := range list {
				if !containsValue(q.any, x) {
					q.any = append(q.any, x)
				}
			}
		}
		c.nodesLeft -= len(q.any)
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
				if merged.requiredBy[name] == 0 {
					merged.required = append(merged.required, x)
				}
				merged.requiredBy[name]++
			}
		case m.kw == kAdditionalProperties && m.v.Kind() == jsonwire.False:
			closed, merged.closed = true, m.v
		}
	}
	merged.open = merged.open || !closed
}

// isConditional reports whether the alternatives of m only add conditions to
// properties that are described elsewhere.
func (c *converter) isConditional(m *member) bool {
	for x := range m.alternatives() {
		for name := range x.Members() {
			switch keywordsByName[name] {
			case kRequired, kNot, kTitle, kDescription, kComment, kDependentRequired, kIf, kThen, kElse,
				kMinProperties, kMaxProperties, kAdditionalProperties:
			default:
				return false
			}
		}
	}
	return true
}

// containsValue reports whether list has a value with the same source text as v.
func containsValue(list []value, v value) bool {
	for _, x := range list {
		if x.Raw() == v.Raw() {
			return true
		}
	}
	return false
}
