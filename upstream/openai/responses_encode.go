package openai

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// A responsesWriter writes a request that was lowered for Responses. It writes what the
// request says, and reports nothing.
type responsesWriter struct {
	writer
	counting bool // for a token count, which has fewer members
}

// write writes the document.
func (c *responsesWriter) write() {
	w, n := c.w, c.req
	w.BeginObject()
	c.member("model", c.req.Model)
	// one pass
	marked := slices.ContainsFunc(n.System, func(p content.Part) bool { return p.(*content.Text).Cache != nil })
	if len(n.System) > 0 && !marked {
		w.Name("instructions")
		c.joined(n.System, "\n\n")
	}
	w.Name("input")
	w.BeginArray()
	if marked {
		c.message(c, c.shape.systemRole, n.System)
	}
	c.turns(c)
	w.EndArray()
	c.settings()
	w.EndObject()
}

// result writes a tool result as the output of its call.
func (c *responsesWriter) result(r *content.ToolResult) {
	c.w.BeginObject()
	c.member("type", "function_call_output")
	c.member("call_id", r.ID)
	c.w.Name("output")
	c.resultContent(c, r)
	c.w.EndObject()
}

func (c *responsesWriter) content(parts []content.Part) {
	if t, ok := parts[0].(*content.Text); ok && len(parts) == 1 && t.Cache == nil {
		c.w.String(t.Text)
		return
	}
	c.list(c, parts)
}

func (c *responsesWriter) part(p content.Part) {
	w := c.w
	w.BeginObject()
	var cache *content.Cache
	switch p := p.(type) {
	case *content.Text:
		c.member("type", "input_text")
		c.member("text", p.Text)
		cache = p.Cache
	case *content.Image:
		c.member("type", "input_image")
		if f, ok := p.Source.(*content.File); ok {
			c.member("file_id", f.ID)
		} else {
			w.Name("image_url")
			c.fileURL(p.Source)
		}
		c.members(p.Extra)
		cache = p.Cache
	case *content.Document:
		c.member("type", "input_file")
		switch s := p.Source.(type) {
		case *content.File:
			c.member("file_id", s.ID)
		case *content.URL:
			c.member("file_url", s.URL)
		default:
			c.member("filename", p.Title)
			w.Name("file_data")
			c.fileURL(s)
		}
		c.members(p.Extra)
		cache = p.Cache
	}
	c.cacheMark(cache)
	w.EndObject()
}

// assistant writes a turn of the assistant as items. Consecutive texts are one message,
// since clients may store the chunks of a stream as they are.
func (c *responsesWriter) assistant(parts []content.Part, _ bool) {
	last := -1                                     // index of the last text, if its message is the final answer
	if !slices.ContainsFunc(parts, isClientCall) { // one pass
		for i, p := range parts {
			if t, ok := p.(*content.Text); ok && t.Text != "" {
				last = i
			}
		}
	}
	phase := func(end int) string {
		if 0 <= last && last < end {
			return finalAnswer
		}
		return commentary
	}
	for i, p := range parts {
		if t, ok := p.(*content.Text); ok {
			if t.Text != "" {
				c.texts = append(c.texts, t.Text)
			}
			continue
		}
		c.endMessage(phase(i))
		switch p := p.(type) { // other kinds are written elsewhere or have been lowered
		case *content.ToolUse:
			c.toolCall(p)
		case *content.Thinking:
			c.w.Raw(itemOf(p))
		case *content.Unknown:
			c.w.Raw(p.Raw)
		case *content.Image:
			c.generatedImage(p)
		}
	}
	c.endMessage(phase(len(parts)))
}

// endMessage writes the current message, if there is one.
func (c *responsesWriter) endMessage(phase string) {
	if len(c.texts) == 0 {
		return
	}
	w := c.w
	w.BeginObject()
	c.member("type", "message")
	c.member("role", "assistant")
	w.Name("content")
	w.JoinedString(c.texts...)
	if c.shape.phases {
		c.member("phase", phase)
	}
	w.EndObject()
	clear(c.texts)
	c.texts = c.texts[:0]
}

func (c *responsesWriter) toolCall(p *content.ToolUse) {
	w := c.w
	w.BeginObject()
	c.member("type", "function_call")
	c.member("call_id", p.ID)
	c.member("name", p.Name)
	c.member("arguments", p.Input)
	if x := codec.Own(p.Extra, ResponsesFormat); x != nil {
		// bounded by carriedCallMembers
		_ = w.MembersExcept(x.JSON, func(name string) bool { return !slices.Contains(carriedCallMembers[:], name) }) // invalid JSON has no members
	}
	w.EndObject()
}

// generatedImage writes an image of an earlier response as the item that it was.
func (c *responsesWriter) generatedImage(p *content.Image) {
	c.w.BeginObject()
	c.member("type", "image_generation_call")
	c.member("id", gjson.Get(p.Signature.Data, "id").Str)
	c.member("status", "completed")
	c.member("result", toStandardBase64(p.Source.(*content.Base64).Data))
	c.w.EndObject()
}

// settings writes the members behind the input.
func (c *responsesWriter) settings() {
	w, n := c.w, c.req
	c.tools()
	c.toolChoice()
	reasoning, text, include := c.ownMember("reasoning"), c.ownMember("text"), c.ownMember("include")
	c.reasoning(reasoning)
	c.textFormat(text)
	if c.counting {
		return
	}
	if n.MaxTokens != nil {
		w.Name("max_output_tokens")
		w.Int(*n.MaxTokens)
	}
	c.float("temperature", n.Temperature)
	c.float("top_p", n.TopP)
	w.Name("store")
	w.Bool(false)
	c.include(include)
	c.identity()
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		if c.shape.noPadding {
			w.Name("stream_options")
			w.BeginObject()
			c.noObfuscation()
			w.EndObject()
		}
	}
	if n.Extra != nil {
		_ = w.MembersExcept(n.Extra.JSON, func(name string) bool { // was parsed before
			return reasoning != "" && name == "reasoning" || text != "" && name == "text" || include != "" && name == "include"
		})
	}
}

// ownMember returns the value of an extra member that is merged with fields, or "".
func (c *responsesWriter) ownMember(name string) string {
	json, _ := c.req.Extra.Get(name)
	return json
}

func (c *responsesWriter) tools() {
	if len(c.req.Tools) == 0 {
		return
	}
	w := c.w
	w.Name("tools")
	w.BeginArray()
	for i := range c.req.Tools {
		t := &c.req.Tools[i]
		if t.Kind != "" {
			w.Raw(t.Raw)
			continue
		}
		w.BeginObject()
		c.member("type", "function")
		c.member("name", t.Name)
		if t.Description != "" {
			c.member("description", t.Description)
		}
		w.Name("parameters")
		w.Raw(t.Input.JSON)
		// By default, OpenAI makes schemas strict. Models then make up values for optional
		// members.
		w.Name("strict")
		w.Bool(t.Strict != nil && *t.Strict)
		if t.Output.JSON != "" {
			w.Name("output_schema")
			w.Raw(t.Output.JSON)
		}
		w.EndObject()
	}
	w.EndArray()
}

// reasoning writes the effort and the summary of thinking, with the members of own.
func (c *responsesWriter) reasoning(own string) {
	effort, summary := c.req.Effort, c.req.Thinking.Display
	if summary == "omitted" {
		summary = ""
	}
	if effort == "" && summary == "" && own == "" {
		return
	}
	w := c.w
	w.Name("reasoning")
	w.BeginObject()
	if effort != "" {
		c.member("effort", effort)
	}
	if summary != "" {
		c.member("summary", summary)
	}
	w.Members(own)
	w.EndObject()
}

// textFormat writes the form of the response, with the members of own.
func (c *responsesWriter) textFormat(own string) {
	w, schema := c.w, c.req.Output.Schema.JSON
	if own == "" && schema == "" && !c.req.Object {
		return
	}
	w.Name("text")
	w.BeginObject()
	switch {
	case schema != "":
		c.jsonSchema(schema, c.req.Strict)
	case !c.req.Object:
	case c.shape.objectForm:
		c.jsonSchema(`{"type":"object"}`, false)
	default:
		w.Name("format")
		w.Raw(`{"type":"json_object"}`)
	}
	w.Members(own)
	w.EndObject()
}

func (c *responsesWriter) jsonSchema(text string, strict bool) {
	w := c.w
	w.Name("format")
	w.BeginObject()
	c.member("type", "json_schema")
	c.member("name", "answer")
	w.Name("schema")
	w.Raw(text)
	w.Name("strict")
	w.Bool(strict)
	w.EndObject()
}

// encryptedReasoning requests thinking that the next request can return.
const encryptedReasoning = "reasoning.encrypted_content"

// include writes the additional output to include: encrypted thinking, and the values of
// own.
func (c *responsesWriter) include(own string) {
	if !c.shape.encrypted && own == "" {
		return
	}
	w := c.w
	w.Name("include")
	w.BeginArray()
	if c.shape.encrypted {
		w.String(encryptedReasoning)
	}
	gjson.Parse(own).ForEach(func(_, v gjson.Result) bool {
		if v.Str != encryptedReasoning {
			w.Raw(v.Raw)
		}
		return true
	})
	w.EndArray()
}
