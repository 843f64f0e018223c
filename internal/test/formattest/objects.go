package formattest

import (
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// A Generator makes documents from the tables of a format: valid ones, and ones with one
// wrong value.
type Generator struct {
	Style codec.Style // of paths

	// ProtoJSON makes documents of formats that are the JSON form of protocol buffers.
	// Their members have two spellings, null is a missing member, numbers may be texts and
	// enums numbers, and a list may be its only element. A required member need not be sent,
	// but is always encoded.
	ProtoJSON bool
	Aliases   bool // names are sent in their other spelling

	// Sample returns a value of a member or element that the tables do not describe, in
	// canonical form, or "". The field of an element is nil.
	Sample func(f *object.Field, v *object.Value) string

	// Needs reports whether an object with a tag must have a member that its table does not
	// require. Nil means that there are no such members.
	Needs func(f *object.Field, tag string) bool

	building []*object.Type // the objects whose members are being made
}

// required reports whether o must have a member.
func (g *Generator) required(o *Object, f *object.Field) bool {
	return f.Required && !g.ProtoJSON || g.Needs != nil && g.Needs(f, o.Tag)
}

// An Object is an object at a place of a document.
type Object struct {
	Type *object.Type
	Path []codec.Step
	Tag  string // the value of the member that is a tag, or "" if there is none
	Step string // follows Path in the paths of members, or ""
	Kept bool   // the whole object is kept as JSON text

	// BadTag is how an unknown tag is reported. Nil means that tags are not tested.
	BadTag *BadTag

	// In returns the document with the object.
	In func(JSON) JSON

	nested bool           // a member of another object
	around []*object.Type // the types of this object and those that it is in
}

// A BadTag is the report of an unknown tag.
type BadTag struct {
	Code   content.Code
	Strict bool
	AtTag  bool // the path is that of the tag, not of the object
}

// A JSON is a JSON text as it is sent, and as it is encoded: "" for an omitted value.
type JSON struct{ Sent, Canonical string }

// Document returns the In for the place of %s in a canonical document.
func Document(format string) func(JSON) JSON {
	before, after, _ := strings.Cut(format, "%s")
	return func(x JSON) JSON { return JSON{before + x.Sent + after, before + x.Canonical + after} }
}

// Path returns the steps of a path: a string is a member, an int is an element.
func Path(steps ...any) []codec.Step {
	var p []codec.Step
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = append(p, codec.Step{Name: s})
		case int:
			p = append(p, codec.Step{Index: s})
		}
	}
	return p
}

// inside returns the path of the members of o.
func (o *Object) inside() []codec.Step {
	if o.Step == "" {
		return o.Path
	}
	return extend(o.Path, codec.Step{Name: o.Step})
}

func extend(p []codec.Step, more ...codec.Step) []codec.Step {
	return append(p[:len(p):len(p)], more...)
}

func (g *Generator) path(steps []codec.Step) string {
	p := codec.Path{Style: g.Style}
	for _, s := range steps {
		switch {
		case s.Name == "":
			p.PushIndex(s.Index)
		case s.Index < 0:
			p.PushKey(s.Name)
		default:
			p.Push(s.Name)
		}
	}
	return p.At()
}

// A Sample is a valid document.
type Sample struct {
	Name string
	JSON
}

// A Wrong is a document with one violation.
type Wrong struct {
	Name   string
	Sent   string
	Base   string // the same document with a valid value
	Path   string
	Code   content.Code
	Strict bool // only strict validation reports it
	Kept   bool // the request has the value
}

// A member is a member of an object.
type member struct {
	f    *object.Field // nil: unknown
	name string
	JSON
}

// Objects yields an object and all objects in its members, as far as the tables describe them.
func (g *Generator) Objects(o Object) iter.Seq[Object] {
	return func(yield func(Object) bool) { g.objects(o, yield) }
}

func (g *Generator) objects(o Object, yield func(Object) bool) bool {
	if !yield(o) {
		return false
	}
	for i := range o.Type.Fields() {
		f := &o.Type.Fields()[i]
		if f.Value == nil || f.IsTag || g.sample(f, f.Value) != "" {
			continue
		}
		child := Object{
			Path:   extend(o.inside(), g.step(f)),
			Kept:   o.Kept || !f.Typed(),
			around: o.around,
			In:     func(x JSON) JSON { return o.In(g.with(&o, f, x)) },
			nested: true,
		}
		if !g.values(child, f.Value, yield) {
			return false
		}
	}
	return true
}

// values yields the objects in a value. All but their types are those of o.
func (g *Generator) values(o Object, v *object.Value, yield func(Object) bool) bool {
	in := o.In
	switch {
	case v == nil || g.sample(nil, v) != "":
	case v.Object != nil:
		o.Type = v.Object
		if o.isNestedIn(v.Object, 2) { // a schema has schemas
			return true
		}
		o.around = append(slices.Clip(o.around), v.Object)
		tags := tagsOf(v.Object)
		if tags == nil {
			return g.objects(o, yield)
		}
		o.BadTag = &BadTag{Code: content.CodeValue, AtTag: !v.Tagged}
		for _, tag := range tags {
			if o.Tag = tag; v.Tagged {
				o.Step = tag
			}
			if !g.objects(o, yield) {
				return false
			}
		}
	case v.Tags != nil:
		o.BadTag = &BadTag{Code: content.CodeValue}
		for _, tag := range v.Tags {
			o.Type, o.Tag, o.Step = tag.Type, tag.Name, tag.Name
			if !g.objects(o, yield) {
				return false
			}
		}
	case v.Members != nil:
		o.Path = extend(o.Path, g.keySteps()...)
		o.In = func(x JSON) JSON { return in(JSON{`{"key":` + x.Sent + `}`, `{"key":` + x.Canonical + `}`}) }
		return g.values(o, v.Members, yield)
	case v.Elem != nil:
		// The second element, so that its index is not the zero one.
		first := g.first(nil, v.Elem)
		o.Path = extend(o.Path, codec.Step{Index: 1})
		o.In = func(x JSON) JSON {
			return in(JSON{`[` + first.Sent + `,` + x.Sent + `]`, `[` + first.Canonical + `,` + x.Canonical + `]`})
		}
		return g.values(o, v.Elem, yield)
	}
	return true
}

// tagsOf returns the known values of the tag of a type if a Go field holds it.
func tagsOf(t *object.Type) []string {
	for i := range t.Fields() {
		if f := &t.Fields()[i]; f.IsTag && f.Typed() {
			return f.Value.Enum.Values
		}
	}
	return nil
}

// Samples yields valid documents: the object with all members, with the required ones, with
// unknown ones, and with each value and the other spelling of each one beside the required
// ones.
func (g *Generator) Samples(o Object) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		send := func(name string, list []member) bool {
			return yield(Sample{name, o.In(g.build(&o, list))})
		}
		all, needed := g.members(&o, true), g.members(&o, false)
		unknown := member{name: "x_first", JSON: JSON{`{"b":[1.50,"\u00e9"],"a":null}`, `{"b":[1.50,"\u00e9"],"a":null}`}}
		around := []member{unknown}
		for i, m := range all {
			if around = append(around, m); i == len(all)/2 {
				unknown.name = "x_middle"
				around = append(around, unknown)
			}
		}
		unknown.name = "x_last"
		around = append(around, unknown)
		if !send("all members", all) || !send("required members", needed) ||
			!o.Type.Lenient && !send("unknown members", around) {
			return
		}
		for i := range o.Type.Fields() {
			f := &o.Type.Fields()[i]
			if f.IsTag {
				continue
			}
			for _, x := range g.accepted(f, f.Value) {
				if g.required(&o, f) && (encoded(f, x.Canonical) == "" || g.ProtoJSON && x.Canonical == "") {
					continue
				}
				if !send(f.Name+"="+clip(x.Sent), g.replace(needed, f, x)) {
					return
				}
			}
			if f.Alias != "" && !send(f.Alias, append(without(needed, f), member{f, f.Alias, g.first(f, f.Value)})) {
				return
			}
		}
	}
}

func clip(s string) string { return s[:min(len(s), 40)] }

// Wrongs yields documents with one wrong value in the object.
func (g *Generator) Wrongs(o Object) iter.Seq[Wrong] {
	return func(yield func(Wrong) bool) {
		needed := g.members(&o, false)
		base := o.In(g.build(&o, needed)).Sent
		kept := o.Kept
		send := func(name, base string, list []member, path []codec.Step, code content.Code, strict bool) bool {
			return yield(Wrong{name, o.In(g.build(&o, list)).Sent, base, g.path(path), code, strict, kept})
		}
		inside := o.inside()
		for i := range o.Type.Fields() {
			f := &o.Type.Fields()[i]
			at := extend(inside, g.step(f))
			other := strings.ToUpper(f.Name)
			kept = true
			if !send(f.Name+" in other case", base, append(needed[:len(needed):len(needed)], member{name: other, JSON: JSON{"1", "1"}}),
				g.unknownAt(inside, other), content.CodeUnknown, false) {
				return
			}
			if f.IsTag {
				kept = o.Kept && o.nested
				if o.BadTag != nil && !g.tags(&o, f, base, needed, send) {
					return
				}
				continue
			}
			kept = o.Kept
			if g.required(&o, f) && !g.ProtoJSON && !send(f.Name+" missing", base, without(needed, f), at, content.CodeMissing, false) {
				return
			}
			one := g.replace(needed, f, g.first(f, f.Value))
			right := o.In(g.build(&o, one)).Sent
			kept = false // the second spelling is not read
			if g.ProtoJSON && f.Alias != f.Name && !send(f.Name+" in both spellings", right, append(one, member{f, f.Alias, g.first(f, f.Value)}),
				inside, content.CodeUnknown, false) {
				return
			}
			for _, w := range g.wrong(f, f.Value) {
				kept = o.Kept || f.Kept() ||
					f.Const == "" && w.code != content.CodeType && !slices.Contains(unrepresentable, w.json)
				where := extend(at, w.steps...)
				if w.outer {
					where = inside
				}
				if !send(f.Name+"="+clip(w.json), right, g.replace(needed, f, JSON{w.json, w.json}), where, w.code, w.strict) {
					return
				}
			}
		}
		if kept = true; !o.Type.Lenient {
			send("unknown name", base, append(needed[:len(needed):len(needed)], member{name: "x_unknown", JSON: JSON{"1", "1"}}),
				g.unknownAt(inside, "x_unknown"), content.CodeUnknown, true)
		}
	}
}

// tags sends the object with wrong tags.
func (g *Generator) tags(o *Object, f *object.Field, base string, needed []member,
	send func(name, base string, list []member, path []codec.Step, code content.Code, strict bool) bool) bool {
	at := extend(o.Path, codec.Step{Name: f.Name})
	bad := o.Path
	if o.BadTag.AtTag {
		bad = at
	}
	text := JSON{`"no_such_tag"`, ""}
	return send("no tag", base, without(needed, f), at, content.CodeMissing, false) &&
		send("tag 4", base, g.replace(needed, f, JSON{"4", ""}), at, content.CodeType, false) &&
		send("tag null", base, g.replace(needed, f, JSON{"null", ""}), at, content.CodeType, false) &&
		send("unknown tag", base, g.replace(needed, f, text), bad, o.BadTag.Code, o.BadTag.Strict)
}

func without(list []member, f *object.Field) []member {
	var kept []member
	for _, m := range list {
		if m.f != f {
			kept = append(kept, m)
		}
	}
	return kept
}

// replace returns list with another value for f.
func (g *Generator) replace(list []member, f *object.Field, x JSON) []member {
	return append(without(list, f), member{f, f.Name, x})
}

// GoField returns the name of the Go field that holds a member, or "" if no single field does.
func GoField(t *object.Type, f *object.Field) string {
	p := t.Create()
	at, s := reflect.ValueOf(f.At(p)), reflect.ValueOf(p).Elem()
	for i := range s.NumField() {
		if a := s.Field(i).Addr(); a.Type() == at.Type() && a.Pointer() == at.Pointer() {
			return s.Type().Field(i).Name
		}
	}
	return ""
}

// with returns the object with its required members and one more.
func (g *Generator) with(o *Object, f *object.Field, x JSON) JSON {
	return g.build(o, g.replace(g.members(o, false), f, x))
}

// members returns the members of an object: all, or the required ones. They are in the reverse
// order of the table, so that the tag is the last one.
func (g *Generator) members(o *Object, all bool) []member {
	var list []member
	for i := len(o.Type.Fields()) - 1; i >= 0; i-- {
		f := &o.Type.Fields()[i]
		switch {
		case g.ProtoJSON:
			if g.required(o, f) || all && !f.IsTag && !sharesGoField(o.Type, i) {
				list = append(list, member{f, f.Name, g.first(f, f.Value)})
			}
		case f.IsTag && o.Tag != "":
			tag := strconv.Quote(o.Tag)
			list = append(list, member{f, f.Name, JSON{tag, tag}})
		case !f.IsTag && (all || g.required(o, f)):
			list = append(list, member{f, f.Name, g.first(f, f.Value)})
		}
	}
	return list
}

// build returns an object with the given members. Its canonical form begins with the members
// that Go fields hold, in the order of the table.
func (g *Generator) build(o *Object, list []member) JSON {
	if g.ProtoJSON {
		return g.buildProtoJSON(o, list)
	}
	var sent, canonical []string
	for _, m := range list {
		sent = append(sent, strconv.Quote(m.name)+":"+m.Sent)
	}
	text := "{" + strings.Join(sent, ",") + "}"
	if o.Kept {
		return JSON{text, text}
	}
	for i := range o.Type.Fields() {
		f := &o.Type.Fields()[i]
		if f.Kept() {
			continue
		}
		value := ""
		for _, m := range list {
			if m.f == f {
				value = encoded(f, m.Canonical)
				if value == "" && m.Canonical == "false" && isOptional(o.Type, f) {
					value = "false"
				}
			}
		}
		if value == "" && f.WriteNull {
			value = "null"
		}
		if value != "" {
			canonical = append(canonical, strconv.Quote(f.Name)+":"+value)
		}
	}
	for _, m := range list {
		if m.f == nil || m.f.Kept() && keeps(m.f, m.Sent) {
			canonical = append(canonical, strconv.Quote(m.name)+":"+m.Sent)
		}
	}
	return JSON{text, "{" + strings.Join(canonical, ",") + "}"}
}

// isOptional reports whether the Go field of a flag can be nil.
func isOptional(t *object.Type, f *object.Field) bool {
	if !t.HasStruct() {
		return false
	}
	_, ok := f.At(t.Create()).(**bool)
	return ok
}

// encoded returns the canonical form of the value of a Go field, or "" if it is omitted.
func encoded(f *object.Field, value string) string {
	switch {
	case value == "null", value == "false" && f.Typed():
		return ""
	case f.Required:
		return value
	case value == `""`, value == "[]":
		return ""
	case value == "{}" && f.Typed() && f.Value.Object != nil:
		return ""
	}
	return value
}

// keeps is f.Keeps for JSON text.
func keeps(f *object.Field, text string) bool {
	doc, err := jsonwire.Parse(text, codec.UnlimitedJSON)
	if err != nil {
		panic(err)
	}
	defer doc.Close()
	return f.Keeps(doc.Root())
}

func (g *Generator) sample(f *object.Field, v *object.Value) string {
	if g.Sample == nil || v == nil {
		return ""
	}
	return g.Sample(f, v)
}

// first returns a value of a member that is not the default.
func (g *Generator) first(f *object.Field, v *object.Value) JSON {
	list := g.accepted(f, v)
	for _, x := range list {
		if f == nil || !f.Kept() || keeps(f, x.Sent) {
			return x
		}
	}
	return list[0]
}

// accepted returns values that a member accepts: one of each kind, all texts of an enum and
// all types of a union. The first one is not the default if Go fields hold it.
func (g *Generator) accepted(f *object.Field, v *object.Value) []JSON {
	if g.ProtoJSON {
		return g.acceptedProtoJSON(f, v)
	}
	var list []JSON
	add := func(texts ...string) {
		for _, s := range texts {
			list = append(list, JSON{s, s})
		}
	}
	if s := g.sample(f, v); s != "" {
		add(s)
		if v.Kinds&object.Null != 0 {
			add("null")
		}
		return list
	}
	if v == nil || v.Kinds == object.Any {
		add(`[{"any":null}]`)
		return list
	}
	typed := f != nil && f.Typed()
	if v.Kinds&object.Object != 0 {
		list = append(list, g.acceptedObjects(f, v)...)
	}
	if v.Kinds&object.List != 0 {
		for _, x := range g.acceptedElems(v) {
			n := int(max(v.Min, 1))
			list = append(list, JSON{"[" + strings.Repeat(x.Sent+",", n-1) + x.Sent + "]", "[" + strings.Repeat(x.Canonical+",", n-1) + x.Canonical + "]"})
		}
		if v.Min == 0 {
			add("[]")
		}
	}
	if v.Kinds&object.Text != 0 && !(typed && v.Kinds&^(object.Text|object.Null) != 0) {
		if v.Enum != nil {
			for _, s := range v.Enum.Values {
				add(strconv.Quote(s))
			}
		} else {
			add(strconv.Quote(textFor(f, v)))
			if v.Min == 0 && typed && f.Default == "" {
				add(`""`)
			}
		}
	}
	if v.Kinds&object.Integer != 0 {
		n := v.Min + indexOf(f)
		if v.Max != 0 {
			n = v.Min + indexOf(f)%(v.Max-v.Min+1)
		}
		add(strconv.FormatInt(n, 10))
		if v.Max != 0 {
			add(strconv.FormatInt(v.Max, 10))
		}
		if v.Min != 0 {
			add(strconv.FormatInt(v.Min, 10))
		}
	}
	if v.Kinds&object.Number != 0 {
		add("0." + strconv.FormatInt(10*indexOf(f)+5, 10))
	}
	if v.Kinds&object.Flag != 0 {
		add("true", "false")
	}
	if v.Kinds&object.Null != 0 {
		add("null")
	}
	return list
}

// acceptedElems returns a value of each kind of element.
func (g *Generator) acceptedElems(v *object.Value) []JSON {
	if v.Elem == nil {
		return []JSON{{`{"any":null}`, `{"any":null}`}}
	}
	return g.accepted(nil, v.Elem)
}

// acceptedObjects returns an object of each type with all members.
func (g *Generator) acceptedObjects(f *object.Field, v *object.Value) []JSON {
	o := Object{Kept: f == nil || !f.Typed(), In: func(x JSON) JSON { return x }}
	var list []JSON
	switch {
	case v.Schema:
		const schema = `{"type":"object","additionalProperties":false}`
		return []JSON{{schema, schema}}
	case v.Members != nil:
		x := g.first(nil, v.Members)
		return []JSON{{`{"key":` + x.Sent + `}`, `{"key":` + x.Canonical + `}`}}
	case v.Object != nil || v.Tags != nil:
		g.variants(o, v, func(o Object) { list = append(list, g.build(&o, g.members(&o, true))) })
		return list
	}
	text := `{"any_` + strconv.FormatInt(indexOf(f), 10) + `":[]}`
	return []JSON{{text, text}}
}

// variants calls yield for the types of objects that a value accepts.
func (g *Generator) variants(o Object, v *object.Value, yield func(Object)) {
	for _, tag := range v.Tags {
		o.Type, o.Tag = tag.Type, tag.Name
		yield(o)
	}
	if v.Object == nil {
		return
	}
	o.Type = v.Object
	tags := tagsOf(v.Object)
	if tags == nil {
		yield(o)
	}
	for _, tag := range tags {
		o.Tag = tag
		yield(o)
	}
}

// indexOf returns a number that differs for the fields of different names.
func indexOf(f *object.Field) int64 {
	if f == nil {
		return 1
	}
	n := int64(1)
	for i := range len(f.Name) {
		n = (n*31 + int64(f.Name[i])) % 997
	}
	return n + 1
}

// textFor returns a text of a valid length that is different for each field.
func textFor(f *object.Field, v *object.Value) string {
	s := "element"
	if f != nil {
		s = "a " + f.Name
	}
	for int64(len(s)) < v.Min {
		s += "."
	}
	if v.Max != 0 {
		s = s[:min(int64(len(s)), v.Max)]
	}
	return s
}

// A wrongValue is a value with one violation.
type wrongValue struct {
	json   string
	steps  []codec.Step // to the violation
	code   content.Code
	strict bool
	outer  bool // the report is at the object that has the member
}

// unrepresentable are values of the right kind that a Go field does not hold.
var unrepresentable = []string{`""`, "[]", "1e999"}

// kindSamples has a value of each kind.
var kindSamples = []struct {
	kinds object.Kinds
	json  string
}{
	{object.Null, "null"}, {object.Flag, "true"}, {object.Number, "1.5"}, {object.Integer | object.Number, "7"},
	{object.Number, "9223372036854775808"}, {object.Text, `"x"`}, {object.List, "[]"}, {object.Object, "{}"},
}

// wrong returns values that a member must not have.
func (g *Generator) wrong(f *object.Field, v *object.Value) []wrongValue {
	if g.ProtoJSON {
		return g.wrongProtoJSON(f, v)
	}
	if v == nil || v.Kinds == object.Any {
		return nil
	}
	var list []wrongValue
	add := func(json string, code content.Code, strict bool) {
		list = append(list, wrongValue{json: json, code: code, strict: strict})
	}
	for _, k := range kindSamples {
		if k.kinds&v.Kinds == 0 {
			add(k.json, content.CodeType, false)
		}
	}
	typed := f != nil && f.Typed()
	if v.Kinds&object.Text != 0 && v.Enum != nil {
		add(`"no such value"`, content.CodeValue, !v.Enum.Closed)
		add(`""`, content.CodeValue, !v.Enum.Closed && !typed)
	} else if v.Kinds&object.Text != 0 {
		if v.Min > 0 {
			add(strconv.Quote(strings.Repeat("é", int(v.Min-1))), content.CodeRange, false)
		}
		if v.Max > 0 {
			add(strconv.Quote(strings.Repeat("é", int(v.Max+1))), content.CodeRange, false)
		}
	}
	if v.Kinds&object.Integer != 0 {
		if v.Min != 0 {
			add(strconv.FormatInt(v.Min-1, 10), content.CodeRange, false)
		}
		if v.Max != 0 {
			add(strconv.FormatInt(v.Max+1, 10), content.CodeRange, false)
		}
	}
	if v.Kinds&(object.Integer|object.Number) == object.Number && typed {
		add("1e999", content.CodeRange, false)
	}
	if v.Kinds&object.List != 0 && g.sample(f, v) == "" {
		list = append(list, g.wrongElems(v)...)
	}
	if v.Kinds&object.Object != 0 && v.Members != nil {
		for _, w := range g.wrong(nil, v.Members) {
			w.json, w.steps = `{"key":`+w.json+`}`, extend([]codec.Step{{Name: "key"}}, w.steps...)
			list = append(list, w)
		}
	}
	return list
}

// wrongElems returns lists of a wrong length or with a wrong element.
func (g *Generator) wrongElems(v *object.Value) []wrongValue {
	var list []wrongValue
	right := g.acceptedElems(v)[0].Sent
	if v.Min > 0 {
		list = append(list, wrongValue{json: "[" + strings.TrimSuffix(strings.Repeat(right+",", int(v.Min-1)), ",") + "]", code: content.CodeRange})
	}
	if v.Max > 0 {
		list = append(list, wrongValue{json: "[" + strings.Repeat(right+",", int(v.Max)) + right + "]", code: content.CodeLimit})
	}
	for _, w := range g.wrong(nil, v.Elem) {
		w.json, w.steps = "["+right+","+w.json+"]", extend([]codec.Step{{Index: 1}}, w.steps...)
		list = append(list, w)
	}
	return list
}
