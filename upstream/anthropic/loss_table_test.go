package anthropic

import (
	"testing"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable compares the losses of this package with their table.
func TestLossTable(t *testing.T) {
	rules := []*loss.Rule{legal.RenamedTool, legal.RenamedCall, codec.EmptyMessage, legal.HeaderNotSent}
	for i := range modelLosses {
		rules = append(rules, &modelLosses[i])
	}
	losstable.Check(t, "anthropic", rules...)
}
