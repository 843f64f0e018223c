package formattest

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/object"
)

// step returns the step of a member in the paths of violations.
func (g *Generator) step(f *object.Field) codec.Step {
	if g.ProtoJSON {
		return codec.Step{Name: f.Alias}
	}
	return codec.Step{Name: f.Name}
}

// keySteps returns the steps to the value of the member "key" of an object with arbitrary
// names.
func (g *Generator) keySteps() []codec.Step {
	if g.ProtoJSON {
		return []codec.Step{{Index: 0}, {Name: "value"}}
	}
	return []codec.Step{{Name: "key"}}
}

// unknownAt returns the path of the report of an unknown name.
func (g *Generator) unknownAt(inside []codec.Step, name string) []codec.Step {
	if g.ProtoJSON {
		return inside
	}
	return extend(inside, codec.Step{Name: name})
}

// isNestedIn reports whether o is in n objects of a type.
func (o *Object) isNestedIn(t *object.Type, n int) bool {
	for _, a := range o.around {
		if a == t {
			n--
		}
	}
	return n <= 0
}

// goField returns the address of the Go field of a member in p, or 0 if there is none.
func goField(f *object.Field, p any) uintptr {
	if !f.Typed() || f.IsTag {
		return 0
	}
	return reflect.ValueOf(f.At(p)).Pointer()
}

// sharesGoField reports whether a member before the i-th sets the same Go field. An object has
// only one of them.
func sharesGoField(t *object.Type, i int) bool {
	if !t.HasStruct() {
		return false
	}
	p := t.Create()
	at := goField(&t.Fields()[i], p)
	for j := range i {
		// The first Go field has the address of the struct.
		a, b := &t.Fields()[j], &t.Fields()[i]
		if at != 0 && goField(a, p) == at && reflect.TypeOf(a.At(p)) == reflect.TypeOf(b.At(p)) {
			return true
		}
	}
	return false
}

// buildProtoJSON is build for ProtoJSON. A member without a Go field keeps its place among the
// others, but is written in canonical form. If Aliases is set, all names are sent in the other
// spelling than that of list.
func (g *Generator) buildProtoJSON(o *Object, list []member) JSON {
	var sent, canonical []string
	for _, m := range list {
		name := m.name
		switch {
		case !g.Aliases || m.f == nil:
		case name == m.f.Name:
			name = m.f.Alias
		default:
			name = m.f.Name
		}
		sent = append(sent, strconv.Quote(name)+":"+m.Sent)
	}
	kept := o.Kept || !o.Type.HasStruct()
	write := func(name, value string) {
		if value != "" {
			canonical = append(canonical, strconv.Quote(name)+":"+value)
		}
	}
	for i := range o.Type.Fields() {
		if f := &o.Type.Fields()[i]; !kept && !f.Kept() && !f.ReadOnly {
			write(f.Name, encodedProtoJSON(o.Type, f, list))
		}
	}
	for _, m := range list {
		switch {
		case m.f == nil:
			write(m.name, m.Sent)
		case kept || m.f.Kept():
			write(m.f.Name, m.Canonical)
		}
	}
	return JSON{"{" + strings.Join(sent, ",") + "}", "{" + strings.Join(canonical, ",") + "}"}
}

// encodedProtoJSON returns the canonical form of a member that a Go field holds, or "" if it
// is omitted.
func encodedProtoJSON(t *object.Type, f *object.Field, list []member) string {
	p := t.Create()
	value := ""
	for _, m := range list {
		if m.f == f || m.f != nil && m.f.ReadOnly && goField(m.f, p) == goField(f, p) {
			value = m.Canonical
		}
	}
	if !f.Typed() || f.IsTag {
		return value
	}
	if reflect.ValueOf(f.At(p)).IsNil() {
		return "" // the member is read and ignored
	}
	_, text := f.At(p).(*string)
	switch {
	case f.Required && value == "":
		return `""`
	case f.Required:
		return value
	case value == `""`, value == "[]" && !text, value == "false" && !isOptional(t, f):
		return ""
	}
	if e := f.Value.Enum; e != nil && e.Numbers > 0 && value == strconv.Quote(e.Values[0]) {
		return ""
	}
	return value
}

// acceptedProtoJSON is accepted for ProtoJSON.
func (g *Generator) acceptedProtoJSON(f *object.Field, v *object.Value) []JSON {
	var list []JSON
	add := func(sent, canonical string) { list = append(list, JSON{sent, canonical}) }
	typed := f != nil && f.Typed()
	s := g.sample(f, v)
	switch {
	case s != "":
		add(s, s)
	case v.Kinds == object.Any:
		add(`[{"any":null}]`, `[{"any":null}]`)
		if f != nil && !typed {
			add("null", "null")
		}
	case v.Elem != nil:
		for _, x := range g.acceptedElems(v) {
			add("["+x.Sent+"]", "["+x.Canonical+"]")
			if v.Kinds == object.List {
				add(x.Sent, "["+x.Canonical+"]")
			} else {
				add(x.Sent, x.Canonical)
			}
		}
		add("[]", "[]")
	case v.Members != nil:
		x := g.first(nil, v.Members)
		add(`{"key":`+x.Sent+`}`, `{"key":`+x.Canonical+`}`)
	case v.Enum != nil:
		for i, s := range slices.Backward(v.Enum.Values) { // the first one is not set
			s = strconv.Quote(s)
			add(s, s)
			add(strings.ToLower(s), s)
			add(strings.ToUpper(s), s)
			if i < v.Enum.Numbers {
				add(strconv.Itoa(i), s)
			}
		}
	case v.Object != nil:
		if !slices.Contains(g.building, v.Object) {
			g.building = append(g.building, v.Object)
			o := Object{Type: v.Object, Kept: f != nil && !typed}
			list = append(list, g.build(&o, g.members(&o, true)))
			g.building = g.building[:len(g.building)-1]
		}
		o := Object{Type: v.Object, Kept: f != nil && !typed}
		list = append(list, g.build(&o, nil))
	case v.Kinds == object.Object:
		text := `{"any_` + strconv.FormatInt(indexOf(f), 10) + `":[]}`
		add(text, text)
	default:
		list = append(list, acceptedScalars(f, v)...)
	}
	if f != nil && (v.Kinds != object.Any || typed) {
		add("null", "")
	}
	return list
}

// acceptedScalars returns texts, numbers and flags in all forms that a member accepts.
func acceptedScalars(f *object.Field, v *object.Value) []JSON {
	n := strconv.FormatInt(indexOf(f), 10)
	typed := f != nil && f.Typed()
	var list []JSON
	add := func(sent, canonical string) { list = append(list, JSON{sent, canonical}) }
	switch {
	case v.Form == object.Base64:
		const standard, other = `"+/+/Zg=="`, `"-_-_Zg"`
		add(standard, standard)
		if typed && f.Required { // the data of a file
			add(other, standard)
		} else {
			add(other, other)
		}
		add(`""`, `""`)
	case v.Form == object.Timestamp:
		add(`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05Z"`)
	case v.Kinds == object.Text:
		text := strconv.Quote(textFor(f, v))
		add(text, text)
		add(`""`, `""`)
	case v.Kinds == object.Integer:
		add(n, n)
		add(n+".0", n)
		if v.Form == object.Int32 {
			add(strconv.Quote(n), n)
			add(strconv.Quote(n+".0"), n)
		} else {
			add(strconv.Quote(n), strconv.Quote(n))
			add(strconv.Quote(n+".0"), strconv.Quote(n))
		}
	case v.Kinds == object.Number:
		add("0."+n+"5", "0."+n+"5")
		add(`"0.`+n+`5"`, "0."+n+"5")
	case v.Kinds == object.Flag:
		add("true", "true")
		add("false", "false")
	}
	return list
}

// wrongProtoJSON is wrong for ProtoJSON.
func (g *Generator) wrongProtoJSON(f *object.Field, v *object.Value) []wrongValue {
	var list []wrongValue
	add := func(w wrongValue, before, after string, steps ...codec.Step) {
		w.json, w.steps = before+w.json+after, extend(steps, w.steps...)
		list = append(list, w)
	}
	switch {
	case v.Kinds == object.Any:
		return nil
	case v.Elem != nil:
		right := g.first(nil, v.Elem).Sent
		for _, w := range g.wrong(nil, v.Elem) {
			add(w, "["+right+",", "]", codec.Step{Index: 1})
			if w.json != "null" && w.json != "[]" {
				add(w, "", "", codec.Step{Index: 0})
			}
		}
		return list
	}
	for _, k := range kindSamples {
		ok := k.kinds&v.Kinds != 0
		switch {
		case k.json == "null":
			ok = f != nil
		case k.kinds == object.Text && v.Form == object.Base64:
			ok = false
		case k.kinds == object.Text && v.Enum != nil:
			ok = true
		case k.json == "7" && v.Enum != nil:
			ok = v.Enum.Numbers > 7
		case v.Kinds == object.Integer && k.json != "7":
			ok = false
		}
		if !ok {
			list = append(list, wrongValue{json: k.json, code: content.CodeType, outer: f != nil && k.kinds == object.List})
		}
	}
	wrong := func(strict bool, texts ...string) {
		for _, s := range texts {
			list = append(list, wrongValue{json: s, code: content.CodeType, strict: strict})
		}
	}
	switch {
	case v.Enum != nil:
		if v.Enum.Closed || f == nil || f.Typed() { // others are not interpreted
			wrong(!v.Enum.Closed, `"no such value"`)
		}
		wrong(false, `""`, strconv.Itoa(v.Enum.Numbers), "-1")
	case v.Form == object.Timestamp:
		wrong(false, `""`)
	case v.Form == object.Int32:
		wrong(false, "2147483648", `"2147483648"`, `"1.5"`, `""`)
	case v.Kinds == object.Integer:
		wrong(false, `"9223372036854775808"`, `"1.5"`, `""`)
	case v.Kinds == object.Number:
		wrong(false, "1e999", `"1e999"`, `""`, `"NaN"`)
	case v.Members != nil:
		for _, w := range g.wrong(nil, v.Members) {
			add(w, `{"key":`, "}", g.keySteps()...)
		}
	}
	return list
}
