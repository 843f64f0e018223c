package handler

import (
	"testing"

	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses reports of this package.
func TestLossTable(t *testing.T) { losstable.Check(t, "front-answer", lostCounts) }
