package upstream

import "github.com/polywire/polywire/content"

// partsSize returns about how many bytes parts hold.
func partsSize(ps []content.Part) (n int64) {
	for _, p := range ps {
		n += keptCost + partSize(p)
	}
	return n
}

func partSize(p content.Part) int64 {
	if content.IsNil(p) {
		return 0
	}
	switch p := p.(type) {
	case *content.Text:
		n := size(p.Text, p.Signature.Data)
		for i := range p.Citations {
			n += citationSize(&p.Citations[i])
		}
		return n + extraSize(p.Extra)
	case *content.Thinking:
		return size(p.Text, p.Signature.Data, p.Redacted.Data) + extraSize(p.Extra)
	case *content.Image:
		return sourceSize(p.Source) + size(p.Signature.Data) + extraSize(p.Extra)
	case *content.Document:
		return sourceSize(p.Source) + size(p.Title, p.Context, p.Signature.Data) + extraSize(p.Extra)
	case *content.Media:
		return sourceSize(p.Source) + size(p.Signature.Data) + extraSize(p.Extra)
	case *content.ToolUse:
		return size(p.ID, p.Name, p.Input, p.Signature.Data) + extraSize(p.Extra)
	case *content.ToolResult:
		return size(p.ID, p.Name, p.Object) + partsSize(p.Parts) + extraSize(p.Extra)
	case *content.SearchResult:
		return size(p.Source, p.Title) + partsSize(p.Parts) + extraSize(p.Extra)
	case *content.ServerToolUse:
		return size(p.ID, p.Name, p.Input, p.Signature.Data) + extraSize(p.Extra)
	case *content.ServerToolResult:
		return size(p.ID, p.Content, p.Signature.Data) + extraSize(p.Extra)
	case *content.Unknown:
		return size(p.Kind, p.Raw)
	}
	return 0
}

func citationSize(c *content.Citation) int64 {
	return keptCost + size(c.Text, c.Title, c.URL, c.FileID) + extraSize(c.Extra)
}

func sourceSize(s content.Source) int64 {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return size(s.Data) + extraSize(s.Extra)
		}
	case *content.URL:
		if s != nil {
			return size(s.URL) + extraSize(s.Extra)
		}
	case *content.File:
		if s != nil {
			return size(s.ID) + extraSize(s.Extra)
		}
	case *content.PlainText:
		if s != nil {
			return size(s.Text) + extraSize(s.Extra)
		}
	case *content.Parts:
		if s != nil {
			return partsSize(s.Parts) + extraSize(s.Extra)
		}
	}
	return 0
}

func extraSize(x *content.Extra) int64 {
	if x == nil {
		return 0
	}
	return int64(len(x.JSON))
}

func size(texts ...string) (n int64) {
	for _, s := range texts {
		n += int64(len(s))
	}
	return n
}
