package handler

import "unicode/utf8"

// A Tail makes whole characters of a text that comes in pieces. Upstreams may
// cut where they like; JSON cannot say half a character.
type Tail struct{ rest string }

// Whole returns what there is of the text in whole characters, text being its
// next piece. It keeps the beginning of a character whose end has not come.
func (t *Tail) Whole(text string) string {
	if t.rest != "" {
		text = t.rest + text
		t.rest = ""
	}
	i := len(text)
	for i > 0 && i > len(text)-utf8.UTFMax && text[i-1] >= utf8.RuneSelf {
		i--
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) {
				t.rest = text[i:]
				return text[:i]
			}
			break
		}
	}
	return text
}

// Rest returns what is kept, and keeps it no longer.
func (t *Tail) Rest() string {
	rest := t.rest
	t.rest = ""
	return rest
}

// Empty reports whether nothing is kept.
func (t *Tail) Empty() bool { return t.rest == "" }
