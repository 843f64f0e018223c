package envelope_test

import (
	"testing"

	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses says of what fronts lose of
// requests.
func TestLossTable(t *testing.T) { losstable.Check(t, "front", envelope.Damaged) }
