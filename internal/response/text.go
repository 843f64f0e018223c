package response

import (
	"unicode/utf8"
)

// A PartialRune joins the parts of characters that were cut between two pieces of a
// text. Upstreams may cut a text anywhere, but JSON cannot represent part of a
// character.
type PartialRune struct{ bytes string }

// Join returns the whole characters of the pending bytes followed by text. It keeps
// the beginning of a character at the end.
func (t *PartialRune) Join(text string) string {
	if t.bytes != "" {
		text = t.bytes + text
		t.bytes = ""
	}
	i := len(text)
	for i > 0 && i > len(text)-utf8.UTFMax && text[i-1] >= utf8.RuneSelf {
		i--
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				t.bytes = text[i:]
				return text[:i]
			}
			break
		}
	}
	return text
}

// Flush returns the pending bytes and clears them.
func (t *PartialRune) Flush() string {
	rest := t.bytes
	t.bytes = ""
	return rest
}

// Empty reports whether no bytes are pending.
func (t *PartialRune) Empty() bool { return t.bytes == "" }
