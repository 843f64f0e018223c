package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
)

// A chatWriter writes a request that was lowered for Chat Completions. It writes what the
// request says, and reports nothing.
type chatWriter struct {
	writer
}

// write writes the document.
func (c *chatWriter) write() {
	w, n := c.w, c.req
	w.BeginObject()
	c.member("model", c.req.Model)
	w.Name("messages")
	w.BeginArray()
	c.message(c, c.shape.systemRole, n.System)
	c.turns(c)
	w.EndArray()
	c.settings()
	w.EndObject()
}

// result writes a tool result, which is a text.
func (c *chatWriter) result(r *content.ToolResult) {
	c.w.BeginObject()
	c.member("role", "tool")
	c.member("tool_call_id", r.ID)
	c.w.Name("content")
	c.resultContent(c, r)
	c.w.EndObject()
}

func (c *chatWriter) content(parts []content.Part) {
	plain := true
	for _, p := range parts {
		t, ok := p.(*content.Text)
		plain = plain && ok && t.Cache == nil
	}
	switch {
	case plain && len(parts) == 1:
		c.w.String(parts[0].(*content.Text).Text)
	case plain && c.shape.joinTexts:
		c.joined(parts, "\n\n")
	default:
		c.list(c, parts)
	}
}

// assistant writes a turn of the assistant as one message. The last one is the beginning of
// a response.
func (c *chatWriter) assistant(parts []content.Part, last bool) {
	w := c.w
	calls := len(parts)
	for calls > 0 {
		if _, ok := parts[calls-1].(*content.ToolUse); !ok {
			break
		}
		calls--
	}
	w.BeginObject()
	c.member("role", "assistant")
	w.Name("content")
	if !c.joined(parts[:calls], "") {
		w.Null()
	}
	if calls < len(parts) {
		c.thinking(parts[:calls])
		w.Name("tool_calls")
		w.BeginArray()
		for _, p := range parts[calls:] {
			c.toolCall(p.(*content.ToolUse))
		}
		w.EndArray()
	}
	if last && c.shape.prefix {
		w.Name("prefix")
		w.Bool(true)
	}
	w.EndObject()
}

func (c *chatWriter) toolCall(p *content.ToolUse) {
	w := c.w
	w.BeginObject()
	c.member("id", p.ID)
	c.member("type", "function")
	w.Name("function")
	w.BeginObject()
	c.member("name", p.Name)
	c.member("arguments", p.Input)
	w.EndObject()
	w.EndObject()
}

func (c *chatWriter) part(p content.Part) {
	w := c.w
	w.BeginObject()
	var cache *content.Cache
	switch p := p.(type) { // other kinds have been lowered to others
	case *content.Text:
		c.member("type", "text")
		c.member("text", p.Text)
		cache = p.Cache
	case *content.Image:
		c.member("type", "image_url")
		w.Name("image_url")
		w.BeginObject()
		w.Name("url")
		c.fileURL(p.Source)
		c.members(p.Extra)
		w.EndObject()
		cache = p.Cache
	case *content.Media:
		b := p.Source.(*content.Base64)
		c.member("type", "input_audio")
		w.Name("input_audio")
		w.BeginObject()
		c.member("data", toStandardBase64(b.Data))
		c.member("format", audioFormats[b.MediaType])
		w.EndObject()
		cache = p.Cache
	case *content.Document:
		c.member("type", "file")
		w.Name("file")
		w.BeginObject()
		c.member("filename", p.Title)
		w.Name("file_data")
		c.fileURL(p.Source)
		w.EndObject()
		cache = p.Cache
	}
	c.cacheMark(cache)
	w.EndObject()
}

// audioFormats maps media types to the formats of input_audio.
var audioFormats = map[string]string{"audio/wav": "wav", "audio/mp3": "mp3"}

// thinking writes the members that return the thinking of a message with tool calls.
func (c *chatWriter) thinking(parts []content.Part) {
	var b replay
	forced := c.shape.returns
	for _, p := range parts {
		if t, ok := p.(*content.Thinking); ok {
			b.add(t, forced)
		} else {
			b.open = false
		}
	}
	name := b.member
	if forced != "" && forced != "-" {
		name = forced
	}
	if c.shape.noReturn {
		return
	}
	if name != "" {
		c.w.Name(name)
		c.w.JoinedString(b.text...)
	}
	if len(b.encrypted) > 0 {
		c.w.Name(encryptedName)
		c.w.JoinedString(b.encrypted...)
	}
	for i, list := range b.lists {
		if len(list) == 0 {
			continue
		}
		c.w.Name(thinkingLists[i])
		c.w.BeginArray()
		for _, element := range list {
			c.w.Raw(element)
		}
		c.w.EndArray()
	}
}

// A replay is the thinking that a message with tool calls returns to the server.
type replay struct {
	member    string // of the text, or ""
	text      []string
	lists     [2][]string // raw elements of thinkingLists
	encrypted []string    // chunks of encrypted_content, sent in addition to the text
	open      bool        // the last text may continue in the next block
}

// add adds a block. Its signature is the name of its member, or an object of members to
// send unchanged. forced is the member that all messages must have, or "".
func (b *replay) add(t *content.Thinking, forced string) {
	s := t.Signature
	if t.Redacted.Data != "" {
		s = t.Redacted
	}
	switch {
	case s.Data == "" || forced != "":
	case s.Data[0] == '{':
		if added, hasText := b.addObject(s.Data); hasText || !added {
			return
		}
		b.member = "reasoning_content"
	default:
		b.member = s.Data
	}
	if t.Text == "" {
		return
	}
	if len(b.text) > 0 && !b.open {
		b.text = append(b.text, "\n\n")
	}
	b.text, b.open = append(b.text, t.Text), s.Data == "" // signed thinking is complete
}

// thinkingLists are the members that return lists of thinking.
var thinkingLists = [2]string{detailsName, blocksName}

// addObject adds the thinking in an object of members. It reports whether there is any,
// and whether it includes the text. Other members are ignored, since the object comes
// from a client.
func (b *replay) addObject(object string) (added, hasText bool) {
	doc, err := jsonwire.Parse(object, jsonwire.Limits{})
	if err != nil {
		return false, false
	}
	defer doc.Close()
	hasText = true
	if s := doc.Root().Get(encryptedName).Str(); s != "" {
		b.encrypted, added, hasText = append(b.encrypted, s), true, false
	}
	for i, name := range thinkingLists {
		for _, v := range doc.Root().Get(name).Elems() {
			b.lists[i] = append(b.lists[i], v.Raw())
			added = true
		}
	}
	return added, hasText
}

// settings writes the members behind the messages.
func (c *chatWriter) settings() {
	w, n := c.w, c.req
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		c.streamOptions()
	}
	c.tools()
	c.toolChoice()
	if n.Effort != "" {
		c.member("reasoning_effort", n.Effort)
	}
	c.thinkingSwitch()
	c.limit()
	c.sampling()
	c.responseFormat()
	c.identity()
	c.members(n.Extra)
}

func (c *chatWriter) streamOptions() {
	if !c.shape.usage {
		return
	}
	c.w.Name("stream_options")
	c.w.BeginObject()
	c.w.Name("include_usage")
	c.w.Bool(true)
	c.noObfuscation()
	c.w.EndObject()
}

func (c *chatWriter) tools() {
	if len(c.req.Tools) == 0 {
		return
	}
	w := c.w
	w.Name("tools")
	w.BeginArray()
	for i := range c.req.Tools {
		t := &c.req.Tools[i]
		w.BeginObject()
		c.member("type", "function")
		w.Name("function")
		w.BeginObject()
		c.member("name", t.Name)
		if t.Description != "" {
			c.member("description", t.Description)
		}
		w.Name("parameters")
		w.Raw(t.Input.JSON)
		if t.Strict != nil && *t.Strict {
			w.Name("strict")
			w.Bool(true)
		}
		w.EndObject()
		w.EndObject()
	}
	w.EndArray()
}

// maxDescription is the limit of some models in characters.
const maxDescription = 1024

// thinkingSwitch writes the member that turns thinking on or off.
func (c *chatWriter) thinkingSwitch() {
	if c.req.Switch == lower.SwitchNone {
		return
	}
	w, on := c.w, c.req.Switch == lower.SwitchOn
	w.Name(c.shape.thinking)
	w.BeginObject()
	switch {
	case c.shape.thinking != thinkingObject: // templates use one of the two
		w.Name("enable_thinking")
		w.Bool(on)
		w.Name("thinking")
		w.Bool(on)
	case on:
		c.member("type", "enabled")
	default:
		c.member("type", "disabled")
	}
	w.EndObject()
}

// limit writes the limit of output tokens and the number of candidates.
func (c *chatWriter) limit() {
	if n := c.req.MaxTokens; n != nil {
		c.w.Name(c.shape.limitMember)
		c.w.Int(*n)
	}
	if n := c.req.Candidates; n > 1 {
		c.w.Name("n")
		c.w.Int(int64(n))
	}
}

// sampling writes the parameters of sampling and the stop sequences.
func (c *chatWriter) sampling() {
	n := c.req
	c.float("temperature", n.Temperature)
	c.float("top_p", n.TopP)
	c.float("presence_penalty", n.PresencePenalty)
	c.float("frequency_penalty", n.FrequencyPenalty)
	c.int("top_k", n.TopK)
	c.int(c.shape.seedMember, n.Seed)
	if len(n.StopSequences) == 0 {
		return
	}
	c.w.Name("stop")
	c.w.BeginArray()
	for _, s := range n.StopSequences {
		c.w.String(s)
	}
	c.w.EndArray()
}

// responseFormat writes the form of the response.
func (c *chatWriter) responseFormat() {
	w, o := c.w, &c.req.Output
	if len(o.Modalities) > 1 || len(o.Modalities) == 1 && o.Modalities[0] != "text" {
		w.Name("modalities")
		w.BeginArray()
		for _, m := range o.Modalities {
			w.String(m)
		}
		w.EndArray()
	}
	switch {
	case o.Schema.JSON != "":
		w.Name("response_format")
		w.BeginObject()
		c.member("type", "json_schema")
		w.Name("json_schema")
		w.BeginObject()
		c.member("name", "answer")
		w.Name("schema")
		w.Raw(o.Schema.JSON)
		w.Name("strict")
		w.Bool(c.req.Strict)
		w.EndObject()
		w.EndObject()
	case !c.req.Object:
	case c.shape.objectForm:
		w.Name("response_format")
		w.Raw(`{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}`)
	default:
		w.Name("response_format")
		w.Raw(`{"type":"json_object"}`)
	}
}
