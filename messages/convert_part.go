package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// system converts the system parts, which can only be texts. Files stand at the
// beginning of the conversation.
func (c *converter) system(parts []content.Part) []content.Part {
	list, _ := c.parts(parts, "system", content.RoleSystem)
	return tidy(list)
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
	if role == content.RoleSystem {
		if p = c.systemPart(p, path); p == nil {
			return nil
		}
	}
	switch q := p.(type) {
	case *content.Text:
		c.marks(q.Signature, q.Extra, path)
		return c.text(q, path)
	case *content.Image:
		c.marks(q.Signature, q.Extra, path)
		return c.visible(c.image(q, path), path, role)
	case *content.Document:
		c.marks(q.Signature, q.Extra, path)
		return c.document(q, path)
	case *content.Thinking:
		return c.thought(q, path)
	case *content.ToolUse:
		c.marks(q.Signature, q.Extra, path)
		return p
	case *content.ToolResult:
		return c.result(q, path)
	case *content.SearchResult:
		return c.found(q, path)
	case *content.Media:
		return c.drop(lostSound, path)
	case *content.ServerToolUse:
		return c.vendors(p, q.Format, q.Extra, path)
	case *content.ServerToolResult:
		return c.vendors(p, q.Format, q.Extra, path)
	case *content.Unknown:
		return c.vendors(p, q.Format, nil, path)
	}
	return c.Drop(codec.ForeignPart, path) // a later version's
}

// systemPart returns a part that can stand in system text, or nil. Files are
// moved.
func (c *converter) systemPart(p content.Part, path string) content.Part {
	switch q := p.(type) {
	case *content.Text:
		return p
	case *content.Unknown:
		if q.Format == Format {
			return p
		}
	case *content.Image, *content.Document:
		if q := c.part(p, path, content.RoleUser); q != nil {
			c.lose(lostSystemFile, path)
			c.moved, c.movedAt = append(c.moved, q), append(c.movedAt, path)
		}
		return nil
	}
	return c.drop(lostSystemPart, path)
}

// marks reports what stands beside a part and is not this format's.
func (c *converter) marks(s content.Signature, x *content.Extra, path string) {
	c.Signature(s, path)
	c.alien(x, path)
}

// alien reports members of another format of what is at path. Most have none,
// and for them no path is made.
func (c *converter) alien(x *content.Extra, path string) {
	if x != nil {
		c.Foreign(x, path+".extra")
	}
}

// visible moves an image to where the format takes one.
func (c *converter) visible(p content.Part, path string, role content.Role) content.Part {
	if role == content.RoleAssistant && p != nil {
		c.lose(lostImageMoved, path)
		c.moved, c.movedAt = append(c.moved, p), append(c.movedAt, path)
		return nil
	}
	return p
}

// vendors drops what only another vendor understands.
func (c *converter) vendors(p content.Part, f content.Format, x *content.Extra, path string) content.Part {
	if p = c.KeepPart(p, f, path); p != nil {
		c.alien(x, path)
	}
	return p
}

// thought keeps what this vendor has signed. Others are of no use to it. One
// without a signature is left out in silence if a signature stands for it.
func (c *converter) thought(p *content.Thinking, path string) content.Part {
	switch {
	case p.Redacted.Format == Format,
		p.Redacted == (content.Signature{}) && p.Signature.Format == Format && p.Signature.Data != "":
		c.alien(p.Extra, path)
		return p
	}
	if rest, ok := strings.CutPrefix(c.shown, p.Text); ok && p.Signature.Data == "" && p.Redacted.Data == "" && c.kept != nil {
		c.shown = rest
		return nil
	}
	return c.drop(lostThought, path)
}

// found converts a search result.
func (c *converter) found(p *content.SearchResult, path string) content.Part {
	c.alien(p.Extra, path)
	parts, changed := c.parts(p.Parts, path+".parts", content.RoleUser)
	uncited := c.uncited(p.Citations, path)
	if !changed && !uncited {
		return p
	}
	q := *p
	q.Parts, q.Citations = parts, q.Citations && !uncited
	return &q
}

// uncited reports whether citations that are asked for cannot be had.
func (c *converter) uncited(asked bool, path string) bool {
	if !asked || c.schema() == "" {
		return false
	}
	c.lose(lostCiting, path+".citations")
	return true
}

// text leaves out the citations that the format cannot say.
func (c *converter) text(p *content.Text, path string) content.Part {
	if isBlank(p.Text) && carrierSignature(p).Data == "" {
		c.lose(lostEmpty, path)
		if p.Cache != nil {
			c.lose(lostEmptyMark, path+".cache")
		}
	}
	list, changed := codec.Rewrite(p.Citations, func(i int, cite content.Citation) (content.Citation, bool, bool) {
		at := path + ".citations." + strconv.Itoa(i)
		c.alien(cite.Extra, at)
		keep := citable(&cite)
		if !keep {
			c.lose(lostCitation, at)
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
		return codec.Own(c.Extra, Format) != nil && !unindexed(c)
	}
	return citeFormOf("", c.Kind) != nil
}

// unindexed reports whether a citation of the web is one that an answer of
// another vendor brought about: it has the member that the format demands, and
// nothing in it.
func unindexed(c *content.Citation) bool {
	return c.Kind == content.CiteWeb && c.Extra != nil && strings.Contains(c.Extra.JSON, `"encrypted_index":""`)
}
