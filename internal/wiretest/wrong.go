package wiretest

import (
	"iter"
	"strconv"

	"github.com/polywire/polywire/internal/jsonwire"
)

// WrongTypes yields a document again and again, each time with another of its
// members or elements replaced by a value of some type, and says which: mostly it
// is not the type that it should have. It panics if the document is no JSON.
func WrongTypes(doc string) iter.Seq2[string, string] {
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
