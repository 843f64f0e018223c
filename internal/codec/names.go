package codec

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/redact"
)

// Names lists the members that an API defines for one object. Typed members have a
// field in the Go type, and Kept members are kept in an Extra. Names is read-only.
type Names struct{ Typed, Kept []string }

// Has reports whether the member with the given name has a field.
func (n *Names) Has(name string) bool { return slices.Contains(n.Typed, name) }

// An Index finds known names that are equal or similar to a name. It is for objects
// with many unknown members, and for at most 64 known names.
type Index struct {
	names *Names

	// byLength has a bit for each known name, at the length of the name modulo 16.
	byLength [16]uint64
}

// Index returns an index of the names.
func (n *Names) Index() (x Index) {
	x.names = n
	for i, known := range n.Typed {
		x.byLength[len(known)&15] |= 1 << i
	}
	for i, known := range n.Kept {
		x.byLength[len(known)&15] |= 1 << (len(n.Typed) + i)
	}
	return x
}

// Find returns the known name that is equal to name or similar to it: see
// [SimilarName]. It returns "" if there is none. typed reports whether the known
// member has a field.
func (x *Index) Find(name string) (known string, typed bool) {
	n, cut := len(name), name
	for i := range len(name) {
		c := name[i]
		if c > 0 && c < utf8.RuneSelf {
			continue
		}
		if n, cut = folded(name, i); n == 0 {
			return "", false
		}
		break
	}
	t := len(x.names.Typed)
	for set := x.byLength[n&15]; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if typed = i < t; typed {
			known = x.names.Typed[i]
		} else {
			known = x.names.Kept[i-t]
		}
		if known == name || strings.EqualFold(known, cut) {
			return known, typed
		}
	}
	return "", false
}

// folded returns the number of characters of name before a NUL, and these characters.
// name[:i] is ASCII. Only two other characters fold to ASCII letters; for a name with
// any others, folded returns 0.
func folded(name string, i int) (n int, cut string) {
	for n = i; i < len(name) && name[i] != 0; n++ {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r >= utf8.RuneSelf && r != '\u017F' && r != '\u212A' {
			return 0, ""
		}
		i += size
	}
	return n, name[:i]
}

// SimilarName returns the first known name that is equal to name for a parser that
// ignores case or ends strings at a NUL. It returns "" if there is none.
func SimilarName(name string, known []string) string {
	cut, _, _ := strings.Cut(name, "\x00")
	for _, k := range known {
		if strings.EqualFold(k, cut) {
			return k
		}
	}
	return ""
}

// MaxModelName is the maximum length of a model name in a request, in bytes.
const MaxModelName = 1024

// MaxQuoted is the maximum length of text from the document that an error quotes, in
// bytes.
const MaxQuoted = 64

// Clip returns s for quoting in an error. It shortens s to [MaxQuoted] bytes, and
// removes user-info, query and fragment from URLs.
func Clip(s string) string {
	if strings.Contains(s, "//") {
		s = redact.Line(s)
	}
	if len(s) <= MaxQuoted {
		return s
	}
	n := 0
	for i := range s {
		if i > MaxQuoted {
			break
		}
		n = i
	}
	return s[:n] + "…"
}
