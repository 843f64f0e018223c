package seal_test

import (
	"testing"

	"github.com/polywire/polywire/internal/loss/losstable"
	"github.com/polywire/polywire/internal/seal"
)

// TestLossTable keeps what the page of losses says of what fronts lose of
// requests.
func TestLossTable(t *testing.T) { losstable.Check(t, "front", seal.Damaged) }
