package messages

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

// turns converts turns. One that has nothing left is left out.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	list, _ := codec.Rewrite(turns, func(i int, t content.Turn) (left content.Turn, changed, keep bool) {
		path := "turns." + strconv.Itoa(i)
		c.Foreign(t.Extra, path+".extra")
		t.Parts, changed = c.parts(t.Parts, path+".parts", t.Role)
		return t, changed, !changed || len(t.Parts) > 0
	})
	return list
}

// system converts the system parts, which can only be texts.
func (c *converter) system(parts []content.Part) []content.Part {
	list, _ := c.parts(parts, "system", content.System)
	return list
}

// parts converts a list of parts and reports whether it is another list now.
func (c *converter) parts(parts []content.Part, path string, role content.Role) (list []content.Part, changed bool) {
	return codec.Rewrite(parts, func(i int, p content.Part) (q content.Part, changed, keep bool) {
		q = c.part(p, path+"."+strconv.Itoa(i), role)
		return q, q != p, q != nil || p == nil
	})
}

// part returns p, another part instead, or nil if p cannot be said. A part
// that is nil stays: the encoder tells.
func (c *converter) part(p content.Part, path string, role content.Role) content.Part {
	if content.IsNil(p) {
		return p
	}
	switch q := p.(type) {
	case *content.Text:
		c.Signature(q.Signature, path)
		c.Foreign(q.Extra, path+".extra")
		return c.text(q, path)
	case *content.Image:
		c.Signature(q.Signature, path)
		c.Foreign(q.Extra, path+".extra")
		c.source(q.Source, path+".source")
		return c.visible(p, path, role)
	case *content.Document:
		c.Signature(q.Signature, path)
		c.Foreign(q.Extra, path+".extra")
		return c.document(q, path)
	case *content.Thinking:
		return c.thought(q, path)
	case *content.ToolUse:
		c.Signature(q.Signature, path)
		c.Foreign(q.Extra, path+".extra")
		return p
	case *content.ToolResult:
		return c.result(q, path)
	case *content.SearchResult:
		c.Foreign(q.Extra, path+".extra")
		return p
	case *content.Media:
		return c.Drop(&loss.Rule{Severity: content.LossDropped, Reason: "Messages takes no sound and no moving pictures"}, path)
	case *content.ServerToolUse:
		return c.vendors(p, q.Format, q.Extra, path)
	case *content.ServerToolResult:
		return c.vendors(p, q.Format, q.Extra, path)
	case *content.Unknown:
		return c.vendors(p, q.Format, nil, path)
	}
	return c.Drop(&loss.Rule{Severity: content.LossDropped, Reason: "Messages does not have this kind of part"}, path)
}

// visible drops an image where the format takes none.
func (c *converter) visible(p content.Part, path string, role content.Role) content.Part {
	if role == content.Assistant || role == content.System {
		return c.Drop(&loss.Rule{Severity: content.LossDropped, Reason: "Messages takes images from the user only"}, path)
	}
	return p
}

// vendors drops what only another vendor understands.
func (c *converter) vendors(p content.Part, f content.Format, x *content.Extra, path string) content.Part {
	if p = c.Vendors(p, f, path); p != nil {
		c.Foreign(x, path+".extra")
	}
	return p
}

// thought keeps what this vendor has signed. Others are of no use to it.
func (c *converter) thought(p *content.Thinking, path string) content.Part {
	c.Foreign(p.Extra, path+".extra")
	switch {
	case p.Redacted.Format == Format:
		return p
	case p.Redacted == (content.Signature{}) && p.Signature.Format == Format:
		return p
	}
	c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "the thought is not signed by this vendor and is left out"}, path)
	return nil
}

// result converts a result and what is in it.
func (c *converter) result(p *content.ToolResult, path string) content.Part {
	c.Foreign(p.Extra, path+".extra")
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
	list, changed := codec.Rewrite(p.Citations, func(i int, cite content.Citation) (content.Citation, bool, bool) {
		at := path + ".citations." + strconv.Itoa(i)
		c.Foreign(cite.Extra, at+".extra")
		keep := citable(&cite)
		if !keep {
			c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "the citation cannot be said in the Messages format"}, at)
		}
		return cite, false, keep
	})
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
		return codec.Ours(c.Extra, Format) != nil
	}
	return citeFormOf("", c.Kind) != nil
}

func (c *converter) source(s content.Source, path string) {
	const said = "Messages does not say the media type of a file that is elsewhere"
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
		}
	case *content.URL:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
			if s.MediaType != "" {
				c.Lose(&loss.Rule{Severity: content.LossHint, Reason: said}, path+".media_type")
			}
		}
	case *content.File:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
			if s.MediaType != "" {
				c.Lose(&loss.Rule{Severity: content.LossHint, Reason: said}, path+".media_type")
			}
		}
	case *content.PlainText:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
		}
	case *content.Parts:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
		}
	}
}
