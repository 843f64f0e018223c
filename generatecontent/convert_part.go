package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
)

// parts converts a list of parts and reports whether it is another list now.
func (c *converter) parts(parts []content.Part, role content.Role) (list []content.Part, changed bool) {
	l := partList{from: parts, to: parts[:0]}
	for i, p := range parts {
		if p == envelope.Removed {
			l.change()
			continue
		}
		c.path.PushIndex(i)
		one, more := c.part(p, role)
		c.path.Pop()
		if one == p && len(more) == 0 {
			l.keep(i)
			continue
		}
		l.change()
		if one != nil {
			l.add(one)
		}
		l.add(more...)
	}
	return l.list()
}

// part returns p, another part instead, or nil if p cannot be said; more are
// parts that come behind another one. A part that is nil stays: the encoder
// tells.
func (c *converter) part(p content.Part, role content.Role) (one content.Part, more []content.Part) {
	if content.IsNil(p) {
		return p, nil
	}
	if role == content.RoleSystem {
		switch q := p.(type) {
		case *content.Text:
		case *content.Unknown:
			return c.vendors(p, q.Format), nil
		default:
			c.lost(systemFile)
			return nil, nil
		}
	}
	switch q := p.(type) {
	case *content.Text:
		return c.plain(q), nil
	case *content.Image:
		return c.imagePart(q), nil
	case *content.Document:
		return c.document(q)
	case *content.Media:
		return c.mediaPart(q), nil
	case *content.Thinking:
		return c.thought(q), nil
	case *content.ToolUse:
		c.marks(q.Signature, q.Cache, q.Extra)
		return p, nil
	case *content.ToolResult:
		return c.result(q)
	case *content.SearchResult:
		return c.found(q)
	case *content.ServerToolUse:
		return c.vendors(p, q.Format), nil
	case *content.ServerToolResult:
		return c.vendors(p, q.Format), nil
	case *content.Unknown:
		return c.vendors(p, q.Format), nil
	}
	c.lost(codec.ForeignPart)
	return nil, nil
}

// imagePart returns an image with a source that can be said, or none.
func (c *converter) imagePart(p *content.Image) content.Part {
	c.marks(p.Signature, p.Cache, p.Extra)
	switch s := c.source(p.Source, "image/jpeg"); s {
	case p.Source:
		return p
	case nil:
		return nil
	default:
		copied := *p
		copied.Source = s
		return &copied
	}
}

// mediaPart is imagePart for sound and pictures that move.
func (c *converter) mediaPart(p *content.Media) content.Part {
	c.marks(p.Signature, p.Cache, p.Extra)
	switch s := c.source(p.Source, ""); s {
	case p.Source:
		return p
	case nil:
		return nil
	default:
		copied := *p
		copied.Source = s
		return &copied
	}
}

// vendors returns a part that only the vendor of f understands, or none if that
// is another format.
func (c *converter) vendors(p content.Part, f content.Format) content.Part {
	if f == Format {
		return p
	}
	c.lost(codec.ForeignPart)
	return nil
}

// marks reports what stands beside a part and is not this format's.
func (c *converter) marks(s content.Signature, m *content.Cache, x *content.Extra) {
	if s.Data != "" && s.Format != Format {
		c.lost(codec.ForeignSignature, "signature")
	}
	c.cache(m)
	c.foreign(x)
}

// plain converts a text. One that says nothing is refused by the vendor beside
// other parts, unless it is signed.
func (c *converter) plain(p *content.Text) content.Part {
	c.marks(p.Signature, p.Cache, p.Extra)
	if len(p.Citations) > 0 {
		c.lost(earlierCitations, "citations")
	}
	if c.empty { // the vendor accepts an empty message
		c.empty = false
		return p
	}
	if p.Text == "" && (p.Signature.Data == "" || p.Signature.Format != Format) {
		c.lost(emptyText)
		return nil
	}
	return p
}

// thought keeps what this vendor has signed, or nobody. Others are of no use
// to it.
func (c *converter) thought(p *content.Thinking) content.Part {
	switch {
	case p.Redacted != (content.Signature{}), p.Signature.Data != "" && p.Signature.Format != Format:
		c.lost(foreignThought)
		return nil
	case p.Text == "" && p.Signature.Data == "":
		c.lost(emptyText)
		return nil
	}
	c.foreign(p.Extra)
	return p
}

// document converts a document. One that is a list of parts is told as those.
func (c *converter) document(p *content.Document) (one content.Part, more []content.Part) {
	c.marks(p.Signature, p.Cache, p.Extra)
	if p.Citations {
		c.lost(documentCitations, "citations")
	}
	var list []content.Part
	if head := strings.TrimSpace(p.Title + "\n" + p.Context); head != "" {
		c.lost(documentTitle)
		list = append(list, &content.Text{Text: head})
	}
	switch s := p.Source.(type) {
	case *content.Parts:
		if s == nil {
			return p, nil
		}
		c.lost(documentParts, "source")
		c.path.Push("source")
		c.path.Push("parts")
		parts, _ := c.parts(s.Parts, content.RoleUser)
		c.path.Pop()
		c.path.Pop()
		return headOf(append(list, parts...))
	case *content.PlainText:
		if s != nil && s.Text == "" {
			c.lost(emptyText)
			return headOf(list)
		}
	}
	s := c.source(p.Source, linkedDocument)
	if s == p.Source && len(list) == 0 {
		return p, nil
	}
	if s == nil {
		return headOf(list)
	}
	copied := *p
	copied.Source = s
	return headOf(append(list, &copied))
}

// headOf returns the first of a list, nil if there is none, and the others.
func headOf(list []content.Part) (one content.Part, more []content.Part) {
	if len(list) == 0 {
		return nil, nil
	}
	return list[0], list[1:]
}

// found tells a search result as texts.
func (c *converter) found(p *content.SearchResult) (content.Part, []content.Part) {
	c.cache(p.Cache)
	c.foreign(p.Extra)
	c.lost(searchResult)
	if p.Citations {
		c.lost(documentCitations, "citations")
	}
	c.path.Push("parts")
	parts, _ := c.parts(p.Parts, content.RoleUser)
	c.path.Pop()
	head := strings.TrimSpace(p.Title + "\n" + p.Source)
	if head == "" {
		return headOf(parts)
	}
	return &content.Text{Text: head}, parts
}
