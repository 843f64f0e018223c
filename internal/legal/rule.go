// Package legal makes the names of tools and the ids of calls fit the rules of
// the format that a request is going to, and finds the way back. It also finds
// the call that a result is of, by its id or else by its name and place.
package legal

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// A Rule says what a name or an id may look like.
type Rule struct {
	Most   int    // bytes; 0: any number
	Others string // what may stand in it besides ASCII letters and digits
	Letter bool   // it begins with a letter or an underscore
}

// Fits reports whether s is legal. Nothing at all never is.
func (r *Rule) Fits(s string) bool {
	if s == "" || r.Most > 0 && len(s) > r.Most || r.Letter && !opens(s[0]) {
		return false
	}
	for i := range len(s) {
		if !r.allows(s[i]) {
			return false
		}
	}
	return true
}

func opens(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func (r *Rule) allows(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte(r.Others, c) >= 0
}

// Make returns s if it fits, else a legal text that begins like it and ends in
// a digest of all of it, so that it is the same in every turn and on every
// replica, and hardly ever that of another text. salt, if not 0, gives the next
// one, for when it is all the same.
func (r *Rule) Make(s string, salt int) string {
	if salt == 0 && r.Fits(s) {
		return s
	}
	own := s
	if salt > 0 {
		own += "\x00" + strconv.Itoa(salt)
	}
	sum := sha256.Sum256([]byte(own))
	tail := "_" + hex.EncodeToString(sum[:4])
	var b strings.Builder
	if r.Letter && (s == "" || !opens(s[0])) {
		b.WriteByte('_')
	}
	for i := range len(s) {
		if r.Most > 0 && b.Len()+len(tail) >= r.Most {
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
