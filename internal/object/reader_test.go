package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A reading is a parser of sets and of what they contain.
type reading struct {
	Reader
	recorder
	log []string // what Format got
}

func (p *reading) Value(f *Field, name string, x jsonwire.Value, to any) {
	p.log = append(p.log, "value "+name)
	if f.Value.Object != nil {
		p.Object(f, name, x, to)
	}
}

func (p *reading) Mismatch(f *Field, name string, x jsonwire.Value) {
	p.add("mismatch %s %s", name, x.Raw())
}

type set struct {
	Text, Enum, Object, Any string
	Flag, Nested            bool
	OptFlag                 *bool
	Int                     int64
	OptInt                  *int64
	Number                  *float64
	Texts                   []string
	Inner                   *inner
	Other                   []int
	Extra                   *content.Extra
}

type inner struct {
	Type, A string
	Extra   *content.Extra
}

var (
	optText   = &Value{Kinds: Text | Null}
	innerType = New("inner", func(x *inner) **content.Extra { return &x.Extra }, fieldsOf(
		In(Field{Name: "type", Value: text, IsTag: true}, func(x *inner) *string { return &x.Type }),
		In(Field{Name: "a", Value: text}, func(x *inner) *string { return &x.A })))
	setType = New("set", func(x *set) **content.Extra { return &x.Extra }, fieldsOf(
		In(Field{Name: "text", Alias: "te_xt", Value: optText}, func(x *set) *string { return &x.Text }),
		In(Field{Name: "enum", Value: &Value{Kinds: Text, Enum: &Enum{Values: []string{"a"}}}}, func(x *set) *string { return &x.Enum }),
		In(Field{Name: "object", Value: &Value{Kinds: Object}}, func(x *set) *string { return &x.Object }),
		In(Field{Name: "any", Value: &Value{}}, func(x *set) *string { return &x.Any }),
		In(Field{Name: "flag", Value: &Value{Kinds: Flag}}, func(x *set) *bool { return &x.Flag }),
		In(Field{Name: "nested", Value: &Value{Kinds: Object, Object: Kept("", In(Field{Name: "on", Value: &Value{Kinds: Flag}},
			func(on *bool) *bool { return on }))}}, func(x *set) *bool { return &x.Nested }),
		In(Field{Name: "opt_flag", Value: &Value{Kinds: Flag}}, func(x *set) **bool { return &x.OptFlag }),
		In(Field{Name: "int", Value: &Value{Kinds: Integer, Form: Int32}}, func(x *set) *int64 { return &x.Int }),
		In(Field{Name: "opt_int", Value: &Value{Kinds: Integer | Null}}, func(x *set) **int64 { return &x.OptInt }),
		In(Field{Name: "number", Value: &Value{Kinds: Number}}, func(x *set) **float64 { return &x.Number }),
		In(Field{Name: "texts", Value: &Value{Kinds: List, Elem: text}}, func(x *set) *[]string { return &x.Texts }),
		InPointer(Field{Name: "inner", Value: &Value{Kinds: Object, Object: innerType, Tagged: true}}, func(x *set) **inner { return &x.Inner }),
		In(Field{Name: "other", Value: &Value{}}, func(x *set) *[]int { return &x.Other }),
		Field{Name: "version", Const: "1", Value: text},
		Field{Name: "kept", Value: &Value{Kinds: Text, Min: 2, Max: 3}, Required: true},
		Field{Name: "usual", Value: text, IsDefault: func(x jsonwire.Value) bool { return x.Is("u") }, Implied: true}))
)

func TestReader(t *testing.T) {
	yes, no, one, half := true, false, int64(1), 0.5
	none := []string{"missing kept"}
	for _, tt := range []struct {
		name, json  string
		proto       bool
		response    bool
		want        set
		report, log []string
	}{
		{name: "empty", json: `{}`, report: none},
		{name: "all", json: `{"text":"t","enum":"b","object":{ },"any":[1],"flag":true,"nested":{"on":true},"opt_flag":false,"int":1,` +
			`"opt_int":1,"number":0.5,"texts":["a"],"inner":{"a":"x","type":"k"},"other":1,"version":"1","kept":"kk","usual":"u"}`,
			want: set{Text: "t", Enum: "b", Object: "{ }", Any: "[1]", Flag: true, Nested: true, OptFlag: &no, Int: 1, OptInt: &one, Number: &half,
				Texts: []string{"a"}, Inner: &inner{Type: "k", A: "x"}, Extra: &content.Extra{JSON: `{"kept":"kk"}`}},
			report: []string{`enum choice "b"`}, log: []string{"value inner", "value other"}},
		{name: "wrong", json: `{"text":1,"enum":"","object":[],"flag":1,"nested":1,"opt_flag":"","int":1.5,"opt_int":"1","number":"1",` +
			`"texts":["a",1],"inner":1,"version":"2","kept":"k"}`,
			want: set{Texts: []string{"a", ""}, Extra: &content.Extra{JSON: `{"kept":"k"}`}},
			report: []string{`mismatch text 1`, `mismatch enum ""`, `mismatch object []`, `mismatch flag 1`, `mismatch nested 1`, `mismatch opt_flag ""`,
				`mismatch int 1.5`, `mismatch opt_int "1"`, `mismatch number "1"`, `texts.1 kind`, `mismatch inner 1`, `kept range 1 1`},
			log: []string{"value inner"}},
		{name: "null", json: `{"text":null,"flag":null,"opt_int":null,"texts":null,"inner":null}`,
			report: []string{"mismatch flag null", "mismatch texts null", "mismatch inner null", "missing kept"}, log: []string{"value inner"}},
		{name: "nested object with other members", json: `{"x":1,"nested":{"y":2,"on":true},"kept":"kk"}`,
			want:   set{Nested: true, Extra: &content.Extra{JSON: `{"nested":{"y":2},"x":1,"kept":"kk"}`}},
			report: []string{"unknown x", "nested unknown y"}},
		{name: "object with a tag", json: `{"inner":{"a":1,"type":"k"},"kept":"kk"}`,
			want:   set{Inner: &inner{Type: "k"}, Extra: &content.Extra{JSON: `{"kept":"kk"}`}},
			report: []string{"inner.k mismatch a 1"}, log: []string{"value inner"}},
		{name: "object without its tag", json: `{"inner":{},"kept":"kk"}`,
			want:   set{Inner: &inner{}, Extra: &content.Extra{JSON: `{"kept":"kk"}`}},
			report: []string{"inner tag"}, log: []string{"value inner"}},
		{name: "response", json: `{"kept":"k","usual":"u"}`, response: true, want: set{Extra: &content.Extra{JSON: `{"kept":"k"}`}}},
		{name: "JSON of protocol buffers", json: `{"te_xt":"t","flag":null,"int":"1","opt_int":"1.0","number":"0.5","opt_flag":true,"texts":"a","enum":"x","inner":null}`,
			proto: true, want: set{Text: "t", Int: 1, OptInt: &one, Number: &half, OptFlag: &yes, Texts: []string{"a"}},
			log: []string{"value enum", "value inner"}},
		{name: "wrong JSON of protocol buffers", json: `{"text":"t","te_xt":"u","int":2147483648,"number":"x","texts":[1]}`, proto: true,
			want:   set{Text: "t", Texts: []string{""}},
			report: []string{"unknown te_xt", "mismatch int 2147483648", `mismatch number "x"`, "texts.0 kind"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := jsonwire.Parse(tt.json, jsonwire.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			defer doc.Close()
			var got set
			p := &reading{recorder: recorder{path: new(codec.Path)}}
			p.Format, p.Check.Path, p.ProtoJSON, p.Response = p, p.path, tt.proto, tt.response
			if !tt.proto {
				p.Check.Report = &p.recorder
			}
			p.Read(doc.Root(), setType, &got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.report, p.list); diff != "" {
				t.Errorf("reports (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.log, p.log); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReaderRoot(t *testing.T) {
	const body = `{"x":null,"inner":{"type":"k","a":"b"},"kept":"kk"}`
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	var got set
	p := &reading{recorder: recorder{path: new(codec.Path)}}
	p.Format, p.Check.Path, p.Root, p.IsReplaced, p.Origin = p, p.path, &got, func(name string) bool { return name == "a" || name == "kept" }, &codec.Origin{Body: body}
	p.Read(doc.Root(), setType, &got)
	if p.Origin.Replaced("kept") != `"kk"` || p.Origin.Replaced("a") != "" || !p.Origin.Lenient {
		t.Errorf("Origin = %+v", p.Origin)
	}
	if diff := cmp.Diff([]string{"value inner"}, p.log); diff != "" || !p.Null {
		t.Errorf("Null %v, calls (-want +got):\n%s", p.Null, diff)
	}
}
