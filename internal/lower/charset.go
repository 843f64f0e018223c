package lower

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// A Charset describes valid names or ids.
type Charset struct {
	MaxBytes    int    // 0 means no limit
	Length      int    // exact length, at most 64; 0 means any
	Punctuation string // characters that are allowed besides ASCII letters and digits
	LetterFirst bool   // the first character is a letter or an underscore; without Length only
}

// valid reports whether s is valid. The empty string is not.
func (c *Charset) valid(s string) bool {
	if s == "" || c.MaxBytes > 0 && len(s) > c.MaxBytes || c.Length > 0 && len(s) != c.Length || c.LetterFirst && !isFirst(s[0]) {
		return false
	}
	for i := range len(s) {
		if !c.allows(s[i]) {
			return false
		}
	}
	return true
}

func isFirst(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func (c *Charset) allows(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || strings.IndexByte(c.Punctuation, b) >= 0
}

// convert returns s if it is valid and salt is 0. Otherwise it returns a valid text: the
// beginning of a digest of s and salt if the length is exact, else a text that begins like
// s and ends with the beginning of the digest. The result is the same in every turn and on
// every replica, and two texts hardly ever have the same. Callers increase salt if it is in
// use nevertheless.
func (c *Charset) convert(s string, salt int) string {
	if salt == 0 && c.valid(s) {
		return s
	}
	own := s
	if salt > 0 {
		own += "\x00" + strconv.Itoa(salt)
	}
	sum := sha256.Sum256([]byte(own))
	if c.Length > 0 {
		return hex.EncodeToString(sum[:])[:c.Length]
	}
	tail := "_" + hex.EncodeToString(sum[:4])
	var b strings.Builder
	if c.LetterFirst && (s == "" || !isFirst(s[0])) {
		b.WriteByte('_')
	}
	for i := range len(s) {
		if c.MaxBytes > 0 && b.Len()+len(tail) >= c.MaxBytes {
			break
		}
		if c.allows(s[i]) {
			b.WriteByte(s[i])
		} else {
			b.WriteByte('_')
		}
	}
	return b.String() + tail
}
