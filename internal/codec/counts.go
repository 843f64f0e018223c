package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Counts reports whether the members of a usage that are of another format than
// f count anything. Words, such as those for the kind of service, are no counts,
// and nothing is lost of one that is zero.
func Counts(x *content.Extra, f content.Format) bool {
	if x == nil || Ours(x, f) != nil {
		return false
	}
	doc := Open(x, x.Format)
	if doc == nil {
		return true
	}
	defer doc.Close()
	return counts(doc.Root(), 0)
}

// mostNested bounds how deep counts are looked for; usages are flat.
const mostNested = 16

func counts(v jsonwire.Value, depth int) bool {
	if depth > mostNested {
		return true
	}
	switch v.Kind() {
	case jsonwire.Number:
		n, ok := v.Float()
		return !ok || n != 0
	case jsonwire.Object:
		for _, x := range v.Members() {
			if counts(x, depth+1) {
				return true
			}
		}
	case jsonwire.Array:
		for _, x := range v.Elems() {
			if counts(x, depth+1) {
				return true
			}
		}
	}
	return false
}
