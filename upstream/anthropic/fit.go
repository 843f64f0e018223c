package anthropic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A fitter changes a request so that a model accepts it. It works on a shallow copy,
// and copies what the fields reference before it changes that.
type fitter struct {
	family
	maxOutput  int64 // 0 means unknown
	limitGiven bool  // the client set max_tokens
	n          upstream.Request
	log        *loss.Log
}

func (f *fitter) addLoss(rule int, path string) { f.log.Add(&modelLosses[rule], path) }

// fit returns n as a model of the family accepts it. limit is max_tokens for
// requests without it; 0 means the default. maxOutput is the model's maximum; 0
// means unknown.
func fit(n *upstream.Request, of family, limit, maxOutput int64, log *loss.Log) (*upstream.Request, error) {
	f := fitter{family: of, maxOutput: maxOutput, limitGiven: n.MaxTokens != nil, n: *n, log: log}
	f.n.Wire = nil
	if err := cmp.Or(adapter.CheckMaxTokens(n), f.turns()); err != nil {
		return nil, err
	}
	f.limit(limit)
	f.tools()
	f.thinking()
	f.budget()
	f.toolChoice()
	f.effort()
	f.sampling()
	return &f.n, nil
}

// defaultLimit is the default of max_tokens, which includes thinking.
const defaultLimit = 32000

// limit sets max_tokens, which the vendor requires.
func (f *fitter) limit(limit int64) {
	if limit == 0 {
		limit = defaultLimit
	}
	n := f.n.MaxTokens
	if n == nil {
		n = &limit
	}
	low, lowered := adapter.CapTokens(n, f.maxOutput)
	if lowered && n != &limit {
		f.addLoss(lossLimit, "max_tokens")
	}
	f.n.MaxTokens = low
}

// turns converts system turns to user turns if the model may not accept them. It
// returns an error if the conversation ends with the assistant and the model does
// not continue a response.
func (f *fitter) turns() error {
	copied := false
	begun := false
	for i := range f.n.Turns {
		if f.n.Turns[i].Role != content.RoleSystem {
			begun = true
		} else if begun && !f.hasSystemTurns() {
			if !copied {
				copied, f.n.Turns = true, slices.Clone(f.n.Turns)
			}
			f.n.Turns[i].Role = content.RoleUser
			f.addLoss(lossSystemTurn, "turns."+strconv.Itoa(i))
		}
	}
	if i := len(f.n.Turns) - 1; i >= 0 && f.n.Turns[i].Role == content.RoleAssistant && f.isKnown() && !f.hasPrefill() {
		return &content.Violation{Code: content.CodeUnsupported, Path: "turns." + strconv.Itoa(i),
			Text: "This model does not continue a response that the request begins. The conversation must end with a user message."}
	}
	return nil
}

// fillEmptyMessage returns n, or a copy with a sentence as the last user message if
// that is blank, which the vendor refuses.
func fillEmptyMessage(n *upstream.Request, log *loss.Log) *upstream.Request {
	first, end := adapter.LastMessage(n.Turns)
	last := -1
	for i := first; i < end; i++ {
		t := &n.Turns[i]
		if t.Role != content.RoleUser || len(t.Parts) == 0 {
			continue
		}
		if slices.ContainsFunc(t.Parts, hasMeaning) {
			return n
		}
		last = i
	}
	if last < 0 {
		return n
	}
	c := *n
	c.Turns = slices.Clone(n.Turns)
	c.Turns[last].Parts = []content.Part{&content.Text{Text: codec.EmptyMessageText}}
	log.Add(codec.EmptyMessage, "turns."+strconv.Itoa(last))
	return &c
}

// hasMeaning reports whether a part is anything but a blank text.
func hasMeaning(p content.Part) bool {
	t, ok := p.(*content.Text)
	return !ok || t == nil || strings.TrimSpace(t.Text) != ""
}

// tools declares the tools of earlier tool calls: the vendor requires a declaration.
func (f *fitter) tools() {
	if len(f.n.Tools) > 0 {
		return
	}
	f.n.Tools = calledTools(f.n.Turns)
	if len(f.n.Tools) > 0 {
		f.addLoss(lossUndeclaredTools, "tools")
		f.n.Choice = content.ToolChoice{Mode: content.ChoiceNone}
	}
}

// calledTools returns the tools of earlier tool calls, without schemas.
func calledTools(turns []content.Turn) (tools []content.Tool) {
	known := make(map[string]bool)
	for i := range turns {
		for _, p := range turns[i].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil && !known[u.Name] {
				known[u.Name] = true
				tools = append(tools, content.Tool{Name: u.Name})
			}
		}
	}
	return tools
}

// thinking selects a mode that the model supports.
func (f *fitter) thinking() {
	t := &f.n.Thinking
	if t.Mode == "" {
		f.inferMode()
	}
	switch t.Mode {
	case upstream.ThinkingOff:
		f.off()
	case upstream.ThinkingAuto:
		f.auto(-1)
	case upstream.ThinkingBudget:
		if f.hasThinking() && !f.hasBudgets() || t.Budget == nil {
			f.auto(lossBudget)
		} else {
			f.auto(-1)
		}
	case upstream.ThinkingBetweenTools:
		if !f.hasBetweenTools() {
			f.auto(lossBetweenTools)
		}
	}
}

// inferMode enables thinking if a request without a mode has an effort or shows
// thinking: models of other vendors with an effort think.
func (f *fitter) inferMode() {
	t := &f.n.Thinking
	switch {
	case !f.isKnown():
	case f.thinksByDefault() && t.Display != "" && t.Display != "omitted":
		t.Mode = upstream.ThinkingAuto // the default, but with a display
	case t.Effort == "", t.Effort == "minimal":
	case f.isAdaptive():
		t.Mode = upstream.ThinkingAuto
	case f.hasThinking():
		f.addLoss(lossEffortAsBudget, "thinking.effort")
		n := f.effortBudget(t.Effort)
		if t.Mode, t.Budget = upstream.ThinkingBudget, &n; !f.hasEffort() {
			t.Effort = ""
		}
	}
}

// effortBudgets maps efforts to thinking budgets in tokens.
var effortBudgets = map[string]int64{"low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 49152}

// effortBudget returns the budget for an effort. It leaves half of max_tokens to the
// rest of the response. If the client did not set max_tokens, it is raised.
func (f *fitter) effortBudget(effort string) int64 {
	n, ok := effortBudgets[effort]
	if !ok {
		n = effortBudgets["medium"]
	}
	if !f.limitGiven && *f.n.MaxTokens < 2*n {
		limit := n + *f.n.MaxTokens
		if f.maxOutput > 0 {
			limit = min(limit, f.maxOutput)
		}
		f.n.MaxTokens = &limit
	}
	return max(min(n, *f.n.MaxTokens/2), min(minBudget, *f.n.MaxTokens-1))
}

// off disables thinking if the model supports that.
func (f *fitter) off() {
	t := &f.n.Thinking
	switch {
	case f.hasThinkingOff():
	case f.hasBetweenTools():
		t.Mode = upstream.ThinkingBetweenTools
		f.addLoss(lossThinkingOff, "thinking.mode")
	default:
		t.Mode = upstream.ThinkingAuto
		f.addLoss(lossThinkingOff, "thinking.mode")
	}
	if f.hasThinkingOff() && !f.hasThinking() {
		t.Mode = "" // there is nothing to disable
	}
}

// auto selects a supported mode. It reports the loss rule, if that is not negative,
// or else the loss of the requested mode.
func (f *fitter) auto(rule int) {
	t := &f.n.Thinking
	switch {
	case !f.hasThinking():
		*t = upstream.Thinking{Effort: t.Effort, Extra: t.Extra}
		f.addLoss(lossNoThinking, "thinking.mode")
		return
	case t.Mode == upstream.ThinkingBudget && rule < 0:
		return
	}
	if rule >= 0 {
		path := "thinking.mode"
		if rule == lossBudget {
			path = "thinking.budget"
		}
		f.addLoss(rule, path)
	}
	t.Mode, t.Budget = upstream.ThinkingAuto, nil
	if !f.isAdaptive() {
		all := *f.n.MaxTokens - 1
		t.Mode, t.Budget = upstream.ThinkingBudget, &all
		if rule < 0 {
			f.addLoss(lossAdaptive, "thinking.mode")
		}
	}
}

// minBudget is the vendor's minimum.
const minBudget = 1024

// budget moves a budget into the vendor's range.
func (f *fitter) budget() {
	t := &f.n.Thinking
	if t.Mode != upstream.ThinkingBudget {
		t.Budget = nil
		return
	}
	was, now := *t.Budget, max(*t.Budget, minBudget)
	if now >= *f.n.MaxTokens && !f.limitGiven {
		limit := now + *f.n.MaxTokens
		if f.maxOutput > 0 {
			limit = min(limit, f.maxOutput)
		}
		f.n.MaxTokens = &limit
	}
	now = min(now, *f.n.MaxTokens-1)
	switch {
	case now < minBudget: // max_tokens is below the minimum budget
		f.addLoss(lossBudgetNone, "thinking.budget")
		*t = upstream.Thinking{Mode: upstream.ThinkingOff, Effort: t.Effort, Extra: t.Extra}
		return
	case now != was:
		f.addLoss(lossBudgetSize, "thinking.budget")
	}
	t.Budget = &now
}

// toolChoice relaxes a choice that the model does not support.
func (f *fitter) toolChoice() {
	c := &f.n.Choice
	if c.Mode != content.ChoiceAny {
		return
	}
	if !f.hasForcedTools() {
		c.Mode = content.ChoiceAuto
		f.addLoss(lossForcedTool, "choice.mode")
		return
	}
	if t := &f.n.Thinking; t.Mode == upstream.ThinkingBudget {
		*t = upstream.Thinking{Mode: upstream.ThinkingOff, Effort: t.Effort, Extra: t.Extra}
		f.addLoss(lossThinkingForced, "thinking.mode")
	}
}

func (f *fitter) effort() {
	t := &f.n.Thinking
	switch {
	case t.Effort == "":
	case !f.hasEffort():
		t.Effort = ""
		f.addLoss(lossEffort, "thinking.effort")
	case f.is("opus", 50) && t.Mode == upstream.ThinkingOff && (t.Effort == "xhigh" || t.Effort == "max"):
		t.Effort = "high"
		f.addLoss(lossEffortWithoutThinking, "thinking.effort")
	}
}

// sampling removes parameters that the model refuses. A temperature of 1 is the
// default, so removing it loses nothing.
func (f *fitter) sampling() {
	n := &f.n
	unsupported := f.isKnown() && !f.hasSampling()
	if unsupported || n.Thinking.Mode == upstream.ThinkingAuto || n.Thinking.Mode == upstream.ThinkingBudget {
		temperature, topP, topK := lossThinkingTemperature, lossThinkingTopP, lossThinkingTopK
		if unsupported {
			temperature, topP, topK = lossTemperature, lossTopP, lossTopK
		}
		f.reportIf(n.Temperature != nil && *n.Temperature != 1, temperature, "temperature")
		f.reportIf(n.TopP != nil && *n.TopP != 1, topP, "top_p")
		f.reportIf(n.TopK != nil, topK, "top_k")
		n.Temperature, n.TopP, n.TopK = nil, nil, nil
		return
	}
	if n.Temperature == nil || n.TopP == nil || !f.isKnown() || !f.hasOneSampler() {
		return
	}
	if *n.Temperature == 1 {
		n.Temperature = nil
		return
	}
	f.reportIf(*n.TopP != 1, lossOneSampler, "top_p")
	n.TopP = nil
}

func (f *fitter) reportIf(lost bool, rule int, path string) {
	if lost {
		f.addLoss(rule, path)
	}
}

// checkToolLoop disables thinking with a budget if the open tool loop does not begin
// with a thinking block, which the vendor requires. Later steps of the loop need no
// thinking.
func checkToolLoop(r *messages.Request, log *loss.Log) {
	if r.Thinking == nil || r.Thinking.Type != "enabled" {
		return
	}
	step := openLoop(r.Messages)
	if step < 0 || len(r.Messages[step].Parts) == 0 {
		return
	}
	if _, ok := r.Messages[step].Parts[0].(*content.Thinking); ok {
		return
	}
	r.Thinking = &messages.Thinking{Type: "disabled"}
	log.Add(&modelLosses[lossThinkingMissing], "thinking.mode")
}

// openLoop returns the first assistant turn of the tool loop that the request
// continues, or -1. Going back, it passes turns of only tool results. It stops at
// one with other parts.
func openLoop(turns []content.Turn) int {
	step := -1
	for end := len(turns); end > 0; {
		end = startOfRun(turns, end, content.RoleSystem)
		user := startOfRun(turns, end, content.RoleUser)
		assistant := startOfRun(turns, startOfRun(turns, user, content.RoleSystem), content.RoleAssistant)
		results, others := 0, 0
		for _, t := range turns[user:end] {
			for _, p := range t.Parts {
				if _, ok := p.(*content.ToolResult); ok {
					results++
				} else {
					others++
				}
			}
		}
		if results == 0 || assistant == user {
			break
		}
		step, end = assistant, assistant
		if others > 0 {
			break
		}
	}
	return step
}

// startOfRun returns the start of the run of turns with a role that ends at end.
func startOfRun(turns []content.Turn, end int, role content.Role) int {
	for end > 0 && turns[end-1].Role == role {
		end--
	}
	return end
}

// Indices of modelLosses.
const (
	lossLimit = iota
	lossSystemTurn
	lossAssistantFirst
	lossAdaptive
	lossNoThinking
	lossThinkingOff
	lossBetweenTools
	lossBudget
	lossBudgetSize
	lossBudgetNone
	lossEffortAsBudget
	lossThinkingForced
	lossThinkingMissing
	lossEffort
	lossEffortWithoutThinking
	lossForcedTool
	lossTemperature
	lossTopP
	lossTopK
	lossThinkingTemperature
	lossThinkingTopP
	lossThinkingTopK
	lossOneSampler
	lossUndeclaredTools
)

// modelLosses are the losses that depend on the model, not on the format.
var modelLosses = [...]loss.Rule{
	lossLimit:                 {Feature: loss.MaxTokens, Severity: content.LossDegraded, Reason: "max_tokens exceeds the model's maximum; it was lowered to the maximum"},
	lossSystemTurn:            {Feature: loss.SystemTurn, Severity: content.LossDegraded, Reason: "the model does not accept system turns within the conversation; the text was sent in a user turn"},
	lossAssistantFirst:        {Feature: loss.TurnOrder, Severity: content.LossDegraded, Reason: "the model requires a user turn first; a turn with a note was added"},
	lossAdaptive:              {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model has no adaptive thinking; a budget just below max_tokens was sent"},
	lossNoThinking:            {Feature: loss.ThinkingMode, Severity: content.LossDropped, Reason: "the model cannot think; thinking was dropped"},
	lossThinkingOff:           {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model's thinking cannot be disabled; it thinks"},
	lossBetweenTools:          {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model cannot limit thinking to the time between tool calls; it thinks at any time"},
	lossBudget:                {Feature: loss.ThinkingBudget, Severity: content.LossDegraded, Reason: "the model does not accept a thinking budget, or none was given; it decides how much to think"},
	lossBudgetSize:            {Feature: loss.ThinkingBudget, Severity: content.LossDegraded, Reason: "a thinking budget must be at least 1024 and below max_tokens; the nearest one was sent"},
	lossBudgetNone:            {Feature: loss.ThinkingBudget, Severity: content.LossDegraded, Reason: "max_tokens leaves no room for the minimum thinking budget of 1024; thinking was disabled"},
	lossEffortAsBudget:        {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "the model has no effort; a thinking budget was sent instead"},
	lossThinkingForced:        {Feature: loss.ThinkingMode, Severity: content.LossDegraded, Reason: "the model cannot think with a budget when a tool call is required; thinking was disabled"},
	lossThinkingMissing:       {Feature: loss.LostThinking, Severity: content.LossDegraded, Reason: "the thinking before the tool calls is missing; thinking was disabled for this response"},
	lossEffort:                {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "the model does not accept an effort; it was dropped"},
	lossEffortWithoutThinking: {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "without thinking, the model's highest effort is high; it was sent"},
	lossForcedTool:            {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "the model does not accept a required tool call; it may call tools"},
	lossTemperature:           {Feature: loss.Temperature, Severity: content.LossDropped, Reason: "the model does not accept a temperature; it was dropped"},
	lossTopP:                  {Feature: loss.TopP, Severity: content.LossDropped, Reason: "the model does not accept top_p; it was dropped"},
	lossTopK:                  {Feature: loss.TopK, Severity: content.LossDropped, Reason: "the model does not accept top_k; it was dropped"},

	lossThinkingTemperature: {Feature: loss.Temperature, Severity: content.LossDropped, Reason: "the model does not accept a temperature while it thinks; it was dropped"},
	lossThinkingTopP:        {Feature: loss.TopP, Severity: content.LossDropped, Reason: "the model does not accept top_p while it thinks; it was dropped"},
	lossThinkingTopK:        {Feature: loss.TopK, Severity: content.LossDropped, Reason: "the model does not accept top_k while it thinks; it was dropped"},
	lossOneSampler:          {Feature: loss.TopP, Severity: content.LossDropped, Reason: "the model accepts temperature or top_p, not both; top_p was dropped"},

	lossUndeclaredTools: {Feature: loss.VendorPart, Severity: content.LossHint, Reason: "earlier tool calls use tools that the request does not declare; they were declared without a schema, and the model cannot call them"},
}
