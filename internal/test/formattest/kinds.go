package formattest

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/sjson"
)

// A Needed is a document, the sjson path of a required member, and the kinds of
// JSON values that a reader accepts there, such as "null string". An empty path
// is that of the whole document.
type Needed [3]string

// WrongKinds calls f for each document in list, once for each kind of value
// that the member must not have.
func WrongKinds(t *testing.T, list []Needed, f func(t *testing.T, n Needed, broken string)) {
	t.Helper()
	values := map[string]string{
		"null": `null`, "boolean": `true`, "number": `7`, "string": `"x"`, "array": `[1]`, "object": `{"x":1}`,
	}
	for _, n := range list {
		for kind, value := range values {
			if slices.Contains(strings.Fields(n[2]), kind) {
				continue
			}
			broken := value
			if n[1] != "" {
				var err error
				if broken, err = sjson.SetRaw(n[0], n[1], value); err != nil {
					t.Fatal(err)
				}
			}
			name := n[1]
			if name == "" {
				name = "the document"
			}
			t.Run(name+" is "+kind, func(t *testing.T) { f(t, n, broken) })
		}
	}
}
