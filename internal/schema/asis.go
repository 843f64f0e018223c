package schema

import "github.com/polywire/polywire/internal/jsonwire"

// asIs reports whether the whole schema can be sent as it stands, for dialects
// where most can. It costs no memory, and may say no where translating would
// find nothing to do.
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
	return c.staysAsIs(root)
}

// staysAsIs does the work of asIs for one schema and those in it.
func (c *converter) staysAsIs(v value) bool {
	for name, x := range v.Members() {
		kw := byName[name]
		if c.d.rule(kw) != stays || !fits(table[kw].shape, x) {
			return false
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
			ok = x.Kind() != jsonwire.Array && c.staysAsIs(x)
		case kExclusiveMinimum, kExclusiveMaximum:
			ok = x.Kind() == jsonwire.Number
		default:
			ok = c.partsStay(table[kw].shape, x)
		}
		if !ok {
			return false
		}
	}
	return true
}

// partsStay does the same for the schemas in the value of a keyword.
func (c *converter) partsStay(s shape, v value) bool {
	switch s {
	case schema:
		return c.staysAsIs(v)
	case schemas:
		for _, x := range v.Elems() {
			if !c.staysAsIs(x) {
				return false
			}
		}
	case members:
		for _, x := range v.Members() {
			if !c.staysAsIs(x) {
				return false
			}
		}
	}
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
