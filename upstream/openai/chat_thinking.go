package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// thinking returns the effort to send, empty for none.
func (e *chatEncoder) thinking() string {
	t := &e.n.Thinking
	e.foreign(t.Extra, "thinking.extra")
	if t.Display != "" && t.Display != "omitted" && e.to.vendor {
		e.log.Add(lostDisplay, "thinking.display")
	}
	want := e.wanted()
	if e.turned(want) {
		return ""
	}
	if e.hasTools() {
		switch rule := e.toolRule(); {
		case rule == toolsElsewhere:
			e.faults.Add(content.CodeUnsupported, "tools", "this model takes tools over the responses format only, not over chat completions")
		case rule == toolsNone, rule == toolsOmitted && want != "":
			if want != "none" {
				e.log.Add(lostEffortTools, "thinking")
			}
			return "none"
		}
	}
	if want == "" {
		return ""
	}
	return e.allowed(want)
}

// turned finds what the switch of thinking is to say, and reports whether that
// is all there is to say.
func (e *chatEncoder) turned(want string) bool {
	on := want != "none" && (want != "" || e.n.Thinking.Enabled())
	switch {
	case e.to.thinks() == "":
	case e.to.refused.has(fieldSwitch):
		if on && want == "" {
			e.log.Add(lostThinkingOn, "thinking.mode")
		}
	case on:
		e.turn = "enabled"
	case want == "none":
		e.turn = "disabled"
		return true
	}
	return false
}

// thinkingSwitch writes it.
func (e *chatEncoder) thinkingSwitch() {
	if e.turn == "" {
		return
	}
	e.sent |= fieldSwitch
	e.w.Name(e.to.thinks())
	e.w.BeginObject()
	if e.to.thinks() == switchThinking {
		e.member("type", e.turn)
	} else { // templates look at one of the two
		e.w.Name("enable_thinking")
		e.w.Bool(e.turn == "enabled")
		e.w.Name("thinking")
		e.w.Bool(e.turn == "enabled")
	}
	e.w.EndObject()
}

// toolRule returns how the model takes tools. Gateways may have lifted what the
// vendor's own models are known for.
func (e *chatEncoder) toolRule() toolRule {
	switch {
	case e.to.refused.effortNone:
		return toolsNone
	case e.to.vendor:
		return e.to.family.tools
	}
	return toolsAny
}

// wanted returns the effort that the request asks for, whatever the model.
func (e *encoder) wanted() string {
	t := &e.n.Thinking
	switch {
	case t.Mode == upstream.ThinkingOff:
		if t.Effort != "" {
			e.log.Add(lostEffortOff, "thinking.effort")
		}
		return "none"
	case t.Mode == upstream.ThinkingBetweenTools:
		e.log.Add(lostBetween, "thinking.mode")
	}
	switch {
	case rank(t.Effort) >= 0:
		return t.Effort
	case t.Effort != "":
		return "medium"
	case e.budget():
		return effortOfBudget(*t.Budget)
	case t.Enabled() && e.to.family.byDefault == "none":
		return "medium"
	case t.Enabled() && e.to.mute():
		e.log.Add(lostThinkingOn, "thinking.mode")
	}
	return ""
}

// budget reports whether the request says how many tokens to think.
func (e *encoder) budget() bool {
	return e.n.Thinking.Mode == upstream.ThinkingBudget && e.n.Thinking.Budget != nil
}

// allowed returns the effort that the model has for the one that is wanted.
func (e *encoder) allowed(want string) string {
	got := nearest(e.to.efforts(), want)
	switch {
	case e.to.refused.has(fieldEffort):
		e.log.Add(lostEffortField, "thinking")
	case got == "none" && want == "none":
	case want == "none":
		if got != "" || e.to.vendor && !e.to.family.known || e.to.dialect.Efforts != nil {
			e.log.Add(lostThinkingOff, "thinking.mode")
		}
	case got == "" || got == "none":
		if e.n.Thinking.Mode != "" {
			e.log.Add(lostThinkingOn, "thinking.mode")
		}
		if e.n.Thinking.Effort != "" {
			e.log.Add(lostThinkingOn, "thinking.effort")
		}
		if e.budget() {
			e.log.Add(lostNoBudget, "thinking.budget")
		}
	default:
		e.tried(got)
	}
	return got
}

// tried notes how an effort differs from what the request says.
func (e *encoder) tried(effort string) {
	t := &e.n.Thinking
	switch {
	case t.Effort != "" && e.budget():
		e.log.Add(lostNoBudget, "thinking.budget")
	case e.budget():
		e.log.Add(lostBudget, "thinking.budget")
	case t.Effort == "":
		e.log.Add(lostThinkingAuto, "thinking.mode")
	}
	if t.Effort != "" && t.Effort != effort {
		e.log.Add(lostEffort, "thinking.effort")
	}
}
