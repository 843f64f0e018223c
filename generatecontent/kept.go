package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// Members that are kept as JSON text, in canonical form: camelCase names, enums by name,
// numbers that are not texts, lists in brackets, no null. One walk checks a value and writes
// its canonical form, which for most values is their text in the document. An
// [object.Checker] does not fit: it does not know canonical forms, and the vendor's texts and
// paths depend on the spelling of names and on lists without brackets.

// measuredMembers is the number of members from which the size of an object is
// computed before its members are collected.
const measuredMembers = 100

// keptJSON checks a member that is kept as JSON text, and returns the text in canonical form.
// It returns "" for null.
func (p *parser) keptJSON(f *object.Field, name string, x jsonwire.Value) string {
	if isMissing(f, x) {
		return ""
	}
	before := p.Violations.Len()
	p.validSchema = true
	text := p.canonical(x, func() { p.check(f, name, x) })
	p.validSchema = p.validSchema && p.Violations.Len() == before
	return text
}

// keptObject returns an object of the members of v that are kept as JSON text. It is v itself
// if that is canonical and has no others.
func (p *parser) keptObject(v jsonwire.Value, t *object.Type) string {
	return p.canonical(v, func() {
		var seen object.Members
		p.out.open(v)
		for name, x := range v.Members() {
			switch f, again := seen.Field(t, name); {
			case f == nil:
				p.out.name(name, name)
				p.out.keep(x)
			case !f.Kept() || again:
				p.out.change()
			default:
				p.member(f, name, x)
			}
		}
		p.out.close(v)
	})
}

// Extra implements [object.Format].
func (p *parser) Extra(v jsonwire.Value, t *object.Type) *content.Extra {
	if !p.Quota.Members(v.Len()) {
		return nil
	}
	b := p.Extras.Begin()
	if v.Len() > measuredMembers {
		size := 0
		for name, x := range v.Members() {
			if !t.Holds(name) {
				size += len(name) + len(x.Raw()) + len(`,"":`)
			}
		}
		b = slices.Grow(b, size)
	}
	return p.newExtra(p.appendKept(b, v, t))
}

func (p *parser) newExtra(b []byte) *content.Extra {
	if s := p.Extras.End(b); s != "" {
		return p.Extras.New(Format, s)
	}
	return nil
}

// appendKept appends the members of v that are kept as JSON text, and checks them.
func (p *parser) appendKept(b []byte, v jsonwire.Value, t *object.Type) []byte {
	var seen object.Members
	for name, x := range v.Members() {
		f, again := seen.Field(t, name)
		if f == nil {
			b = codec.AppendMember(b, name, x.Raw())
			continue
		}
		if !f.Kept() || again || isMissing(f, x) {
			continue
		}
		if f.Value == thought || f.Value == signature { // part has checked it
			b = codec.AppendMember(b, f.Name, x.Raw())
		} else {
			b = codec.AppendMember(b, f.Name, p.canonical(x, func() { p.check(f, name, x) }))
		}
	}
	return b
}

// isMissing reports whether a member counts as missing: it is null and does not accept any
// value.
func isMissing(f *object.Field, x jsonwire.Value) bool {
	return x.Kind() == jsonwire.Null && f.Value.Kinds != object.Any
}

// isCanonical checks the members of an object and reports whether they are canonical.
func (p *parser) isCanonical(t *object.Type, x jsonwire.Value) bool {
	p.out.changed = false
	p.checkMembers(t, x)
	return !p.out.changed
}

// check checks the value of a member of the object at the path, and writes its canonical form.
// Values that are not valid are copied.
func (p *parser) check(f *object.Field, name string, x jsonwire.Value) {
	v := f.Value
	switch {
	case v.Kinds == object.Any:
		p.out.keep(x)
		return
	case x.Kind() == jsonwire.Array && v.Elem == nil:
		p.Mismatch(f, name, x)
		p.out.keep(x)
		return
	case v == labels && !p.Quota.Members(x.Len()):
		p.out.keep(x)
		return
	}
	p.Path.Push(f.Alias)
	p.checkAt(v, x)
	p.Path.Pop()
}

// checkAt is check for the value at the path, or a list of values.
func (p *parser) checkAt(v *object.Value, x jsonwire.Value) {
	if v.Elem == nil {
		p.checkOne(v, x)
		return
	}
	if x.Kind() != jsonwire.Array {
		p.Path.PushIndex(0)
		if v.Kinds == object.List {
			p.out.bracket("[")
			p.checkOne(v.Elem, x)
			p.out.bracket("]")
		} else {
			p.checkOne(v.Elem, x)
		}
		p.Path.Pop()
		return
	}
	p.out.open(x)
	for i, e := range x.Elems() {
		p.out.elem()
		p.Path.PushIndex(i)
		p.checkOne(v.Elem, e)
		p.Path.Pop()
	}
	p.out.close(x)
}

// checkOne is checkAt for a value that is not a list.
func (p *parser) checkOne(v *object.Value, x jsonwire.Value) {
	ok, kind := false, x.Kind()
	switch {
	case v.Members != nil:
		p.checkMap(v, x)
		return
	case v.Object != nil:
		if p.isObject(x, v) {
			p.checkMembers(v.Object, x)
		} else {
			p.out.keep(x)
		}
		return
	case v.Enum != nil:
		s := enumValue(v.Enum, x)
		p.latestEnum = s
		if ok = s != ""; ok {
			p.out.enum(s, x)
			return
		}
	case v.Kinds == object.Integer:
		var n int64
		if n, ok = object.Int(x, v.Form); ok {
			p.out.integer(n, v.Form, x)
			return
		}
	case v.Kinds == object.Number:
		if _, ok = object.Float(x); ok && kind == jsonwire.String {
			p.out.number(x)
			return
		}
	case v.Form == object.Base64:
		if _, _, e := x.LenientBase64(); e > jsonwire.Base64Empty {
			p.notBase64(v, x)
			ok = true
		} else {
			ok = kind == jsonwire.String
		}
	case v.Form == object.Timestamp:
		ok = kind == jsonwire.String && !x.Is("")
	case v.Kinds == object.Flag:
		_, ok = x.Bool()
	case v.Kinds == object.Object:
		ok = kind == jsonwire.Object
	default:
		ok = kind == jsonwire.String || v.Kinds == object.Any
	}
	if !ok {
		p.Kind(v, x)
	}
	p.out.keep(x)
}

// checkMembers checks the members of an object.
func (p *parser) checkMembers(t *object.Type, x jsonwire.Value) {
	if t == openAPI.Object {
		p.checkSchema(x)
		return
	}
	var seen object.Members
	p.out.open(x)
	for name, y := range x.Members() {
		switch f, again := p.field(&seen, t, name); {
		case f == nil:
			p.out.name(name, name)
			p.out.keep(y)
		case again:
			p.out.change()
		default:
			p.member(f, name, y)
		}
	}
	p.out.close(x)
}

// checkSchema is checkMembers for a schema in the vendor's own dialect. It clears validSchema
// if the validator must check the schema, too: a rule does not hold, or a list has no brackets.
// It sets plainObject, at last for the whole schema.
func (p *parser) checkSchema(x jsonwire.Value) {
	var seen object.Members
	var n schemaNode
	kind := ""
	p.out.open(x)
	for name, y := range x.Members() {
		switch f, again := p.field(&seen, openAPI.Object, name); {
		case f == nil:
			p.out.name(name, name)
			p.out.keep(y)
		case again:
			p.out.change()
		default:
			p.member(f, name, y)
			if y.Kind() == jsonwire.Null {
				break
			}
			n.set(f.Name, y)
			if f.Value.Enum == schemaTypes {
				kind = p.latestEnum
			}
		}
	}
	p.out.close(x)
	if n.lacksItems(kind) || n.hasOtherEnum(kind) || n.enum.Kind() == jsonwire.String || n.required.Kind() == jsonwire.String ||
		p.Path.Depth() > maxSchema {
		p.validSchema = false
	}
	if n.required.Exists() {
		for range n.undefined {
			p.validSchema = false
			break
		}
	}
	p.plainObject = n.isPlainObject(kind)
}

// member checks a member of the object at the path that is kept as JSON text.
func (p *parser) member(f *object.Field, name string, x jsonwire.Value) {
	if isMissing(f, x) {
		p.out.change()
		return
	}
	p.out.name(f.Name, name)
	p.check(f, name, x)
}

// checkMap checks an object with arbitrary names. Like the vendor's, the paths of its members
// have their indices.
func (p *parser) checkMap(v *object.Value, x jsonwire.Value) {
	if x.Kind() != jsonwire.Object {
		p.Kind(v, x)
		p.out.keep(x)
		return
	}
	p.out.open(x)
	i := 0
	for name, y := range x.Members() {
		p.out.name(name, name)
		p.Path.PushIndex(i)
		p.Path.Push("value")
		p.checkOne(v.Members, y)
		p.Path.Pop()
		p.Path.Pop()
		i++
	}
	p.out.close(x)
}
