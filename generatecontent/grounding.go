package generatecontent

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// Citations become groundingMetadata: each source is a chunk, and each cited segment of a
// text is a support, which refers to chunks by number.

// A segment is a range of bytes in a part of a candidate. In a stream, it refers to the
// texts that clients join.
type segment struct {
	part       int // index of the part
	start, end int // bytes in its text
}

// A groundingState holds the pending groundingMetadata of a candidate.
type groundingState struct {
	chunks, supports []byte // elements, each followed by a comma
	queries          []byte // the same
	sourceCount      int    // chunks that were added to the response
	known            map[string]int
	knownSize        int // bytes of the keys of known
}

const (
	groundingMember  = "groundingMetadata"
	maxKnownSources  = 32 << 10 // bytes of sources that are not repeated
	maxCitations     = 1000     // of a streamed text
	maxCitationsSize = 1 << 20  // bytes of the citations of a streamed text
)

// addSource adds the source of a citation and returns its number, or -1 if the citation
// has no source.
func (g *groundingState) addSource(c *content.Citation, report lossFunc) int {
	chunk, whole := appendChunk(nil, c)
	if chunk == nil {
		report(lossCitationSource)
		return -1
	}
	if !whole {
		report(lossCitationPassage)
	}
	if response.HasPlace(c) {
		report(response.LossCitedPlace)
	}
	if i, ok := g.known[string(chunk)]; ok {
		return i
	}
	g.chunks = append(append(g.chunks, chunk...), ',')
	if g.knownSize += len(chunk); g.knownSize <= maxKnownSources {
		if g.known == nil {
			g.known = make(map[string]int)
		}
		g.known[string(chunk)] = g.sourceCount
	}
	g.sourceCount++
	return g.sourceCount - 1
}

// appendChunk appends the source of a citation. whole is false if the citation refers to a
// location within the source. chunk is nil if the citation has no source.
func appendChunk(dst []byte, c *content.Citation) (chunk []byte, whole bool) {
	switch {
	case c.Kind == content.CiteWeb && c.URL != "", strings.HasPrefix(c.URL, "https://"), strings.HasPrefix(c.URL, "http://"):
		dst = jsonwire.AppendString(append(dst, `{"web":{"uri":`...), c.URL)
		dst = jsonwire.AppendString(append(dst, `,"title":`...), cmp.Or(c.Title, c.URL)) // vendors always send one
		return append(dst, "}}"...), c.Text == "" && c.Extra == nil && (c.Kind == content.CiteWeb || c.Start == 0 && c.End == 0)
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

// addSupport adds a support of a segment by numbered sources. text is the text of the
// segment, or empty.
func (g *groundingState) addSupport(s segment, text string, sources []int) {
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

// addCitations adds the citations of a segment.
func (g *groundingState) addCitations(list []content.Citation, at segment, text string, report lossFunc) {
	if at.start == at.end && !slices.ContainsFunc(list, isFromMetadata) { // one pass
		report(lossEmptyCited)
		return
	}
	var sources []int
	for i := range list {
		if isFromMetadata(list[i]) {
			continue
		}
		if n := g.addSource(&list[i], report); n >= 0 {
			sources = append(sources, n)
		}
	}
	g.addSupport(at, text, sources)
}

// hosted returns the part for a call of another vendor's tool, or for its result. It returns nil for a
// search, of which the metadata has the query and the sources.
func (s *responseEncoder) hosted(b *sentBlock, h *foreign.Hosted) content.Part {
	if h.Search {
		g := &s.candidate(b.Candidate).grounding
		if h.Input != "" {
			g.queries = append(jsonwire.AppendString(g.queries, h.Input), ',')
		}
		for _, f := range h.Found {
			g.addSource(&content.Citation{Kind: content.CiteWeb, URL: f.URL, Title: f.Title}, s.LossesOf(b))
		}
		return nil
	}
	if h.Files {
		s.Lose(b, foreign.FilesOfCode)
	}
	var w jsonwire.Writer
	w.BeginObject()
	if h.Call {
		language := "PYTHON"
		if h.Shell {
			language = "LANGUAGE_UNSPECIFIED"
		}
		w.Member("language", language)
		w.Member("code", h.Input)
		w.EndObject()
		return &content.ServerToolUse{Format: Format, Kind: executableCode, ID: h.ID, Name: "codeExecution", Input: w.Text()}
	}
	outcome := "OUTCOME_OK"
	if h.Failed {
		outcome = "OUTCOME_FAILED"
	}
	w.Member("outcome", outcome)
	w.OptMember("output", h.Output)
	w.EndObject()
	return &content.ServerToolResult{Format: Format, Kind: codeExecutionResult, ID: h.ID, Content: w.Text()}
}

// encodedLen returns the number of bytes of s after invalid UTF-8 is replaced by U+FFFD.
func encodedLen(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += utf8.RuneLen(r)
	}
	return n
}

// pending returns the number of pending bytes.
func (g *groundingState) pending() int { return len(g.chunks) + len(g.supports) + len(g.queries) }

// flushGrounding moves pending metadata to the members of the candidate. If the vendor
// sent groundingMetadata, the pending metadata is dropped.
func (s *responseEncoder) flushGrounding(k int) {
	c := s.candidate(k)
	g := &c.grounding
	if g.pending() == 0 {
		return
	}
	if c.members.Get(groundingMember) != "" {
		s.LoseAt(response.CandidatePath(s.Candidates[k].Index, groundingMember), lossCitationsReplaced)
	} else {
		b := []byte{'{'}
		b = appendElements(b, `"groundingChunks":[`, g.chunks)
		b = appendElements(b, `"groundingSupports":[`, g.supports)
		b = appendElements(b, `"webSearchQueries":[`, g.queries)
		b[len(b)-1] = '}'
		c.members.Set(groundingMember, string(b))
	}
	g.chunks, g.supports, g.queries = g.chunks[:0], g.supports[:0], g.queries[:0]
}

// appendElements appends open and a list without its last comma, unless list is empty.
func appendElements(dst []byte, open string, list []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(append(dst, open...), list[:len(list)-1]...)
	return append(dst, "],"...)
}

// oncePerRule returns a function that calls report once for each rule.
func oncePerRule(report lossFunc) lossFunc {
	var reported []*loss.Rule
	return func(r *loss.Rule) {
		if !slices.Contains(reported, r) { // bounded by loss.Rule
			reported = append(reported, r)
			report(r)
		}
	}
}

// addCitation stores a citation of a streamed text until the text is closed.
func (s *stream) addCitation(b *sentBlock, c *content.Citation) {
	if isFromMetadata(*c) {
		return
	}
	st := &b.State
	size := len(c.Text) + len(c.Title) + len(c.URL)
	if b.Kind != response.Text || b.Forwarded || len(st.citations) >= maxCitations || st.citationBytes+size > maxCitationsSize {
		if !st.citationsDropped {
			st.citationsDropped = true
			s.blocks.Lose(b, lossCitations)
		}
		return
	}
	st.citationBytes += size
	st.citations = append(st.citations, *c)
}

// flushCitations adds the citations of a text that closes.
func (s *stream) flushCitations(b *sentBlock) {
	if len(b.State.citations) > 0 {
		s.blocks.candidate(b.Candidate).grounding.addCitations(b.State.citations, b.State.span, "", oncePerRule(s.blocks.LossesOf(b)))
		b.State.citations = nil
	}
}

// addText updates the segments of p and b for a piece of the block's text.
func (p *progress) addText(b *sentBlock, text string) {
	span := &b.State.span
	if p.kind != b.Kind || b.Kind == response.Other {
		p.kind, p.span = b.Kind, segment{part: p.parts}
		p.parts++
	}
	if span.end == span.start || span.part != p.span.part {
		*span = segment{p.span.part, p.span.end, p.span.end}
	}
	p.span.end += encodedLen(text)
	span.end = p.span.end
}

// The decoder converts the supports in groundingMetadata to citations of the block that
// has the segment, if that block is certain and still open. The complete metadata is also
// in the Extra of the candidate.

// Limits for one candidate.
const (
	maxSources     = 1000
	maxSourcesSize = 256 << 10 // bytes
	maxPassageText = 16 << 10  // bytes of a text that is searched for passages
)

// sources holds the sources of a candidate, to which its supports refer. Each chunk of a
// stream adds new sources.
type sources struct {
	list  []content.Citation // without Kind for sources that cannot be cited
	size  int
	cited int // citations that were added
}

// A support is a segment that has sources.
type support struct {
	segment
	text  string // of the segment; empty if unknown
	chunk jsonwire.Value
	cited bool
}

// A textPlace is the position of a text in its candidate.
type textPlace struct {
	part  int // index of the part
	start int // bytes of earlier texts
	size  int
	text  string // empty if it is longer than maxPassageText
	only  bool   // in a stream: there was no earlier text, so its part number is irrelevant
}

// readGrounding decodes groundingMetadata. It stores the sources and returns the supports.
func (d *decoder) readGrounding(i int, v jsonwire.Value) (list []support) {
	for _, x := range v.Get("groundingChunks").Elems() {
		d.states[i].sources.add(x, !d.whole)
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
				n, whole := object.Int(f, object.Int32)
				*m.to, ok = int(n), ok && whole && n >= 0
			}
		}
		if ok && one.end > one.start && (one.text == "" || len(one.text) == one.end-one.start) && len(list) < maxCitations {
			list = append(list, one)
		}
	}
	return list
}

// add appends a source. For a stream it copies the strings, so that they do not retain
// their document.
func (s *sources) add(v jsonwire.Value, copied bool) {
	if len(s.list) == maxSources {
		return // later sources cannot be cited
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
	if s.size += len(c.URL) + len(c.Title) + len(c.Text); s.size > maxSourcesSize {
		c = content.Citation{}
	}
	if copied {
		c.URL, c.Title, c.Text = strings.Clone(c.URL), strings.Clone(c.Title), strings.Clone(c.Text)
	}
	s.list = append(s.list, c)
}

// addPiece records a part of the current document that continues the open text. Supports
// of the same document may refer to its parts.
func (c *candidateState) addPiece(text string) {
	p := textPlace{part: c.partIndex, size: len(text)}
	if len(text) <= maxPassageText {
		p.text = text
	}
	c.textPieces = append(c.textPieces, p)
}

// matches reports whether a support refers to the text that is open or was last. Servers
// count bytes within the part, or within all texts of the candidate. In a complete
// response or a first chunk, the part numbers are unambiguous. In later chunks, they are
// those of the chunk or of the response so far. They are those of the chunk only if the
// text of the support is found there.
func (c *candidateState) matches(s *support) bool {
	k, in := slices.BinarySearchFunc(c.textPieces, s.part, func(p textPlace, part int) int { return p.part - part })
	in = in && c.textPieces[k].matchesInPart(s)
	switch {
	case c.firstChunk:
		return in || s.part == 0 && c.textAt.matchesInAll(s)
	case in && c.textPieces[k].hasText(s):
		return true
	}
	return c.textAt.matchesInPart(s) || c.textAt.matchesInAll(s)
}

// hasText reports whether the texts of p and s are both known, so that they must be equal.
func (p *textPlace) hasText(s *support) bool { return p.text != "" && s.text != "" }

// matchesInPart reports whether s refers to p if its bytes are counted within the part.
func (p *textPlace) matchesInPart(s *support) bool {
	return s.part == p.part && s.end <= p.size && (!p.hasText(s) || p.text[s.start:s.end] == s.text)
}

// matchesInAll reports whether s refers to p if its bytes are counted within all texts.
func (p *textPlace) matchesInAll(s *support) bool {
	start, end := s.start-p.start, s.end-p.start
	switch {
	case s.part != 0 && !p.only || end <= 0 || end > p.size:
		return false
	case !p.hasText(s):
		return true
	}
	return start >= 0 && p.text[start:end] == s.text || start < 0 && strings.HasSuffix(s.text, p.text[:end])
}

// citeOpenText adds the citations of the text that is open in a stream.
func (d *decoder) citeOpenText(i int) {
	if c := &d.states[i]; c.openText >= 0 && !c.lastIsThinking {
		d.cite(i, c.openText)
	}
}

// cite adds the citations of a block, the last text.
func (d *decoder) cite(i, block int) {
	if len(d.states[i].pending) == 0 {
		return
	}
	if c := &d.states[i]; !d.whole && c.textAt.size <= maxPassageText {
		c.textAt.text = string(c.keptText)
		defer func() { c.textAt.text = "" }()
	}
	from := &d.states[i].sources
	for k := range d.states[i].pending {
		s := &d.states[i].pending[k]
		if s.cited || !d.states[i].matches(s) {
			continue
		}
		s.cited = true
		var mark *content.Extra
		for _, x := range s.chunk.Elems() {
			n, ok := object.Int(x, object.Int32)
			if !ok || n < 0 || n >= int64(len(from.list)) || from.list[n].Kind == "" || from.cited == maxCitations {
				continue
			}
			from.cited++
			if mark == nil {
				mark = s.extra()
			}
			c := from.list[n]
			c.Extra = mark
			d.add(upstream.Event{Kind: upstream.EventCitation, Block: block, Candidate: i, Citation: &c})
		}
	}
}

const segmentMark = `{"segment":{`

// extra returns the Extra of a citation, with the segment.
func (s *support) extra() *content.Extra {
	b := []byte(segmentMark)
	if s.part > 0 {
		b = append(jsonwire.AppendInt(append(b, `"partIndex":`...), int64(s.part)), ',')
	}
	b = jsonwire.AppendInt(append(b, `"startIndex":`...), int64(s.start))
	b = jsonwire.AppendInt(append(b, `,"endIndex":`...), int64(s.end))
	return &content.Extra{Format: Format, JSON: string(append(b, "}}"...))}
}

// isFromMetadata reports whether a citation was decoded from groundingMetadata, which is
// also in the Extra of the candidate.
func isFromMetadata(c content.Citation) bool {
	return c.Extra != nil && c.Extra.Format == Format && strings.HasPrefix(c.Extra.JSON, segmentMark)
}
