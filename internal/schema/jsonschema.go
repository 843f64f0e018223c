package schema

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A node is a schema that is being written in a dialect of JSON Schema.
type node struct {
	lo      int                // index of its first member on the stack
	root    bool               // the node is the root of a tool's arguments
	types   types              // the types that it allows
	typed   bool               // its members constrain the type
	mixed   bool               // its members come from several schemas
	written [keywordCount]bool // keywords that are written or need not be
	others  map[string]value   // if mixed, the written members that are not keywords
}

// writeSchema writes the schema v in a dialect of JSON Schema. null also allows null.
func (c *converter) writeSchema(v value, null bool) {
	if v.Kind() != jsonwire.Object {
		if c.dialect == OpenAIStrict {
			c.report(rUntyped)
		}
		c.w.Raw(v.Raw())
		return
	}
	lo, mark := len(c.members), len(c.expanding)
	c.level++
	switch {
	case !c.hasRoom():
		c.w.Raw("{}")
	case c.dialect != JSONSchema && v.Get("allOf").Exists(), c.inline && v.Get("$ref").Exists():
		c.changed = true
		c.gather(v, null)
		c.writeNode(&node{lo: lo, mixed: true})
	default:
		c.pushMembers(v, null)
		c.writeNode(&node{lo: lo})
	}
	c.level--
	c.leave(lo, mark)
}

// pushMembers pushes the members of v unchanged.
func (c *converter) pushMembers(v value, null bool) {
	null = null || v.Get("nullable").Kind() == jsonwire.True
	for name, x := range v.Members() {
		kw := keywordsByName[name]
		if !hasShape(keywordSpecs[kw].shape, x) {
			c.reportMalformed(name, x)
			continue
		}
		c.members = append(c.members, member{kw: kw, name: name, v: x, nullable: null})
	}
}

// isPlain reports whether a root of arguments has the type object and needs no
// merging.
func isPlain(root value) bool {
	for _, kw := range []keyword{kRef, kAllOf, kAnyOf, kOneOf} {
		if root.Get(keywordSpecs[kw].name).Exists() {
			return false
		}
	}
	return root.Get("type").Is("object") && root.Get("nullable").Kind() != jsonwire.True
}

// writeRoot writes the whole schema. It reports whether the schema is to be omitted.
func (c *converter) writeRoot(root value) (omit bool) {
	defs := root.Get("definitions")
	c.renameDefs = c.dialect == GeminiJSON && hasShape(shapeSchemaMap, defs) && !hasShape(shapeSchemaMap, root.Get("$defs"))
	c.rootMerged = c.input && !isPlain(root)
	c.inline = c.dialect == MessagesStrict && c.isCyclic(root)
	if !c.input {
		c.writeSchema(root, false)
		return false
	}
	if !c.rootMerged {
		c.pushMembers(root, false)
	} else {
		c.changed = true
		c.gather(root, false)
		c.mergeRoot(0)
	}
	t, _ := c.typesIn(0)
	if t&tObject == 0 || c.strictOutput && t != tObject {
		c.report(rRootType)
	}
	if t&tObject == 0 {
		c.changed = true
		if c.dialect == GeminiJSON {
			return true
		}
		c.w.Raw(emptySchema(c.dialect))
		return false
	}
	if c.dialect == GeminiJSON && c.hasNoArguments() {
		c.reportOmitted()
		return true
	}
	c.writeNode(&node{root: true, mixed: c.rootMerged})
	return false
}

// writeNode writes the members from n.lo on, in their order.
func (c *converter) writeNode(n *node) {
	n.types, n.typed = c.typesIn(n.lo)
	if n.types == 0 {
		c.report(rConflict, "type")
		if n.types = typesOf(c.firstOf(n.lo, kType)); n.types == 0 {
			n.types = tNull
		}
	}
	if c.dialect == OpenAIStrict && !n.root && !n.typed && !c.hasAny(n.lo, kEnum, kConst, kAnyOf, kOneOf, kRef) {
		c.report(rUntyped)
	}
	hi := len(c.members)
	c.w.BeginObject()
	if n.root && !c.hasAny(n.lo, kType) {
		c.changed = true
		c.w.Member("type", "object")
	}
	for i := n.lo; i < hi; i++ {
		m := c.members[i]
		if m.handled || !c.isFirst(n, &m) {
			continue
		}
		switch r := c.dialect.rule(m.kw); r.action {
		case actionRemove:
			if m.kw == kDefault || !isVacuous(m) {
				c.report(r.reason, m.name)
			}
			c.changed = true
		case actionIgnore:
			if !isVacuous(m) {
				c.report(r.reason, m.name)
			}
			c.writeRaw(m.name, m.v)
		default:
			c.writeKeyword(n, &m)
		}
	}
	c.finishNode(n)
	c.w.EndObject()
}

// isFirst reports whether m is the first member of its name. It is written for all of
// them.
func (c *converter) isFirst(n *node, m *member) bool {
	if m.kw != kOther && m.kw != kDynamicRef { // these have several names
		first := !n.written[m.kw]
		n.written[m.kw] = true
		return first
	}
	if !n.mixed {
		return true
	}
	if v, ok := n.others[m.name]; ok {
		if identity(v) != identity(m.v) {
			c.report(rConflict, m.name)
		}
		return false
	}
	if n.others == nil {
		n.others = make(map[string]value)
	}
	n.others[m.name] = m.v
	return true
}

// finishNode writes the members that a dialect requires and the source lacks.
func (c *converter) finishNode(n *node) {
	strict := c.dialect == MessagesStrict || c.dialect == OpenAIStrict
	has := n.written[kProperties]
	if n.root && !has && c.dialect != GeminiJSON {
		c.changed = true
		c.w.RawMember("properties", "{}")
	}
	if !strict || !n.root && !(n.typed && n.types&tObject != 0) && (n.typed || !has) {
		return
	}
	if c.dialect == OpenAIStrict && (has || n.root) && !n.written[kRequired] {
		c.writeRequired(n)
	}
	if !n.written[kAdditionalProperties] {
		c.changed = true
		c.w.BoolMember("additionalProperties", false)
		if has || n.root && !c.strictOutput {
			c.report(rClosedAdded)
		} else {
			c.report(rForbidden)
		}
	}
}

// writeKeyword writes one member.
func (c *converter) writeKeyword(n *node, m *member) {
	switch m.kw {
	case kType:
		c.writeType(n, m)
	case kRef:
		c.writeRef(n, m)
	case kNullable:
		c.changed = true // the types represent it
	case kDefs, kDefinitions:
		c.writeDefs(n, m)
	case kEnum, kConst:
		c.writeEnum(n, m)
	case kFormat:
		c.writeFormat(n, m)
	case kItems, kAdditionalItems:
		c.writeItems(n, m)
	case kMinItems:
		if k, _ := m.v.Int(); c.dialect == MessagesStrict && k > 1 {
			c.changed = true
			c.report(rConstraint, m.name)
			return
		}
		c.writePlain(n, m)
	case kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum:
		c.writeLimit(n, m)
	case kProperties:
		c.writeProperties(n, m)
	case kRequired:
		c.writeRequired(n)
	case kAdditionalProperties:
		c.writeAdditionalProperties(n, m)
	case kAnyOf, kOneOf:
		c.writeUnion(n, m)
	default:
		c.writePlain(n, m)
	}
}

// writePlain writes a member under its own name and translates the schemas in it. If
// several schemas that apply together have the keyword, the strictest value is written
// where that is defined, otherwise the first.
func (c *converter) writePlain(n *node, m *member) {
	switch m.kw {
	case kMinLength, kMinItems, kMinProperties:
		m.v = c.strictest(n.lo, m.kw, true)
	case kMaxLength, kMaxItems, kMaxProperties:
		m.v = c.strictest(n.lo, m.kw, false)
	case kTitle, kDescription, kDefault, kExample, kExamples, kOther, kDynamicRef, kSchema, kID, kAnchor, kComment, kPropertyOrdering:
	default:
		c.firstUnique(n.lo, m.kw, rConflict)
	}
	c.writeUnder(m.name, m)
}

// writeUnder writes a member under a name and translates the schemas in it.
func (c *converter) writeUnder(name string, m *member) {
	c.w.Name(name)
	c.push(m.name)
	c.writeParts(keywordSpecs[m.kw].shape, m.v, func(x value) { c.writeSchema(x, false) })
	c.pop(1)
}

// writeParts writes the value of a keyword, and the schemas in it with write.
func (c *converter) writeParts(s shape, v value, write func(value)) {
	switch k := v.Kind(); {
	case s == shapeSchema, s == shapeSchemaOrList && k != jsonwire.Array:
		write(v)
	case (s == shapeSchemas || s == shapeSchemaOrList) && k == jsonwire.Array:
		c.w.BeginArray()
		for i, x := range v.Elems() {
			c.pushElem(i)
			write(x)
			c.pop(1)
		}
		c.w.EndArray()
	case s == shapeSchemaMap && k == jsonwire.Object:
		c.w.BeginObject()
		for name, x := range v.Members() {
			c.push(name)
			c.w.Name(name)
			write(x)
			c.pop(1)
		}
		c.w.EndObject()
	default:
		c.w.Raw(v.Raw())
	}
}

// writeDefs writes definitions, unless all references are expanded. If a node merges
// several schemas, only the definitions of the root can be referred to; the others are
// omitted.
func (c *converter) writeDefs(n *node, m *member) {
	own := c.doc.Root().Get(m.name)
	if c.inline {
		c.changed = true
		return
	}
	if n.mixed && (m.v != own || len(c.path) > 0) {
		c.changed = true
		n.written[m.kw] = false // those of the root may follow
		return
	}
	name := m.name
	if c.renameDefs && m.v == own && m.kw == kDefinitions {
		c.changed = true
		name = "$defs"
	}
	c.writeUnder(name, m)
}

// writeRef writes a reference.
func (c *converter) writeRef(n *node, m *member) {
	ref := m.v.Str()
	pointer := ref == "#" || strings.HasPrefix(ref, "#/")
	t := c.resolve(ref)
	if c.dialect != JSONSchema && (!strings.HasPrefix(ref, "#") || pointer && !t.v.Exists()) {
		c.changed = true
		c.report(rRef, m.name)
		return
	}
	if t.v.Exists() && !t.samePlace {
		c.writeAnyOf(n, m.nullable, func() { c.writeExpanded(ref) })
		return
	}
	raw := m.v.Raw()
	if rest, ok := strings.CutPrefix(ref, "#/definitions/"); ok && c.renameDefs {
		c.changed = true
		raw = string(jsonwire.AppendString(nil, "#/$defs/"+rest))
	}
	write := func() {
		c.w.RawMember("$ref", raw)
	}
	if !m.nullable && (c.dialect != GeminiJSON || c.isRefAlone(n)) {
		write()
		return
	}
	c.writeAnyOf(n, m.nullable, func() {
		c.w.BeginObject()
		write()
		c.w.EndObject()
	})
}

// writeExpanded writes the target in place of a reference, because the translation has
// no target at that pointer.
func (c *converter) writeExpanded(ref string) {
	mark := len(c.expanding)
	if target, ok := c.enter(ref); ok {
		c.writeSchema(target, false)
	} else {
		c.report(rRecursion)
		c.w.Raw("{}")
	}
	c.expanding = c.expanding[:mark]
}

// isRefAlone reports whether a reference has no siblings except definitions and
// keywords whose names begin with a dollar sign.
func (c *converter) isRefAlone(n *node) bool {
	for i := range c.members[n.lo:] {
		if m := &c.members[n.lo+i]; m.kw != kNullable && !strings.HasPrefix(m.name, "$") && !(m.kw == kDefinitions && c.renameDefs) {
			return false
		}
	}
	return true
}

// writeAnyOf writes a schema as the only alternative, or next to null. The meaning is
// the same, and siblings are allowed.
func (c *converter) writeAnyOf(n *node, null bool, write func()) {
	c.changed = true
	if n.written[kAnyOf] {
		c.report(rSecondUnion, "$ref")
		return
	}
	n.written[kAnyOf] = true
	if c.hasAny(n.lo, kAnyOf) {
		c.report(rSecondUnion, "anyOf")
	}
	c.w.Array("anyOf")
	write()
	if null {
		c.w.Raw(`{"type":"null"}`)
	}
	c.w.EndArray()
}

// isUnchanged reports whether the whole schema can be sent unchanged, in the dialects
// where most can, and reports the keywords that the target ignores. It allocates only
// for these losses. It may return false for a schema that needs no change.
func (c *converter) isUnchanged(root value) bool {
	if c.dialect != JSONSchema && c.dialect != GeminiJSON || root.Kind() != jsonwire.Object {
		return false
	}
	if c.input {
		listed := root.Get("properties")
		if !root.Get("type").Is("object") || listed.Kind() != jsonwire.Object || c.dialect == GeminiJSON && listed.Len() == 0 {
			return false
		}
		for name := range root.Members() {
			switch keywordsByName[name] {
			case kRef, kAllOf, kAnyOf, kOneOf:
				return false
			}
		}
	}
	reported, more := len(c.losses), c.worstUnlisted
	if c.isSchemaUnchanged(root) {
		return true
	}
	c.losses, c.worstUnlisted, c.path = c.losses[:reported], more, c.path[:0]
	return false
}

// isSchemaUnchanged implements isUnchanged for one schema and those in it.
func (c *converter) isSchemaUnchanged(v value) bool {
	for name, x := range v.Members() {
		kw := keywordsByName[name]
		r := c.dialect.rule(kw)
		if r != kept && r.action != actionIgnore || !hasShape(keywordSpecs[kw].shape, x) {
			return false
		}
		if r.action == actionIgnore {
			if !isVacuous(member{kw: kw, name: name, v: x}) {
				c.report(r.reason, name)
			}
			continue
		}
		ok := true
		switch kw {
		case kType:
			ok = isExact(x)
		case kEnum:
			ok = c.dialect != GeminiJSON || isGeminiEnum(x)
		case kRef:
			ok = c.dialect != GeminiJSON
		case kItems:
			ok = x.Kind() != jsonwire.Array && c.isPartUnchanged(name, x)
		case kExclusiveMinimum, kExclusiveMaximum:
			ok = x.Kind() == jsonwire.Number
		default:
			ok = c.arePartsUnchanged(keywordSpecs[kw].shape, name, x)
		}
		if !ok {
			return false
		}
	}
	return true
}

// arePartsUnchanged implements isUnchanged for the schemas in the value of a keyword.
func (c *converter) arePartsUnchanged(s shape, name string, v value) bool {
	switch s {
	case shapeSchema:
		return c.isPartUnchanged(name, v)
	case shapeSchemas:
		for i, x := range v.Elems() {
			c.pushIndex(name, i)
			if !c.isSchemaUnchanged(x) {
				return false
			}
			c.pop(2)
		}
	case shapeSchemaMap:
		c.push(name)
		for key, x := range v.Members() {
			if !c.isPartUnchanged(key, x) {
				return false
			}
		}
		c.pop(1)
	}
	return true
}

func (c *converter) isPartUnchanged(name string, v value) bool {
	c.push(name)
	if !c.isSchemaUnchanged(v) {
		return false
	}
	c.pop(1)
	return true
}

// isGeminiEnum reports whether GeminiJSON supports all values of an enumeration.
func isGeminiEnum(v value) bool {
	for _, x := range v.Elems() {
		if typeOf(x)&(tString|tNumber|tNull) == 0 {
			return false
		}
	}
	return true
}
