package lower

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestLastMessage checks the bounds of the last user message. u, a and s are turns
// of the user, the assistant and the system.
func TestLastMessage(t *testing.T) {
	roles := map[rune]content.Role{'u': content.RoleUser, 'a': content.RoleAssistant, 's': content.RoleSystem}
	for document, want := range map[string][2]int{
		"": {0, 0}, "u": {0, 1}, "a": {1, 1}, "s": {0, 0}, "ua": {2, 2}, "uau": {2, 3}, "uauu": {2, 4}, "uausu": {2, 5},
		"uaus": {2, 3}, "uasu": {3, 4}, "us": {0, 1}, "su": {1, 2}, "uass": {2, 2}, "uasus": {3, 4},
	} {
		var turns []content.Turn
		for _, r := range document {
			turns = append(turns, content.Turn{Role: roles[r]})
		}
		if first, end := lastMessage(turns); first != want[0] || end != want[1] {
			t.Errorf("%q: from %d to %d, want %v", document, first, end, want)
		}
	}
}

// TestUnknownRoles checks that a role that no format has is refused, not read as the
// user's.
func TestUnknownRoles(t *testing.T) {
	for _, role := range []content.Role{"", "us\r", "tool", leading, over} {
		n := &upstream.Request{Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "x"}}},
			{Role: role, Parts: []content.Part{&content.Text{Text: "y"}}},
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "z"}}},
		}}
		_, _, err := Lower(n, &plain, false)
		if list, _ := content.Violations(err); len(list) != 1 || list[0].Path != "turns.1.role" {
			t.Errorf("role %q: %v", role, err)
		}
	}
}
