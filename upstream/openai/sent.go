package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// sent returns the fields that the document of the request has. It is only needed for a
// request that the server has refused.
func (p *plan) sent() field {
	n, s := p.Request, &p.shape
	members := [...]struct {
		f  field
		is bool
	}{
		{fieldTemperature, n.Temperature != nil},
		{fieldTopP, n.TopP != nil},
		{fieldTopK, n.TopK != nil},
		{fieldPresencePenalty, n.PresencePenalty != nil},
		{fieldFrequencyPenalty, n.FrequencyPenalty != nil},
		{fieldSeed, n.Seed != nil},
		{fieldStop, len(n.StopSequences) > 0},
		{fieldEffort, n.Effort != ""},
		{fieldParallel, n.Choice.NoParallel},
		{fieldStreamOptions, n.Stream && s.Usage},
		{fieldUser, n.UserID != ""},
		{fieldMaxTokens, n.MaxTokens != nil},
		{fieldDeveloper, s.SystemRole == roleDeveloper},
		{fieldReasoning, s.Encrypted || p.returnsThinking()},
		{fieldSummary, n.Thinking.Display != "" && n.Thinking.Display != "omitted"},
		{fieldThinkingSwitch, n.Switch != lower.SwitchNone},
		{fieldToolChoice, len(n.Choice.Names) > 0},
		{fieldJSONObject, n.Object && n.Output.Schema.JSON == "" && !s.ObjectForm},
		{fieldObfuscation, n.Stream && s.NoPadding},
		{fieldLogprobs, p.asksLogprobs()},
		{fieldVerbosity, n.Output.Verbosity != ""},
		{fieldCacheKey, s.CacheKey != ""},
	}
	var sent field
	for _, x := range members {
		if x.is {
			sent |= x.f
		}
	}
	for i := range n.Tools {
		if len(n.Tools[i].Description) > chatcompletions.MaxDescription {
			sent |= fieldDescription
		}
		if n.Tools[i].Output.JSON != "" {
			sent |= fieldOutputSchema
		}
	}
	sent |= marksAmong(n.System)
	for i := range n.Turns {
		if s.Phases && n.Turns[i].Role == content.RoleAssistant {
			sent |= fieldPhase
		}
		sent |= marksAmong(n.Turns[i].Parts)
	}
	return sent
}

// returnsThinking reports whether a message returns thinking.
func (p *plan) returnsThinking() bool {
	s := &p.shape
	if s.NoReturn || s.Returns == "-" || p.client.format != ChatFormat {
		return false
	}
	for i := range p.Request.Turns {
		for _, part := range p.Request.Turns[i].Parts {
			switch part.(type) {
			case *content.Thinking:
				return true
			case *content.ToolUse:
				if s.Returns != "" {
					return true
				}
			}
		}
	}
	return false
}

// marksAmong returns the fields of the cache marks among parts.
func marksAmong(parts []content.Part) (sent field) {
	for _, p := range parts {
		if m := partfield.CacheOf(p); m != nil {
			sent |= fieldCacheMark
			if m.TTL != "" {
				sent |= fieldCacheTime
			}
		}
		if r, ok := p.(*content.ToolResult); ok {
			sent |= marksAmong(r.Parts)
		}
	}
	return sent
}
