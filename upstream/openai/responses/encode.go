package responses

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/partfield"
)

// A requestEncoder writes a request that was lowered for this format. It writes what the
// request says, and reports nothing.
type requestEncoder struct {
	openaiformat.Encoder
	texts    []string // of the current message
	refusals []bool   // which of them are refusals

	found      map[foreign.ToolReference]bool // tools that outputs of searches have
	added      map[string]bool                // ids of the results behind which tools were added
	custom     map[string]bool                // ids of the calls of free-form tools so far
	namespaces map[string][]*content.Tool     // not written yet; made on demand
}

// write writes the document.
func (c *requestEncoder) write() {
	w, n := c.W, c.Req
	w.BeginObject()
	c.W.Member("model", c.Req.Model)
	// one pass
	marked := slices.ContainsFunc(n.System, func(p content.Part) bool { return p.(*content.Text).Cache != nil })
	if len(n.System) > 0 && !marked {
		w.Name("instructions")
		c.Joined(n.System, "\n\n")
	}
	w.Array("input")
	if marked {
		c.Message(c, c.Shape.SystemRole, n.System)
	}
	c.Turns(c)
	w.EndArray()
	c.settings()
	w.EndObject()
}

// Result writes a tool result as the output of its call.
func (c *requestEncoder) Result(r *content.ToolResult) {
	c.W.BeginObject()
	if u, ok := searchOutput(r.Parts); ok {
		if c.found == nil {
			c.found = make(map[foreign.ToolReference]bool)
		}
		for _, t := range foreign.ToolReferences(u) {
			c.found[t] = true
		}
		_ = c.W.MembersExcept(u.Raw, func(name string) bool { return name == "id" || name == "call_id" }) // was parsed before
		c.W.Member("call_id", r.ID)
		c.W.EndObject()
		return
	}
	if c.custom[r.ID] {
		c.W.Member("type", "custom_tool_call_output")
	} else {
		c.W.Member("type", "function_call_output")
	}
	c.W.Member("call_id", r.ID)
	c.W.Name("output")
	c.ResultContent(c, r)
	c.W.EndObject()
	if tools := c.Req.Added[r.ID]; len(tools) > 0 && !c.added[r.ID] {
		if c.added == nil {
			c.added = make(map[string]bool)
		}
		c.added[r.ID] = true
		c.W.BeginObject()
		c.W.Member("type", typeAdditionalTools)
		c.W.Member("role", roleDeveloper)
		c.W.Array("tools")
		for i := range tools {
			c.tool(&tools[i])
		}
		c.W.EndArray()
		c.W.EndObject()
	}
}

func (c *requestEncoder) Content(parts []content.Part) {
	if t, ok := parts[0].(*content.Text); ok && len(parts) == 1 && t.Cache == nil {
		c.W.String(t.Text)
		return
	}
	c.List(c, parts)
}

func (c *requestEncoder) Part(p content.Part) {
	w := c.W
	w.BeginObject()
	switch p := p.(type) {
	case *content.Text:
		c.W.Member("type", "input_text")
		c.W.Member("text", p.Text)
	case *content.Image:
		c.W.Member("type", "input_image")
		if f, ok := p.Source.(*content.File); ok {
			c.W.Member("file_id", f.ID)
		} else {
			w.Name("image_url")
			c.FileURL(p.Source)
		}
		c.Members(p.Extra)
	case *content.Document:
		c.W.Member("type", "input_file")
		switch s := p.Source.(type) {
		case *content.File:
			c.W.Member("file_id", s.ID)
		case *content.URL:
			c.W.Member("file_url", s.URL)
		default:
			c.W.Member("filename", p.Title)
			w.Name("file_data")
			c.FileURL(s)
		}
		c.Members(p.Extra)
	}
	c.CacheMark(partfield.CacheOf(p))
	w.EndObject()
}

// Assistant writes a turn of the assistant as items. Consecutive texts are one message,
// since clients may store the chunks of a stream as they are.
func (c *requestEncoder) Assistant(parts []content.Part, _ bool) {
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
				c.texts, c.refusals = append(c.texts, t.Text), append(c.refusals, t.Refusal)
			}
			continue
		}
		c.endMessage(phase(i))
		switch p := p.(type) { // other kinds are written elsewhere or have been lowered
		case *content.ToolUse:
			c.toolCall(p)
		case *content.Thinking:
			c.W.Raw(itemOf(p))
		case *content.Unknown:
			c.W.Raw(p.Raw)
		case *content.Image:
			c.generatedImage(p)
		}
	}
	c.endMessage(phase(len(parts)))
}

// endMessage writes the current message, if there is one.
func (c *requestEncoder) endMessage(phase string) {
	if len(c.texts) == 0 {
		return
	}
	w := c.W
	w.BeginObject()
	c.W.Member("type", "message")
	c.W.Member("role", "assistant")
	w.Name("content")
	if slices.Contains(c.refusals, true) { // one pass
		c.refusedTexts()
	} else {
		w.JoinedString(c.texts...)
	}
	if c.Shape.Phases {
		c.W.Member("phase", phase)
	}
	w.EndObject()
	clear(c.texts)
	c.texts, c.refusals = c.texts[:0], c.refusals[:0]
}

// refusedTexts writes the texts of a message of which some are refusals. Consecutive texts of
// one kind are one part.
func (c *requestEncoder) refusedTexts() {
	w := c.W
	w.BeginArray()
	for i, j := 0, 0; i < len(c.texts); i = j {
		for j = i + 1; j < len(c.texts) && c.refusals[j] == c.refusals[i]; j++ {
		}
		w.BeginObject()
		if c.refusals[i] {
			c.W.Member("type", "refusal")
			w.Name("refusal")
			w.JoinedString(c.texts[i:j]...)
		} else {
			c.W.Member("type", "output_text")
			w.Name("text")
			w.JoinedString(c.texts[i:j]...)
			w.RawMember("annotations", "[]")
		}
		w.EndObject()
	}
	w.EndArray()
}

func (c *requestEncoder) toolCall(p *content.ToolUse) {
	w := c.W
	w.BeginObject()
	if execution, ok := codec.Own(p.Extra, Format).Get("execution"); ok {
		w.Member("type", typeSearchCall)
		w.RawMember("execution", execution)
		w.Member("call_id", p.ID)
		w.RawMember("arguments", p.Input)
		w.EndObject()
		return
	}
	if p.Freeform {
		if c.custom == nil {
			c.custom = make(map[string]bool)
		}
		c.custom[p.ID] = true
		c.W.Member("type", typeCustomCall)
		c.W.Member("call_id", p.ID)
		c.W.Member("name", p.Name)
		c.W.Member("input", p.Text)
	} else {
		delete(c.custom, p.ID)
		c.W.Member("type", "function_call")
		c.W.Member("call_id", p.ID)
		c.W.Member("name", p.Name)
		if text, own := codec.Own(p.Extra, Format).Get("arguments"); own { // that is not an object
			w.RawMember("arguments", text)
		} else {
			w.Member("arguments", p.Input)
		}
	}
	c.W.OptMember("namespace", p.Namespace)
	if x := codec.Own(p.Extra, Format); x != nil {
		_ = w.MembersExcept(x.JSON, func(name string) bool { // invalid JSON has no members
			// bounded by decodedCallMembers
			return !slices.Contains(decodedCallMembers[:], name) || name == "namespace" && p.Namespace != ""
		})
	}
	w.EndObject()
}

// generatedImage writes an image of an earlier response as the item that it was.
func (c *requestEncoder) generatedImage(p *content.Image) {
	c.W.BeginObject()
	c.W.Member("type", "image_generation_call")
	c.W.Member("id", gjson.Get(p.Signature.Data, "id").Str)
	c.W.Member("status", "completed")
	c.W.Member("result", openaiformat.StandardBase64(p.Source.(*content.Base64).Data))
	c.W.EndObject()
}

// settings writes the members behind the input.
func (c *requestEncoder) settings() {
	w, n := c.W, c.Req
	c.tools()
	c.ToolChoice()
	reasoning, text, include := c.ownMember("reasoning"), c.ownMember("text"), c.ownMember("include")
	c.reasoning(reasoning)
	c.textFormat(text)
	if c.Shape.Counting {
		return
	}
	if n.MaxTokens != nil {
		w.IntMember("max_output_tokens", *n.MaxTokens)
	}
	c.Float("temperature", n.Temperature)
	c.Float("top_p", n.TopP)
	w.BoolMember("store", false)
	c.include(include)
	c.Identity()
	if n.Stream {
		w.BoolMember("stream", true)
		if c.Shape.NoPadding {
			w.Object("stream_options")
			c.NoObfuscation()
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
func (c *requestEncoder) ownMember(name string) string {
	json, _ := c.Req.Extra.Get(name)
	return json
}

func (c *requestEncoder) tools() {
	if len(c.Req.Tools) == 0 {
		return
	}
	w := c.W
	w.Array("tools")
	for i := range c.Req.Tools {
		t := &c.Req.Tools[i]
		if c.isFound(t) {
			continue
		}
		if t.Kind != "" || t.Namespace == "" {
			c.tool(t)
		} else if list := c.namespace(t.Namespace); len(list) > 0 {
			w.BeginObject()
			c.W.Member("type", "namespace")
			c.W.Member("name", t.Namespace)
			c.W.Member("description", "Tools of "+t.Namespace+".") // the server requires one
			w.Array("tools")
			for _, t := range list {
				c.tool(t)
			}
			w.EndArray()
			w.EndObject()
		}
	}
	w.EndArray()
}

// isFound reports whether the output of a search has a tool, so that the request need not repeat it.
func (c *requestEncoder) isFound(t *content.Tool) bool {
	return c.found[foreign.ToolReference{Namespace: t.Namespace, Name: t.Name}]
}

// namespace returns the tools of a namespace, the first time.
func (c *requestEncoder) namespace(name string) []*content.Tool {
	if c.namespaces == nil {
		c.namespaces = make(map[string][]*content.Tool)
		for i := range c.Req.Tools {
			if t := &c.Req.Tools[i]; t.Kind == "" && t.Namespace != "" && !c.isFound(t) {
				c.namespaces[t.Namespace] = append(c.namespaces[t.Namespace], t)
			}
		}
	}
	list := c.namespaces[name]
	c.namespaces[name] = nil
	return list
}

// tool writes a tool.
func (c *requestEncoder) tool(t *content.Tool) {
	w := c.W
	if t.Kind != "" {
		w.Raw(t.Raw)
		return
	}
	w.BeginObject()
	if t.Freeform {
		c.W.Member("type", "custom")
	} else {
		c.W.Member("type", "function")
	}
	c.W.Member("name", t.Name)
	c.W.OptMember("description", t.Description)
	if g := t.Grammar; t.Freeform && g != nil {
		w.Object("format")
		c.W.Member("type", "grammar")
		c.W.Member("syntax", g.Syntax)
		c.W.Member("definition", g.Definition)
		w.EndObject()
	}
	if !t.Freeform {
		w.RawMember("parameters", t.Input.JSON)
		c.Flag("strict", t.Strict)
		w.OptRawMember("output_schema", t.Output.JSON)
	}
	if t.Deferred {
		w.BoolMember("defer_loading", true)
	}
	w.EndObject()
}

// reasoning writes the effort and the summary of thinking, with the members of own.
func (c *requestEncoder) reasoning(own string) {
	effort, summary := c.Req.Effort, c.Req.Thinking.Display
	if summary == "omitted" {
		summary = ""
	}
	if effort == "" && summary == "" && own == "" {
		return
	}
	w := c.W
	w.Object("reasoning")
	c.W.OptMember("effort", effort)
	c.W.OptMember("summary", summary)
	w.Members(own)
	w.EndObject()
}

// textFormat writes the form of the response, with the members of own.
func (c *requestEncoder) textFormat(own string) {
	w, schema, verbosity := c.W, c.Req.Output.Schema.JSON, c.Req.Output.Verbosity
	if own == "" && schema == "" && !c.Req.Object && verbosity == "" {
		return
	}
	w.Object("text")
	switch {
	case schema != "":
		c.jsonSchema(schema, c.Req.Output.Strict)
	case !c.Req.Object:
	case c.Shape.ObjectForm:
		c.jsonSchema(`{"type":"object"}`, nil)
	default:
		w.RawMember("format", `{"type":"json_object"}`)
	}
	c.W.OptMember("verbosity", verbosity)
	if own != "" {
		_ = w.MembersExcept(own, func(name string) bool { return name == "verbosity" && verbosity != "" }) // was parsed before
	}
	w.EndObject()
}

func (c *requestEncoder) jsonSchema(text string, strict *bool) {
	w := c.W
	w.Object("format")
	c.W.Member("type", "json_schema")
	c.SchemaName()
	w.RawMember("schema", text)
	c.Flag("strict", strict)
	w.EndObject()
}

// encryptedReasoning asks for reasoning items that the next request can return.
const encryptedReasoning = "reasoning.encrypted_content"

// include writes the additional output to include: encrypted thinking, and the values of
// own.
func (c *requestEncoder) include(own string) {
	if !c.Shape.Encrypted && own == "" {
		return
	}
	w := c.W
	w.Array("include")
	if c.Shape.Encrypted {
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
