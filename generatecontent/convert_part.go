package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// turns converts turns. One that has nothing left is left out. Results of calls
// have to be in one turn, so turns of one side are joined where they hold some.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	list := turns[:0:len(turns)] // the beginning of turns while nothing has changed
	own := false
	for i := range turns {
		t := turns[i]
		path := "turns." + strconv.Itoa(i)
		c.Foreign(t.Extra, path+".extra")
		parts, changed := c.parts(t.Parts, path+".parts", t.Role)
		if t.Role == content.System {
			t.Role, changed = content.User, true
			c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "a system turn in the middle is told as one of the user"}, path)
		}
		join := i > 0 && len(list) > 0 && list[len(list)-1].Role == t.Role &&
			(hasResult(parts) || hasResult(list[len(list)-1].Parts))
		if (changed || join) && !own {
			own, list = true, slices.Clone(list)
		}
		t.Parts = parts
		switch {
		case join:
			c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "results have to stand in one turn: it is joined with the turn before"}, path)
			last := &list[len(list)-1]
			last.Parts = slices.Concat(last.Parts, parts)
		case !own:
			list = turns[:i+1]
		case !changed || len(parts) > 0:
			list = append(list, t)
		}
	}
	if len(turns) == 0 {
		return turns
	}
	return list
}

func hasResult(parts []content.Part) bool {
	return slices.ContainsFunc(parts, func(p content.Part) bool {
		_, ok := p.(*content.ToolResult)
		return ok
	})
}

// parts converts a list of parts and reports whether it is another list now.
func (c *converter) parts(parts []content.Part, path string, role content.Role) (list []content.Part, changed bool) {
	for i, p := range parts {
		one, more := c.part(p, path+"."+strconv.Itoa(i), role)
		if one != p && !changed {
			changed = true
			list = append(make([]content.Part, 0, len(parts)), parts[:i]...)
		}
		if changed && one != nil {
			list = append(list, one)
		}
		list = append(list, more...)
	}
	if !changed {
		return parts, false
	}
	return list, true
}

// part returns p, another part instead, or nil if p cannot be said; more are
// parts that come behind another one. A part that is nil stays: the encoder
// tells.
func (c *converter) part(p content.Part, path string, role content.Role) (one content.Part, more []content.Part) {
	if content.IsNil(p) {
		return p, nil
	}
	if _, ok := p.(*content.Text); !ok && role == content.System {
		return c.Drop(&loss.Rule{Severity: content.LossDropped, Reason: "content generation takes only texts as system instruction"}, path), nil
	}
	switch q := p.(type) {
	case *content.Text:
		c.plain(q, path)
		return p, nil
	case *content.Image:
		c.marks(q.Signature, q.Cache, q.Extra, path)
		s := c.source(q.Source, path, "image/jpeg")
		if s == q.Source {
			return p, nil
		} else if s == nil {
			return nil, nil
		}
		copied := *q
		copied.Source = s
		return &copied, nil
	case *content.Document:
		return c.document(q, path)
	case *content.Media:
		c.marks(q.Signature, q.Cache, q.Extra, path)
		if s := c.source(q.Source, path, ""); s != q.Source {
			return nil, nil
		}
		return p, nil
	case *content.Thinking:
		return c.thought(q, path), nil
	case *content.ToolUse:
		c.marks(q.Signature, q.Cache, q.Extra, path)
		return p, nil
	case *content.ToolResult:
		return c.result(q, path), nil
	case *content.SearchResult:
		return c.found(q, path)
	case *content.ServerToolUse:
		return c.Vendors(p, q.Format, path), nil
	case *content.ServerToolResult:
		return c.Vendors(p, q.Format, path), nil
	case *content.Unknown:
		return c.Vendors(p, q.Format, path), nil
	}
	return c.Drop(&loss.Rule{Severity: content.LossDropped, Reason: "content generation does not have this kind of part"}, path), nil
}

// marks reports what stands beside a part and is not this format's.
func (c *converter) marks(s content.Signature, m *content.Cache, x *content.Extra, path string) {
	c.Signature(s, path)
	c.cache(m, path)
	c.Foreign(x, path+".extra")
}

func (c *converter) plain(p *content.Text, path string) {
	c.marks(p.Signature, p.Cache, p.Extra, path)
	if len(p.Citations) > 0 {
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "content generation has no citations in a request"}, path+".citations")
	}
}

// thought keeps what this vendor has signed, or nobody. Others are of no use
// to it.
func (c *converter) thought(p *content.Thinking, path string) content.Part {
	if p.Redacted != (content.Signature{}) || p.Signature.Data != "" && p.Signature.Format != Format {
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "the thought is signed by another vendor and is left out"}, path)
		return nil
	}
	c.Foreign(p.Extra, path+".extra")
	return p
}

// document converts a document. One that is a list of parts is told as those.
func (c *converter) document(p *content.Document, path string) (content.Part, []content.Part) {
	c.marks(p.Signature, p.Cache, p.Extra, path)
	if p.Title != "" || p.Context != "" {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation has no title and no context of a document"}, path)
	}
	if p.Citations {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation does not cite documents of a request"}, path+".citations")
	}
	if s, ok := p.Source.(*content.Parts); ok && s != nil {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "the parts of the document are told as parts of the turn"}, path+".source")
		parts, _ := c.parts(s.Parts, path+".source.parts", content.User)
		return nil, parts
	}
	s := c.source(p.Source, path, "application/pdf")
	switch s {
	case p.Source:
		return p, nil
	case nil:
		return nil, nil
	}
	copied := *p
	copied.Source = s
	return &copied, nil
}

// found tells a search result as texts.
func (c *converter) found(p *content.SearchResult, path string) (content.Part, []content.Part) {
	c.cache(p.Cache, path)
	c.Foreign(p.Extra, path+".extra")
	c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation has no search results: it is told as text"}, path)
	parts, _ := c.parts(p.Parts, path+".parts", content.User)
	head := strings.TrimSpace(p.Title + "\n" + p.Source)
	if head == "" {
		return nil, parts
	}
	return &content.Text{Text: head}, parts
}

// The media types that the end of a link shows.
var endings = [...][2]string{
	{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".gif", "image/gif"},
	{".webp", "image/webp"}, {".pdf", "application/pdf"},
}

// source returns s, another source instead, or nil if it cannot be said. A
// source that is nil stays: the encoder tells.
func (c *converter) source(s content.Source, path, usual string) content.Source {
	path += ".source"
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
		}
	case *content.PlainText:
		if s != nil {
			c.Foreign(s.Extra, path+".extra")
		}
	case *content.URL:
		if s == nil {
			break
		}
		c.Foreign(s.Extra, path+".extra")
		if s.MediaType != "" || usual == "" || c.Ours(s.Extra) != nil {
			break
		}
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "the media type of the link was not said and is guessed"}, path+".media_type")
		copied := *s
		copied.MediaType = guess(s.URL, usual)
		return &copied
	case *content.File:
		if s == nil {
			break
		}
		c.Foreign(s.Extra, path+".extra")
		if !strings.Contains(s.ID, "://") && s.MediaType == "" {
			c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "the file is kept by another vendor"}, path)
			return nil
		}
	}
	return s
}

func guess(url, usual string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	for _, e := range endings {
		if strings.HasSuffix(strings.ToLower(url), e[0]) {
			return e[1]
		}
	}
	return usual
}
