package jsonwire

import "strings"

// A Base64Error is the reason why a string is not valid base64; 0 means that it is
// valid.
type Base64Error uint8

// The reasons.
const (
	Base64NotString    Base64Error = iota + 1 // the value is not a String
	Base64Empty                               // the string is empty
	Base64Escaped                             // the JSON string has escapes
	Base64LineBreak                           // CR or LF
	Base64Alphabet                            // any other character outside the alphabet
	Base64Mixed                               // characters of both alphabets
	Base64Padding                             // '=' missing, too many, or not at the end
	Base64Length                              // one character too many
	Base64TrailingBits                        // the last character has nonzero unused bits
)

// String returns a phrase that continues "the data …", or "" for 0.
func (e Base64Error) String() string {
	switch e {
	case Base64NotString:
		return "must be a string"
	case Base64Empty:
		return "must not be empty"
	case Base64Escaped:
		return "must be base64 without escape sequences"
	case Base64LineBreak:
		return "must be base64 without line breaks"
	case Base64Alphabet:
		return "has a character that is not in the base64 alphabet"
	case Base64Mixed:
		return "mixes the standard and the URL-safe base64 alphabet"
	case Base64Padding:
		return "has missing or misplaced base64 padding"
	case Base64Length:
		return "has an impossible length for base64"
	case Base64TrailingBits:
		return "has nonzero bits after the end of its base64"
	}
	return ""
}

// Base64 returns the text of a String that is valid as in [CheckBase64] and has no
// escapes. It does not decode the text. Parse has checked long texts already, so
// they are not scanned again unless they are invalid.
func (v Value) Base64() (data string, e Base64Error) {
	n := v.node()
	switch {
	case n.kind() != String:
		return "", Base64NotString
	case n.num() > 0:
		return "", Base64Escaped
	}
	data = v.d.src[n.start+1 : n.end-1]
	if n.meta&flagBase64 != 0 {
		e = base64End(data)
	} else {
		e = CheckBase64(data)
	}
	if e != 0 {
		return "", e
	}
	return data, 0
}

// LenientBase64 is like Base64, but accepts either the standard or the URL-safe
// alphabet, with or without padding. standard reports whether data is also valid for
// Base64.
func (v Value) LenientBase64() (data string, standard bool, e Base64Error) {
	data, e = v.Base64()
	if e == 0 {
		return data, true, 0
	}
	if e == Base64NotString || e == Base64Empty || e == Base64Escaped {
		return "", false, e
	}
	n := v.node()
	data = v.d.src[n.start+1 : n.end-1]
	if e = CheckLenientBase64(data); e != 0 {
		return "", false, e
	}
	return data, false, 0
}

// CheckBase64 checks that s is strict base64: the standard alphabet with padding,
// not empty, without line breaks or nonzero unused bits.
func CheckBase64(s string) Base64Error {
	body := trimPadding(s)
	if i := base64Span(body, 0); i < len(body) {
		return characterError(body[i])
	}
	return base64End(s)
}

// CheckLenientBase64 is like [CheckBase64], but accepts either the standard or the
// URL-safe alphabet, with or without padding.
func CheckLenientBase64(s string) Base64Error {
	body := trimPadding(s)
	i := base64Span(body, 0)
	minus := i < len(body)
	for last := 0; i <= len(body)-8; i += 8 {
		if i > last {
			last = ahead(body, i)
		}
		if !isBase64(standard(load(body, i))) {
			break
		}
	}
	for ; i < len(body); i++ {
		if c := body[i]; c != '-' && c != '_' && !base64Byte(c) {
			return characterError(c)
		}
	}
	plus := minus && (strings.IndexByte(body, '+') >= 0 || strings.IndexByte(body, '/') >= 0)
	switch {
	case s == "":
		return Base64Empty
	case plus && minus:
		return Base64Mixed
	case len(body)%4 == 1:
		return Base64Length
	case len(body) < len(s) && len(s)%4 != 0:
		return Base64Padding
	}
	return trailingBits(body)
}

// characterError returns the error for a character outside of the alphabet.
func characterError(c byte) Base64Error {
	switch c {
	case '\r', '\n':
		return Base64LineBreak
	case '=':
		return Base64Padding
	}
	return Base64Alphabet
}

// trimPadding removes up to two '=' from the end.
func trimPadding(s string) string {
	for range 2 {
		if s != "" && s[len(s)-1] == '=' {
			s = s[:len(s)-1]
		}
	}
	return s
}

// base64End checks the length, the padding and the last character of s, which
// consists of the standard alphabet and up to two '='.
func base64End(s string) Base64Error {
	body := trimPadding(s)
	switch {
	case s == "":
		return Base64Empty
	case len(body)%4 == 1:
		return Base64Length
	case len(s)%4 != 0:
		return Base64Padding
	}
	return trailingBits(body)
}

// trailingBits checks that the unused bits of the last character of body are zero.
func trailingBits(body string) Base64Error {
	if len(body) == 0 {
		return Base64Padding
	}
	bits := base64Bits(body[len(body)-1])
	if len(body)%4 == 2 && bits&15 != 0 || len(body)%4 == 3 && bits&3 != 0 {
		return Base64TrailingBits
	}
	return 0
}

// base64Bits returns the six bits that a character of either alphabet encodes.
func base64Bits(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 26
	case c == '_':
		return 63
	case c >= 'A':
		return c - 'A'
	case c >= '0':
		return c - '0' + 52
	case c == '+', c == '-':
		return 62
	}
	return 63
}

// isBase64 reports whether all eight bytes are in the standard alphabet. Each range
// has two sums that carry into the top bit of a byte: one from the range's first
// byte on, and one from the byte after its last. A byte is in the range where they
// differ. '/' extends the range of digits. A sum can overflow only if a top bit is
// set in x, which fails anyway.
//
// A loop over bytes takes twice the time, and over a table of bytes longer than that.
func isBase64(x uint64) bool {
	l := x | 0x20*lows // lower case
	letter := (l + (0x80-'a')*lows) ^ (l + (0x80-'z'-1)*lows)
	digit := (x + (0x80-'/')*lows) ^ (x + (0x80-'9'-1)*lows)
	notPlus := (x ^ '+'*lows) + 0x7F*lows
	return (notPlus&^(letter|digit)|x)&highs == 0
}

// standard replaces each byte that is '-' or '_' by the character of the standard alphabet with
// the same meaning.
func standard(x uint64) uint64 {
	minus, underscore := zeros(x^'-'*lows), zeros(x^'_'*lows)
	return x ^ minus*('-'^'+') ^ underscore*('_'^'/')
}

// zeros returns a word with 1 in each byte that is zero in x.
func zeros(x uint64) uint64 {
	return ^((x&^highs + 0x7F*lows) | x) >> 7 & lows
}

// base64Span returns the index of the first byte of s from i on that is not in the
// standard alphabet.
func base64Span(s string, i int) int {
words:
	for i <= len(s)-8 {
		for last := ahead(s, i); i <= last; i += 8 {
			if !isBase64(load(s, i)) {
				break words
			}
		}
	}
	for i < len(s) && base64Byte(s[i]) {
		i++
	}
	return i
}

func base64Byte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '/' && c <= '9' || c == '+'
}
