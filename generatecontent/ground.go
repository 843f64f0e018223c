package generatecontent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// Citations become groundingMetadata: a source each is a chunk, and what a text
// cites a support, which points at chunks.

// A segment is a place in the texts of a candidate: clients join the pieces of a
// stream, and count in the whole.
type segment struct {
	part       int // which of the parts
	start, end int // bytes of its text
}

// grounds is what is still to be told of the sources of a candidate.
type grounds struct {
	chunks, supports []byte // elements, each with a comma behind it
	n                int    // chunks that were ever told
	known            map[string]int
	size             int // of known
}

const (
	grounding    = "groundingMetadata"
	maxKnown     = 32 << 10 // bytes of sources that are told once only
	maxCites     = 1000     // of a streamed text, and
	maxCitesSize = 1 << 20  // the bytes of them
)

// cite adds the source of a citation and returns its number, -1 if there is
// nothing to say about it.
func (g *grounds) cite(c *content.Citation, lost lose) int {
	chunk, whole := appendChunk(nil, c)
	if chunk == nil {
		lost(unsaidSource)
		return -1
	}
	if !whole {
		lost(unsaidPassage)
	}
	if i, ok := g.known[string(chunk)]; ok {
		return i
	}
	g.chunks = append(append(g.chunks, chunk...), ',')
	if g.size += len(chunk); g.size <= maxKnown {
		if g.known == nil {
			g.known = make(map[string]int)
		}
		g.known[string(chunk)] = g.n
	}
	g.n++
	return g.n - 1
}

// appendChunk appends the source of a citation, and reports whether that is all
// that the citation says.
func appendChunk(dst []byte, c *content.Citation) (chunk []byte, whole bool) {
	switch {
	case c.Kind == content.CiteWeb && c.URL != "", strings.HasPrefix(c.URL, "https://"), strings.HasPrefix(c.URL, "http://"):
		dst = jsonwire.AppendString(append(dst, `{"web":{"uri":`...), c.URL)
		if c.Title != "" {
			dst = jsonwire.AppendString(append(dst, `,"title":`...), c.Title)
		}
		return append(dst, "}}"...), c.Text == "" && c.Extra == nil && c.Start == 0 && c.End == 0
	case c.URL == "" && c.Title == "" && c.Text == "":
		return nil, false
	}
	dst = append(dst, `{"retrievedContext":{`...)
	if c.URL != "" {
		dst = append(jsonwire.AppendString(append(dst, `"uri":`...), c.URL), ',')
	}
	if c.Title != "" {
		dst = append(jsonwire.AppendString(append(dst, `"title":`...), c.Title), ',')
	}
	if c.Text != "" {
		dst = append(jsonwire.AppendString(append(dst, `"text":`...), c.Text), ',')
	}
	if c.Kind == content.CitePages && c.Start > 0 {
		dst = append(jsonwire.AppendInt(append(dst, `"pageNumber":`...), c.Start), ',')
	}
	return append(dst[:len(dst)-1], "}}"...), false
}

// support says that the sources with the given numbers are those of a segment.
// text is what stands there, where it is known.
func (g *grounds) support(s segment, text string, sources []int) {
	if len(sources) == 0 {
		return
	}
	b := append(g.supports, `{"segment":{`...)
	if s.part > 0 {
		b = append(jsonwire.AppendInt(append(b, `"partIndex":`...), int64(s.part)), ',')
	}
	b = jsonwire.AppendInt(append(b, `"startIndex":`...), int64(s.start))
	b = jsonwire.AppendInt(append(b, `,"endIndex":`...), int64(s.end))
	if text != "" {
		b = jsonwire.AppendString(append(b, `,"text":`...), text)
	}
	b = append(b, `},"groundingChunkIndices":[`...)
	for i, n := range sources {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonwire.AppendInt(b, int64(n))
	}
	g.supports = append(b, "]},"...)
}

// cited tells what the text of a segment cites.
func (g *grounds) cited(list []content.Citation, at segment, text string, lost lose) {
	if at.start == at.end && !slices.ContainsFunc(list, ofMetadata) {
		lost(unsaidNothing)
		return
	}
	var sources []int
	for i := range list {
		if ofMetadata(list[i]) {
			continue
		}
		if n := g.cite(&list[i], lost); n >= 0 {
			sources = append(sources, n)
		}
	}
	g.support(at, text, sources)
}

// width returns how many bytes a text has when it is written: what is no UTF-8
// becomes U+FFFD.
func width(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += utf8.RuneLen(r)
	}
	return n
}

// pending returns how many bytes there are to be told.
func (g *grounds) pending() int { return len(g.chunks) + len(g.supports) }

// ground moves what is to be told of sources to the members of the candidate.
// The vendor's own words count more.
func (c *candidate) ground(note noter) {
	g := &c.grounds
	if g.pending() == 0 {
		return
	}
	if c.members.Get(grounding) != "" {
		note(candidatePath(c.index, grounding), unsaidBeside)
	} else {
		b := []byte{'{'}
		b = appendElements(b, `"groundingChunks":[`, g.chunks)
		b = appendElements(b, `"groundingSupports":[`, g.supports)
		b[len(b)-1] = '}'
		c.members.Set(grounding, string(b))
	}
	g.chunks, g.supports = g.chunks[:0], g.supports[:0]
}

func appendElements(dst []byte, open string, list []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(append(dst, open...), list[:len(list)-1]...)
	return append(dst, "],"...)
}

// once returns lost for many citations of one text, which tell each loss once.
func once(lost lose) lose {
	var told []*loss.Rule
	return func(r *loss.Rule) {
		if !slices.Contains(told, r) {
			told = append(told, r)
			lost(r)
		}
	}
}

// cite keeps a citation of a text until that is closed.
func (s *stream) cite(b *streamed, c *content.Citation) {
	if ofMetadata(*c) {
		return
	}
	size := len(c.Text) + len(c.Title) + len(c.URL)
	if b.kind != textBlock || b.raw || len(b.cites) >= maxCites || b.citesSize+size > maxCitesSize {
		if !b.over {
			b.over = true
			s.lose(b, unsaidCites)
		}
		return
	}
	b.citesSize += size
	b.cites = append(b.cites, *c)
}

// cited tells what a text that is being closed has cited.
func (s *stream) cited(b *streamed) {
	if len(b.cites) > 0 {
		s.candidates[b.k].grounds.cited(b.cites, b.told, "", once(func(r *loss.Rule) { s.lose(b, r) }))
	}
}

// joins counts a piece of a block's text.
func (p *progress) joins(b *streamed, text string) {
	if p.kind != b.kind {
		p.kind, p.text = b.kind, segment{part: p.told}
		p.told++
	}
	if b.told.end == b.told.start || b.told.part != p.text.part {
		b.told = segment{p.text.part, p.text.end, p.text.end}
	}
	p.text.end += width(text)
	b.told.end = p.text.end
}
