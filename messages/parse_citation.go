package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A citeForm is how one kind of citation is spelled.
type citeForm struct {
	tag               string
	kind              content.CitationKind
	title             string // the member that is Citation.Title
	index, start, end string // empty where the kind has none
	url               string // the member that is Citation.URL
	file              bool   // may have a file_id
	names             *codec.Names
}

// The forms of citations. The table is never changed.
var citeForms = [...]citeForm{
	{"char_location", content.CiteChars, "document_title", "document_index",
		"start_char_index", "end_char_index", "", true, &charNames},
	{"page_location", content.CitePages, "document_title", "document_index",
		"start_page_number", "end_page_number", "", true, &pageNames},
	{"content_block_location", content.CiteParts, "document_title", "document_index",
		"start_block_index", "end_block_index", "", true, &blockNames},
	{"search_result_location", content.CiteSearchResult, "title", "search_result_index",
		"start_block_index", "end_block_index", "source", false, &searchNames},
	{"web_search_result_location", content.CiteWeb, "title", "", "", "", "url", false, &webNames},
}

// citeFormOf returns the form of a tag or of a kind, or nil.
func citeFormOf(tag string, kind content.CitationKind) *citeForm {
	for i := range citeForms {
		if f := &citeForms[i]; f.tag == tag || kind != "" && f.kind == kind {
			return f
		}
	}
	return nil
}

// citations reads the citations of a text.
func (p *parser) citations(v jsonwire.Value) []content.Citation {
	if !p.list(v, "citations") || !p.quota.Parts(v.Len()) {
		return nil
	}
	list := make([]content.Citation, v.Len())
	p.path.Push("citations")
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		p.citation(&list[i], x)
		p.path.Pop()
	}
	p.path.Pop()
	return list
}

// citation reads one citation. One of a kind that is not known keeps all its
// members, "type" too, in its Extra, and has no Kind.
func (p *parser) citation(c *content.Citation, v jsonwire.Value) {
	kind, ok := p.tag(v)
	if !ok {
		return
	}
	f := citeFormOf(kind, "")
	if f == nil {
		c.Extra = p.extras.New(Format, v.Raw())
		return
	}
	p.path.Push(f.tag)
	c.Kind = f.kind
	more := 0
	for name, x := range v.Members() {
		switch name {
		case "": // is what f has for members that it lacks
			more++
		case "type":
		case "cited_text":
			c.Text = p.text(x, name)
		case f.title:
			c.Title = p.optText(x, name)
		case f.url:
			c.URL = p.text(x, name)
		case f.index:
			c.Index, _ = p.integer(x, name)
		case f.start:
			c.Start, _ = p.integer(x, name)
		case f.end:
			c.End, _ = p.integer(x, name)
		case "file_id":
			if f.file {
				c.FileID = p.optText(x, name)
				continue
			}
			more++
		default:
			more++
		}
	}
	p.needCitation(c, v, f)
	if more > 0 {
		c.Extra = p.extra(v, f.names)
	}
	p.path.Pop()
}

// needCitation reports what a citation lacks.
func (p *parser) needCitation(c *content.Citation, v jsonwire.Value, f *citeForm) {
	if c.Text == "" {
		p.need(v, "cited_text")
	}
	if f.url != "" && c.URL == "" {
		p.need(v, f.url)
	}
	if f.kind == content.CiteWeb {
		p.need(v, "encrypted_index")
	}
	if f.index == "" {
		return
	}
	if c.Index == 0 {
		p.need(v, f.index)
	}
	if c.Start == 0 {
		p.need(v, f.start)
	}
	if c.End == 0 {
		p.need(v, f.end)
	}
}
