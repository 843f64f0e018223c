package object

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

func TestFind(t *testing.T) {
	typ := Kept("", Field{Name: "model"}, Field{Name: "topK", Alias: "top_k"}, Field{Name: "same", Alias: "same"},
		Field{Name: "a_name_of_22_characters"}, Field{Name: "abcdefg"}, Field{Name: ""})
	for name, want := range map[string]int{
		"model": 0, "topK": 1, "top_k": 1, "same": 2, "a_name_of_22_characters": 3, "abcdefg": 4, "": 5,
		"Model": -1, "mode": -1, "models": -1, "topk": -1, "top_K": -1, "model\x00": -1, "a_name_of_23_characters": -1,
		strings.Repeat("x", 21): -1, // as long as "model" in the index
	} {
		if got := typ.Find(name); (got == nil) != (want < 0) || got != nil && got != &typ.Fields()[want] {
			t.Errorf("Find(%q) = %v, want the field at %d", name, got, want)
		}
	}
}

func TestSimilar(t *testing.T) {
	typ := Kept("", Field{Name: "model"}, Field{Name: "taskKey", Alias: "task_key"}, Field{Name: "speed"}, Field{Name: "K"})
	for name, want := range map[string]string{
		"MODEL": "model", "mOdel": "model", "TaskKey": "taskKey", "TASK_KEY": "task_key", "k": "K",
		"model\x00": "model", "model\x00x": "model", "Model\x00é": "model", "model\x00\x00": "model",
		"\u017Fpeed": "speed", "ta\u017F\u212A_\u212Aey": "task_key", "\u212A": "K", "\u017FPEED\x00\u212A": "speed",
		"": "", "\x00": "", "\x00model": "", "mode": "", "models": "", "modél": "", "é": "", "\u212Amodel": "", "ſ": "",
		"tas\u212A": "", "taſk-key": "",
	} {
		if got := typ.Similar(name); got != want {
			t.Errorf("Similar(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestMaxFields(t *testing.T) {
	list := make([]Field, 64)
	for i := range list {
		list[i] = Field{Name: "member_" + strconv.Itoa(i), Required: true}
	}
	typ := Kept("", list...)
	var seen Members
	for i := range list {
		if typ.Find(list[i].Name) != &typ.Fields()[i] {
			t.Errorf("Find(%q) = %v", list[i].Name, typ.Find(list[i].Name))
		}
		if f, again := seen.Field(typ, list[i].Name); f != &typ.Fields()[i] || again {
			t.Errorf("Field(%q) = %v, %v", list[i].Name, f, again)
		}
	}
	if f := seen.Missing(typ); f != nil {
		t.Errorf("Missing = %s", f.Name)
	}
	defer func() {
		if recover() == nil {
			t.Error("65 fields: no panic")
		}
	}()
	Kept("", append(list, Field{Name: "one_more"})...).Fields()
}

func TestMembers(t *testing.T) {
	typ := Kept("", Field{Name: "a", Required: true}, Field{Name: "bB", Alias: "b_b", Required: true}, Field{Name: "c"},
		Field{Name: "d", Required: true})
	var seen Members
	for _, tt := range []struct {
		name  string
		field int // -1: nil
		again bool
	}{{"b_b", 1, false}, {"x", -1, false}, {"bB", 1, true}, {"c", 2, false}, {"C", -1, false}} {
		f, again := seen.Field(typ, tt.name)
		if again != tt.again || (f == nil) != (tt.field < 0) || f != nil && f != &typ.Fields()[tt.field] {
			t.Errorf("Field(%q) = %v, %v", tt.name, f, again)
		}
	}
	var missing []string
	for f := seen.Missing(typ); f != nil; f = seen.Missing(typ) {
		missing = append(missing, f.Name)
	}
	if want := []string{"a", "d"}; !slices.Equal(missing, want) {
		t.Errorf("Missing: got %q, want %q", missing, want)
	}
}

// A thing has a Go field of each type that the encoder knows.
type thing struct {
	Kind, Text, Maybe, Object, Any string
	Flag                           bool
	OptFlag                        *bool
	Int                            int64
	OptInt                         *int64
	Number                         *float64
	Texts                          []string
	Other                          map[string]bool
	Extra                          *content.Extra
}

var (
	text      = &Value{Kinds: Text}
	thingType = New("Thing", func(x *thing) **content.Extra { return &x.Extra }, fieldsOf(
		In(Field{Name: "kind", Value: text, IsTag: true}, func(x *thing) *string { return &x.Kind }),
		Field{Name: "version", Const: "1", Value: text},
		In(Field{Name: "text", Value: text, Required: true}, func(x *thing) *string { return &x.Text }),
		In(Field{Name: "maybe", Value: &Value{Kinds: Text | Null}, WriteNull: true}, func(x *thing) *string { return &x.Maybe }),
		In(Field{Name: "object", Value: &Value{Kinds: Object}, Required: true, Default: "{}"}, func(x *thing) *string { return &x.Object }),
		In(Field{Name: "any", Value: &Value{}}, func(x *thing) *string { return &x.Any }),
		In(Field{Name: "flag", Value: &Value{Kinds: Flag}}, func(x *thing) *bool { return &x.Flag }),
		In(Field{Name: "opt_flag", Value: &Value{Kinds: Flag}}, func(x *thing) **bool { return &x.OptFlag }),
		In(Field{Name: "int", Value: &Value{Kinds: Integer}}, func(x *thing) *int64 { return &x.Int }),
		In(Field{Name: "opt_int", Value: &Value{Kinds: Integer}}, func(x *thing) **int64 { return &x.OptInt }),
		In(Field{Name: "number", Value: &Value{Kinds: Number}}, func(x *thing) **float64 { return &x.Number }),
		In(Field{Name: "texts", Value: &Value{Kinds: List}}, func(x *thing) *[]string { return &x.Texts }),
		In(Field{Name: "other", Value: &Value{Kinds: Object}}, func(x *thing) *map[string]bool { return &x.Other }),
		Field{Name: "kept", Value: &Value{Kinds: Text | Null}}))
)

func TestEncoderMember(t *testing.T) {
	const format = "f"
	no, zero, nan := false, int64(0), math.NaN()
	for _, tt := range []struct {
		name, want, violations string
		x                      thing
	}{
		{name: "zero", want: `{"version":"1","text":"","maybe":null,"object":{}}`},
		{name: "all", x: thing{Kind: "k", Text: "t", Maybe: "m", Object: `{"a": 1}`, Any: `[ ]`, Flag: true, OptFlag: &no, Int: -1,
			OptInt: &zero, Number: new(float64), Texts: []string{"", "b"},
			Extra: &content.Extra{Format: format, JSON: `{"text":"not again","x":null,"kept":"k"}`}},
			want: `{"kind":"k","version":"1","text":"t","maybe":"m","object":{"a": 1},"any":[ ],"flag":true,"opt_flag":false,"int":-1,` +
				`"opt_int":0,"number":0,"texts":["","b"],"x":null,"kept":"k"}`},
		{name: "Extra without a format", x: thing{Extra: &content.Extra{JSON: `{"x":1}`}},
			want: `{"version":"1","text":"","maybe":null,"object":{},"x":1}`},
		{name: "Extra of another format", x: thing{Extra: &content.Extra{Format: "g", JSON: `{"x":1}`}},
			want: `{"version":"1","text":"","maybe":null,"object":{}}`},
		{name: "invalid", x: thing{Object: `[]`, Any: `{`, Number: &nan, Extra: &content.Extra{JSON: `[]`}},
			violations: "type at.object, syntax at.any, range at.number, type at"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w jsonwire.Writer
			e := Encoder{Encoder: codec.Encoder{W: &w}, Format: format}
			e.Path.Push("at")
			w.BeginObject()
			for f := range thingType.Written(&tt.x) {
				if e.Member(f, &tt.x) == (f.Name == "other") {
					t.Errorf("Member(%s) = %v", f.Name, f.Name == "other")
				}
			}
			e.Rest(thingType, *thingType.Extra(&tt.x))
			w.EndObject()
			if got := codes(e.Violations.Err()); got != tt.violations {
				t.Errorf("got violations %q, want %q", got, tt.violations)
			}
			if got, err := codec.Append(nil, &w); tt.violations == "" && (err != nil || string(got) != tt.want) {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

// fieldsOf returns a function for New.
func fieldsOf(list ...Field) func() []Field { return func() []Field { return list } }

// codes returns the codes and paths of the violations in err.
func codes(err error) string {
	list, _ := content.Violations(err)
	var all []string
	for _, v := range list {
		all = append(all, strings.TrimSpace(string(v.Code)+" "+v.Path))
	}
	return strings.Join(all, ", ")
}

func TestWritten(t *testing.T) {
	type one struct {
		A string
		P *thing
		L []thing
	}
	typ := New("", func(*one) **content.Extra { return nil }, fieldsOf(
		Field{Name: "tag", IsTag: true},
		InPointer(Field{Name: "pointer"}, func(o *one) **thing { return &o.P }),
		InList(Field{Name: "list"}, func(o *one) *[]thing { return &o.L }),
		InList(Field{Name: "required", Required: true}, func(o *one) *[]thing { return &o.L }),
		In(Field{Name: "other"}, func(o *one) *[]thing { return &o.L }),
		In(Field{Name: "former", ReadOnly: true}, func(o *one) *string { return &o.A }),
		Field{Name: "kept"}))
	for _, tt := range []struct {
		x    one
		want []string
	}{
		{one{A: "a"}, []string{"required", "other"}},
		{one{L: []thing{}}, []string{"required", "other"}},
		{one{P: &thing{}, L: make([]thing, 1)}, []string{"pointer", "list", "required", "other"}},
	} {
		var got []string
		for f := range typ.Written(&tt.x) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%+v: got %q, want %q", tt.x, got, tt.want)
		}
	}
	for f := range typ.Written(&one{}) {
		if f.Name != "required" {
			t.Errorf("%s after the end of the loop", f.Name)
		}
		break
	}
}

func TestTypeOfStruct(t *testing.T) {
	type setting struct{ A string }
	noExtra := func(*setting) **content.Extra { return nil }
	at := func(s *setting) *string { return &s.A }
	plain := New("", noExtra, fieldsOf(In(Field{Name: "a", Value: text}, at)))
	if !plain.HasStruct() || Kept("").HasStruct() {
		t.Error("HasStruct: want true for New only")
	}
	to := new(setting)
	if *to = (setting{"x"}); plain.Pointer(&to) != any(to) {
		t.Error("Pointer: want that to the struct")
	}
	if to = nil; plain.Pointer(&to) != nil {
		t.Error("Pointer of nil: want nil")
	}
}

func TestFieldKinds(t *testing.T) {
	for name, want := range map[string][3]bool{ // kept, typed, held
		"kind": {false, true, true}, "version": {false, false, true}, "text": {false, true, true}, "kept": {true, false, false},
	} {
		f := thingType.Find(name)
		if got := [3]bool{f.Kept(), f.Typed(), thingType.Holds(name)}; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if thingType.Holds("unknown") {
		t.Error("Holds(unknown)")
	}
}

func TestKeeps(t *testing.T) {
	isFalse := func(x jsonwire.Value) bool { return x.Kind() == jsonwire.False }
	for _, tt := range []struct {
		f    Field
		json string
		want bool
	}{
		{Field{Value: &Value{Kinds: Flag | Null}}, "null", false}, {Field{Value: &Value{Kinds: Flag}}, "null", true},
		{Field{}, "null", true}, {Field{Value: &Value{Kinds: Flag}}, "false", true},
		{Field{IsDefault: isFalse}, "false", false}, {Field{IsDefault: isFalse}, "true", true},
		{Field{IsDefault: isFalse, Value: &Value{Kinds: Flag | Null}}, "null", false},
	} {
		if got := tt.f.Keeps(root(t, tt.json)); got != tt.want {
			t.Errorf("Keeps(%s) of %+v = %v", tt.json, tt.f.Value, got)
		}
	}
}

func root(t *testing.T, json string) jsonwire.Value {
	t.Helper()
	doc, err := jsonwire.Parse(json, jsonwire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(doc.Close)
	return doc.Root()
}

func TestKindOf(t *testing.T) {
	for json, want := range map[string]Kinds{
		`"x"`: Text, "1": Integer | Number, "1.0": Integer | Number, "1.5": Number, "1e3": Number, "9223372036854775807": Integer | Number,
		"9223372036854775808": Number, "true": Flag, "false": Flag, "[]": List, "{}": Object, "null": Null,
	} {
		if got := KindOf(root(t, json)); got != want {
			t.Errorf("KindOf(%s) = %b, want %b", json, got, want)
		}
	}
	if v := (&Value{Kinds: Number}); !v.Accepts(Integer|Number) || v.Accepts(Text) || !(*Value)(nil).Accepts(Text) || !(&Value{}).Accepts(Null) {
		t.Error("Accepts")
	}
}

// A recorder lists what a Checker reports.
type recorder struct {
	path *codec.Path
	list []string
}

func (r *recorder) add(format string, args ...any) {
	r.list = append(r.list, strings.TrimSpace(r.path.At()+" "+fmt.Sprintf(format, args...)))
}

func (r *recorder) Kind(v *Value, _ jsonwire.Value)   { r.add("kind") }
func (r *recorder) Range(v *Value, k Kinds, n int64)  { r.add("range %b %d", k, n) }
func (r *recorder) Choice(v *Value, x jsonwire.Value) { r.add("choice %s", x.Raw()) }
func (r *recorder) Tag(v *Value, x jsonwire.Value)    { r.add("tag %s", x.Raw()) }
func (r *recorder) Missing(f *Field)                  { r.add("missing %s", f.Name) }
func (r *recorder) Unknown(t *Type, name string)      { r.add("unknown %s", name) }

func TestChecker(t *testing.T) {
	tag := Field{Name: "type", IsTag: true}
	short := &Value{Kinds: Text, Min: 2, Max: 3}
	point := Kept("", Field{Name: "x", Value: &Value{Kinds: Integer, Min: 1, Max: 9}, Required: true}, Field{Name: "y"},
		Field{Name: "zAxis", Alias: "z_axis", Required: true})
	shape := &Value{Kinds: Object | Null, Tags: []Tag{{"dot", Kept("", tag, Field{Name: "at", Value: short, Required: true})}, {"none", Kept("", tag)}}}
	long := strings.Repeat("n", 100)
	for _, tt := range []struct {
		v    *Value
		json string
		want []string
	}{
		{nil, `[]`, nil},
		{&Value{}, `null`, nil},
		{&Value{Kinds: Text}, `""`, nil},
		{&Value{Kinds: Text}, `null`, []string{"v kind"}},
		{&Value{Kinds: Number}, `1`, nil},
		{&Value{Kinds: Integer}, `1.5`, []string{"v kind"}},
		{short, `"é"`, []string{"v range 1 1"}},
		{short, `"ééé"`, nil},
		{short, `"éééé"`, []string{"v range 1 4"}},
		{&Value{Kinds: Text, Enum: &Enum{Values: []string{"a", "b"}}}, `"b"`, nil},
		{&Value{Kinds: Text, Enum: &Enum{Values: []string{"a", "b"}}}, `"c"`, []string{`v choice "c"`}},
		{&Value{Kinds: Integer, Min: -1, Max: 1}, `-2`, []string{"v range 10 -2"}},
		{&Value{Kinds: Integer, Min: -1, Max: 1}, `2`, []string{"v range 10 2"}},
		{&Value{Kinds: List, Min: 1, Max: 2}, `[]`, []string{"v range 10000 0"}},
		{&Value{Kinds: List, Min: 1, Max: 2}, `[1,2,3]`, []string{"v range 10000 3"}},
		{&Value{Kinds: List, Elem: short}, `["ab",1,"a"]`, []string{"v.1 kind", "v.2 range 1 1"}},
		{&Value{Kinds: Object}, `{"x":1}`, nil},
		{&Value{Kinds: Object, Members: short}, `{"a":"ab","b":1}`, []string{"v.b kind"}},
		{&Value{Kinds: Object, Members: short}, `{"` + long + `":1}`, []string{"v." + codec.Clip(long) + " kind"}},
		{&Value{Kinds: Object, Object: point}, `{"x":0,"y":null,"z_axis":1,"w":2}`, []string{"v.x range 10 0", "v unknown w"}},
		{&Value{Kinds: Object, Object: point}, `{}`, []string{"v missing x", "v missing zAxis"}},
		{shape, `null`, nil},
		{shape, `{"at":1,"type":"dot"}`, []string{"v.dot.at kind"}},
		{shape, `{"type":"dot"}`, []string{"v.dot missing at"}},
		{shape, `{"type":"none"}`, nil},
		{shape, `{"type":"line","x":1}`, []string{`v tag "line"`}},
		{shape, `{"type":4}`, []string{`v tag 4`}},
		{shape, `{}`, []string{`v tag`}},
	} {
		var p codec.Path
		r := &recorder{path: &p}
		c := &Checker{Path: &p, Report: r}
		c.Member(&Field{Name: "v", Value: tt.v}, "v", root(t, tt.json))
		if diff := cmp.Diff(tt.want, r.list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.json, diff)
		}
		if p.Depth() != 0 {
			t.Errorf("%s: the path has %d steps afterwards", tt.json, p.Depth())
		}
	}
}

// A Reader checks the values of Go fields, except an empty text, which is a missing one.
func TestReaderLimits(t *testing.T) {
	word := &Value{Kinds: Text, Min: 2, Max: 3}
	letter := &Value{Kinds: Text | Null, Enum: &Enum{Values: []string{"a", "b"}}}
	digit := &Value{Kinds: Integer, Min: 1, Max: 9}
	typ := New("", func(x *thing) **content.Extra { return &x.Extra }, fieldsOf(
		In(Field{Name: "kind", Value: letter, IsTag: true}, func(x *thing) *string { return &x.Kind }),
		In(Field{Name: "word", Value: word}, func(x *thing) *string { return &x.Text }),
		In(Field{Name: "letter", Value: letter}, func(x *thing) *string { return &x.Maybe }),
		In(Field{Name: "digit", Value: digit}, func(x *thing) *int64 { return &x.Int }),
		In(Field{Name: "opt_digit", Value: digit}, func(x *thing) **int64 { return &x.OptInt }),
		In(Field{Name: "words", Value: &Value{Kinds: List, Max: 2, Elem: word}}, func(x *thing) *[]string { return &x.Texts }),
		In(Field{Name: "flag", Value: &Value{Kinds: Flag}}, func(x *thing) *bool { return &x.Flag })))
	for json, want := range map[string][]string{
		`{}`: nil, `{"letter":null,"opt_digit":1,"words":[]}`: nil,
		`{"kind":"z","word":"éé","letter":"a","digit":1,"opt_digit":9,"words":["ab","abc"],"flag":true}`: nil,
		`{"word":"é"}`:                   {"word range 1 1"},
		`{"letter":"z\n"}`:               {`letter choice "z\n"`},
		`{"digit":-1,"opt_digit":10}`:    {"digit range 10 -1", "opt_digit range 10 10"},
		`{"words":["ab",""]}`:            {"words.1 range 1 0"},
		`{"words":["ab","ab","ab"]}`:     {"words range 10000 3"},
		`{"words":["ab",1],"digit":1.5}`: {"words.1 kind", "digit mismatch"},
	} {
		for _, response := range []bool{false, true} {
			r := new(limited)
			r.Reader = Reader{Format: r, Response: response, Check: Checker{Path: &r.at, Report: &r.recorder}}
			r.path = &r.at
			r.Read(root(t, json), typ, new(thing))
			if response {
				want = slices.DeleteFunc(want, func(s string) bool { return !strings.HasSuffix(s, "kind") && !strings.HasSuffix(s, "mismatch") })
			}
			if diff := cmp.Diff(want, r.list, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", json, diff)
			}
		}
	}
}

type limited struct {
	Reader
	recorder
	at codec.Path
}

func (r *limited) Value(*Field, string, jsonwire.Value, any)        {}
func (r *limited) Mismatch(_ *Field, name string, _ jsonwire.Value) { r.add("%s mismatch", name) }

// Goroutines that use a type for the first time at once see the same members.
func TestFirstUse(t *testing.T) {
	calls := 0
	typ := KeptLater("", func() []Field {
		calls++
		return []Field{{Name: "a"}}
	})
	found := make(chan *Field)
	for range 8 {
		go func() { found <- typ.Find("a") }()
	}
	first := <-found
	for range 7 {
		if f := <-found; f == nil || f != first {
			t.Errorf("got %p, want %p", f, first)
		}
	}
	if calls != 1 {
		t.Errorf("the members were made %d times", calls)
	}
}
