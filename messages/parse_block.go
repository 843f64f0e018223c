package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// deepestPart is how far parts in parts are read; the format itself has three
// levels. Deeper ones stay as they are.
const deepestPart = 16

// content reads a list of blocks, or a string, which becomes one text. An empty
// string becomes no parts, as an empty list does. Paths include the tags of blocks
// if tagged is set.
func (p *parser) content(v jsonwire.Value, name string, tagged bool) []content.Part {
	switch v.Kind() {
	case jsonwire.String:
		if v.Is("") || !p.quota.Parts(1) {
			return nil
		}
		t := p.texts.New(p.size)
		t.Text = v.Str()
		return append(p.lists.List(1, p.size), t)
	case jsonwire.Array:
		if v.Len() == 0 {
			return nil
		}
		p.path.Push(name)
		list := p.parts(v, tagged)
		p.path.Pop()
		return list
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textList)
	}
	return nil
}

// parts reads a list of blocks.
func (p *parser) parts(v jsonwire.Value, tagged bool) []content.Part {
	if !p.quota.Parts(v.Len()) {
		return nil
	}
	list := p.lists.List(v.Len(), p.size)
	p.depth++
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		list = append(list, p.block(x, tagged))
		p.path.Pop()
	}
	p.depth--
	return list
}

// block reads one block. It never returns nil: what is no block keeps its
// place as an Unknown without a kind.
func (p *parser) block(v jsonwire.Value, tagged bool) content.Part {
	kind, ok := p.tag(v)
	switch {
	case !ok && p.violations.Len() > content.MaxViolations:
		// Very many that are nothing must not take very much memory.
		if p.nothing == nil {
			p.nothing = p.unknown(v, "")
		}
		return p.nothing
	case !ok || p.depth > deepestPart:
		return p.unknown(v, kind)
	}
	if tagged {
		p.path.Push(codec.Clip(kind))
		defer p.path.Pop()
	}
	switch kind {
	case "text":
		return p.textBlock(v)
	case "tool_use":
		return p.toolUse(v)
	case "tool_result":
		return p.toolResult(v)
	case "thinking":
		return p.thinkingBlock(v)
	case "image":
		return p.image(v)
	case "document":
		return p.document(v)
	case "search_result":
		return p.searchResult(v)
	case "redacted_thinking":
		return p.redacted(v)
	case "server_tool_use", "mcp_tool_use":
		return p.serverToolUse(v, kind)
	}
	if serverResult(kind) {
		return p.serverToolResult(v, kind)
	}
	if otherBlock(kind) {
		p.lookAlikes(v, &otherBlockNames)
	}
	return p.unknown(v, kind)
}

// unknown keeps a block as it is.
func (p *parser) unknown(v jsonwire.Value, kind string) content.Part {
	u := p.unknowns.New(1)
	u.Format, u.Kind, u.Raw = Format, kind, v.Raw()
	return u
}

// serverResult reports whether kind is what one of the vendor's own tools
// gives back.
func serverResult(kind string) bool {
	switch kind {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
		"tool_search_tool_result", "mcp_tool_result":
		return true
	}
	return false
}

// otherBlock reports whether kind is one of the format's that has no part of
// its own.
func otherBlock(kind string) bool {
	switch kind {
	case "container_upload", "tool_reference", "browser_state", "mcp_tool_listing", "compaction", "fallback",
		"advisor_tool_result", "tool_addition", "tool_removal":
		return true
	}
	return false
}

// tag reads the "type" of a member of a union. It may stand anywhere in the
// object: some clients write it last.
func (p *parser) tag(v jsonwire.Value) (string, bool) {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", textObject)
		return "", false
	}
	t := v.Get("type")
	switch {
	case !t.Exists():
		p.violation(content.CodeMissing, "type", textRequired)
	case t.Kind() != jsonwire.String:
		p.violation(content.CodeType, "type", textString)
	case t.Is(""):
		p.violation(content.CodeValue, "type", textNotEmpty)
	default:
		return t.Str(), true
	}
	return "", false
}

func (p *parser) textBlock(v jsonwire.Value) content.Part {
	t, more := p.texts.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "text":
			t.Text = p.text(x, name)
		case "citations":
			t.Citations = p.citations(x)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Text == "" {
		p.need(v, "text")
		p.markUnread(t, v.Get("text"))
	}
	if more > 0 {
		t.Extra = p.extra(v, &textNames)
	}
	return t
}

// markUnread marks a part if v, the value of one of its fields, is not a string. At
// most as many are marked as there are violations that are not only counted.
func (p *parser) markUnread(part content.Part, v jsonwire.Value) {
	if o := p.origin; o != nil && v.Kind() != jsonwire.String && len(o.unread) < content.MaxViolations {
		o.unread = append(o.unread, part)
	}
}

func (p *parser) toolUse(v jsonwire.Value) content.Part {
	t, more := p.calls.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "id":
			t.ID = p.text(x, name)
		case "name":
			t.Name = p.text(x, name)
		case "input":
			t.Input = p.free(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	p.needCall(v, t.ID, t.Name, t.Input)
	if more > 0 {
		t.Extra = p.extra(v, &toolUseNames)
	}
	return t
}

// needCall reports what a call lacks.
func (p *parser) needCall(v jsonwire.Value, id, name, input string) {
	if id == "" {
		p.need(v, "id")
	}
	if name == "" {
		p.need(v, "name")
	}
	if input == "" {
		p.need(v, "input")
	}
}

func (p *parser) serverToolUse(v jsonwire.Value, kind string) content.Part {
	t, more := &content.ServerToolUse{Format: Format, Kind: kind}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "id":
			t.ID = p.text(x, name)
		case "name":
			t.Name = p.text(x, name)
		case "input":
			t.Input = p.free(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	p.needCall(v, t.ID, t.Name, t.Input)
	if more > 0 {
		t.Extra = p.extra(v, &serverToolUseNames)
	}
	return t
}

func (p *parser) toolResult(v jsonwire.Value) content.Part {
	t, more := p.results.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "tool_use_id":
			t.ID = p.text(x, name)
		case "content":
			t.Parts = p.content(x, name, true)
		case "is_error":
			t.Error = p.flag(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.ID == "" {
		p.need(v, "tool_use_id")
	}
	if more > 0 {
		t.Extra = p.extra(v, &toolResultNames)
	}
	return t
}

func (p *parser) serverToolResult(v jsonwire.Value, kind string) content.Part {
	t, more := &content.ServerToolResult{Format: Format, Kind: kind}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "tool_use_id":
			t.ID = p.text(x, name)
		case "content":
			t.Content = x.Raw()
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.ID == "" {
		p.need(v, "tool_use_id")
	}
	if t.Content == "" && kind != "mcp_tool_result" {
		p.need(v, "content")
	}
	if more > 0 {
		t.Extra = p.extra(v, &serverToolResNames)
	}
	return t
}

// thinkingBlock reads a block of thinking. Clients return some without the
// signature: then it has no Format.
func (p *parser) thinkingBlock(v jsonwire.Value) content.Part {
	t, more := p.thoughts.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "thinking":
			t.Text = p.text(x, name)
		case "signature":
			t.Signature = content.Signature{Format: Format, Data: p.text(x, name)}
			p.markUnread(t, x)
		default:
			more++
		}
	}
	if t.Text == "" {
		p.need(v, "thinking")
	}
	if more > 0 {
		t.Extra = p.extra(v, &thinkingBlockNames)
	}
	return t
}

func (p *parser) redacted(v jsonwire.Value) content.Part {
	t, more := p.thoughts.New(p.size), 0
	t.Redacted.Format = Format
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "data":
			t.Redacted.Data = p.text(x, name)
		default:
			more++
		}
	}
	if t.Redacted.Data == "" {
		p.need(v, "data")
	}
	if more > 0 {
		t.Extra = p.extra(v, &redactedNames)
	}
	return t
}
