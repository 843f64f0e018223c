package lower

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Modes controls thinking by modes and budgets.
type Modes struct {
	// Model describes the model. If it is nil, only the format's rules apply.
	Model *ModelModes

	// StepThinking says that with a budget, the open tool loop must begin with thinking.
	StepThinking bool

	// Member is an own member of the request that may have a mode without a neutral form.
	// The settings are sent as they are then.
	Member string
}

// ModelModes describes how a model thinks.
type ModelModes struct {
	Known    bool // the other fields are known, not assumed
	Never    bool // the model cannot think
	Budgets  bool // it accepts a budget
	Adaptive bool // it decides how much to think
	Off      bool // thinking can be turned off
	Between  bool // thinking can be limited to the time between tool calls
	Efforts  bool // it accepts an effort
	Refused  EffortSet
	HighOff  bool // its highest effort without thinking is "high"
}

// modeEfforts are the efforts beside modes.
var modeEfforts = Efforts[2:]

// minBudget is the smallest budget of thinking tokens.
const minBudget = 1024

// modes lowers thinking to a mode.
func (l *lowering) modes(m *Modes) {
	t := &l.to.Thinking
	asBudget := m.Model != nil && l.modelModes(m.Model)
	switch t.Mode {
	case "":
		if l.hasMember(m.Member) {
			break
		}
		l.checkMode()
		l.dropDisplay(false)
	case upstream.ThinkingOff, upstream.ThinkingBetweenTools:
		l.dropDisplay(t.Mode == upstream.ThinkingBetweenTools)
	case upstream.ThinkingAuto, upstream.ThinkingBudget:
		if t.Display == displayAny && t.Mode == upstream.ThinkingBudget {
			t.Display = "" // models with budgets show it
		}
		l.display("omitted", "summarized", "updates")
	default:
		l.lose(ModeUnknown, At("thinking.mode"))
		l.resetThinking("")
	}
	switch t.Effort {
	case "", "low", "medium", "high", "xhigh", "max":
	case "minimal":
		l.lose(EffortNearest, At("thinking.effort"))
		t.Effort = "low"
	default:
		l.lose(EffortUnknown, At("thinking.effort"))
		t.Effort = ""
	}
	switch {
	case t.Mode != upstream.ThinkingBudget:
	case m.StepThinking && l.isThinkingMissing():
		l.lose(ModeMissing, At("thinking.mode"))
		l.resetThinking(upstream.ThinkingOff)
	case asBudget:
		l.lose(EffortAsBudget, At("thinking.effort"))
	}
	l.thinks = t.Mode == upstream.ThinkingAuto || t.Mode == upstream.ThinkingBudget
}

// resetThinking sets a mode without a budget and a display.
func (l *lowering) resetThinking(mode upstream.ThinkingMode) {
	t := &l.to.Thinking
	*t = upstream.Thinking{Mode: mode, Effort: t.Effort, Extra: t.Extra}
}

// dropDisplay drops the display of thinking. Hiding thinking is not a loss if the model
// does not think.
func (l *lowering) dropDisplay(thinks bool) {
	t := &l.to.Thinking
	if t.Display != "" && (thinks || t.Display != "omitted") {
		l.loseDisplay(DisplayNone)
	}
	t.Display = ""
}

// modelModes selects a mode that the model supports. asBudget reports that an effort has
// become a budget.
func (l *lowering) modelModes(m *ModelModes) (asBudget bool) {
	t := &l.to.Thinking
	l.checkMode()
	if t.Mode == "" {
		asBudget = l.inferMode(m, l.t.Thinking.Default == upstream.ThinkingAuto)
	}
	switch t.Mode {
	case upstream.ThinkingOff:
		l.turnOff(m)
	case upstream.ThinkingAuto:
		asBudget = l.chooseMode(m, nil)
	case upstream.ThinkingBudget:
		if !m.Never && !m.Budgets || t.Budget == nil {
			asBudget = l.chooseMode(m, &Loss{Rule: BudgetAuto, Path: At("thinking.budget")})
		} else if !asBudget {
			l.chooseMode(m, nil)
		}
	case upstream.ThinkingBetweenTools:
		if !m.Between {
			asBudget = l.chooseMode(m, &Loss{Rule: ModeBetween, Path: At("thinking.mode")})
		}
	}
	l.fitBudget()
	if l.to.Choice.Mode == content.ChoiceAny && t.Mode == upstream.ThinkingBudget {
		l.lose(ModeForcedTool, At("thinking.mode"))
		l.resetThinking(upstream.ThinkingOff)
	}
	if m.Refused.Has(t.Effort) {
		l.lose(EffortNearest, At("thinking.effort"))
		t.Effort = nearestEffort(m.Refused.Without(modeEfforts), t.Effort)
	}
	switch {
	case t.Effort == "":
	case !m.Efforts:
		l.lose(EffortNone, At("thinking.effort"))
		t.Effort = ""
	case m.HighOff && t.Mode == upstream.ThinkingOff && (t.Effort == "xhigh" || t.Effort == "max"):
		l.lose(EffortNearest, At("thinking.effort"))
		t.Effort = "high"
	}
	return asBudget
}

// inferMode enables thinking if a request without a mode has an effort or shows
// thinking: models of other vendors with an effort think. thinks reports whether the model thinks
// without a mode; asBudget is that of modelModes.
func (l *lowering) inferMode(m *ModelModes, thinks bool) (asBudget bool) {
	t := &l.to.Thinking
	switch {
	case !m.Known:
	case thinks && t.Display != "" && t.Display != "omitted":
		t.Mode = upstream.ThinkingAuto // the default, but with a display
	case t.Effort == "", m.Never:
	case t.Effort == "minimal" && !thinks:
		t.Mode = upstream.ThinkingOff // the default, but known as such
	case m.Adaptive:
		t.Mode = upstream.ThinkingAuto
	default:
		return l.chooseMode(m, nil)
	}
	return false
}

// effortBudgets maps efforts to budgets of thinking tokens.
var effortBudgets = map[string]int64{"low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 49152}

// effortBudget returns the budget for an effort. It leaves half of the limit of output
// tokens to the rest of the response.
func (l *lowering) effortBudget(effort string) int64 {
	n, ok := effortBudgets[effort]
	if !ok {
		n = effortBudgets["medium"]
	}
	if *l.to.MaxTokens < 2*n {
		l.raiseLimit(n)
	}
	limit := *l.to.MaxTokens
	return max(min(n, limit/2), min(minBudget, limit-1))
}

// raiseLimit adds tokens to the limit of output tokens, if the client has not set it.
func (l *lowering) raiseLimit(tokens int64) {
	if l.n.MaxTokens != nil {
		return
	}
	limit := max(tokens, tokens+*l.to.MaxTokens) // the sum may overflow
	if highest := l.t.Limit.Max; highest > 0 {
		limit = min(limit, highest)
	}
	l.to.MaxTokens = &limit
}

// turnOff turns thinking off if the model supports that.
func (l *lowering) turnOff(m *ModelModes) {
	t := &l.to.Thinking
	switch {
	case m.Off && m.Never:
		t.Mode = "" // there is nothing to turn off
		return
	case m.Off:
		return
	case m.Between:
		t.Mode = upstream.ThinkingBetweenTools
	default:
		if t.Mode = upstream.ThinkingAuto; m.Efforts && t.Effort == "" {
			t.Effort = "low"
		}
	}
	l.lose(ModeOff, At("thinking.mode"))
}

// chooseMode selects automatic thinking or a budget. It reports lost, or if that is nil,
// the loss of the requested mode. asBudget is that of modelModes.
func (l *lowering) chooseMode(m *ModelModes, lost *Loss) (asBudget bool) {
	t := &l.to.Thinking
	switch {
	case m.Never:
		l.lose(ModeNone, At("thinking.mode"))
		l.resetThinking("")
		return false
	case t.Mode == upstream.ThinkingBudget && lost == nil:
		return false
	case lost != nil:
		l.lose(lost.Rule, lost.Path)
	}
	if t.Mode, t.Budget = upstream.ThinkingAuto, nil; m.Adaptive {
		return false
	}
	t.Mode, t.Budget = upstream.ThinkingBudget, new(l.effortBudget(t.Effort))
	if asBudget = t.Effort != ""; asBudget && !m.Efforts {
		t.Effort = ""
	}
	if lost == nil && !asBudget {
		l.lose(ModeAuto, At("thinking.mode"))
	}
	return asBudget
}

// fitBudget moves a budget into the range that is accepted.
func (l *lowering) fitBudget() {
	t := &l.to.Thinking
	if t.Mode != upstream.ThinkingBudget {
		return
	}
	was := *t.Budget
	now := max(was, minBudget)
	if now >= *l.to.MaxTokens {
		l.raiseLimit(now)
	}
	now = min(now, *l.to.MaxTokens-1)
	switch {
	case now < minBudget: // the limit of output tokens is below the smallest budget
		l.lose(BudgetNone, At("thinking.budget"))
		l.resetThinking(upstream.ThinkingOff)
		return
	case now != was:
		l.lose(BudgetRange, At("thinking.budget"))
		t.Budget = &now
	}
}

// isThinkingMissing reports whether the open tool loop does not begin with thinking,
// which the server requires with a budget. Later steps of the loop need no thinking.
func (l *lowering) isThinkingMissing() bool {
	turns := l.to.Turns
	step := openLoop(turns)
	if step < 0 || len(turns[step].Parts) == 0 {
		return false
	}
	_, ok := turns[step].Parts[0].(*content.Thinking)
	return !ok
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
