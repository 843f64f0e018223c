package jsonwire

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. It escapes quotes, backslashes and
// control characters, and replaces each byte that is not valid UTF-8 by U+FFFD. The
// result is valid JSON on one line for any s.
func AppendString(dst []byte, s string) []byte {
	from := len(dst)
	dst, high := appendEscaped(append(dst, '"'), s)
	if high && !utf8.ValidString(s) {
		// Rare, so the slow path starts over.
		dst, _ = appendEscaped(append(dst[:from], '"'), toUTF8(s))
	}
	return append(dst, '"')
}

// appendEscaped appends s escaped, without quotes, and reports whether it has bytes
// other than ASCII. If s is not valid UTF-8, neither is the result.
func appendEscaped(dst []byte, s string) (_ []byte, high bool) {
	// There is always room for the rest of s unescaped, one escape, and one word
	// that is written ahead.
	const reserve = 16
	n := len(dst)
	dst = slices.Grow(dst, len(s)+reserve)
	dst = dst[:cap(dst)]
	var seen uint64
	for i := 0; i < len(s); {
		if i <= len(s)-8 {
			x := load(s, i)
			binary.LittleEndian.PutUint64(dst[n:], x)
			m := special(x)
			if m == 0 {
				seen |= x
				i += 8
				n += 8
				continue
			}
			seen |= x & belowMarked(m)
			i += firstMarked(m)
			n += firstMarked(m)
		} else if c := s[i]; c != '"' && c != '\\' && c >= ' ' {
			seen |= uint64(c)
			dst[n] = c
			i++
			n++
			continue
		}
		for i < len(s) && escapeLetters[s[i]] != 0 && len(dst)-n >= len(s)-i+reserve {
			n += putEscape(dst[n:], s[i])
			i++
		}
		if len(dst)-n < len(s)-i+reserve {
			dst = slices.Grow(dst[:n], 2*(len(s)-i)+reserve)
			dst = dst[:cap(dst)]
		}
	}
	return dst[:n], seen&highs != 0
}

// escapeLetters maps each byte that must be escaped to the letter of its escape.
var escapeLetters = [256]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
	0: 'u', 1: 'u', 2: 'u', 3: 'u', 4: 'u', 5: 'u', 6: 'u', 7: 'u', 11: 'u', 14: 'u', 15: 'u',
	16: 'u', 17: 'u', 18: 'u', 19: 'u', 20: 'u', 21: 'u', 22: 'u', 23: 'u', 24: 'u', 25: 'u',
	26: 'u', 27: 'u', 28: 'u', 29: 'u', 30: 'u', 31: 'u',
}

// putEscape writes the escape of c to dst, which has room for six bytes, and
// returns its length.
func putEscape(dst []byte, c byte) int {
	const hex = "0123456789abcdef"
	_ = dst[5]
	dst[0], dst[1] = '\\', escapeLetters[c]
	if dst[1] != 'u' {
		return 2
	}
	dst[2], dst[3], dst[4], dst[5] = '0', '0', hex[c>>4], hex[c&15]
	return 6
}

// toUTF8 returns s with each invalid byte replaced by U+FFFD.
func toUTF8(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for _, r := range s { // range yields U+FFFD for an invalid byte
		b.WriteRune(r)
	}
	return b.String()
}

// AppendInt appends n in decimal.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendFloat appends f in the fewest digits that identify it. Infinities and NaN
// become null.
func AppendFloat(dst []byte, f float64) []byte {
	if f-f != 0 {
		return append(dst, "null"...)
	}
	format := byte('f')
	if a := max(f, -f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// AppendCompact appends json, a valid document, without the white space between its
// tokens. The result has no line breaks.
func AppendCompact(dst []byte, json string) []byte {
	from := 0
	for i := 0; i < len(json); {
		switch c := json[i]; {
		case c == '"':
			i = stringEnd(json, i)
		case c <= ' ':
			dst = append(dst, json[from:i]...)
			// In a valid document it is white space.
			for i++; i < len(json) && json[i] <= ' '; {
				i++
			}
			from = i
		default:
			i++
		}
	}
	return append(dst, json[from:]...)
}

// stringEnd returns the index after the valid string that begins at i.
func stringEnd(json string, i int) int {
	for i++; i < len(json); {
		if i <= len(json)-8 {
			m := special(load(json, i))
			if m == 0 {
				i += 8
				continue
			}
			i += firstMarked(m)
		}
		switch json[i] {
		case '"':
			return i + 1
		case '\\':
			i += 2
		default:
			i++
		}
	}
	return len(json)
}
