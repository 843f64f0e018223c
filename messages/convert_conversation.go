package messages

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

// A turnState is the state of the converter while it converts turns.
type turnState struct {
	calls []pendingCall   // tool calls of the assistant without a result so far
	open  map[string]bool // their ids; nil until needed

	moved   []content.Part // files for the next user turn
	movedAt []string       // their paths

	returned    map[content.Signature]int // index in the turn of each returned thinking block of the run; -1: not yet converted
	carriedText string                    // the rest of the thinking texts that the signatures of the run carry
}

// A pendingCall is a tool call or a result, with its place.
type pendingCall struct {
	id         string
	turn, part int
}

// turns converts a conversation. Consecutive turns of a role are a run, which the vendor
// treats as one turn.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	if len(turns) == 0 {
		return turns
	}
	roles := c.roles(turns)
	list := make([]content.Turn, 0, len(turns)+1)
	for i, j := 0, 0; i < len(turns); i = j {
		j = i + 1
		if hasRuns(roles[i]) {
			for j < len(turns) && roles[j] == roles[i] {
				j++
			}
		}
		switch run := turns[i:j]; {
		case roles[i] == leading:
			c.leadingTurn(turns[i], i)
		case roles[i] == content.RoleAssistant:
			list = c.assistant(list, run, i)
		case roles[i] == content.RoleUser:
			list = c.user(list, run, i)
		default:
			list = c.otherTurn(list, turns[i], i)
		}
	}
	for _, path := range c.movedAt {
		c.lose(lossImage, path)
	}
	c.trimSpace(list, len(turns)-1)
	return list
}

// hasRuns reports whether consecutive turns of a role are a run.
func hasRuns(r content.Role) bool { return r == content.RoleUser || r == content.RoleAssistant }

// leading is the role of a system turn before the conversation.
const leading content.Role = "leading system"

// roles returns the new role of each turn. System turns keep theirs where the format
// accepts it.
func (c *converter) roles(turns []content.Turn) []content.Role {
	roles := make([]content.Role, len(turns))
	before := -1 // the last user or assistant turn
	next := 0    // the next turn that is not a system turn
	for i := range turns {
		if roles[i] = turns[i].Role; roles[i] != content.RoleSystem {
			before = i
			continue
		}
		for next = max(next, i+1); next < len(turns) && turns[next].Role == content.RoleSystem; next++ {
		}
		last := next == len(turns) || turns[next].Role == content.RoleAssistant
		switch {
		case c.isNative(&turns[i]):
		case before < 0:
			roles[i] = leading
		case last && turns[before].Role == content.RoleUser && roles[i-1] != content.RoleAssistant,
			last && turns[before].Role == content.RoleAssistant && endsServed(turns[before].Parts):
		default:
			roles[i] = content.RoleUser
			c.lose(lossSystemTurn, turnPath(i))
		}
	}
	return roles
}

// isNative reports whether a system turn has content that only this format has.
func (c *converter) isNative(t *content.Turn) bool {
	if len(t.Parts) == 0 || t.Extra != nil && c.Own(t.Extra) != nil {
		return true
	}
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool {
		u, ok := p.(*content.Unknown)
		return ok && u != nil && u.Format == Format
	})
}

// endsServed reports whether a turn ends with the result of a built-in tool.
func endsServed(parts []content.Part) bool {
	if len(parts) == 0 {
		return false
	}
	_, ok := parts[len(parts)-1].(*content.ServerToolResult)
	return ok
}

func turnPath(i int) string { return "turns." + strconv.Itoa(i) }

func partOf(i, k int) string { return turnPath(i) + ".parts." + strconv.Itoa(k) }

// leadingTurn converts a system turn before the conversation to system text.
func (c *converter) leadingTurn(t content.Turn, i int) {
	c.lose(lossLeadingTurn, turnPath(i))
	parts, _ := c.parts(t.Parts, turnPath(i)+".parts", content.RoleSystem)
	c.to.System = append(slices.Clip(c.to.System), mergeBlank(parts)...)
}

// otherTurn converts a turn that is neither the user's nor the assistant's.
func (c *converter) otherTurn(list []content.Turn, t content.Turn, i int) []content.Turn {
	c.foreignExtra(t.Extra, foreign.Turn, turnPath(i))
	if len(t.Parts) == 0 {
		return append(list, t)
	}
	parts, _ := c.parts(t.Parts, turnPath(i)+".parts", t.Role)
	if t.Parts = mergeBlank(parts); len(t.Parts) == 0 && c.Own(t.Extra) == nil {
		return list
	}
	return append(list, t)
}

// assistant converts a run of assistant turns.
func (c *converter) assistant(list []content.Turn, run []content.Turn, first int) []content.Turn {
	c.calls = c.calls[:0]
	for k := range run {
		for i, p := range run[k].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil {
				c.calls = append(c.calls, pendingCall{u.ID, first + k, i})
			}
		}
	}
	atEnd := first+len(run) == len(c.from.Turns)
	for _, t := range c.convertRun(run, first, content.RoleAssistant) {
		t.Parts = mergeBlank(t.Parts)
		if len(t.Parts) > 0 || atEnd && len(run[len(run)-1].Parts) == 0 {
			list = append(list, t)
		}
	}
	return list
}

// user converts a run of user turns. The results of tool calls are first, then moved files.
func (c *converter) user(list []content.Turn, run []content.Turn, first int) []content.Turn {
	for k, t := range c.convertRun(run, first, content.RoleUser) {
		t.Parts = mergeBlank(t.Parts)
		if k == 0 && !(c.to.continues() && len(c.calls) == 0) { // otherwise the calls are in the stored thread
			t.Parts = c.placeResults(t.Parts, run, first)
		}
		t.Role = content.RoleUser
		if len(t.Parts) > 0 {
			list = append(list, t)
		}
	}
	c.calls = c.calls[:0]
	return list
}

// convertRun converts the turns of a run. Assistant turns become one turn, because some
// clients store each block of a streamed response as a turn. User turns are joined
// only if tool calls require it; the vendor joins others itself.
func (c *converter) convertRun(run []content.Turn, first int, role content.Role) []content.Turn {
	c.returned, c.carriedText = nil, ""
	carries := role == content.RoleAssistant && slices.ContainsFunc(run, hasCarrierPart)
	if carries {
		c.noteThinking(run)
	}
	for k := range run {
		if x := run[k].Extra; x != nil {
			c.foreignExtra(x, foreign.Turn, turnPath(first+k))
		}
		if len(run[k].Parts) == 0 && (role != content.RoleAssistant || first+k+1 < len(c.from.Turns)) {
			c.lose(lossEmpty, turnPath(first+k))
		}
	}
	if len(run) == 1 && !carries {
		return []content.Turn{c.convertTurn(run[0], first, role)}
	}
	binds := slices.ContainsFunc(run, mustJoin)
	if role == content.RoleUser && !binds {
		list := make([]content.Turn, len(run))
		for k, t := range run {
			list[k] = c.convertTurn(t, first+k, role)
		}
		return list
	}
	if len(run) > 1 && binds {
		c.lose(lossJoined, turnPath(first+1))
	}
	return []content.Turn{c.joinRun(run, first, role)}
}

func (c *converter) convertTurn(t content.Turn, i int, role content.Role) content.Turn {
	t.Parts, _ = c.parts(t.Parts, turnPath(i)+".parts", role)
	return t
}

// joinRun joins a run to one turn and restores the thinking that its parts carry.
func (c *converter) joinRun(run []content.Turn, first int, role content.Role) content.Turn {
	all := run[0]
	n := 0
	for k := range run {
		n += len(run[k].Parts)
		if x := run[k].Extra; all.Extra == nil {
			all.Extra = x
		} else if k > 0 && c.Own(x) != nil {
			c.lose(lossJoined, turnPath(first+k)+".extra")
		}
	}
	all.Parts = make([]content.Part, 0, n)
	from, path := 0, "" // from is the beginning of the current step, path that of the current part
	for k := range run {
		for i, p := range run[k].Parts {
			path = partOf(first+k, i)
			var s content.Signature
			if role == content.RoleAssistant {
				s = carrierSignature(p)
			}
			_, after := p.(*content.Text)
			if s.Data != "" && !after {
				all.Parts = c.restoreThinking(all.Parts, from, s, path)
			}
			if q := c.part(p, path, role); q != nil || p == nil {
				c.noteReturned(q, len(all.Parts))
				all.Parts = append(all.Parts, q)
			}
			if s.Data != "" && after {
				all.Parts = c.restoreThinking(all.Parts, from, s, path)
			}
			if _, call := p.(*content.ToolUse); call || s.Data != "" {
				from = len(all.Parts)
			}
		}
	}
	if c.returned != nil {
		all.Parts = c.dropTrailing(all.Parts, path)
	}
	return all
}

// mustJoin reports whether a turn must be joined with the others of its run.
func mustJoin(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool {
		switch p.(type) {
		case *content.ToolUse, *content.ToolResult, *content.Thinking:
			return true
		}
		return carrierSignature(p).Data != ""
	})
}

// mergeBlank removes blank texts. If a text precedes them, they become part of it.
func mergeBlank(parts []content.Part) []content.Part {
	empty := func(p content.Part) bool {
		t, ok := p.(*content.Text)
		return ok && t != nil && isBlank(t.Text)
	}
	if !slices.ContainsFunc(parts, empty) {
		return parts
	}
	list := make([]content.Part, 0, len(parts))
	var space strings.Builder // blank text after the last part of list
	for _, p := range parts {
		if empty(p) {
			space.WriteString(p.(*content.Text).Text)
			continue
		}
		list = append(appendBlank(list, &space), p)
	}
	return appendBlank(list, &space)
}

// appendBlank appends the blank text in space to the text at the end of list. It is called
// once for all blank texts at a place.
func appendBlank(list []content.Part, space *strings.Builder) []content.Part {
	s := space.String()
	space.Reset()
	if s == "" || len(list) == 0 {
		return list
	}
	if t, ok := list[len(list)-1].(*content.Text); ok && t != nil && len(t.Citations) == 0 {
		glued := *t
		glued.Text += s
		list[len(list)-1] = &glued
	}
	return list
}

// trimSpace trims the end of a response that is to be continued.
func (c *converter) trimSpace(list []content.Turn, i int) {
	if len(list) == 0 {
		return
	}
	last := &list[len(list)-1]
	if last.Role != content.RoleAssistant || len(last.Parts) == 0 {
		return
	}
	t, ok := last.Parts[len(last.Parts)-1].(*content.Text)
	if !ok || t == nil {
		return
	}
	if s := strings.TrimRightFunc(t.Text, unicode.IsSpace); s != t.Text {
		trimmed := *t
		trimmed.Text = s
		last.Parts = append(slices.Clone(last.Parts[:len(last.Parts)-1]), &trimmed)
		c.lose(lossTrailingSpace, turnPath(i))
	}
}

// system converts the system parts, which must be texts. Files are moved to the beginning of
// the conversation.
func (c *converter) system(parts []content.Part) []content.Part {
	list, _ := c.parts(parts, "system", content.RoleSystem)
	return mergeBlank(list)
}

// parts converts a list of parts and reports whether it differs from the original.
func (c *converter) parts(parts []content.Part, path string, role content.Role) (list []content.Part, changed bool) {
	return codec.Rewrite(parts, func(i int, p content.Part) (q content.Part, changed, keep bool) {
		q = c.part(p, path+"."+strconv.Itoa(i), role)
		return q, q != p, q != nil || p == nil
	})
}

// part returns p, its replacement, or nil if Messages cannot represent it. It keeps nil
// parts, which the encoder reports.
func (c *converter) part(p content.Part, path string, role content.Role) content.Part {
	if content.IsNil(p) {
		return p
	}
	if role == content.RoleSystem {
		if p = c.systemPart(p, path); p == nil {
			return nil
		}
	}
	switch q := p.(type) {
	case *content.Text:
		c.reportForeign(q.Signature, q.Extra, path)
		return c.text(q, path)
	case *content.Image:
		c.reportForeign(q.Signature, q.Extra, path)
		return c.moveImage(c.image(q, path), path, role)
	case *content.Document:
		c.reportForeign(q.Signature, q.Extra, path)
		return c.document(q, path)
	case *content.Thinking:
		return c.thinkingPart(q, path)
	case *content.ToolUse:
		c.reportForeign(q.Signature, q.Extra, path)
		return p
	case *content.ToolResult:
		return c.result(q, path)
	case *content.SearchResult:
		return c.searchResult(q, path)
	case *content.Media:
		return c.drop(lossMedia, path)
	case *content.ServerToolUse:
		return c.vendorPart(p, q.Format, q.Extra, path)
	case *content.ServerToolResult:
		return c.vendorPart(p, q.Format, q.Extra, path)
	case *content.Unknown:
		return c.vendorPart(p, q.Format, nil, path)
	}
	return c.Drop(codec.ForeignPart, path) // a kind of a later version
}

// systemPart returns p, or nil if system text cannot contain it. It moves files.
func (c *converter) systemPart(p content.Part, path string) content.Part {
	switch q := p.(type) {
	case *content.Text:
		return p
	case *content.Unknown:
		if q.Format == Format {
			return p
		}
	case *content.Image, *content.Document:
		if q := c.part(p, path, content.RoleUser); q != nil {
			c.lose(lossSystemFile, path)
			c.moved, c.movedAt = append(c.moved, q), append(c.movedAt, path)
		}
		return nil
	}
	return c.drop(lossSystemPart, path)
}

// reportForeign reports the signature and members of other formats.
func (c *converter) reportForeign(s content.Signature, x *content.Extra, path string) {
	c.Signature(s, path)
	c.foreignExtra(x, foreign.Part, path)
}

// foreignExtra reports members of another format. It makes a path only if there are any.
func (c *converter) foreignExtra(x *content.Extra, in foreign.Kind, path string) {
	if x != nil {
		c.Foreign(x, in, path+".extra")
	}
}

// moveImage moves an image of the assistant to the next user turn.
func (c *converter) moveImage(p content.Part, path string, role content.Role) content.Part {
	if role == content.RoleAssistant && p != nil {
		c.lose(lossImageMoved, path)
		c.moved, c.movedAt = append(c.moved, p), append(c.movedAt, path)
		return nil
	}
	return p
}

// vendorPart drops a part of another vendor.
func (c *converter) vendorPart(p content.Part, f content.Format, x *content.Extra, path string) content.Part {
	if p = c.KeepPart(p, f, path); p != nil {
		c.foreignExtra(x, foreign.Part, path)
	}
	return p
}

// thinkingPart keeps thinking that this vendor has signed and drops other thinking. Thinking
// without a signature is not reported if a signature carries its text.
func (c *converter) thinkingPart(p *content.Thinking, path string) content.Part {
	switch {
	case p.Redacted.Format == Format,
		p.Redacted == (content.Signature{}) && p.Signature.Format == Format && p.Signature.Data != "":
		c.foreignExtra(p.Extra, foreign.Part, path)
		return p
	}
	if rest, ok := strings.CutPrefix(c.carriedText, p.Text); ok && p.Signature.Data == "" && p.Redacted.Data == "" && c.returned != nil {
		c.carriedText = rest
		return nil
	}
	return c.drop(lossThinking, path)
}

// searchResult converts a search result.
func (c *converter) searchResult(p *content.SearchResult, path string) content.Part {
	c.foreignExtra(p.Extra, foreign.Part, path)
	parts, changed := c.parts(p.Parts, path+".parts", content.RoleUser)
	uncited := c.dropsCitations(p.Citations, path)
	if !changed && !uncited {
		return p
	}
	q := *p
	q.Parts, q.Citations = parts, q.Citations && !uncited
	return &q
}

// dropsCitations reports whether requested citations cannot be sent.
func (c *converter) dropsCitations(asked bool, path string) bool {
	if !asked || c.schema() == "" {
		return false
	}
	c.lose(lossDocumentCitations, path+".citations")
	return true
}

// text drops the citations that the format does not have.
func (c *converter) text(p *content.Text, path string) content.Part {
	if isBlank(p.Text) && carrierSignature(p).Data == "" {
		c.lose(lossEmpty, path)
		if p.Cache != nil {
			c.lose(lossEmptyMark, path+".cache")
		}
	}
	list, changed := codec.Rewrite(p.Citations, func(i int, cite content.Citation) (content.Citation, bool, bool) {
		at := path + ".citations." + strconv.Itoa(i)
		c.foreignExtra(cite.Extra, foreign.Part, at)
		keep := isCitable(&cite)
		if !keep {
			c.lose(lossCitation, at)
		}
		return cite, false, keep
	})
	if !changed {
		return p
	}
	q := *p
	q.Citations = list
	return &q
}

// isCitable reports whether the format has a form for a citation. Web citations must have
// the encrypted index of the vendor.
func isCitable(c *content.Citation) bool {
	if c.Kind == "" || c.Kind == content.CiteWeb {
		return codec.Own(c.Extra, Format) != nil && !isUnindexed(c)
	}
	return citationFormOf("", c.Kind) != nil
}

// isUnindexed reports whether a web citation is from a response of another vendor. Then it
// has the required index, which is empty.
func isUnindexed(c *content.Citation) bool {
	if c.Kind != content.CiteWeb {
		return false
	}
	index, _ := c.Extra.Get("encrypted_index")
	return index == `""`
}

// image converts an image. It returns nil if the format does not accept its type. It corrects
// a type that does not match the data, which the vendor would reject.
func (c *converter) image(p *content.Image, path string) content.Part {
	c.source(p.Source, path+".source")
	s, ok := p.Source.(*content.Base64)
	if !ok || s == nil {
		return p
	}
	kind := media.Canonical(strings.ToLower(s.MediaType))
	if shown := sniffMediaType(s.Data); slices.Contains(imageTypes, shown) {
		kind = shown
	}
	if !slices.Contains(imageTypes, kind) {
		return c.drop(lossImageType, path)
	}
	if kind == s.MediaType {
		return p
	}
	c.lose(lossTypeMismatch, path+".source.media_type")
	q, typed := *p, *s
	typed.MediaType, q.Source = kind, &typed
	return &q
}

// sniffMediaType returns the type that the first bytes of a base64 file indicate.
func sniffMediaType(data string) string {
	const lead = (media.SniffLen + 2) / 3 * 4
	if len(data) < lead {
		return ""
	}
	var b [lead / 4 * 3]byte
	n, err := base64.StdEncoding.Decode(b[:], []byte(data[:lead]))
	if err != nil {
		return ""
	}
	return media.Detect(b[:n])
}

// document converts a document. It returns nil if the format does not accept its type.
func (c *converter) document(p *content.Document, path string) content.Part {
	c.source(p.Source, path+".source")
	q := *p
	switch s := p.Source.(type) {
	case *content.Parts:
		if s == nil {
			break
		}
		if parts, changed := c.parts(s.Parts, path+".source.parts", content.RoleUser); changed {
			in := *s
			in.Parts, q.Source = parts, &in
		}
	case *content.Base64:
		if s == nil {
			break
		}
		if q.Source = c.documentSource(s, path); q.Source == nil {
			return c.drop(lossDocument, path)
		}
	case *content.PlainText:
		if s != nil && s.Type() != plainType {
			c.lose(lossTextType, path+".source.media_type")
			q.Source = &content.PlainText{Text: s.Text, Extra: c.Own(s.Extra)}
		}
	}
	q.Citations = q.Citations && !c.dropsCitations(q.Citations, path)
	if q.Title = truncate(q.Title, maxTitle); q.Title != p.Title {
		c.lose(lossTitle, path+".title")
	}
	if q.Source == p.Source && q.Citations == p.Citations && q.Title == p.Title {
		return p
	}
	return &q
}

const (
	plainType = "text/plain"
	pdfType   = "application/pdf"
	maxTitle  = 500 // characters
)

// documentSource returns the source of a PDF or of a text file, or nil for other types.
func (c *converter) documentSource(s *content.Base64, path string) content.Source {
	kind := strings.ToLower(s.MediaType)
	if kind, _, _ = strings.Cut(kind, ";"); kind == "" {
		kind = sniffMediaType(s.Data)
	}
	switch {
	case kind == s.MediaType && kind == pdfType:
		return s
	case kind == pdfType:
		c.lose(lossTypeMismatch, path+".source.media_type")
		typed := *s
		typed.MediaType = pdfType
		return &typed
	case !codec.IsText(kind):
		return nil
	}
	b, err := s.Bytes()
	if err != nil || !utf8.Valid(b) {
		return nil
	}
	if kind != plainType {
		c.lose(lossTextType, path+".source.media_type")
	} else {
		c.lose(lossTextSource, path+".source")
	}
	return &content.PlainText{Text: string(b), Extra: c.Own(s.Extra)}
}

// truncate returns at most n characters of s.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// source reports the members of a source that cannot be represented.
func (c *converter) source(s content.Source, path string) {
	c.foreignExtra(partfield.SourceExtra(s), foreign.Part, path)
	switch s.(type) {
	case *content.URL, *content.File:
		if partfield.MediaTypeOf(s) != "" {
			c.lose(lossLinkType, path+".media_type")
		}
	}
}

// restoreThinking restores the thinking that the signature s of the part at path carries,
// except blocks that the client returned. The step of the thinking begins at out[from].
func (c *converter) restoreThinking(out []content.Part, from int, s content.Signature, path string) []content.Part {
	list, ok := envelope.DecodeThinking(Format, s.Data)
	if !ok {
		c.lose(lossThinkingState, path+".signature")
		return out
	}
	list = slices.DeleteFunc(list, func(s envelope.State) bool {
		m := thinkingKey(s.Thinking)
		at, kept := c.returned[m]
		if !kept {
			c.returned[m] = -1
		}
		return kept && at < from || m.Data == "" || s.TextSignature
	})
	if len(list) == 0 {
		return out
	}
	return envelope.Restore(out[:from], slices.Clone(out[from:]), list,
		func(s *envelope.State) int { return c.returned[thinkingKey(s.Thinking)] - from },
		func(s *envelope.State) content.Part { return s.Thinking })
}

// noteReturned stores the index of a thinking block that the client returned.
func (c *converter) noteReturned(p content.Part, at int) {
	if t, ok := p.(*content.Thinking); ok && t != nil && c.returned != nil {
		c.returned[thinkingKey(t)] = at
	}
}

// dropTrailing drops the thinking at the end of a turn, which the vendor rejects. Blank
// texts after it are removed later. path is that of the last part.
func (c *converter) dropTrailing(parts []content.Part, path string) []content.Part {
	end := len(parts)
	for i := end - 1; i >= 0; i-- {
		switch p := parts[i].(type) {
		case *content.Thinking:
			end = i
			continue
		case *content.Text:
			if p != nil && isBlank(p.Text) {
				continue
			}
		}
		break
	}
	if end < len(parts) {
		c.lose(lossTrailingThinking, path)
	}
	return parts[:end]
}

// carrierSignature returns the signature of a part that carries thinking. Messages
// does not sign such parts: a signature of this format on them is a list of
// [envelope.State].
func carrierSignature(p content.Part) content.Signature {
	switch p.(type) {
	case *content.Text, *content.Image, *content.Document, *content.ToolUse, *content.ServerToolUse:
		if s := partfield.SignatureOf(p); s.Format == Format {
			return s
		}
	}
	return content.Signature{}
}

func hasCarrierPart(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool { return carrierSignature(p).Data != "" })
}

// noteThinking stores the thinking blocks of a run, and the thinking texts that its
// signatures carry.
func (c *converter) noteThinking(run []content.Turn) {
	c.returned = make(map[content.Signature]int)
	var texts strings.Builder
	for k := range run {
		for _, p := range run[k].Parts {
			if t, ok := p.(*content.Thinking); ok && t != nil {
				c.returned[thinkingKey(t)] = -1
			}
			states, _ := envelope.DecodeThinking(Format, carrierSignature(p).Data)
			for _, t := range states {
				texts.WriteString(t.Text)
			}
		}
	}
	delete(c.returned, content.Signature{})
	c.carriedText = texts.String()
}

// thinkingKey returns the signature or redacted data of this format, which identifies
// a thinking block. It is zero for other blocks.
func thinkingKey(t *content.Thinking) content.Signature {
	switch Format {
	case t.Redacted.Format:
		return t.Redacted
	case t.Signature.Format:
		return t.Signature
	}
	return content.Signature{}
}

// result converts a tool result.
func (c *converter) result(p *content.ToolResult, path string) content.Part {
	c.foreignExtra(p.Extra, foreign.Part, path)
	var parts []content.Part
	changed := strings.Contains(p.Object, `"$ref"`)
	if changed {
		parts = c.labelFiles(p.Parts, path+".parts")
	} else {
		parts, changed = c.parts(p.Parts, path+".parts", content.RoleUser)
	}
	if tidied := mergeBlank(parts); len(tidied) != len(parts) {
		parts, changed = tidied, true
	}
	if len(parts) == 0 && p.Object != "" {
		parts, changed = []content.Part{&content.Text{Text: p.Object}}, true
		c.lose(lossObject, path)
	}
	if !changed {
		return p
	}
	q := *p
	q.Parts = parts
	return &q
}

// labelFiles converts the parts of a result whose object refers to files by name. It adds
// each name as a text before the file.
func (c *converter) labelFiles(parts []content.Part, path string) []content.Part {
	list := make([]content.Part, 0, 2*len(parts))
	for i, p := range parts {
		if content.IsNil(p) {
			list = append(list, p)
			continue
		}
		name, alone := codec.DisplayName(p) // the converted part may not have a name
		at, before := path+"."+strconv.Itoa(i), len(c.Losses.Losses)
		q := c.part(p, at, content.RoleUser)
		switch {
		case q == nil:
			continue
		case name != "":
			list = append(list, &content.Text{Text: name + ":"})
			if alone {
				c.retract(before, at+".source.extra")
			}
		}
		list = append(list, q)
	}
	return list
}

// retract removes the losses at path, except the first n losses.
func (c *converter) retract(n int, path string) {
	all := c.Losses.Losses
	rest := slices.DeleteFunc(all[n:], func(l content.Loss) bool { return l.Path == path })
	c.Losses.Losses = all[:n+len(rest)]
}

// noResult is the result of a tool call that has none.
const noResult = "The tool returned no result."

// placeResults moves the results of tool calls to the beginning, in their order, followed by
// the moved files. It converts results without a tool call to user content, and adds
// results for tool calls that have none.
func (c *converter) placeResults(parts []content.Part, run []content.Turn, first int) []content.Part {
	if len(c.moved) == 0 && c.hasResults(parts) {
		return parts
	}
	c.indexCalls()
	moved := c.moved
	c.moved, c.movedAt = nil, nil
	results := make([]content.Part, 0, len(parts)+len(moved)+len(c.calls))
	var rest []content.Part
	late := false
	places := resultsOf(run, first)
	for _, p := range parts {
		r, ok := p.(*content.ToolResult)
		if !ok || r == nil {
			rest = append(rest, p)
			continue
		}
		at := places[0] // the number of results does not change
		places = places[1:]
		if !c.open[r.ID] {
			c.lose(lossResultOrphan, partOf(at.turn, at.part))
			rest = append(rest, r.Parts...)
			continue
		}
		delete(c.open, r.ID)
		late = late || len(rest) > 0
		results = append(results, p)
	}
	if late {
		c.lose(lossResultOrder, turnPath(first))
	}
	for _, call := range c.calls {
		if c.open[call.id] {
			delete(c.open, call.id)
			c.lose(lossResultMissing, partOf(call.turn, call.part))
			results = append(results, &content.ToolResult{ID: call.id, Error: true,
				Parts: []content.Part{&content.Text{Text: noResult}}})
		}
	}
	return append(append(results, moved...), rest...)
}

// hasResults reports whether parts begin with the results of the tool calls, in order, and
// contain no other results.
func (c *converter) hasResults(parts []content.Part) bool {
	for i, p := range parts {
		r, ok := p.(*content.ToolResult)
		switch {
		case !ok:
			if i < len(c.calls) {
				return false
			}
		case r == nil:
			return false
		case i >= len(c.calls) || r.ID != c.calls[i].id:
			return false
		}
	}
	return len(parts) >= len(c.calls)
}

// indexCalls stores the ids of the tool calls.
func (c *converter) indexCalls() {
	if c.open == nil {
		c.open = make(map[string]bool, len(c.calls))
	}
	clear(c.open)
	for _, call := range c.calls {
		c.open[call.id] = true
	}
}

// resultsOf returns the results of a run and their places.
func resultsOf(run []content.Turn, first int) (list []pendingCall) {
	for k := range run {
		for i, p := range run[k].Parts {
			if r, ok := p.(*content.ToolResult); ok && r != nil {
				list = append(list, pendingCall{r.ID, first + k, i})
			}
		}
	}
	return list
}
