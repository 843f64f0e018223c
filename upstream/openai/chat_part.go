package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// A piece is one element of the content of a message.
type piece struct {
	kind pieceKind
	text string // of a text; of an image, its link
	mark bool   // ends a prefix to be cached
	head bool   // of a text: is the name of the file behind it

	mediaType, data string // in base64
	name            string // of a file
	detail          string // how closely it is looked at
}

type pieceKind uint8

const (
	pieceText pieceKind = iota
	pieceImage
	pieceAudio
	pieceFile
)

// piece writes an element of a list of content.
func (e *chatEncoder) piece(p *piece) {
	w := e.w
	w.BeginObject()
	switch p.kind {
	case pieceText:
		e.member("type", "text")
		e.member("text", p.text)
	case pieceImage:
		e.member("type", "image_url")
		w.Name("image_url")
		w.BeginObject()
		w.Name("url")
		if p.text != "" {
			w.String(p.text)
		} else {
			w.Joined("data:", p.mediaType, ";base64,", p.data)
		}
		if p.detail != "" {
			e.member("detail", p.detail)
		}
		w.EndObject()
	case pieceAudio:
		e.member("type", "input_audio")
		w.Name("input_audio")
		w.BeginObject()
		e.member("data", p.data)
		e.member("format", p.mediaType)
		w.EndObject()
	case pieceFile:
		e.member("type", "file")
		w.Name("file")
		w.BeginObject()
		e.member("filename", p.name)
		w.Name("file_data")
		w.Joined("data:", p.mediaType, ";base64,", p.data)
		w.EndObject()
	}
	if p.mark {
		w.Name("prompt_cache_breakpoint")
		w.Raw(`{"mode":"explicit"}`)
	}
	w.EndObject()
}

// part adds a part of the user's.
func (e *chatEncoder) part(p content.Part, at place) {
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
		e.extra(p.Extra, at)
		e.signature(p.Signature, at)
		e.document(p, at)
	case *content.Media:
		e.extra(p.Extra, at)
		e.signature(p.Signature, at)
		e.label(p, p.Source, at)
		e.media(p, at)
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

// image adds an image, as a link where that is allowed.
func (e *chatEncoder) image(p *content.Image, at place) {
	if !e.readable(at, "an image", "") {
		return
	}
	detail := e.detail(p.Extra, at)
	if u, ok := p.Source.(*content.URL); ok && u != nil && e.n.ForwardLinks && e.to.links() && web(u.URL) {
		e.user = append(e.user, piece{kind: pieceImage, text: u.URL, detail: detail, mark: e.marked(p.Cache, at)})
		return
	}
	s := e.base64(p.Source, at, true)
	if s == nil {
		return
	}
	kind := content.CanonicalMediaType(s.MediaType)
	switch kind {
	case "image/png", "image/jpeg", "image/webp", "image/gif":
	default:
		if e.to.vendor || !strings.HasPrefix(kind, "image/") {
			e.unread(at, kind, "", content.CodeMedia, ".source.media_type", "chat completions takes images as image/png, image/jpeg, image/webp and image/gif")
			return
		}
	}
	e.user = append(e.user, piece{kind: pieceImage, mediaType: kind, data: standard(s.Data), detail: detail, mark: e.marked(p.Cache, at)})
}

func web(link string) bool {
	return strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
}

// urlSafe reports whether data is in the URL-safe alphabet. No data is in both,
// so the first character that only one of them has decides, and that comes soon.
// Where it does not, many megabytes are searched in pieces, which come from
// memory once.
func urlSafe(data string) bool {
	const soon = 4 << 10
	for i := range min(len(data), soon) {
		switch data[i] {
		case '-', '_':
			return true
		case '+', '/':
			return false
		}
	}
	for data = data[min(len(data), soon):]; len(data) > 0; {
		piece := data[:min(len(data), 16<<10)]
		if strings.IndexByte(piece, '-') >= 0 || strings.IndexByte(piece, '_') >= 0 {
			return true
		}
		data = data[len(piece):]
	}
	return false
}

// standard returns base64 in the standard alphabet, padded.
func standard(data string) string {
	if urlSafe(data) {
		data = strings.NewReplacer("-", "+", "_", "/").Replace(data)
	}
	if n := len(data) % 4; n > 1 {
		data += "=="[:4-n]
	}
	return data
}

// media adds sound.
func (e *chatEncoder) media(p *content.Media, at place) {
	if !e.readable(at, "sound or moving pictures", "") {
		return
	}
	s := e.base64(p.Source, at, false)
	if s == nil {
		return
	}
	format := ""
	switch s.MediaType {
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		format = "wav"
	case "audio/mp3", "audio/mpeg":
		format = "mp3"
	default:
		e.unread(at, s.MediaType, "", content.CodeUnsupported, ".source.media_type", "chat completions takes sound as wav and mp3, and no moving pictures")
		return
	}
	e.user = append(e.user, piece{kind: pieceAudio, mediaType: format, data: standard(s.Data), mark: e.marked(p.Cache, at)})
}

// document adds a document: a PDF as a file, all else as text.
func (e *chatEncoder) document(p *content.Document, at place) {
	if p.Citations {
		e.lose(lostCiting, at)
	}
	before := len(e.user)
	mark := e.marked(p.Cache, at)
	if !e.documentTexts(p, at, e.part) {
		e.documentFile(p, at)
	}
	if mark && len(e.user) > before {
		e.user[len(e.user)-1].mark = true
	}
}

const typePDF = "application/pdf"

// documentFile adds a document whose bytes are somewhere.
func (e *chatEncoder) documentFile(p *content.Document, at place) {
	if e.unreadAway(p, at) {
		return
	}
	s := e.base64(p.Source, at, false)
	switch {
	case s == nil:
	case s.MediaType == typePDF:
		if !e.to.dialect.TextOnly && !e.to.files() {
			e.unread(at, typePDF, e.fileName(p, at), content.CodeUnsupported, ".source", "the server takes no PDF; send its text")
			return
		}
		if !e.readable(at, typePDF, p.Title) {
			return
		}
		e.heading(p, at, false)
		if e.closer != "" {
			e.lose(lostDetail, at)
		}
		name := e.fileName(p, at)
		if name == "" {
			name = "document.pdf"
		}
		e.user = append(e.user, piece{kind: pieceFile, mediaType: s.MediaType, data: standard(s.Data), name: name})
	case codec.IsText(s.MediaType):
		e.documentData(p, s, at)
	default:
		e.unread(at, s.MediaType, e.fileName(p, at), content.CodeUnsupported, ".source.media_type", "chat completions takes PDFs and texts as documents")
	}
}
