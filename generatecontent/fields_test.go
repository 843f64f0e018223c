package generatecontent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/formattest"
)

// A sample is a minimal request with one field of the tables: in canonical form, in
// another spelling, with an unknown name next to the field, and with the field in both
// spellings.
type sample struct{ path, canonical, other, odd, both string }

// samples returns the samples of a message and of the messages in it, to a depth that
// includes every field.
func samples(m *message, path string, depth int, seen map[*message]int, wrap func(string) string, wrapOther func(string) string) (list []sample) {
	if seen[m] >= 2 || depth > 8 { // schemas contain schemas
		return nil
	}
	seen[m]++
	defer func() { seen[m]-- }()
	for i := range m.fields {
		f := &m.fields[i]
		in := func(name, companion string, wrap func(string) string, list bool) func(string) string {
			return func(v string) string {
				if list {
					v = "[" + v + "]"
				}
				return wrap(`{` + companion + `"` + name + `":` + v + `}`)
			}
		}
		with := ""
		if m == partFields && i >= partData {
			with = `"text":"t",` // a part needs data
		}
		if m == blobFields && i != fBlobData {
			with = `"data":"+/+/Zg==",` // a file too
		}
		if m == contentFields && i != fRole && strings.HasPrefix(path, ".contents") {
			with = `"role":"user",`
		}
		if m == responseFields && i != fRespObject {
			with = `"response":{},`
		}
		camel, snake := in(m.camel[i], with, wrap, f.list), in(m.snake[i], with, wrapOther, f.either)
		where := path + "." + m.camel[i]
		of := f.of
		switch f.kind {
		case kSelf, kSelfMap:
			of = m
		}
		if f.kind == kSelfMap {
			inner, innerOther := camel, snake
			camel = func(v string) string { return inner(`{"a_b":` + v + `}`) }
			snake = func(v string) string { return innerOther(`{"a_b":` + v + `}`) }
		}
		if of != nil && len(of.fields) > 0 {
			list = append(list, samples(of, where, depth+1, seen, camel, snake)...)
			continue
		}
		v, other := sampleValue(f)
		s := sample{path: where, canonical: camel(v), other: snake(other)}
		if f.list {
			v = "[" + v + "]"
		}
		s.odd = wrap(`{` + with + `"` + m.camel[i] + `":` + v + `,"odd_name":1}`)
		if m.camel[i] != m.snake[i] {
			s.both = wrap(`{` + with + `"` + m.camel[i] + `":` + v + `,"` + m.snake[i] + `":` + v + `}`)
		}
		list = append(list, s)
	}
	return list
}

// sampleValue returns a value of a field's type, in canonical form and in another spelling.
func sampleValue(f *field) (canonical, other string) {
	switch f.kind {
	case kBool:
		return `true`, `true`
	case kInt32:
		return `3`, `"3.0"`
	case kInt64:
		return `3`, `3.0`
	case kFloat:
		return `0.5`, `"0.5"`
	case kBytes:
		return `"+/+/Zg=="`, `"+/+/Zg=="`
	case kTime:
		return `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05Z"`
	case kEnum:
		last := f.enum.values[len(f.enum.values)-1]
		if last == strings.ToLower(last) {
			return `"` + last + `"`, `"` + strings.ToUpper(last) + `"`
		}
		return `"` + last + `"`, `"` + strings.ToLower(last) + `"`
	case kMessage:
		return `{}`, `{}`
	case kStruct, kValue:
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
	all := samples(requestFields, "", 0, map[*message]int{}, same, same)
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
