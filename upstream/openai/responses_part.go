package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// The kinds of pieces that chat completions does not have. Their text is an id,
// or a link.
const (
	pieceImageID pieceKind = iota + 16
	pieceFileID
	pieceFileLink
)

// piece writes an element of a list of content.
func (e *resEncoder) piece(p *piece) {
	w := e.w
	w.BeginObject()
	switch p.kind {
	case pieceText:
		e.member("type", "input_text")
		e.member("text", p.text)
	case pieceImage:
		e.member("type", "input_image")
		w.Name("image_url")
		if p.text != "" {
			w.String(p.text)
		} else {
			w.Joined("data:", p.mediaType, ";base64,", p.data)
		}
	case pieceImageID:
		e.member("type", "input_image")
		e.member("file_id", p.text)
	case pieceFileID:
		e.member("type", "input_file")
		e.member("file_id", p.text)
	case pieceFileLink:
		e.member("type", "input_file")
		e.member("file_url", p.text)
	default:
		e.member("type", "input_file")
		e.member("filename", p.name)
		w.Name("file_data")
		w.Joined("data:", p.mediaType, ";base64,", p.data)
	}
	if p.detail != "" {
		e.member("detail", p.detail)
	}
	if p.mark {
		w.Name("prompt_cache_breakpoint")
		w.Raw(`{"mode":"explicit"}`)
	}
	w.EndObject()
}

// part adds a part of the user's.
func (e *resEncoder) part(p content.Part, at place) {
	if content.IsNil(p) {
		e.fault(content.CodeValue, at, "", "there is no part")
		return
	}
	switch p := p.(type) {
	case *content.Text:
		e.text(p, at)
	case *content.Image:
		e.signature(p.Signature, at)
		e.label(p, p.Source, at)
		e.image(p, at)
	case *content.Document:
		e.signature(p.Signature, at)
		e.document(p, at)
	case *content.Media:
		e.label(p, p.Source, at)
		e.unread(at, "sound or moving pictures", "", content.CodeUnsupported, "", "responses takes no sound and no moving pictures")
	case *content.SearchResult:
		e.search(p, at, e.part)
	case *content.ToolUse:
		e.fault(content.CodeOrder, at, "", "calls are the assistant's")
	case *content.ToolResult:
		e.fault(content.CodeOrder, at, "", "a result within a result")
	default:
		e.vendors(p, at)
	}
}

// source returns a piece with the bytes of a source, its id or its link. ok is
// false if that cannot be had, or not yet.
func (e *resEncoder) source(s content.Source, at place, image bool) (p piece, ok bool) {
	switch s := s.(type) {
	case *content.URL:
		if s != nil && e.n.ForwardLinks && web(s.URL) && (e.to.vendor || image && e.to.links()) {
			if image {
				return piece{kind: pieceImage, text: s.URL}, true
			}
			return piece{kind: pieceFileLink, text: s.URL}, true
		}
	case *content.File:
		// All others that ids are known of begin in another way.
		if s != nil && e.loaded && e.to.vendor && strings.HasPrefix(s.ID, "file-") {
			if image {
				return piece{kind: pieceImageID, text: s.ID}, true
			}
			return piece{kind: pieceFileID, text: s.ID}, true
		}
	}
	b := e.base64(s, at, image)
	if b == nil {
		return p, false
	}
	return piece{kind: pieceFile, mediaType: content.CanonicalMediaType(b.MediaType), data: b.Data}, true
}

// image adds an image.
func (e *resEncoder) image(p *content.Image, at place) {
	if !e.readable(at, "an image", "") {
		return
	}
	detail := e.detail(p.Extra, at)
	q, ok := e.source(p.Source, at, true)
	if !ok {
		return
	}
	if q.kind == pieceFile {
		q.kind, q.data = pieceImage, standard(q.data)
		switch q.mediaType {
		case "image/png", "image/jpeg", "image/webp", "image/gif":
		default:
			e.unread(at, q.mediaType, "", content.CodeMedia, ".source.media_type", "responses takes images as image/png, image/jpeg, image/webp and image/gif")
			return
		}
	}
	q.mark, q.detail = e.marked(p.Cache, at), detail
	e.user = append(e.user, q)
}

// document adds a document: texts as text, the rest as files.
func (e *resEncoder) document(p *content.Document, at place) {
	if p.Citations {
		e.lose(resCiting, at)
	}
	before := len(e.user)
	mark, detail := e.marked(p.Cache, at), e.detail(p.Extra, at)
	if !e.documentTexts(p, at, e.part) {
		e.file(p, detail, at)
	}
	if mark && len(e.user) > before {
		e.user[len(e.user)-1].mark = true
	}
}

// file adds a document whose bytes are somewhere.
func (e *resEncoder) file(p *content.Document, detail string, at place) {
	if e.unreadAway(p, at) {
		return
	}
	q, ok := e.source(p.Source, at, false)
	if !ok {
		return
	}
	q.detail = detail
	if q.kind != pieceFile {
		if e.readable(at, "a file", p.Title) {
			e.heading(p, at, true)
			e.user = append(e.user, q)
		}
		return
	}
	if codec.IsText(q.mediaType) {
		e.documentData(p, &content.Base64{Data: q.data}, at)
		return
	}
	if !e.readable(at, q.mediaType, p.Title) {
		return
	}
	suffix := suffixOf(q.mediaType)
	switch {
	case !e.to.files():
		e.unread(at, q.mediaType, e.fileName(p, at), content.CodeUnsupported, ".source", "the server takes no files; send their text")
		return
	case suffix == "" || !e.to.vendor && suffix != ".pdf":
		e.unread(at, q.mediaType, e.fileName(p, at), content.CodeUnsupported, ".source.media_type", "the server takes PDFs, texts and office documents")
		return
	}
	e.heading(p, at, false)
	q.name, q.data = e.fileName(p, at), standard(q.data)
	if q.name == "" {
		q.name = "document"
	}
	if !strings.HasSuffix(strings.ToLower(q.name), suffix) {
		q.name += suffix
	}
	e.user = append(e.user, q)
}

const openDocument = "application/vnd.openxmlformats-officedocument."

// suffixOf returns how the names of files of a type end; empty for types that
// the vendor does not take.
func suffixOf(mediaType string) string {
	switch mediaType {
	case "application/pdf":
		return ".pdf"
	case "application/rtf":
		return ".rtf"
	case "application/msword":
		return ".doc"
	case "application/vnd.ms-excel":
		return ".xls"
	case "application/vnd.ms-powerpoint":
		return ".ppt"
	case "application/vnd.oasis.opendocument.text":
		return ".odt"
	case openDocument + "wordprocessingml.document":
		return ".docx"
	case openDocument + "presentationml.presentation":
		return ".pptx"
	case openDocument + "spreadsheetml.sheet":
		return ".xlsx"
	}
	return ""
}
