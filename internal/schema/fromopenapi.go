package schema

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// openAPILimits are for what fromOpenAPI returns: an example that became a list
// of examples stands one level deeper than it did in the checked document.
var openAPILimits = jsonwire.Limits{Depth: 256 + 1, AllowDuplicateNames: true}

// fromOpenAPI rewrites what the closed set has that the other dialects cannot
// tell from a mistake or do not have: counts in strings, the type that is none,
// the one example and the order of properties. Types in capitals and nullable are
// understood everywhere. Nothing is lost on the way, and what is malformed stays
// for the translation to report. If text is not a document it is returned as it is.
func (c *converter) fromOpenAPI(text string, d Dialect) string {
	if err := c.doc.Parse(text, jsonwire.Limits{}); err != nil || c.doc.Root().Kind() != jsonwire.Object {
		return text
	}
	c.begin(d, false, text)
	c.closed(c.doc.Root())
	out := c.w.Text()
	c.w.Reset()
	return out
}

// closed writes a schema of the closed set in JSON Schema.
func (c *converter) closed(v value) {
	if v.Kind() != jsonwire.Object {
		c.w.Raw(v.Raw())
		return
	}
	c.w.BeginObject()
	for name, x := range v.Members() {
		c.closedMember(v, name, x)
	}
	c.w.EndObject()
}

func (c *converter) closedMember(v value, name string, x value) {
	switch kw := byName[name]; kw {
	case kType:
		if !x.Is("TYPE_UNSPECIFIED") {
			c.raw(name, x)
		}
	case kMinItems, kMaxItems, kMinLength, kMaxLength, kMinProperties, kMaxProperties, kMinimum, kMaximum:
		c.w.Name(name)
		c.w.Raw(numberIn(x))
	case kProperties:
		c.w.Name(name)
		c.closedProps(x, v.Get("propertyOrdering"))
	case kOrdering:
		if c.d == GeminiJSON || !fits(names, x) {
			c.raw(name, x)
		}
	case kExample:
		if v.Get("examples").Exists() {
			c.raw(name, x)
			return
		}
		c.w.Name("examples")
		c.w.BeginArray()
		c.w.Raw(x.Raw())
		c.w.EndArray()
	default:
		c.w.Name(name)
		c.closedParts(table[kw].shape, x)
	}
}

// closedParts writes the value of a keyword with the schemas in it rewritten.
func (c *converter) closedParts(s shape, x value) {
	switch {
	case s == schema, s == either && x.Kind() == jsonwire.Object:
		c.closed(x)
	case (s == schemas || s == either) && x.Kind() == jsonwire.Array:
		c.w.BeginArray()
		for _, y := range x.Elems() {
			c.closed(y)
		}
		c.w.EndArray()
	case s == members && x.Kind() == jsonwire.Object:
		c.w.BeginObject()
		for name, y := range x.Members() {
			c.w.Name(name)
			c.closed(y)
		}
		c.w.EndObject()
	default:
		c.w.Raw(x.Raw())
	}
}

// numberIn returns the number that stands in a string, as 64-bit numbers do in
// protobuf's JSON, or x as it is if there is none.
func numberIn(x value) string {
	if x.Kind() != jsonwire.String {
		return x.Raw()
	}
	raw := strings.TrimSpace(x.Str())
	digits := strings.TrimPrefix(raw, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(raw) > 32 || jsonwire.Valid(raw, jsonwire.Limits{}) != nil {
		return x.Raw()
	}
	return raw
}

// closedProps writes properties, in the order that is asked for if there is one:
// JSON Schema has no other word for it.
func (c *converter) closedProps(props, order value) {
	if order.Len() == 0 || !fits(names, order) || props.Kind() != jsonwire.Object {
		c.closedParts(members, props)
		return
	}
	at := make(map[string]value, props.Len())
	for name, x := range props.Members() {
		at[name] = x
	}
	write := func(name string, x value) {
		c.w.Name(name)
		c.closed(x)
		delete(at, name)
	}
	c.w.BeginObject()
	for _, y := range order.Elems() {
		if x, ok := at[y.Str()]; ok {
			write(y.Str(), x)
		}
	}
	for name, x := range props.Members() {
		if _, ok := at[name]; ok {
			write(name, x)
		}
	}
	c.w.EndObject()
}
