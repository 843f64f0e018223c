package object

import (
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Checker checks JSON values that have no Go fields.
type Checker struct {
	Path   *codec.Path // of the value that is checked
	Report Reporter
}

// A Reporter reports what is wrong with the value at the path.
type Reporter interface {
	Kind(v *Value, x jsonwire.Value)   // the kind of x is not accepted
	Range(v *Value, k Kinds, n int64)  // the length or integer n is not accepted
	Choice(v *Value, x jsonwire.Value) // a text that v.Enum does not have
	Tag(v *Value, x jsonwire.Value)    // the "type" x is missing, not a text, empty if v is nil, or not in v.Tags
	Missing(f *Field)                  // a required member is missing
	Unknown(t *Type, name string)      // the object has a name that its type does not have
}

// Check checks a value.
func (c *Checker) Check(x jsonwire.Value, v *Value) {
	if v == nil || v.Kinds == Any {
		return
	}
	k := KindOf(x)
	if k&v.Kinds == 0 {
		c.Report.Kind(v, x)
		return
	}
	switch {
	case k == Text:
		c.text(x, v)
	case k&Integer != 0:
		if n, _ := x.Int(); !v.inRange(n) {
			c.Report.Range(v, Integer, n)
		}
	case k == List:
		if n := int64(x.Len()); !v.inRange(n) {
			c.Report.Range(v, List, n)
		}
		if v.Elem == nil {
			return
		}
		for i, e := range x.Elems() {
			c.Path.PushIndex(i)
			c.Check(e, v.Elem)
			c.Path.Pop()
		}
	case k == Object:
		c.object(x, v)
	}
}

func (c *Checker) text(x jsonwire.Value, v *Value) {
	if v.Enum != nil {
		if !slices.ContainsFunc(v.Enum.Values, x.Is) { // bounded by Enum
			c.Report.Choice(v, x)
		}
		return
	}
	if v.Min == 0 && v.Max == 0 {
		return
	}
	if n := int64(utf8.RuneCountInString(x.Str())); !v.inRange(n) {
		c.Report.Range(v, Text, n)
	}
}

// inRange reports whether the value accepts a length or an integer.
func (v *Value) inRange(n int64) bool { return n >= v.Min && (v.Max == 0 || n <= v.Max) }

func (c *Checker) object(x jsonwire.Value, v *Value) {
	switch {
	case v.Members != nil:
		for name, m := range x.Members() {
			c.Path.Push(codec.Clip(name))
			c.Check(m, v.Members)
			c.Path.Pop()
		}
	case v.Tags != nil:
		t := x.Get("type")
		for i := range v.Tags {
			if t.Is(v.Tags[i].Name) {
				c.Path.Push(v.Tags[i].Name)
				c.Members(x, v.Tags[i].Type)
				c.Path.Pop()
				return
			}
		}
		c.Report.Tag(v, t)
	case v.Object != nil:
		c.Members(x, v.Object)
	}
}

// Member checks x, the value of a member.
func (c *Checker) Member(f *Field, name string, x jsonwire.Value) {
	c.Path.Push(name)
	c.Check(x, f.Value)
	c.Path.Pop()
}

// Extra checks the members of an object that is an Extra. Members that a Go field holds are
// unknown there. If their object has no Go struct, its other members are in the Extra.
func (c *Checker) Extra(x jsonwire.Value, t *Type) {
	for name, m := range x.Members() {
		switch f := t.Find(name); {
		case f == nil:
			c.Report.Unknown(t, name)
		case f.Kept():
			c.Member(f, name, m)
		case f.Value != nil && f.Value.Object != nil && !f.Value.Object.HasStruct():
			c.Path.Push(name)
			c.Extra(m, f.Value.Object)
			c.Path.Pop()
		default:
			c.Report.Unknown(t, name)
		}
	}
}

// Members checks the members of an object.
func (c *Checker) Members(x jsonwire.Value, t *Type) {
	var seen Members
	for name, m := range x.Members() {
		if f, _ := seen.Field(t, name); f != nil {
			c.Member(f, name, m)
		} else {
			c.Report.Unknown(t, name)
		}
	}
	for f := seen.Missing(t); f != nil; f = seen.Missing(t) {
		c.Report.Missing(f)
	}
}

// Struct checks the values of the Go fields of the struct at p: texts, integers and lists of
// texts. Nil and an empty optional value mean that the member is missing.
func (c *Checker) Struct(t *Type, p any) {
	b := t.table()
	for set := b.limited; set != 0; set &= set - 1 {
		f := &b.fields[bits.TrailingZeros64(set)]
		if f.fits(p) {
			continue
		}
		if doc, err := jsonwire.Parse(f.json(p), codec.UnlimitedJSON); err == nil {
			c.Member(f, f.Name, doc.Root())
			doc.Close()
		}
	}
}

// Fits reports whether Struct has nothing to report.
func (t *Type) Fits(p any) bool {
	b := t.table()
	for set := b.limited; set != 0; set &= set - 1 {
		if !b.fields[bits.TrailingZeros64(set)].fits(p) {
			return false
		}
	}
	return true
}

// isLimited reports whether fits can be false.
func (f *Field) isLimited() bool {
	v := f.Value
	switch {
	case v == nil || f.IsTag:
		return false
	case f.holds == stringField:
		return v.Kinds&^Null == Text && v.isLimited()
	case f.holds == intField, f.holds == optIntField:
		return v.isLimited()
	case f.holds == stringsField:
		return v.isLimited() || v.Elem != nil && v.Elem.isLimited()
	}
	return false
}

func (v *Value) isLimited() bool { return v.Min != 0 || v.Max != 0 || v.Enum != nil }

// fits reports whether the Go field in the struct at p has a value that the member accepts.
func (f *Field) fits(p any) bool {
	if !f.Required && !f.access.isSet(p) {
		return true
	}
	v := f.Value
	switch at := f.access.at(p).(type) {
	case *string:
		return *at == "" || v.fitsText(*at)
	case *int64:
		return v.inRange(*at)
	case **int64:
		return *at == nil || v.inRange(**at)
	case *[]string:
		if n := len(*at); n == 0 || v.Elem == nil {
			return n == 0 || v.inRange(int64(n))
		}
		// one pass
		return v.inRange(int64(len(*at))) && !slices.ContainsFunc(*at, func(s string) bool { return !v.Elem.fitsText(s) })
	}
	return true
}

func (v *Value) fitsText(s string) bool {
	if v.Enum != nil {
		return slices.Contains(v.Enum.Values, s) // bounded by Enum
	}
	return v.Min == 0 && v.Max == 0 || v.inRange(int64(utf8.RuneCountInString(s)))
}

// json returns the value of a Go field that does not fit.
func (f *Field) json(p any) string {
	switch at := f.access.at(p).(type) {
	case *string:
		return string(jsonwire.AppendString(nil, *at))
	case *int64:
		return strconv.FormatInt(*at, 10)
	case **int64:
		return strconv.FormatInt(**at, 10)
	}
	b := []byte{'['}
	for i, s := range *f.access.at(p).(*[]string) {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonwire.AppendString(b, s)
	}
	return string(append(b, ']'))
}
