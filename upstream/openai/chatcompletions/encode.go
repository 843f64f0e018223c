package chatcompletions

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/partfield"
)

// A requestEncoder writes a request that was lowered for this format. It writes what the
// request says, and reports nothing.
type requestEncoder struct {
	openaiformat.Encoder
}

// write writes the document.
func (c *requestEncoder) write() {
	w, n := c.W, c.Req
	w.BeginObject()
	c.W.Member("model", c.Req.Model)
	w.Array("messages")
	c.Message(c, c.Shape.SystemRole, n.System)
	c.Turns(c)
	w.EndArray()
	c.settings()
	w.EndObject()
}

// Result writes a tool result, which is a text.
func (c *requestEncoder) Result(r *content.ToolResult) {
	c.W.BeginObject()
	c.W.Member("role", "tool")
	c.W.Member("tool_call_id", r.ID)
	c.W.Name("content")
	c.ResultContent(c, r)
	c.W.EndObject()
}

func (c *requestEncoder) Content(parts []content.Part) {
	plain := true
	for _, p := range parts {
		t, ok := p.(*content.Text)
		plain = plain && ok && t.Cache == nil
	}
	switch {
	case plain && len(parts) == 1:
		c.W.String(parts[0].(*content.Text).Text)
	case plain && c.Shape.JoinTexts:
		c.Joined(parts, "\n\n")
	default:
		c.List(c, parts)
	}
}

// Assistant writes a turn of the assistant as one message. The last one is the beginning of
// a response.
func (c *requestEncoder) Assistant(parts []content.Part, last bool) {
	w := c.W
	calls := len(parts)
	for calls > 0 {
		if _, ok := parts[calls-1].(*content.ToolUse); !ok {
			break
		}
		calls--
	}
	w.BeginObject()
	c.W.Member("role", "assistant")
	w.Name("content")
	c.assistantTexts(parts[:calls])
	if calls < len(parts) {
		c.thinking(parts[:calls])
		w.Array("tool_calls")
		for _, p := range parts[calls:] {
			writeCall(w, p.(*content.ToolUse))
		}
		w.EndArray()
	}
	if last && c.Shape.Prefix {
		w.BoolMember("prefix", true)
	}
	w.EndObject()
}

// assistantTexts writes the content of a message of the assistant, and its refusal.
func (c *requestEncoder) assistantTexts(parts []content.Part) {
	texts := parts
	if slices.ContainsFunc(parts, isRefusal) { // one pass
		texts = slices.DeleteFunc(slices.Clone(parts), isRefusal)
	}
	if !c.Joined(texts, "") {
		c.W.Null()
	}
	if len(texts) < len(parts) {
		c.W.Name("refusal")
		c.Joined(slices.DeleteFunc(slices.Clone(parts), func(p content.Part) bool { return !isRefusal(p) }), "")
	}
}

func isRefusal(p content.Part) bool {
	t, ok := p.(*content.Text)
	return ok && t.Refusal && t.Text != ""
}

func (c *requestEncoder) Part(p content.Part) {
	w := c.W
	w.BeginObject()
	switch p := p.(type) { // other kinds have been lowered to others
	case *content.Text:
		c.W.Member("type", "text")
		c.W.Member("text", p.Text)
	case *content.Image:
		c.W.Member("type", "image_url")
		w.Object("image_url")
		w.Name("url")
		c.FileURL(p.Source)
		c.Members(p.Extra)
		w.EndObject()
	case *content.Media:
		b := p.Source.(*content.Base64)
		c.W.Member("type", "input_audio")
		w.Object("input_audio")
		c.W.Member("data", openaiformat.StandardBase64(b.Data))
		c.W.Member("format", openaiformat.AudioFormats[b.MediaType])
		w.EndObject()
	case *content.Document:
		c.W.Member("type", "file")
		w.Object("file")
		c.W.Member("filename", p.Title)
		w.Name("file_data")
		c.FileURL(p.Source)
		w.EndObject()
	}
	c.CacheMark(partfield.CacheOf(p))
	w.EndObject()
}

// thinking writes the members that return the thinking of a message with tool calls.
func (c *requestEncoder) thinking(parts []content.Part) {
	var b encodedThinking
	forced := c.Shape.Returns
	for _, p := range parts {
		if t, ok := p.(*content.Thinking); ok {
			b.add(t, forced)
		} else {
			b.open = false
		}
	}
	name := b.member
	if name == "" && len(b.text) > 0 {
		name = "reasoning_content"
	}
	if forced != "" && forced != "-" {
		name = forced
	}
	if c.Shape.NoReturn {
		return
	}
	if name != "" {
		c.W.Name(name)
		c.W.JoinedString(b.text...)
	}
	if len(b.encrypted) > 0 {
		c.W.Name(encryptedName)
		c.W.JoinedString(b.encrypted...)
	}
	for i, list := range b.lists {
		if len(list) == 0 {
			continue
		}
		c.W.Array(encodedThinkingLists[i])
		for _, element := range list {
			c.W.Raw(element)
		}
		c.W.EndArray()
	}
}

// A encodedThinking is the thinking that a message with tool calls returns to the server.
type encodedThinking struct {
	member    string // of the text, or ""
	text      []string
	lists     [2][]string // raw elements of encodedThinkingLists
	encrypted []string    // chunks of encrypted_content, sent in addition to the text
	open      bool        // the last text may continue in the next block
}

// add adds a block. Its signature is the name of its member, or an object of members to
// send unchanged. forced is the member that all messages must have, or "".
func (b *encodedThinking) add(t *content.Thinking, forced string) {
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

// encodedThinkingLists are the members that return lists of thinking.
var encodedThinkingLists = [2]string{detailsName, blocksName}

// addObject adds the thinking in an object of members. It reports whether there is any,
// and whether it includes the text. Other members are ignored, since the object comes
// from a client.
func (b *encodedThinking) addObject(object string) (added, hasText bool) {
	doc, err := jsonwire.Parse(object, jsonwire.Limits{})
	if err != nil {
		return false, false
	}
	defer doc.Close()
	hasText = true
	if s := doc.Root().Get(encryptedName).Str(); s != "" {
		b.encrypted, added, hasText = append(b.encrypted, s), true, false
	}
	for i, name := range encodedThinkingLists {
		for _, v := range doc.Root().Get(name).Elems() {
			b.lists[i] = append(b.lists[i], v.Raw())
			added = true
		}
	}
	return added, hasText
}

// settings writes the members behind the messages.
func (c *requestEncoder) settings() {
	w, n := c.W, c.Req
	if n.Stream {
		w.BoolMember("stream", true)
		c.streamOptions()
	}
	c.tools()
	c.ToolChoice()
	c.W.OptMember("reasoning_effort", n.Effort)
	c.thinkingSwitch()
	c.limit()
	c.sampling()
	c.responseFormat()
	c.W.OptMember("verbosity", n.Output.Verbosity)
	c.Identity()
	if n.Extra != nil {
		_ = w.MembersExcept(n.Extra.JSON, func(name string) bool { // was parsed before
			return name == "verbosity" && n.Output.Verbosity != ""
		})
	}
}

func (c *requestEncoder) streamOptions() {
	if !c.Shape.Usage {
		return
	}
	c.W.Object("stream_options")
	c.W.BoolMember("include_usage", true)
	c.NoObfuscation()
	c.W.EndObject()
}

func (c *requestEncoder) tools() {
	if len(c.Req.Tools) == 0 {
		return
	}
	w := c.W
	w.Array("tools")
	for i := range c.Req.Tools {
		t := &c.Req.Tools[i]
		w.BeginObject()
		if t.Freeform {
			c.customTool(t)
			w.EndObject()
			continue
		}
		c.W.Member("type", "function")
		w.Object("function")
		c.W.Member("name", t.Name)
		c.W.OptMember("description", t.Description)
		w.RawMember("parameters", t.Input.JSON)
		if t.Strict != nil && *t.Strict {
			w.BoolMember("strict", true)
		}
		w.EndObject()
		c.CacheMark(t.Cache)
		w.EndObject()
	}
	w.EndArray()
}

// customTool writes the members of a free-form tool.
func (c *requestEncoder) customTool(t *content.Tool) {
	w := c.W
	c.W.Member("type", "custom")
	w.Object("custom")
	c.W.Member("name", t.Name)
	c.W.OptMember("description", t.Description)
	if g := t.Grammar; g != nil {
		w.Object("format")
		c.W.Member("type", "grammar")
		w.Object("grammar")
		c.W.Member("syntax", g.Syntax)
		c.W.Member("definition", g.Definition)
		w.EndObject()
		w.EndObject()
	}
	w.EndObject()
}

// thinkingSwitch writes the member that turns thinking on or off.
func (c *requestEncoder) thinkingSwitch() {
	if c.Req.Switch == lower.SwitchNone {
		return
	}
	w, on := c.W, c.Req.Switch == lower.SwitchOn
	w.Object(c.Shape.Thinking)
	switch {
	case c.Shape.Thinking != ThinkingObject: // templates use one of the two
		w.BoolMember("enable_thinking", on)
		w.BoolMember("thinking", on)
	case on:
		c.W.Member("type", "enabled")
	default:
		c.W.Member("type", "disabled")
	}
	w.EndObject()
}

// limit writes the limit of output tokens and the number of candidates.
func (c *requestEncoder) limit() {
	if n := c.Req.MaxTokens; n != nil {
		c.W.IntMember(c.Shape.LimitMember, *n)
	}
	if n := c.Req.Candidates; n > 1 {
		c.W.IntMember("n", int64(n))
	}
}

// sampling writes the parameters of sampling and the stop sequences.
func (c *requestEncoder) sampling() {
	n := c.Req
	c.Float("temperature", n.Temperature)
	c.Float("top_p", n.TopP)
	c.Float("presence_penalty", n.PresencePenalty)
	c.Float("frequency_penalty", n.FrequencyPenalty)
	c.Int("top_k", n.TopK)
	c.Int(c.Shape.SeedMember, n.Seed)
	if len(n.StopSequences) == 0 {
		return
	}
	c.W.Array("stop")
	for _, s := range n.StopSequences {
		c.W.String(s)
	}
	c.W.EndArray()
}

// responseFormat writes the form of the response.
func (c *requestEncoder) responseFormat() {
	w, o := c.W, &c.Req.Output
	if len(o.Modalities) > 1 || len(o.Modalities) == 1 && o.Modalities[0] != "text" {
		w.Array("modalities")
		for _, m := range o.Modalities {
			w.String(m)
		}
		w.EndArray()
	}
	switch {
	case o.Schema.JSON != "":
		w.Object("response_format")
		c.W.Member("type", "json_schema")
		w.Object("json_schema")
		c.SchemaName()
		w.RawMember("schema", o.Schema.JSON)
		c.Flag("strict", c.Req.Output.Strict)
		w.EndObject()
		w.EndObject()
	case !c.Req.Object:
	case c.Shape.ObjectForm:
		w.RawMember("response_format", `{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}`)
	default:
		w.RawMember("response_format", `{"type":"json_object"}`)
	}
}
