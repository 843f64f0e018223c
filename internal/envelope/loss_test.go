package envelope_test

import (
	"testing"

	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/losstable"
)

// TestLossTable checks the page of losses against the losses of requests that
// handlers report.
func TestLossTable(t *testing.T) { losstable.Check(t, "front", envelope.Damaged, envelope.NotReturned) }
