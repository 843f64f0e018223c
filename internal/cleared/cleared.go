// Package cleared knows which turns of a conversation no longer hold.
package cleared

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Turns are those of a conversation that no longer hold. Messages has system
// texts that a model sees only until the next message of the user: where one has
// come, no other vendor's model may be told them either, as if they were to be
// followed.
type Turns struct{ lastUser int }

// Of returns those of a conversation.
func Of(turns []content.Turn) Turns {
	i := len(turns) - 1
	for i >= 0 && turns[i].Role != content.RoleUser {
		i--
	}
	return Turns{i}
}

// Has reports whether the turn at i no longer holds. What leaves it out loses
// nothing.
func (c Turns) Has(i int, t *content.Turn) bool {
	if i > c.lastUser || t.Role != content.RoleSystem || t.Extra == nil || t.Extra.Format != "messages" {
		return false
	}
	doc, err := jsonwire.Parse(t.Extra.JSON, jsonwire.Limits{Depth: 1 << 30, Values: 1 << 30}) // the host's own have let it pass
	if err != nil {
		return false
	}
	defer doc.Close()
	return doc.Root().Get("clear_at").Is("next_user_message")
}
