package object

import (
	"slices"
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
	c.limits(x, v)
	switch {
	case k == List && v.Elem != nil:
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

// limits checks the length, the range or the choice of a value, if v accepts its kind.
func (c *Checker) limits(x jsonwire.Value, v *Value) {
	switch k := x.Kind(); {
	case k == jsonwire.String && v.Kinds&Text != 0:
		c.text(x, v)
	case k == jsonwire.Number && v.Kinds&(Integer|Number) != 0:
		if n, ok := x.Int(); ok && !v.inRange(n) {
			c.Report.Range(v, Integer, n)
		}
	case k == jsonwire.Array && v.Kinds&List != 0:
		if n := int64(x.Len()); !v.inRange(n) {
			c.Report.Range(v, List, n)
		}
	}
}

// isLimited reports whether limits may have something to report.
func (v *Value) isLimited() bool { return v != nil && (v.Min != 0 || v.Max != 0 || v.Enum != nil) }
