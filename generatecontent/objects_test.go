package generatecontent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/object"
)

// A sample is a minimal request with one field of the tables: in canonical form, in
// another spelling, with an unknown name next to the field, and with the field in both
// spellings.
type sample struct{ path, canonical, other, odd, both string }

// samples returns the samples of an object and of the objects in it, to a depth that
// includes every field.
func samples(t *object.Type, path string, depth int, seen map[*object.Type]int, wrap func(string) string, wrapOther func(string) string) (all []sample) {
	if seen[t] >= 2 || depth > 8 { // schemas contain schemas
		return nil
	}
	seen[t]++
	defer func() { seen[t]-- }()
	for i := range t.Fields {
		f := &t.Fields[i]
		v := f.Value
		in := func(name, companion string, wrap func(string) string, list bool) func(string) string {
			return func(v string) string {
				if list {
					v = "[" + v + "]"
				}
				return wrap(`{` + companion + `"` + name + `":` + v + `}`)
			}
		}
		with := ""
		switch {
		case t == partType && !f.IsTag:
			with = `"text":"t",` // a part needs data
		case t == blobType && v != fileBytes:
			with = `"data":"+/+/Zg==",` // a file too
		case t == contentType && f.Name != "role" && strings.HasPrefix(path, ".contents"):
			with = `"role":"user",`
		case t == responseType && f.Name != "response":
			with = `"response":{},`
		}
		list, either := v.Elem != nil, v.Elem != nil && v.Kinds != object.List
		camel, snake := in(f.Name, with, wrap, list), in(f.Alias, with, wrapOther, either)
		where := path + "." + f.Name
		if list {
			v = v.Elem
		}
		if v.Members != nil {
			inner, innerOther := camel, snake
			camel = func(v string) string { return inner(`{"a_b":` + v + `}`) }
			snake = func(v string) string { return innerOther(`{"a_b":` + v + `}`) }
			v = v.Members
		}
		if v.Object != nil && len(v.Object.Fields) > 0 {
			all = append(all, samples(v.Object, where, depth+1, seen, camel, snake)...)
			continue
		}
		text, other := sampleValue(v)
		s := sample{path: where, canonical: camel(text), other: snake(other)}
		if list {
			text = "[" + text + "]"
		}
		s.odd = wrap(`{` + with + `"` + f.Name + `":` + text + `,"odd_name":1}`)
		if f.Name != f.Alias {
			s.both = wrap(`{` + with + `"` + f.Name + `":` + text + `,"` + f.Alias + `":` + text + `}`)
		}
		all = append(all, s)
	}
	return all
}

// sampleValue returns a value in canonical form and in another spelling.
func sampleValue(v *object.Value) (canonical, other string) {
	switch {
	case v.Enum != nil:
		last := v.Enum.Values[len(v.Enum.Values)-1]
		if last == strings.ToLower(last) {
			return `"` + last + `"`, `"` + strings.ToUpper(last) + `"`
		}
		return `"` + last + `"`, `"` + strings.ToLower(last) + `"`
	case v.Object != nil:
		return `{}`, `{}`
	case v.Form == object.Base64:
		return `"+/+/Zg=="`, `"+/+/Zg=="`
	case v.Form == object.Timestamp:
		return `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05Z"`
	case v.Form == object.Int32:
		return `3`, `"3.0"`
	}
	switch v.Kinds {
	case object.Flag:
		return `true`, `true`
	case object.Integer:
		return `3`, `3.0`
	case object.Number:
		return `0.5`, `"0.5"`
	case object.Object, object.Any:
		return `{"a_b":[1.0,null],"aB":{"c_d":"x"}}`, `{"a_b":[1.0,null],"aB":{"c_d":"x"}}`
	}
	return `"user"`, `"user"`
}

// TestEveryField checks every field of the tables, at every depth. The camelCase form is
// canonical. The form with snake_case, one value for a list, enums in another case and
// numbers as strings parses to the same request. Strict refuses an unknown name next to
// the field. Both spellings at once are a violation.
func TestEveryField(t *testing.T) {
	same := func(s string) string { return s }
	all := samples(requestType, "", 0, map[*object.Type]int{}, same, same)
	if len(all) < 200 {
		t.Fatalf("only %d fields", len(all))
	}
	for _, s := range all {
		want := strings.ReplaceAll(s.canonical, `"_responseJsonSchema"`, `"responseJsonSchema"`)
		want = strings.ReplaceAll(want, `"systemInstruction":{"role":"user"}`, `"systemInstruction":{}`)
		r, err := ParseRequestString(s.canonical)
		if err != nil {
			t.Errorf("%s: %v\n%s", s.path, err, s.canonical)
			continue
		}
		other, err := ParseRequestString(s.other)
		if err != nil {
			t.Errorf("%s: %v\n%s", s.path, err, s.other)
			continue
		}
		if diff := cmp.Diff(r, other, ignoreOrigin); diff != "" {
			t.Errorf("%s (-canonical +other):\n%s\n%s", s.path, diff, s.other)
		}
		if _, err := ParseRequestString(s.both); s.both != "" && !strings.Contains(fmt.Sprint(err), "The field is already set") {
			t.Errorf("%s in both spellings: %v", s.path, err)
		}
		odd, err := ParseRequestString(s.odd)
		if err != nil {
			t.Errorf("%s: %v", s.path, err)
			continue
		}
		if got := formattest.Violations(odd.Validate(&ValidateOptions{Strict: true})); len(got) == 0 || !strings.Contains(got[0], `Unknown name "odd_name"`) {
			t.Errorf("%s: strict rules do not see the name beside it: %q", s.path, got)
		}
		for _, q := range []*Request{r, other} {
			got, err := q.AppendJSON(nil)
			if err != nil {
				t.Errorf("%s: %v", s.path, err)
				continue
			}
			if diff := sameJSON(t, want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", s.path, diff)
			}
			for _, e := range formattest.Violations(q.Validate(&ValidateOptions{Strict: true})) {
				if strings.HasPrefix(e, "unknown") {
					t.Errorf("%s: %s", s.path, e)
				}
			}
		}
	}
}
