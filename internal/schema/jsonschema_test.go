package schema

import (
	"fmt"
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

// TestJSONSchema checks the rules for the root of arguments and the repairs that draft
// 2020-12 requires.
func TestJSONSchema(t *testing.T) {
	check(t, JSONSchema, Input, []translationTest{
		{"empty text", ``, `{"type":"object","properties":{}}`, nil},
		{"schema without constraints", `true`, `{"type":"object","properties":{}}`, nil},
		{"without properties", `{"type":"object"}`, `{"type":"object","properties":{}}`, nil},
		{"missing type", `{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, nil},
		{"upper-case types", `{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":["Integer","NULL"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"]}}}`, nil},
		{"type list at the root", `{"type":["object","null"],"properties":{}}`, `{"type":"object","properties":{}}`, nil},
		{"root that is not an object", `{"type":"array"}`, `{"type":"object","properties":{}}`, []string{"dropped "}},
		{"nullable", `{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]},"b":{"$ref":"#/$defs/b","nullable":true},` +
			`"c":{"anyOf":[{"type":"string"},{"type":"integer"}],"nullable":true}},"$defs":{"b":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},` +
				`"c":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}},"$defs":{"b":{"type":"string"}}}`, nil},
		{"tuple of draft 7", `{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}],"additionalItems":false}}}`,
			`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}}`, nil},
		{"exclusive flags of draft 4", `{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":2,"exclusiveMaximum":false}}}`,
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
		{"reference into merged alternatives", `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/anyOf/0/properties/a"}}},{"type":"null"}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"anyOf":[{"type":"string"}]}}}`, nil},
		{"same annotation in several schemas", `{"allOf":[{"x-note":1,"type":"object","properties":{}},{"x-note":2,"":3}]}`,
			`{"x-note":1,"type":"object","properties":{},"":3}`, []string{"degraded x-note"}},
		{"malformed keywords", `{"type":"object","properties":{"a":{"type":"date","required":true}},"required":null}`,
			`{"type":"object","properties":{"a":{}}}`, []string{"degraded properties.a.type", "degraded properties.a.required"}},
	})
}

func TestGeminiJSON(t *testing.T) {
	check(t, GeminiJSON, Input, []translationTest{
		{"annotated schema without arguments", `{"$schema":"s","type":"object","title":"Args","properties":{}}`, ``, []string{"hint title"}},
		{"unknown keyword without properties", `{"type":"object","propertees":{"a":{}}}`, `{"type":"object","propertees":{"a":{}}}`, nil},
		{"reference after alternatives", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}],"$ref":"#/$defs/x"}},"$defs":{"x":{}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"$defs":{"x":{}}}`, []string{"dropped properties.a.$ref"}},
		{"reference into allOf", `{"type":"object","properties":{"a":{"allOf":[{"items":{"type":"string"}}]},"b":{"$ref":"#/properties/a/allOf/0/items"}}}`,
			`{"type":"object","properties":{"a":{"items":{"type":"string"}},"b":{"anyOf":[{"type":"string"}]}}}`, nil},
		{"no arguments", `{"type":"object","properties":{},"additionalProperties":false}`, ``, nil},
		{"schema without constraints", `{}`, ``, []string{"hint "}},
		{"arbitrary arguments", `{"type":"object","additionalProperties":{}}`, `{"type":"object","additionalProperties":{}}`, nil},
		{"const", `{"type":"object","properties":{"a":{"const":"x"},"b":{"const":1},"c":{"const":true}}}`,
			`{"type":"object","properties":{"a":{"enum":["x"]},"b":{"enum":[1]},"c":{"const":true}}}`, []string{"degraded properties.c.const"}},
		{"bounds", `{"type":"object","properties":{"a":{"type":"integer","exclusiveMinimum":0,"maximum":5},"b":{"type":"number","exclusiveMaximum":1}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":5},"b":{"type":"number","maximum":1}}}`,
			[]string{"degraded properties.b.exclusiveMaximum"}},
		{"reference with siblings", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x","description":"d"}},"$defs":{"x":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/x"}],"description":"d"}},"$defs":{"x":{"type":"string"}}}`, nil},
		{"definitions", `{"type":"object","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, nil},
		{"allOf", `{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/x"}],"default":1}},"$defs":{"x":{"type":"integer"}}}`,
			`{"type":"object","properties":{"a":{"default":1,"type":"integer"}},"$defs":{"x":{"type":"integer"}}}`, nil},
		{"ignored keywords", `{"type":"object","properties":{"a":{"type":"string","pattern":"x","not":{"const":"y"}}}}`,
			`{"type":"object","properties":{"a":{"type":"string","pattern":"x","not":{"const":"y"}}}}`,
			[]string{"degraded properties.a.pattern", "dropped properties.a.not"}},
		{"oneOf", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`,
			`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`, []string{"degraded properties.a.oneOf"}},
	})
}

func TestMessagesStrict(t *testing.T) {
	check(t, MessagesStrict, Output, []translationTest{
		{"closed object", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, nil},
		{"open objects", `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}},"additionalProperties":false}},"additionalProperties":false}`,
			[]string{"hint properties.a", "hint "}},
		{"map", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":false}`,
			[]string{"dropped additionalProperties"}},
		{"limits", `{"type":"array","items":{"type":"string","maxLength":5},"minItems":2,"maxItems":3}`, `{"type":"array","items":{"type":"string"}}`,
			[]string{"degraded items.maxLength", "degraded minItems", "degraded maxItems"}},
		{"minItems 1", `{"type":"array","items":{"type":"string"},"minItems":1}`, `{"type":"array","items":{"type":"string"},"minItems":1}`, nil},
		{"reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`, nil},
		{"recursion", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"array","items":{"$ref":"#/$defs/n"}}}}`,
			`{"type":"array","items":{"type":"array","items":{"type":"array"}}}`, []string{"degraded items.items"}},
	})
}

func TestOpenAIStrict(t *testing.T) {
	check(t, OpenAIStrict, Input, []translationTest{
		{"strict schema", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, nil},
		{"no arguments", `{}`, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`, []string{"hint "}},
		{"optional properties", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","enum":[1]},"c":{"$ref":"#/$defs/c"},` +
			`"d":{"const":1}},"required":["a"],"additionalProperties":false,"$defs":{"c":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":["integer","null"],"enum":[1,null]},` +
				`"c":{"anyOf":[{"$ref":"#/$defs/c"},{"type":"null"}]},"d":{"enum":[1,null]}},"required":["a","b","c","d"],` +
				`"additionalProperties":false,"$defs":{"c":{"type":"string"}}}`,
			[]string{"degraded properties.b", "degraded properties.c", "degraded properties.d"}},
		{"unsupported keywords", `{"type":"object","properties":{"a":{"type":"string","default":"x","not":{"const":"y"}}},"required":["a"],"additionalProperties":false}`,
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
		{"nullable", `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true,"enum":["x"]},"b":{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]},"b":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}}}`},
		{"order", `{"type":"OBJECT","properties":{"b":{"type":"STRING"},"a":{"type":"STRING"},"c":{"type":"STRING"}},"propertyOrdering":["c","a"]}`,
			`{"type":"object","properties":{"c":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"list of types", `{"type":"OBJECT","properties":{"a":{"type":["STRING","INTEGER"]},"b":{"type":["STRING","NULL"],"nullable":true},"c":{"type":"TYPE_UNSPECIFIED"}}}`,
			`{"type":"object","properties":{"a":{"type":["string","integer"]},"b":{"type":["string","null"]},"c":{}}}`},
		{"keywords beyond OpenAPI", `{"type":"OBJECT","properties":{"a":{"nullable":true,"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"ARRAY","maxItems":"2"}},"additionalProperties":{"type":"STRING","minLength":"1"}}`,
			`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"$defs":{"n":{"type":"array","maxItems":2}},"additionalProperties":{"type":"string","minLength":1}}`},
		{"example and examples", `{"type":"OBJECT","properties":{"a":{"example":1,"examples":[2]}}}`,
			`{"type":"object","properties":{"a":{"example":1,"examples":[2]}}}`},
		{"default and example", `{"type":"OBJECT","properties":{"nullable":{"type":"INTEGER","default":{"type":"X"},"example":1.0}}}`,
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
	malformed := `{"type":"OBJECT","properties":{"a":{"type":"ODD","enum":"x","items":1,"anyOf":[],"maxLength":"many","propertyOrdering":[1],"nullable":"yes"}}}`
	got, losses := Input(JSONSchema, content.Schema{JSON: malformed, OpenAPI: true})
	if want := `{"type":"object","properties":{"a":{}}}`; got != want {
		t.Errorf("malformed keywords: %s", got)
	}
	var want []string
	for _, name := range []string{"type", "enum", "items", "anyOf", "maxLength", "propertyOrdering", "nullable"} {
		want = append(want, "degraded properties.a."+name)
	}
	if diff := cmp.Diff(want, severities(losses)); diff != "" {
		t.Errorf("losses of malformed keywords (-want +got):\n%s", diff)
	}
}

// TestOpenAIStrictMembers checks the translation and the losses of single keywords in
// strict schemas.
func TestOpenAIStrictMembers(t *testing.T) {
	for _, tt := range []struct{ member, want, loss string }{
		{`{"type":"string","format":"date-time"}`, "", ""},
		{`{"type":"string","format":"time"}`, "", ""},
		{`{"type":"string","format":"date"}`, "", ""},
		{`{"type":"string","format":"duration"}`, "", ""},
		{`{"type":"string","format":"email"}`, "", ""},
		{`{"type":"string","format":"hostname"}`, "", ""},
		{`{"type":"string","format":"ipv4"}`, "", ""},
		{`{"type":"string","format":"ipv6"}`, "", ""},
		{`{"type":"string","format":"uuid"}`, "", ""},
		{`{"type":"string","format":"enum","enum":["a"]}`, `{"type":"string","enum":["a"]}`, "hint format"},
		{`{"type":"string","format":""}`, `{"type":"string"}`, "hint format"},
		{`{"type":"integer","format":"int32"}`, `{"type":"integer"}`, "hint format"},
		{`{"type":"integer","format":"int64"}`, `{"type":"integer"}`, "hint format"},
		{`{"type":"number","format":"float"}`, `{"type":"number"}`, "hint format"},
		{`{"type":"number","format":"double"}`, `{"type":"number"}`, "hint format"},
		{`{"type":"string","format":"uri"}`, `{"type":"string"}`, "degraded format"},
		{`{"type":"string","format":"regex"}`, `{"type":"string"}`, "degraded format"},
		{`{"type":"string","format":"Date"}`, `{"type":"string"}`, "degraded format"},
		{`{"type":"array","items":{"type":"string","format":"uri"}}`, `{"type":"array","items":{"type":"string"}}`, "degraded items.format"},
		{`{"allOf":[{"type":"string","format":"int32"},{"format":"date"}]}`, `{"type":"string","format":"date"}`, "hint format"},

		{`{}`, "", "degraded "},
		{`true`, "", "degraded "},
		{`{"description":"d"}`, "", "degraded "},
		{`{"type":"array","items":{}}`, "", "degraded items"},
		{`{"anyOf":[{"type":"string"},{"description":"d"}]}`, "", "degraded anyOf.1"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, "", ""},
		{`{"enum":["a"]}`, "", ""},
		{`{"const":"a"}`, "", ""},
		{`{"$ref":"#"}`, "", ""},
		{`{"type":"object","properties":{"format":{"type":"string"}},"required":["format"],"additionalProperties":false}`, "", ""},
	} {
		const around = `{"type":"object","properties":{"p":%s},"required":["p"],"additionalProperties":false}`
		if tt.want == "" {
			tt.want = tt.member
		}
		for _, f := range []func(Dialect, content.Schema) (string, []Loss){Input, Output} {
			got, losses := f(OpenAIStrict, content.Schema{JSON: fmt.Sprintf(around, tt.member)})
			if want := fmt.Sprintf(around, tt.want); got != want {
				t.Errorf("%s became\n%s, want\n%s", tt.member, got, want)
			}
			gotLosses := ""
			for _, l := range losses {
				gotLosses += fmt.Sprint(l.Rule.Severity, " ", l.Path, ";")
			}
			wantLosses := ""
			if tt.loss != "" {
				var severity, path string
				fmt.Sscan(tt.loss, &severity, &path)
				if path != "" {
					path = "." + path
				}
				wantLosses = severity + " properties.p" + path + ";"
			}
			if gotLosses != wantLosses {
				t.Errorf("%s: losses %q, want %q", tt.member, gotLosses, wantLosses)
			}
		}
	}
}
