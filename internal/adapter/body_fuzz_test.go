package adapter

import (
	"io"
	"slices"
	"testing"

	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
)

// FuzzSplice checks that the members of a spliced document are those of the original, with
// the given ones replaced, removed and inserted. Two bits of choice say what becomes of each
// member: it is not known, kept, removed or replaced.
func FuzzSplice(f *testing.F) {
	for _, s := range []string{`{}`, ` { "a" : 1 , "b":"," , "c":{"a":2} } `, `{"\u0061":[1,{"b":2}],"b\"":"\\\"","c":"}"}`, `{"a":1,"b":2,"c":3,"d":4}`} {
		for _, choice := range []uint64{0, 0x55, 0xaa, 0xff, 0x2a, 0x96} {
			f.Add(s, choice)
		}
	}
	f.Fuzz(func(t *testing.T, body string, choice uint64) {
		d := &document.Document{Body: body}
		before, ok := membersOf(body)
		if !ok {
			return
		}
		members := []Member{{"z1", ""}, {"z2", "[0]"}}
		want := []Member{{"z2", "[0]"}}
		doc, err := jsonwire.Parse(body, jsonwire.Limits{})
		if err != nil {
			return
		}
		defer doc.Close()
		for name, v := range doc.Root().Members() {
			if name == "z1" || name == "z2" || hasQuote(name) {
				return
			}
			kind := choice & 3
			choice >>= 2
			if kind > 0 {
				d.Spans = append(d.Spans, document.Span{Name: name, From: v.Offset(), To: v.End()})
			}
			m := before[0]
			before = before[1:]
			switch kind {
			case 2:
				members = append(members, Member{name, ""})
				continue
			case 3:
				m.Value = `{"new":null}`
				members = append(members, m)
			}
			want = append(want, m)
		}
		b := Splice(d, members...)
		got, err := io.ReadAll(b.Reader())
		if err != nil || int64(len(got)) != b.Len() {
			t.Fatalf("%d bytes, want %d: %v", len(got), b.Len(), err)
		}
		after, ok := membersOf(string(got))
		if !ok || !slices.Equal(after, want) {
			t.Errorf("%s became %s, want %v", body, got, want)
		}
	})
}

// membersOf returns the members of an object in their order.
func membersOf(body string) (list []Member, ok bool) {
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		return nil, false
	}
	defer doc.Close()
	if doc.Root().Kind() != jsonwire.Object {
		return nil, false
	}
	for name, v := range doc.Root().Members() {
		list = append(list, Member{name, v.Raw()})
	}
	return list, true
}

// hasQuote reports whether a name has a quote, which no name of a span has.
func hasQuote(name string) bool { return slices.Contains([]byte(name), '"') }
