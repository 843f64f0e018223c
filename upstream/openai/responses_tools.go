package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
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
	e.resultShape(t, path+".output")
	w.EndObject()
}

// resultShape writes the schema of a tool's results.
func (e *resEncoder) resultShape(t *content.Tool, path string) {
	if t.Output.JSON == "" {
		return
	}
	text, losses := "", []content.Loss(nil)
	if e.to.vendor && !e.to.refused.has(fieldResultShape) {
		text, losses = e.schemas.Output(schema.JSONSchema, t.Output)
	}
	if text == "" {
		e.log.Add(resToolOutput, path)
		return
	}
	e.schemaLosses(losses, path)
	e.sent |= fieldResultShape
	e.w.Name("output_schema")
	e.w.Raw(text)
}

// builtInOf returns the tool of this vendor that does what one of another does,
// by how the kind of that begins; empty if there is none.
func builtInOf(kind string) string {
	for _, b := range []struct{ theirs, kind string }{
		{"web_search", webSearch}, {"googleSearch", webSearch},
		{"code_execution", codeInterpreter}, {"codeExecution", codeInterpreter},
	} {
		if strings.HasPrefix(kind, b.theirs) {
			return b.kind
		}
	}
	return ""
}

const (
	webSearch       = "web_search"
	codeInterpreter = "code_interpreter"
)

// builtIn returns the definition of a built-in tool, empty if the server has
// none for the purpose, or has been told of it.
func (e *resEncoder) builtIn(t *content.Tool, path string) string {
	if t.Format == ResponsesFormat {
		if !jsonwire.ValidObject(t.Raw) {
			e.faults.Add(content.CodeType, path, "the definition of a built-in tool must be a JSON object")
			return ""
		}
		e.builtIns = append(e.builtIns, pick{name: t.Name, kind: t.Kind})
		return t.Raw
	}
	kind := builtInOf(t.Kind)
	switch {
	case kind == "" || !e.to.vendor:
		e.log.Add(resVendorTool, path)
		return ""
	case slices.ContainsFunc(e.builtIns, func(p pick) bool { return p.kind == kind }):
		e.log.Add(resToolAgain, path)
		return ""
	}
	e.log.Add(resMappedTool, path)
	// The choice of content generation concerns functions only.
	e.builtIns = append(e.builtIns, pick{name: t.Name, kind: kind, free: t.Format == "generatecontent"})
	return e.like(t, kind, path)
}

// toolSettings are the members of other vendors' tools that do not bound what
// these may do: those of no account here, and those that only say how they work.
var toolSettings = map[string]*loss.Rule{
	"type": nil, "name": nil, "cache_control": nil, "container": nil, "defer_loading": nil, "strict": nil,
	"user_location": resToolSettings, "search_context_size": resToolSettings, "response_inclusion": resToolSettings,
	"citations": resToolSettings, "use_cache": resToolSettings, "allowed_callers": resToolSettings,
}

// like returns the definition of a tool that is like another vendor's, with the
// settings that mean the same here.
func (e *resEncoder) like(t *content.Tool, kind, path string) string {
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("type")
	w.String(kind)
	if kind == codeInterpreter {
		w.Name("container")
		w.Raw(`{"type":"auto"}`)
	}
	if doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON); err == nil {
		defer doc.Close()
		for name, x := range doc.Root().Members() {
			r, known := toolSettings[name]
			switch {
			case x.Kind() == jsonwire.Null:
			case kind == webSearch && name == "allowed_domains" && x.Len() > 0:
				w.Name("filters")
				w.BeginObject()
				w.Name(name)
				w.Raw(x.Raw())
				w.EndObject()
			case kind == webSearch && name == "user_location" && x.Get("type").Is("approximate"):
				w.Name(name)
				w.Raw(x.Raw())
			case !known:
				e.log.Add(resToolBounds, path)
			case r != nil && !(name == "allowed_callers" && codec.OnlyDirect(x)):
				e.log.Add(r, path)
			}
		}
	}
	w.EndObject()
	return w.Text()
}
