package schema

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A target is the schema that a reference within the document points to.
type target struct {
	v value // does not exist if the reference cannot be resolved
	// samePlace reports that the same reference finds the schema in the translation.
	samePlace bool
}

// resolve returns the target of a reference within the document.
func (c *converter) resolve(ref string) target {
	if t, ok := c.targets[ref]; ok {
		return t
	}
	var t target
	if path, ok := strings.CutPrefix(ref, "#"); ok {
		t = c.followPointer(path)
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

// followPointer resolves a JSON pointer.
func (c *converter) followPointer(pointer string) target {
	t := target{v: c.doc.Root(), samePlace: true}
	at := shapeSchema // the shape of t.v
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
			if c.nodesLeft -= i / 64; err != nil || c.nodesLeft < 0 {
				return target{} // arrays have no index, so the search is charged
			}
			t.v, at = elem(t.v, i), shapeSchema
			continue
		}
		x := c.lookup(t.v, step)
		switch at {
		case shapeSchema, shapeSchemaOrList:
			kw := keywordsByName[step]
			t.samePlace = t.samePlace && c.keepsPlace(t.v, kw, x)
			at = keywordSpecs[kw].shape
		case shapeSchemaMap:
			at = shapeSchema
		}
		t.v = x
	}
	return t
}

// keepsPlace reports whether a pointer through keyword kw of v, whose value is x, is
// also valid in the translation.
func (c *converter) keepsPlace(v value, kw keyword, x value) bool {
	root := v == c.doc.Root()
	switch kw {
	case kDefs, kDefinitions:
		return (root || !c.isMerged(v)) && c.hasShapeCached(keywordSpecs[kw].shape, x)
	case kItems:
		if x.Kind() == jsonwire.Array {
			return false // it becomes prefixItems
		}
	case kAdditionalProperties:
		if c.dialect == MessagesStrict || c.dialect == OpenAIStrict {
			return false // it becomes false
		}
	case kAnyOf:
		if v.Get("$ref").Exists() {
			return false // the reference may become the anyOf
		}
	}
	if r := c.dialect.rule(kw); r.action != actionKeep && r.action != actionIgnore {
		return false
	}
	return !(root && c.rootMerged) && !c.isMerged(v) && c.hasShapeCached(keywordSpecs[kw].shape, x)
}

// isMerged reports whether v is merged with the schemas that it refers to.
func (c *converter) isMerged(v value) bool {
	return c.dialect != JSONSchema && v.Get("allOf").Exists() || c.inline && v.Get("$ref").Exists()
}

// hasShapeCached is like hasShape and caches the result for large values.
func (c *converter) hasShapeCached(s shape, v value) bool {
	if v.Len() < minIndexed {
		return hasShape(s, v)
	}
	ok, known := c.shapesByOffset[v.Offset()]
	if !known {
		ok = hasShape(s, v)
		if c.shapesByOffset == nil {
			c.shapesByOffset = make(map[int]bool)
		}
		c.shapesByOffset[v.Offset()] = ok
	}
	return ok
}

// minIndexed is the number of members from which an object is indexed when a reference
// leads through it. Many references would otherwise search it again and again.
const minIndexed = 32

// lookup returns the member of an object that a reference leads through.
func (c *converter) lookup(v value, name string) value {
	if v.Len() < minIndexed {
		return v.Get(name)
	}
	at := v.Offset()
	m := c.indexes[at]
	if m == nil {
		m = make(map[string]value, v.Len())
		for name, x := range v.Members() {
			m[name] = x
		}
		if c.indexes == nil {
			c.indexes = make(map[int]map[string]value)
		}
		c.indexes[at] = m
	}
	return m[name]
}

// isCyclic reports whether references lead from v back to v. v is the root or the
// target of a reference.
func (c *converter) isCyclic(v value) bool {
	w := walker{c: c, active: make(map[int]bool)}
	return w.visit(v)
}

// A walker follows references. Its depth is bounded by the nesting of the document and
// the number of references in it.
type walker struct {
	c      *converter
	active map[int]bool // by offset: true during the walk, false after it
	depth  int          // number of schemas on the current path
}

func (w *walker) visit(v value) bool {
	at := v.Offset()
	if open, seen := w.active[at]; seen {
		return open
	}
	if w.depth++; w.depth > maxChain {
		return true // a chain this long is cut like a cycle
	}
	w.active[at] = true
	cycle := w.walk(v)
	w.active[at] = false
	w.depth--
	return cycle
}

func (w *walker) walk(v value) (cycle bool) {
	if w.c.nodesLeft--; w.c.nodesLeft < 0 {
		return false
	}
	for name, x := range v.Members() {
		switch s := keywordSpecs[keywordsByName[name]].shape; {
		case keywordsByName[name] == kRef:
			t := w.c.resolve(x.Str()).v
			cycle = t.Exists() && w.visit(t)
		case s == shapeSchema, s == shapeSchemaOrList && x.Kind() == jsonwire.Object:
			cycle = w.walk(x)
		case s == shapeSchemas, s == shapeSchemaOrList:
			for _, y := range x.Elems() {
				cycle = cycle || w.walk(y)
			}
		case s == shapeSchemaMap && keywordsByName[name] != kDefs && keywordsByName[name] != kDefinitions:
			for _, y := range x.Members() {
				cycle = cycle || w.walk(y)
			}
		}
		if cycle {
			return true
		}
	}
	return false
}
