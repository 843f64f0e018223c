package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
)

// result converts what a tool gave back: one text, then files, which more are
// if the target takes none in a result. The name of the tool is that of the
// call, where the result does not say it.
func (c *converter) result(p *content.ToolResult) (one content.Part, more []content.Part) {
	c.cache(p.Cache)
	c.foreign(p.Extra)
	c.path.Push("parts")
	parts, changed := c.parts(p.Parts, content.RoleUser)
	c.path.Pop()
	parts, joined := c.oneText(parts)
	name := p.Name
	if name == "" {
		name = c.nameOf(p.ID)
	}
	c.results++
	if c.target.FilesAfterResults {
		if parts, more = beside(parts); len(more) > 0 {
			c.lost(resultFiles, "parts")
		}
	}
	if !changed && !joined && len(more) == 0 && name == p.Name {
		return p, nil
	}
	q := *p
	q.Parts, q.Name = parts, name
	return &q, more
}

// beside takes the files out of the parts of a result.
func beside(parts []content.Part) (texts, files []content.Part) {
	texts = parts
	for i, p := range parts {
		if s, _ := sourceOf(p); s == nil {
			if len(files) > 0 {
				texts = append(texts, p)
			}
			continue
		}
		if len(files) == 0 {
			texts = parts[:i:i]
		}
		files = append(files, p)
	}
	return texts, files
}

// oneText joins the texts of a result, and puts them in front.
func (c *converter) oneText(parts []content.Part) (list []content.Part, changed bool) {
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
	c.lost(resultTextsJoined, "parts")
	all, _ := resultTexts(parts)
	list = append(list, &content.Text{Text: strings.Join(all, "\n")})
	for _, p := range parts {
		if t, ok := p.(*content.Text); !ok || t == nil {
			list = append(list, p)
		}
	}
	return list, true
}

// nameOf returns the name of the tool whose call a result answers: by its id
// among the calls before it, else by its place. It is "" if there is no such
// call.
func (c *converter) nameOf(id string) string {
	if c.results < len(c.calls) {
		// Mostly it is the one at its place, which spares the table.
		if u := c.calls[c.results]; id == "" || u.ID == id {
			return u.Name
		}
	}
	if id == "" {
		return ""
	}
	if c.byID == nil {
		c.byID = make(map[string]string, len(c.calls))
		for _, u := range slices.Backward(c.calls) { // the first of an id counts
			c.byID[u.ID] = u.Name
		}
	}
	if name, ok := c.byID[id]; ok {
		return name
	}
	return c.earlier(id)
}

// earlier looks for a call of an id in all turns before, since clients lose
// some.
func (c *converter) earlier(id string) string {
	if c.names == nil {
		c.names = make(map[string]string)
	}
	for ; c.named < c.at; c.named++ {
		for _, p := range c.from.Turns[c.named].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil && u.ID != "" {
				c.names[u.ID] = u.Name
			}
		}
	}
	return c.names[id]
}
