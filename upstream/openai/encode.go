package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
)

// A writer is the common part of chatWriter and responsesWriter.
type writer struct {
	w      *jsonwire.Writer
	req    *lower.Request
	shape  *shape
	format content.Format
	texts  []string
}

// A shape is what servers of a format differ in when they read a request, beyond what the
// request says. The members of requests are Chat Completions' unless a comment names Responses.
type shape struct {
	systemRole  string // of system text
	joinTexts   bool   // the texts of a message are one string
	markMember  string // of cache marks, or ""
	limitMember string // max_tokens or its other name
	seedMember  string
	objectForm  bool   // any JSON object is requested by a schema; both formats
	noPadding   bool   // streams are requested without padding; both formats
	usage       bool   // streams are requested with usage
	prefix      bool   // the last message may be the beginning of a response
	thinking    string // the member that turns thinking on and off, or ""
	cacheKey    string // of the conversation, or ""; both formats

	// returns is the member that returns earlier thinking, "-" for none, or "" for the one in
	// which it came. noReturn omits earlier thinking.
	returns  string
	noReturn bool

	encrypted bool // Responses: thinking is requested in the form that can be returned
	phases    bool // Responses: messages of the assistant have a phase
}

// member writes a member with a string value.
func (c *writer) member(name, value string) {
	c.w.Name(name)
	c.w.String(value)
}

// members writes the members of x. A nil x has none.
func (c *writer) members(x *content.Extra) {
	if x != nil {
		c.w.Members(x.JSON)
	}
}

// A form is what the formats write differently in a conversation.
type form interface {
	// assistant writes a turn of the assistant. last reports whether it is the last turn.
	assistant(parts []content.Part, last bool)

	// result writes the result of a tool call.
	result(r *content.ToolResult)

	// content writes the content of a message, as a string if possible: all servers accept
	// strings.
	content(parts []content.Part)

	// part writes an element of content.
	part(p content.Part)
}

// turns writes the turns. A user turn begins with the results of tool calls.
func (c *writer) turns(f form) {
	turns := c.req.Turns
	for i := range turns {
		parts := turns[i].Parts
		switch turns[i].Role {
		case content.RoleAssistant:
			f.assistant(parts, i == len(turns)-1)
		case content.RoleSystem:
			c.message(f, c.shape.systemRole, parts)
		default:
			for len(parts) > 0 {
				r, ok := parts[0].(*content.ToolResult)
				if !ok {
					break
				}
				f.result(r)
				parts = parts[1:]
			}
			c.message(f, "user", parts)
		}
	}
}

// message writes a message, unless it is empty.
func (c *writer) message(f form, role string, parts []content.Part) {
	if len(parts) == 0 {
		return
	}
	c.w.BeginObject()
	c.member("role", role)
	c.w.Name("content")
	f.content(parts)
	c.w.EndObject()
}

// resultContent writes the content of a tool result. If results can have cache marks, it is
// a list even without one: clients move their marks, and what is cached must stay the same.
func (c *writer) resultContent(f form, r *content.ToolResult) {
	switch {
	case len(r.Parts) == 0:
		c.w.String("")
	case c.shape.markMember != "":
		c.list(f, r.Parts)
	default:
		f.content(r.Parts)
	}
}

// list writes content as a list.
func (c *writer) list(f form, parts []content.Part) {
	c.w.BeginArray()
	for _, p := range parts {
		f.part(p)
	}
	c.w.EndArray()
}

// joined writes the texts among parts as one string. It writes nothing and returns false
// if there are none.
func (c *writer) joined(parts []content.Part, separator string) bool {
	c.texts = c.texts[:0]
	for _, p := range parts {
		t, ok := p.(*content.Text)
		if !ok || t.Text == "" {
			continue
		}
		if len(c.texts) > 0 && separator != "" {
			c.texts = append(c.texts, separator)
		}
		c.texts = append(c.texts, t.Text)
	}
	if len(c.texts) == 0 {
		return false
	}
	c.w.JoinedString(c.texts...)
	clear(c.texts)
	c.texts = c.texts[:0]
	return true
}

// fileURL writes the URL of a file, which may contain its bytes.
func (c *writer) fileURL(s content.Source) {
	switch s := s.(type) {
	case *content.URL:
		c.w.String(s.URL)
	case *content.Base64:
		c.w.JoinedString("data:", s.MediaType, ";base64,", toStandardBase64(s.Data))
	}
}

// cacheMark writes a cache mark, if there is one.
func (c *writer) cacheMark(m *content.Cache) {
	if m == nil {
		return
	}
	c.w.Name(c.shape.markMember)
	c.w.BeginObject()
	if c.shape.markMember == breakpoint {
		c.member("mode", "explicit")
	} else {
		c.member("type", "ephemeral")
	}
	if m.TTL != "" {
		c.member("ttl", m.TTL)
	}
	c.w.EndObject()
}

// noObfuscation turns off the padding of stream events. Padding makes equal events
// differ, which makes them slower to decode. Some servers reject the member.
func (c *writer) noObfuscation() {
	if c.shape.noPadding {
		c.w.Name("include_obfuscation")
		c.w.Bool(false)
	}
}

// float writes a number, if there is one.
func (c *writer) float(name string, v *float64) {
	if v != nil {
		c.w.Name(name)
		c.w.Float(*v)
	}
}

// int writes an integer, if there is one.
func (c *writer) int(name string, v *int64) {
	if v != nil {
		c.w.Name(name)
		c.w.Int(*v)
	}
}

// identity writes the user id, the key of the prompt cache and the service tier.
func (c *writer) identity() {
	if id := c.req.UserID; id != "" {
		c.member("safety_identifier", id)
	}
	if own, _ := c.req.Extra.Get(cacheKeyName); own == "" && c.shape.cacheKey != "" {
		c.member(cacheKeyName, c.shape.cacheKey)
	}
	if tier := c.req.ServiceTier; tier != "" {
		c.member("service_tier", tier)
	}
}

// toolChoice writes the tool choice.
func (c *writer) toolChoice() {
	choice := &c.req.Choice
	mode := ""
	switch choice.Mode {
	case content.ChoiceAuto, content.ChoiceNone:
		mode = string(choice.Mode)
	case content.ChoiceAny:
		mode = "required"
	}
	switch {
	case mode == "":
	case len(choice.Names) == 0:
		c.member("tool_choice", mode)
	default:
		c.w.Name("tool_choice")
		c.chosenTools(mode, choice.Names)
	}
	if choice.NoParallel {
		c.w.Name("parallel_tool_calls")
		c.w.Bool(false)
	}
}

// chosenTools writes a choice of tools by name.
func (c *writer) chosenTools(mode string, names []string) {
	tools := make(map[string]*content.Tool, len(c.req.Tools))
	for i := len(c.req.Tools) - 1; i >= 0; i-- { // the first tool of a name counts
		t := &c.req.Tools[i]
		if tools[t.Name] = t; t.Name == "" {
			tools[t.Kind] = t
		}
	}
	if t := tools[names[0]]; len(names) == 1 && mode == "required" && t.Kind == "" {
		c.toolRef(t)
		return
	}
	w := c.w
	w.BeginObject()
	c.member("type", "allowed_tools")
	if !c.flatToolRefs() {
		w.Name("allowed_tools")
		w.BeginObject()
	}
	c.member("mode", mode)
	w.Name("tools")
	w.BeginArray()
	for _, name := range names {
		c.toolRef(tools[name])
	}
	w.EndArray()
	if !c.flatToolRefs() {
		w.EndObject()
	}
	w.EndObject()
}

// toolRef writes a reference to a tool.
func (c *writer) toolRef(t *content.Tool) {
	w := c.w
	w.BeginObject()
	switch {
	case t.Kind != "":
		c.member("type", t.Kind)
	case c.flatToolRefs():
		c.member("type", "function")
		c.member("name", t.Name)
	default:
		c.member("type", "function")
		w.Name("function")
		w.BeginObject()
		c.member("name", t.Name)
		w.EndObject()
	}
	w.EndObject()
}

// flatToolRefs reports whether the format refers to a function without a nested object.
func (c *writer) flatToolRefs() bool { return c.format == ResponsesFormat }

// isURLSafe reports whether data uses the URL-safe base64 alphabet. The first character
// that only one alphabet has decides; it usually comes early. The rest is searched in
// chunks of 16 KiB, so that each comes from memory once.
func isURLSafe(data string) bool {
	const head = 4 << 10
	for i := range min(len(data), head) {
		switch data[i] {
		case '-', '_':
			return true
		case '+', '/':
			return false
		}
	}
	for data = data[min(len(data), head):]; len(data) > 0; {
		piece := data[:min(len(data), 16<<10)]
		if strings.IndexByte(piece, '-') >= 0 || strings.IndexByte(piece, '_') >= 0 {
			return true
		}
		data = data[len(piece):]
	}
	return false
}

// toStandardBase64 returns base64 in the standard alphabet with padding.
func toStandardBase64(data string) string {
	if isURLSafe(data) {
		data = strings.NewReplacer("-", "+", "_", "/").Replace(data)
	}
	if n := len(data) % 4; n > 1 {
		data += "=="[:4-n]
	}
	return data
}

const typePDF = "application/pdf"

func isWebURL(link string) bool {
	return strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
}
