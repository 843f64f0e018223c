package messages

import (
	"slices"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A shape says what a value that stays JSON text has to look like. Tables of
// shapes stand for the parts of the format that have no Go types.
type shape struct {
	kinds    kinds
	min, max int64    // length of a text or list, value of a number; max 0: no bound
	enum     []string // known values of a text; without closed, only Strict refuses others
	closed   bool     // refuse other values even without Strict
	elem     *shape   // of a list
	values   *shape   // of an object with any names
	fields   []field  // of an object; nil: any
	tags     []variant
}

// A field is a member of an object.
type field struct {
	name string
	must bool
	is   *shape // nil: any value
}

// A variant is what an object holds besides "type" if that is tag.
type variant struct {
	tag    string
	fields []field
}

type kinds uint8

const (
	textKind kinds = 1 << iota
	integerKind
	flagKind
	listKind
	objectKind
	nullKind
)

// kindsOf returns the kinds that v may pass as.
func kindsOf(v jsonwire.Value) kinds {
	switch v.Kind() {
	case jsonwire.String:
		return textKind
	case jsonwire.Number:
		if _, ok := v.Int(); ok {
			return integerKind
		}
	case jsonwire.True, jsonwire.False:
		return flagKind
	case jsonwire.Array:
		return listKind
	case jsonwire.Object:
		return objectKind
	case jsonwire.Null:
		return nullKind
	}
	return 0
}

// text says what was expected in place of a value of another kind.
func (k kinds) text() string {
	switch {
	case k&textKind != 0 && k&objectKind != 0:
		return "Input should be a valid string or an object"
	case k&textKind != 0 && k&listKind != 0:
		return "Input should be a valid string or list"
	case k&textKind != 0:
		return textString
	case k&integerKind != 0:
		return textInteger
	case k&flagKind != 0:
		return textBoolean
	case k&listKind != 0:
		return textList
	}
	return textObject
}

// judge checks the value that the path is at.
func (v *validator) judge(x jsonwire.Value, s *shape) {
	k := kindsOf(x)
	if k&s.kinds == 0 {
		v.violation(content.CodeType, s.kinds.text())
		return
	}
	switch k {
	case textKind:
		v.judgeText(x, s)
	case integerKind:
		n, _ := x.Int()
		if n < s.min {
			v.violation(content.CodeRange, textAtLeast(s.min))
		} else if s.max != 0 && n > s.max {
			v.violation(content.CodeRange, textUpTo(s.max))
		}
	case listKind:
		if n := int64(x.Len()); s.max != 0 && n > s.max {
			v.violation(content.CodeLimit, textItems(int(s.max), int(n)))
		} else if n < s.min {
			v.violation(content.CodeRange, "List should have at least "+counted(int(s.min), "item"))
		}
		if s.elem == nil {
			return
		}
		for i, e := range x.Elems() {
			v.path.PushIndex(i)
			v.judge(e, s.elem)
			v.path.Pop()
		}
	case objectKind:
		v.judgeObject(x, s)
	}
}

func (v *validator) judgeText(x jsonwire.Value, s *shape) {
	if s.enum != nil {
		if (s.closed || v.opts.Strict) && !slices.ContainsFunc(s.enum, x.Is) {
			v.violation(content.CodeValue, textOneOf(s.enum))
		}
		return
	}
	if s.min == 0 && s.max == 0 {
		return
	}
	n := int64(utf8.RuneCountInString(x.Str()))
	if n < s.min {
		v.violation(content.CodeRange, textNotEmpty)
	} else if s.max != 0 && n > s.max {
		v.violation(content.CodeRange, textAtMost(int(s.max), "character"))
	}
}

func (v *validator) judgeObject(x jsonwire.Value, s *shape) {
	switch {
	case s.values != nil:
		for name, m := range x.Members() {
			v.path.Push(codec.Clip(name))
			v.judge(m, s.values)
			v.path.Pop()
		}
	case s.tags != nil:
		v.judgeTagged(x, s.tags)
	case s.fields != nil:
		v.judgeFields(x, s.fields, false)
	}
}

// judgeTagged checks an object that is one of several, as its "type" tells.
func (v *validator) judgeTagged(x jsonwire.Value, tags []variant) {
	t := x.Get("type")
	if t.Kind() != jsonwire.String {
		if t.Exists() {
			v.violation(content.CodeType, textString, "type")
		} else {
			v.violation(content.CodeMissing, textRequired, "type")
		}
		return
	}
	for i := range tags {
		if t.Is(tags[i].tag) {
			v.path.Push(tags[i].tag)
			v.judgeFields(x, tags[i].fields, true)
			v.path.Pop()
			return
		}
	}
	names := make([]string, len(tags))
	for i := range tags {
		names[i] = tags[i].tag
	}
	v.violation(content.CodeValue, quoteTag(t.Str(), quoteTags(names)))
}

// judgeFields checks the members of an object. tagged says that it has a
// "type", which has been looked at.
func (v *validator) judgeFields(x jsonwire.Value, fields []field, tagged bool) {
	var seen uint64 // no object has more than 64 fields
	for name, m := range x.Members() {
		if tagged && name == "type" {
			continue
		}
		seen |= 1 << v.member(name, m, fields) >> 1
	}
	for i := range fields {
		if f := &fields[i]; f.must && seen>>i&1 == 0 {
			v.violation(content.CodeMissing, textRequired, f.name)
		}
	}
}

// member checks one member by the field of its name, and returns which it is,
// counted from 1. One that has none is refused by strict rules only.
func (v *validator) member(name string, x jsonwire.Value, fields []field) int {
	for i := range fields {
		if fields[i].name == name {
			if is := fields[i].is; is != nil {
				v.path.Push(name)
				v.judge(x, is)
				v.path.Pop()
			}
			return i + 1
		}
	}
	if v.opts.Strict {
		v.violation(content.CodeUnknown, textExtra, codec.Clip(name))
	}
	return 0
}

// open parses JSON text. A request that was parsed has had it checked.
func (v *validator) open(text string, names ...string) *jsonwire.Doc {
	lim := jsonwire.Limits{}
	if !v.made {
		lim = codec.UnlimitedJSON
		lim.AllowDuplicateNames = true
	}
	if v.doc == nil || v.doc.Root().Exists() { // none, or still in use
		v.doc = new(jsonwire.Doc)
	}
	doc := v.doc
	if err := doc.Parse(text, lim); err != nil {
		v.violation(content.CodeSyntax, "must be JSON: "+err.Error(), names...)
		return nil
	}
	return doc
}

// judgeRaw checks JSON text; empty text is nothing.
func (v *validator) judgeRaw(text string, s *shape, name string) {
	if text == "" {
		return
	}
	v.path.Push(name)
	defer v.path.Pop()
	if doc := v.open(text); doc != nil {
		v.judge(doc.Root(), s)
		doc.Close()
	}
}

// object reports whether free JSON is an object, and a fault if not.
func (v *validator) object(text string, names ...string) bool {
	if !v.isJSON(text, names...) {
		return false
	}
	if !jsonwire.IsObject(text) {
		v.violation(content.CodeType, textFree, names...)
		return false
	}
	return true
}

// isJSON reports whether text is JSON, and a fault if not. That of a request
// that was parsed has been checked.
func (v *validator) isJSON(text string, names ...string) bool {
	if v.made {
		doc := v.open(text, names...)
		doc.Close()
		return doc != nil
	}
	return true
}

// directCaller is the Extra that clients echo most.
const directCaller = `{"caller":{"type":"direct"}}`

// extra checks the members that have no Go field.
func (v *validator) extra(e *content.Extra, fields []field) {
	if e == nil || e.Format != Format && e.Format != "" || e.JSON == directCaller && fields != nil {
		return
	}
	if fields == nil && !v.made && !v.opts.Strict {
		return // nothing is known of them, and everything is let pass
	}
	doc := v.open(e.JSON)
	if doc == nil {
		return
	}
	defer doc.Close()
	if doc.Root().Kind() != jsonwire.Object {
		v.violation(content.CodeType, textObject)
		return
	}
	for name, m := range doc.Root().Members() {
		v.member(name, m, fields)
	}
}

// extraAt is extra for a node below the path.
func (v *validator) extraAt(e *content.Extra, fields []field, name string) {
	if e == nil {
		return
	}
	v.path.Push(name)
	v.extra(e, fields)
	v.path.Pop()
}
