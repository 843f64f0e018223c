package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// ThinkingRules describes how a target controls the thinking of a model. At most one of
// Dial, Modes and Levels is set. Without one, the target has no control.
type ThinkingRules struct {
	Dial   *Dial
	Modes  *Modes
	Levels *Levels

	// Default is the mode without settings: off, automatic, or empty if it is unknown.
	Default upstream.ThinkingMode

	NotCarried bool // the server does not return thinking that later requests can contain
}

// thinking lowers the thinking of the response.
func (l *lowering) thinking() {
	rules, t := &l.t.Thinking, &l.to.Thinking
	t.Extra = l.extra(t.Extra, At("thinking"), l.t.Own.Members && (rules.Modes != nil || rules.Levels != nil), foreign.Thinking)
	if rules.NotCarried {
		l.lose(ThinkingNotCarried, At("thinking"))
	}
	l.withoutOwn()
	l.silent = l.byDefault()
	defer func() { l.silent = false }()
	switch {
	case rules.Dial != nil:
		l.dial(rules.Dial)
	case rules.Modes != nil:
		l.modes(rules.Modes)
	case rules.Levels != nil:
		l.levels(rules.Levels)
	case *t != (upstream.Thinking{}):
		l.noThinking()
	}
}

// byDefault sets what a client means by a request without settings, if the model does something else
// without them. It reports whether it has.
func (l *lowering) byDefault() bool {
	t, d, own := &l.to.Thinking, l.n.Defaults, l.t.Thinking.Default
	l.to.Defaults.Format = l.t.Format // the result has all settings
	if d.Format == l.t.Format || d.Thinking == "" || own == "" || d.Thinking == own || t.Mode != "" || t.Effort != "" || t.Budget != nil || t.Display != "" {
		return false
	}
	t.Mode = d.Thinking
	return true
}

// withoutOwn removes the settings that own members of the request have, too.
func (l *lowering) withoutOwn() {
	t, own := &l.to.Thinking, foreign.ThinkingOf(codec.Own(l.to.Extra, l.t.Format))
	if t.Mode == upstream.ThinkingMode(own.Mode) {
		t.Mode = ""
	}
	if t.Effort == own.Effort {
		t.Effort = ""
	}
	if t.Budget != nil && *t.Budget == own.Budget {
		t.Budget = nil
	}
}

// shown returns the display of thinking that a client means by a request without one, or
// otherwise if it is unknown.
func (l *lowering) shown(otherwise string) string {
	switch d := l.n.Defaults; {
	case d == upstream.Defaults{}:
		return otherwise
	case d.Format == l.t.Format:
		return ""
	default:
		return d.Display
	}
}

// noThinking drops all settings, because the model cannot think.
func (l *lowering) noThinking() {
	t := &l.to.Thinking
	l.checkMode()
	asks := t.Enabled() || t.Effort != ""
	l.loseThinking(ModeNone, t)
	if !asks && t.Display != "" && t.Display != "omitted" {
		l.lose(DisplayNoThinking, At("thinking.display")) // otherwise it follows from what was reported
	}
	*t = upstream.Thinking{}
}

// loseThinking reports that the settings t, which ask for thinking, have no effect.
func (l *lowering) loseThinking(r *loss.Rule, t *upstream.Thinking) {
	if t.Enabled() {
		l.lose(r, At("thinking.mode"))
	}
	if t.Effort != "" {
		l.lose(r, At("thinking.effort"))
	}
	if t.Budget != nil {
		l.lose(r, At("thinking.budget"))
	}
}

// checkMode drops an unknown mode, and a budget without the mode that has one.
func (l *lowering) checkMode() {
	t := &l.to.Thinking
	if t.Mode != "" && t.Mode != upstream.ThinkingOff && !t.Enabled() {
		l.lose(ModeUnknown, At("thinking.mode"))
		t.Mode = ""
	}
	if t.Budget != nil && t.Mode != upstream.ThinkingBudget {
		l.lose(BudgetAlone, At("thinking.budget"))
		t.Budget = nil
	}
}

// displayAny is the display of requests that show thinking as far as the server does. Nothing is
// lost if it does not.
const displayAny = "auto"

// display lowers the display of thinking to one of known, or to none.
func (l *lowering) display(known ...string) {
	switch t := &l.to.Thinking; {
	case t.Display == "", slices.Contains(known, t.Display): // bounded by Target
	case t.Display == "full", t.Display == "updates", t.Display == "detailed", t.Display == "concise":
		l.lose(DisplaySummary, At("thinking.display"))
		t.Display = "summarized"
	case t.Display == displayAny:
		t.Display = "summarized"
	default:
		l.lose(DisplayUnknown, At("thinking.display"))
		t.Display = ""
	}
}

// loseDisplay removes the display of thinking, and reports this unless nothing is lost.
func (l *lowering) loseDisplay(r *loss.Rule) {
	if l.to.Thinking.Display != displayAny {
		l.lose(r, At("thinking.display"))
	}
	l.to.Thinking.Display = ""
}

// Efforts lists the efforts from the least to the most.
var Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// effortRank returns the index of an effort in Efforts, or -1.
func effortRank(effort string) int { return slices.Index(Efforts, effort) } // bounded by Efforts

// An EffortSet is a set of Efforts. The zero value is empty.
type EffortSet uint8

// AllEfforts is the set of all Efforts.
const AllEfforts EffortSet = 1<<7 - 1

// Has reports whether an effort is in the set.
func (s EffortSet) Has(effort string) bool {
	i := effortRank(effort)
	return i >= 0 && s&(1<<i) != 0
}

// Add adds an effort. It ignores other words.
func (s *EffortSet) Add(effort string) {
	if i := effortRank(effort); i >= 0 {
		*s |= 1 << i
	}
}

// Without returns the efforts of list that are not in the set.
func (s EffortSet) Without(list []string) []string {
	if s == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), s.Has)
}

// nearestEffort returns the effort in list that is closest to want, the smaller of two,
// or "" if list is empty. It turns thinking off or on only if there is no other choice.
func nearestEffort(list []string, want string) string {
	best, distance := "", 3*len(Efforts)
	for _, e := range list {
		d := effortRank(e) - effortRank(want)
		if d < 0 {
			d = -d
		}
		if (e == "none") != (want == "none") {
			d += len(Efforts) // last resort
		}
		if d < distance || d == distance && effortRank(e) < effortRank(best) {
			best, distance = e, d
		}
	}
	return best
}

// effortOfBudget returns the effort for a budget of thinking tokens.
func effortOfBudget(tokens int64) string {
	switch {
	case tokens <= 1024:
		return "low"
	case tokens <= 8192:
		return "medium"
	case tokens <= 24576:
		return "high"
	}
	return "xhigh"
}

// A Dial controls thinking by an effort. The result has the effort in [Request.Effort],
// and in Thinking.Effort too.
type Dial struct {
	Efforts []string // that the model accepts, in any order
	Refused bool     // the server rejects an effort
	Never   bool     // the model is known not to think

	// Switch is a member of the request that turns thinking on and off, beside the
	// effort. The result has its value in [Request.Switch].
	Switch        string
	SwitchRefused bool // the server rejects it

	Tools   DialTools
	Display DialDisplay
}

// DialTools says which efforts a model accepts beside tools.
type DialTools uint8

// The efforts beside tools.
const (
	DialToolsAny      DialTools = iota // all, and none
	DialToolsDefault                   // "none", or no effort
	DialToolsOff                       // only "none"
	DialToolsRejected                  // the model does not accept tools
)

// DialDisplay says how the display of thinking is represented.
type DialDisplay uint8

// The ways to represent the display of thinking.
const (
	DisplayIgnored DialDisplay = iota // not at all; the server shows what it has
	DisplayHidden                     // not at all; thinking is not shown
	DisplayWords                      // "auto" or "detailed" summaries
	DisplayRejects                    // the server rejects summaries
)

// A Switch turns thinking on or off.
type Switch uint8

// The positions of a Switch.
const (
	SwitchNone Switch = iota // left to the server
	SwitchOn
	SwitchOff
)

// dial lowers thinking to an effort.
func (l *lowering) dial(d *Dial) {
	t := &l.to.Thinking
	l.checkMode()
	n := *t
	want := l.wantedEffort(&n, d)
	on := want != "none" && (want != "" || n.Enabled())
	l.to.Effort = l.dialEffort(&n, d, want, on)
	*t = upstream.Thinking{Effort: l.to.Effort, Display: n.Display}
	switch {
	case l.to.Switch == SwitchOff:
		t.Mode = upstream.ThinkingOff
	case l.to.Switch == SwitchOn, n.Enabled() && want == "" && l.to.Effort == "" && !d.Never && !d.SwitchRefused:
		t.Mode = upstream.ThinkingAuto
	}
	if d.Switch != "" && l.to.Switch != SwitchNone {
		l.replaceMember(d.Switch)
	}
	l.dialDisplay(&n, d)
	l.thinks = l.to.Effort != "none" && l.to.Switch != SwitchOff && (l.to.Effort != "" || l.to.Switch == SwitchOn || !l.offByDefault(d))
}

// offByDefault reports whether a model that can think does so only with an effort.
func (l *lowering) offByDefault(d *Dial) bool {
	return !d.Never && l.t.Thinking.Default == upstream.ThinkingOff
}

// wantedEffort returns the effort that a request specifies, whatever the model accepts.
func (l *lowering) wantedEffort(n *upstream.Thinking, d *Dial) string {
	switch {
	case n.Mode == upstream.ThinkingOff:
		if n.Effort != "" {
			l.lose(EffortOff, At("thinking.effort"))
		}
		return "none"
	case n.Mode == upstream.ThinkingBetweenTools && !d.Never:
		l.lose(ModeBetween, At("thinking.mode"))
	}
	switch {
	case effortRank(n.Effort) >= 0:
		return n.Effort
	case n.Effort != "":
		return "medium"
	case n.Budget != nil:
		return effortOfBudget(*n.Budget)
	case n.Enabled() && l.offByDefault(d):
		return "medium"
	case n.Enabled() && d.Never:
		l.lose(ModeNone, At("thinking.mode"))
	}
	return ""
}

// dialEffort returns the effort to send, or "", and sets the switch.
func (l *lowering) dialEffort(n *upstream.Thinking, d *Dial, want string, on bool) string {
	switch {
	case d.Switch == "":
	case d.SwitchRefused:
		if on && want == "" {
			l.lose(ModeOn, At("thinking.mode"))
		}
	case on:
		l.to.Switch = SwitchOn
	case want == "none":
		l.to.Switch = SwitchOff
		return ""
	}
	if slices.ContainsFunc(l.to.Tools, isFunction) { // one pass
		switch {
		case d.Tools == DialToolsRejected:
			l.refuse(content.CodeUnsupported, At("tools"), "this model accepts tools only in the vendor's other format")
		case d.Tools == DialToolsOff, d.Tools == DialToolsDefault && want != "":
			if want != "none" {
				l.lose(EffortTools, At("thinking"))
			}
			if d.Switch != "" && !d.SwitchRefused {
				l.to.Switch = SwitchOff
				return ""
			}
			return "none"
		}
	}
	if want == "" {
		return ""
	}
	return l.acceptedEffort(n, d, want)
}

// acceptedEffort returns the effort of the model that is nearest to want.
func (l *lowering) acceptedEffort(n *upstream.Thinking, d *Dial, want string) string {
	if d.Refused {
		l.lose(EffortRefused, At("thinking"))
		return ""
	}
	effort := nearestEffort(d.Efforts, want)
	switch {
	case effort == "none" && want == "none":
	case want == "none":
		if effort != "" || !d.Never {
			l.lose(ModeOff, At("thinking.mode"))
		}
	case effort == "" || effort == "none":
		if d.Never {
			l.loseThinking(ModeNone, n)
		} else {
			l.loseThinking(ModeOn, n)
		}
	default:
		switch {
		case n.Effort != "" && n.Budget != nil:
			l.lose(BudgetOmitted, At("thinking.budget"))
		case n.Budget != nil:
			l.lose(BudgetAsEffort, At("thinking.budget"))
		case n.Effort == "":
			l.lose(ModeAuto, At("thinking.mode"))
		}
		if n.Effort != "" && n.Effort != effort {
			l.lose(EffortNearest, At("thinking.effort"))
		}
	}
	return effort
}

// dialDisplay lowers the display of thinking. The result is "omitted", or as it is sent.
func (l *lowering) dialDisplay(n *upstream.Thinking, d *Dial) {
	t, at := &l.to.Thinking, At("thinking.display")
	if d.Display < DisplayWords {
		if d.Display == DisplayHidden && t.Display != "" && t.Display != "omitted" {
			l.loseDisplay(DisplayNever)
		}
		return
	}
	show := t.Display
	if show == "" && n.Enabled() {
		show = l.shown("")
	}
	switch {
	case show == "omitted":
		t.Display = show
	case show == "" && !n.Enabled(), l.to.Effort == "none", n.Mode == upstream.ThinkingOff && d.Never: // other models may still think
		t.Display = ""
	case d.Never:
		if show != "" {
			l.loseDisplay(DisplayNoThinking)
		}
	case d.Display == DisplayRejects:
		l.loseDisplay(DisplayRefused)
		t.Display = "omitted"
	case show == "detailed":
	case show == "full":
		l.lose(DisplaySummary, at)
		t.Display = "detailed"
	default:
		if show != "" && show != "summarized" && show != displayAny {
			l.lose(DisplaySummary, at)
		}
		t.Display = "auto"
	}
}
