package anthropic

import (
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/messages"
)

// target returns what a model accepts.
func (c *Client) target(model string) *lower.Target {
	f, t := familyOf(model), messages.BaseTarget()
	t.Members.Headers = false
	t.Tools.DeclareCalls = true
	t.Choice.Optional = !f.hasForcedTools()
	t.Limit = lower.LimitRules{Default: c.maxTokens, Max: c.maxOutput(model)}
	if t.Limit.Default == 0 {
		t.Limit.Default = defaultLimit
	}
	modes := *t.Thinking.Modes
	modes.Model = f.modes()
	t.Thinking.Modes = &modes
	for _, n := range []*lower.Number{&t.Sampling.Temperature, &t.Sampling.TopP, &t.Sampling.TopK} {
		n.NotThinking = true
		n.Off = f.isKnown() && !f.hasSampling()
	}
	t.Sampling.One = f.isKnown() && f.hasOneSampler()
	return &t
}

// modes returns how a model of the family thinks.
func (f family) modes() *lower.ModelModes {
	return &lower.ModelModes{
		Known:     f.isKnown(),
		Never:     !f.hasThinking(),
		Budgets:   f.hasBudgets(),
		Adaptive:  f.isAdaptive(),
		Off:       f.hasThinkingOff(),
		Between:   f.hasBetweenTools(),
		ByDefault: f.thinksByDefault(),
		Efforts:   f.hasEffort(),
		HighOff:   f.is("opus", 50),
	}
}
