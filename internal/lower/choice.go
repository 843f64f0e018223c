package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
)

// ChoiceRules describes which choices of tools a target accepts.
type ChoiceRules struct {
	Kind     ChoiceKind
	Tools    string // an own member of the request that is also a list of tools
	Single   bool   // with ChoiceLists: one function can be required by name
	Lists    bool   // with ChoiceLists: the choice can be limited to a list of tools
	Trust    bool   // with ChoiceLists: servers of this kind may ignore a required name
	Parallel bool   // parallel calls can be forbidden
	Optional bool   // the model does not accept a required call
}

// ChoiceKind says how a choice of some tools is represented.
type ChoiceKind uint8

// The ways to represent a choice of some tools.
const (
	ChoiceLists     ChoiceKind = iota // as a list of any tools
	ChoiceTools                       // one by its name, several by omitting the other functions
	ChoiceFunctions                   // as a list of functions; the choice does not limit other tools
)

// choice lowers the tool choice.
func (l *lowering) choice() {
	rules, c := &l.t.Choice, &l.to.Choice
	c.Extra = l.extra(l.n.Choice.Extra, At("choice"), l.t.Own.Members, foreign.Choice)
	if len(l.to.Tools) == 0 && !l.hasMember(rules.Tools) {
		if c.Mode != "" && c.Mode != content.ChoiceAuto && c.Mode != content.ChoiceNone {
			l.lose(ChoiceNoTools, At("choice.mode"))
		}
		*c = content.ToolChoice{}
		return
	}
	switch rules.Kind {
	case ChoiceLists:
		l.chooseFromLists()
	case ChoiceTools:
		l.chooseTools()
	case ChoiceFunctions:
		l.chooseFunctions()
	}
	switch {
	case !c.NoParallel:
	case c.Mode == content.ChoiceNone:
		c.NoParallel = false // there are no calls
	case !rules.Parallel:
		l.lose(ChoiceParallel, At("choice.no_parallel"))
		c.NoParallel = false
	}
}

// chooseFromLists lowers the tool choice for a target that accepts lists of tools.
func (l *lowering) chooseFromLists() {
	c := &l.to.Choice
	switch c.Mode {
	case "", content.ChoiceAuto:
		if len(c.Names) > 0 {
			l.chooseAmong()
		}
	case content.ChoiceNone:
		l.chooseNone()
	case content.ChoiceAny:
		l.chooseAny()
	case content.ChoiceValidated:
		l.validatedByTools()
		l.chooseAmong()
	default:
		l.lose(ChoiceUnknown, At("choice.mode"))
		c.Mode, c.Names = "", nil
	}
}

// validatedByTools replaces a tool choice that validates arguments. Strict functions validate
// theirs.
func (l *lowering) validatedByTools() {
	if l.t.Tools.Strict == StrictNone {
		l.lose(ChoiceValidated, At("choice.mode"))
	}
	l.to.Choice.Mode = content.ChoiceAuto
}

// chooseNone forbids tool calls, except of tools that the choice does not limit.
func (l *lowering) chooseNone() {
	c := &l.to.Choice
	c.Names, c.NoParallel = nil, false
	switch {
	case len(l.free) == 0:
	case !l.t.Choice.Lists:
		l.lose(ChoiceNoBuiltIn, At("choice.mode"))
	default:
		c.Mode = content.ChoiceAuto
		l.limitChoice(l.free)
	}
}

// chooseAny requires a tool call. A tool that the choice does not limit would satisfy
// this target, but not the client. It is not among the choices.
func (l *lowering) chooseAny() {
	c := &l.to.Choice
	chosen := l.namedTools()
	switch {
	case chosen == nil && len(l.free) == 0:
		return
	case chosen == nil:
		free := setOf(l.free)
		for i := range l.to.Tools {
			if name := toolName(&l.to.Tools[i]); !free[name] {
				chosen = append(chosen, name)
			}
		}
		if len(chosen) == 0 {
			l.lose(ChoiceNoTools, At("choice.mode"))
			c.Mode, c.Names = "", nil
			return
		}
	case len(chosen) == 0:
		l.lose(ChoiceNamesNone, At("choice.names")) // requiring another tool would be worse
		c.Mode, c.Names = "", nil
		return
	case len(chosen) == 1 && l.t.Choice.Single && l.isFunction(chosen[0]):
		if l.t.Choice.Trust {
			l.lose(ChoiceNamesTrust, At("choice.names"))
		}
		c.Names = chosen
		return
	}
	l.limitChoice(chosen)
}

// setOf returns the set of the names in a list.
func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// isFunction reports whether the first tool of a name is a function.
func (l *lowering) isFunction(name string) bool {
	i := slices.IndexFunc(l.to.Tools, func(t content.Tool) bool { return toolName(&t) == name }) // one pass
	return i >= 0 && l.to.Tools[i].Kind == ""
}

// chooseAmong lets the model choose whether to call one of the named tools.
func (l *lowering) chooseAmong() {
	c := &l.to.Choice
	chosen := l.namedTools()
	switch {
	case chosen == nil:
		return
	case len(chosen) == 0:
		l.lose(ChoiceNames, At("choice.names"))
		c.Names = nil
		return
	}
	known := setOf(chosen)
	for _, name := range l.free {
		if !known[name] {
			known[name] = true
			chosen = append(chosen, name)
		}
	}
	l.limitChoice(chosen)
}

// namedTools returns the names of the choice that tools have, each once, or nil if the
// choice has no names.
func (l *lowering) namedTools() []string {
	names := l.to.Choice.Names
	if len(names) == 0 {
		return nil
	}
	known := make(map[string]bool, len(l.to.Tools))
	for i := range l.to.Tools {
		known[toolName(&l.to.Tools[i])] = true
	}
	chosen, missing := make([]string, 0, min(len(names), len(known))), false
	for _, name := range names {
		left, found := known[name]
		switch {
		case !found:
			missing = true
		case left:
			known[name] = false
			chosen = append(chosen, name)
		}
	}
	if missing && len(chosen) > 0 {
		l.lose(ChoiceNamesSome, At("choice.names"))
	}
	return chosen
}

// limitChoice limits the choice to some tools.
func (l *lowering) limitChoice(chosen []string) {
	c := &l.to.Choice
	switch {
	case len(chosen) == len(l.to.Tools):
		c.Names = nil
	case !l.t.Choice.Lists:
		l.lose(ChoiceNames, At("choice.names"))
		c.Names = nil
	default:
		c.Names = chosen
	}
}

// chosenFunctions returns the names of the functions that are sent, if limited is true:
// a target that accepts one name represents the choice of several by omitting the others.
func (l *lowering) chosenFunctions() (names map[string]bool, limited bool) {
	c := &l.to.Choice
	if l.t.Choice.Kind != ChoiceTools || len(c.Names) == 0 && c.Mode != content.ChoiceNone {
		return nil, false
	}
	names = setOf(c.Names)
	known, others := false, false
	for i := range l.to.Tools {
		if name, ok := l.functionName(&l.to.Tools[i]); ok {
			known, others = known || names[name], others || !names[name]
		}
	}
	switch {
	case c.Mode == content.ChoiceNone:
		if (known || others) && l.hasFreeTools() {
			l.lose(ChoiceNoFunctions, At("choice.mode"))
			return nil, true
		}
	case !others, c.Mode == content.ChoiceAny && len(c.Names) == 1:
	default:
		l.lose(ChoiceNamesAsTools, At("choice.names"))
		return names, known // without a known name the vendor reports the error
	}
	return nil, false
}

// functionName returns the name of a function, or of a tool that is sent as a function.
func (l *lowering) functionName(t *content.Tool) (name string, ok bool) {
	switch {
	case t.Kind == "":
		return t.Name, true
	case t.Format == l.t.Format:
		return "", false
	}
	f, r := foreign.Function(t)
	return f.Name, r != nil
}

// hasFreeTools reports whether the request has tools that the client's choice does not
// limit, and for which the target has its own.
func (l *lowering) hasFreeTools() bool {
	rules := &l.t.Tools
	if rules.FunctionsOnly == nil || rules.Vendor == nil {
		return false
	}
	for i := range l.n.Tools {
		if t := &l.n.Tools[i]; t.Kind != "" && rules.FunctionsOnly(t) {
			if own, _ := rules.Vendor(t); own.Kind != "" {
				return true
			}
		}
	}
	return false
}

// chooseTools lowers the tool choice for a target that accepts one name.
func (l *lowering) chooseTools() {
	c := &l.to.Choice
	names := c.Names
	c.Names = nil
	switch c.Mode {
	case "":
		if len(names) > 0 {
			c.Mode = content.ChoiceAuto
		}
	case content.ChoiceAuto:
	case content.ChoiceNone:
		if c.NoParallel = false; l.hasFreeTools() {
			c.Mode = content.ChoiceAuto // the functions were omitted
		}
	case content.ChoiceAny:
		l.requireTool(names)
	case content.ChoiceValidated:
		l.validatedByTools()
	default:
		l.lose(ChoiceUnknown, At("choice.mode"))
		c.Mode = content.ChoiceAuto
	}
}

// requireTool requires the call of a function.
func (l *lowering) requireTool(names []string) {
	c := &l.to.Choice
	if len(names) != 1 && l.hasFreeTools() {
		names = nil
		for i := range l.to.Tools {
			if t := &l.to.Tools[i]; t.Kind == "" {
				names = append(names, t.Name)
			}
		}
		switch len(names) {
		case 0:
			l.lose(ChoiceNoTools, At("choice.mode"))
			c.Mode = content.ChoiceAuto
			return
		case 1:
		default:
			l.lose(ChoiceAnyTool, At("choice.mode"))
		}
	}
	if len(names) == 1 {
		c.Names = names
	}
}

// chooseFunctions lowers the tool choice for a target that limits functions only.
func (l *lowering) chooseFunctions() {
	c := &l.to.Choice
	switch c.Mode {
	case "", content.ChoiceAuto, content.ChoiceAny, content.ChoiceNone, content.ChoiceValidated:
	default:
		l.lose(ChoiceUnknown, At("choice.mode"))
		*c = content.ToolChoice{NoParallel: c.NoParallel}
	}
	if !slices.ContainsFunc(l.to.Tools, isFunction) { // one pass
		l.chooseNoFunctions()
		return
	}
	switch {
	case len(c.Names) > 0 && c.Mode == content.ChoiceNone:
		l.lose(ChoiceNamesForbids, At("choice.names"))
		c.Names = nil
	case len(c.Names) > 0:
		l.limitFunctions()
	case c.Mode == content.ChoiceAny && l.replaced:
		l.lose(ChoiceBuiltIn, At("choice.mode")) // a built-in tool does not satisfy it
	}
}

// chooseNoFunctions lowers a tool choice beside tools that it does not limit.
func (l *lowering) chooseNoFunctions() {
	c := &l.to.Choice
	c.NoParallel, c.Names = false, nil
	switch c.Mode {
	case content.ChoiceAny:
		l.lose(ChoiceBuiltIn, At("choice.mode"))
	case content.ChoiceValidated:
		l.lose(ChoiceNoTools, At("choice.mode"))
	default:
		if c.Extra != nil {
			return
		}
	}
	*c = content.ToolChoice{}
}

// limitFunctions removes all names but those of functions from the choice. The model may
// always use built-in tools, but cannot be required to.
func (l *lowering) limitFunctions() {
	c, demands := &l.to.Choice, l.to.Choice.Mode == content.ChoiceAny
	functions := make(map[string]bool, len(l.to.Tools))
	for i := range l.to.Tools {
		if t := &l.to.Tools[i]; t.Kind == "" {
			functions[t.Name] = true
		}
	}
	others, unknown := false, false
	declared := make([]string, 0, len(c.Names))
	for _, name := range c.Names {
		switch {
		case functions[name]:
			declared = append(declared, name)
		case l.index != nil && l.index.replaced[name]:
			others = true
		default:
			unknown = true
		}
	}
	if unknown {
		l.lose(ChoiceNamesUnknown, At("choice.names"))
	}
	if others && demands {
		l.lose(ChoiceBuiltIn, At("choice.mode"))
	}
	switch {
	case len(declared) == 0 && others: // only built-in tools may be used
		c.Mode, c.Names = content.ChoiceNone, nil
	case len(declared) == 0 && demands: // no function can be required
		*c = content.ToolChoice{NoParallel: c.NoParallel}
	case len(declared) == 0:
		c.Names = nil
	default:
		if len(declared) < len(c.Names) {
			c.Names = declared
		}
		if c.Mode == "" || c.Mode == content.ChoiceAuto {
			l.lose(ChoiceNamesValidate, At("choice.names"))
			c.Mode = content.ChoiceValidated
		}
	}
}

// isExcluded reports whether the tool choice excludes another vendor's tool. A list of
// names that matches no tool excludes nothing.
func (l *lowering) isExcluded(t *content.Tool) bool {
	switch c := &l.n.Choice; c.Mode {
	case content.ChoiceNone:
		return true
	case "", content.ChoiceAuto, content.ChoiceAny, content.ChoiceValidated:
		return l.index.choosesTool && !l.index.chosen[toolName(t)]
	}
	return false
}
