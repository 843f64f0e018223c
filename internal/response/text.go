package response

import (
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// LossRefusal is the rule of the loss of the mark on a refusal.
var LossRefusal = loss.Hint(loss.ResponseText, "the format does not mark refusals; the text of the refusal is a text like others")

// LossCitedPlace is the rule of the loss of the place of a citation of a web page.
var LossCitedPlace = loss.Hint(loss.ResponseCitations, "the format has no place of the citation in its text; the citation is for the text as a whole")

// HasPlace reports whether a citation of a web page is for a place in its text.
func HasPlace(c *content.Citation) bool { return c.Kind == content.CiteWeb && c.End > 0 }

// plainText changes a text to one that the format has.
func (e *Engine[S]) plainText(b *Block[S]) {
	if t, ok := b.Part.(*content.Text); ok && t.Refusal && !e.rules.Refusals {
		e.Lose(b, LossRefusal)
		c := *t
		c.Refusal, b.Part = false, &c
	}
}

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
