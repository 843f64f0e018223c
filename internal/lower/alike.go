package lower

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

// file pushes a file of any kind for a target to which all files are alike.
func (l *lowering) file(p content.Part, at Path, in Site) {
	f := partfield.Of(p)
	x := l.extra(*f.Extra, at, l.t.Own.Members, foreign.Part)
	mark := l.mark(*f.Cache, at, in)
	signature := l.signature(*f.Signature, at, !l.t.Thoughts.Carried)
	usual, lost, bare := "", ResultFile, p
	switch p := p.(type) {
	case *content.Image:
		usual, lost = usualImage, ResultImage
	case *content.Document:
		usual = pdfType
		if p.Citations {
			l.lose(DocumentCitations, at.Member("citations"))
		}
		l.heading(p.Title, p, at)
		if p.Title != "" || p.Context != "" || p.Citations {
			bare = &content.Document{Source: p.Source}
		}
	}
	s := l.fileSource(*f.Source, at, usual)
	if s == nil {
		return
	}
	l.resultFile(in, at, lost)
	l.pushFile(bare, s, signature, mark, x)
}

// fileSource returns the source to send for a file, or nil if there is none. usual is the
// media type of a link without one; "" means that there is no usual one.
func (l *lowering) fileSource(from content.Source, at Path, usual string) content.Source {
	fields := partfield.OfSource(from)
	if fields.MediaType == nil {
		l.refuse(content.CodeUnsupported, at.Member("source"), noBytes)
		return nil
	}
	x := l.extra(*fields.Extra, at.Member("source"), l.t.Own.Members, foreign.Part)
	kind, ok := *fields.MediaType, true
	switch s := from.(type) { // other kinds have no media type
	case *content.Base64:
		kind, ok = l.fileType(s, at)
	case *content.PlainText:
		if s.Text == "" {
			l.lose(EmptyText, at)
			return nil
		}
	case *content.URL:
		switch {
		case !l.t.Files.Keep && !l.n.ForwardLinks:
			ok = l.awaits(at)
		case kind == "" && x == nil:
			kind = l.linkType(s.URL, at, usual)
		}
	case *content.File:
		ok = l.storedFile(s, at)
	}
	if !ok {
		return nil
	}
	return sourceWith(from, kind, x)
}

// fileType returns the media type of the bytes of a file. It returns false if the target
// does not accept the type.
func (l *lowering) fileType(s *content.Base64, at Path) (kind string, ok bool) {
	if kind = s.MediaType; kind == "" {
		if kind = (media.File{Data: s.Data}).Detect(); kind != "" {
			l.lose(FileType, at.Member("source.media_type"))
		}
	}
	switch accepts := l.t.Files.Accepts; {
	case accepts == nil, accepts(kind):
		return kind, true
	case kind == "":
		l.refuse(content.CodeMedia, at.Member("source"), "the media type of the file is unknown; set it")
	default:
		l.refuse(content.CodeUnsupported, at.Member("source"), "the model does not accept files of this media type")
	}
	return "", false
}

// storedFile reports whether the id of a file is sent.
func (l *lowering) storedFile(s *content.File, at Path) bool {
	switch {
	case l.t.Files.Stores(s.ID):
		l.to.Stored = true
		return true
	case l.t.Files.Keep:
		l.lose(FileStored, at.Member("source"))
		return false
	}
	return l.awaits(at)
}

const usualImage = "image/jpeg"

// linkTypes maps the endings of links to media types.
var linkTypes = [...][2]string{
	{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".gif", "image/gif"}, {".webp", "image/webp"},
}

// linkType returns the media type to send for a link without one. Links to documents are
// usually links to PDFs.
func (l *lowering) linkType(link string, at Path, usual string) string {
	if usual != usualImage {
		return usual
	}
	l.lose(LinkType, at.Member("source.media_type"))
	link, _, _ = strings.Cut(link, "?")
	link, _, _ = strings.Cut(link, "#")
	for _, t := range linkTypes {
		if strings.HasSuffix(strings.ToLower(link), t[0]) {
			return t[1]
		}
	}
	return usual
}
