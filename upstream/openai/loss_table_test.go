package openai

import (
	"testing"

	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses says of both formats.
func TestLossTable(t *testing.T) {
	losstable.Check(t, "openai-chat", chatLosses...)
	losstable.Check(t, "openai-responses", responsesLosses...)
}
