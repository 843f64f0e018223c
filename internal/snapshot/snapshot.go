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
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// Attach sets r.Wire to d and records the current values of r, so that [DocumentOf] can
// detect changes. Formats call it after they have parsed r from d.Body. Afterwards d is
// read-only and must not be attached to another request.
func Attach(r *upstream.Request, d *document.Document) {
	d.Request = r
	d.Snapshot = record(r)
	d.Unchanged = unchanged
	r.Wire = d
}

// Keep is [Attach] if r represents d and is not dense. Otherwise the document of r
// only converts paths.
func Keep(r *upstream.Request, d *document.Document, represents bool) {
	if represents && !isDense(r, len(d.Body)) {
		Attach(r, d)
	} else {
		r.Wire = d.Paths()
	}
}

// Parsed returns the request of a format, a T, from which r was made, or the zero T if r is nil,
// of another format or was made anew.
func Parsed[T any](r *upstream.Request) (parsed T) {
	if r != nil {
		if d := document.Of(r.Wire); d != nil {
			parsed, _ = d.Parsed.(T)
		}
	}
	return parsed
}

// unchanged is the method [document.Document.Unchanged] of all documents.
func unchanged(d *document.Document) bool {
	r, ok := d.Request.(*upstream.Request)
	return ok && matches(&d.Snapshot, r)
}

// isDense reports whether r, whose document has size bytes, has so many small parts that their
// positions in a snapshot need more memory than the request itself. Only hostile requests are
// dense.
func isDense(r *upstream.Request, size int) bool {
	const many, each = 20_000, 200
	n := len(r.Tools) + len(r.StopSequences) + len(r.System)
	for i := range r.Turns {
		n += 1 + len(r.Turns[i].Parts)
	}
	return n > many && size < n*each
}

// DocumentOf returns the document from which r was parsed if r still represents it, as
// [upstream.WireOf] does, also one that is Partial.
//
// DocumentOf does not allocate.
func DocumentOf(r *upstream.Request, f content.Format) *document.Document {
	if d := document.Of(r.Wire); d.Represents(r) && d.In == f {
		return d
	}
	return nil
}

// IsUnchanged reports whether r was parsed from a document and no field or part of it has
// changed, as far as [DocumentOf] compares them. Its JSON texts are valid then.
func IsUnchanged(r *upstream.Request) bool { return document.Of(r.Wire).Represents(r) }

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

func (w *walk) optBool(b *bool) {
	w.bool(b != nil)
	if b != nil {
		w.bool(*b)
	}
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

// request visits r without Model, Stream, Session, Resolver, ForwardLinks, RejectLoss and Wire:
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

	w.text(string(r.Defaults.Format))
	w.text(string(r.Defaults.Thinking))
	w.text(r.Defaults.Display)
	w.bool(r.Defaults.LooseOutput)

	w.strings(r.Output.Modalities)
	w.text(r.Output.MediaType)
	w.schema(&r.Output.Schema)
	w.text(r.Output.Name)
	w.text(r.Output.Description)
	w.optBool(r.Output.Strict)
	w.text(r.Output.Verbosity)
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
	w.bool(t.Freeform)
	w.bool(t.Grammar != nil)
	if t.Grammar != nil {
		w.text(t.Grammar.Syntax)
		w.text(t.Grammar.Definition)
	}
	w.text(t.Namespace)
	w.bool(t.Deferred)
	w.optBool(t.Strict)
	w.text(t.Kind)
	w.text(string(t.Format))
	w.text(t.Raw)
	w.cache(t.Cache)
	w.extra(t.Extra)
}

func (w *walk) parts(list []content.Part) {
	if w.list(len(list)) {
		for _, p := range list {
			w.part(p)
		}
	}
}

func (w *walk) part(p content.Part) {
	var f partfield.Part
	f.Read(p)
	w.kind(f.Kind)
	for i := 0; i < len(f.Strings) && f.Strings[i].At != nil; i++ {
		w.text(*f.Strings[i].At)
	}
	if f.On != nil {
		w.bool(*f.On)
	}
	if f.Citations != nil {
		w.citations(*f.Citations)
	}
	if f.Source != nil {
		w.source(*f.Source)
	}
	if f.Parts != nil {
		w.parts(*f.Parts)
	}
	if f.Signature != nil {
		w.signature(f.Signature)
	}
	if f.Redacted != nil {
		w.signature(f.Redacted)
	}
	if f.Cache != nil {
		w.cache(*f.Cache)
	}
	if f.Extra != nil {
		w.extra(*f.Extra)
	}
}

func (w *walk) source(s content.Source) {
	f := partfield.OfSource(s)
	w.kind(f.Kind)
	if f.Data != nil {
		w.text(*f.Data)
		w.text(*f.MediaType)
	}
	if f.Parts != nil {
		w.parts(*f.Parts)
	}
	if f.Extra != nil {
		w.extra(*f.Extra)
	}
}

// kind visits the kind of a part or source. A value of an unknown type is assumed to be
// changed, because it cannot be compared.
func (w *walk) kind(k partfield.Kind) {
	w.number(uint64(k) + 1)
	w.differs = w.differs || k == partfield.Other && w.mode == comparing
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
