package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// What groundingMetadata says of a text is told as citations of the block that
// the text is in, if that can be found for certain and is still open. All of it
// is told as members of the candidate besides.

// What is kept of one candidate, whose metadata may come in many pieces.
const (
	mostSources    = 1000
	mostSourceSize = 256 << 10 // bytes
	mostText       = 16 << 10  // bytes of a text, to find passages in
)

// sources are what a candidate's supports point at: each piece of a stream
// brings those that are new.
type sources struct {
	list  []content.Citation // without a kind where there is nothing to cite
	size  int
	cited int // citations that were told
}

// A support is a passage of the answer that has sources.
type support struct {
	segment
	text  string // that stands there; empty if it is not said
	chunk jsonwire.Value
	done  bool
}

// A textPlace is where a text stands among those of its candidate.
type textPlace struct {
	part  int // which part it is
	start int // bytes of texts before it
	size  int
	text  string // empty if it is longer than mostText
	only  bool   // of a stream: there was no other text, whatever the number of its part
}

// grounded reads the metadata of a candidate: its sources are kept, and its
// supports returned.
func (d *decoder) grounded(i int, v jsonwire.Value) (list []support) {
	for _, x := range v.Get("groundingChunks").Elems() {
		d.answers[i].sources.add(x, !d.whole)
	}
	for _, x := range v.Get("groundingSupports").Elems() {
		s := x.Get("segment")
		one := support{text: s.Get("text").Str(), chunk: x.Get("groundingChunkIndices")}
		ok := true
		for _, m := range [...]struct {
			name string
			to   *int
		}{{"partIndex", &one.part}, {"startIndex", &one.start}, {"endIndex", &one.end}} {
			if f := s.Get(m.name); f.Exists() {
				n, whole := wholeNumber(f, 32)
				*m.to, ok = int(n), ok && whole && n >= 0
			}
		}
		if ok && one.end > one.start && (one.text == "" || len(one.text) == one.end-one.start) && len(list) < maxCites {
			list = append(list, one)
		}
	}
	return list
}

// add keeps a source. Strings of a stream are copied: their document should not
// be held on to.
func (s *sources) add(v jsonwire.Value, copied bool) {
	if len(s.list) == mostSources {
		return // those behind it have no number
	}
	var c content.Citation
	for _, kind := range [...][2]string{{"web", "uri"}, {"retrievedContext", "uri"}, {"maps", "uri"}, {"image", "sourceUri"}} {
		x := v.Get(kind[0])
		url := x.Get(kind[1]).Str()
		if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") {
			c = content.Citation{Kind: content.CiteWeb, URL: url, Title: x.Get("title").Str()}
			if kind[0] == "retrievedContext" {
				c.Text = x.Get("text").Str()
			}
			break
		}
	}
	if s.size += len(c.URL) + len(c.Title) + len(c.Text); s.size > mostSourceSize {
		c = content.Citation{}
	}
	if copied {
		c.URL, c.Title, c.Text = strings.Clone(c.URL), strings.Clone(c.Title), strings.Clone(c.Text)
	}
	s.list = append(s.list, c)
}

// piece notes a part of the document at hand that is more of the text that is
// open: supports of the same document may count by its parts.
func (c *answered) piece(text string) {
	p := textPlace{part: c.nth, size: len(text)}
	if len(text) <= mostText {
		p.text = text
	}
	c.pieces = append(c.pieces, p)
}

// holds reports whether a support is about the text that is open, or was last.
// Its bytes are counted within its part, or, as servers do that join the texts of
// a stream, within all texts. Which parts are meant is certain where they are
// all there; later in a stream, those of the document and those that the answer
// has so far may be, and the former only if what it says stands there.
func (c *answered) holds(s *support) bool {
	k, in := slices.BinarySearchFunc(c.pieces, s.part, func(p textPlace, part int) int { return p.part - part })
	in = in && c.pieces[k].within(s)
	switch {
	case c.first:
		return in || s.part == 0 && c.at.among(s)
	case in && c.pieces[k].knows(s):
		return true
	}
	return c.at.within(s) || c.at.among(s)
}

// knows reports whether it can be seen if a text is the one that a support means:
// if so, it has to be.
func (p *textPlace) knows(s *support) bool { return p.text != "" && s.text != "" }

// within reports whether a support is about a place, its bytes being counted
// within its part.
func (p *textPlace) within(s *support) bool {
	return s.part == p.part && s.end <= p.size && (!p.knows(s) || p.text[s.start:s.end] == s.text)
}

// among reports that for bytes that are counted within all texts.
func (p *textPlace) among(s *support) bool {
	start, end := s.start-p.start, s.end-p.start
	switch {
	case s.part != 0 && !p.only || end <= 0 || end > p.size:
		return false
	case !p.knows(s):
		return true
	}
	return start >= 0 && p.text[start:end] == s.text || start < 0 && strings.HasSuffix(s.text, p.text[:end])
}

// citeOpen tells the sources of the text that is open in a stream.
func (d *decoder) citeOpen(i int) {
	if c := &d.answers[i]; c.open >= 0 && !c.thought {
		d.cite(i, c.open)
	}
}

// cite tells the sources of a block, the last text.
func (d *decoder) cite(i, block int) {
	if len(d.answers[i].pending) == 0 {
		return
	}
	if c := &d.answers[i]; !d.whole && c.at.size <= mostText {
		c.at.text = string(c.kept)
		defer func() { c.at.text = "" }()
	}
	from := &d.answers[i].sources
	for k := range d.answers[i].pending {
		s := &d.answers[i].pending[k]
		if s.done || !d.answers[i].holds(s) {
			continue
		}
		s.done = true
		var mark *content.Extra
		for _, x := range s.chunk.Elems() {
			n, ok := wholeNumber(x, 32)
			if !ok || n < 0 || n >= int64(len(from.list)) || from.list[n].Kind == "" || from.cited == maxCites {
				continue
			}
			from.cited++
			if mark == nil {
				mark = s.mark()
			}
			c := from.list[n]
			c.Extra = mark
			d.add(upstream.Event{Kind: upstream.EventCitation, Block: block, Candidate: i, Citation: &c})
		}
	}
}

const segmentMark = `{"segment":{`

// mark says which bytes of the answer a citation is about.
func (s *support) mark() *content.Extra {
	b := []byte(segmentMark)
	if s.part > 0 {
		b = append(jsonwire.AppendInt(append(b, `"partIndex":`...), int64(s.part)), ',')
	}
	b = jsonwire.AppendInt(append(b, `"startIndex":`...), int64(s.start))
	b = jsonwire.AppendInt(append(b, `,"endIndex":`...), int64(s.end))
	return &content.Extra{Format: Format, JSON: string(append(b, "}}"...))}
}

// ofMetadata reports whether a citation was made of groundingMetadata, which
// is said as it came.
func ofMetadata(c content.Citation) bool {
	return c.Extra != nil && c.Extra.Format == Format && strings.HasPrefix(c.Extra.JSON, segmentMark)
}
