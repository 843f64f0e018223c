// Package cleared finds the system turns of a conversation that are no longer in
// effect.
package cleared

import (
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
)

// Turns are the turns of a conversation that are no longer in effect. Messages has
// system texts that the model sees only until the next user message. After that
// message they must not be sent to another vendor's model, which would follow them.
type Turns struct{ lastUser int }

// Find returns the turns that are no longer in effect.
func Find(turns []content.Turn) Turns {
	i := len(turns) - 1
	for i >= 0 && turns[i].Role != content.RoleUser {
		i--
	}
	return Turns{i}
}

// Contains reports whether turn i, which is t, is no longer in effect. Omitting it
// is not a loss.
func (c Turns) Contains(i int, t *content.Turn) bool {
	if i > c.lastUser || t.Role != content.RoleSystem || t.Extra == nil || t.Extra.Format != "messages" {
		return false
	}
	return gjson.Get(t.Extra.JSON, "clear_at").Str == "next_user_message"
}
