package upstream

import (
	"slices"

	"github.com/polywire/polywire/content"
)

func cloneParts(ps []content.Part) []content.Part {
	ps = slices.Clone(ps)
	for i, p := range ps {
		ps[i] = clonePart(p)
	}
	return ps
}

// clonePart copies a part down to its last pointer. Nil parts stay as they
// are: whoever looks at the copy is to find the same fault.
func clonePart(p content.Part) content.Part {
	switch p := p.(type) {
	case *content.Text:
		if c := ptr(p); c != nil {
			c.Citations = slices.Clone(c.Citations)
			for i := range c.Citations {
				c.Citations[i].Extra = ptr(c.Citations[i].Extra)
			}
			c.Cache, c.Extra = cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.Image:
		if c := ptr(p); c != nil {
			c.Source, c.Cache, c.Extra = cloneSource(c.Source), cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.Document:
		if c := ptr(p); c != nil {
			c.Source, c.Cache, c.Extra = cloneSource(c.Source), cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.Media:
		if c := ptr(p); c != nil {
			c.Source, c.Cache, c.Extra = cloneSource(c.Source), cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.Thinking:
		if c := ptr(p); c != nil {
			c.Extra = ptr(c.Extra)
			return c
		}
	case *content.ToolUse:
		if c := ptr(p); c != nil {
			c.Cache, c.Extra = cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.ToolResult:
		if c := ptr(p); c != nil {
			c.Parts, c.Cache, c.Extra = cloneParts(c.Parts), cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	default:
		return cloneRare(p)
	}
	return p
}

func cloneRare(p content.Part) content.Part {
	switch p := p.(type) {
	case *content.SearchResult:
		if c := ptr(p); c != nil {
			c.Parts, c.Cache, c.Extra = cloneParts(c.Parts), cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.ServerToolUse:
		if c := ptr(p); c != nil {
			c.Cache, c.Extra = cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.ServerToolResult:
		if c := ptr(p); c != nil {
			c.Cache, c.Extra = cloneCache(c.Cache), ptr(c.Extra)
			return c
		}
	case *content.Unknown:
		if c := ptr(p); c != nil {
			return c
		}
	}
	return p
}

func cloneSource(s content.Source) content.Source {
	switch s := s.(type) {
	case *content.Base64:
		if c := ptr(s); c != nil {
			c.Extra = ptr(c.Extra)
			return c
		}
	case *content.URL:
		if c := ptr(s); c != nil {
			c.Extra = ptr(c.Extra)
			return c
		}
	case *content.File:
		if c := ptr(s); c != nil {
			c.Extra = ptr(c.Extra)
			return c
		}
	case *content.PlainText:
		if c := ptr(s); c != nil {
			c.Extra = ptr(c.Extra)
			return c
		}
	case *content.Parts:
		if c := ptr(s); c != nil {
			c.Parts, c.Extra = cloneParts(c.Parts), ptr(c.Extra)
			return c
		}
	}
	return s
}

func cloneCache(c *content.Cache) *content.Cache {
	if c == nil {
		return nil
	}
	return &content.Cache{TTL: c.TTL, Extra: ptr(c.Extra)}
}
