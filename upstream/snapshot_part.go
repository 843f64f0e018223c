package upstream

import "github.com/polywire/polywire/content"

// Numbers that stand for kinds of parts and sources in a snapshot. A nil is a
// kind of its own.
const (
	seenNil uint64 = iota + 1
	seenPlain
	seenImage
	seenDocument
	seenMedia
	seenThinking
	seenToolUse
	seenToolResult
	seenSearchResult
	seenServerToolUse
	seenServerToolResult
	seenUnknown
	seenBase64
	seenURL
	seenFile
	seenPlainText
	seenParts
	seenOther
)

func (w *walk) parts(list []content.Part) {
	if w.list(len(list)) {
		for _, p := range list {
			w.part(p)
		}
	}
}

func (w *walk) part(p content.Part) {
	if content.IsNil(p) {
		w.number(seenNil)
		return
	}
	switch p := p.(type) {
	case *content.Text:
		w.number(seenPlain)
		w.text(p.Text)
		w.citations(p.Citations)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.Image:
		w.number(seenImage)
		w.file(p.Source, &p.Signature, p.Cache, p.Extra)
	case *content.Document:
		w.number(seenDocument)
		w.text(p.Title)
		w.text(p.Context)
		w.bool(p.Citations)
		w.file(p.Source, &p.Signature, p.Cache, p.Extra)
	case *content.Media:
		w.number(seenMedia)
		w.file(p.Source, &p.Signature, p.Cache, p.Extra)
	case *content.Thinking:
		w.number(seenThinking)
		w.text(p.Text)
		w.signature(&p.Signature)
		w.signature(&p.Redacted)
		w.extra(p.Extra)
	case *content.ToolUse:
		w.number(seenToolUse)
		w.text(p.ID)
		w.text(p.Name)
		w.text(p.Input)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.ToolResult:
		w.number(seenToolResult)
		w.text(p.ID)
		w.text(p.Name)
		w.parts(p.Parts)
		w.text(p.Object)
		w.bool(p.Error)
		w.cache(p.Cache)
		w.extra(p.Extra)
	default:
		w.rarePart(p)
	}
}

func (w *walk) rarePart(p content.Part) {
	switch p := p.(type) {
	case *content.SearchResult:
		w.number(seenSearchResult)
		w.text(p.Source)
		w.text(p.Title)
		w.parts(p.Parts)
		w.bool(p.Citations)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.ServerToolUse:
		w.number(seenServerToolUse)
		w.text(string(p.Format))
		w.text(p.Kind)
		w.text(p.ID)
		w.text(p.Name)
		w.text(p.Input)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.ServerToolResult:
		w.number(seenServerToolResult)
		w.text(string(p.Format))
		w.text(p.Kind)
		w.text(p.ID)
		w.text(p.Content)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.Unknown:
		w.number(seenUnknown)
		w.text(string(p.Format))
		w.text(p.Kind)
		w.text(p.Raw)
	default:
		w.other()
	}
}

// other meets something that this package does not know. Nothing can be said
// about whether it changed, so it counts as changed.
func (w *walk) other() {
	w.number(seenOther)
	w.differs = w.do == comparing
}

func (w *walk) file(s content.Source, sig *content.Signature, c *content.Cache, x *content.Extra) {
	w.source(s)
	w.signature(sig)
	w.cache(c)
	w.extra(x)
}

func (w *walk) source(s content.Source) {
	switch s := s.(type) {
	case *content.Base64:
		if w.some(seenBase64, s != nil) {
			w.text(s.MediaType)
			w.text(s.Data)
			w.extra(s.Extra)
		}
	case *content.URL:
		if w.some(seenURL, s != nil) {
			w.text(s.URL)
			w.text(s.MediaType)
			w.extra(s.Extra)
		}
	case *content.File:
		if w.some(seenFile, s != nil) {
			w.text(s.ID)
			w.text(s.MediaType)
			w.extra(s.Extra)
		}
	case *content.PlainText:
		if w.some(seenPlainText, s != nil) {
			w.text(s.Text)
			w.text(s.MediaType)
			w.extra(s.Extra)
		}
	case *content.Parts:
		if w.some(seenParts, s != nil) {
			w.parts(s.Parts)
			w.extra(s.Extra)
		}
	case nil:
		w.number(seenNil)
	default:
		w.other()
	}
}

// some notes the kind of a source, or that it is nil.
func (w *walk) some(kind uint64, there bool) bool {
	if !there {
		kind = seenNil
	}
	w.number(kind)
	return there
}

func (w *walk) citations(list []content.Citation) {
	if !w.list(len(list)) {
		return
	}
	for i := range list {
		c := &list[i]
		w.text(string(c.Kind))
		w.text(c.Text)
		w.text(c.Title)
		w.number(uint64(c.Index))
		w.number(uint64(c.Start))
		w.number(uint64(c.End))
		w.text(c.URL)
		w.text(c.FileID)
		w.extra(c.Extra)
	}
}
