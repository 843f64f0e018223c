package formattest

import (
	"iter"
	"strconv"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// CheckWrongTypes checks that a member or element of a wrong type is
// reported as exactly one violation, by the parser and by the validator alike.
// The documents must be valid and contain all unions of their format. read
// parses a document and returns a function that validates it.
func CheckWrongTypes(t *testing.T, documents []string, read func(doc string) (validate func() error, parsed error)) {
	t.Helper()
	n := 0
	for _, doc := range documents {
		if validate, parsed := read(doc); parsed != nil || validate() != nil {
			t.Fatalf("%s: %v, %v", doc, parsed, validate())
		}
		for where, doc := range wrongTypes(doc) {
			validate, parsed := read(doc)
			list, more := content.Violations(parsed)
			if len(list) != 1 || more != 0 {
				continue // the type is valid here, or the value has several violations
			}
			n++
			if valid := validate(); valid == nil || valid.Error() != list[0].Error() {
				t.Errorf("%s: parser %v\nvalidator %v", where, list[0], valid)
			}
		}
	}
	if n < 1000 {
		t.Errorf("got only %d members of wrong types, want 1000", n)
	}
}

// wrongTypes yields the document with one of its members or elements replaced,
// for each of them and for values of several types, and its path. It panics if
// the document is not valid JSON.
func wrongTypes(doc string) iter.Seq2[string, string] {
	return func(yield func(where, doc string) bool) {
		d, err := jsonwire.Parse(doc, jsonwire.Limits{Depth: 1000, Values: 1 << 20})
		if err != nil {
			panic(err)
		}
		defer d.Close()
		var walk func(v jsonwire.Value, path string) bool
		walk = func(v jsonwire.Value, path string) bool {
			if path != "" {
				from := v.Offset()
				for _, wrong := range [...]string{`4`, `-0.5`, `"x"`, `""`, `{}`, `[]`, `true`, `null`, `[4]`, `{"x":4}`, `[[]]`} {
					if !yield(path+"="+wrong, doc[:from]+wrong+doc[from+len(v.Raw()):]) {
						return false
					}
				}
			}
			for name, x := range v.Members() {
				if !walk(x, path+"."+name) {
					return false
				}
			}
			for i, x := range v.Elems() {
				if !walk(x, path+"."+strconv.Itoa(i)) {
					return false
				}
			}
			return true
		}
		walk(d.Root(), "")
	}
}
