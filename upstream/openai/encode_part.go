package openai

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// partRules are losses of parts that both formats have, each in its own words.
type partRules struct{ systemFile, citations, citing, thought, unknown *loss.Rule }

var (
	chatParts = partRules{lostSystemFile, lostCitations, lostCiting, lostThought, lostUnknownPart}
	resParts  = partRules{resSystemFile, resCitations, resCiting, resForeignThought, resUnknownPart}
)

// systemPart adds a part of system text.
func (e *encoder) systemPart(p content.Part, at place) {
	t, ok := p.(*content.Text)
	switch {
	case content.IsNil(p):
		e.fault(content.CodeValue, at, "", "there is no part")
	case !ok:
		e.lose(e.rules.systemFile, at)
	default:
		e.text(t, at)
	}
}

// text adds a text of the user's or of the system's.
func (e *encoder) text(p *content.Text, at place) {
	e.extra(p.Extra, at)
	e.signature(p.Signature, at)
	if len(p.Citations) > 0 {
		e.lose(e.rules.citations, at)
	}
	if p.Text == "" {
		e.lose(lostEmptyText, at)
		return
	}
	e.user = append(e.user, piece{text: p.Text, mark: e.marked(p.Cache, at)})
}

// expect makes room for n more pieces.
func (e *encoder) expect(n int) { e.user = slices.Grow(e.user, n) }

// fewPieces is how many pieces an encoder keeps the memory of.
const fewPieces = 1024

// forget forgets the pieces at hand.
func (e *encoder) forget() {
	if cap(e.user) > fewPieces {
		e.user = nil
		return
	}
	clear(e.user)
	e.user = e.user[:0]
}

// vendors notes what only another vendor, or nobody, understands.
func (e *encoder) vendors(p content.Part, at place) {
	switch p.(type) {
	case *content.ServerToolUse, *content.ServerToolResult:
		e.lose(lostVendorPart, at)
	case *content.Thinking:
		e.lose(e.rules.thought, at)
	default:
		e.lose(e.rules.unknown, at)
	}
}

// search tells a search result as text. part adds each of its parts.
func (e *encoder) search(p *content.SearchResult, at place, part func(content.Part, place)) {
	e.extra(p.Extra, at)
	if p.Citations {
		e.lose(e.rules.citing, at)
	}
	mark := e.marked(p.Cache, at)
	e.lose(lostSearch, at)
	head := "Search result: " + p.Title
	if p.Source != "" {
		head += "\nSource: " + p.Source
	}
	e.user = append(e.user, piece{text: head})
	for i, q := range p.Parts {
		part(q, at.in(".parts", i))
	}
	if mark {
		e.user[len(e.user)-1].mark = true
	}
}

// base64 returns a source that holds its bytes; nil if it does not, or not yet.
func (e *encoder) base64(s content.Source, at place, image bool) *content.Base64 {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return s
		}
	case *content.URL, *content.File:
		if !e.loaded {
			e.load, e.others = true, e.others || !image
			return nil
		}
		e.fault(content.CodeUnsupported, at, ".source", "the file is not kept here; send it as base64")
		return nil
	}
	e.fault(content.CodeUnsupported, at, ".source", "this kind of source holds no bytes")
	return nil
}

// documentTexts tells a document that holds its texts, and reports whether this
// is one. part adds each of its parts.
func (e *encoder) documentTexts(p *content.Document, at place, part func(content.Part, place)) bool {
	switch s := p.Source.(type) {
	case *content.PlainText:
		if s != nil {
			e.documentText(p, s.Text, at)
		}
	case *content.Parts:
		if s != nil {
			e.lose(lostDocumentParts, at)
			e.heading(p, at, true)
			for i, q := range s.Parts {
				part(q, at.in(".source.parts", i))
			}
		}
	default:
		return false
	}
	return true
}

// documentData tells a document whose bytes are a text.
func (e *encoder) documentData(p *content.Document, s *content.Base64, at place) {
	text, err := s.Bytes()
	if err != nil || !utf8.Valid(text) {
		e.fault(content.CodeMedia, at, ".source.data", "is not base64 of a text in UTF-8")
		return
	}
	e.documentText(p, string(text), at)
}

func (e *encoder) documentText(p *content.Document, text string, at place) {
	e.lose(lostDocumentText, at)
	e.heading(p, at, true)
	if text != "" {
		e.user = append(e.user, piece{text: text})
	}
}

// heading tells what a document is called and about. A file has its title as
// its name.
func (e *encoder) heading(p *content.Document, at place, title bool) {
	text := ""
	if title {
		if name := e.fileName(p, at); name != "" {
			text = "Document: " + name + "\n"
		}
	}
	if p.Context != "" {
		text += "About the document: " + p.Context + "\n"
	}
	if text != "" {
		e.lose(lostDocumentTitle, at)
		e.user = append(e.user, piece{text: strings.TrimSuffix(text, "\n")})
	}
}

// fileName returns the name of a document: its title, or what another format
// calls the file; empty if there is neither.
func (e *encoder) fileName(p *content.Document, at place) string {
	x := sourceExtra(p.Source)
	if x == nil {
		return p.Title
	}
	if doc := codec.Open(x, x.Format); doc != nil {
		defer doc.Close()
		if name := doc.Root().Get("displayName").Str(); name != "" && p.Title == "" {
			return name
		}
	}
	e.foreign(x, at.String()+".source.extra")
	return p.Title
}

// label adds the name of a file that has no place for one, if an object points
// at it, and notes what else is said of the file.
func (e *encoder) label(p content.Part, s content.Source, at place) {
	x := sourceExtra(s)
	if x == nil {
		return
	}
	if e.refs {
		name, alone := codec.DisplayName(p)
		if name != "" {
			e.user = append(e.user, piece{text: name + ":", head: true})
			if alone {
				return
			}
		}
	}
	e.foreign(x, at.String()+".source.extra")
}

// resultParts adds the parts of a result with part, but for texts that its
// object repeats. marked reports whether one of these ends a prefix to be cached.
func (e *encoder) resultParts(r *content.ToolResult, at place, part func(content.Part, place)) (marked bool) {
	e.refs = strings.Contains(r.Object, `"$ref"`)
	e.expect(len(r.Parts))
	for k, p := range r.Parts {
		before := len(e.user)
		part(p, at.in(".parts", k))
		if t, ok := p.(*content.Text); ok && len(e.user) > before && repeats(r.Object, t.Text) {
			marked = marked || e.user[before].mark
			e.user = e.user[:before]
		}
	}
	e.refs = false
	return marked
}

// repeats reports whether an object, if there is one, says what a text does: as
// a whole, or with one of its members.
func repeats(object, text string) bool {
	if object == "" || object == text {
		return object != ""
	}
	doc, err := jsonwire.Parse(object, codec.UnlimitedJSON)
	if err != nil {
		return false
	}
	defer doc.Close()
	for _, x := range doc.Root().Members() {
		if x.Str() == text || x.Raw() == text { // no empty text gets here
			return true
		}
	}
	return false
}

// callInput returns the arguments of a call as both formats tell them: none are an
// empty object.
func (e *encoder) callInput(input string, at place) string {
	switch object := codec.TrimBlank(input); {
	case object == "":
		return "{}"
	case object[0] != '{':
		e.fault(content.CodeType, at, ".input", "must be a JSON object")
	}
	return input
}

// sourceExtra returns what else is said of a file.
func sourceExtra(s content.Source) *content.Extra {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return s.Extra
		}
	case *content.URL:
		if s != nil {
			return s.Extra
		}
	case *content.File:
		if s != nil {
			return s.Extra
		}
	case *content.PlainText:
		if s != nil {
			return s.Extra
		}
	case *content.Parts:
		if s != nil {
			return s.Extra
		}
	}
	return nil
}

// joined writes texts as one, with an empty line between them.
func (e *encoder) joined(list []piece) {
	e.texts = e.texts[:0]
	for i := range list {
		if i > 0 {
			e.texts = append(e.texts, "\n\n")
		}
		e.texts = append(e.texts, list[i].text)
	}
	e.w.Joined(e.texts...)
	clear(e.texts)
	e.texts = e.texts[:0]
}
