package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// Members that are kept as JSON text, in canonical form: camelCase names, enums by name,
// numbers that are not texts, lists in brackets, no null. One walk checks a value and finds
// out whether it is canonical, which most values are. Only others are written anew. An
// [object.Checker] does not fit: it does not know canonical forms, and the vendor's texts and
// paths depend on the spelling of names and on lists without brackets.

// measuredMembers is the number of members from which the size of an object is
// computed before its members are collected.
const measuredMembers = 100

// keptJSON checks a member that is kept as JSON text, and returns the text in canonical form.
// It returns "" for null.
func (p *parser) keptJSON(f *object.Field, name string, x jsonwire.Value) string {
	if p.check(f, name, x) {
		return x.Raw()
	}
	if x.Kind() == jsonwire.Null {
		return ""
	}
	const head = `{"":`
	b := appendCanonical(codec.AppendName(p.extras.Begin(), ""), f.Value, x)
	text := p.extras.End(b)
	return text[len(head) : len(text)-1]
}

// keptObject returns an object of the members of v that are kept as JSON text. It is v itself
// if that is canonical and has no others.
func (p *parser) keptObject(v jsonwire.Value, t *object.Type) string {
	canonical := true
	for name, x := range v.Members() {
		if i := t.Find(name); i >= 0 {
			f := &t.Fields[i]
			canonical = f.Kept() && p.check(f, name, x) && name == f.Name && canonical
		}
	}
	if canonical {
		return v.Raw()
	}
	b := p.extras.Begin()
	for name, x := range v.Members() {
		if !t.Holds(name) {
			b = appendMember(b, t, name, x)
		}
	}
	if text := p.extras.End(b); text != "" {
		return text
	}
	return "{}"
}

// extra returns the members of v that are kept as JSON text, in their order, or nil.
func (p *parser) extra(v jsonwire.Value, t *object.Type) *content.Extra {
	if !p.quota.Members(v.Len()) {
		return nil
	}
	b := p.extras.Begin()
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
	if s := p.extras.End(b); s != "" {
		return p.extras.New(Format, s)
	}
	return nil
}

// appendKept appends the members of v that are kept as JSON text, and checks them.
func (p *parser) appendKept(b []byte, v jsonwire.Value, t *object.Type) []byte {
	for name, x := range v.Members() {
		i := t.Find(name)
		switch {
		case i < 0:
			b = codec.AppendMember(b, name, x.Raw())
		case !t.Fields[i].Kept():
		case t.Fields[i].Value == thought, t.Fields[i].Value == signature: // part has checked it
			b = appendMember(b, t, name, x)
		case p.check(&t.Fields[i], name, x):
			b = codec.AppendMember(b, t.Fields[i].Name, x.Raw())
		default:
			b = appendMember(b, t, name, x)
		}
	}
	return b
}

// check checks the value of a member of the object at the path. It reports whether the value
// is canonical.
func (p *parser) check(f *object.Field, name string, x jsonwire.Value) (canonical bool) {
	v := f.Value
	switch {
	case v.Kinds == object.Any:
		return true
	case x.Kind() == jsonwire.Null:
		return false
	case x.Kind() == jsonwire.Array && v.Elem == nil:
		p.mismatch(f, name, x)
		return true
	case v == labels && !p.quota.Members(x.Len()):
		return true
	}
	p.path.Push(f.Alias)
	canonical = p.checkAt(v, x)
	p.path.Pop()
	return canonical
}

// checkAt is check for the value at the path, or a list of values.
func (p *parser) checkAt(v *object.Value, x jsonwire.Value) (canonical bool) {
	if v.Elem == nil {
		return p.checkOne(v, x)
	}
	if x.Kind() != jsonwire.Array {
		p.path.PushIndex(0)
		canonical = p.checkOne(v.Elem, x) && v.Kinds != object.List
		p.path.Pop()
		return canonical
	}
	canonical = true
	for i, e := range x.Elems() {
		p.path.PushIndex(i)
		canonical = p.checkOne(v.Elem, e) && canonical
		p.path.Pop()
	}
	return canonical
}

// checkOne is checkAt for a value that is not a list. A value that is not valid counts as
// canonical.
func (p *parser) checkOne(v *object.Value, x jsonwire.Value) (canonical bool) {
	ok, kind := false, x.Kind()
	switch {
	case v.Members != nil:
		return p.checkMap(v, x)
	case v.Object != nil:
		return !p.isObject(x, v) || p.checkMembers(v.Object, x)
	case v.Enum != nil:
		s := enumValue(v.Enum, x)
		ok, canonical = s != "", x.Is(s)
	case v.Kinds == object.Integer:
		plain := strings.IndexByte(x.Raw(), '.') < 0
		if v.Form == object.Int32 {
			_, ok = wholeNumber(x, 32)
			canonical = plain && kind == jsonwire.Number
		} else { // the vendor writes those of 64 bits as strings
			_, ok = wholeNumber(x, 64)
			canonical = plain
		}
	case v.Kinds == object.Number:
		_, ok = decimal(x)
		canonical = kind == jsonwire.Number
	case v.Form == object.Base64:
		if _, _, e := x.LenientBase64(); e > jsonwire.Base64Empty {
			p.notBase64(v, x)
			return true
		}
		ok, canonical = kind == jsonwire.String, true
	case v.Form == object.Timestamp:
		ok, canonical = kind == jsonwire.String && !x.Is(""), true
	case v.Kinds == object.Flag:
		_, ok = x.Bool()
		canonical = true
	case v.Kinds == object.Object:
		ok, canonical = kind == jsonwire.Object, true
	default:
		ok, canonical = kind == jsonwire.String || v.Kinds == object.Any, true
	}
	if !ok {
		p.wrongKind(v, x)
		return true
	}
	return canonical
}

// checkMembers checks the members of an object.
func (p *parser) checkMembers(t *object.Type, x jsonwire.Value) (canonical bool) {
	var seen object.Members
	canonical = true
	for name, y := range x.Members() {
		if f, _ := p.field(&seen, t, name); f != nil {
			canonical = p.check(f, name, y) && name == f.Name && canonical
		}
	}
	return canonical
}

// checkMap checks an object with arbitrary names. Like the vendor's, the paths of its members
// have their indices.
func (p *parser) checkMap(v *object.Value, x jsonwire.Value) (canonical bool) {
	if x.Kind() != jsonwire.Object {
		p.wrongKind(v, x)
		return true
	}
	canonical = true
	i := 0
	for _, y := range x.Members() {
		p.path.PushIndex(i)
		p.path.Push("value")
		canonical = p.checkOne(v.Members, y) && canonical
		p.path.Pop()
		p.path.Pop()
		i++
	}
	return canonical
}

// appendCanonical appends a value in canonical form. Values that are not valid are copied.
func appendCanonical(b []byte, v *object.Value, x jsonwire.Value) []byte {
	switch {
	case v.Elem == nil, v.Kinds != object.List && x.Kind() != jsonwire.Array:
		if v.Elem != nil {
			v = v.Elem
		}
		return appendOne(b, v, x)
	case x.Kind() != jsonwire.Array:
		return append(appendOne(append(b, '['), v.Elem, x), ']')
	}
	b = append(b, '[')
	for i, e := range x.Elems() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOne(b, v.Elem, e)
	}
	return append(b, ']')
}

// appendOne is appendCanonical for a value that is not a list.
func appendOne(b []byte, v *object.Value, x jsonwire.Value) []byte {
	switch {
	case v.Members != nil && x.Kind() == jsonwire.Object:
		b = append(b, '{')
		for name, y := range x.Members() {
			b = appendOne(codec.AppendName(b, name), v.Members, y)
		}
		return append(b, '}')
	case v.Object != nil && x.Kind() == jsonwire.Object:
		b = append(b, '{')
		for name, y := range x.Members() {
			b = appendMember(b, v.Object, name, y)
		}
		return append(b, '}')
	case v.Enum != nil:
		if s := enumValue(v.Enum, x); s != "" {
			return jsonwire.AppendString(b, s)
		}
	case v.Kinds == object.Integer:
		n, ok := wholeNumber(x, 64)
		switch {
		case !ok:
		case v.Form == object.Int32 || x.Kind() == jsonwire.Number:
			return jsonwire.AppendInt(b, n)
		default:
			return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
		}
	case v.Kinds == object.Number && x.Kind() == jsonwire.String:
		if _, ok := decimal(x); ok {
			return append(b, x.Str()...)
		}
	}
	return append(b, x.Raw()...)
}

// appendMember appends a member of an object in canonical form. Null is the same as a missing
// member, except where any value is accepted.
func appendMember(b []byte, t *object.Type, name string, x jsonwire.Value) []byte {
	i := t.Find(name)
	switch {
	case i < 0:
		return codec.AppendMember(b, name, x.Raw())
	case x.Kind() == jsonwire.Null && t.Fields[i].Value.Kinds != object.Any:
		return b
	}
	return appendCanonical(codec.AppendName(b, t.Fields[i].Name), t.Fields[i].Value, x)
}
