package schema

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A target is what a reference within the document leads to.
type target struct {
	v value // none if there is nothing, or no schema
	// stands says that the translation is found by the same reference.
	stands bool
}

// target returns what a reference within the document leads to.
func (c *converter) target(ref string) target {
	if t, ok := c.targets[ref]; ok {
		return t
	}
	var t target
	if path, ok := strings.CutPrefix(ref, "#"); ok {
		t = c.follow(path)
	}
	if !isSchema(t.v) {
		t = target{}
	}
	if c.targets == nil {
		c.targets = make(map[string]target)
	}
	c.targets[ref] = t
	return t
}

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~", "%24", "$", "%20", " ", "%25", "%", "%7E1", "/")

// follow follows a JSON pointer.
func (c *converter) follow(pointer string) target {
	t := target{v: c.doc.Root(), stands: true}
	at := schema // what is expected at the place
	for pointer != "" {
		if pointer[0] != '/' {
			return target{} // an anchor
		}
		step, rest, more := strings.Cut(pointer[1:], "/")
		pointer = ""
		if more {
			pointer = "/" + rest
		}
		if strings.ContainsAny(step, "~%") {
			step = pointerEscapes.Replace(step)
		}
		if t.v.Kind() == jsonwire.Array {
			i, err := strconv.Atoi(step)
			if c.nodes -= i / 64; err != nil || c.nodes < 0 {
				return target{} // no index here, so searching costs budget
			}
			t.v, at = elem(t.v, i), schema
			continue
		}
		x := c.member(t.v, step)
		switch at {
		case schema, either:
			kw := byName[step]
			t.stands = t.stands && c.keepsPlace(t.v, kw, x)
			at = table[kw].shape
		case members:
			at = schema
		}
		t.v = x
	}
	return t
}

// keepsPlace reports whether what is in x, the value of a keyword of v, is found
// in the same place of the translation.
func (c *converter) keepsPlace(v value, kw keyword, x value) bool {
	root := v == c.doc.Root()
	switch kw {
	case kDefs, kDefinitions:
		return (root || !c.dissolved(v)) && c.fitsOnce(table[kw].shape, x)
	case kItems:
		if x.Kind() == jsonwire.Array {
			return false // it has another name there
		}
	case kAdditional:
		if c.d == MessagesStrict || c.d == OpenAIStrict {
			return false // it is false there
		}
	case kAnyOf:
		if v.Get("$ref").Exists() {
			return false // the reference may take its place
		}
	}
	if r := c.d.rule(kw); r.action != keep && r.action != ignored {
		return false
	}
	return !(root && c.moved) && !c.dissolved(v) && c.fitsOnce(table[kw].shape, x)
}

// dissolved reports whether v is put together with what it refers to.
func (c *converter) dissolved(v value) bool {
	return c.d != JSONSchema && v.Get("allOf").Exists() || c.inline && v.Get("$ref").Exists()
}

// fitsOnce is fits, with the answer kept for values that take long to look through.
func (c *converter) fitsOnce(s shape, v value) bool {
	if v.Len() < wide {
		return fits(s, v)
	}
	ok, known := c.fitting[v.Offset()]
	if !known {
		ok = fits(s, v)
		if c.fitting == nil {
			c.fitting = make(map[int]bool)
		}
		c.fitting[v.Offset()] = ok
	}
	return ok
}

// wide is the number of members from which an object that references lead into
// gets an index, so that many of them do not search it again and again.
const wide = 32

// member returns a member of an object that a reference leads through.
func (c *converter) member(v value, name string) value {
	if v.Len() < wide {
		return v.Get(name)
	}
	at := v.Offset()
	m := c.indices[at]
	if m == nil {
		m = make(map[string]value, v.Len())
		for name, x := range v.Members() {
			m[name] = x
		}
		if c.indices == nil {
			c.indices = make(map[int]map[string]value)
		}
		c.indices[at] = m
	}
	return m[name]
}

func elem(v value, at int) value {
	for i, x := range v.Elems() {
		if i == at {
			return x
		}
	}
	return value{}
}
