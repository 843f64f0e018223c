// Package snapshot detects changes of a request since it was parsed.
//
// A host must not change a request in place, but the compiler cannot prevent it. Without this
// package, an adapter of the client's format would send the document of such a request without
// the change, and nothing would show it: a host that removes a secret from a text would send
// the secret.
package snapshot

import (
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/upstream"
)

// Attach sets r.Wire to d and records the current values of r, so that [DocumentOf] can
// detect changes. Formats call it after they have parsed r from d.Body. Afterwards d is
// read-only and must not be attached to another request.
func Attach(r *upstream.Request, d *document.Document) {
	d.Request = r
	d.Snapshot = record(r)
	d.Marked = marked
	r.Wire = d
}

// marked is the method [document.Document.Marked] of all documents.
func marked(d *document.Document, from, to any, at document.Place, c *content.Cache) (*document.Document, error) {
	r, ok := to.(*upstream.Request)
	old, isRequest := from.(*upstream.Request)
	if !ok || !isRequest || d.Request != from || !matches(&d.Snapshot, old) {
		return nil, nil
	}
	var e document.Edit
	if d.Mark != nil {
		var err error
		if e, err = d.Mark(d.Body, at, c); err != nil {
			return nil, err
		}
	}
	n := d.Replace(e)
	n.Request, n.Snapshot = r, record(r)
	return n, nil
}

// DocumentOf returns the document from which r was parsed if r still represents it. It
// returns nil if the document is of another format than f, if r is a copy, or if a
// field or part of r has changed. It ignores changes of Model, Stream, Resolver,
// ForwardLinks and RejectLoss, because adapters replace these or the document does not
// contain them. It also ignores the replacement of a part by an equal one, and of a nil
// list by an empty one.
//
// DocumentOf does not allocate.
func DocumentOf(r *upstream.Request, f content.Format) *document.Document {
	if r.Wire == nil || r.Wire.Format != f || !IsUnchanged(r) {
		return nil
	}
	return r.Wire
}

// IsUnchanged reports whether r was parsed from a document and no field or part of it has
// changed, as far as [DocumentOf] compares them. Its JSON texts are valid then.
func IsUnchanged(r *upstream.Request) bool {
	d := r.Wire
	return d != nil && d.Request == r && matches(&d.Snapshot, r)
}

// record returns the values of r.
func record(r *upstream.Request) document.Snapshot {
	w := walk{mode: counting}
	w.request(r)
	w = walk{mode: recording, snapshot: document.Snapshot{
		Texts:   make([]document.TextAt, 0, w.t),
		Numbers: make([]document.NumberAt, 0, w.n),
	}}
	w.request(r)
	return w.snapshot
}

// matches reports whether the values of r are those recorded.
func matches(s *document.Snapshot, r *upstream.Request) bool {
	w := walk{mode: comparing, snapshot: *s}
	w.request(r)
	return !w.differs && w.t == len(s.Texts) && w.n == len(s.Numbers)
}

// A walk visits all values of a request in a fixed order. It calls text and number for
// each field, and number for each length, presence and kind, so two walks assign the
// same positions as long as the values are equal.
type walk struct {
	mode     walkMode
	differs  bool
	place    uint32
	t, n     int // number of texts and numbers visited
	snapshot document.Snapshot
}

type walkMode uint8

const (
	counting walkMode = iota
	recording
	comparing
)

func (w *walk) text(s string) {
	w.place++
	if s != "" {
		w.nonEmptyText(s)
	}
}

func (w *walk) nonEmptyText(s string) {
	switch w.mode {
	case recording:
		w.snapshot.Texts = append(w.snapshot.Texts, document.TextAt{Place: w.place, Text: s})
	case comparing:
		if w.t >= len(w.snapshot.Texts) || w.snapshot.Texts[w.t] != (document.TextAt{Place: w.place, Text: s}) {
			w.differs = true
		}
	}
	w.t++
}

func (w *walk) number(n uint64) {
	w.place++
	if n != 0 {
		w.nonZeroNumber(n)
	}
}

func (w *walk) nonZeroNumber(n uint64) {
	switch w.mode {
	case recording:
		w.snapshot.Numbers = append(w.snapshot.Numbers, document.NumberAt{Place: w.place, Number: n})
	case comparing:
		if w.n >= len(w.snapshot.Numbers) || w.snapshot.Numbers[w.n] != (document.NumberAt{Place: w.place, Number: n}) {
			w.differs = true
		}
	}
	w.n++
}

func (w *walk) bool(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	w.number(n)
}

// list visits the length of a list. It reports whether to visit the elements: after a
// difference that is pointless, and a changed list may be long.
func (w *walk) list(n int) bool {
	w.number(uint64(n))
	return !w.differs
}

func (w *walk) strings(list []string) {
	if w.list(len(list)) {
		for _, s := range list {
			w.text(s)
		}
	}
}

func (w *walk) int64Ptr(p *int64) {
	w.bool(p != nil)
	if p != nil {
		w.number(uint64(*p))
	}
}

func (w *walk) float64Ptr(p *float64) {
	w.bool(p != nil)
	if p != nil {
		w.number(math.Float64bits(*p))
	}
}

func (w *walk) extra(x *content.Extra) {
	w.bool(x != nil)
	if x != nil {
		w.text(string(x.Format))
		w.text(x.JSON)
	}
}

func (w *walk) cache(c *content.Cache) {
	w.bool(c != nil)
	if c != nil {
		w.text(c.TTL)
		w.extra(c.Extra)
	}
}

func (w *walk) signature(s *content.Signature) {
	w.text(string(s.Format))
	w.text(s.Data)
}

func (w *walk) schema(s *content.Schema) {
	w.text(s.JSON)
	w.bool(s.OpenAPI)
}

// request visits r without Model, Stream, Resolver, ForwardLinks, RejectLoss and Wire:
// see [DocumentOf].
func (w *walk) request(r *upstream.Request) {
	w.parts(r.System)
	if w.list(len(r.Turns)) {
		for i := range r.Turns {
			t := &r.Turns[i]
			w.text(string(t.Role))
			w.parts(t.Parts)
			w.extra(t.Extra)
		}
	}
	if w.list(len(r.Tools)) {
		for i := range r.Tools {
			w.tool(&r.Tools[i])
		}
	}
	w.text(string(r.Choice.Mode))
	w.strings(r.Choice.Names)
	w.bool(r.Choice.NoParallel)
	w.extra(r.Choice.Extra)

	w.int64Ptr(r.MaxTokens)
	w.float64Ptr(r.Temperature)
	w.float64Ptr(r.TopP)
	w.int64Ptr(r.TopK)
	w.int64Ptr(r.Seed)
	w.float64Ptr(r.PresencePenalty)
	w.float64Ptr(r.FrequencyPenalty)
	w.strings(r.StopSequences)
	w.number(uint64(r.Candidates))

	w.text(string(r.Thinking.Mode))
	w.int64Ptr(r.Thinking.Budget)
	w.text(r.Thinking.Effort)
	w.text(r.Thinking.Display)
	w.extra(r.Thinking.Extra)

	w.strings(r.Output.Modalities)
	w.text(r.Output.MediaType)
	w.schema(&r.Output.Schema)
	w.text(r.Output.AspectRatio)
	w.text(r.Output.ImageSize)
	w.extra(r.Output.Extra)

	w.text(r.UserID)
	w.text(r.ServiceTier)
	if w.list(len(r.Header)) {
		for i := range r.Header {
			w.text(r.Header[i].Name)
			w.text(r.Header[i].Value)
		}
	}
	w.extra(r.Extra)
}

func (w *walk) tool(t *content.Tool) {
	w.text(t.Name)
	w.text(t.Description)
	w.schema(&t.Input)
	w.schema(&t.Output)
	w.bool(t.Strict)
	w.text(t.Kind)
	w.text(string(t.Format))
	w.text(t.Raw)
	w.cache(t.Cache)
	w.extra(t.Extra)
}

// The kinds of parts and sources in a snapshot. Nil is a separate kind.
const (
	kindNil uint64 = iota + 1
	kindText
	kindImage
	kindDocument
	kindMedia
	kindThinking
	kindToolUse
	kindToolResult
	kindSearchResult
	kindServerToolUse
	kindServerToolResult
	kindUnknown
	kindBase64
	kindURL
	kindFile
	kindPlainText
	kindParts
	kindOther
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
		w.number(kindNil)
		return
	}
	switch p := p.(type) {
	case *content.Text:
		w.number(kindText)
		w.text(p.Text)
		w.citations(p.Citations)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.Image:
		w.number(kindImage)
		w.file(p.Source, &p.Signature, p.Cache, p.Extra)
	case *content.Document:
		w.number(kindDocument)
		w.text(p.Title)
		w.text(p.Context)
		w.bool(p.Citations)
		w.file(p.Source, &p.Signature, p.Cache, p.Extra)
	case *content.Media:
		w.number(kindMedia)
		w.file(p.Source, &p.Signature, p.Cache, p.Extra)
	case *content.Thinking:
		w.number(kindThinking)
		w.text(p.Text)
		w.signature(&p.Signature)
		w.signature(&p.Redacted)
		w.extra(p.Extra)
	case *content.ToolUse:
		w.number(kindToolUse)
		w.text(p.ID)
		w.text(p.Name)
		w.text(p.Input)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.ToolResult:
		w.number(kindToolResult)
		w.text(p.ID)
		w.text(p.Name)
		w.parts(p.Parts)
		w.text(p.Object)
		w.bool(p.Error)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.SearchResult:
		w.number(kindSearchResult)
		w.text(p.Source)
		w.text(p.Title)
		w.parts(p.Parts)
		w.bool(p.Citations)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.ServerToolUse:
		w.number(kindServerToolUse)
		w.text(string(p.Format))
		w.text(p.Kind)
		w.text(p.ID)
		w.text(p.Name)
		w.text(p.Input)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.ServerToolResult:
		w.number(kindServerToolResult)
		w.text(string(p.Format))
		w.text(p.Kind)
		w.text(p.ID)
		w.text(p.Content)
		w.signature(&p.Signature)
		w.cache(p.Cache)
		w.extra(p.Extra)
	case *content.Unknown:
		w.number(kindUnknown)
		w.text(string(p.Format))
		w.text(p.Kind)
		w.text(p.Raw)
	default:
		w.unknownKind()
	}
}

// unknownKind visits a value of an unknown type. The value is assumed to be changed,
// because it cannot be compared.
func (w *walk) unknownKind() {
	w.number(kindOther)
	w.differs = w.mode == comparing
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
		if w.kindOf(kindBase64, s != nil) {
			w.text(s.MediaType)
			w.text(s.Data)
			w.extra(s.Extra)
		}
	case *content.URL:
		if w.kindOf(kindURL, s != nil) {
			w.text(s.URL)
			w.text(s.MediaType)
			w.extra(s.Extra)
		}
	case *content.File:
		if w.kindOf(kindFile, s != nil) {
			w.text(s.ID)
			w.text(s.MediaType)
			w.extra(s.Extra)
		}
	case *content.PlainText:
		if w.kindOf(kindPlainText, s != nil) {
			w.text(s.Text)
			w.text(s.MediaType)
			w.extra(s.Extra)
		}
	case *content.Parts:
		if w.kindOf(kindParts, s != nil) {
			w.parts(s.Parts)
			w.extra(s.Extra)
		}
	case nil:
		w.number(kindNil)
	default:
		w.unknownKind()
	}
}

// kindOf visits the kind of a source, or kindNil if present is false. It returns
// present.
func (w *walk) kindOf(kind uint64, present bool) bool {
	if !present {
		kind = kindNil
	}
	w.number(kind)
	return present
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
