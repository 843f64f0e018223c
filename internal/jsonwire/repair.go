package jsonwire

import (
	"strings"
	"unicode/utf8"
)

// repair returns a copy of src in which each byte of a string that is not part
// of UTF-8, and each escape that is half of a surrogate pair, is U+FFFD, and
// how many there were. What is outside of strings stays as it is. It is for
// documents that are known to be broken, and so need not be quick.
func repair(src string) (string, int) {
	const replacement = "\uFFFD"
	var b strings.Builder
	b.Grow(len(src) + 64)
	count, from, inside := 0, 0, false
	replace := func(i, n int) {
		b.WriteString(src[from:i])
		b.WriteString(replacement)
		from = i + n
		count++
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '"':
			inside = !inside
			i++
		case !inside:
			i++
		case c == '\\':
			n, lone := escape(src, i)
			if lone {
				replace(i, n)
			}
			i += n
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(src[i:])
			if r == utf8.RuneError && n == 1 {
				replace(i, 1)
			}
			i += n
		}
	}
	b.WriteString(src[from:])
	return b.String(), count
}

// escape returns the length of the escape at i, both halves of a pair together,
// and whether it is half of a pair. One that is no valid escape is left to the
// scanner to refuse.
func escape(src string, i int) (n int, lone bool) {
	s := scanner{src: src}
	end, _ := s.unicode(i)
	switch {
	case end >= 0:
		return end - i, false
	case s.reason == LoneSurrogate:
		return 6, true
	}
	return 2, false
}
