package adapter

import (
	"errors"
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
		if first, end := LastMessage(turns); first != want[0] || end != want[1] {
			t.Errorf("%q: from %d to %d, want %v", document, first, end, want)
		}
	}
}

// TestCheckLastMessage checks which messages are examined, and the violation for
// those of which nothing is left.
func TestCheckLastMessage(t *testing.T) {
	say := func(r content.Role, p ...content.Part) content.Turn { return content.Turn{Role: r, Parts: p} }
	text := func(s string) content.Part { return &content.Text{Text: s} }
	image := &content.Image{}
	gone := []content.Loss{
		{Path: "turns.1.parts.0", Severity: content.LossDropped}, // of another turn
		{Path: "turns.2.parts.0", Severity: content.LossHint}, {Path: "turns.2", Severity: content.LossDropped},
		{Path: "turns.2.parts.1", Severity: content.LossDropped}, {Path: "turns.2.parts.2", Severity: content.LossDropped},
	}
	q, a := say(content.RoleUser, text("q")), say(content.RoleAssistant, text("a"))
	for _, tt := range []struct {
		name   string
		last   content.Turn
		losses []content.Loss
		left   bool
		looked int // how often left is asked
		want   string
	}{
		{"words", say(content.RoleUser, image, text(" w ")), gone, false, 0, ""},
		{"tool result", say(content.RoleUser, &content.ToolResult{}), gone, false, 0, ""},
		{"part that is left", say(content.RoleUser, image), gone, true, 1, ""},
		{"dropped part", say(content.RoleUser, image), gone, false, 1, "turns.2.parts.1"},
		{"white space", say(content.RoleUser, text(" \n")), gone[:1], false, 1, "turns.2"},
		{"no user turn", say(content.RoleAssistant), gone, false, 0, ""},
	} {
		looked := 0
		err := CheckLastMessage(&upstream.Request{Turns: []content.Turn{q, a, tt.last}}, tt.losses, true, func(n *upstream.Request) bool {
			looked++
			return tt.left && len(n.Turns) == 1
		})
		path := ""
		if violation := (*content.Violation)(nil); errors.As(err, &violation) {
			path = violation.Path
		}
		if path != tt.want || (err != nil) != (tt.want != "") || looked != tt.looked {
			t.Errorf("%s: %v after %d looks, want %q after %d", tt.name, err, looked, tt.want, tt.looked)
		}
	}
	if err := CheckLastMessage(&upstream.Request{Turns: []content.Turn{a}}, nil, false, nil); err == nil {
		t.Error("a conversation of which nothing is left")
	}
	if err := CheckLastMessage(&upstream.Request{}, nil, false, nil); err != nil {
		t.Errorf("no conversation: %v", err)
	}
}

func TestCheckMaxTokens(t *testing.T) {
	limit := func(n int64) *upstream.Request { return &upstream.Request{MaxTokens: &n} }
	for _, n := range []*upstream.Request{{}, limit(1), limit(1 << 40)} {
		if err := CheckMaxTokens(n); err != nil {
			t.Errorf("%+v: %v", n.MaxTokens, err)
		}
	}
	for _, n := range []*upstream.Request{limit(0), limit(-1)} {
		var violation *content.Violation
		if err := CheckMaxTokens(n); !errors.As(err, &violation) || violation.Path != "max_tokens" || violation.Code != content.CodeUnsupported {
			t.Errorf("%d: %v", *n.MaxTokens, err)
		}
	}
}
