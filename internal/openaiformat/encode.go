package openaiformat

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
)

// An Encoder writes what the documents of requests have in both formats. It writes what the
// request says, and reports nothing.
type Encoder struct {
	W     *jsonwire.Writer
	Req   *lower.Request
	Shape *Shape

	// FlatToolRefs specifies that the format refers to a function without a nested object.
	FlatToolRefs bool

	texts []string
}

// A Shape is what servers of a format differ in when they read a request, beyond what the
// request says. The members of requests are Chat Completions' unless a comment names Responses.
type Shape struct {
	SystemRole  string // of system text; both formats
	JoinTexts   bool   // the texts of a message are one string
	MarkMember  string // of cache marks, or ""; both formats
	LimitMember string // max_tokens or its other name
	SeedMember  string
	ObjectForm  bool   // any JSON object is requested by a schema; both formats
	NoPadding   bool   // streams are requested without padding; both formats
	Usage       bool   // streams are requested with usage
	Prefix      bool   // the last message may be the beginning of a response
	Thinking    string // the member that turns thinking on and off, or ""
	CacheKey    string // of the conversation, or ""; both formats

	// Returns is the member that returns earlier thinking, "-" for none, or "" for the one in
	// which it came. NoReturn omits earlier thinking.
	Returns  string
	NoReturn bool

	Encrypted bool // Responses: thinking is requested in the form that can be returned
	Phases    bool // Responses: messages of the assistant have a phase
	Counting  bool // Responses: the document is for a token count, which has fewer members
}

// Members writes the members of x. A nil x has none.
func (c *Encoder) Members(x *content.Extra) {
	if x != nil {
		c.W.Members(x.JSON)
	}
}

// A Form is what the formats write differently in a conversation.
type Form interface {
	// Assistant writes a turn of the assistant. last reports whether it is the last turn.
	Assistant(parts []content.Part, last bool)

	// Result writes the result of a tool call.
	Result(r *content.ToolResult)

	// Content writes the content of a message, as a string if possible: all servers accept
	// strings.
	Content(parts []content.Part)

	// Part writes an element of content.
	Part(p content.Part)
}

// Turns writes the turns. A user turn begins with the results of tool calls.
func (c *Encoder) Turns(f Form) {
	turns := c.Req.Turns
	for i := range turns {
		parts := turns[i].Parts
		switch turns[i].Role {
		case content.RoleAssistant:
			f.Assistant(parts, i == len(turns)-1)
		case content.RoleSystem:
			c.Message(f, c.Shape.SystemRole, parts)
		default:
			for len(parts) > 0 {
				r, ok := parts[0].(*content.ToolResult)
				if !ok {
					break
				}
				f.Result(r)
				parts = parts[1:]
			}
			c.Message(f, "user", parts)
		}
	}
}

// Message writes a message, unless it is empty.
func (c *Encoder) Message(f Form, role string, parts []content.Part) {
	if len(parts) == 0 {
		return
	}
	c.W.BeginObject()
	c.W.Member("role", role)
	c.W.Name("content")
	f.Content(parts)
	c.W.EndObject()
}

// ResultContent writes the content of a tool result. If results can have cache marks, it is
// a list even without one: clients move their marks, and what is cached must stay the same.
func (c *Encoder) ResultContent(f Form, r *content.ToolResult) {
	switch {
	case len(r.Parts) == 0:
		c.W.String("")
	case c.Shape.MarkMember != "":
		c.List(f, r.Parts)
	default:
		f.Content(r.Parts)
	}
}

// List writes content as a list.
func (c *Encoder) List(f Form, parts []content.Part) {
	c.W.BeginArray()
	for _, p := range parts {
		f.Part(p)
	}
	c.W.EndArray()
}

// Joined writes the texts among parts as one string. It writes nothing and returns false
// if there are none.
func (c *Encoder) Joined(parts []content.Part, separator string) bool {
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
	c.W.JoinedString(c.texts...)
	clear(c.texts)
	c.texts = c.texts[:0]
	return true
}

// FileURL writes the URL of a file, which may contain its bytes.
func (c *Encoder) FileURL(s content.Source) {
	switch s := s.(type) {
	case *content.URL:
		c.W.String(s.URL)
	case *content.Base64:
		c.W.JoinedString("data:", s.MediaType, ";base64,", StandardBase64(s.Data))
	}
}

// The members of cache marks.
const (
	Breakpoint   = "prompt_cache_breakpoint" // of the vendor
	CacheControl = "cache_control"           // as in Messages
)

// CacheMark writes a cache mark, if there is one.
func (c *Encoder) CacheMark(m *content.Cache) {
	if m == nil {
		return
	}
	c.W.Object(c.Shape.MarkMember)
	if c.Shape.MarkMember == Breakpoint {
		c.W.Member("mode", "explicit")
	} else {
		c.W.Member("type", "ephemeral")
	}
	c.W.OptMember("ttl", m.TTL)
	c.W.EndObject()
}

// SchemaName writes the name and the description of the schema of the response.
func (c *Encoder) SchemaName() {
	c.W.Member("name", cmp.Or(c.Req.Output.Name, "answer"))
	c.W.OptMember("description", c.Req.Output.Description)
}

// NoObfuscation turns off the padding of stream events. Padding makes equal events
// differ, which makes them slower to decode. Some servers reject the member.
func (c *Encoder) NoObfuscation() {
	if c.Shape.NoPadding {
		c.W.BoolMember("include_obfuscation", false)
	}
}

// Float writes a number, if there is one.
func (c *Encoder) Float(name string, v *float64) {
	if v != nil {
		c.W.Name(name)
		c.W.Float(*v)
	}
}

// Flag writes a member if v is not nil.
func (c *Encoder) Flag(name string, v *bool) {
	if v != nil {
		c.W.BoolMember(name, *v)
	}
}

// Int writes an integer, if there is one.
func (c *Encoder) Int(name string, v *int64) {
	if v != nil {
		c.W.IntMember(name, *v)
	}
}

// CacheKeyName is the member with the key of the prompt cache.
const CacheKeyName = "prompt_cache_key"

// Identity writes the user id, the key of the prompt cache and the service tier.
func (c *Encoder) Identity() {
	c.W.OptMember("safety_identifier", c.Req.UserID)
	if own, _ := c.Req.Extra.Get(CacheKeyName); own == "" && c.Shape.CacheKey != "" {
		c.W.Member(CacheKeyName, c.Shape.CacheKey)
	}
	c.W.OptMember("service_tier", c.Req.ServiceTier)
}

// ToolChoice writes the tool choice.
func (c *Encoder) ToolChoice() {
	choice := &c.Req.Choice
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
		c.W.Member("tool_choice", mode)
	default:
		c.W.Name("tool_choice")
		c.chosenTools(mode, choice.Names)
	}
	if choice.NoParallel {
		c.W.BoolMember("parallel_tool_calls", false)
	}
}

// chosenTools writes a choice of tools by name.
func (c *Encoder) chosenTools(mode string, names []string) {
	tools := make(map[string]*content.Tool, len(c.Req.Tools))
	for i := len(c.Req.Tools) - 1; i >= 0; i-- { // the first tool of a name counts
		t := &c.Req.Tools[i]
		if tools[t.Name] = t; t.Name == "" {
			tools[t.Kind] = t
		}
	}
	if t := tools[names[0]]; len(names) == 1 && mode == "required" && t.Kind == "" {
		c.toolRef(t)
		return
	}
	w := c.W
	w.BeginObject()
	c.W.Member("type", "allowed_tools")
	if !c.FlatToolRefs {
		w.Object("allowed_tools")
	}
	c.W.Member("mode", mode)
	w.Array("tools")
	for _, name := range names {
		c.toolRef(tools[name])
	}
	w.EndArray()
	if !c.FlatToolRefs {
		w.EndObject()
	}
	w.EndObject()
}

// toolRef writes a reference to a tool.
func (c *Encoder) toolRef(t *content.Tool) {
	w, kind := c.W, "function"
	if t.Freeform {
		kind = "custom"
	}
	w.BeginObject()
	switch {
	case t.Kind != "":
		c.W.Member("type", t.Kind)
	case c.FlatToolRefs:
		c.W.Member("type", kind)
		c.W.Member("name", t.Name)
	default:
		c.W.Member("type", kind)
		w.Object(kind)
		c.W.Member("name", t.Name)
		w.EndObject()
	}
	w.EndObject()
}
