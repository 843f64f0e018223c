package echo

import (
	"encoding/json"
	"fmt"
	"strings"
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
	{`{"type":"array","items":{"type":"integer"},"minItems":2}`, `[0,0]`},
	{`{"type":"array","items":{"type":"array","minItems":1},"minItems":1}`, `[[{}]]`},
	{`{"const":{"a": [1, 2.50, "x"]}}`, `{"a":[1,2.50,"x"]}`},
	{`{"type":"string","default":"plain","enum":["red","plain"]}`, `"plain"`},
	{`{"enum":["red","green"]}`, `"red"`},
	{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{}`},
	{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `{}`},
	{`{"type":"OBJECT","properties":{"l":{"type":"ARRAY","items":{"type":"NUMBER"},"minItems":"2"}},"required":["l"]}`, `{"l":[0,0]}`},
	{`{"type":5,"properties":[1],"required":"x","enum":{},"items":4}`, `{}`},
}

func TestInstance(t *testing.T) {
	for _, tt := range schemas {
		if got := instance(tt.schema); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.schema, got, tt.want)
		}
	}
}

func TestInstanceSize(t *testing.T) {
	var wide strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&wide, `,"p%d"`, i)
	}
	tests := []struct{ name, schema string }{
		{"array of many elements", `{"type":"array","minItems":1000000000,"items":{"type":"string"}}`},
		{"nested arrays", strings.Repeat(`{"type":"array","minItems":64,"items":`, 50) + `{}` + strings.Repeat(`}`, 50)},
		{"many required properties", `{"required":["p"` + wide.String() + `]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := instance(tt.schema)
			if limit := maxInstance + 2*len(tt.schema); len(got) > limit || !json.Valid([]byte(got)) {
				t.Errorf("got %d bytes, want valid JSON of at most %d bytes", len(got), limit)
			}
		})
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
		if !json.Valid([]byte(got)) || len(got) > maxInstance+2*len(schema)+8 {
			t.Errorf("got %d bytes: %q", len(got), clip(got, 1000))
		}
	})
}
