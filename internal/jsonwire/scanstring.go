package jsonwire

import "unicode/utf8"

// sweepAfter is how many bytes of a string must be plain before it is tried as
// base64. Shorter ones are checked when somebody asks.
const sweepAfter = 64

// str scans the string whose opening quote is at i, appends its node, and
// returns the index behind its closing quote.
func (s *scanner) str(i int) int {
	src, start := s.src, i
	meta, shrink := uint32(String), 0
	var seen uint64 // all bytes together, for the top bits
	for i++; ; {
		if i <= len(src)-8 {
			x := load(src, i)
			m := special(x)
			if m == 0 {
				seen |= x
				i += 8
				if i-start == 1+sweepAfter && isBase64(x) {
					var whole bool
					if i, whole = sweep(src, start+1, i); whole {
						meta |= flagBase64
					}
				}
				continue
			}
			seen |= x & below(m)
			i += first(m)
		} else if i >= len(src) {
			return s.truncated(i, "")
		} else if c := src[i]; c != '"' && c != '\\' && c >= ' ' {
			seen |= uint64(c)
			i++
			continue
		}
		switch src[i] {
		case '"':
			i++
			if seen&highs != 0 && !s.utf8(start, i) {
				return -1
			}
			return s.add(start, i, meta|uint32(min(shrink, numMax))<<numShift)
		case '\\':
			// Where there is one, others often follow at once.
			from := i
			for i+1 < len(src) && src[i] == '\\' && simple[src[i+1]] != 0 {
				i += 2
			}
			if i > from {
				shrink += (i - from) / 2
				continue
			}
			n, size := s.unicode(i)
			if n < 0 {
				return n
			}
			shrink += n - i - size
			i = n
		default:
			return s.fail(i, Syntax, "a control character in a string must be escaped")
		}
	}
}

// sweep reads on in a string that begins at from and is plain up to i, as far
// as it is base64. It returns where to go on, and whether what is there is the
// string's end.
func sweep(src string, from, i int) (int, bool) {
	end := base64Span(src, from)
	if end < i {
		return i, false
	}
	i = end
	for i < len(src) && src[i] == '=' && i < end+2 {
		i++
	}
	return i, i < len(src) && src[i] == '"'
}

// utf8 checks the text from start to end.
func (s *scanner) utf8(start, end int) bool {
	if utf8.ValidString(s.src[start:end]) {
		return true
	}
	for i := start; ; {
		r, n := utf8.DecodeRuneInString(s.src[i:])
		if r == utf8.RuneError && n == 1 {
			s.fail(i, InvalidUTF8, "a string is not valid UTF-8")
			return false
		}
		i += n
	}
}

// simple has for the letter of each escape but \u what it stands for.
var simple = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicode scans an escape at i that is none of the simple ones. It returns the
// index behind it and the length of what it stands for.
func (s *scanner) unicode(i int) (end, size int) {
	const wrong = "invalid escape sequence in a string"
	src := s.src
	if i+1 >= len(src) || src[i+1] != 'u' {
		return s.truncated(i+1, wrong), 0
	}
	r, bad := hex4(src, i+2)
	if bad >= 0 {
		return s.truncated(bad, wrong), 0
	}
	if r < 0xD800 || r > 0xDFFF {
		return i + 6, utf8.RuneLen(r)
	}
	if r < 0xDC00 && i+7 < len(src) && src[i+6] == '\\' && src[i+7] == 'u' {
		if low, bad := hex4(src, i+8); bad < 0 && low >= 0xDC00 && low <= 0xDFFF {
			return i + 12, 4
		}
	}
	return s.fail(i, LoneSurrogate, "an escape sequence in a string is half of a surrogate pair"), 0
}

// hex4 reads the four hexadecimal digits at i. If one of them is none, bad is
// its index, else -1.
func hex4(src string, i int) (r rune, bad int) {
	for j := i; j < i+4; j++ {
		if j >= len(src) {
			return 0, j
		}
		c := src[j]
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, j
		}
		r = r<<4 | rune(c)
	}
	return r, -1
}
