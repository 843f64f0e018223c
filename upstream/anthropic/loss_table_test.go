package anthropic

import (
	"testing"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/losstable"
	"github.com/polywire/polywire/internal/lower"
)

// TestLossTable compares the losses of this package with their table.
func TestLossTable(t *testing.T) {
	rules := []*loss.Rule{lower.RenamedTool, lower.RenamedCall, codec.EmptyMessage, lower.HeaderNotSent}
	for i := range modelLosses {
		rules = append(rules, &modelLosses[i])
	}
	losstable.Check(t, "anthropic", rules...)
}
