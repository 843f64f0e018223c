package gemini

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// Losses that depend on the model. [generatecontent.RequestForTarget] reports the
// others.
var (
	lossNoThinking = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDropped,
		Reason: "the model cannot think; thinking was dropped"}
	lossAlwaysThinks = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDegraded,
		Reason: "the model's thinking cannot be disabled; it thinks as little as possible"}
	lossBudgetBounds = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossDegraded,
		Reason: "the thinking budget is outside the model's range; the nearest one was sent"}
	lossNoEffort = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the model has thinking budgets instead of efforts; it decides how much to think"}
	lossMinEffort = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the model's lowest effort is low; it was sent"}
	lossJSONBesideTools = &loss.Rule{Feature: loss.OutputSchema, Severity: content.LossDropped,
		Reason: "the model does not accept a response format together with functions; the format was dropped"}
	lossLoweredLimit = &loss.Rule{Feature: loss.MaxTokens, Severity: content.LossDegraded,
		Reason: "the token limit exceeds the model's maximum; it was lowered to the maximum"}
)

// fitLosses are all losses that this package itself reports.
var fitLosses = []*loss.Rule{
	lower.RenamedTool, lower.RenamedCall, foreign.SummaryAsText, foreign.ReferenceAsText, foreign.ToolAsFunction, lower.HeaderNotSent,
	lossNoThinking, lossAlwaysThinks, lossBudgetBounds, lossNoEffort, lossMinEffort, lossJSONBesideTools, lossLoweredLimit,
}

// target returns what the models of a family accept.
func (c *Client) target(f family) *generatecontent.Target {
	return &generatecontent.Target{
		ClosedSchemas:     c.closedSchemas,
		FilesAfterResults: !f.isSince(3),
		SignedCalls:       !f.isBefore(3, 0),
		NoMixedTools:      f.isBefore(3, 0),
		FilesInlined:      true,
	}
}

// fit changes a request so that the model accepts it. maxOutput is the model's
// maximum; 0 means unknown.
func fit(r *generatecontent.Request, n *upstream.Request, f family, maxOutput int64, log *loss.Log) {
	g := r.GenerationConfig
	if g == nil {
		return
	}
	low, lowered := adapter.CapTokens(g.MaxOutputTokens, maxOutput)
	if g.MaxOutputTokens = low; lowered {
		log.Add(lossLoweredLimit, "max_tokens")
	}
	if g.ThinkingConfig != nil {
		t := *g.ThinkingConfig
		g.ThinkingConfig = &t
		fitThinking(&t, n, f, log)
		if !f.hasThinking() {
			g.ThinkingConfig = nil
		}
	}
	functions := slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Kind == "" })
	if functions && f.isBefore(3, 0) && g.ResponseMimeType == "application/json" {
		log.Add(lossJSONBesideTools, "output")
		g.ResponseMimeType, g.ResponseSchema, g.ResponseJSONSchema = "", "", ""
	}
	if g.ThinkingConfig == nil && isEmptyConfig(g) {
		r.GenerationConfig = nil
	}
}

// isEmptyConfig reports whether a configuration has no members.
func isEmptyConfig(g *generatecontent.GenerationConfig) bool {
	r := generatecontent.Request{GenerationConfig: g}
	b, err := r.AppendJSON(nil)
	return err == nil && string(b) == `{"generationConfig":{}}`
}

// fitThinking changes t so that the model accepts it.
func fitThinking(t *generatecontent.ThinkingConfig, n *upstream.Request, f family, log *loss.Log) {
	if n.Thinking.Enabled() && n.Thinking.Display == "" && !isNative(n) {
		show := true // in other formats, thinking is shown by default
		t.IncludeThoughts = &show
	}
	low, high, off, known := f.budgets()
	switch {
	case !f.hasThinking():
		removeLosses(log, "thinking.mode", "thinking.budget", "thinking.effort", "thinking.display")
		if n.Thinking.Enabled() {
			log.Add(lossNoThinking, "thinking.mode")
		}
		if n.Thinking.Effort != "" {
			log.Add(lossNoThinking, "thinking.effort")
		}
	case known:
		if t.ThinkingLevel != "" {
			removeLosses(log, "thinking.effort")
			log.Add(lossNoEffort, "thinking.effort")
			t.ThinkingLevel, t.ThinkingBudget = "", number(-1)
		}
		boundBudget(t, low, high, off, log)
	case f.isSince(3):
		fitLevel(t, f, log)
	}
}

// removeLosses removes losses of members that are not sent at all.
func removeLosses(log *loss.Log, paths ...string) {
	log.Losses = slices.DeleteFunc(log.Losses, func(l content.Loss) bool { return slices.Contains(paths, l.Path) })
}

// boundBudget moves a budget into a range.
func boundBudget(t *generatecontent.ThinkingConfig, low, high int64, off bool, log *loss.Log) {
	switch b := t.ThinkingBudget; {
	case b == nil || *b == -1, *b == 0 && off, *b >= low && *b <= high:
	case *b == 0:
		log.Add(lossAlwaysThinks, "thinking.mode")
		t.ThinkingBudget = number(low)
	default:
		log.Add(lossBudgetBounds, "thinking.budget")
		t.ThinkingBudget = number(min(max(*b, low), high))
	}
}

// fitLevel changes t for a model with thinking levels. Such models accept budgets,
// too.
func fitLevel(t *generatecontent.ThinkingConfig, f family, log *loss.Log) {
	minLevel := "MINIMAL"
	if f.kind == pro {
		minLevel = "LOW"
	}
	if b := t.ThinkingBudget; b != nil && *b == 0 {
		log.Add(lossAlwaysThinks, "thinking.mode")
		t.ThinkingBudget, t.ThinkingLevel = nil, minLevel
		return
	}
	if t.ThinkingLevel == "MINIMAL" && minLevel != "MINIMAL" {
		log.Add(lossMinEffort, "thinking.effort")
		t.ThinkingLevel = minLevel
	}
	boundBudget(t, 1, maxBudget, true, log)
}

// isNative reports whether a request seems to have arrived in this format.
func isNative(n *upstream.Request) bool {
	return n.Wire != nil && n.Wire.Format == generatecontent.Format || n.Extra != nil && n.Extra.Format == generatecontent.Format
}

func number(n int64) *int64 { return &n }
