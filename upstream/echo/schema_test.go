package echo

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// valid is a little validator of its own: encoding/json values, no code in
// common with the generator. It panics for a keyword that it does not know, so
// that no test rests on one.
type valid struct{ root any }

func (c valid) check(s, v any, path string) error {
	switch s := s.(type) {
	case bool:
		if !s {
			return fmt.Errorf("%s: nothing is allowed", path)
		}
		return nil
	case map[string]any:
		for word, arg := range s {
			if err := c.word(s, word, arg, v, path); err != nil {
				return err
			}
		}
	}
	return nil
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if s, is := v.(string); is { // the OpenAPI dialect
		n, ok = json.Number(s), true
	}
	if !ok {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(string(n))
	return r, ok
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func hasType(want string, v any) bool {
	want = strings.ToLower(want)
	if r, ok := number(v); want == "integer" && ok && typeOf(v) == "number" {
		return r.IsInt()
	}
	return want == typeOf(v)
}

func same(a, b any) bool {
	x, ok := number(a)
	y, also := number(b)
	if ok && also && typeOf(a) == "number" && typeOf(b) == "number" {
		return x.Cmp(y) == 0
	}
	return reflect.DeepEqual(a, b)
}

func (c valid) word(s map[string]any, word string, arg, v any, path string) error {
	bad := func() error { return fmt.Errorf("%s: %v is against %s: %v", path, v, word, arg) }
	n, isNumber := number(v)
	isNumber = isNumber && typeOf(v) == "number"
	limit, _ := number(arg)
	text, isText := v.(string)
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	length := func() *big.Rat { return big.NewRat(int64(utf8.RuneCountInString(text)), 1) }
	count := func(n int) *big.Rat { return big.NewRat(int64(n), 1) }
	fails := false
	switch word {
	case "type":
		names, ok := arg.([]any)
		if !ok {
			names = []any{arg}
		}
		fails = true
		for _, name := range names {
			fails = fails && !hasType(name.(string), v)
		}
		fails = fails && !(v == nil && s["nullable"] == true)
	case "enum":
		fails = true
		for _, e := range arg.([]any) {
			fails = fails && !same(e, v)
		}
	case "const":
		fails = !same(arg, v)
	case "minimum":
		fails = isNumber && (n.Cmp(limit) < 0 || s["exclusiveMinimum"] == true && n.Cmp(limit) == 0)
	case "maximum":
		fails = isNumber && n.Cmp(limit) > 0
	case "exclusiveMinimum":
		fails = isNumber && limit != nil && n.Cmp(limit) <= 0
	case "exclusiveMaximum":
		fails = isNumber && limit != nil && n.Cmp(limit) >= 0
	case "multipleOf":
		fails = isNumber && !new(big.Rat).Quo(n, limit).IsInt()
	case "minLength":
		fails = isText && length().Cmp(limit) < 0
	case "maxLength":
		fails = isText && length().Cmp(limit) > 0
	case "pattern":
		fails = isText && !regexp.MustCompile(arg.(string)).MatchString(text)
	case "format":
		fails = isText && !format(arg.(string), text)
	case "minItems":
		fails = isList && count(len(list)).Cmp(limit) < 0
	case "maxItems":
		fails = isList && count(len(list)).Cmp(limit) > 0
	case "uniqueItems":
		for i := range list {
			for j := range i {
				fails = fails || same(list[i], list[j])
			}
		}
	case "minProperties":
		fails = isObject && count(len(object)).Cmp(limit) < 0
	case "maxProperties":
		fails = isObject && count(len(object)).Cmp(limit) > 0
	case "required":
		for _, name := range arg.([]any) {
			_, has := object[name.(string)]
			fails = fails || isObject && !has
		}
	case "not":
		fails = c.check(arg, v, path) == nil
	default:
		return c.nested(s, word, arg, v, path)
	}
	if fails {
		return bad()
	}
	return nil
}

func (c valid) nested(s map[string]any, word string, arg, v any, path string) error {
	list, _ := v.([]any)
	object, _ := v.(map[string]any)
	switch word {
	case "properties":
		for name, sub := range arg.(map[string]any) {
			if x, ok := object[name]; ok {
				if err := c.check(sub, x, path+"."+name); err != nil {
					return err
				}
			}
		}
	case "additionalProperties":
		known, _ := s["properties"].(map[string]any)
		patterns, _ := s["patternProperties"].(map[string]any)
		for name, x := range object {
			_, ok := known[name]
			for p := range patterns {
				ok = ok || regexp.MustCompile(p).MatchString(name)
			}
			if !ok {
				if err := c.check(arg, x, path+"."+name); err != nil {
					return err
				}
			}
		}
	case "patternProperties":
		for p, sub := range arg.(map[string]any) {
			for name, x := range object {
				if regexp.MustCompile(p).MatchString(name) {
					if err := c.check(sub, x, path+"."+name); err != nil {
						return err
					}
				}
			}
		}
	case "prefixItems":
		for i, sub := range arg.([]any) {
			if i < len(list) {
				if err := c.check(sub, list[i], fmt.Sprint(path, ".", i)); err != nil {
					return err
				}
			}
		}
	case "items":
		tuple, _ := s["prefixItems"].([]any)
		for i, x := range list {
			if i >= len(tuple) {
				if err := c.check(arg, x, fmt.Sprint(path, ".", i)); err != nil {
					return err
				}
			}
		}
	case "allOf", "anyOf", "oneOf":
		n := 0
		var last error
		for _, sub := range arg.([]any) {
			if err := c.check(sub, v, path); err != nil {
				last = err
			} else {
				n++
			}
		}
		if n == 0 || word == "oneOf" && n != 1 || word == "allOf" && n != len(arg.([]any)) {
			return fmt.Errorf("%s: %d of %s fit: %v", path, n, word, last)
		}
	case "contains":
		for _, x := range list {
			if c.check(arg, x, path) == nil {
				return nil
			}
		}
		return fmt.Errorf("%s: does not contain %v", path, arg)
	case "if":
		then := s["then"]
		if c.check(arg, v, path) != nil {
			then = s["else"]
		}
		return c.check(then, v, path)
	case "$ref":
		to := c.root
		for step := range strings.SplitSeq(strings.TrimPrefix(arg.(string), "#"), "/") {
			if step != "" {
				step, _ = url.PathUnescape(step)
				to = to.(map[string]any)[strings.ReplaceAll(step, "~1", "/")]
			}
		}
		return c.check(to, v, path)
	case "then", "else", "$schema", "$defs", "definitions", "title", "description", "default", "examples",
		"example", "nullable", "propertyOrdering":
	default:
		panic("the test's validator does not know " + word)
	}
	return nil
}

func format(name, text string) bool {
	var err error
	switch name {
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	case "uuid":
		return regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(text)
	case "email":
		return regexp.MustCompile(`^[^@ ]+@[^@ ]+\.[a-z]+$`).MatchString(text)
	case "uri":
		var u *url.URL
		u, err = url.Parse(text)
		return err == nil && u.IsAbs()
	case "ipv4", "ipv6":
		var a netip.Addr
		a, err = netip.ParseAddr(text)
		return err == nil && a.Is4() == (name == "ipv4")
	case "int32", "int64", "float", "double":
	default:
		panic("the test does not know the format " + name)
	}
	return err == nil
}

func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v in %s", err, text)
	}
	return v
}

var schemas = []string{
	`{}`,
	`true`,
	`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"],"additionalProperties":false}`,
	`{"type":"object","properties":{},"required":["a","b"]}`,
	`{"type":"object","required":["a"],"additionalProperties":{"type":"integer","minimum":3}}`,
	`{"type":"object","minProperties":2,"additionalProperties":{"type":"boolean"}}`,
	`{"type":"object","patternProperties":{"^x_":{"type":"number"}},"required":["x_1"],"additionalProperties":false}`,
	`{"type":"object","properties":{"a":true,"b":true,"c":true},"maxProperties":1,"required":["b"]}`,
	`{"type":"object","properties":{"a":{"type":"string"},"b":false}}`,
	`{"enum":["red","green"]}`,
	`{"enum":["a",1,null],"type":"number"}`,
	`{"const":{"a":[1,2.50,"x"]}}`,
	`{"type":"string","default":"plain"}`,
	`{"type":"string","default":"too long","maxLength":3}`,
	`{"type":"integer","examples":["x",2.5,7]}`,
	`{"type":["string","null"]}`,
	`{"type":["null","integer"],"minimum":10}`,
	`{"type":"integer"}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"type":"null"}`,
	`{"type":"integer","minimum":5,"maximum":5}`,
	`{"type":"integer","exclusiveMinimum":5,"exclusiveMaximum":7}`,
	`{"type":"integer","minimum":-9,"maximum":-3}`,
	`{"type":"integer","maximum":-3}`,
	`{"type":"integer","exclusiveMaximum":-3}`,
	`{"type":"integer","minimum":2.5}`,
	`{"type":"integer","multipleOf":7,"minimum":50}`,
	`{"type":"integer","multipleOf":0.5,"minimum":50}`,
	`{"type":"integer","multipleOf":1.5,"exclusiveMinimum":6}`,
	`{"type":"number","multipleOf":0.01,"minimum":0.015,"maximum":0.03}`,
	`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.1}`,
	`{"type":"number","exclusiveMinimum":100}`,
	`{"type":"number","exclusiveMaximum":-100}`,
	`{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":0.5}`,
	`{"type":"integer","minimum":9007199254740993}`,
	`{"type":"number","minimum":1e300}`,
	`{"allOf":[{"multipleOf":4},{"multipleOf":6},{"type":"integer","minimum":13}]}`,
	`{"type":"string","minLength":20}`, `{"type":"string","maxLength":2}`, `{"type":"string","maxLength":0}`,
	`{"type":"string","minLength":3,"maxLength":3,"title":"x"}`,
	`{"type":"string","pattern":"^[A-Z]{3}-\\d+$"}`,
	`{"type":"string","pattern":"^[a-z]+$","minLength":12,"maxLength":12}`,
	`{"type":"string","pattern":"^(foo|bar)?[^a1A]*z{2,}$"}`,
	`{"type":"string","pattern":"\\p{Lu}"}`,
	`{"type":"string","pattern":"b","minLength":9}`,
	`{"type":"string","format":"date"}`, `{"type":"string","format":"date-time"}`, `{"type":"string","format":"uuid"}`,
	`{"type":"string","format":"email"}`, `{"type":"string","format":"uri"}`, `{"type":"string","format":"ipv4"}`,
	`{"type":"string","format":"ipv6"}`,
	`{"type":"array","items":{"type":"integer"}}`,
	`{"type":"array"}`, `{"type":"array","maxItems":0}`, `{"type":"array","minItems":3,"items":{"type":"string"}}`,
	`{"type":"array","minItems":4,"uniqueItems":true,"items":{"type":"string"}}`,
	`{"type":"array","minItems":4,"uniqueItems":true,"items":{"type":"integer","maximum":2}}`,
	`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}}`,
	`{"type":"array","minItems":3,"uniqueItems":true,"items":{"enum":["a","b","c"]}}`,
	`{"type":"array","minItems":2,"uniqueItems":true,"items":{"type":"boolean"}}`,
	`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string","format":"date"}}`,
	`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string","format":"uuid"}}`,
	`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}`,
	`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string","minLength":4,"maxLength":4}}`,
	`{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`,
	`{"type":"array","contains":{"const":5}}`,
	`{"anyOf":[{"type":"integer","minimum":5},{"type":"string"}],"maximum":3}`,
	`{"anyOf":[{"type":"null"},{"type":"string"}]}`,
	`{"oneOf":[{"type":"integer"},{"type":"string","maxLength":10}]}`,
	`{"oneOf":[{"required":["a"]},{"required":["b"]}],"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
	`{"type":"object","properties":{"kind":{"enum":["a","b"]}},"required":["kind"],"oneOf":[{"properties":{"kind":{"const":"b"},"n":{"type":"integer"}},"required":["n"]}]}`,
	`{"allOf":[{"type":"object","properties":{"a":{"type":"string","minLength":5}},"required":["a"]},{"properties":{"a":{"maxLength":5},"b":{"type":"integer"}},"required":["b"]}]}`,
	`{"$defs":{"n":{"type":"integer","minimum":8}},"type":"object","properties":{"a":{"$ref":"#/$defs/n","maximum":9}},"required":["a"]}`,
	`{"definitions":{"a/b":{"type":"boolean"}},"properties":{"x":{"$ref":"#/definitions/a~1b"}},"required":["x"]}`,
	`{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#"}},"required":["value"],"additionalProperties":false}`,
	`{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#"},"minItems":0},"name":{"type":"string"}},"required":["children","name"]}`,
	`{"$ref":"#/$defs/tree","$defs":{"tree":{"anyOf":[{"type":"object","properties":{"l":{"$ref":"#/$defs/tree"}},"required":["l"],"additionalProperties":false},{"type":"string"}]}}}`,
	`{"type":"object","properties":{"a":{"type":"string"}},"not":{"required":["a"]}}`,
	`{"type":"integer","not":{"const":1},"default":4}`,
	`{"type":"object","properties":{"a":{"const":1},"b":{"type":"string"}},"required":["a"],"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":false}`,
	`{"type":"OBJECT","properties":{"city":{"type":"STRING","nullable":true},"n":{"type":"INTEGER","format":"int32","minimum":3},"l":{"type":"ARRAY","items":{"type":"NUMBER"},"minItems":"2"}},"required":["city","l"],"propertyOrdering":["city","n","l"]}`,
	`{"type":"STRING","enum":["x","y"],"format":"enum"}`[:33] + `}`,
}

func TestInstance(t *testing.T) {
	for _, schema := range schemas {
		t.Run(schema, func(t *testing.T) {
			got, err := instance(schema, false)
			if err != nil {
				t.Fatal(err)
			}
			s := decode(t, schema)
			if err := (valid{s}).check(s, decode(t, got), "$"); err != nil {
				t.Errorf("%s: %v", got, err)
			}
			again, _ := instance(schema, false)
			if again != got {
				t.Errorf("then %s, now %s", got, again)
			}
		})
	}
}

// Each of these must end soon, with some JSON and no complaint.
func TestInstanceHostile(t *testing.T) {
	wide := &strings.Builder{}
	wide.WriteString(`{"type":"object","properties":{`)
	for i := range 20000 {
		fmt.Fprintf(wide, `"p%d":{"type":"string"},`, i)
	}
	wide.WriteString(`"z":{}},"required":["z"]}`)
	tests := map[string]string{
		"self":          `{"$ref":"#"}`,
		"loop":          `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"allOf loop":    `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		"anyOf loop":    `{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		"no end":        `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}},"required":["a","b","c"]}`,
		"items no end":  `{"type":"array","items":{"$ref":"#"},"minItems":9}`,
		"huge":          `{"type":"array","minItems":1e9,"items":{"type":"string","minLength":1000000000}}`,
		"huge number":   `{"type":"number","minimum":1e999999999}`,
		"impossible":    `{"type":"integer","minimum":3,"maximum":2}`,
		"never":         `{"type":"object","properties":{"a":false},"required":["a"]}`,
		"bad pattern":   `{"type":"string","pattern":"(?=x)["}`,
		"costly":        `{"type":"string","pattern":"((a{1000}){1000})"}`,
		"long pattern":  `{"type":"string","pattern":"^(([a-z]+)*[0-9]+)*$","minLength":4000}`,
		"elsewhere":     `{"$ref":"https://example.com/schema.json"}`,
		"missing":       `{"$ref":"#/$defs/none"}`,
		"wrong shapes":  `{"type":5,"properties":[1],"required":"x","enum":{},"anyOf":3,"allOf":{"a":1},"$ref":7,"items":4}`,
		"wide":          wide.String(),
		"nested choice": `{"anyOf":[` + strings.Repeat(`{"anyOf":[`, 60) + `{"type":"integer","maximum":0}` + strings.Repeat(`,{"type":"null"}]}`, 60) + `],"minimum":1,"type":"integer"}`,
	}
	for name, schema := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := instance(schema, false)
			if err != nil {
				t.Fatal(err)
			}
			if decode(t, got); len(got) > 4<<20 {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

func TestInstanceObject(t *testing.T) {
	for _, schema := range []string{`{}`, `true`, `{"type":"string"}`, `{"anyOf":[{"type":"integer"},{"type":"object","properties":{"a":{"const":1}}}]}`} {
		got, err := instance(schema, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := decode(t, got).(map[string]any); !ok && schema != `{"type":"string"}` {
			t.Errorf("%s: got %s", schema, got)
		}
	}
	for _, schema := range []string{``, `{`, `[]`, `"x"`, `false`} {
		if got, err := instance(schema, true); err == nil {
			t.Errorf("%q: got %s", schema, got)
		}
	}
}

func TestInstanceShows(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]}},"required":["city"]}`, `{"city":"city","unit":"c"}`},
		{`{"properties":{"note":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`, `{"note":"note"}`},
		{`{"type":"array","items":{"type":"integer"}}`, `[1]`},
	}
	for _, tt := range tests {
		if got, _ := instance(tt.schema, false); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.schema, got, tt.want)
		}
	}
}

func FuzzInstance(f *testing.F) {
	for _, s := range schemas {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		got, err := instance(schema, false)
		if err != nil {
			return
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("not JSON: %q", got)
		}
		if len(got) > math.MaxInt32>>8 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
