package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
)

const (
	maxInitialSize = 64 << 10 // limit for the initial buffer of a document, which others follow
	textOverhead   = 48       // estimated bytes around a text
	longJSON       = 4 << 10  // the length from which the writer does not copy JSON
)

// DocumentSize estimates the length of the document of a request, for its buffer, without
// files and long JSON, which [jsonwire.Writer] does not copy.
func DocumentSize(system []content.Part, turns []content.Turn, tools []content.Tool) int {
	n := 512 + partsSize(system)
	for i := range tools {
		t := &tools[i]
		n += 2*textOverhead + len(t.Name) + textSize(t.Description) + jsonSize(t.Input.JSON) + jsonSize(t.Output.JSON) + jsonSize(t.Raw)
		if t.Grammar != nil {
			n += textSize(t.Grammar.Definition)
		}
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
		f := partfield.Of(p)
		n += textOverhead
		for i := 0; i < len(f.Strings) && f.Strings[i].At != nil; i++ {
			switch s := *f.Strings[i].At; f.Strings[i].Role {
			case partfield.Argument, partfield.JSON:
				n += textOverhead + jsonSize(s)
			default:
				n += textSize(s)
			}
		}
		for _, s := range [...]*content.Signature{f.Signature, f.Redacted} {
			if s != nil {
				n += textSize(s.Data)
			}
		}
		if f.Parts != nil {
			n += partsSize(*f.Parts)
		}
		if f.Source != nil {
			n += textOverhead
			if list := partfield.OfSource(*f.Source).Parts; list != nil {
				n += partsSize(*list)
			}
		}
	}
	return n
}
