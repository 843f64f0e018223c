package openai

import (
	"slices"

	"github.com/polywire/polywire/content"
)

// A pick is a tool that is told and may be chosen.
type pick struct {
	name string // of a function, or what a built-in one is called where it comes from
	kind string // of a built-in one
	free bool   // it is used whatever functions may be called
}

// picks returns the functions and the built-in tools that are told.
func (e *encoder) picks() []pick {
	var list []pick
	for i := range e.n.Tools {
		if t := &e.n.Tools[i]; t.Kind == "" {
			list = append(list, pick{name: t.Name})
		}
	}
	return append(list, e.builtIns...)
}

// choice writes how free the model is in calling tools.
func (e *encoder) choice() {
	c := &e.n.Choice
	e.foreign(c.Extra, "choice.extra")
	switch c.Mode {
	case "":
	case content.ChoiceAuto:
		e.member("tool_choice", "auto")
	case content.ChoiceNone:
		e.chooseNone()
	case content.ChoiceAny:
		e.chooseAny()
	case content.ChoiceValidated:
		e.log.Add(lostValidated, "choice.mode")
		e.chooseAmong()
	default:
		e.log.Add(lostChoiceOther, "choice.mode")
	}
	if c.NoParallel && c.Mode != content.ChoiceNone {
		if e.to.family.serial || e.to.refused.has(fieldParallel) {
			e.log.Add(lostParallel, "choice.no_parallel")
			return
		}
		e.sent |= fieldParallel
		e.w.Name("parallel_tool_calls")
		e.w.Bool(false)
	}
}

// chooseNone keeps the model from calling functions, and from the built-in tools
// that this concerns where they come from.
func (e *encoder) chooseNone() {
	all := e.picks()
	free := slices.DeleteFunc(slices.Clone(all), func(p pick) bool { return !p.free })
	switch {
	case len(free) == 0:
		e.member("tool_choice", "none")
	case e.to.refused.has(fieldChoice):
		e.log.Add(lostChoiceFree, "choice.mode")
		e.member("tool_choice", "none")
	default:
		e.among(free, all, "auto")
	}
}

// chooseAny makes the model call a tool. The built-in ones that no choice
// concerns where they come from would do for this vendor, and so are none of
// those to choose from.
func (e *encoder) chooseAny() {
	all := e.picks()
	some := e.named(all)
	switch {
	case some == nil:
		some = slices.DeleteFunc(slices.Clone(all), func(p pick) bool { return p.free })
		if len(some) == 0 {
			e.log.Add(lostChoice, "choice.mode")
			return
		}
	case len(some) == 0:
		e.log.Add(lostForced, "choice.names") // to force another would be worse
		return
	}
	e.among(some, all, "required")
}

// chooseAmong leaves it to the model whether to call one of some tools.
func (e *encoder) chooseAmong() {
	all := e.picks()
	some := e.named(all)
	switch {
	case some == nil:
		some = all
	case len(some) == 0:
		e.log.Add(lostChoiceNames, "choice.names")
		some = all
	default:
		for _, p := range e.builtIns {
			if p.free && !slices.Contains(some, p) {
				some = append(some, p)
			}
		}
	}
	e.among(some, all, "auto")
}

// named returns the tools that the choice names, nil if it names none. Naming
// any that is not told is refused.
func (e *encoder) named(all []pick) []pick {
	names := e.n.Choice.Names
	if len(names) == 0 {
		return nil
	}
	first := make(map[string]int, len(all)) // where tools are by their names
	for i, p := range slices.Backward(all) {
		first[p.name] = i
	}
	list, lost := make([]pick, 0, min(len(names), len(all))), false
	for _, name := range names {
		switch i, told := first[name]; {
		case !told:
			lost = true
		case i >= 0:
			list = append(list, all[i])
			first[name] = -1 // once
		}
	}
	if lost && len(list) > 0 {
		e.log.Add(lostChoiceGone, "choice.names")
	}
	return list
}

// among writes a choice of some tools, of all that there are.
func (e *encoder) among(some, all []pick, mode string) {
	one := len(some) == 1 && some[0].kind == "" && mode == "required" && len(e.n.Choice.Names) > 0
	switch {
	case one && !e.to.refused.has(fieldChoice):
		if !e.to.vendor {
			e.log.Add(lostChoiceTrust, "choice.names")
		}
		e.sent |= fieldChoice
		e.w.Name("tool_choice")
		e.pick(some[0])
	case len(some) == len(all):
		e.member("tool_choice", mode)
	case !e.to.vendor || e.to.refused.has(fieldChoice):
		e.log.Add(lostChoiceNames, "choice.names")
		e.member("tool_choice", mode)
	default:
		e.sent |= fieldChoice
		e.allow(some, mode)
	}
}

// allow writes a list of tools to choose from.
func (e *encoder) allow(some []pick, mode string) {
	w := e.w
	w.Name("tool_choice")
	w.BeginObject()
	e.member("type", "allowed_tools")
	if !e.flat() {
		w.Name("allowed_tools")
		w.BeginObject()
	}
	e.member("mode", mode)
	w.Name("tools")
	w.BeginArray()
	for _, p := range some {
		e.pick(p)
	}
	w.EndArray()
	if !e.flat() {
		w.EndObject()
	}
	w.EndObject()
}

// pick writes a reference to a tool.
func (e *encoder) pick(p pick) {
	w := e.w
	w.BeginObject()
	switch {
	case p.kind != "":
		e.member("type", p.kind)
	case e.flat():
		e.member("type", "function")
		e.member("name", p.name)
	default:
		e.member("type", "function")
		w.Name("function")
		w.BeginObject()
		e.member("name", p.name)
		w.EndObject()
	}
	w.EndObject()
}

// flat reports whether the format names tools without an object of their own.
func (e *encoder) flat() bool { return e.own == ResponsesFormat }
