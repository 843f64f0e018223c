package messages

import "github.com/polywire/polywire/content"

// source writes the source of an image or a document.
func (e *encoder) source(s content.Source) {
	e.w.Name("source")
	e.path.push("source")
	defer e.path.pop()
	e.w.BeginObject()
	defer e.w.EndObject()
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			e.must("type", "base64")
			e.must("media_type", s.MediaType)
			e.must("data", s.Data)
			e.extra(s, s.Extra, &base64Names)
			return
		}
	case *content.URL:
		if s != nil {
			e.must("type", "url")
			e.must("url", s.URL)
			e.extra(s, s.Extra, &urlNames)
			return
		}
	case *content.File:
		if s != nil {
			e.must("type", "file")
			e.must("file_id", s.ID)
			e.extra(s, s.Extra, &fileNames)
			return
		}
	case *content.PlainText:
		if s != nil {
			e.must("type", "text")
			e.must("media_type", s.Type())
			e.must("data", s.Text)
			e.extra(s, s.Extra, &base64Names)
			return
		}
	case *content.Parts:
		if s != nil {
			e.must("type", "content")
			e.path.push("content")
			e.content("content", s.Parts, true)
			e.path.pop()
			e.extra(s, s.Extra, &contentNames)
			return
		}
	}
	e.fault(content.CodeMissing, "", "the source is nil or of a kind that the Messages format does not have")
}

func (e *encoder) tools(r *Request) {
	if len(r.Tools) == 0 {
		e.asNoted(r, "tools")
		return
	}
	e.w.Name("tools")
	e.path.push("tools")
	if e.form != nil {
		e.next = e.form.tools
	}
	e.w.BeginArray()
	for i := range r.Tools {
		e.path.pushIndex(i)
		e.tool(&r.Tools[i])
		e.path.pop()
	}
	e.w.EndArray()
	e.path.pop()
}

func (e *encoder) tool(t *content.Tool) {
	if t.Kind != "" {
		e.unknown(&content.Unknown{Format: t.Format, Kind: t.Kind, Raw: t.Raw})
		return
	}
	e.path.push("custom")
	defer e.path.pop()
	e.w.BeginObject()
	e.asNoted(t, "type")
	e.must("name", t.Name)
	e.optText(t, "description", t.Description)
	switch {
	case t.Input.OpenAPI:
		e.fault(content.CodeUnsupported, "input_schema", "the schema must be JSON Schema")
	case t.Input.JSON == "": // a tool must say something of its arguments
		e.raw("input_schema", `{"type":"object"}`)
	default:
		e.free("input_schema", t.Input.JSON)
	}
	e.optFlag(t, "strict", t.Strict)
	e.cache(t, t.Cache)
	e.extra(t, t.Extra, &toolNames)
	e.w.EndObject()
}

func (e *encoder) metadata(r *Request) {
	if r.Metadata == nil {
		e.asNoted(r, "metadata")
		return
	}
	m := r.Metadata
	e.begin("metadata")
	e.optText(m, "user_id", m.UserID)
	e.extra(m, m.Extra, &metadataNames)
	e.end()
}

func (e *encoder) toolChoice(r *Request) {
	if r.ToolChoice == nil {
		e.asNoted(r, "tool_choice")
		return
	}
	c := r.ToolChoice
	e.begin("tool_choice")
	e.optText(c, "type", c.Type)
	e.optText(c, "name", c.Name)
	e.optFlag(c, "disable_parallel_tool_use", c.DisableParallelToolUse)
	e.extra(c, c.Extra, &choiceNames)
	e.end()
}

func (e *encoder) thinking(r *Request) {
	if r.Thinking == nil {
		e.asNoted(r, "thinking")
		return
	}
	t := r.Thinking
	e.begin("thinking")
	e.optText(t, "type", t.Type)
	e.optInt(t, "budget_tokens", t.BudgetTokens)
	e.optText(t, "display", t.Display)
	e.extra(t, t.Extra, &thinkingNames)
	e.end()
}

func (e *encoder) outputConfig(r *Request) {
	if r.OutputConfig == nil {
		e.asNoted(r, "output_config")
		return
	}
	c := r.OutputConfig
	e.begin("output_config")
	e.optText(c, "effort", c.Effort)
	e.outputFormat(c, "format", c.Format)
	e.extra(c, c.Extra, &outputConfigNames)
	e.end()
}

func (e *encoder) outputFormat(node any, name string, f *OutputFormat) {
	if f == nil {
		e.asNoted(node, name)
		return
	}
	e.begin(name)
	e.optText(f, "type", f.Type)
	if f.Schema != "" {
		e.free("schema", f.Schema)
	}
	e.extra(f, f.Extra, &outputFormatNames)
	e.end()
}

// begin begins a member that is an object.
func (e *encoder) begin(name string) {
	e.w.Name(name)
	e.path.push(name)
	e.w.BeginObject()
}

func (e *encoder) end() {
	e.w.EndObject()
	e.path.pop()
}
