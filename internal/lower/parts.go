package lower

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/partfield"
)

// A Site is where a part is.
type Site uint8

const (
	InSystem Site = iota
	InUser
	InAssistant
	InResult   // of a tool
	InDocument // of a user, or in a search result; not if these are sent as their texts
)

// Own says where members of the target's own format, and parts that only it has, may be.
type Own struct {
	Members bool // extra members of turns, parts, functions, the tool choice and thinking
	Calls   bool // extra members of tool calls
	Vendor  bool // parts that only the vendor of the format can read

	VendorAssistant bool // these parts may be in assistant turns only

	// Parts reports whether a part may be at a place as it is, for kinds that few formats have. Nil
	// means that none may.
	Parts func(p content.Part, in Site) bool
}

// hasVendorPart reports whether the target accepts parts that only its vendor can read.
func (t *Target) hasVendorPart(in Site) bool {
	return t.Own.Vendor && (in == InAssistant || !t.Own.VendorAssistant)
}

// hasPart reports whether the target has the kind of p, which few formats have, at a place.
func (t *Target) hasPart(p content.Part, in Site) bool {
	return t.Own.Parts != nil && t.Own.Parts(p, in)
}

// Marks are the places where cache marks may be. Tools and tool results have their own fields.
type Marks struct {
	System, User, Assistant bool // on parts there
	TextsOnly               bool // but not on files
	AnyTime                 bool // with any lifetime and other members

	// Least, if not 0, asks for marks in requests without any, where the beginning of the prompt
	// has at least that many tokens: the server does not cache less. See markCaches.
	Least int64

	// Times maps lifetimes to those of the server: its own to themselves, others to the
	// next longer one. Others are not sent, and the server's default applies.
	Times map[string]string
}

// acceptsMark reports whether a part may have a cache mark.
func (t *Target) acceptsMark(in Site) bool {
	switch in {
	case InSystem:
		return t.Marks.System
	case InUser, InDocument:
		return t.Marks.User
	case InResult:
		return t.Results.Marks
	}
	return t.Marks.Assistant
}

// mark returns the cache mark to send for a part.
func (l *lowering) mark(c *content.Cache, at Path, in Site) *content.Cache {
	if c == nil {
		return nil
	}
	if !l.t.acceptsMark(in) {
		l.lose(CacheMark, at.Member("cache"))
		return nil
	}
	return l.lifetime(c, at.Member("cache"))
}

// lifetime returns a cache mark at a path with a lifetime that the target accepts.
func (l *lowering) lifetime(c *content.Cache, at Path) *content.Cache {
	if l.t.Marks.AnyTime || c.TTL == "" && c.Extra == nil {
		return c
	}
	ttl := l.t.Marks.Times[c.TTL]
	if ttl == c.TTL && c.Extra == nil {
		return c
	}
	l.lose(CacheTime, at)
	return &content.Cache{TTL: ttl}
}

// fileMark is mark for a file.
func (l *lowering) fileMark(c *content.Cache, at Path, in Site) *content.Cache {
	if c != nil && l.t.Marks.TextsOnly {
		l.lose(CacheMark, at.Member("cache"))
		return nil
	}
	return l.mark(c, at, in)
}

// signature returns the signature to send. own reports whether the part may have one of
// the target's format.
func (l *lowering) signature(s content.Signature, at Path, own bool) content.Signature {
	switch {
	case s.Data == "":
		return content.Signature{}
	case s.Format != l.t.Format:
		l.lose(Signature, at.Member("signature"))
		return content.Signature{}
	case !own:
		return content.Signature{}
	}
	return s
}

// parts pushes the parts of a list at a path.
func (l *lowering) parts(list []content.Part, at Path, name List, in Site) {
	for i, p := range list {
		l.part(p, at.In(name, i), in)
	}
}

// part pushes what the target accepts of a part: the part itself, others, or nothing.
func (l *lowering) part(p content.Part, at Path, in Site) {
	if content.IsNil(p) {
		l.refuse(content.CodeValue, at, "the part must not be nil")
		return
	}
	if t, ok := p.(*content.Text); ok {
		l.text(t, at, in)
		return
	}
	if u, ok := p.(*content.Unknown); ok && u.Format != l.t.Format {
		if text, rule := foreign.Text(u); rule != nil {
			l.lose(rule, at)
			if rule == foreign.ReferenceAsText {
				text = l.referenceText(u, text)
			}
			l.push(&content.Text{Text: text})
			return
		}
		if foreign.IsState(u) {
			l.refuse(content.CodeUnsupported, at, "the summary of the earlier conversation is encrypted; only the vendor that created it can read it")
		}
	}
	if in == InSystem {
		l.systemPart(p, at)
		return
	}
	switch p := p.(type) { // other kinds are sent as they are, or dropped
	case *content.Image:
		l.image(p, at, in)
	case *content.Document:
		l.document(p, at, in)
	case *content.Media:
		l.media(p, at, in)
	case *content.SearchResult:
		l.searchResult(p, at, in)
	case *content.ToolUse:
		l.refuse(content.CodeOrder, at, "a tool call must be in an assistant turn")
	case *content.ToolResult:
		l.refuse(content.CodeOrder, at, "a tool result cannot contain another tool result")
	case *content.Thinking:
		if in == InUser && !l.t.Thoughts.Carried {
			l.thought(p, at, true)
			return
		}
		l.lose(Thinking, at)
	case *content.Text: // above
	case *content.ServerToolUse, *content.ServerToolResult, *content.Unknown:
		if !foreign.IsCopy(p) && !l.hostedPart(p, at, in) {
			l.vendorPart(p, at, in)
		}
	default:
		if l.t.hasPart(p, in) {
			l.ownPart(p, at, in)
		} else {
			l.lose(UnknownPart, at)
		}
	}
}

// ownPart pushes a part of a kind that few formats have, but the target does.
func (l *lowering) ownPart(p content.Part, at Path, in Site) {
	p, f := partfield.Copy(p)
	if f.Extra != nil {
		*f.Extra = l.extra(*f.Extra, at, l.t.Own.Members, foreign.Part)
	}
	if f.Signature != nil {
		*f.Signature = l.signature(*f.Signature, at, !l.t.Thoughts.Carried)
	}
	if f.Source != nil {
		l.label(p, at)
		s, ok := l.source(*f.Source, at, true)
		if !ok {
			return
		}
		*f.Source = l.withType(s, partfield.MediaTypeOf(s))
	}
	if f.Parts != nil {
		start := l.begin()
		l.parts(*f.Parts, at, Parts, InDocument)
		*f.Parts = l.pop(start, *f.Parts)
	}
	if f.Cache != nil {
		*f.Cache = l.mark(*f.Cache, at, in)
	}
	l.push(p)
}

// hostedPart pushes a call or result of a tool that other vendors run, too, and reports whether it is
// one. Models read what the tool has done as text: they take a call without its server for their own.
func (l *lowering) hostedPart(p content.Part, at Path, in Site) bool {
	h := foreign.HostedIn(p, "", l.t.Format)
	if h == nil || in != InAssistant || h.Search && (!h.Call || len(h.Found) > 0) {
		return false
	}
	switch {
	case l.isShown(strings.TrimPrefix(h.ID, foreign.ServerPrefix), ""): // the target's vendor gets it back
	case h.Search:
		l.lose(foreign.QueryOfTool, at)
	default:
		l.lose(foreign.CodeAsText, at)
		if text := h.Text(); text != "" {
			l.push(&content.Text{Text: text})
		}
	}
	return true
}

// vendorPart pushes a part that only one vendor can read, if that is the target's.
func (l *lowering) vendorPart(p content.Part, at Path, in Site) {
	v, rule, loads := partfield.VendorOf(p), VendorPart, false
	if u, ok := p.(*content.Unknown); ok {
		rule, loads = UnknownPart, in == InResult && l.t.Own.Vendor && foreign.LoadsTools(u)
	}
	if v.Format == l.t.Format && (loads || l.t.hasVendorPart(in)) && (rule == UnknownPart || in != InResult) {
		if l.isShown(v.ID, v.Raw) {
			return
		}
		if rule = l.mayReturn(p); rule == nil {
			l.pushVendorPart(p, at)
			return
		}
	} else if foreign.IsToolSearch(p) {
		rule = foreign.SearchOfTools
	}
	l.lose(rule, at)
}

// pushVendorPart pushes a part that only the target's vendor can read, without members of
// other formats.
func (l *lowering) pushVendorPart(p content.Part, at Path) {
	x := partfield.ExtraOf(p)
	if own := l.extra(x, at, true, foreign.Part); own != x {
		q, f := partfield.Copy(p)
		*f.Extra, p = own, q
	}
	l.push(p)
}

// systemPart drops a part that is not text from the system text.
func (l *lowering) systemPart(p content.Part, at Path) {
	u, ok := p.(*content.Unknown)
	switch {
	case ok && u.Format == l.t.Format && l.t.hasVendorPart(InSystem):
		l.push(p)
	case l.t.Conversation.SystemFiles && isFile(p):
		l.move(p, SystemFileMoved, at)
	default:
		l.lose(SystemFile, at)
	}
}

// text pushes a text.
func (l *lowering) text(p *content.Text, at Path, in Site) {
	q := content.Text{Text: p.Text, Refusal: l.refusal(p, at, in),
		Extra:     l.extra(p.Extra, at, l.t.Own.Members, foreign.Part),
		Signature: l.signature(p.Signature, at, !l.t.Thoughts.Carried),
		Citations: l.citations(p.Citations, at),
	}
	if in == InSystem && !l.t.Conversation.Attribution {
		if rest, found := foreign.CutAttribution(p.Text); found {
			l.lose(Attribution, at)
			if rest == "" {
				if p.Cache != nil {
					l.lose(EmptyMark, at.Member("cache"))
				}
				return
			}
			cut := *p
			cut.Text, q.Text = rest, rest
			p = &cut
		}
	}
	if l.t.Conversation.NoBlanks && (in != InDocument || p.Text == "") && strings.TrimSpace(p.Text) == "" {
		l.blank(p, at)
		return
	}
	switch {
	case p.Text != "" || q.Signature.Data != "":
	case l.empty:
		l.empty = false
	default:
		if in != InAssistant || p.Signature.Data == "" || p.Signature.Format != l.t.Format {
			l.lose(EmptyText, at)
		}
		return
	}
	q.Cache = l.mark(p.Cache, at, in)
	l.last = p
	if q.Refusal != p.Refusal || q.Extra != p.Extra || q.Signature != p.Signature || q.Cache != p.Cache ||
		len(q.Citations) != len(p.Citations) || len(q.Citations) > 0 && &q.Citations[0] != &p.Citations[0] {
		l.last = new(q) // only a copy that is needed is allocated
	}
	l.push(l.last)
}

// refusal returns the mark of a refusal to send.
func (l *lowering) refusal(p *content.Text, at Path, in Site) bool {
	if p.Refusal && !(l.t.Refusals && in == InAssistant) {
		l.lose(TextRefusal, at.Member("refusal"))
		return false
	}
	return p.Refusal
}

// A space is a blank text behind a text.
type space struct {
	after *content.Text
	at    int // an index on the stack, at which the list is that has after
	text  string
}

// blank notes a blank text, which becomes part of the text before it. If that is not a
// text, it is omitted.
func (l *lowering) blank(p *content.Text, at Path) {
	if l.carriedState(p) == "" {
		l.lose(EmptyText, at)
		if p.Cache != nil {
			l.lose(EmptyMark, at.Member("cache"))
		}
	}
	top := len(l.stack) - 1
	if p.Text == "" || l.last == nil || len(l.last.Citations) > 0 || top < 0 || l.stack[top] != l.last {
		return
	}
	l.spaces = append(l.spaces, space{after: l.last, at: top, text: p.Text})
}

// addSpaces adds the blank texts of the list that begins at an index of the stack to the
// texts before them.
func (l *lowering) addSpaces(start int) {
	first := len(l.spaces)
	for first > 0 && l.spaces[first-1].at >= start {
		first--
	}
	spaces := l.spaces[first:]
	l.spaces = l.spaces[:first]
	for i := start; i < len(l.stack) && len(spaces) > 0; i++ {
		after := spaces[0].after
		if l.stack[i] != after {
			continue
		}
		q := *after
		var b strings.Builder
		b.WriteString(q.Text)
		for len(spaces) > 0 && spaces[0].after == after {
			b.WriteString(spaces[0].text)
			spaces = spaces[1:]
		}
		q.Text = b.String()
		l.stack[i] = &q
	}
}

// citations returns the citations of a text that the target accepts.
func (l *lowering) citations(list []content.Citation, at Path) []content.Citation {
	if len(list) == 0 {
		return list
	}
	if l.t.Citation == nil {
		l.lose(TextCitations, at.Member("citations"))
		return nil
	}
	var kept []content.Citation // nil as long as it equals list
	for i := range list {
		at := at.In(Citations, i)
		c := list[i]
		c.Extra = l.extra(c.Extra, at, true, foreign.Part)
		keep := l.t.Citation(&c)
		if !keep {
			l.lose(TextCitations, at)
		}
		if kept == nil && (!keep || c.Extra != list[i].Extra) {
			kept = append(make([]content.Citation, 0, len(list)), list[:i]...)
		}
		if kept != nil && keep {
			kept = append(kept, c)
		}
	}
	if kept == nil {
		return list
	}
	return kept
}

// searchResult pushes a search result: as it is, or as text.
func (l *lowering) searchResult(p *content.SearchResult, at Path, in Site) {
	if l.t.hasPart(p, in) {
		q := *p
		q.Citations = l.asksCitations(p.Citations, at)
		l.ownPart(&q, at, in)
		return
	}
	l.extra(p.Extra, at, false, foreign.Part)
	if p.Citations {
		l.lose(DocumentCitations, at.Member("citations"))
	}
	mark := l.mark(p.Cache, at, in)
	l.lose(SearchResult, at)
	head := "Search result: " + p.Title
	if p.Source != "" {
		head += "\nSource: " + p.Source
	}
	l.push(&content.Text{Text: head})
	l.parts(p.Parts, at, Parts, in)
	if mark != nil {
		l.markPart(len(l.stack)-1, mark)
	}
}

func isNotEmptyText(p content.Part) bool {
	t, ok := p.(*content.Text)
	return !ok || t == nil || t.Text != "" || t.Signature.Data != ""
}
