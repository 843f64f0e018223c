package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
)

// tools writes the tools and reports whether there are any.
func (e *responsesEncoder) tools() bool {
	wrote := false
	for i := range e.req.Tools {
		t := &e.req.Tools[i]
		path := "tools." + strconv.Itoa(i)
		raw := ""
		if t.Kind != "" {
			if raw = e.builtIn(t, path); raw == "" {
				continue
			}
		}
		if !wrote {
			wrote = true
			e.w.Name("tools")
			e.w.BeginArray()
		}
		if raw != "" {
			e.w.Raw(raw)
			continue
		}
		e.tool(t, path)
	}
	if wrote {
		e.w.EndArray()
	}
	return wrote
}

func (e *responsesEncoder) tool(t *content.Tool, path string) {
	e.checkExtra(t.Extra, foreign.Tool, path+".extra")
	if t.Cache != nil {
		e.log.Add(lossResponsesToolCache, path)
	}
	w := e.w
	w.BeginObject()
	e.member("type", "function")
	e.member("name", t.Name)
	if t.Description != "" {
		e.member("description", t.Description)
	}
	strict, input := e.toolSchema(t, path)
	w.Name("parameters")
	w.Raw(input)
	// By default, OpenAI makes schemas strict. Models then make up values for optional
	// members.
	w.Name("strict")
	w.Bool(strict)
	e.toolOutputSchema(t, path+".output")
	w.EndObject()
}

// toolOutputSchema writes the schema of a tool's results.
func (e *responsesEncoder) toolOutputSchema(t *content.Tool, path string) {
	if t.Output.JSON == "" {
		return
	}
	text, losses := "", []schema.Loss(nil)
	if e.target.isOpenAI && !e.target.refusals.has(fieldOutputSchema) {
		text, losses = e.schemas.Output(schema.JSONSchema, t.Output)
	}
	if text == "" {
		e.log.Add(lossResponsesToolOutput, path)
		return
	}
	schema.AddLosses(&e.log, path, losses)
	e.sent |= fieldOutputSchema
	e.w.Name("output_schema")
	e.w.Raw(text)
}

// builtInKind returns OpenAI's built-in tool for the purpose of another vendor's tool,
// or "". The kinds of other vendors have a version at the end.
func builtInKind(kind string) string {
	for _, b := range []struct{ prefix, kind string }{
		{"web_search", webSearch}, {"googleSearch", webSearch},
		{"code_execution", codeInterpreter}, {"codeExecution", codeInterpreter},
	} {
		if strings.HasPrefix(kind, b.prefix) {
			return b.kind
		}
	}
	return ""
}

const (
	webSearch       = "web_search"
	codeInterpreter = "code_interpreter"
)

// builtIn returns the definition of a built-in tool. It returns "" if the server has no
// such tool, or if the document has one already.
func (e *responsesEncoder) builtIn(t *content.Tool, path string) string {
	if t.Format == ResponsesFormat {
		if !jsonwire.ValidObject(t.Raw) {
			e.violations.Add(content.CodeType, path, "the definition of a built-in tool must be a JSON object")
			return ""
		}
		e.builtIns = append(e.builtIns, toolRef{name: t.Name, kind: t.Kind})
		return t.Raw
	}
	kind := builtInKind(t.Kind)
	switch {
	case kind == "" || !e.target.isOpenAI:
		e.log.Add(lossResponsesVendorTool, path)
		return ""
	case slices.ContainsFunc(e.builtIns, func(p toolRef) bool { return p.kind == kind }):
		e.log.Add(lossDuplicateTool, path)
		return ""
	}
	e.log.Add(lossMappedTool, path)
	// The tool choice of generateContent applies to functions only.
	e.builtIns = append(e.builtIns, toolRef{name: t.Name, kind: kind, unrestricted: t.Format == "generatecontent"})
	return e.convertTool(t, kind, path)
}

// toolSettings are the members of other vendors' tools that do not restrict the tool.
// The value is the loss of omitting the member.
var toolSettings = map[string]*loss.Rule{
	"type": nil, "name": nil, "cache_control": nil, "container": nil, "defer_loading": nil, "strict": nil,
	"user_location": lossToolSettings, "search_context_size": lossToolSettings, "response_inclusion": lossToolSettings,
	"citations": lossToolSettings, "use_cache": lossToolSettings, "allowed_callers": lossToolSettings,
}

// convertTool returns the definition of an equivalent tool, with the settings that
// exist here too.
func (e *responsesEncoder) convertTool(t *content.Tool, kind, path string) string {
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
				e.log.Add(lossToolRestrictions, path)
			case r != nil && !(name == "allowed_callers" && foreign.OnlyDirect(x)):
				e.log.Add(r, path)
			}
		}
	}
	w.EndObject()
	return w.Text()
}

// toolResult writes the result of a tool call. A result without a call becomes text.
func (e *responsesEncoder) toolResult(r *content.ToolResult, at partPath) {
	list := e.resultPieces(r, at)
	if e.takeOpenCall(r.ID) {
		e.callOutput(r.ID, list)
		return
	}
	e.addLoss(lossResultOrphan, at)
	head := "Result of a tool:"
	if r.Name != "" {
		head = "Result of the tool " + r.Name + ":"
	}
	e.pieces = append(append(e.pieces, piece{text: head}), list...)
}

// takeOpenCall marks the call with an id as having a result, and reports whether there
// is one. Ids are unique here.
func (e *responsesEncoder) takeOpenCall(id string) bool {
	for e.firstOpen < len(e.openCalls) && e.openCalls[e.firstOpen].part == nil {
		e.firstOpen++
	}
	i := e.firstOpen
	switch {
	case i == len(e.openCalls):
		return false
	case e.openCalls[i].part.ID != id: // results usually have the order of the calls
		if e.openIndex == nil {
			e.openIndex = make(map[string]int, len(e.openCalls)-i)
			for k := i; k < len(e.openCalls); k++ {
				if p := e.openCalls[k].part; p != nil {
					e.openIndex[p.ID] = k
				}
			}
		}
		k, known := e.openIndex[id]
		if !known || e.openCalls[k].part == nil {
			return false
		}
		i = k
	}
	e.openCalls[i].part = nil
	return true
}

// resultPieces returns the content of a tool result.
func (e *responsesEncoder) resultPieces(r *content.ToolResult, at partPath) []piece {
	e.checkPartExtra(r.Extra, at)
	mark := e.acceptsCacheMark(r.Cache, at)
	// The parts become pieces of the next message first, and are then removed.
	start := len(e.pieces)
	repeatedMark := e.resultParts(r, at, e.part)
	list := make([]piece, 0, len(e.pieces)-start+1)
	if r.Object != "" { // it contains more than the texts
		list = append(list, piece{text: r.Object, cacheMark: repeatedMark})
	}
	list = append(list, e.pieces[start:]...)
	e.pieces = e.pieces[:start]
	texts := 0
	for i := range list {
		if list[i].kind == pieceText {
			texts++
		}
	}
	if texts > 1 && texts == len(list) && !e.target.isOpenAI {
		e.addLoss(lossResultParts, at)
		list = []piece{{text: joinTexts(list)}}
	}
	if r.Error {
		e.addLoss(lossResultError, at)
		if len(list) > 0 && list[0].kind == pieceText {
			list[0].text = "Error: " + list[0].text
		} else {
			list = append([]piece{{text: "Error"}}, list...)
		}
	}
	if mark {
		if len(list) == 0 {
			list = append(list, piece{})
		}
		list[len(list)-1].cacheMark = true
	}
	return list
}

func joinTexts(list []piece) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].text
	}
	return strings.Join(texts, "\n\n")
}

// callOutput writes the output of a tool call.
func (e *responsesEncoder) callOutput(id string, list []piece) {
	w := e.w
	w.BeginObject()
	e.member("type", "function_call_output")
	e.member("call_id", id)
	w.Name("output")
	if len(list) == 0 {
		w.String("")
	} else {
		e.writeContent(list)
	}
	w.EndObject()
}

// missingResults writes a result for each tool call without one. The server rejects
// calls without results.
func (e *responsesEncoder) missingResults() {
	for _, c := range e.openCalls {
		if c.part != nil {
			e.addLoss(lossResultMissing, c.at)
			e.callOutput(c.part.ID, []piece{{text: missingResultText}})
		}
	}
	e.openCalls, e.firstOpen, e.openIndex = e.openCalls[:0], 0, nil
}
