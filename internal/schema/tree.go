package schema

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A node is a schema that is being written in a dialect of JSON Schema.
type node struct {
	lo    int   // where its members begin on the stack
	root  bool  // it is the root of a tool's arguments
	t     types // what it allows
	typed bool
	mixed bool             // its members come from several schemas
	done  [keywords]bool   // the keywords that were written or need not be
	named map[string]value // if mixed, the members written that are no keywords
}

// tree writes v in a dialect of JSON Schema. null allows null besides.
func (c *converter) tree(v value, null bool) {
	if v.Kind() != jsonwire.Object {
		if c.d == OpenAIStrict {
			c.lose(rUntyped)
		}
		c.w.Raw(v.Raw())
		return
	}
	lo, mark := len(c.members), len(c.active)
	c.level++
	switch {
	case !c.room():
		c.w.Raw("{}")
	case c.d != JSONSchema && v.Get("allOf").Exists(), c.inline && v.Get("$ref").Exists():
		c.changed = true
		c.gather(v, null)
		c.treeNode(&node{lo: lo, mixed: true})
	default:
		c.take(v, null)
		c.treeNode(&node{lo: lo})
	}
	c.level--
	c.leave(lo, mark)
}

// take puts the members of v on the stack as they are.
func (c *converter) take(v value, null bool) {
	null = null || v.Get("nullable").Kind() == jsonwire.True
	for name, x := range v.Members() {
		kw := byName[name]
		if !fits(table[kw].shape, x) {
			c.malformed(name, x)
			continue
		}
		c.members = append(c.members, member{kw: kw, name: name, v: x, null: null})
	}
}

// isPlain reports whether a root of arguments says itself that it is an object,
// and all that there is to say.
func isPlain(root value) bool {
	for _, kw := range []keyword{kRef, kAllOf, kAnyOf, kOneOf} {
		if root.Get(table[kw].name).Exists() {
			return false
		}
	}
	return root.Get("type").Is("object") && root.Get("nullable").Kind() != jsonwire.True
}

// treeRoot writes the whole schema; omit says that there is nothing to say.
func (c *converter) treeRoot(root value) (omit bool) {
	defs := root.Get("definitions")
	c.rename = c.d == GeminiJSON && fits(members, defs) && !fits(members, root.Get("$defs"))
	c.moved = c.input && !isPlain(root)
	c.inline = c.d == MessagesStrict && c.cyclic(root)
	if !c.input {
		c.tree(root, false)
		return false
	}
	if !c.moved {
		c.take(root, false)
	} else {
		c.changed = true
		c.gather(root, false)
		c.mergeRoot(0)
	}
	t, _ := c.typesIn(0)
	if t&tObject == 0 || c.answer && t != tObject {
		c.lose(rRootType)
	}
	if t&tObject == 0 {
		c.changed = true
		if c.d == GeminiJSON {
			return true
		}
		c.w.Raw(nothing(c.d))
		return false
	}
	if c.d == GeminiJSON && c.noArguments() {
		c.omitted()
		return true
	}
	c.treeNode(&node{root: true, mixed: c.moved})
	return false
}

// treeNode writes what the members from n.lo on say, in their order.
func (c *converter) treeNode(n *node) {
	n.t, n.typed = c.typesIn(n.lo)
	if n.t == 0 {
		c.lose(rConflict, "type")
		if n.t = typesOf(c.firstOf(n.lo, kType)); n.t == 0 {
			n.t = tNull
		}
	}
	if c.d == OpenAIStrict && !n.root && !n.typed && !c.hasAny(n.lo, kEnum, kConst, kAnyOf, kOneOf, kRef) {
		c.lose(rUntyped)
	}
	hi := len(c.members)
	c.w.BeginObject()
	if n.root && !c.hasAny(n.lo, kType) {
		c.changed = true
		c.text("type", "object")
	}
	for i := n.lo; i < hi; i++ {
		m := c.members[i]
		if m.gone || !c.begins(n, &m) {
			continue
		}
		switch r := c.d.rule(m.kw); r.action {
		case lost:
			if m.kw == kDefault || !vacuous(m) {
				c.lose(r.reason, m.name)
			}
			c.changed = true
		case ignored:
			if !vacuous(m) {
				c.lose(r.reason, m.name)
			}
			c.raw(m.name, m.v)
		default:
			c.keyword(n, &m)
		}
	}
	c.treeEnd(n)
	c.w.EndObject()
}

// begins reports whether m is the first of its name, which speaks for the others.
func (c *converter) begins(n *node, m *member) bool {
	if m.kw != kOther && m.kw != kDynamicRef { // which has two names
		first := !n.done[m.kw]
		n.done[m.kw] = true
		return first
	}
	if !n.mixed {
		return true
	}
	if v, ok := n.named[m.name]; ok {
		if identity(v) != identity(m.v) {
			c.lose(rConflict, m.name)
		}
		return false
	}
	if n.named == nil {
		n.named = make(map[string]value)
	}
	n.named[m.name] = m.v
	return true
}

// treeEnd writes what a dialect demands and the source does not say.
func (c *converter) treeEnd(n *node) {
	strict := c.d == MessagesStrict || c.d == OpenAIStrict
	has := n.done[kProperties]
	if n.root && !has && c.d != GeminiJSON {
		c.changed = true
		c.w.Name("properties")
		c.w.Raw("{}")
	}
	if !strict || !n.root && !(n.typed && n.t&tObject != 0) && (n.typed || !has) {
		return
	}
	if c.d == OpenAIStrict && (has || n.root) && !n.done[kRequired] {
		c.required(n)
	}
	if !n.done[kAdditional] {
		c.changed = true
		c.w.Name("additionalProperties")
		c.w.Bool(false)
		if has || n.root {
			c.lose(rAdded)
		} else {
			c.lose(rShut)
		}
	}
}

// keyword writes one member.
func (c *converter) keyword(n *node, m *member) {
	switch m.kw {
	case kType:
		c.writeType(n, m)
	case kRef:
		c.ref(n, m)
	case kNullable:
		c.changed = true // is said by the types
	case kDefs, kDefinitions:
		c.defs(n, m)
	case kEnum, kConst:
		c.enum(n, m)
	case kFormat:
		c.format(n, m)
	case kItems, kAdditionalItems:
		c.items(n, m)
	case kMinItems:
		if k, _ := m.v.Int(); c.d == MessagesStrict && k > 1 {
			c.changed = true
			c.lose(rConstraint, m.name)
			return
		}
		c.plain(n, m)
	case kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum:
		c.limits(n, m)
	case kProperties:
		c.properties(n, m)
	case kRequired:
		c.required(n)
	case kAdditional:
		c.additionalProperties(n, m)
	case kAnyOf, kOneOf:
		c.union(n, m)
	default:
		c.plain(n, m)
	}
}

// plain writes a member under its own name, with the schemas in it translated.
// Where several schemas that must hold together have it, the first one counts
// or the strictest.
func (c *converter) plain(n *node, m *member) {
	switch m.kw {
	case kMinLength, kMinItems, kMinProperties:
		m.v = c.tightest(n.lo, m.kw, true)
	case kMaxLength, kMaxItems, kMaxProperties:
		m.v = c.tightest(n.lo, m.kw, false)
	case kTitle, kDescription, kDefault, kExample, kExamples, kOther, kDynamicRef, kSchema, kID, kAnchor, kComment, kOrdering:
	default:
		c.first(n.lo, m.kw, rConflict)
	}
	c.w.Name(m.name)
	c.push(m.name)
	defer c.pop(1)
	switch s := table[m.kw].shape; {
	case s == schema, s == either && m.v.Kind() != jsonwire.Array:
		c.tree(m.v, false)
	case s == schemas || s == either:
		c.w.BeginArray()
		i := 0
		for _, x := range m.v.Elems() {
			c.pathIndex(i)
			c.tree(x, false)
			c.pop(1)
			i++
		}
		c.w.EndArray()
	case s == members:
		c.w.BeginObject()
		for name, x := range m.v.Members() {
			c.push(name)
			c.w.Name(name)
			c.tree(x, false)
			c.pop(1)
		}
		c.w.EndObject()
	default:
		c.w.Raw(m.v.Raw())
	}
}

// defs writes definitions, unless they are written out where they are used. Of
// those that come together in one schema only the root's own can be referred to.
func (c *converter) defs(n *node, m *member) {
	own := c.doc.Root().Get(m.name)
	if c.inline {
		c.changed = true
		return
	}
	if n.mixed && (m.v != own || len(c.path) > 0) {
		c.changed = true
		n.done[m.kw] = false // its own may follow
		return
	}
	name := m.name
	if c.rename && m.v == own && m.kw == kDefinitions {
		c.changed = true
		name = "$defs"
	}
	c.w.Name(name)
	c.w.BeginObject()
	c.push(m.name)
	for name, x := range m.v.Members() {
		c.push(name)
		c.w.Name(name)
		c.tree(x, false)
		c.pop(1)
	}
	c.pop(1)
	c.w.EndObject()
}

// ref writes a reference.
func (c *converter) ref(n *node, m *member) {
	ref := m.v.Str()
	pointer := ref == "#" || strings.HasPrefix(ref, "#/")
	t := c.target(ref)
	if c.d != JSONSchema && (!strings.HasPrefix(ref, "#") || pointer && !t.v.Exists()) {
		c.changed = true
		c.lose(rRef, m.name)
		return
	}
	if t.v.Exists() && !t.stands {
		c.intoAnyOf(n, m.null, func() { c.flatRef(ref) })
		return
	}
	raw := m.v.Raw()
	if rest, ok := strings.CutPrefix(ref, "#/definitions/"); ok && c.rename {
		c.changed = true
		raw = string(jsonwire.AppendString(nil, "#/$defs/"+rest))
	}
	write := func() {
		c.w.Name("$ref")
		c.w.Raw(raw)
	}
	if !m.null && (c.d != GeminiJSON || c.alone(n)) {
		write()
		return
	}
	c.intoAnyOf(n, m.null, func() {
		c.w.BeginObject()
		write()
		c.w.EndObject()
	})
}

// flatRef writes the target of a reference where it is used, because the place
// that it was at is not there any more.
func (c *converter) flatRef(ref string) {
	mark := len(c.active)
	if target, ok := c.enter(ref); ok {
		c.tree(target, false)
	} else {
		c.lose(rRecursion)
		c.w.Raw("{}")
	}
	c.active = c.active[:mark]
}

// alone reports whether a reference has no neighbours but definitions and notes
// whose names begin with a dollar sign.
func (c *converter) alone(n *node) bool {
	for i := range c.members[n.lo:] {
		if m := &c.members[n.lo+i]; m.kw != kNullable && !strings.HasPrefix(m.name, "$") && !(m.kw == kDefinitions && c.rename) {
			return false
		}
	}
	return true
}

// intoAnyOf writes a schema as the only one of alternatives, or as one besides
// null, which says the same and bears neighbours.
func (c *converter) intoAnyOf(n *node, null bool, write func()) {
	c.changed = true
	if n.done[kAnyOf] {
		c.lose(rSecondUnion, "$ref")
		return
	}
	n.done[kAnyOf] = true
	if c.hasAny(n.lo, kAnyOf) {
		c.lose(rSecondUnion, "anyOf")
	}
	c.w.Name("anyOf")
	c.w.BeginArray()
	write()
	if null {
		c.w.Raw(`{"type":"null"}`)
	}
	c.w.EndArray()
}
