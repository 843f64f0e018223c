package codec

import "github.com/polywire/polywire/content"

// A Clearing knows which turns of a conversation no longer hold. Messages has
// system texts that a model sees only until the next message of the user: where
// one has come, no other vendor's model may be told them either, as if they were
// to be followed.
type Clearing struct{ lastUser int }

// ClearingOf returns the Clearing of turns.
func ClearingOf(turns []content.Turn) Clearing {
	i := len(turns) - 1
	for i >= 0 && turns[i].Role != content.User {
		i--
	}
	return Clearing{i}
}

// Cleared reports whether the turn at i no longer holds. What leaves it out
// loses nothing.
func (c Clearing) Cleared(i int, t *content.Turn) bool {
	if i > c.lastUser || t.Role != content.System || t.Extra == nil || t.Extra.Format != "messages" {
		return false
	}
	doc := Open(t.Extra, t.Extra.Format)
	if doc == nil {
		return false
	}
	defer doc.Close()
	return doc.Root().Get("clear_at").Is("next_user_message")
}
