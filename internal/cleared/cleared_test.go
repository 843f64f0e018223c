package cleared

import (
	"testing"

	"github.com/polywire/polywire/content"
)

// TestCleared checks by the document of Messages when a text no longer holds:
// once a later message of the user exists.
func TestCleared(t *testing.T) {
	const next = `{"clear_at":"next_user_message"}`
	turn := func(r content.Role, members string) content.Turn {
		t := content.Turn{Role: r}
		if members != "" {
			t.Extra = &content.Extra{Format: "messages", JSON: members}
		}
		return t
	}
	turns := []content.Turn{
		turn(content.RoleUser, next), turn(content.RoleSystem, next), turn(content.RoleAssistant, ""),
		turn(content.RoleSystem, `{"clear_at":"never"}`), turn(content.RoleSystem, ""), turn(content.RoleSystem, `{"clear_at"`),
		{Role: content.RoleSystem, Extra: &content.Extra{Format: "generatecontent", JSON: next}},
		turn(content.RoleSystem, `{"output_config":{"effort":"low"},"clear_at":"next_user_message"}`),
		turn(content.RoleUser, ""), turn(content.RoleSystem, next), turn(content.RoleAssistant, ""),
	}
	c := Find(turns)
	for i := range turns {
		if got, want := c.Contains(i, &turns[i]), i == 1 || i == 7; got != want {
			t.Errorf("turn %d: got %v, want %v", i, got, want)
		}
	}
	alone := []content.Turn{turn(content.RoleSystem, next)}
	if c := Find(alone); c.Contains(0, &alone[0]) {
		t.Error("cleared although no user has spoken")
	}
}
