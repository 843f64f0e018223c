package schema

import (
	"testing"

	"github.com/polywire/polywire/content"
	losses "github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/losstable"
)

// TestLossTable keeps what the page of losses says of schemas: each reason, of
// arguments and of answers.
func TestLossTable(t *testing.T) {
	var rules []*losses.Rule
	for _, r := range reasons {
		severity := r.severity
		if severity == 0 { // as severe as what it stands for
			severity = content.LossDropped
		}
		for _, feature := range []string{losses.ToolSchema, losses.OutputSchema} {
			if r.text != "" {
				rules = append(rules, &losses.Rule{Feature: feature, Severity: severity, Reason: r.text})
			}
		}
	}
	losstable.Check(t, "schema", rules...)
}
