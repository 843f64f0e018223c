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
		if input, losses := e.schemas.Input(schema.OpenAIStrict, t.Input); len(losses) == 0 && input != "" {
			return true, input
		}
		e.log.Add(lostToolStrict, path)
	}
	input, losses := e.schemas.Input(schema.JSONSchema, t.Input)
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
	if !e.to.refused.has(fieldDescription) {
		e.sent |= fieldDescription
		return text
	}
	if utf8.RuneCountInString(text) <= longestDescription {
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
