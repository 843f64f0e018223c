package content

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestErrorCause follows the cause of a fault through what is done to paths. It
// stays with the fault, and out of all text.
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
		t.Errorf("of two faults: %v", both)
	}
}
