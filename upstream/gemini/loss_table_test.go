package gemini

import (
	"testing"

	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses says of the vendor's models.
func TestLossTable(t *testing.T) { losstable.Check(t, "gemini", fitLosses...) }
