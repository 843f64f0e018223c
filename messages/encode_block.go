package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// content writes a list of parts, or the one text that was written as a plain
// string, if it still is no more than that.
func (e *encoder) content(name string, parts []content.Part, tagged bool) {
	e.w.Name(name)
	if t := onlyText(parts); t != nil && e.plain[t] && plain(t) {
		e.w.String(t.Text)
		return
	}
	e.path.push(name)
	e.parts(parts, tagged)
	e.path.pop()
}

// plain reports whether a plain string says all that t says.
func plain(t *content.Text) bool {
	return len(t.Citations) == 0 && t.Cache == nil && (t.Extra == nil || t.Extra.Format != Format)
}

func (e *encoder) parts(parts []content.Part, tagged bool) {
	e.w.BeginArray()
	for i, p := range parts {
		e.path.pushIndex(i)
		e.part(p, tagged)
		e.path.pop()
	}
	e.w.EndArray()
}

func (e *encoder) part(p content.Part, tagged bool) {
	if content.IsNil(p) {
		e.fault(content.CodeMissing, "", "the part is nil")
		return
	}
	if u, ok := p.(*content.Unknown); ok {
		e.unknown(u)
		return
	}
	kind := kindOf(p)
	if kind == "" {
		e.fault(content.CodeUnsupported, "", "a part of this kind cannot be said in the Messages format")
		return
	}
	e.w.BeginObject()
	e.must("type", kind)
	if tagged {
		e.path.push(kind)
		defer e.path.pop()
	}
	e.fields(p)
	e.w.EndObject()
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
		e.fault(content.CodeUnsupported, "", "a part of another format cannot be said in the Messages format")
	case !jsonwire.IsObject(u.Raw):
		e.fault(content.CodeType, "", textObject)
	case e.valid("", u.Raw):
		e.w.Raw(u.Raw)
	}
}

// fields writes the members of a block behind its type.
func (e *encoder) fields(p content.Part) {
	switch p := p.(type) {
	case *content.Text:
		e.must("text", p.Text)
		e.citations(p)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &textNames)
	case *content.Image:
		e.source(p.Source)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &imageNames)
	case *content.Document:
		e.source(p.Source)
		e.optText(p, "title", p.Title)
		e.optText(p, "context", p.Context)
		e.citing(p, p.Citations, p.Extra)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &documentNames)
	case *content.SearchResult:
		e.must("source", p.Source)
		e.must("title", p.Title)
		e.content("content", p.Parts, false)
		e.citing(p, p.Citations, p.Extra)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &searchResultNames)
	case *content.Thinking:
		e.thought(p)
	default:
		e.toolFields(p)
	}
}

func (e *encoder) thought(p *content.Thinking) {
	if p.Redacted != (content.Signature{}) {
		e.must("data", e.ours(p.Redacted, "data"))
		e.extra(p, p.Extra, &redactedNames)
		return
	}
	e.must("thinking", p.Text)
	e.must("signature", e.ours(p.Signature, "signature"))
	e.extra(p, p.Extra, &thinkingBlockNames)
}

// ours returns the data of a signature, which must not be another vendor's.
func (e *encoder) ours(s content.Signature, name string) string {
	if s.Format != Format && s.Data != "" {
		e.fault(content.CodeUnsupported, name, "the signature is another vendor's")
	}
	return s.Data
}

// toolFields writes the members of calls and their results.
func (e *encoder) toolFields(p content.Part) {
	switch p := p.(type) {
	case *content.ToolUse:
		e.must("id", p.ID)
		e.must("name", p.Name)
		e.free("input", p.Input)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &toolUseNames)
	case *content.ServerToolUse:
		e.must("id", p.ID)
		e.must("name", p.Name)
		e.free("input", p.Input)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &serverToolUseNames)
	case *content.ToolResult:
		e.must("tool_use_id", p.ID)
		if len(p.Parts) > 0 {
			e.content("content", p.Parts, true)
		} else {
			e.asNoted(p, "content")
		}
		e.optFlag(p, "is_error", p.Error)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &toolResultNames)
	case *content.ServerToolResult:
		e.must("tool_use_id", p.ID)
		e.optRaw(p, "content", p.Content)
		e.cache(p, p.Cache)
		e.extra(p, p.Extra, &serverToolResNames)
	}
}

func (e *encoder) cache(node any, c *content.Cache) {
	if c == nil {
		e.asNoted(node, "cache_control")
		return
	}
	e.w.Name("cache_control")
	e.path.push("cache_control")
	e.w.BeginObject()
	e.must("type", "ephemeral")
	e.optText(c, "ttl", c.TTL)
	e.extra(c, c.Extra, &cacheNames)
	e.w.EndObject()
	e.path.pop()
}

// citing writes {"enabled": true}, with the members of its own that the Extra
// of the block keeps.
func (e *encoder) citing(node any, on bool, x *content.Extra) {
	const name = "citations"
	if raw := e.notes[noteKey{node, name}]; !on && raw != "" {
		e.asNoted(node, name)
		return
	}
	rest := "" // of the members
	if x != nil && x.Format == Format {
		if doc, err := jsonwire.Parse(x.JSON, anyDocument); err == nil {
			rest = doc.Root().Get(name).Raw()
			doc.Close()
		}
	}
	if !on && !jsonwire.IsObject(rest) {
		return
	}
	e.w.Name(name)
	e.w.BeginObject()
	if on {
		e.w.Name("enabled")
		e.w.Bool(true)
	}
	if err := e.w.MembersExcept(rest, citationsNames.has); err != nil && rest != "" {
		e.fault(content.CodeSyntax, name, "is not valid JSON: "+err.Error())
	}
	e.w.EndObject()
}

func (e *encoder) citations(t *content.Text) {
	if len(t.Citations) == 0 {
		e.asNoted(t, "citations")
		return
	}
	e.w.Name("citations")
	e.path.push("citations")
	e.w.BeginArray()
	for i := range t.Citations {
		e.path.pushIndex(i)
		e.w.BeginObject()
		e.citation(&t.Citations[i])
		e.w.EndObject()
		e.path.pop()
	}
	e.w.EndArray()
	e.path.pop()
}

// citation writes the members of one citation.
func (e *encoder) citation(c *content.Citation) {
	if c.Kind == "" { // all of it is in Extra
		if c.Extra == nil || c.Extra.Format != Format {
			e.fault(content.CodeUnsupported, "", "a citation without a kind cannot be said in the Messages format")
		}
		e.extra(c, c.Extra, &names{})
		return
	}
	f := citeFormOf("", c.Kind)
	if f == nil {
		e.fault(content.CodeUnsupported, "", "a citation of this kind cannot be said in the Messages format")
		return
	}
	e.must("type", f.tag)
	e.must("cited_text", c.Text)
	if _, noted := e.notes[noteKey{c, f.title}]; noted || c.Title != "" {
		e.optText(c, f.title, c.Title)
	} else {
		e.w.Name(f.title)
		e.w.Null()
	}
	if f.url != "" {
		e.must(f.url, c.URL)
	}
	if f.index != "" {
		e.integer(c, f.index, c.Index)
		e.integer(c, f.start, c.Start)
		e.integer(c, f.end, c.End)
	}
	if f.file {
		e.optText(c, "file_id", c.FileID)
	}
	e.extra(c, c.Extra, f.names)
}
