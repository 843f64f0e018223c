package messages

import "github.com/polywire/polywire/content"

// source writes the source of an image or a document.
func (e *encoder) source(s content.Source) {
	e.W.Name("source")
	e.Path.Push("source")
	defer e.Path.Pop()
	e.W.BeginObject()
	defer e.W.EndObject()
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			e.Must("type", "base64")
			e.Must("media_type", s.MediaType)
			e.Must("data", s.Data)
			e.extra(s.Extra, &base64Names)
			return
		}
	case *content.URL:
		if s != nil {
			e.Must("type", "url")
			e.Must("url", s.URL)
			e.extra(s.Extra, &urlNames)
			return
		}
	case *content.File:
		if s != nil {
			e.Must("type", "file")
			e.Must("file_id", s.ID)
			e.extra(s.Extra, &fileNames)
			return
		}
	case *content.PlainText:
		if s != nil {
			e.Must("type", "text")
			e.Must("media_type", s.Type())
			e.Must("data", s.Text)
			e.extra(s.Extra, &base64Names)
			return
		}
	case *content.Parts:
		if s != nil {
			e.Must("type", "content")
			e.Path.Push("content")
			e.content("content", s.Parts, true)
			e.Path.Pop()
			e.extra(s.Extra, &contentNames)
			return
		}
	}
	e.Violation(content.CodeMissing, "", "the source is nil or of a kind that the Messages format does not have")
}

func (e *encoder) tools(r *Request) {
	if len(r.Tools) == 0 {
		return
	}
	e.W.Name("tools")
	e.Path.Push("tools")
	e.W.BeginArray()
	for i := range r.Tools {
		e.Path.PushIndex(i)
		e.tool(&r.Tools[i])
		e.Path.Pop()
	}
	e.W.EndArray()
	e.Path.Pop()
}

func (e *encoder) tool(t *content.Tool) {
	if t.Kind != "" {
		e.unknown(&content.Unknown{Format: t.Format, Kind: t.Kind, Raw: t.Raw})
		return
	}
	e.Path.Push("custom")
	defer e.Path.Pop()
	e.W.BeginObject()
	e.Must("name", t.Name)
	e.Text("description", t.Description)
	switch {
	case t.Input.OpenAPI:
		e.Violation(content.CodeUnsupported, "input_schema", "the schema must be JSON Schema")
	case t.Input.JSON == "": // a tool must say something of its arguments
		e.Raw("input_schema", `{"type":"object"}`)
	default:
		e.free("input_schema", t.Input.JSON)
	}
	e.Flag("strict", t.Strict)
	e.cache(t.Cache)
	e.extra(t.Extra, &toolNames)
	e.W.EndObject()
}

func (e *encoder) metadata(r *Request) {
	if r.Metadata == nil {
		return
	}
	m := r.Metadata
	e.Begin("metadata")
	e.Text("user_id", m.UserID)
	e.extra(m.Extra, &metadataNames)
	e.End()
}

func (e *encoder) toolChoice(r *Request) {
	if r.ToolChoice == nil {
		return
	}
	c := r.ToolChoice
	e.Begin("tool_choice")
	e.Text("type", c.Type)
	e.Text("name", c.Name)
	e.Flag("disable_parallel_tool_use", c.DisableParallelToolUse)
	e.extra(c.Extra, &choiceNames)
	e.End()
}

func (e *encoder) thinking(r *Request) {
	if r.Thinking == nil {
		return
	}
	t := r.Thinking
	e.Begin("thinking")
	e.Text("type", t.Type)
	e.OptInt("budget_tokens", t.BudgetTokens)
	e.Text("display", t.Display)
	e.extra(t.Extra, &thinkingNames)
	e.End()
}

func (e *encoder) outputConfig(r *Request) {
	if r.OutputConfig == nil {
		return
	}
	c := r.OutputConfig
	e.Begin("output_config")
	e.Text("effort", c.Effort)
	e.outputFormat("format", c.Format)
	e.extra(c.Extra, &outputConfigNames)
	e.End()
}

func (e *encoder) outputFormat(name string, f *OutputFormat) {
	if f == nil {
		return
	}
	e.Begin(name)
	e.Text("type", f.Type)
	if f.Schema != "" {
		e.free("schema", f.Schema)
	}
	e.extra(f.Extra, &outputFormatNames)
	e.End()
}
