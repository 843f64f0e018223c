package schema

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// fromOpenAPI says in JSON Schema what a schema of the closed set says. Nothing
// is lost on the way: all of it has a word there. If text is not a document it
// is returned as it is.
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
		c.w.Raw("{}")
		return
	}
	null := v.Get("nullable").Kind() == jsonwire.True
	c.w.BeginObject()
	for name, x := range v.Members() {
		if x.Kind() == jsonwire.Null && name != "default" && name != "example" {
			continue
		}
		c.push(name)
		c.closedMember(v, name, x, null)
		c.pop(1)
	}
	c.w.EndObject()
}

func (c *converter) closedMember(v value, name string, x value, null bool) {
	switch kw := byName[name]; kw {
	case kNullable:
	case kType:
		c.closedType(x, null)
	case kAnyOf:
		c.closedUnion(x, null)
	case kEnum:
		c.w.Name(name)
		c.w.BeginArray()
		for _, y := range x.Elems() {
			c.w.Raw(y.Raw())
		}
		if null {
			c.w.Null()
		}
		c.w.EndArray()
	case kMinItems, kMaxItems, kMinLength, kMaxLength, kMinProperties, kMaxProperties, kMinimum, kMaximum:
		c.closedNumber(name, x)
	case kItems:
		c.w.Name(name)
		c.closed(x)
	case kProperties:
		c.w.Name(name)
		c.closedProps(x, v.Get("propertyOrdering"))
	case kOrdering:
		if c.d == GeminiJSON {
			c.raw(name, x)
		}
	case kExample:
		c.w.Name("examples")
		c.w.BeginArray()
		c.w.Raw(x.Raw())
		c.w.EndArray()
	default:
		c.raw(name, x)
	}
}

func (c *converter) closedType(x value, null bool) {
	t := typesOf(x)
	switch {
	case t == 0 && x.Is("TYPE_UNSPECIFIED"):
	case t == 0:
		c.lose(rMalformed)
	case null && t&tNull == 0:
		c.w.Name("type")
		c.w.BeginArray()
		t.names(func(_ types, name string) { c.w.String(name) })
		c.w.String("null")
		c.w.EndArray()
	default:
		t.names(func(_ types, name string) { c.text("type", name) })
	}
}

func (c *converter) closedUnion(x value, null bool) {
	c.w.Name("anyOf")
	c.w.BeginArray()
	i := 0
	for _, y := range x.Elems() {
		c.pathIndex(i)
		c.closed(y)
		c.pop(1)
		i++
	}
	if null {
		c.w.Raw(`{"type":"null"}`)
	}
	c.w.EndArray()
}

// closedNumber writes a number that may stand in a string.
func (c *converter) closedNumber(name string, x value) {
	raw := x.Raw()
	if x.Kind() == jsonwire.String {
		raw = strings.TrimSpace(x.Str())
	}
	digits := strings.TrimPrefix(raw, "-")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || len(raw) > 32 || jsonwire.Valid(raw, jsonwire.Limits{}) != nil {
		c.lose(rMalformed)
		return
	}
	c.w.Name(name)
	c.w.Raw(raw)
}

// closedProps writes properties, in the order that is asked for if there is one:
// JSON Schema has no other word for it.
func (c *converter) closedProps(props, order value) {
	at := make(map[string]value, props.Len())
	if order.Len() > 0 {
		for name, x := range props.Members() {
			at[name] = x
		}
	}
	write := func(name string, x value) {
		c.push(name)
		c.w.Name(name)
		c.closed(x)
		c.pop(1)
	}
	c.w.BeginObject()
	done := make(map[string]bool, len(at))
	for _, y := range order.Elems() {
		name := y.Str()
		if x, ok := at[name]; ok && !done[name] {
			done[name] = true
			write(name, x)
		}
	}
	for name, x := range props.Members() {
		if !done[name] {
			write(name, x)
		}
	}
	c.w.EndObject()
}
