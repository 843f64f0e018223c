package gemini

import (
	"math"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/geminifile"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// A targetKey identifies a target of a client.
type targetKey struct {
	family  family
	limit   int64 // the model's maximum of output tokens; 0 means unknown
	vertex  bool  // the model is at Google Cloud
	foreign bool  // the client has another format, whose headers are not sent
	learned adapter.Learned
}

// target returns what a model accepts.
func (c *Client) target(model string, vertex, foreign bool) *lower.Target {
	v := c.learned.Get(model)
	k := targetKey{familyOf(model), v.MaxOutput(c.maxOutput(model)), vertex, foreign, v}
	return c.targets.Get(k, func() (*lower.Target, targetKey) { return c.newTarget(k), k })
}

func (c *Client) newTarget(k targetKey) *lower.Target {
	f, t := k.family, generatecontent.BaseTarget()
	t.Names = nameRules
	t.Conversation.Attribution = c.attribution
	t.Files.Keep, t.Files.Accepts = false, geminifile.IsMediaType
	t.Results.Files = f.isSince(3)
	if !f.isBefore(3, 0) {
		t.Calls.Signature = generatecontent.PlaceholderSignature
	}
	t.Members.Headers = !k.foreign
	if f.isBefore(2, 5) {
		t.Tools.Strict = lower.StrictNone
	}
	t.Tools.VendorAlone = f.isBefore(3, 0)
	t.Output.NoTools = f.isBefore(3, 0)
	t.Limit.Zero = false
	if n := k.limit; n > 0 {
		t.Limit.Max = min(n, math.MaxInt32)
	}
	if k.learned.NoLogprobs {
		t.Sampling.Logprobs = nil
	}
	t.Thinking.Levels, t.Thinking.Default = f.levels(t.Thinking.Levels, &k.learned), f.defaultMode()
	if k.vertex {
		setVertex(&t)
	}
	return &t
}

// defaultMode returns the mode of a request without a thinking configuration, or "" if it is
// unknown.
func (f family) defaultMode() upstream.ThinkingMode {
	switch {
	case f.major == 0:
		return ""
	case !f.hasThinking(), f.major == 2 && f.kind == flashLite:
		return upstream.ThinkingOff
	}
	return upstream.ThinkingAuto
}

// levels returns how a model of the family thinks, or nil if it cannot think.
func (f family) levels(base *lower.Levels, v *adapter.Learned) *lower.Levels {
	if !f.hasThinking() {
		return nil
	}
	x := *base
	x.Shown, x.Refused, x.NotOff = true, v.Refused, v.AlwaysThinks
	low, high, off, known := f.budgets()
	if v.HighBudget > 0 {
		low, high, off, known = v.LowBudget, v.HighBudget, off || !known, true
	}
	off = off && !v.AlwaysThinks
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

// nameRules are the format's rules for tool names. Ids are not restricted.
var nameRules = &lower.NameRules{Name: lower.Charset{MaxBytes: 128, Punctuation: "_.:-", LetterFirst: true}, AnyID: true}
