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
		return "none"
	case t.Mode == upstream.ThinkingBetweenTools:
		e.log.Add(lostBetween, "thinking.mode")
	}
	switch {
	case rank(t.Effort) >= 0:
		return t.Effort
	case t.Effort != "":
		e.log.Add(lostEffort, "thinking.effort")
		return "medium"
	case t.Mode == upstream.ThinkingBudget && t.Budget != nil:
		e.log.Add(lostBudget, "thinking.budget")
		return effortOfBudget(*t.Budget)
	case t.On() && e.to.family.byDefault == "none":
		e.log.Add(lostThinkingAuto, "thinking.mode")
		return "medium"
	case t.On() && e.to.family.known && e.to.family.byDefault == "":
		e.log.Add(lostThinkingOn, "thinking.mode")
	}
	return ""
}

// allowed returns the effort that the model has for the one that is wanted.
func (e *encoder) allowed(want string) string {
	list := e.to.efforts()
	got := nearest(list, want)
	switch {
	case got == want:
	case e.to.refused.has(fieldEffort):
		e.log.Add(lostEffortField, "thinking")
	case got == "" && want == "none":
		if e.to.vendor && !e.to.family.known || e.to.dialect.Efforts != nil {
			e.log.Add(lostThinkingOff, "thinking.mode")
		}
	case want == "none":
		e.log.Add(lostThinkingOff, "thinking.mode")
	case got == "" || got == "none":
		e.log.Add(lostThinkingOn, "thinking.mode")
	case e.n.Thinking.Effort != "":
		e.log.Add(lostEffort, "thinking.effort")
	}
	return got
}
