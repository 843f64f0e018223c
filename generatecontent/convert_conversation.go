package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

// placeholderSignature is the value that the vendor documents for a tool call without a
// known signature. It is not sent as base64, because Vertex rejects that.
const placeholderSignature = "skip_thought_signature_validator"

// turns converts turns and drops empty ones. It joins adjacent assistant turns. It also
// joins the results of a step, which the vendor requires in one turn directly after the
// turn with the calls.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	turns = envelope.AttachSignatures(Format, turns)
	gone := foreign.FindExpired(turns)
	c.currentTurn = currentTurn(turns, gone)
	for c.lastAssistant = len(turns) - 1; c.lastAssistant >= 0 && turns[c.lastAssistant].Role != content.RoleAssistant; {
		c.lastAssistant--
	}
	list := turns[:0:len(turns)] // a prefix of turns while nothing has changed
	own := false
	var grown, called bool // whether the last turn of list has a copied list of parts, and a tool call
	for i := range turns {
		if gone.Contains(i, &turns[i]) {
			if !own {
				own, list = true, append(make([]content.Turn, 0, len(turns)), list...)
			}
			continue
		}
		c.path.PushIndex(i)
		c.turnIndex = i
		c.findRun(turns, i)
		t, changed := c.turn(&turns[i], lastOf(list))
		joins := c.joinsLast(lastOf(list), &t)
		changed = c.signFirstCall(&turns[i], &t, joins && called, i) || changed
		switch {
		case len(t.Parts) == 0:
			if !hasOnlyRemoved(turns[i].Parts) {
				c.reportHere(lossEmptyTurn)
			}
			changed = true
		case joins && codec.Own(t.Extra, Format) != nil:
			c.reportHere(lossJoinedMembers, "extra")
		}
		c.path.Pop()
		if (changed || joins) && !own {
			own, list = true, append(make([]content.Turn, 0, len(turns)), list...)
		}
		if len(t.Parts) == 0 {
			continue
		}
		called = joins && called || hasCall(t.Parts)
		switch {
		case joins:
			last := lastOf(list)
			if !grown {
				last.Parts = slices.Clip(last.Parts)
			}
			last.Parts = append(last.Parts, t.Parts...)
		case !own:
			list = turns[:i+1]
		default:
			list = append(list, t)
		}
		grown = joins
	}
	if len(turns) == 0 {
		return turns
	}
	return list
}

func lastOf(list []content.Turn) *content.Turn {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// turn converts one turn and reports whether it changed.
func (c *converter) turn(from *content.Turn, last *content.Turn) (t content.Turn, changed bool) {
	t = *from
	c.reportForeign(t.Extra, foreign.Turn)
	if t.Role == content.RoleSystem {
		t.Role, changed = content.RoleUser, true
	}
	if t.Role == content.RoleAssistant && (last == nil || last.Role != content.RoleAssistant) {
		c.calls, c.namesByID, c.results = nil, nil, 0
	}
	c.emptyTurn = t.Role == content.RoleUser && isSilent(t.Parts)
	reported := len(c.Losses.Losses)
	c.path.Push("parts")
	parts, other := c.parts(t.Parts, from.Role)
	c.path.Pop()
	t.Parts = parts
	switch {
	case from.Role == content.RoleSystem && len(parts) > 0:
		c.reportHere(lossSystemTurn)
	case from.Role == content.RoleUser && len(parts) == 0 && (last == nil || last.Role != content.RoleUser) &&
		slices.ContainsFunc(c.Losses.Losses[reported:], isDropped) && c.turnIndex < c.lastAssistant:
		c.reportHere(lossReplacedTurn) // the vendor requires a first user turn and alternating turns
		t.Parts = []content.Part{&content.Text{Text: turnPlaceholder}}
	}
	if t.Role == content.RoleAssistant {
		for _, p := range parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil {
				c.calls, c.namesByID = append(c.calls, u), nil
			}
		}
	}
	return t, changed || other
}

// turnPlaceholder replaces an earlier user turn of which all parts were dropped. The last
// user turn is never replaced.
const turnPlaceholder = "[Here was something that you cannot be shown.]"

func isDropped(l content.Loss) bool { return l.Severity == content.LossDropped }

// findRun finds the end of the run of assistant turns at i, and whether the run has a
// tool call.
func (c *converter) findRun(turns []content.Turn, i int) {
	if i < c.runEnd {
		return
	}
	c.runHasCall = false
	for c.runEnd = i; c.runEnd < len(turns) && turns[c.runEnd].Role == content.RoleAssistant; c.runEnd++ {
		c.runHasCall = c.runHasCall || hasCall(turns[c.runEnd].Parts)
	}
	c.runEnd = max(c.runEnd, i+1)
}

// joinsLast reports whether to join t with the turn before it. Some clients store each
// piece of a streamed response as a turn. It reports a loss if the order of tool calls
// or results depends on it. A turn that may stay separate is not joined if it has
// members of this format.
func (c *converter) joinsLast(last, t *content.Turn) bool {
	if last == nil || last.Role != t.Role || len(t.Parts) == 0 {
		return false
	}
	switch {
	case t.Role == content.RoleUser && hasResult(t.Parts):
		c.reportHere(lossJoinedResults)
		return true
	case t.Role == content.RoleAssistant && c.runHasCall:
		c.reportHere(lossJoinedCalls)
		return true
	}
	return t.Role == content.RoleAssistant && codec.Own(t.Extra, Format) == nil
}

// signFirstCall adds a signature to the first tool call of a step if the target requires
// one, and reports whether it did. The vendor does not check earlier turns. They have
// the placeholder too, which keeps the beginning of the conversation equal.
func (c *converter) signFirstCall(from, t *content.Turn, later bool, i int) bool {
	if !c.target.SignedCalls || later || t.Role != content.RoleAssistant {
		return false
	}
	at := slices.IndexFunc(t.Parts, isCall)
	if at < 0 {
		return false
	}
	call := t.Parts[at].(*content.ToolUse)
	if call.Signature.Format == Format && call.Signature.Data != "" {
		return false
	}
	c.path.Push("parts")
	c.path.PushIndex(slices.IndexFunc(from.Parts, isCall))
	if i >= c.currentTurn {
		c.reportHere(lossMissingSignature, "signature")
	} else {
		c.reportHere(lossMissingEarlierSignature, "signature")
	}
	c.path.Pop()
	c.path.Pop()
	q := *call
	q.Signature = content.Signature{Format: Format, Data: placeholderSignature}
	t.Parts = slices.Clone(t.Parts)
	t.Parts[at] = &q
	return true
}

// currentTurn returns where the vendor's current turn begins: at the last user turn with
// a part that is not a tool result.
func currentTurn(turns []content.Turn, gone foreign.Expired) int {
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Role == content.RoleAssistant || gone.Contains(i, &turns[i]) {
			continue
		}
		for _, p := range turns[i].Parts {
			if _, result := p.(*content.ToolResult); !result {
				return i
			}
		}
	}
	return 0
}

func isCall(p content.Part) bool {
	u, ok := p.(*content.ToolUse)
	return ok && u != nil
}

func hasCall(parts []content.Part) bool { return slices.ContainsFunc(parts, isCall) }

func hasResult(parts []content.Part) bool {
	return slices.ContainsFunc(parts, func(p content.Part) bool {
		_, ok := p.(*content.ToolResult)
		return ok
	})
}

// parts converts a list of parts and reports whether it changed.
func (c *converter) parts(parts []content.Part, role content.Role) (list []content.Part, changed bool) {
	l := partList{from: parts, to: parts[:0]}
	for i, p := range parts {
		if p == envelope.Removed {
			l.change()
			continue
		}
		c.path.PushIndex(i)
		one, more := c.part(p, role)
		c.path.Pop()
		if one == p && len(more) == 0 {
			l.keep(i)
			continue
		}
		l.change()
		if one != nil {
			l.add(one)
		}
		l.add(more...)
	}
	return l.list()
}

// part converts a part. It returns p, its replacement, or nil if p cannot be
// represented, and the parts that follow the replacement. A nil part is kept: the
// encoder reports it.
func (c *converter) part(p content.Part, role content.Role) (one content.Part, more []content.Part) {
	if content.IsNil(p) {
		return p, nil
	}
	if role == content.RoleSystem {
		switch q := p.(type) {
		case *content.Text:
		case *content.Unknown:
			return c.vendorPart(p, q.Format), nil
		default:
			c.reportHere(lossSystemFile)
			return nil, nil
		}
	}
	switch q := p.(type) {
	case *content.Text:
		return c.textPart(q), nil
	case *content.Image:
		return c.filePart(p, "image/jpeg"), nil
	case *content.Document:
		return c.documentPart(q)
	case *content.Media:
		return c.filePart(p, ""), nil
	case *content.Thinking:
		return c.thinkingPart(q), nil
	case *content.ToolUse:
		c.reportMarks(q.Signature, q.Cache, q.Extra)
		return p, nil
	case *content.ToolResult:
		return c.resultPart(q)
	case *content.SearchResult:
		return c.searchResultPart(q)
	case *content.ServerToolUse:
		return c.vendorPart(p, q.Format), nil
	case *content.ServerToolResult:
		return c.vendorPart(p, q.Format), nil
	case *content.Unknown:
		return c.vendorPart(p, q.Format), nil
	}
	c.reportHere(codec.ForeignPart)
	return nil, nil
}

// filePart converts an image, audio or video. usual is the media type of a link without
// one, or "". filePart returns nil if the source cannot be represented.
func (c *converter) filePart(p content.Part, usual string) content.Part {
	f := partfield.Of(p)
	c.reportMarks(*f.Signature, *f.Cache, *f.Extra)
	switch s := c.source(*f.Source, usual); s {
	case *f.Source:
		return p
	case nil:
		return nil
	default:
		return partfield.WithSource(p, s)
	}
}

// vendorPart converts a part that only the vendor of f can read. It returns nil for
// other formats.
func (c *converter) vendorPart(p content.Part, f content.Format) content.Part {
	if f == Format {
		return p
	}
	c.reportHere(codec.ForeignPart)
	return nil
}

// reportMarks reports a signature, a cache mark and members that the format does not have.
func (c *converter) reportMarks(s content.Signature, m *content.Cache, x *content.Extra) {
	if s.Data != "" && s.Format != Format {
		c.reportHere(codec.ForeignSignature, "signature")
	}
	c.reportCache(m)
	c.reportForeign(x, foreign.Part)
}

// textPart converts a text. The vendor rejects an empty text next to other parts, unless
// it is signed.
func (c *converter) textPart(p *content.Text) content.Part {
	c.reportMarks(p.Signature, p.Cache, p.Extra)
	if len(p.Citations) > 0 {
		c.reportHere(lossEarlierCitations, "citations")
	}
	if c.emptyTurn { // the vendor accepts a message with one empty text
		c.emptyTurn = false
		return p
	}
	if p.Text == "" && (p.Signature.Data == "" || p.Signature.Format != Format) {
		c.reportHere(lossEmptyText)
		return nil
	}
	return p
}

// thinkingPart converts thinking. It keeps unsigned thinking and thinking that this vendor
// signed.
func (c *converter) thinkingPart(p *content.Thinking) content.Part {
	switch {
	case p.Redacted != (content.Signature{}), p.Signature.Data != "" && p.Signature.Format != Format:
		c.reportHere(lossForeignThinking)
		return nil
	case p.Text == "" && p.Signature.Data == "":
		c.reportHere(lossEmptyText)
		return nil
	}
	c.reportForeign(p.Extra, foreign.Part)
	return p
}

// documentPart converts a document. A document that is a list of parts becomes these parts.
func (c *converter) documentPart(p *content.Document) (one content.Part, more []content.Part) {
	c.reportMarks(p.Signature, p.Cache, p.Extra)
	if p.Citations {
		c.reportHere(lossDocumentCitations, "citations")
	}
	var list []content.Part
	if head := strings.TrimSpace(p.Title + "\n" + p.Context); head != "" {
		c.reportHere(lossDocumentTitle)
		list = append(list, &content.Text{Text: head})
	}
	switch s := p.Source.(type) {
	case *content.Parts:
		if s == nil {
			return p, nil
		}
		c.reportHere(lossDocumentParts, "source")
		c.path.Push("source")
		c.path.Push("parts")
		parts, _ := c.parts(s.Parts, content.RoleUser)
		c.path.Pop()
		c.path.Pop()
		return headOf(append(list, parts...))
	case *content.PlainText:
		if s != nil && s.Text == "" {
			c.reportHere(lossEmptyText)
			return headOf(list)
		}
	}
	s := c.source(p.Source, defaultDocumentType)
	if s == p.Source && len(list) == 0 {
		return p, nil
	}
	if s == nil {
		return headOf(list)
	}
	copied := *p
	copied.Source = s
	return headOf(append(list, &copied))
}

// headOf returns the first of a list, or nil, and the others.
func headOf(list []content.Part) (one content.Part, more []content.Part) {
	if len(list) == 0 {
		return nil, nil
	}
	return list[0], list[1:]
}

// searchResultPart converts a search result to texts.
func (c *converter) searchResultPart(p *content.SearchResult) (content.Part, []content.Part) {
	c.reportCache(p.Cache)
	c.reportForeign(p.Extra, foreign.Part)
	c.reportHere(lossSearchResult)
	if p.Citations {
		c.reportHere(lossDocumentCitations, "citations")
	}
	c.path.Push("parts")
	parts, _ := c.parts(p.Parts, content.RoleUser)
	c.path.Pop()
	head := strings.TrimSpace(p.Title + "\n" + p.Source)
	if head == "" {
		return headOf(parts)
	}
	return &content.Text{Text: head}, parts
}

// resultPart converts a tool result to one text and then files. If the target does not
// accept files in results, they are in more. A result without a name has the name of its
// tool call.
func (c *converter) resultPart(p *content.ToolResult) (one content.Part, more []content.Part) {
	c.reportCache(p.Cache)
	c.reportForeign(p.Extra, foreign.Part)
	c.path.Push("parts")
	parts, changed := c.parts(p.Parts, content.RoleUser)
	c.path.Pop()
	parts, joined := c.joinTexts(parts)
	name := p.Name
	if name == "" {
		name = c.nameOf(p.ID)
	}
	c.results++
	if c.target.FilesAfterResults {
		if parts, more = splitFiles(parts); len(more) > 0 {
			c.reportHere(lossResultFiles, "parts")
		}
	}
	if !changed && !joined && len(more) == 0 && name == p.Name {
		return p, nil
	}
	q := *p
	q.Parts, q.Name = parts, name
	return &q, more
}

// splitFiles separates the files of a result from its other parts.
func splitFiles(parts []content.Part) (texts, files []content.Part) {
	texts = parts
	for i, p := range parts {
		if partfield.SourceOf(p) == nil {
			if len(files) > 0 {
				texts = append(texts, p)
			}
			continue
		}
		if len(files) == 0 {
			texts = parts[:i:i]
		}
		files = append(files, p)
	}
	return texts, files
}

// joinTexts joins the texts of a result and moves them to the beginning.
func (c *converter) joinTexts(parts []content.Part) (list []content.Part, changed bool) {
	texts, front := 0, true
	for i, p := range parts {
		if t, ok := p.(*content.Text); ok && t != nil {
			texts++
			front = front && i == texts-1
		}
	}
	if texts == 0 || texts == 1 && front {
		return parts, false
	}
	c.reportHere(lossResultTextsJoined, "parts")
	list = append(list, &content.Text{Text: strings.Join(resultTexts(parts), "\n")})
	for _, p := range parts {
		if t, ok := p.(*content.Text); !ok || t == nil {
			list = append(list, p)
		}
	}
	return list, true
}

// nameOf returns the name of the tool call that a result belongs to. It finds the call
// by its id, or by its position if id is empty. It returns "" if there is no such call.
func (c *converter) nameOf(id string) string {
	if c.results < len(c.calls) {
		// Usually it is the call at the same position, which needs no table.
		if u := c.calls[c.results]; id == "" || u.ID == id {
			return u.Name
		}
	}
	if id == "" {
		return ""
	}
	if c.namesByID == nil {
		c.namesByID = make(map[string]string, len(c.calls))
		for _, u := range slices.Backward(c.calls) { // the first call of an id wins
			c.namesByID[u.ID] = u.Name
		}
	}
	if name, ok := c.namesByID[id]; ok {
		return name
	}
	return c.earlierName(id)
}

// earlierName finds the name of a tool call in all earlier turns, because some clients
// drop turns.
func (c *converter) earlierName(id string) string {
	if c.earlierNames == nil {
		c.earlierNames = make(map[string]string)
	}
	for ; c.indexedTurns < c.turnIndex; c.indexedTurns++ {
		for _, p := range c.from.Turns[c.indexedTurns].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil && u.ID != "" {
				c.earlierNames[u.ID] = u.Name
			}
		}
	}
	return c.earlierNames[id]
}

// linkTypes maps the endings of links to media types.
var linkTypes = [...][2]string{
	{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".gif", "image/gif"},
	{".webp", "image/webp"},
}

// defaultDocumentType is the media type of a linked document without one. Other formats
// accept links to no other documents.
const defaultDocumentType = "application/pdf"

// source converts a source. It returns s, its replacement, or nil if s cannot be
// represented. A nil source is kept: the encoder reports it.
func (c *converter) source(s content.Source, usual string) content.Source {
	c.path.Push("source")
	defer c.path.Pop()
	switch s := s.(type) {
	case *content.Base64:
		if s == nil {
			break
		}
		c.reportForeign(s.Extra, foreign.Part)
		if s.MediaType == "" {
			return c.detectType(s)
		}
	case *content.PlainText:
		if s != nil {
			c.reportForeign(s.Extra, foreign.Part)
		}
	case *content.URL:
		if s == nil {
			break
		}
		c.reportForeign(s.Extra, foreign.Part)
		if s.MediaType != "" || usual == "" || c.Own(s.Extra) != nil || c.target.FilesInlined && !c.from.ForwardLinks {
			break
		}
		copied := *s
		if copied.MediaType = usual; usual != defaultDocumentType {
			c.reportHere(lossGuessedType, "media_type")
			copied.MediaType = guessMediaType(s.URL, usual)
		}
		return &copied
	case *content.File:
		if s == nil {
			break
		}
		c.reportForeign(s.Extra, foreign.Part)
		if !c.target.FilesInlined && !strings.Contains(s.ID, "://") && s.MediaType == "" {
			c.reportHere(lossForeignFile)
			return nil
		}
	}
	return s
}

// detectType adds the media type that the first bytes of a file show.
func (c *converter) detectType(s *content.Base64) content.Source {
	t := media.File{Data: s.Data}.Detect()
	if t == "" {
		return s
	}
	c.reportHere(lossDetectedType, "media_type")
	copied := *s
	copied.MediaType = t
	return &copied
}

func guessMediaType(url, usual string) string {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	for _, e := range linkTypes {
		if strings.HasSuffix(strings.ToLower(url), e[0]) {
			return e[1]
		}
	}
	return usual
}

// hasOnlyRemoved reports whether all parts were signatures that have been attached to
// other parts.
func hasOnlyRemoved(parts []content.Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p content.Part) bool { return p != envelope.Removed })
}

// A partList converts a list of parts. It is a prefix of the original list until a part
// changes.
type partList struct {
	from, to []content.Part
	copied   bool
}

// keep keeps the part at i.
func (l *partList) keep(i int) {
	if !l.copied {
		l.to = l.from[:i+1]
		return
	}
	l.to = append(l.to, l.from[i])
}

// change copies the list.
func (l *partList) change() {
	if !l.copied {
		l.copied = true
		l.to = append(make([]content.Part, 0, len(l.from)+1), l.to...)
	}
}

// add adds new parts.
func (l *partList) add(parts ...content.Part) {
	l.change()
	l.to = append(l.to, parts...)
}

// list returns the converted list and whether it changed.
func (l *partList) list() ([]content.Part, bool) {
	if !l.copied {
		return l.from, false
	}
	return slices.Clip(l.to), true
}
