package content

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestErrorCause checks that the cause of a violation is kept when paths change, and is
// never in a text.
func TestErrorCause(t *testing.T) {
	err := AtPath(&Violation{Code: CodeValue, Text: "cannot be had", Err: io.ErrNoProgress}, "messages.0")
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v has lost its cause", err)
	}
	if got := err.Error(); got != "messages.0: cannot be had" {
		t.Errorf("the text is %q", got)
	}
	both := AtPath(errors.Join(err, &Violation{Text: "is wrong"}), "x")
	if !errors.Is(both, io.ErrNoProgress) || strings.Contains(both.Error(), io.ErrNoProgress.Error()) {
		t.Errorf("of two violations: %v", both)
	}
}

func TestMapPaths(t *testing.T) {
	first, second, other := &Violation{Path: "turns.0", Text: "a"}, &Violation{Path: "", Text: "b"}, errors.New("other")
	client := func(path string) string { return "messages " + path }
	if got := MapPaths(errors.Join(first, other, second), client).Error(); got != "messages turns.0: a\nmessages : b" {
		t.Errorf("got %q", got)
	}
	if first.Path != "turns.0" || second.Path != "" {
		t.Error("the violations were changed")
	}
	if MapPaths(nil, client) != nil || MapPaths(other, client) != other {
		t.Error("errors without a violation were changed")
	}
}
