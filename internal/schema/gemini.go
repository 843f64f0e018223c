package schema

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A unionContext holds keywords of a schema with alternatives that GeminiSchema allows
// only in the alternatives.
type unionContext struct {
	description string // description of alternatives without one
	prefix      string // text that precedes the description of an alternative
	nullable    bool   // null is also allowed
}

// writeGemini writes the schema whose members add pushes.
func (c *converter) writeGemini(outer unionContext, add func()) {
	lo, mark := len(c.members), len(c.expanding)
	c.level++
	if c.hasRoom() {
		add()
		c.writeGeminiNode(lo, outer)
	} else {
		c.w.Raw("{}")
	}
	c.level--
	c.leave(lo, mark)
}

// writeGeminiValue writes the schema v.
func (c *converter) writeGeminiValue(v value, outer unionContext) {
	c.writeGemini(outer, func() { c.gather(v, false) })
}

// writeGeminiRoot writes the whole schema. It reports whether the schema is to be
// omitted.
func (c *converter) writeGeminiRoot(root value) (omit bool) {
	c.changed = true
	if !c.input {
		c.writeGeminiValue(root, unionContext{})
		return false
	}
	c.gather(root, false)
	c.mergeRoot(0)
	if t, _ := c.typesIn(0); t&tObject == 0 {
		c.report(rRootType)
		return true
	}
	if len(c.requiredIn(0)) == 0 && len(c.allowedProps(c.propsIn(0))) == 0 {
		c.reportAdditional(0, true)
		c.reportOmitted()
		return true
	}
	c.writeGeminiType(0, tObject, nil, unionContext{})
	return false
}

// writeGeminiNode writes the schema of the members from lo on.
func (c *converter) writeGeminiNode(lo int, outer unionContext) {
	t, typed := c.typesIn(lo)
	values, of, enumerated := c.enumIn(lo, t)
	if enumerated {
		t, typed = of, true
	}
	for i := range c.members[lo:] {
		if kw := c.members[lo+i].kw; kw == kAnyOf || kw == kOneOf {
			if c.writeGeminiUnion(lo, lo+i, !typed || t&tNull != 0, outer) {
				return
			}
		}
	}
	if !typed {
		if t = c.inferTypes(lo); t == 0 {
			outer.nullable = false // without a type, null is allowed anyway
			c.writeGeminiType(lo, 0, nil, outer)
			return
		}
		c.report(rInferred)
	}
	if t == 0 {
		c.report(rConflict)
		outer.nullable = false // the schema is unconstrained
		c.writeGeminiType(lo, 0, nil, outer)
		return
	}
	outer.nullable = outer.nullable || t&tNull != 0
	c.writeGeminiTypes(lo, t, values, outer)
}

// writeGeminiTypes writes one schema for each type in t.
func (c *converter) writeGeminiTypes(lo int, t types, values []value, outer unionContext) {
	if t&tFraction != 0 {
		t |= tNumber
	}
	if t &^= tNull; t == 0 {
		outer.nullable = false
		c.writeGeminiType(lo, tNull, nil, outer)
		return
	}
	if t.count() == 1 {
		c.writeGeminiType(lo, t, values, outer)
		return
	}
	c.w.BeginObject()
	c.w.Array("anyOf")
	i := 0
	t.each(func(x types, _ string) {
		c.pushIndex("anyOf", i)
		c.writeGeminiType(lo, x, values, outer)
		c.pop(2)
		outer.nullable = false // one alternative suffices
		i++
	})
	c.w.EndArray()
	c.w.EndObject()
}

// inferTypes infers the types of values from keywords that apply to one type.
func (c *converter) inferTypes(lo int) (t types) {
	for i := range c.members[lo:] {
		switch c.members[lo+i].kw {
		case kProperties, kRequired, kAdditionalProperties, kMinProperties, kMaxProperties, kPropertyOrdering:
			t |= tObject
		case kItems, kPrefixItems, kMinItems, kMaxItems:
			t |= tArray
		case kPattern, kMinLength, kMaxLength:
			t |= tString
		case kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum:
			t |= tNumber
		}
	}
	return t
}

// writeGeminiUnion writes the alternatives at index u of the stack. Each repeats the
// other members from lo on. It reports whether the alternatives are written.
func (c *converter) writeGeminiUnion(lo, u int, nullable bool, outer unionContext) bool {
	m := c.members[u]
	shaped := c.hasAny(lo, kProperties, kItems, kPrefixItems)
	if shaped && c.isConditional(&m) {
		c.members[u].kw = kOther
		c.report(rAlternatives, m.name)
		return false
	}
	outer.nullable = outer.nullable || m.nullable && nullable
	hi := len(c.members)
	outer.description, outer.prefix = c.unionDescription(lo, &m, outer)
	for i := u + 1; i < hi; i++ {
		if kw := c.members[i].kw; kw == kAnyOf || kw == kOneOf {
			c.report(rSecondUnion, c.members[i].name)
		}
	}
	c.w.BeginObject()
	c.w.Array("anyOf")
	n := 0
	for x := range m.alternatives() {
		c.pushIndex("anyOf", n)
		n++
		c.writeGemini(outer, func() {
			for i := lo; i < hi; i++ {
				if !isAnnotation(c.members[i].kw) {
					c.members = append(c.members, c.members[i])
				}
			}
			c.nodesLeft -= hi - lo
			c.gather(x, false)
		})
		c.pop(2)
		outer.nullable, outer.prefix = false, ""
	}
	c.w.EndArray()
	c.w.EndObject()
	return true
}

// isAnnotation reports whether kw is not repeated in the alternatives next to it.
// Alternatives count, because they are being written.
func isAnnotation(kw keyword) bool {
	switch kw {
	case kOther, kTitle, kDescription, kDefault, kExample, kExamples, kNullable, kAnyOf, kOneOf:
		return true
	}
	return false
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

// unionDescription returns the description for alternatives without one. If all have
// one, it returns the text that precedes the first. Other annotations of the union are
// reported as dropped.
func (c *converter) unionDescription(lo int, m *member, outer unionContext) (text, prefix string) {
	text, prefix = outer.description, outer.prefix
	if d := c.firstOf(lo, kDescription); d.Exists() {
		text = d.Str()
		if prefix != "" {
			text, prefix = prefix+"\n"+text, ""
		}
	}
	for _, kw := range []keyword{kTitle, kDefault, kExample, kExamples} {
		if c.firstOf(lo, kw).Exists() {
			c.report(rBesideUnion, keywordSpecs[kw].name)
		}
	}
	for x := range m.alternatives() {
		if !x.Get("description").Exists() {
			return text, prefix
		}
	}
	return "", text
}

// description returns the description of the schema whose members begin at lo.
// addition is appended to it.
func (c *converter) description(lo int, outer unionContext, addition string) string {
	text := outer.description
	if d := c.firstOf(lo, kDescription); d.Exists() {
		text = d.Str()
	}
	for _, s := range []string{outer.prefix, addition} {
		switch {
		case s == "":
		case text == "":
			text = s
		case s == addition:
			text = strings.TrimRight(text, " ") + "\n" + s
		default:
			text = s + "\n" + text
		}
	}
	return text
}

// reportAdditional reports the loss of additionalProperties. none reports that the
// object has no properties.
func (c *converter) reportAdditional(lo int, none bool) {
	for m := range c.of(lo, kAdditionalProperties) {
		switch {
		case m.v.Kind() == jsonwire.False:
			c.report(rClosed, m.name)
		case !allowsAnything(m.v):
			c.report(rMembers, m.name)
		case none:
			c.report(rFreeForm, m.name)
		}
	}
}

// maxListedValues bounds the text that lists values in a description, in bytes.
const maxListedValues = 512

// writeGeminiType writes one schema with at most one type from the members from lo on.
// The order of the written members is fixed.
func (c *converter) writeGeminiType(lo int, t types, values []value, outer unionContext) {
	c.w.BeginObject()
	if t != 0 {
		t.each(func(_ types, name string) { c.w.Member("type", strings.ToUpper(name)) })
	}
	enum, listed := c.listedValues(lo, t, values)
	if t&(tString|tNumber) != 0 {
		if f := c.firstUnique(lo, kFormat, rConflict); f.Exists() && (t == tString) == !isNumeric(f.Str()) {
			c.writeRaw("format", f)
		}
	}
	c.writeRaw("title", c.firstOf(lo, kTitle))
	c.w.OptMember("description", c.description(lo, outer, listed))
	if outer.nullable {
		c.w.BoolMember("nullable", true)
	}
	if enum {
		c.w.Array("enum")
		for _, x := range values {
			if x.Kind() == jsonwire.String {
				c.w.Raw(x.Raw())
			}
		}
		c.w.EndArray()
	}
	switch t {
	case tArray:
		c.writeArray(lo)
	case tObject:
		c.writeObject(lo)
	case tString:
		c.writeCount("minLength", lo, kMinLength)
		c.writeCount("maxLength", lo, kMaxLength)
		c.writeRaw("pattern", c.firstUnique(lo, kPattern, rConflict))
	case tInteger, tNumber:
		c.w.OptRawMember("minimum", c.numericLimit(lo, t, kMinimum, kExclusiveMinimum))
		c.w.OptRawMember("maximum", c.numericLimit(lo, t, kMaximum, kExclusiveMaximum))
	}
	c.writeExamples(lo, t, outer)
	c.w.EndObject()
}

// isNumeric reports whether a format applies to numbers.
func isNumeric(format string) bool {
	switch format {
	case "int32", "int64", "float", "double":
		return true
	}
	return false
}

// listedValues reports whether the values can be an enum, which the target supports
// for strings only. For other values it returns a sentence that lists them.
func (c *converter) listedValues(lo int, t types, values []value) (enum bool, listed string) {
	if t == tString {
		for _, x := range values {
			if x.Kind() == jsonwire.String {
				return true, ""
			}
		}
	}
	if t == 0 || t == tNull || t == tString {
		return false, ""
	}
	var list []string
	size := 0
	for _, x := range values {
		if typeOf(x)&t != 0 {
			list = append(list, x.Raw())
			if size += len(x.Raw()) + 2; size > maxListedValues {
				break
			}
		}
	}
	switch {
	case len(list) == 0, t == tBoolean && len(list) == 2 && list[0] != list[1]:
		return false, ""
	case !c.hasAny(lo, kEnum):
		c.report(rEnum, "const")
	default:
		c.report(rEnum, "enum")
	}
	if size > maxListedValues {
		return false, ""
	}
	return false, "Allowed values: " + strings.Join(list, ", ")
}

func (c *converter) writeArray(lo int) {
	maxItems := c.writeArrayItems(lo)
	if m := c.strictest(lo, kMaxItems, false); m.Exists() {
		if n, _ := m.Int(); maxItems < 0 || n < maxItems {
			maxItems = n
		}
	}
	if maxItems >= 0 {
		c.w.Member("maxItems", strconv.FormatInt(maxItems, 10))
	}
	c.writeCount("minItems", lo, kMinItems)
}

// writeArrayItems writes the schema of elements. It returns the number of elements that
// the schema allows, or -1 if it sets no limit.
func (c *converter) writeArrayItems(lo int) (maxItems int64) {
	maxItems = -1
	var every []value
	var tuple, rest value
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		switch {
		case m.kw == kPrefixItems || m.kw == kItems && m.v.Kind() == jsonwire.Array:
			if tuple.Exists() {
				c.report(rConflict, m.name)
				break
			}
			tuple = m.v
			rest = c.firstOf(lo, kItems)
			if m.kw == kItems {
				rest = c.firstOf(lo, kAdditionalItems)
			}
		case m.kw == kItems:
			every = append(every, m.v)
		}
	}
	c.w.Name("items")
	c.push("items")
	defer c.pop(1)
	if tuple.Len() > 0 {
		return c.writeTuple(lo, tuple, rest)
	}
	for _, x := range every {
		if x.Kind() == jsonwire.False {
			c.w.Raw("{}")
			return 0
		}
	}
	c.writeGemini(unionContext{}, func() {
		for _, x := range every {
			c.gather(x, false)
		}
	})
	return maxItems
}

// writeTuple writes the schemas of a tuple as alternatives.
func (c *converter) writeTuple(lo int, tuple, rest value) (maxItems int64) {
	maxItems = -1
	n, _ := c.strictest(lo, kMaxItems, false).Int()
	closed := c.hasAny(lo, kMaxItems) && n <= int64(tuple.Len())
	m := member{kw: kAnyOf, name: "anyOf"}
	for _, x := range tuple.Elems() {
		if !containsValue(m.elems, x) {
			m.elems = append(m.elems, x)
		}
	}
	switch {
	case rest.Kind() == jsonwire.False:
		maxItems, closed = int64(tuple.Len()), true
	case rest.Kind() == jsonwire.Object && !closed && !containsValue(m.elems, rest):
		m.elems = append(m.elems, rest)
	}
	switch open := !closed && rest.Kind() != jsonwire.Object; {
	case open:
		c.report(rOpenTuple)
	case len(m.elems) > 1:
		c.report(rTuple)
	}
	c.writeGemini(unionContext{}, func() { c.gatherUnion(m) })
	return maxItems
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

func (c *converter) writeObject(lo int) {
	props, required := c.propsIn(lo), c.requiredIn(lo)
	defined := make(map[string]bool, len(props)+len(required))
	for i := range props {
		defined[props[i].name] = !props[i].isForbidden()
	}
	for _, name := range required {
		if _, ok := defined[name]; !ok {
			// The target requires a property for every required name.
			props = append(props, prop{name: name})
			defined[name] = true
		}
	}
	props = c.allowedProps(props)
	c.reportAdditional(lo, len(props) == 0)
	if len(props) > 0 {
		c.w.Object("properties")
		c.push("properties")
		for i := range props {
			c.push(props[i].name)
			c.w.Name(props[i].name)
			c.writeGemini(unionContext{}, func() { c.gatherProp(&props[i]) })
			c.pop(1)
		}
		c.pop(1)
		c.w.EndObject()
	}
	c.writeNames("required", required, defined)
	c.writeCount("minProperties", lo, kMinProperties)
	c.writeCount("maxProperties", lo, kMaxProperties)
	var order []string
	for _, x := range c.firstOf(lo, kPropertyOrdering).Elems() {
		order = append(order, x.Str())
	}
	c.writeNames("propertyOrdering", order, defined)
}

// allowedProps returns the properties that may be present. The target cannot forbid
// the others, so they are not sent.
func (c *converter) allowedProps(props []prop) []prop {
	out := props[:0]
	for i := range props {
		if props[i].isForbidden() {
			c.report(rFalse, "properties", props[i].name)
		} else {
			out = append(out, props[i])
		}
	}
	return out
}

// isForbidden reports whether the property must be absent.
func (p *prop) isForbidden() bool {
	for _, x := range p.all {
		if x.Kind() == jsonwire.False {
			return true
		}
	}
	return false
}

// writeNames writes the names in list that are defined.
func (c *converter) writeNames(name string, list []string, defined map[string]bool) {
	open := false
	for _, s := range list {
		if !defined[s] {
			continue
		}
		if !open {
			open = true
			c.w.Array(name)
		}
		c.w.String(s)
	}
	if open {
		c.w.EndArray()
	}
}

// writeExamples writes the default and one example, if they have the written type.
func (c *converter) writeExamples(lo int, t types, outer unionContext) {
	ok := func(v value) bool {
		return t == 0 || !v.Exists() || typeOf(v)&t != 0 || typeOf(v) == tNull && outer.nullable || !c.severalTypes(lo)
	}
	if v := c.firstOf(lo, kDefault); ok(v) {
		c.writeRaw("default", v)
	}
	example := c.firstOf(lo, kExample)
	if list := c.firstOf(lo, kExamples); !example.Exists() && list.Len() > 0 {
		if list.Len() > 1 {
			c.report(rSeveralExamples, "examples")
		}
		example = elem(list, 0)
	}
	if ok(example) {
		c.writeRaw("example", example)
	}
}

// severalTypes reports whether the members from lo on allow several types, which are
// written as alternatives.
func (c *converter) severalTypes(lo int) bool {
	t, _ := c.typesIn(lo)
	return (t &^ tNull).count() > 1
}
