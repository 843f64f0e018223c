package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// A translationTest is a schema, its expected translation and the expected losses,
// each as "severity path".
type translationTest struct {
	name, in, want string
	losses         []string
}

func severities(losses []Loss) []string {
	var out []string
	for _, l := range losses {
		out = append(out, l.Rule.Severity.String()+" "+l.Path)
	}
	return out
}

func check(t *testing.T, d Dialect, f func(Dialect, content.Schema) (string, []Loss), tests []translationTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, losses := f(d, content.Schema{JSON: tt.in})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("translated (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.losses, severities(losses)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGeminiSchema(t *testing.T) { check(t, GeminiSchema, Output, geminiSchemaTests) }

// geminiSchemaTests cover the rules of GeminiSchema.
var geminiSchemaTests = []translationTest{
	{"lower-case type", `{"type":"string"}`, `{"type":"STRING"}`, nil},
	{"upper-case type", `{"type":"INTEGER"}`, `{"type":"INTEGER"}`, nil},
	{"null in types", `{"type":["string","null"]}`, `{"type":"STRING","nullable":true}`, nil},
	{"several types", `{"type":["string","integer"],"description":"d","minLength":1,"minimum":2}`,
		`{"anyOf":[{"type":"STRING","description":"d","minLength":"1"},{"type":"INTEGER","description":"d","minimum":2}]}`, nil},
	{"null only", `{"type":"null"}`, `{"type":"NULL"}`, nil},
	{"true", `true`, `{}`, nil},
	{"false", `false`, `{}`, []string{"degraded "}},
	{"nullable", `{"type":"string","nullable":true}`, `{"type":"STRING","nullable":true}`, nil},
	{"counts", `{"type":"array","items":{"type":"string","minLength":1,"maxLength":9},"minItems":1,"maxItems":3}`,
		`{"type":"ARRAY","items":{"type":"STRING","minLength":"1","maxLength":"9"},"maxItems":"3","minItems":"1"}`, nil},
	{"array without items", `{"type":"array"}`, `{"type":"ARRAY","items":{}}`, nil},
	{"const", `{"const":"a"}`, `{"type":"STRING","enum":["a"]}`, nil},
	{"const of a number", `{"type":"number","const":2.50,"description":"d"}`,
		`{"type":"NUMBER","description":"d\nAllowed values: 2.50"}`, []string{"degraded const"}},
	{"const null", `{"const":null}`, `{"type":"NULL"}`, nil},
	{"enum with null", `{"enum":["a",null]}`, `{"type":"STRING","nullable":true,"enum":["a"]}`, nil},
	{"enum of numbers", `{"type":"integer","enum":[1,2]}`, `{"type":"INTEGER","description":"Allowed values: 1, 2"}`,
		[]string{"degraded enum"}},
	{"enum of both booleans", `{"enum":[true,false]}`, `{"type":"BOOLEAN"}`, nil},
	{"enum of mixed types", `{"enum":["a",1]}`,
		`{"anyOf":[{"type":"STRING","enum":["a"]},{"type":"INTEGER","description":"Allowed values: 1"}]}`,
		[]string{"degraded anyOf.1.enum"}},
	{"enum with values of other types", `{"type":"string","enum":["a",1]}`, `{"type":"STRING","enum":["a"]}`, nil},
	{"exclusive limits of integers", `{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10}`,
		`{"type":"INTEGER","minimum":1,"maximum":9}`, nil},
	{"exclusive limit of numbers", `{"type":"number","exclusiveMinimum":0}`, `{"type":"NUMBER","minimum":0}`,
		[]string{"degraded exclusiveMinimum"}},
	{"exclusive flag of draft 4", `{"type":"integer","minimum":5,"exclusiveMinimum":true}`, `{"type":"INTEGER","minimum":6}`, nil},
	{"optional field of pydantic", `{"anyOf":[{"type":"string","maxLength":4},{"type":"null"}],"default":null,"title":"Name"}`,
		`{"type":"STRING","title":"Name","nullable":true,"maxLength":"4","default":null}`, nil},
	{"anyOf with a description", `{"description":"d","anyOf":[{"type":"string"},{"type":"integer","description":"own"}]}`,
		`{"anyOf":[{"type":"STRING","description":"d"},{"type":"INTEGER","description":"own"}]}`, nil},
	{"anyOf with three and null", `{"anyOf":[{"type":"string"},{"type":"null"},{"type":"integer"}]}`,
		`{"anyOf":[{"type":"STRING","nullable":true},{"type":"INTEGER"}]}`, nil},
	{"anyOf with siblings", `{"type":"string","anyOf":[{"format":"date"},{"pattern":"^x"}]}`,
		`{"anyOf":[{"type":"STRING","format":"date"},{"type":"STRING","pattern":"^x"}]}`, nil},
	{"constant alternatives", `{"description":"d","anyOf":[{"const":"a"},{"type":"string","const":"b"}]}`,
		`{"type":"STRING","description":"d","enum":["a","b"]}`, nil},
	{"oneOf", `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`,
		[]string{"degraded oneOf"}},
	{"conditions next to properties", `{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		`{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, []string{"degraded anyOf"}},
	{"allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},` +
		`{"properties":{"b":{"type":"integer"},"a":{"minLength":2}},"required":["b","a"]}]}`,
		`{"type":"OBJECT","properties":{"a":{"type":"STRING","minLength":"2"},"b":{"type":"INTEGER"}},"required":["a","b"]}`, nil},
	{"limits in allOf", `{"type":"integer","allOf":[{"minimum":2,"maximum":9},{"minimum":3},{"type":"number","maximum":7.5}]}`,
		`{"type":"INTEGER","minimum":3,"maximum":7.5}`, nil},
	{"allOf of one reference", `{"allOf":[{"$ref":"#/$defs/c"}],"default":"r","$defs":{"c":{"type":"string","enum":["r","g"]}}}`,
		`{"type":"STRING","enum":["r","g"],"default":"r"}`, nil},
	{"contradictory allOf", `{"allOf":[{"type":"string"},{"type":"integer"}]}`, `{}`, []string{"degraded "}},
	{"reference with a sibling", `{"type":"object","properties":{"p":{"$ref":"#/definitions/p","description":"own"}},` +
		`"definitions":{"p":{"type":"number","description":"general"}}}`,
		`{"type":"OBJECT","properties":{"p":{"type":"NUMBER","description":"own"}}}`, nil},
	{"unresolvable reference", `{"type":"object","properties":{"p":{"$ref":"#/$defs/none"},"q":{"$ref":"https://x.example/s"}}}`,
		`{"type":"OBJECT","properties":{"p":{},"q":{}}}`, []string{"dropped properties.p.$ref", "dropped properties.q.$ref"}},
	{"reference by pointer", `{"type":"object","properties":{"a/b":{"type":"string"},"c":{"$ref":"#/properties/a~1b"}}}`,
		`{"type":"OBJECT","properties":{"a/b":{"type":"STRING"},"c":{"type":"STRING"}}}`, nil},
	{"reference to itself only", `{"$ref":"#"}`, `{}`, []string{"degraded "}},
	{"recursion", `{"$defs":{"n":{"type":"object","properties":{"k":{"type":"array","items":{"$ref":"#/$defs/n"}}}}},"$ref":"#/$defs/n"}`,
		`{"type":"OBJECT","properties":{"k":{"type":"ARRAY","items":{"type":"OBJECT","properties":{"k":{"type":"ARRAY","items":{"type":"OBJECT"}}}}}}}`,
		[]string{"degraded properties.k.items.properties.k.items"}},
	{"properties named like keywords", `{"type":"object","properties":{"type":{"type":"string"},"$ref":{"type":"string"},` +
		`"const":{"type":"object","properties":{"enum":{"type":"integer"}}},"properties":{"type":"string"}},"required":["$ref","type"]}`,
		`{"type":"OBJECT","properties":{"type":{"type":"STRING"},"$ref":{"type":"STRING"},` +
			`"const":{"type":"OBJECT","properties":{"enum":{"type":"INTEGER"}}},"properties":{"type":"STRING"}},"required":["$ref","type"]}`, nil},
	{"keywords in default and examples", `{"type":"object","default":{"$ref":"#","type":"x","n":1.50},"examples":[{"const":1}]}`,
		`{"type":"OBJECT","default":{"$ref":"#","type":"x","n":1.50},"example":{"const":1}}`, nil},
	{"several examples", `{"type":"string","examples":["a","b"]}`, `{"type":"STRING","example":"a"}`, []string{"hint examples"}},
	{"closed object", `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"type":"OBJECT","properties":{"a":{}}}`,
		[]string{"hint additionalProperties"}},
	{"map", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"OBJECT"}`, []string{"dropped additionalProperties"}},
	{"arbitrary properties", `{"type":"object","additionalProperties":{}}`, `{"type":"OBJECT"}`, []string{"degraded additionalProperties"}},
	{"required without a property", `{"type":"object","required":["x"]}`, `{"type":"OBJECT","properties":{"x":{}},"required":["x"]}`, nil},
	{"forbidden property", `{"type":"object","properties":{"a":false,"b":true},"required":["b"]}`,
		`{"type":"OBJECT","properties":{"b":{}},"required":["b"]}`, []string{"degraded properties.a"}},
	{"forbidden properties only", `{"type":"object","properties":{"a":false}}`, `{"type":"OBJECT"}`, []string{"degraded properties.a"}},
	{"property order with an unknown name", `{"type":"object","properties":{"a":{}},"propertyOrdering":["a","z"]}`,
		`{"type":"OBJECT","properties":{"a":{}},"propertyOrdering":["a"]}`, nil},
	{"closed tuple", `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`,
		`{"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]},"maxItems":"2"}`, []string{"degraded items"}},
	{"tuple of draft 7", `{"type":"array","items":[{"type":"number"},{"type":"number"}],"additionalItems":false}`,
		`{"type":"ARRAY","items":{"type":"NUMBER"},"maxItems":"2"}`, nil},
	{"inferred type", `{"properties":{"a":{"type":"string"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`,
		[]string{"hint "}},
	{"unsupported constraints", `{"type":"array","items":{"type":"number","multipleOf":2},"uniqueItems":true,"contains":{"const":2}}`,
		`{"type":"ARRAY","items":{"type":"NUMBER"}}`, []string{"degraded uniqueItems", "degraded contains", "degraded items.multipleOf"}},
	{"conditions", `{"type":"string","not":{"const":"x"},"if":{"minLength":2},"then":{"pattern":"a"}}`, `{"type":"STRING"}`,
		[]string{"dropped not", "dropped if", "dropped then"}},
	{"patternProperties and propertyNames", `{"type":"object","patternProperties":{"^x":{"type":"string"}},"propertyNames":{"pattern":"a"}}`,
		`{"type":"OBJECT"}`, []string{"dropped patternProperties", "degraded propertyNames"}},
	{"annotations", `{"$schema":"s","$id":"i","$comment":"c","type":"string","readOnly":true,"x-order":1}`, `{"type":"STRING"}`,
		[]string{"hint $id", "hint $comment", "hint readOnly", "hint x-order"}},
	{"formats", `{"type":["string","integer"],"format":"int64"}`, `{"anyOf":[{"type":"STRING"},{"type":"INTEGER","format":"int64"}]}`, nil},
	{"malformed keywords", `{"type":"strange","properties":null,"required":"a","minLength":-1}`, `{}`,
		[]string{"degraded type", "degraded required", "degraded minLength"}},
	{"two sets of alternatives", `{"anyOf":[{"type":"string"},{"type":"integer"}],"allOf":[{"anyOf":[{"minLength":1},{"minimum":1}]}]}`,
		`{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}`, []string{"dropped anyOf"}},
}

// TestGeminiInput checks the rules for the root of a function's parameters.
func TestGeminiInput(t *testing.T) {
	check(t, GeminiSchema, Input, []translationTest{
		{"no arguments", `{"type":"object","properties":{}}`, ``, nil},
		{"empty text", ``, ``, nil},
		{"schema without constraints", `true`, ``, []string{"hint "}},
		{"annotated schema without arguments", `{"type":"object","description":"d","properties":{"a":false}}`, ``, []string{"degraded properties.a", "hint description"}},
		{"arbitrary arguments", `{"type":"object","additionalProperties":true}`, ``, []string{"degraded additionalProperties"}},
		{"missing type", `{"properties":{"a":{"type":"string"}}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, nil},
		{"null in the root's types", `{"type":["object","null"],"properties":{"a":{"type":"string"}}}`,
			`{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, nil},
		{"root that is not an object", `{"type":"string"}`, ``, []string{"dropped "}},
		{"root reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}`,
			`{"type":"OBJECT","properties":{"b":{"type":"STRING"}}}`, nil},
		{"root alternatives", `{"anyOf":[` +
			`{"type":"object","properties":{"kind":{"const":"a"},"x":{"type":"string"}},"required":["kind","x"],"additionalProperties":false},` +
			`{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"],"additionalProperties":false}]}`,
			`{"type":"OBJECT","properties":{"kind":{"type":"STRING","enum":["a","b"]},"x":{"type":"STRING"}},"required":["kind"]}`,
			[]string{"degraded anyOf", "hint additionalProperties"}},
		{"not JSON", `{"a"`, ``, []string{"dropped "}},
		{"array instead of a schema", `[]`, ``, []string{"dropped "}},
	})
}
