package main

import (
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	tests := []struct {
		name, a, b       string
		removed, changed []string // texts of a
	}{
		{"equal", `{"a":1}`, `{"a":1}`, nil, nil},
		{"added member", `{"a":1}`, `{"b":0,"a":1}`, nil, nil},
		{"removed member", `{"a":1,"b":2}`, `{"a":1}`, []string{`"b":2`}, nil},
		{"other order", `{"a":1,"b":2,"c":3}`, `{"c":3,"a":1,"b":4}`, nil, []string{`"b":2`}},
		{"ignored member", `{"a":1,"key":2}`, `{"a":1,"key":3}`, nil, nil},
		{"member with the ignored name further inside", `{"a":{"key":2}}`, `{"a":{"key":3}}`, nil, []string{`"key":2`}},
		{"scalar", `{"a":[1,2,3]}`, `{"a":[1,5,3]}`, nil, []string{`2`}},
		{"removed element", `[1,2,3]`, `[1,3]`, []string{`2`}, nil},
		{"one of equal elements", `[7,7,7]`, `[7,7]`, []string{`7`}, nil},
		{"changed and removed elements", `[{"id":"a","text":"long enough"},{"id":"b","text":"x"},9]`, `[{"id":"a","text":"long"},9]`,
			[]string{`{"id":"b","text":"x"}`}, []string{`"text":"long enough"`}},
		{"removed before changed", `[{"id":"b","text":"x"},{"id":"a","text":"long enough to be equal"},9]`, `[{"id":"a","text":"long enough to be eq"},9]`,
			[]string{`{"id":"b","text":"x"}`}, []string{`ual`}},
		{"added element", `[1,{"a":1}]`, `[1,5,{"a":2}]`, nil, []string{`"a":1`}},
		{"element added to an empty list", `{"a":[]}`, `{"a":[1]}`, nil, []string{`"a":[]`}},
		{"member added to an empty object", `[{"a":{}}]`, `[{"a":{"b":1}}]`, nil, []string{`"a":{}`}},
		{"begin of a string", `{"a":"Error: no such file"}`, `{"a":"no such file"}`, nil, []string{`Error: `}},
		{"middle of a string", `{"a":"one\n\ntwo two\n\nthree"}`, `{"a":"one\n\n-\n\nthree"}`, nil, []string{`two two`}},
		{"part of an escape", `{"a":"same same \u0041"}`, `{"a":"same same \u0042"}`, nil, []string{`\u0041`}},
		{"part of a character", `{"a":"same same é"}`, `{"a":"same same è"}`, nil, []string{`é`}},
		{"string that begins with the other one", `{"a":"one"}`, `{"a":"one two"}`, nil, []string{`"a":"one"`}},
		{"other string", `{"a":"high"}`, `{"a":"low"}`, nil, []string{`"a":"high"`}},
		{"list that becomes a string", `{"a":[{"text":"x"},{"image":1}]}`, `{"a":"x"}`, []string{`{"image":1}`}, nil},
		{"list that becomes another string", `{"a":[{"text":"x"}]}`, `{"a":"y"}`, nil, []string{`"a":[{"text":"x"}]`}},
		{"other type", `{"a":{"b":1}}`, `{"a":2}`, nil, []string{`"a":{"b":1}`}},
		{"not objects", `[1]`, `2`, nil, []string{`[`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newTree(tt.a)
			d := compare(a, newTree(tt.b), "key")
			var removed, changed []string
			for _, n := range d.removed {
				at := a.place(n)
				removed = append(removed, tt.a[at.From:at.To])
			}
			for _, c := range d.changed {
				at := a.place(c.node)
				if c.to > 0 {
					begin := int(a.nodes[c.node].from)
					at = span{begin + c.from, begin + c.to}
				}
				changed = append(changed, tt.a[at.From:at.To])
			}
			if !slices.Equal(removed, tt.removed) || !slices.Equal(changed, tt.changed) {
				t.Errorf("removed %q, changed %q, want %q, %q", removed, changed, tt.removed, tt.changed)
			}
		})
	}
}
