package schema

import "github.com/polywire/polywire/internal/jsonwire"

// asIs reports whether the whole schema can be sent as it stands, for dialects
// where most can, and notes what the target will not look at. It costs no memory
// but for that, and may say no where translating would find nothing to do.
func (c *converter) asIs(root value) bool {
	if c.d != JSONSchema && c.d != GeminiJSON || root.Kind() != jsonwire.Object {
		return false
	}
	if c.input {
		listed := root.Get("properties")
		if !root.Get("type").Is("object") || listed.Kind() != jsonwire.Object || c.d == GeminiJSON && listed.Len() == 0 {
			return false
		}
		for name := range root.Members() {
			switch byName[name] {
			case kRef, kAllOf, kAnyOf, kOneOf:
				return false
			}
		}
	}
	told, more := len(c.losses), c.more
	if c.staysAsIs(root) {
		return true
	}
	c.losses, c.more, c.path = c.losses[:told], more, c.path[:0]
	return false
}

// staysAsIs does the work of asIs for one schema and those in it.
func (c *converter) staysAsIs(v value) bool {
	for name, x := range v.Members() {
		kw := byName[name]
		r := c.d.rule(kw)
		if r != stays && r.action != ignored || !fits(table[kw].shape, x) {
			return false
		}
		if r.action == ignored {
			if !vacuous(member{kw: kw, name: name, v: x}) {
				c.lose(r.reason, name)
			}
			continue
		}
		ok := true
		switch kw {
		case kType:
			ok = isExact(x)
		case kEnum:
			ok = c.d != GeminiJSON || isNamed(x)
		case kRef:
			ok = c.d != GeminiJSON
		case kItems:
			ok = x.Kind() != jsonwire.Array && c.partStays(name, x)
		case kExclusiveMinimum, kExclusiveMaximum:
			ok = x.Kind() == jsonwire.Number
		default:
			ok = c.partsStay(table[kw].shape, name, x)
		}
		if !ok {
			return false
		}
	}
	return true
}

// partsStay does the same for the schemas in the value of a keyword.
func (c *converter) partsStay(s shape, name string, v value) bool {
	switch s {
	case schema:
		return c.partStays(name, v)
	case schemas:
		for i, x := range v.Elems() {
			c.pushIndex(name, i)
			if !c.staysAsIs(x) {
				return false
			}
			c.pop(2)
		}
	case members:
		c.push(name)
		for key, x := range v.Members() {
			if !c.partStays(key, x) {
				return false
			}
		}
		c.pop(1)
	}
	return true
}

func (c *converter) partStays(name string, v value) bool {
	c.push(name)
	if !c.staysAsIs(v) {
		return false
	}
	c.pop(1)
	return true
}

// isNamed reports whether all values of a list are such that GeminiJSON
// enumerates.
func isNamed(v value) bool {
	for _, x := range v.Elems() {
		if typeOf(x)&(tString|tNumber|tNull) == 0 {
			return false
		}
	}
	return true
}
