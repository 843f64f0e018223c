package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Levels controls thinking by levels or budgets. The result has the level in
// Thinking.Effort, unless the mode is [upstream.ThinkingBudget].
type Levels struct {
	Budgets   *Budgets // of a model without levels
	MinLevel  string   // the lowest level of a model that cannot turn thinking off; empty: unknown
	MaxBudget int64    // the highest budget of a model with levels
	Refused   EffortSet
	NotOff    bool // thinking cannot be turned off, and the lowest level is unknown
	Shown     bool // thinking is shown if it is not known what the client means

	// Own reports whether the own members of a request have the settings t already, so
	// that only the rules of the model apply. It may be nil.
	Own func(x *content.Extra, t *upstream.Thinking) bool
}

// Budgets is the range of budgets that a model accepts.
type Budgets struct {
	Low, High int64
	Off       bool // thinking can be turned off
}

// levels lowers thinking to a level or a budget.
func (l *lowering) levels(x *Levels) {
	t, n := &l.to.Thinking, l.to.Thinking
	if *t == (upstream.Thinking{}) {
		return
	}
	if x.Own == nil || l.to.Extra == nil || !x.Own(l.to.Extra, t) {
		l.levelSettings(x)
	}
	if x.Shown && n.Enabled() && n.Display == "" {
		t.Display = l.shown("summarized")
	}
	switch {
	case x.Budgets != nil:
		if t.Effort != "" {
			l.lose(EffortAsBudget, At("thinking.effort"))
			n := min(max(effortBudgets[t.Effort], x.Budgets.Low), x.Budgets.High)
			if limit := l.to.MaxTokens; limit != nil {
				n = max(min(n, *limit/2), x.Budgets.Low) // half is for the rest of the response
			}
			t.Mode, t.Budget, t.Effort = upstream.ThinkingBudget, &n, ""
		}
		l.fitRange(x.Budgets)
	case t.Mode == upstream.ThinkingOff && (x.NotOff || x.MinLevel != ""):
		l.lose(ModeOff, At("thinking.mode"))
		t.Mode, t.Effort = "", x.level(x.MinLevel)
	default:
		if level := x.level(t.Effort); level != t.Effort {
			l.lose(EffortNearest, At("thinking.effort"))
			t.Effort = level
		}
		if x.MinLevel != "" {
			l.fitRange(&Budgets{Low: 1, High: x.MaxBudget, Off: true})
		}
	}
	if t.Enabled() && !n.Enabled() && t.Display == "" {
		t.Display = "omitted" // the default of the format
	}
}

// level returns the level of the model that is nearest to one of the format.
func (x *Levels) level(want string) string {
	known := x.Refused.Without(Efforts[1:5])
	if want == "" || len(known) == 0 {
		return ""
	}
	return nearestEffort(known[max(0, slices.Index(known, x.MinLevel)):], want) // bounded by Efforts
}

// levelSettings lowers the settings to those of the format.
func (l *lowering) levelSettings(x *Levels) {
	t := &l.to.Thinking
	l.checkMode()
	switch t.Mode {
	case upstream.ThinkingOff:
		l.dropEffort(EffortOff)
	case upstream.ThinkingBudget:
		l.dropEffort(EffortBudget)
		switch {
		case t.Budget == nil:
			l.lose(BudgetMissing, At("thinking.budget"))
			t.Mode = upstream.ThinkingAuto
		case *t.Budget == 0:
			t.Mode, t.Budget = upstream.ThinkingOff, nil
		case *t.Budget == -1:
			t.Mode, t.Budget = upstream.ThinkingAuto, nil
		}
	case upstream.ThinkingBetweenTools:
		l.lose(ModeBetween, At("thinking.mode"))
		t.Mode = upstream.ThinkingAuto
		fallthrough
	default:
		l.nearestLevel(x)
	}
	l.display("omitted", "summarized")
}

// dropEffort drops an effort that another setting replaces.
func (l *lowering) dropEffort(r *loss.Rule) {
	if t := &l.to.Thinking; t.Effort != "" {
		l.lose(r, At("thinking.effort"))
		t.Effort = ""
	}
}

// nearestLevel lowers the effort to a level.
func (l *lowering) nearestLevel(x *Levels) {
	t := &l.to.Thinking
	switch t.Effort {
	case "", "minimal", "low", "medium", "high":
	case "xhigh", "max":
		if x.Budgets == nil {
			l.lose(EffortNearest, At("thinking.effort"))
		}
		t.Effort = "high"
	default:
		l.lose(EffortUnknown, At("thinking.effort"))
		t.Effort = ""
	}
}

// fitRange moves a budget into a range.
func (l *lowering) fitRange(b *Budgets) {
	t := &l.to.Thinking
	switch {
	case t.Mode == upstream.ThinkingOff && !b.Off:
		l.lose(ModeOff, At("thinking.mode"))
		t.Mode, t.Budget = upstream.ThinkingBudget, new(b.Low)
	case t.Mode != upstream.ThinkingBudget || t.Budget == nil:
	case *t.Budget == -1, *t.Budget == 0 && b.Off, *t.Budget >= b.Low && *t.Budget <= b.High:
	case *t.Budget == 0:
		l.lose(ModeOff, At("thinking.mode"))
		t.Budget = new(b.Low)
	default:
		l.lose(BudgetRange, At("thinking.budget"))
		t.Budget = new(min(max(*t.Budget, b.Low), b.High))
	}
}
