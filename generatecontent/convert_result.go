package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// result converts what a tool gave back: one text, then files. The name of the
// tool is that of the call, where the result does not say it.
func (c *converter) result(p *content.ToolResult, path string) content.Part {
	c.cache(p.Cache, path)
	c.Foreign(p.Extra, path+".extra")
	parts, changed := c.parts(p.Parts, path+".parts", content.User)
	parts, joined := c.oneText(parts, path)
	name := p.Name
	if name == "" {
		name = c.nameOf(p.ID)
	}
	if !changed && !joined && name == p.Name {
		return p
	}
	q := *p
	q.Parts, q.Name = parts, name
	return &q
}

// oneText joins the texts of a result, and puts them in front.
func (c *converter) oneText(parts []content.Part, path string) (list []content.Part, changed bool) {
	texts, front := 0, true
	for i, p := range parts {
		if t, ok := p.(*content.Text); ok && t != nil {
			texts++
			front = front && i == texts-1
		}
	}
	if texts == 0 || texts == 1 && front {
		return parts, false
	}
	c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "a result has one text here, in front of its files"}, path+".parts")
	all, _ := resultTexts(parts)
	list = append(list, &content.Text{Text: strings.Join(all, "\n")})
	for _, p := range parts {
		if t, ok := p.(*content.Text); !ok || t == nil {
			list = append(list, p)
		}
	}
	return list, true
}

// nameOf returns the name of the tool that was called with an id, "" if there
// is none.
func (c *converter) nameOf(id string) string {
	if c.names == nil {
		c.names = make(map[string]string)
		for i := range c.from.Turns {
			for _, p := range c.from.Turns[i].Parts {
				if u, ok := p.(*content.ToolUse); ok && u != nil && u.ID != "" {
					c.names[u.ID] = u.Name
				}
			}
		}
	}
	if id == "" {
		return ""
	}
	return c.names[id]
}
