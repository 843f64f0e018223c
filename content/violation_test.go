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
