package gemini

import (
	"math"

	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/schema"
)

// setSettings sets what a model accepts beside conversations.
func (c *Client) setSettings(t *lower.Target, model string) {
	f := familyOf(model)
	if c.closedSchemas {
		t.Tools.Schema, t.Output.Schema = schema.GeminiSchema, schema.GeminiSchema
	}
	t.Tools.VendorAlone = f.isBefore(3, 0)
	t.Output.NoTools = f.isBefore(3, 0)
	t.Limit.Zero = false
	if n := c.maxOutput(model); n > 0 {
		t.Limit.Max = min(n, math.MaxInt32)
	}
	t.Thinking.Levels = f.levels(t.Thinking.Levels)
}

// levels returns how a model of the family thinks, or nil if it cannot think.
func (f family) levels(base *lower.Levels) *lower.Levels {
	if !f.hasThinking() {
		return nil
	}
	x := *base
	x.Shown = true
	low, high, off, known := f.budgets()
	switch {
	case known:
		x.Budgets = &lower.Budgets{Low: low, High: high, Off: off}
	case f.isSince(3):
		x.MinLevel, x.MaxBudget = "minimal", maxBudget
		if f.kind == pro {
			x.MinLevel = "low"
		}
	}
	return &x
}
