package codec

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/redact"
)

// Names are the members that one object of an API has: typed ones have a field
// in Go, kept ones are known to the API and live in an Extra. Tables of names
// are never changed.
type Names struct{ Typed, Kept []string }

// Has reports whether name has a field.
func (n *Names) Has(name string) bool { return slices.Contains(n.Typed, name) }

// An Index of names finds those that a name could be taken for. It has one bit
// for each, by their length; a table has 64 names at most. It is made for an
// object whose members nobody knows, of which there may be very many.
type Index struct {
	names    *Names
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

// Find returns the known name that name is, or that a laxer reader would take
// it for: see [SimilarName]. It returns "" if there is none. typed says that it
// has a field.
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

// folded returns how many characters name has before a NUL, and these. Before i
// all of it is ASCII. Of other characters only two are letters of ASCII when
// their case is folded: a name with others is like none and has no characters.
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

// SimilarName returns the first of the known names that a laxer reader would take
// name for: one that ignores case, or one whose strings end at a NUL. It
// returns "" if there is none.
func SimilarName(name string, known []string) string {
	cut, _, _ := strings.Cut(name, "\x00")
	for _, k := range known {
		if strings.EqualFold(k, cut) {
			return k
		}
	}
	return ""
}

// MaxQuoted bounds what an error repeats of the document.
const MaxQuoted = 64

// Clip returns s as an error may repeat it: its beginning if it is long, and
// URLs without user-info, query and fragment.
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
