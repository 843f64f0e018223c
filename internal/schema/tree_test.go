package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestJSONSchema has the rules for the root of arguments and the repairs that
// draft 2020-12 needs.
func TestJSONSchema(t *testing.T) {
	check(t, JSONSchema, Input, []translation{
		{"nothing said", ``, `{"type":"object","properties":{}}`, nil},
		{"anything", `true`, `{"type":"object","properties":{}}`, nil},
		{"without properties", `{"type":"object"}`, `{"type":"object","properties":{}}`, nil},
		{"missing type", `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, nil},
		{"capitals", `{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":["Integer","NULL"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}}}`, nil},
		{"type list at the root", `{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`, nil},
		{"no object", `{"type":"array"}`, `{"type":"object","properties":{}}`, []string{"dropped "}},
		{"nullable", `{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]},"b":{"$ref":"#/$defs/b","nullable":true},` +
			`"c":{"anyOf":[{"type":"string"},{"type":"integer"}],"nullable":true}},"$defs":{"b":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},` +
				`"c":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}},"$defs":{"b":{"type":"string"}}}`, nil},
		{"tuple of draft 7", `{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`,
			`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`, nil},
		{"flags of draft 4", `{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":false}}}`,
			`{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":1,"maximum":2}}}`, nil},
		{"root reference", `{"$schema":"s","$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"n":{"$ref":"#/definitions/A"}}}}}`,
			`{"$schema":"s","definitions":{"A":{"type":"object","properties":{"n":{"$ref":"#/definitions/A"}}}},"type":"object","properties":{"n":{"$ref":"#/definitions/A"}}}`, nil},
		{"root allOf", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}}}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"]}`, nil},
		{"root anyOf", `{"type":"object","anyOf":[{"properties":{"k":{"const":"a"},"n":{"type":"string"}},"required":["k"],"additionalProperties":false},` +
			`{"properties":{"k":{"const":"b"},"n":{"type":"integer"}},"required":["k","n"],"additionalProperties":false}]}`,
			`{"type":"object","properties":{"k":{"enum":["a","b"]},"n":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["k"],"additionalProperties":false}`,
			[]string{"degraded anyOf"}},
		{"root conditions", `{"type":"object","properties":{"a":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{}}}`, []string{"degraded oneOf"}},
		{"reference to a place that is gone", `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/anyOf/0/properties/a"}}},{"type":"null"}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"string"}]}}}`, nil},
		{"notes of several schemas", `{"allOf":[{"x-note":1,"type":"object","properties":{}},{"x-note":2,"":3}]}`,
			`{"x-note":1,"type":"object","properties":{},"":3}`, []string{"degraded x-note"}},
		{"malformed", `{"type":"object","properties":{"a":{"type":"date","required":true}},"required":null}`,
			`{"type":"object","properties":{"a":{}}}`, []string{"degraded properties.a.type", "degraded properties.a.required"}},
	})
}

func TestGeminiJSON(t *testing.T) {
	check(t, GeminiJSON, Input, []translation{
		{"no arguments, and notes", `{"$schema":"s","type":"object","title":"Args","properties":{}}`, ``, []string{"hint title"}},
		{"no properties, but something", `{"type":"object","propertees":{"a":{}}}`, `{"type":"object","propertees":{"a":{}}}`, nil},
		{"a reference behind alternatives", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}],"$ref":"#/$defs/x"}},"$defs":{"x":{}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"$defs":{"x":{}}}`, []string{"dropped properties.a.$ref"}},
		{"a reference into what is merged", `{"type":"object","properties":{"a":{"allOf":[{"items":{"type":"string"}}]},"b":{"$ref":"#/properties/a/allOf/0/items"}}}`,
			`{"type":"object","properties":{"a":{"items":{"type":"string"}},"b":{"anyOf":[{"type":"string"}]}}}`, nil},
		{"no arguments", `{"type":"object","properties":{},"additionalProperties":false}`, ``, nil},
		{"anything", `{}`, ``, []string{"hint "}},
		{"free arguments", `{"type":"object","additionalProperties":{}}`, `{"type":"object","additionalProperties":{}}`, nil},
		{"const", `{"type":"object","properties":{"a":{"const":"x"},"b":{"const":1},"c":{"const":true}}}`,
			`{"type":"object","properties":{"a":{"enum":["x"]},"b":{"enum":[1]},"c":{"const":true}}}`, []string{"degraded properties.c.const"}},
		{"bounds", `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":5},"b":{"type":"number","exclusiveMaximum":1}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":5},"b":{"type":"number","maximum":1}}}`,
			[]string{"degraded properties.b.exclusiveMaximum"}},
		{"reference with neighbours", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"d"}},"$defs":{"x":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/x"}],"description":"d"}},"$defs":{"x":{"type":"string"}}}`, nil},
		{"definitions", `{"type":"object","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, nil},
		{"allOf", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/x"}],"default":1}},"$defs":{"x":{"type":"integer"}}}`,
			`{"type":"object","properties":{"a":{"default":1,"type":"integer"}},"$defs":{"x":{"type":"integer"}}}`, nil},
		{"what it does not look at", `{"type":"object","properties":{"a":{"type":"string","pattern":"x","not":{"const":"y"}}}}`,
			`{"type":"object","properties":{"a":{"type":"string","pattern":"x","not":{"const":"y"}}}}`,
			[]string{"degraded properties.a.pattern", "dropped properties.a.not"}},
		{"oneOf", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`,
			`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`, []string{"degraded properties.a.oneOf"}},
	})
}

func TestMessagesStrict(t *testing.T) {
	check(t, MessagesStrict, Output, []translation{
		{"closed already", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, nil},
		{"closes", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}},"additionalProperties":false}},"additionalProperties":false}`,
			[]string{"hint properties.a", "hint "}},
		{"map", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":false}`,
			[]string{"dropped additionalProperties"}},
		{"limits", `{"type":"array","items":{"type":"string","maxLength":5},"minItems":2,"maxItems":3}`, `{"type":"array","items":{"type":"string"}}`,
			[]string{"degraded items.maxLength", "degraded minItems", "degraded maxItems"}},
		{"at least one", `{"type":"array","items":{"type":"string"},"minItems":1}`, `{"type":"array","items":{"type":"string"},"minItems":1}`, nil},
		{"references stay", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, nil},
		{"recursion is cut", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"}}}}`,
			`{"type":"array","items":{"type":"array","items":{"type":"array"}}}`, []string{"degraded items.items"}},
	})
}

func TestOpenAIStrict(t *testing.T) {
	check(t, OpenAIStrict, Input, []translation{
		{"strict already", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, nil},
		{"no arguments", `{}`, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`, []string{"hint "}},
		{"optional members", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","enum":[1]},"c":{"$ref":"#/$defs/c"},` +
			`"d":{"const":1}},"required":["a"],"additionalProperties":false,"$defs":{"c":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"],"enum":[1,null]},` +
				`"c":{"anyOf":[{"$ref":"#/$defs/c"},{"type":"null"}]},"d":{"enum":[1,null]}},"required":["a","b","c","d"],` +
				`"additionalProperties":false,"$defs":{"c":{"type":"string"}}}`,
			[]string{"degraded properties.b", "degraded properties.c", "degraded properties.d"}},
		{"what strict schemas do not have", `{"type":"object","properties":{"a":{"type":"string","default":"x","not":{"const":"y"}}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			[]string{"hint properties.a.default", "dropped properties.a.not"}},
		{"oneOf", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["a"],"additionalProperties":false}`,
			[]string{"degraded properties.a.oneOf"}},
	})
}

func TestFromOpenAPI(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"types and counts", `{"type":"OBJECT","properties":{"name":{"type":"STRING","minLength":"1"},"tags":{"type":"ARRAY","items":{"type":"STRING"},"maxItems":"3"}},"required":["name"]}`,
			`{"type":"object","properties":{"name":{"type":"string","minLength":1},"tags":{"type":"array","items":{"type":"string"},"maxItems":3}},"required":["name"]}`},
		{"null", `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"enum":["x"]},"b":{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}}}`},
		{"order", `{"type":"OBJECT","properties":{"b":{"type":"STRING"},"a":{"type":"STRING"},"c":{"type":"STRING"}},"propertyOrdering":["c","a"]}`,
			`{"type":"object","properties":{"c":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"list of types", `{"type":"OBJECT","properties":{"a":{"type":["STRING","INTEGER"]},"b":{"type":["STRING","NULL"],"nullable":true},"c":{"type":"TYPE_UNSPECIFIED"}}}`,
			`{"type":"object","properties":{"a":{"type":["string","integer"]},"b":{"type":["string","null"]},"c":{}}}`},
		{"more than the closed set", `{"type":"OBJECT","properties":{"a":{"nullable":true,"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"ARRAY","maxItems":"2"}},"additionalProperties":{"type":"STRING","minLength":"1"}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"$defs":{"n":{"type":"array","maxItems":2}},"additionalProperties":{"type":"string","minLength":1}}`},
		{"an example beside examples", `{"type":"OBJECT","properties":{"a":{"example":1,"examples":[2]}}}`,
			`{"type":"object","properties":{"a":{"example":1,"examples":[2]}}}`},
		{"free values", `{"type":"OBJECT","properties":{"nullable":{"type":"INTEGER","default":{"type":"X"},"example":1.0}}}`,
			`{"type":"object","properties":{"nullable":{"type":"integer","default":{"type":"X"},"examples":[1.0]}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, losses := Input(JSONSchema, content.Schema{JSON: tt.in, OpenAPI: true})
			if diff := cmp.Diff(tt.want, got); diff != "" || losses != nil {
				t.Errorf("losses %v; (-want +got):\n%s", losses, diff)
			}
		})
	}
	odd := `{"type":"OBJECT","properties":{"a":{"type":"ODD","enum":"x","items":1,"anyOf":[],"maxLength":"many","propertyOrdering":[1],"nullable":"yes"}}}`
	got, losses := Input(JSONSchema, content.Schema{JSON: odd, OpenAPI: true})
	if want := `{"type":"object","properties":{"a":{}}}`; got != want {
		t.Errorf("malformed members: %s", got)
	}
	var want []string
	for _, name := range []string{"type", "enum", "items", "anyOf", "maxLength", "propertyOrdering", "nullable"} {
		want = append(want, "degraded properties.a."+name)
	}
	if diff := cmp.Diff(want, severities(losses)); diff != "" {
		t.Errorf("losses of malformed members (-want +got):\n%s", diff)
	}
	s := content.Schema{JSON: tests[0].in, OpenAPI: true}
	if got, _ := Input(GeminiSchema, s); got != s.JSON || !Fits(GeminiSchema, s) {
		t.Errorf("the closed dialect to itself: %s", got)
	}
}
