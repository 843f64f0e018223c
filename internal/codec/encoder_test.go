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
	var notes Notes
	node := new(int)
	for name, raw := range map[string]string{
		"null": "null", "empty": `""`, "was": "1.50", "whole": "7.0", "changed": "8", "gone": "9", "zero": "0", "none": "null", "str": AsString,
	} {
		notes.Add(node, name, raw, 4)
	}
	var w jsonwire.Writer
	e := Encoder{W: &w, Notes: notes.Table()}
	w.BeginObject()
	f, n, yes := 1.5, int64(7), false
	e.Text(node, "null", "")
	e.Text(node, "empty", "")
	e.Text(node, "unnoted", "")
	e.Text(node, "str", "")
	e.OptNumber(node, "was", &f)
	e.OptInt(node, "whole", &n)
	e.OptInt(node, "changed", &n)
	e.OptInt(node, "gone", nil)
	e.OptInt(node, "zero", nil) // is no longer 0
	e.OptInt(node, "none", nil)
	e.AsNoted(node, "zero")
	e.OptFlag(node, "flag", &yes)
	e.Flag(node, "on", true)
	e.Flag(node, "off", false)
	e.Strings(node, "list", []string{"a"})
	e.OptRaw(node, "raw", `[ 1]`)
	e.Free("free", "")
	e.Begin("in")
	e.Extra(&content.Extra{Format: "f", JSON: `{"a":1,"b":2}`}, "f", func(n string) bool { return n == "a" })
	e.Extra(&content.Extra{Format: "g", JSON: `{"c":1}`}, "f", nil)
	e.End()
	w.EndObject()
	want := `{"null":null,"empty":"","was":1.50,"whole":7.0,"changed":7,"none":null,"zero":0,"flag":false,"on":true,"list":["a"],` +
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
	e.OptNumber(nil, "Temperature", &nan)
	e.Raw("Raw", `{`)
	e.Free("Free", `[]`)
	e.Extra(&content.Extra{Format: "f", JSON: `[]`}, "f", nil)
	e.Extra(&content.Extra{Format: "f", JSON: `{"a"}`}, "f", func(string) bool { return false })
	list, _ := content.Violations(e.Violations.Err())
	var got []string
	for _, f := range list {
		got = append(got, string(f.Code)+" "+f.Path)
	}
	want := []string{"range in.temperature", "syntax in.raw", "type in.free", "type in", "syntax in"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExtent(t *testing.T) {
	const body = `{"a": "x" }`
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer doc.Close()
	s := ExtentOf(doc.Root().Get("a")).Span("a")
	if s.Name != "a" || body[s.From:s.To] != `"x"` {
		t.Errorf("Span = %+v", s)
	}
}
