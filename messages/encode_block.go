package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// content writes a list of parts.
func (e *encoder) content(name string, parts []content.Part, tagged bool) {
	e.W.Name(name)
	e.Path.Push(name)
	e.parts(parts, tagged)
	e.Path.Pop()
}

func (e *encoder) parts(parts []content.Part, tagged bool) {
	e.W.BeginArray()
	for i, p := range parts {
		e.Path.PushIndex(i)
		e.part(p, tagged)
		e.Path.Pop()
	}
	e.W.EndArray()
}

func (e *encoder) part(p content.Part, tagged bool) {
	if content.IsNil(p) {
		e.Violation(content.CodeMissing, "", "the part is nil")
		return
	}
	if u, ok := p.(*content.Unknown); ok {
		e.unknown(u)
		return
	}
	kind := kindOf(p)
	if kind == "" {
		e.Violation(content.CodeUnsupported, "", "a part of this kind cannot be said in the Messages format")
		return
	}
	e.W.BeginObject()
	e.Must("type", kind)
	if tagged {
		e.Path.Push(kind)
		defer e.Path.Pop()
	}
	e.fields(p)
	e.W.EndObject()
}

// kindOf returns the tag of a part's block; empty if there is none.
func kindOf(p content.Part) string {
	switch p := p.(type) {
	case *content.Text:
		return "text"
	case *content.Image:
		return "image"
	case *content.Document:
		return "document"
	case *content.Thinking:
		if p.Redacted != (content.Signature{}) {
			return "redacted_thinking"
		}
		return "thinking"
	case *content.ToolUse:
		return "tool_use"
	case *content.ToolResult:
		return "tool_result"
	case *content.SearchResult:
		return "search_result"
	case *content.ServerToolUse:
		if p.Format == Format {
			return p.Kind
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			return p.Kind
		}
	case *content.Unknown:
		if p.Format == Format {
			return p.Kind
		}
	}
	return ""
}

// unknown writes a part that is kept as JSON text.
func (e *encoder) unknown(u *content.Unknown) {
	switch {
	case u.Format != Format:
		e.Violation(content.CodeUnsupported, "", "a part of another format cannot be said in the Messages format")
	case !jsonwire.IsObject(u.Raw):
		e.Violation(content.CodeType, "", textObject)
	case e.Valid("", u.Raw):
		e.W.Raw(u.Raw)
	}
}

// fields writes the members of a block behind its type.
func (e *encoder) fields(p content.Part) {
	switch p := p.(type) {
	case *content.Text:
		e.Must("text", p.Text)
		e.citations(p)
		e.cache(p.Cache)
		e.extra(p.Extra, &textNames)
	case *content.Image:
		e.source(p.Source)
		e.cache(p.Cache)
		e.extra(p.Extra, &imageNames)
	case *content.Document:
		e.source(p.Source)
		e.Text("title", p.Title)
		e.Text("context", p.Context)
		e.citing(p.Citations, p.Extra)
		e.cache(p.Cache)
		e.extra(p.Extra, &documentNames)
	case *content.SearchResult:
		e.Must("source", p.Source)
		e.Must("title", p.Title)
		e.content("content", p.Parts, false)
		e.citing(p.Citations, p.Extra)
		e.cache(p.Cache)
		e.extra(p.Extra, &searchResultNames)
	case *content.Thinking:
		e.thought(p)
	default:
		e.toolFields(p)
	}
}

func (e *encoder) thought(p *content.Thinking) {
	if p.Redacted != (content.Signature{}) {
		e.Must("data", e.ours(p.Redacted, "data"))
		e.extra(p.Extra, &redactedNames)
		return
	}
	e.Must("thinking", p.Text)
	if p.Signature != (content.Signature{}) {
		e.Must("signature", e.ours(p.Signature, "signature"))
	}
	e.extra(p.Extra, &thinkingBlockNames)
}

// ours returns the data of a signature, which must not be another vendor's.
func (e *encoder) ours(s content.Signature, name string) string {
	if s.Format != Format && s.Data != "" {
		e.Violation(content.CodeUnsupported, name, "the signature is another vendor's")
	}
	return s.Data
}

// toolFields writes the members of calls and their results.
func (e *encoder) toolFields(p content.Part) {
	switch p := p.(type) {
	case *content.ToolUse:
		e.Must("id", p.ID)
		e.Must("name", p.Name)
		e.free("input", p.Input)
		e.cache(p.Cache)
		e.extra(p.Extra, &toolUseNames)
	case *content.ServerToolUse:
		e.Must("id", p.ID)
		e.Must("name", p.Name)
		e.free("input", p.Input)
		e.cache(p.Cache)
		e.extra(p.Extra, &serverToolUseNames)
	case *content.ToolResult:
		e.Must("tool_use_id", p.ID)
		if len(p.Parts) > 0 {
			e.content("content", p.Parts, true)
		}
		e.Flag("is_error", p.Error)
		e.cache(p.Cache)
		e.extra(p.Extra, &toolResultNames)
	case *content.ServerToolResult:
		e.Must("tool_use_id", p.ID)
		e.OptRaw("content", p.Content)
		e.cache(p.Cache)
		e.extra(p.Extra, &serverToolResNames)
	}
}

func (e *encoder) cache(c *content.Cache) {
	if c == nil {
		return
	}
	e.W.Name("cache_control")
	e.Path.Push("cache_control")
	e.W.BeginObject()
	e.Must("type", "ephemeral")
	e.Text("ttl", c.TTL)
	e.extra(c.Extra, &cacheNames)
	e.W.EndObject()
	e.Path.Pop()
}

// citing writes {"enabled": true}, with the members of its own that the Extra
// of the block keeps.
func (e *encoder) citing(on bool, x *content.Extra) {
	const name = "citations"
	rest := "" // of the members
	if doc := codec.Open(x, Format); doc != nil {
		rest = doc.Root().Get(name).Raw()
		doc.Close()
	}
	if !on && !jsonwire.IsObject(rest) {
		return
	}
	e.W.Name(name)
	e.W.BeginObject()
	if on {
		e.W.Name("enabled")
		e.W.Bool(true)
	}
	if err := e.W.MembersExcept(rest, citationsNames.Has); err != nil && rest != "" {
		e.Violation(content.CodeSyntax, name, "is not valid JSON: "+err.Error())
	}
	e.W.EndObject()
}

func (e *encoder) citations(t *content.Text) {
	if len(t.Citations) == 0 {
		return
	}
	e.W.Name("citations")
	e.Path.Push("citations")
	e.W.BeginArray()
	for i := range t.Citations {
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.citation(&t.Citations[i])
		e.W.EndObject()
		e.Path.Pop()
	}
	e.W.EndArray()
	e.Path.Pop()
}

// citation writes the members of one citation.
func (e *encoder) citation(c *content.Citation) {
	if c.Kind == "" { // all of it is in Extra
		if c.Extra == nil || c.Extra.Format != Format {
			e.Violation(content.CodeUnsupported, "", "a citation without a kind cannot be said in the Messages format")
		}
		e.extra(c.Extra, &codec.Names{})
		return
	}
	f := citeFormOf("", c.Kind)
	if f == nil {
		e.Violation(content.CodeUnsupported, "", "a citation of this kind cannot be said in the Messages format")
		return
	}
	e.Must("type", f.tag)
	e.Must("cited_text", c.Text)
	if c.Title != "" {
		e.Must(f.title, c.Title)
	} else {
		e.W.Name(f.title)
		e.W.Null()
	}
	if f.url != "" {
		e.Must(f.url, c.URL)
	}
	if f.index != "" {
		e.Int(f.index, c.Index)
		e.Int(f.start, c.Start)
		e.Int(f.end, c.End)
	}
	if f.file {
		e.Text("file_id", c.FileID)
	}
	e.extra(c.Extra, f.names)
}
