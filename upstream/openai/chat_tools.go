package openai

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/schema"
)

// tools writes the tools and reports whether there are any.
func (e *chatEncoder) tools() bool {
	some := false
	for i := range e.n.Tools {
		t := &e.n.Tools[i]
		path := "tools." + strconv.Itoa(i)
		if t.Kind != "" {
			e.log.Add(lostVendorTool, path)
			continue
		}
		if !some {
			some = true
			e.w.Name("tools")
			e.w.BeginArray()
		}
		e.tool(t, path)
	}
	if some {
		e.w.EndArray()
	}
	return some
}

// hasTools reports whether any tool will be told.
func (e *chatEncoder) hasTools() bool {
	return slices.ContainsFunc(e.n.Tools, func(t content.Tool) bool { return t.Kind == "" })
}

func (e *chatEncoder) tool(t *content.Tool, path string) {
	e.foreign(t.Extra, path+".extra")
	if t.Cache != nil {
		e.log.Add(lostToolCache, path)
	}
	if t.Output.JSON != "" {
		e.log.Add(lostToolOutput, path+".output")
	}
	w := e.w
	w.BeginObject()
	e.member("type", "function")
	w.Name("function")
	w.BeginObject()
	e.member("name", t.Name)
	if text := e.description(t.Description, path); text != "" {
		e.member("description", text)
	}
	strict, input := e.arguments(t, path)
	w.Name("parameters")
	w.Raw(input)
	if strict {
		w.Name("strict")
		w.Bool(true)
	}
	w.EndObject()
	w.EndObject()
}

// arguments returns the schema of a tool's arguments and whether it is strict.
func (e *encoder) arguments(t *content.Tool, path string) (bool, string) {
	path += ".input"
	if t.Strict {
		if schema.Fits(schema.OpenAIStrict, t.Input) {
			return true, t.Input.JSON
		}
		if input, losses := schema.Input(schema.OpenAIStrict, t.Input); len(losses) == 0 && input != "" {
			return true, input
		}
		e.log.Add(lostToolStrict, path)
	}
	input, losses := schema.Input(schema.JSONSchema, t.Input)
	e.schemaLosses(losses, path)
	return false, input
}

func (e *encoder) schemaLosses(losses []content.Loss, path string) {
	for _, l := range losses {
		if l.Path != "" {
			l.Path = "." + l.Path
		}
		l.Path = path + l.Path
		e.log.Losses = append(e.log.Losses, l)
	}
}

// longestDescription is what some models take, in characters.
const longestDescription = 1024

func (e *chatEncoder) description(text, path string) string {
	if len(text) <= longestDescription {
		return text
	}
	e.sent |= fieldDescription
	if !e.to.refused.has(fieldDescription) || utf8.RuneCountInString(text) <= longestDescription {
		return text
	}
	e.log.Add(lostDescription, path+".description")
	n := 0
	for i := range text {
		if n == longestDescription {
			return text[:i]
		}
		n++
	}
	return text
}

// choice writes how free the model is in calling tools.
func (e *chatEncoder) choice() {
	c := &e.n.Choice
	e.foreign(c.Extra, "choice.extra")
	names := e.known(c.Names)
	switch c.Mode {
	case content.ChoiceNone:
		e.member("tool_choice", "none")
	case content.ChoiceAuto:
		e.member("tool_choice", "auto")
	case content.ChoiceAny:
		e.among(names, "required")
	case content.ChoiceValidated:
		e.log.Add(lostValidated, "choice.mode")
		e.among(names, "auto")
	case "":
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

// known returns the names of tools that are told. Naming any other is refused.
func (e *encoder) known(names []string) []string {
	var list []string
	for _, name := range names {
		if slices.ContainsFunc(e.n.Tools, func(t content.Tool) bool { return t.Kind == "" && t.Name == name }) {
			list = append(list, name)
		} else {
			e.log.Add(lostChoiceNames, "choice.names")
		}
	}
	return list
}

// among writes a choice of some tools, or of all if there are no names.
func (e *chatEncoder) among(names []string, mode string) {
	w := e.w
	switch {
	case len(names) == 0:
		e.member("tool_choice", mode)
	case len(names) == 1 && mode == "required":
		w.Name("tool_choice")
		e.named(names[0])
	case !e.to.vendor:
		e.log.Add(lostChoiceNames, "choice.names")
		e.member("tool_choice", mode)
	default:
		w.Name("tool_choice")
		w.BeginObject()
		e.member("type", "allowed_tools")
		w.Name("allowed_tools")
		w.BeginObject()
		e.member("mode", mode)
		w.Name("tools")
		w.BeginArray()
		for _, name := range names {
			e.named(name)
		}
		w.EndArray()
		w.EndObject()
		w.EndObject()
	}
}

// named writes a reference to a tool.
func (e *chatEncoder) named(name string) {
	w := e.w
	w.BeginObject()
	e.member("type", "function")
	w.Name("function")
	w.BeginObject()
	e.member("name", name)
	w.EndObject()
	w.EndObject()
}
