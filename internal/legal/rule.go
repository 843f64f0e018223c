// Package legal converts tool names and tool call ids to those that are valid in a
// target format, and back. It pairs tool results with their tool calls, by id or
// otherwise by name and position. It also converts blocks and tools that any model
// can use to neutral ones.
package legal

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// A Rule describes valid names or ids.
type Rule struct {
	MaxBytes    int    // 0 means no limit
	Punctuation string // characters that are allowed besides ASCII letters and digits
	LetterFirst bool   // the first character is a letter or an underscore
}

// Valid reports whether s is valid. The empty string is not.
func (r *Rule) Valid(s string) bool {
	if s == "" || r.MaxBytes > 0 && len(s) > r.MaxBytes || r.LetterFirst && !isFirst(s[0]) {
		return false
	}
	for i := range len(s) {
		if !r.allows(s[i]) {
			return false
		}
	}
	return true
}

func isFirst(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func (r *Rule) allows(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte(r.Punctuation, c) >= 0
}

// Convert returns s if it is valid and salt is 0. Otherwise it returns a valid text
// that begins like s and ends with a digest of s and salt. The result is the same in
// every turn and on every replica, and two texts hardly ever have the same. Callers
// increase salt if it is in use nevertheless.
func (r *Rule) Convert(s string, salt int) string {
	if salt == 0 && r.Valid(s) {
		return s
	}
	own := s
	if salt > 0 {
		own += "\x00" + strconv.Itoa(salt)
	}
	sum := sha256.Sum256([]byte(own))
	tail := "_" + hex.EncodeToString(sum[:4])
	var b strings.Builder
	if r.LetterFirst && (s == "" || !isFirst(s[0])) {
		b.WriteByte('_')
	}
	for i := range len(s) {
		if r.MaxBytes > 0 && b.Len()+len(tail) >= r.MaxBytes {
			break
		}
		if c := s[i]; r.allows(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String() + tail
}
