package codec

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

func TestEncoder(t *testing.T) {
	var w jsonwire.Writer
	e := Encoder{W: &w}
	w.BeginObject()
	f := 1.5
	e.OptNumber("number", &f)
	e.OptNumber("nil", nil)
	e.Strings("empty", nil)
	e.Strings("list", []string{"a"})
	e.Raw("raw", `[ 1]`)
	e.Free("free", "")
	e.Begin("in")
	e.Extra(&content.Extra{Format: "f", JSON: `{"a":1,"b":2}`}, "f", func(n string) bool { return n == "a" })
	e.Extra(&content.Extra{Format: "g", JSON: `{"c":1}`}, "f", nil)
	e.End()
	w.EndObject()
	want := `{"number":1.5,"list":["a"],` +
		`"raw":[ 1],"free":{},"in":{"b":2}}`
	if diff := cmp.Diff(want, w.Text()); diff != "" || e.Violations.Len() > 0 {
		t.Errorf("%v (-want +got):\n%s", e.Violations.Err(), diff)
	}
}

func TestEncoderViolations(t *testing.T) {
	var w jsonwire.Writer
	e := Encoder{W: &w, Path: Path{Style: Bracketed}, DisplayPath: strings.ToLower}
	nan := math.NaN()
	w.BeginObject()
	e.Begin("In")
	e.OptNumber("Temperature", &nan)
	e.Raw("Raw", `{`)
	e.Free("Free", `[]`)
	e.List("List", 2, func(i int) { e.Free("Free", "[]"[i:]) })
	e.Extra(&content.Extra{Format: "f", JSON: `[]`}, "f", nil)
	e.Extra(&content.Extra{Format: "f", JSON: `{"a"}`}, "f", func(string) bool { return false })
	list, _ := content.Violations(e.Violations.Err())
	var got []string
	for _, f := range list {
		got = append(got, string(f.Code)+" "+f.Path)
	}
	want := []string{"range in.temperature", "syntax in.raw", "type in.free", "type in.list[0].free", "type in.list[1].free", "type in", "syntax in"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOrigin(t *testing.T) {
	const body = `{"a": "x", "b":1 }`
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	o := Origin{Body: body}
	for name, v := range doc.Root().Members() {
		o.Note(name, v, func(name string) bool { return name == "a" || name == "c" })
	}
	d := o.Document("f")
	if len(d.Spans) != 1 || d.Spans[0].Name != "a" || body[d.Spans[0].From:d.Spans[0].To] != `"x"` || d.Lenient {
		t.Errorf("Document() = %+v", d)
	}
	if o.Replaced("a") != `"x"` || o.Replaced("b") != "" {
		t.Error("Replaced does not return the values")
	}
}
