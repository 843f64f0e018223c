package codec

import "github.com/polywire/polywire/content"

const (
	maxInitialSize = 512 << 10 // limit for the initial buffer of a document
	textOverhead   = 48        // estimated bytes around a text
	longJSON       = 4 << 10   // the length from which the writer does not copy JSON
)

// DocumentSize estimates the length of the document of a request, for its buffer, without
// files and long JSON, which [jsonwire.Writer] does not copy.
func DocumentSize(system []content.Part, turns []content.Turn, tools []content.Tool) int {
	n := 512 + partsSize(system)
	for i := range tools {
		t := &tools[i]
		n += 2*textOverhead + len(t.Name) + textSize(t.Description) + jsonSize(t.Input.JSON) + jsonSize(t.Output.JSON) + jsonSize(t.Raw)
	}
	for i := range turns {
		if n > maxInitialSize {
			break
		}
		n += textOverhead + partsSize(turns[i].Parts)
	}
	return min(n, maxInitialSize)
}

// textSize estimates the length of a string. It is copied if some of it is escaped, as line
// breaks are.
func textSize(s string) int { return len(s) + len(s)/8 }

// jsonSize estimates the bytes that the writer copies for JSON.
func jsonSize(s string) int {
	if len(s) >= longJSON {
		return textOverhead
	}
	return len(s)
}

// partsSize estimates the length of parts without files and long JSON.
func partsSize(parts []content.Part) int {
	n := 0
	for _, p := range parts {
		n += textOverhead
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Text:
			n += textSize(p.Text) + textSize(p.Signature.Data)
		case *content.Thinking:
			n += textSize(p.Text) + textSize(p.Signature.Data) + textSize(p.Redacted.Data)
		case *content.ToolUse:
			n += textOverhead + len(p.ID) + len(p.Name) + jsonSize(p.Input) + textSize(p.Signature.Data)
		case *content.ToolResult:
			n += textOverhead + len(p.ID) + jsonSize(p.Object) + partsSize(p.Parts)
		case *content.SearchResult:
			n += textOverhead + textSize(p.Source) + textSize(p.Title) + partsSize(p.Parts)
		case *content.Document:
			n += textOverhead + textSize(p.Title) + textSize(p.Context)
			if s, ok := p.Source.(*content.Parts); ok && s != nil {
				n += partsSize(s.Parts)
			}
		case *content.Image:
			n += 2 * textOverhead
		}
	}
	return n
}
