package echo

import (
	"encoding/json"
	"testing"

	"github.com/polywire/polywire/content"
)

var schemas = []struct{ schema, want string }{
	{`{}`, `{}`},
	{`true`, `{}`},
	{`not JSON`, `{}`},
	{`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`, `{"city":"city"}`},
	{`{"type":"object","properties":{"a":{"type":"null"}},"required":["b","a","b",1]}`, `{"b":{},"a":null}`},
	{`{"type":"string"}`, `"text"`},
	{`{"type":["string","null"]}`, `"text"`},
	{`{"type":"integer"}`, `0`},
	{`{"type":"number","minimum":2.50}`, `2.50`},
	{`{"type":"boolean"}`, `true`},
	{`{"type":"array","items":{"type":"integer"}}`, `[]`},
	{`{"const":{"a": [1, 2.50, "x"]}}`, `{"a":[1,2.50,"x"]}`},
	{`{"enum":["red","green"]}`, `"red"`},
	{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{}`},
	{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `{}`},
	{`{"type":"OBJECT","properties":{"l":{"type":"ARRAY","items":{"type":"NUMBER"}}},"required":["l"]}`, `{"l":[]}`},
	{`{"type":5,"properties":[1],"required":"x","enum":{},"items":4}`, `{}`},
}

func TestInstance(t *testing.T) {
	for _, tt := range schemas {
		if got := instance(tt.schema); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.schema, got, tt.want)
		}
	}
}

func TestArgumentsAreAnObject(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{``, `{}`},
		{`{"type":"string"}`, `{}`},
		{`{"properties":{"a":{"const":1}},"required":["a"]}`, `{"a":1}`},
	} {
		tool := content.Tool{Input: content.Schema{JSON: tt.schema}}
		if got := arguments(&tool); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.schema, got, tt.want)
		}
	}
}

func FuzzInstance(f *testing.F) {
	for _, s := range schemas {
		f.Add(s.schema)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		got := instance(schema)
		if !json.Valid([]byte(got)) || len(got) > 4*len(schema)+8 {
			t.Errorf("got %d bytes: %q", len(got), clip(got, 1000))
		}
	})
}
