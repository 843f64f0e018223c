package generatecontent

import "github.com/polywire/polywire/content"

const (
	mostRoom = 512 << 10 // that is made for a document before it is written
	partRoom = 80        // of what stands around a part
	toolRoom = 120
)

// size returns about how long the document of a request will be, not counting
// files.
func (r *Request) size() int {
	if r.Form != nil {
		return r.Form.size()
	}
	n := 1 << 10
	if s := r.SystemInstruction; s != nil {
		n += sizeOf(s.Parts)
	}
	for i := range r.Contents {
		if n > mostRoom {
			return mostRoom
		}
		n += partRoom + sizeOf(r.Contents[i].Parts)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		n += toolRoom + len(t.Description) + len(t.Input.JSON) + len(t.Output.JSON) + len(t.Raw)
	}
	return min(n+n/16, mostRoom)
}

func sizeOf(parts []content.Part) (n int) {
	for _, p := range parts {
		n += partRoom
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Text:
			n += len(p.Text) + len(p.Signature.Data)
		case *content.Thinking:
			n += len(p.Text) + len(p.Signature.Data)
		case *content.ToolUse:
			n += len(p.Input) + len(p.Signature.Data)
		case *content.ToolResult:
			n += len(p.Object) + sizeOf(p.Parts)
		}
	}
	return n
}
