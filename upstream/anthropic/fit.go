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

// A fitter makes a request one that the model takes. It works on a copy of the
// request's own fields; what these point at is copied before it is changed.
type fitter struct {
	family
	most  int64 // tokens of a response; 0: no limit is known
	asked bool  // the limit of tokens is the client's
	n     upstream.Request
	log   *loss.Log
}

func (f *fitter) lose(rule int, path string) { f.log.Add(&modelLosses[rule], path) }

// fit returns n as a model of the family accepts it. limit is that of responses
// where n has none; 0 means the default. most is the model's own; 0 means that it
// is not known.
func fit(n *upstream.Request, of family, limit, most int64, log *loss.Log) (*upstream.Request, error) {
	f := fitter{family: of, most: most, asked: n.MaxTokens != nil, n: *n, log: log}
	f.n.Wire = nil
	if err := cmp.Or(adapter.Answers(n), f.turns()); err != nil {
		return nil, err
	}
	f.limit(limit)
	f.tools()
	f.thinking()
	f.budget()
	f.forcing()
	f.effort()
	f.sampling()
	return &f.n, nil
}

// defaultLimit is that of answers, thinking included.
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
	low, lowered := adapter.Lower(n, f.most)
	if lowered && n != &limit {
		f.lose(lostLimit, "max_tokens")
	}
	f.n.MaxTokens = low
}

// turns tells system turns as the user's where the model takes none, or may not
// take any. A conversation that ends in the assistant's words is refused where
// the vendor refuses it.
func (f *fitter) turns() error {
	own := false
	begun := false
	for i := range f.n.Turns {
		if f.n.Turns[i].Role != content.RoleSystem {
			begun = true
		} else if begun && !f.systemTurns() {
			if !own {
				own, f.n.Turns = true, slices.Clone(f.n.Turns)
			}
			f.n.Turns[i].Role = content.RoleUser
			f.lose(lostSystemTurn, "turns."+strconv.Itoa(i))
		}
	}
	if i := len(f.n.Turns) - 1; i >= 0 && f.n.Turns[i].Role == content.RoleAssistant && f.known() && !f.continues() {
		return &content.Violation{Code: content.CodeUnsupported, Path: "turns." + strconv.Itoa(i),
			Text: "This model does not continue an answer that was begun. The conversation must end with a user message."}
	}
	return nil
}

// question returns n, or a copy with a sentence in the place of an empty question:
// the vendor refuses blank texts of the user.
func question(n *upstream.Request, log *loss.Log) *upstream.Request {
	first, end := adapter.Question(n.Turns)
	last := -1
	for i := first; i < end; i++ {
		t := &n.Turns[i]
		if t.Role != content.RoleUser || len(t.Parts) == 0 {
			continue
		}
		if slices.ContainsFunc(t.Parts, says) {
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

// says reports whether a part is anything but a blank text.
func says(p content.Part) bool {
	t, ok := p.(*content.Text)
	return !ok || t == nil || strings.TrimSpace(t.Text) != ""
}

// tools names the tools of earlier calls, without which the vendor takes no
// calls at all.
func (f *fitter) tools() {
	if len(f.n.Tools) > 0 {
		return
	}
	f.n.Tools = called(f.n.Turns)
	if len(f.n.Tools) > 0 {
		f.lose(lostTools, "tools")
		f.n.Choice = content.ToolChoice{Mode: content.ChoiceNone}
	}
}

// called returns the tools of earlier calls, by their names alone.
func called(turns []content.Turn) (tools []content.Tool) {
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

// thinking chooses a mode that the model has.
func (f *fitter) thinking() {
	t := &f.n.Thinking
	if t.Mode == "" {
		f.implied()
	}
	switch t.Mode {
	case upstream.ThinkingOff:
		f.off()
	case upstream.ThinkingAuto:
		f.auto(-1)
	case upstream.ThinkingBudget:
		if f.thinks() && !f.budgets() || t.Budget == nil {
			f.auto(lostBudget)
		} else {
			f.auto(-1)
		}
	case upstream.ThinkingBetweenTools:
		if !f.between() {
			f.auto(lostBetween)
		}
	}
}

// implied says what it means that thoughts are to be shown, or that there is an
// effort: models of other vendors that take one think.
func (f *fitter) implied() {
	t := &f.n.Thinking
	switch {
	case !f.known():
	case f.ponders() && t.Display != "" && t.Display != "omitted":
		t.Mode = upstream.ThinkingAuto // as without a word, but for what is shown
	case t.Effort == "", t.Effort == "minimal":
	case f.adapts():
		t.Mode = upstream.ThinkingAuto
	case f.thinks():
		f.lose(lostImplied, "thinking.effort")
		n := f.effortBudget(t.Effort)
		if t.Mode, t.Budget = upstream.ThinkingBudget, &n; !f.efforts() {
			t.Effort = ""
		}
	}
}

// effortBudgets are the budgets that represent efforts, in tokens.
var effortBudgets = map[string]int64{"low": 1024, "medium": 8192, "high": 24576, "xhigh": 32768, "max": 49152}

// effortBudget returns the budget for an effort. Unlike a budget of the client's,
// it leaves half of the limit of tokens to the rest of the response. A limit that
// is not the client's is raised for it.
func (f *fitter) effortBudget(effort string) int64 {
	n, ok := effortBudgets[effort]
	if !ok {
		n = effortBudgets["medium"]
	}
	if !f.asked && *f.n.MaxTokens < 2*n {
		limit := n + *f.n.MaxTokens
		if f.most > 0 {
			limit = min(limit, f.most)
		}
		f.n.MaxTokens = &limit
	}
	return max(min(n, *f.n.MaxTokens/2), min(leastBudget, *f.n.MaxTokens-1))
}

// off switches thinking off, if that can be.
func (f *fitter) off() {
	t := &f.n.Thinking
	switch {
	case f.rests():
	case f.between():
		t.Mode = upstream.ThinkingBetweenTools
		f.lose(lostOff, "thinking.mode")
	default:
		t.Mode = upstream.ThinkingAuto
		f.lose(lostOff, "thinking.mode")
	}
	if f.rests() && !f.thinks() {
		t.Mode = "" // there is nothing to switch off
	}
}

// auto makes the mode one that the model has, and reports the rule if that is
// another one.
func (f *fitter) auto(rule int) {
	t := &f.n.Thinking
	switch {
	case !f.thinks():
		*t = upstream.Thinking{Effort: t.Effort, Extra: t.Extra}
		f.lose(lostNoThinking, "thinking.mode")
		return
	case t.Mode == upstream.ThinkingBudget && rule < 0:
		return
	}
	if rule >= 0 {
		path := "thinking.mode"
		if rule == lostBudget {
			path = "thinking.budget"
		}
		f.lose(rule, path)
	}
	t.Mode, t.Budget = upstream.ThinkingAuto, nil
	if !f.adapts() {
		all := *f.n.MaxTokens - 1
		t.Mode, t.Budget = upstream.ThinkingBudget, &all
		if rule < 0 {
			f.lose(lostMode, "thinking.mode")
		}
	}
}

// leastBudget is the vendor's.
const leastBudget = 1024

// budget makes a budget one that the vendor takes.
func (f *fitter) budget() {
	t := &f.n.Thinking
	if t.Mode != upstream.ThinkingBudget {
		t.Budget = nil
		return
	}
	was, now := *t.Budget, max(*t.Budget, leastBudget)
	if now >= *f.n.MaxTokens && !f.asked {
		limit := now + *f.n.MaxTokens
		if f.most > 0 {
			limit = min(limit, f.most)
		}
		f.n.MaxTokens = &limit
	}
	now = min(now, *f.n.MaxTokens-1)
	if now != was || now < leastBudget {
		f.lose(lostBudgetSize, "thinking.budget")
	}
	if now < leastBudget { // the whole answer is shorter than the least budget
		*t = upstream.Thinking{Mode: upstream.ThinkingOff, Effort: t.Effort, Extra: t.Extra}
		return
	}
	t.Budget = &now
}

// forcing lets go of a choice that the model does not take.
func (f *fitter) forcing() {
	c := &f.n.Choice
	if c.Mode != content.ChoiceAny {
		return
	}
	if !f.forced() {
		c.Mode = content.ChoiceAuto
		f.lose(lostForced, "choice.mode")
		return
	}
	if t := &f.n.Thinking; t.Mode == upstream.ThinkingBudget {
		*t = upstream.Thinking{Mode: upstream.ThinkingOff, Effort: t.Effort, Extra: t.Extra}
		f.lose(lostForcedThought, "thinking.mode")
	}
}

func (f *fitter) effort() {
	t := &f.n.Thinking
	switch {
	case t.Effort == "":
	case !f.efforts():
		t.Effort = ""
		f.lose(lostEffort, "thinking.effort")
	case f.is("opus", 50) && t.Mode == upstream.ThinkingOff && (t.Effort == "xhigh" || t.Effort == "max"):
		t.Effort = "high"
		f.lose(lostEffortOff, "thinking.effort")
	}
}

// sampling leaves out what the model refuses. A temperature of 1 is what it has
// without being told.
func (f *fitter) sampling() {
	n := &f.n
	none := f.known() && !f.samples()
	if none || n.Thinking.Mode == upstream.ThinkingAuto || n.Thinking.Mode == upstream.ThinkingBudget {
		temperature, topP, topK := lostThinkingTemperature, lostThinkingTopP, lostThinkingTopK
		if none {
			temperature, topP, topK = lostTemperature, lostTopP, lostTopK
		}
		f.without(n.Temperature != nil && *n.Temperature != 1, temperature, "temperature")
		f.without(n.TopP != nil && *n.TopP != 1, topP, "top_p")
		f.without(n.TopK != nil, topK, "top_k")
		n.Temperature, n.TopP, n.TopK = nil, nil, nil
		return
	}
	if n.Temperature == nil || n.TopP == nil || !f.known() || !f.oneSampler() {
		return
	}
	if *n.Temperature == 1 {
		n.Temperature = nil
		return
	}
	f.without(*n.TopP != 1, lostOneSampler, "top_p")
	n.TopP = nil
}

func (f *fitter) without(lost bool, rule int, path string) {
	if lost {
		f.lose(rule, path)
	}
}

// remember switches thinking off if the client has lost the thought that the
// open tool loop has to begin with: the vendor refuses that where thinking has a
// budget. Later steps of the loop need none of their own.
func remember(r *messages.Request, log *loss.Log) {
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
	log.Add(&modelLosses[lostThought], "thinking.mode")
}

// openLoop returns the first turn of the assistant in the tool loop that the
// request goes on with, or -1. It goes back over turns of nothing but results,
// and over one that holds other words besides, but not beyond that.
func openLoop(turns []content.Turn) int {
	step := -1
	for end := len(turns); end > 0; {
		end = before(turns, end, content.RoleSystem)
		user := before(turns, end, content.RoleUser)
		said := before(turns, before(turns, user, content.RoleSystem), content.RoleAssistant)
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
		if results == 0 || said == user {
			break
		}
		step, end = said, said
		if others > 0 {
			break
		}
	}
	return step
}

// before returns where the turns of a role begin that stand in front of end.
func before(turns []content.Turn, end int, role content.Role) int {
	for end > 0 && turns[end-1].Role == role {
		end--
	}
	return end
}
