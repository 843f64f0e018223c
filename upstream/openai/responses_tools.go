package openai

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// tools writes the tools and reports whether there are any.
func (e *resEncoder) tools() bool {
	some := false
	for i := range e.n.Tools {
		t := &e.n.Tools[i]
		path := "tools." + strconv.Itoa(i)
		raw := ""
		if t.Kind != "" {
			if raw = e.builtIn(t, path); raw == "" {
				continue
			}
			e.hosted = true
		}
		if !some {
			some = true
			e.w.Name("tools")
			e.w.BeginArray()
		}
		if raw != "" {
			e.w.Raw(raw)
			continue
		}
		e.tool(t, path)
	}
	if some {
		e.w.EndArray()
	}
	return some
}

func (e *resEncoder) tool(t *content.Tool, path string) {
	e.foreign(t.Extra, path+".extra")
	if t.Cache != nil {
		e.log.Add(resToolCache, path)
	}
	if t.Output.JSON != "" {
		e.log.Add(resToolOutput, path+".output")
	}
	w := e.w
	w.BeginObject()
	e.member("type", "function")
	e.member("name", t.Name)
	if t.Description != "" {
		e.member("description", t.Description)
	}
	strict, input := e.arguments(t, path)
	w.Name("parameters")
	w.Raw(input)
	// Where nothing is said the vendor makes schemas strict by itself, and
	// models then make up what is optional.
	w.Name("strict")
	w.Bool(strict)
	w.EndObject()
}

// resBuiltIn are the tools of other vendors that this one has too, by how their
// kinds begin.
var resBuiltIn = []struct{ theirs, kind, raw string }{
	{"web_search", "web_search", ""},
	{"googleSearch", "web_search", ""},
	{"code_execution", "code_interpreter", `{"type":"code_interpreter","container":{"type":"auto"}}`},
	{"codeExecution", "code_interpreter", `{"type":"code_interpreter","container":{"type":"auto"}}`},
}

// builtIn returns the definition of a built-in tool, empty if the server has
// none for the purpose.
func (e *resEncoder) builtIn(t *content.Tool, path string) string {
	if t.Format == ResponsesFormat {
		if !jsonwire.ValidObject(t.Raw) {
			e.faults.Add(content.CodeType, path, "the definition of a built-in tool must be a JSON object")
			return ""
		}
		return t.Raw
	}
	for _, b := range resBuiltIn {
		if !e.to.vendor || len(t.Kind) < len(b.theirs) || t.Kind[:len(b.theirs)] != b.theirs {
			continue
		}
		e.log.Add(resMappedTool, path)
		if b.raw != "" {
			return b.raw
		}
		return e.webSearch(t, path)
	}
	e.log.Add(resVendorTool, path)
	return ""
}

// webSearch returns a web search with the settings that mean the same here.
func (e *resEncoder) webSearch(t *content.Tool, path string) string {
	const plain = `{"type":"web_search"}`
	doc, err := jsonwire.Parse(t.Raw, codec.AnyDocument)
	if err != nil {
		return plain
	}
	defer doc.Close()
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("type")
	w.String("web_search")
	bounds := false
	for name, x := range doc.Root().Members() {
		switch {
		case x.Kind() == jsonwire.Null, name == "type", name == "name", name == "cache_control":
		case name == "allowed_domains" && x.Len() > 0:
			w.Name("filters")
			w.BeginObject()
			w.Name(name)
			w.Raw(x.Raw())
			w.EndObject()
		case name == "user_location" && x.Get("type").Is("approximate"):
			w.Name(name)
			w.Raw(x.Raw())
		default:
			bounds = true
		}
	}
	if bounds {
		e.log.Add(resToolBounds, path)
	}
	w.EndObject()
	return w.Text()
}

// choice writes how free the model is in calling tools.
func (e *resEncoder) choice() {
	c := &e.n.Choice
	e.foreign(c.Extra, "choice.extra")
	switch c.Mode {
	case "":
	case content.ChoiceNone:
		e.member("tool_choice", "none")
	case content.ChoiceAuto:
		e.member("tool_choice", "auto")
	case content.ChoiceAny:
		e.among(e.known(c.Names), "required")
	case content.ChoiceValidated:
		e.log.Add(lostValidated, "choice.mode")
		e.among(e.known(c.Names), "auto")
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

// among writes a choice of some tools, or of all if there are no names.
func (e *resEncoder) among(names []string, mode string) {
	w := e.w
	switch {
	case len(names) == 0:
		e.member("tool_choice", mode)
	case len(names) == 1 && mode == "required":
		w.Name("tool_choice")
		e.named(names[0])
	case !e.hosted && mode == "auto" && e.all(names):
		e.member("tool_choice", mode)
	default:
		w.Name("tool_choice")
		w.BeginObject()
		e.member("type", "allowed_tools")
		e.member("mode", mode)
		w.Name("tools")
		w.BeginArray()
		for _, name := range names {
			e.named(name)
		}
		w.EndArray()
		w.EndObject()
	}
}

// all reports whether names has all tools.
func (e *resEncoder) all(names []string) bool {
	return !slices.ContainsFunc(e.n.Tools, func(t content.Tool) bool { return !slices.Contains(names, t.Name) })
}

// named writes a reference to a tool.
func (e *resEncoder) named(name string) {
	e.w.BeginObject()
	e.member("type", "function")
	e.member("name", name)
	e.w.EndObject()
}
