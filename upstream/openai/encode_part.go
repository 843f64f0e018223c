package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

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

// nameless notes what else is said of a file that goes without a name.
func (e *encoder) nameless(s content.Source, at place) {
	if x := sourceExtra(s); x != nil {
		e.foreign(x, at.String()+".source.extra")
	}
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

// searchHead tells a search result as text, but for its parts.
func (e *encoder) searchHead(p *content.SearchResult, at place) {
	e.lose(lostSearch, at)
	head := "Search result: " + p.Title
	if p.Source != "" {
		head += "\nSource: " + p.Source
	}
	e.user = append(e.user, piece{text: head})
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
