package gemini

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// What depends on the model, beyond what [generatecontent.RequestForTarget] tells.
var (
	noThinking = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDropped,
		Reason: "the model does not think"}
	neverOff = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDegraded,
		Reason: "the model cannot do without thinking: it thinks as little as it can"}
	budgetBounds = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossDegraded,
		Reason: "the model takes another range of budgets: it gets the nearest"}
	noEfforts = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the model takes budgets only: it decides how much to think"}
	effortLow = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the least effort of the model is low"}
	noJSONBesideTools = &loss.Rule{Feature: loss.OutputSchema, Severity: content.LossDropped,
		Reason: "the model does not take a form of the answer beside functions"}
	limitLowered = &loss.Rule{Feature: loss.MaxTokens, Severity: content.LossDegraded,
		Reason: "the model's responses have fewer tokens: the limit is lowered"}
)

// fitLosses is the table of what this package loses by itself.
var fitLosses = []*loss.Rule{
	legal.RenamedTool, legal.RenamedCall, legal.SummaryAsText, legal.ReferenceAsText, legal.ToolAsFunction, legal.HeaderNotSent,
	noThinking, neverOff, budgetBounds, noEfforts, effortLow, noJSONBesideTools, limitLowered,
}

// target says what a model takes.
func (c *Client) target(f family) generatecontent.Target {
	return generatecontent.Target{
		ClosedSchemas:     c.closed,
		FilesAfterResults: !f.since(3),
		SignedCalls:       !f.before(3, 0),
		NoMixedTools:      f.before(3, 0),
		FilesInlined:      true,
	}
}

// fit makes a request one that the model accepts. most is how many tokens its
// responses have; 0 means that it is not known.
func fit(r *generatecontent.Request, n *upstream.Request, f family, most int64, log *loss.Log) {
	g := r.GenerationConfig
	if g == nil {
		return
	}
	low, lowered := adapter.Lower(g.MaxOutputTokens, most)
	if g.MaxOutputTokens = low; lowered {
		log.Add(limitLowered, "max_tokens")
	}
	if g.ThinkingConfig != nil {
		t := *g.ThinkingConfig
		g.ThinkingConfig = &t
		think(&t, n, f, log)
		if !f.thinks() {
			g.ThinkingConfig = nil
		}
	}
	functions := slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Kind == "" })
	if functions && f.before(3, 0) && g.ResponseMimeType == "application/json" {
		log.Add(noJSONBesideTools, "output")
		g.ResponseMimeType, g.ResponseSchema, g.ResponseJSONSchema = "", "", ""
	}
	if g.ThinkingConfig == nil && empty(g) {
		r.GenerationConfig = nil
	}
}

// empty reports whether a configuration says nothing.
func empty(g *generatecontent.GenerationConfig) bool {
	r := generatecontent.Request{GenerationConfig: g}
	b, err := r.AppendJSON(nil)
	return err == nil && string(b) == `{"generationConfig":{}}`
}

// think makes t what the model takes.
func think(t *generatecontent.ThinkingConfig, n *upstream.Request, f family, log *loss.Log) {
	if n.Thinking.Enabled() && n.Thinking.Display == "" && !native(n) {
		show := true // who asks for thinking elsewhere sees it
		t.IncludeThoughts = &show
	}
	low, high, off, known := f.budgets()
	switch {
	case !f.thinks():
		forget(log, "thinking.mode", "thinking.budget", "thinking.effort", "thinking.display")
		if n.Thinking.Enabled() {
			log.Add(noThinking, "thinking.mode")
		}
		if n.Thinking.Effort != "" {
			log.Add(noThinking, "thinking.effort")
		}
	case known:
		if t.ThinkingLevel != "" {
			forget(log, "thinking.effort")
			log.Add(noEfforts, "thinking.effort")
			t.ThinkingLevel, t.ThinkingBudget = "", number(-1)
		}
		bound(t, low, high, off, log)
	case f.since(3):
		leveled(t, f, log)
	}
}

// forget takes back what was told of how the format says what is not said at
// all.
func forget(log *loss.Log, paths ...string) {
	log.Losses = slices.DeleteFunc(log.Losses, func(l content.Loss) bool { return slices.Contains(paths, l.Path) })
}

// bound puts a budget into bounds.
func bound(t *generatecontent.ThinkingConfig, low, high int64, off bool, log *loss.Log) {
	switch b := t.ThinkingBudget; {
	case b == nil || *b == -1, *b == 0 && off, *b >= low && *b <= high:
	case *b == 0:
		log.Add(neverOff, "thinking.mode")
		t.ThinkingBudget = number(low)
	default:
		log.Add(budgetBounds, "thinking.budget")
		t.ThinkingBudget = number(min(max(*b, low), high))
	}
}

// leveled makes t what a model takes that thinks by levels. It takes budgets,
// too.
func leveled(t *generatecontent.ThinkingConfig, f family, log *loss.Log) {
	least := "MINIMAL"
	if f.kind == pro {
		least = "LOW"
	}
	if b := t.ThinkingBudget; b != nil && *b == 0 {
		log.Add(neverOff, "thinking.mode")
		t.ThinkingBudget, t.ThinkingLevel = nil, least
		return
	}
	if t.ThinkingLevel == "MINIMAL" && least != "MINIMAL" {
		log.Add(effortLow, "thinking.effort")
		t.ThinkingLevel = least
	}
	bound(t, 1, mostBudget, true, log)
}

// native reports whether a request came in this format, as far as one can see.
func native(n *upstream.Request) bool {
	return n.Wire != nil && n.Wire.Format == generatecontent.Format || n.Extra != nil && n.Extra.Format == generatecontent.Format
}

func number(n int64) *int64 { return &n }
