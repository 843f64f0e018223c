package handler

import (
	"strings"
	"unicode/utf8"
)

// OneLine returns s cut to at most limit bytes, with spaces for line breaks and
// control characters.
func OneLine(s string, limit int) string {
	if len(s) > limit {
		cut := limit - len("…")
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r == 0x7f, r == '\u0085', r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, s)
}
