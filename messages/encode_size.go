package messages

import (
	"github.com/polywire/polywire/content"
)

// What is written around a text, about, and the most that is set aside for one
// document at first.
const (
	aroundText = 48
	maxAhead   = 512 << 10
)

// size returns about how long the document will be, not counting long texts,
// which the writer does not copy.
func (r *Request) size() int {
	n := 512 + sizeOf(r.System)
	if c := r.OutputConfig.format(); c != nil {
		n += copied(c.Schema)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		n += 2*aroundText + len(t.Name) + copied(t.Description) + copied(t.Input.JSON) + copied(t.Raw)
	}
	for i := range r.Messages {
		n += aroundText + sizeOf(r.Messages[i].Parts)
	}
	return min(n, maxAhead)
}

// copied returns about how many bytes a text takes that the writer copies.
func copied(s string) int {
	if len(s) >= longText {
		return aroundText
	}
	return len(s) + len(s)/8 // some of it is escaped
}

// longText is the length from which a text is not copied.
const longText = 4 << 10

// sizeOf returns the same for parts.
func sizeOf(parts []content.Part) int {
	n := 0
	for _, p := range parts {
		n += aroundText
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Text:
			n += copied(p.Text)
		case *content.Thinking:
			n += copied(p.Text) + copied(p.Signature.Data) + copied(p.Redacted.Data)
		case *content.ToolUse:
			n += aroundText + len(p.ID) + len(p.Name) + copied(p.Input)
		case *content.ToolResult:
			n += aroundText + len(p.ID) + sizeOf(p.Parts)
		case *content.SearchResult:
			n += aroundText + copied(p.Source) + copied(p.Title) + sizeOf(p.Parts)
		case *content.Document:
			n += aroundText + copied(p.Title) + copied(p.Context)
			if s, ok := p.Source.(*content.Parts); ok && s != nil {
				n += sizeOf(s.Parts)
			}
		case *content.Image:
			n += 2 * aroundText
		}
	}
	return n
}
