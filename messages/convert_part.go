package messages

import (
	"strconv"

	"github.com/polywire/polywire/content"
)

// turns converts turns. One that has nothing left is left out.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	var list []content.Turn // nil while it is the same as turns
	for i := range turns {
		t := turns[i]
		path := "turns." + strconv.Itoa(i)
		c.foreign(t.Extra, path+".extra")
		parts, changed := c.parts(t.Parts, path+".parts", t.Role)
		if changed && list == nil {
			list = append(make([]content.Turn, 0, len(turns)), turns[:i]...)
		}
		if t.Parts = parts; list != nil && (!changed || len(parts) > 0) {
			list = append(list, t)
		}
	}
	if list == nil {
		return turns
	}
	return list
}

// system converts the system parts, which can only be texts.
func (c *converter) system(parts []content.Part) []content.Part {
	list, _ := c.parts(parts, "system", content.System)
	return list
}

// parts converts a list of parts and reports whether it is another list now.
func (c *converter) parts(parts []content.Part, path string, role content.Role) (list []content.Part, changed bool) {
	for i, p := range parts {
		q := c.part(p, path+"."+strconv.Itoa(i), role)
		if q != p && !changed {
			changed = true
			list = append(make([]content.Part, 0, len(parts)), parts[:i]...)
		}
		if q != nil && changed {
			list = append(list, q)
		}
	}
	if !changed {
		return parts, false
	}
	return list, true
}

// part returns p, another part instead, or nil if p cannot be said. A part
// that is nil stays: the encoder tells.
func (c *converter) part(p content.Part, path string, role content.Role) content.Part {
	if content.IsNil(p) {
		return p
	}
	switch q := p.(type) {
	case *content.Text:
		c.signature(q.Signature, path)
		c.foreign(q.Extra, path+".extra")
		return c.text(q, path)
	case *content.Image:
		c.signature(q.Signature, path)
		c.foreign(q.Extra, path+".extra")
		c.source(q.Source, path+".source")
		return c.visible(p, path, role)
	case *content.Document:
		c.signature(q.Signature, path)
		c.foreign(q.Extra, path+".extra")
		return c.document(q, path)
	case *content.Thinking:
		return c.thought(q, path)
	case *content.ToolUse:
		c.signature(q.Signature, path)
		c.foreign(q.Extra, path+".extra")
		return p
	case *content.ToolResult:
		return c.result(q, path)
	case *content.SearchResult:
		c.foreign(q.Extra, path+".extra")
		return p
	case *content.Media:
		return c.drop(path, "Messages takes no sound and no moving pictures")
	case *content.ServerToolUse:
		return c.vendors(p, q.Format, q.Extra, path)
	case *content.ServerToolResult:
		return c.vendors(p, q.Format, q.Extra, path)
	case *content.Unknown:
		return c.vendors(p, q.Format, nil, path)
	}
	return c.drop(path, "Messages does not have this kind of part")
}

func (c *converter) drop(path, reason string) content.Part {
	c.lose(content.LossDropped, path, reason)
	return nil
}

// visible drops an image where the format takes none.
func (c *converter) visible(p content.Part, path string, role content.Role) content.Part {
	if role == content.Assistant || role == content.System {
		return c.drop(path, "Messages takes images from the user only")
	}
	return p
}

// vendors drops what only another vendor understands.
func (c *converter) vendors(p content.Part, f content.Format, x *content.Extra, path string) content.Part {
	if f != Format {
		return c.drop(path, "only another vendor understands this part")
	}
	c.foreign(x, path+".extra")
	return p
}

func (c *converter) signature(s content.Signature, path string) {
	if s.Data != "" && s.Format != Format {
		c.lose(content.LossHint, path+".signature", "the signature is another vendor's")
	}
}

// thought keeps what this vendor has signed. Others are of no use to it.
func (c *converter) thought(p *content.Thinking, path string) content.Part {
	c.foreign(p.Extra, path+".extra")
	switch {
	case p.Redacted.Format == Format:
		return p
	case p.Redacted == (content.Signature{}) && p.Signature.Format == Format:
		return p
	}
	c.lose(content.LossHint, path, "the thought is not signed by this vendor and is left out")
	return nil
}

// result converts a result and what is in it.
func (c *converter) result(p *content.ToolResult, path string) content.Part {
	c.foreign(p.Extra, path+".extra")
	parts, changed := c.parts(p.Parts, path+".parts", content.User)
	if len(parts) == 0 && p.Object != "" {
		parts, changed = []content.Part{&content.Text{Text: p.Object}}, true
	}
	if !changed {
		return p
	}
	q := *p
	q.Parts = parts
	return &q
}

// document converts what is in a document that is given as parts.
func (c *converter) document(p *content.Document, path string) content.Part {
	c.source(p.Source, path+".source")
	s, ok := p.Source.(*content.Parts)
	if !ok || s == nil {
		return p
	}
	parts, changed := c.parts(s.Parts, path+".source.parts", content.User)
	if !changed {
		return p
	}
	q, in := *p, *s
	in.Parts, q.Source = parts, &in
	return &q
}

// text leaves out the citations that the format cannot say.
func (c *converter) text(p *content.Text, path string) content.Part {
	var list []content.Citation
	changed := false
	for i := range p.Citations {
		cite := &p.Citations[i]
		at := path + ".citations." + strconv.Itoa(i)
		c.foreign(cite.Extra, at+".extra")
		if citable(cite) {
			if changed {
				list = append(list, *cite)
			}
			continue
		}
		c.lose(content.LossHint, at, "the citation cannot be said in the Messages format")
		if !changed {
			changed = true
			list = append(list, p.Citations[:i]...)
		}
	}
	if !changed {
		return p
	}
	q := *p
	q.Citations = list
	return &q
}

// citable reports whether the format has a form for a citation. Those of the
// web must bring what the vendor has put into them.
func citable(c *content.Citation) bool {
	if c.Kind == "" || c.Kind == content.CiteWeb {
		return ours(c.Extra) != nil
	}
	return citeFormOf("", c.Kind) != nil
}

func (c *converter) source(s content.Source, path string) {
	const said = "Messages does not say the media type of a file that is elsewhere"
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			c.foreign(s.Extra, path+".extra")
		}
	case *content.URL:
		if s != nil {
			c.foreign(s.Extra, path+".extra")
			if s.MediaType != "" {
				c.lose(content.LossHint, path+".media_type", said)
			}
		}
	case *content.File:
		if s != nil {
			c.foreign(s.Extra, path+".extra")
			if s.MediaType != "" {
				c.lose(content.LossHint, path+".media_type", said)
			}
		}
	case *content.PlainText:
		if s != nil {
			c.foreign(s.Extra, path+".extra")
		}
	case *content.Parts:
		if s != nil {
			c.foreign(s.Extra, path+".extra")
		}
	}
}
