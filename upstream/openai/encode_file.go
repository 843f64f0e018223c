package openai

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// readable reports whether the model reads files at all. title is what this one
// is called, if anything.
func (e *encoder) readable(at place, kind, title string) bool {
	if e.to.dialect.TextOnly {
		e.unread(at, kind, title, content.CodeUnsupported, "", "the model reads text only")
	}
	return !e.to.dialect.TextOnly
}

// unread deals with a file that the server does not take: it refuses the
// request or, where the host wants that, is told of.
func (e *encoder) unread(at place, kind, title string, code content.Code, member, text string) {
	// What shows only when a file has been fetched comes too late to be reported.
	if place := at.String(); !e.to.dialect.DescribeUnreadable || e.loaded && !e.noted.has(place) {
		e.fault(code, at, member, text)
		return
	} else if !e.loaded {
		e.noted.add(place)
	}
	e.lose(lostUnread, at)
	if title != "" {
		kind += ", \"" + title + "\""
	}
	e.user = append(e.user, piece{text: "[Here is a file that you cannot read: " + kind + ".]"})
}

// unreadAway deals, before it is fetched, with a document that is somewhere
// else, and reports whether it did. Most of these are PDFs.
func (e *encoder) unreadAway(p *content.Document, at place) bool {
	kind := ""
	switch s := p.Source.(type) {
	case *content.URL:
		if s == nil {
			return false
		}
		kind = s.MediaType
	case *content.File:
		if s == nil {
			return false
		}
		kind = s.MediaType
	default:
		return false
	}
	if e.to.files() && !e.to.dialect.TextOnly || !e.to.dialect.DescribeUnreadable || codec.IsText(kind) {
		return false
	}
	if kind == "" {
		kind = typePDF
	}
	e.unread(at, kind, e.fileName(p, at), content.CodeUnsupported, ".source", "the server takes no files; send their text")
	return true
}

// detail returns how closely a file is to be looked at, in the vendor's words;
// empty leaves it to the server. x are the other members of the part.
func (e *encoder) detail(x *content.Extra, at place) string {
	if x == nil || x.JSON == "" || x.JSON == "{}" {
		return e.closer
	}
	own, word := codec.Own(x, e.own) != nil, ""
	doc := codec.Open(x, x.Format)
	if doc == nil {
		e.extra(x, at)
		return e.closer
	}
	defer doc.Close()
	names := slices.Collect(codec.ReportedMembers(x))
	said := doc.Root().Get("mediaResolution")
	switch {
	case own:
		word = doc.Root().Get("detail").Str()
	case e.to.vendor:
		word = details[said.Get("level").Str()]
	}
	switch {
	case word == "":
		e.extra(x, at)
		return e.closer
	case len(names) > 1, said.Len() > 1:
		e.extra(x, at)
	}
	return word
}

// details are the levels of another format in this vendor's words, as far as it
// has them.
var details = map[string]string{"MEDIA_RESOLUTION_LOW": "low", "MEDIA_RESOLUTION_HIGH": "high"}

// closely takes from the members of a request how closely images are to be
// looked at, and reports whether they say so in words that the vendor has.
func (e *encoder) closely(x *content.Extra) bool {
	doc := codec.Open(x, x.Format)
	if doc == nil || !e.to.vendor {
		return false
	}
	defer doc.Close()
	e.closer = details[doc.Root().Get("generationConfig").Get("mediaResolution").Str()]
	return e.closer != ""
}
