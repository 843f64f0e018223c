package schema

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// maxNamed bounds the text that names values in a description.
const maxNamed = 512

// emit writes one schema of the closed set, of one type or of none, from what
// the members from lo on say of that type. The order of its members is fixed.
func (c *converter) emit(lo int, t types, values []value, a around) {
	c.w.BeginObject()
	if t != 0 {
		t.names(func(_ types, name string) { c.text("type", strings.ToUpper(name)) })
	}
	enum, named := c.enumOf(lo, t, values)
	if t&(tString|tNumber) != 0 {
		if f := c.first(lo, kFormat, rConflict); f.Exists() && (t == tString) == !isNumeric(f.Str()) {
			c.raw("format", f)
		}
	}
	c.raw("title", c.firstOf(lo, kTitle))
	if s := c.describe(lo, a, named); s != "" {
		c.text("description", s)
	}
	if a.null {
		c.w.Name("nullable")
		c.w.Bool(true)
	}
	if enum {
		c.w.Name("enum")
		c.w.BeginArray()
		for _, x := range values {
			if x.Kind() == jsonwire.String {
				c.w.Raw(x.Raw())
			}
		}
		c.w.EndArray()
	}
	switch t {
	case tArray:
		c.emitArray(lo)
	case tObject:
		c.emitObject(lo)
	case tString:
		c.count("minLength", lo, kMinLength)
		c.count("maxLength", lo, kMaxLength)
		c.raw("pattern", c.first(lo, kPattern, rConflict))
	case tInteger, tNumber:
		c.bound("minimum", c.limit(lo, t, kMinimum, kExclusiveMinimum))
		c.bound("maximum", c.limit(lo, t, kMaximum, kExclusiveMaximum))
	}
	c.emitExamples(lo, t, a)
	c.w.EndObject()
}

// isNumeric reports whether a format is one of numbers.
func isNumeric(format string) bool {
	switch format {
	case "int32", "int64", "float", "double":
		return true
	}
	return false
}

// enumOf reports whether the values can be enumerated: the target has that for
// strings. For others it returns a sentence that names them.
func (c *converter) enumOf(lo int, t types, values []value) (enum bool, named string) {
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
			if size += len(x.Raw()) + 2; size > maxNamed {
				break
			}
		}
	}
	switch {
	case len(list) == 0, t == tBoolean && len(list) == 2 && list[0] != list[1]:
		return false, ""
	case !c.hasAny(lo, kEnum):
		c.lose(rEnum, "const")
	default:
		c.lose(rEnum, "enum")
	}
	if size > maxNamed {
		return false, ""
	}
	return false, "Allowed values: " + strings.Join(list, ", ")
}

func (c *converter) emitArray(lo int) {
	most := c.emitItems(lo)
	if m := c.tightest(lo, kMaxItems, false); m.Exists() {
		if n, _ := m.Int(); most < 0 || n < most {
			most = n
		}
	}
	if most >= 0 {
		c.text("maxItems", strconv.FormatInt(most, 10))
	}
	c.count("minItems", lo, kMinItems)
}

// emitItems writes what the elements of an array are, and returns how many
// there may be by that; less than 0 if that is open.
func (c *converter) emitItems(lo int) (most int64) {
	most = -1
	var every []value
	var tuple, rest value
	for i := range c.members[lo:] {
		m := &c.members[lo+i]
		switch {
		case m.kw == kPrefixItems || m.kw == kItems && m.v.Kind() == jsonwire.Array:
			if tuple.Exists() {
				c.lose(rConflict, m.name)
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
		return c.emitTuple(lo, tuple, rest)
	}
	for _, x := range every {
		if x.Kind() == jsonwire.False {
			c.w.Raw("{}")
			return 0
		}
	}
	c.flat(around{}, func() {
		for _, x := range every {
			c.gather(x, false)
		}
	})
	return most
}

// emitTuple writes the elements of a tuple as alternatives.
func (c *converter) emitTuple(lo int, tuple, rest value) (most int64) {
	most = -1
	n, _ := c.tightest(lo, kMaxItems, false).Int()
	closed := c.hasAny(lo, kMaxItems) && n <= int64(tuple.Len())
	m := member{kw: kAnyOf, name: "anyOf"}
	for _, x := range tuple.Elems() {
		if !has(m.elems, x) {
			m.elems = append(m.elems, x)
		}
	}
	switch {
	case rest.Kind() == jsonwire.False:
		most, closed = int64(tuple.Len()), true
	case rest.Kind() == jsonwire.Object && !closed && !has(m.elems, rest):
		m.elems = append(m.elems, rest)
	}
	switch open := !closed && rest.Kind() != jsonwire.Object; {
	case open:
		c.lose(rOpenTuple)
	case len(m.elems) > 1:
		c.lose(rTuple)
	}
	c.flat(around{}, func() { c.gatherUnion(m) })
	return most
}

// has reports whether a value of the same text is in the list.
func has(list []value, v value) bool {
	for _, x := range list {
		if x.Raw() == v.Raw() {
			return true
		}
	}
	return false
}

func (c *converter) emitObject(lo int) {
	props, required := c.propsIn(lo), c.requiredIn(lo)
	defined := make(map[string]bool, len(props)+len(required))
	for i := range props {
		defined[props[i].name] = !props[i].never()
	}
	for _, name := range required {
		if _, ok := defined[name]; !ok {
			// The target wants to know every name that is required.
			props = append(props, prop{name: name})
			defined[name] = true
		}
	}
	props = c.allowed(props)
	c.additional(lo, len(props) == 0)
	if len(props) > 0 {
		c.w.Name("properties")
		c.w.BeginObject()
		c.push("properties")
		for i := range props {
			c.push(props[i].name)
			c.w.Name(props[i].name)
			c.flat(around{}, func() { c.gatherProp(&props[i]) })
			c.pop(1)
		}
		c.pop(1)
		c.w.EndObject()
	}
	c.nameList("required", required, defined)
	c.count("minProperties", lo, kMinProperties)
	c.count("maxProperties", lo, kMaxProperties)
	var order []string
	for _, x := range c.firstOf(lo, kOrdering).Elems() {
		order = append(order, x.Str())
	}
	c.nameList("propertyOrdering", order, defined)
}

// allowed returns the properties that may be there. The target cannot forbid the
// others, and must not see them.
func (c *converter) allowed(props []prop) []prop {
	out := props[:0]
	for i := range props {
		if props[i].never() {
			c.lose(rFalse, "properties", props[i].name)
		} else {
			out = append(out, props[i])
		}
	}
	return out
}

// never reports whether the property is one that must not be there.
func (p *prop) never() bool {
	for _, x := range p.all {
		if x.Kind() == jsonwire.False {
			return true
		}
	}
	return false
}

// nameList writes those of the names that are defined.
func (c *converter) nameList(name string, list []string, defined map[string]bool) {
	open := false
	for _, s := range list {
		if !defined[s] {
			continue
		}
		if !open {
			open = true
			c.w.Name(name)
			c.w.BeginArray()
		}
		c.w.String(s)
	}
	if open {
		c.w.EndArray()
	}
}

// emitExamples writes the default and one example, where they are of the type.
func (c *converter) emitExamples(lo int, t types, a around) {
	ok := func(v value) bool {
		return t == 0 || !v.Exists() || typeOf(v)&t != 0 || typeOf(v) == tNull && a.null || !c.severalTypes(lo)
	}
	if v := c.firstOf(lo, kDefault); ok(v) {
		c.raw("default", v)
	}
	example := c.firstOf(lo, kExample)
	if list := c.firstOf(lo, kExamples); !example.Exists() && list.Len() > 0 {
		if list.Len() > 1 {
			c.lose(rSeveralExamples, "examples")
		}
		example = elem(list, 0)
	}
	if ok(example) {
		c.raw("example", example)
	}
}

// severalTypes reports whether the members from lo on allow several types, each
// of which is written by itself.
func (c *converter) severalTypes(lo int) bool {
	t, _ := c.typesIn(lo)
	return (t &^ tNull).count() > 1
}

func (c *converter) text(name, s string) {
	c.w.Name(name)
	c.w.String(s)
}

// raw writes v as it stands in the source, if there is one.
func (c *converter) raw(name string, v value) {
	if v.Exists() {
		c.w.Name(name)
		c.w.Raw(v.Raw())
	}
}

func (c *converter) bound(name, text string) {
	if text != "" {
		c.w.Name(name)
		c.w.Raw(text)
	}
}

// count writes the strictest of the counts of kw, as the string that 64-bit
// numbers are in protobuf's JSON.
func (c *converter) count(name string, lo int, kw keyword) {
	if n, ok := c.tightest(lo, kw, kw == kMinLength || kw == kMinItems || kw == kMinProperties).Int(); ok {
		c.text(name, strconv.FormatInt(n, 10))
	}
}
