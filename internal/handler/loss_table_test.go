package handler

import (
	"testing"

	"github.com/polywire/polywire/internal/test/losstable"
)

// TestLossTable compares the losses of this package with their table.
func TestLossTable(t *testing.T) { losstable.Check(t, "front-answer", lossEstimatedUsage) }
