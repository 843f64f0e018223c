package anthropic

import (
	"strings"

	"github.com/polywire/polywire/internal/absent"
)

// A family describes a model by its name. The zero family is that of unknown names.
type family absent.Claude

// familyOf returns the family of a model.
func familyOf(model string) family { return family(absent.ParseClaude(model)) }

func (f family) isKnown() bool { return f.Version > 0 }

func (f family) is(line string, version int) bool { return f.Line == line && f.Version == version }

// alwaysThinks reports whether thinking is always on.
func (f family) alwaysThinks() bool { return absent.Claude(f).AlwaysThinks() }

// hasBudgets reports whether the model accepts a thinking budget.
func (f family) hasBudgets() bool { return !f.isKnown() || f.Version >= 37 && f.Version <= 46 }

// isAdaptive reports whether the model has adaptive thinking.
func (f family) isAdaptive() bool { return !f.isKnown() || f.Version >= 46 }

// hasThinkingOff reports whether thinking can be disabled.
func (f family) hasThinkingOff() bool {
	return !f.isKnown() || !f.alwaysThinks() && !f.is("opus", 55) && !f.is("sonnet", 55)
}

// hasBetweenTools reports whether thinking can be limited to the time between tool
// calls.
func (f family) hasBetweenTools() bool { return !f.isKnown() || f.is("sonnet", 55) }

// hasThinking reports whether the model can think.
func (f family) hasThinking() bool { return !f.isKnown() || f.Version >= 37 }

// hasInterleavedBeta reports whether platforms accept the beta for thinking between tool calls.
// Later models always think there, and platforms reject the beta for them.
func (f family) hasInterleavedBeta() bool { return !f.isKnown() || f.Version >= 40 && f.Version <= 46 }

// hasToolSearch reports whether the model can search deferred tools.
func (f family) hasToolSearch() bool { return !f.isKnown() || f.Version >= 45 }

// minCached returns the least tokens of a prompt that the vendor caches. Models after 4.6 have
// different limits, of which it is the lowest: marks of shorter prompts have no effect.
func (f family) minCached() int64 {
	switch {
	case f.Line == "haiku" && f.Version < 45:
		return 2048
	case f.is("haiku", 45), f.is("opus", 45), f.is("opus", 46):
		return 4096
	case f.isKnown() && f.Version <= 46:
		return 1024
	}
	return 512
}

// hasEffort reports whether the model accepts an effort.
func (f family) hasEffort() bool { return !f.isKnown() || f.Version >= 46 || f.is("opus", 45) }

// hasSampling reports whether the model accepts sampling parameters.
func (f family) hasSampling() bool { return f.Version <= 46 }

// hasOneSampler reports whether the model accepts either temperature or top_p, but
// not both.
func (f family) hasOneSampler() bool { return f.Version >= 45 }

// hasPrefill reports whether the model continues a response that the request begins.
func (f family) hasPrefill() bool { return f.Version < 46 }

// hasAssistantFirst reports whether a conversation may begin with the assistant.
func (f family) hasAssistantFirst() bool { return !f.isKnown() || f.Version >= 45 }

// hasForcedTools reports whether the request can require a tool call.
func (f family) hasForcedTools() bool {
	return !f.is("opus", 55) && !f.is("sonnet", 55) && (!f.alwaysThinks() || f.Version < 51)
}

// hasStrictTools reports whether the model can be held to the schemas of arguments.
func (f family) hasStrictTools() bool { return !f.isKnown() || f.Version >= 45 || f.is("opus", 41) }

// hasSystemTurns reports whether the model is known to accept system turns within
// the conversation.
func (f family) hasSystemTurns() bool {
	return f.alwaysThinks() || f.is("opus", 48) || f.is("opus", 50) || f.is("opus", 55)
}

// maxOutput returns the maximum output tokens of a model, or 0 if unknown.
func (c *Client) maxOutput(model string) int64 {
	name := bedrockModel(model)
	for _, s := range [...]string{model, name, strings.TrimPrefix(name, "anthropic.")} {
		if n, ok := c.outputLimits.Lookup(s); ok {
			return n
		}
	}
	return familyOf(model).maxOutput()
}

// maxOutput returns the maximum output tokens, or 0 if unknown.
func (f family) maxOutput() int64 {
	switch {
	case f.Version == 0:
		return 0
	case f.Version < 35:
		return 4096
	case f.Version < 37:
		return 8192
	case f.Line == "opus" && f.Version < 45:
		return 32000
	case f.Version < 46:
		return 64000
	}
	return 128000
}
