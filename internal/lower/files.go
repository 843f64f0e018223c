package lower

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

// Files describes the files that a target accepts in user turns.
type Files struct {
	TextOnly bool // the model reads no files
	Note     bool // a sentence replaces a file that cannot be read; otherwise the request is refused

	// Alike says that files of all kinds are sent in one form: bytes with a media type, a
	// link, or an id. The next fields are for such targets, and those behind them for others.
	Alike   bool
	Accepts func(mediaType string) bool // nil means all
	Stores  func(id string) bool        // the vendor stores the file with an id

	Keep bool // the caller loads no files: links and ids are sent as they are

	Images        []string // media types; nil means all images
	ImageLinks    bool
	Documents     []string // media types besides text
	DocumentLinks bool
	Audio         map[string]string // media types, and what they are called here

	IDPrefix string // of the ids of files that the vendor stores, after others have been loaded; "" means none
	AnyID    bool   // the vendor stores files of all ids that could not be loaded

	// DetectTypes says that the server rejects a media type that is not that of the
	// data. Images and PDFs get the type of their first bytes.
	DetectTypes bool

	// Citable is true if there are documents of texts and parts, and if documents can have a
	// title and a context and be cited. Otherwise they are sent as text.
	Citable     bool
	TitleLength int // of documents, in characters; 0 means no limit

	// Name completes the name of a document.
	Name func(title, mediaType string) string

	// Details are the members of files that say how closely the model looks at them.
	Details Details
}

// Details describes the resolution of images and files.
type Details struct {
	Documents bool // documents have a resolution, too

	// Of returns the target's members for the members x of a part, or "". rest reports
	// whether x has others.
	Of func(x *content.Extra) (json string, rest bool)
}

const pdfType = "application/pdf"

const noBytes = "this kind of source has no bytes; send the file as base64"

// detail returns the members to send for those of a file.
func (l *lowering) detail(x *content.Extra, at Path) *content.Extra {
	if l.t.Files.Details.Of == nil {
		return l.extra(x, at, l.t.Own.Members, foreign.Part)
	}
	json, rest := "", true
	if x == nil || x.JSON == "" || x.JSON == "{}" {
		rest = false
	} else {
		json, rest = l.t.Files.Details.Of(x)
	}
	if rest {
		l.extra(x, at, false, foreign.Part)
	}
	switch {
	case json == "":
		return l.defaultDetail
	case x.Format == l.t.Format && x.JSON == json:
		return x
	}
	return &content.Extra{Format: l.t.Format, JSON: json}
}

// label pushes the name of a file if the object of a tool result refers to it. It reports
// the other members of the source.
func (l *lowering) label(p content.Part, at Path) {
	x := partfield.SourceExtra(partfield.SourceOf(p))
	if x == nil {
		return
	}
	name, alone := "", false
	if l.names {
		name, alone = gjson.Get(x.JSON, "displayName").Str, codec.MemberCount(x.JSON) == 1
	}
	if name == "" || !alone {
		l.extra(x, at.Member("source"), l.t.Own.Members, foreign.Part)
	}
	if name == "" {
		return
	}
	t := &content.Text{Text: name + ":"}
	if l.labels == nil {
		l.labels = make(map[*content.Text]bool)
	}
	l.labels[t] = true
	l.push(t)
}

// isLabel reports whether a part is the name of the file behind it.
func (l *lowering) isLabel(p content.Part) bool {
	t, ok := p.(*content.Text)
	return ok && l.labels[t]
}

// image pushes an image.
func (l *lowering) image(p *content.Image, at Path, in Site) {
	if l.t.Files.Alike {
		l.file(p, at, in)
		return
	}
	signature := l.signature(p.Signature, at, in == InAssistant)
	l.label(p, at)
	if !l.readsFiles(at, "an image", "") {
		return
	}
	x := l.detail(p.Extra, at)
	f := &l.t.Files
	s, ok := l.source(p.Source, at, f.ImageLinks)
	if !ok {
		return
	}
	if b, ok := s.(*content.Base64); ok {
		kind := media.Canonical(b.MediaType)
		if f.DetectTypes {
			kind = media.Canonical(strings.ToLower(b.MediaType))
			if shown := (media.File{Data: b.Data}).Detect(); slices.Contains(f.Images, shown) { // bounded by Target
				kind = shown
			}
		}
		if !strings.HasPrefix(kind, "image/") || f.Images != nil && !slices.Contains(f.Images, kind) { // bounded by Target
			l.unreadable(at, kind, "", content.CodeMedia, "source.media_type", "must be a type of images that the server accepts: "+cmp.Or(strings.Join(f.Images, ", "), "image/…"))
			return
		}
		if f.DetectTypes && kind != b.MediaType {
			l.lose(FileType, at.Member("source.media_type"))
		}
		s = l.withType(b, kind)
	}
	mark := l.fileMark(p.Cache, at, in)
	l.resultFile(in, at, ResultImage)
	l.pushFile(p, s, signature, mark, x)
}

// media pushes audio or video.
func (l *lowering) media(p *content.Media, at Path, in Site) {
	if l.t.Files.Alike {
		l.file(p, at, in)
		return
	}
	x := l.extra(p.Extra, at, l.t.Own.Members, foreign.Part)
	signature := l.signature(p.Signature, at, in == InAssistant)
	l.label(p, at)
	f := &l.t.Files
	if f.Audio == nil {
		l.unreadable(at, "audio or video", "", content.CodeUnsupported, "", "the model accepts no audio or video")
		return
	}
	if !l.readsFiles(at, "audio or video", "") {
		return
	}
	s, ok := l.source(p.Source, at, false)
	if !ok {
		return
	}
	if b, ok := s.(*content.Base64); ok {
		kind := f.Audio[b.MediaType]
		if kind == "" {
			l.unreadable(at, b.MediaType, "", content.CodeUnsupported, "source.media_type", "must be audio as WAV or MP3; the server accepts no other audio and no video")
			return
		}
		s = l.withType(b, kind)
	}
	mark := l.fileMark(p.Cache, at, in)
	l.resultFile(in, at, ResultFile)
	l.pushFile(p, s, signature, mark, x)
}

// resultFile reports a file of a tool result by a rule, if it is sent behind the result.
func (l *lowering) resultFile(in Site, at Path, r *loss.Rule) {
	if in == InResult && !l.t.Results.Files {
		l.lose(r, at)
	}
}

// pushFile pushes a file with what the target accepts of it.
func (l *lowering) pushFile(p content.Part, s content.Source, signature content.Signature, mark *content.Cache, x *content.Extra) {
	f := partfield.Of(p)
	if s != *f.Source || signature != *f.Signature || mark != *f.Cache || x != *f.Extra {
		p, f = partfield.Copy(p)
		*f.Source, *f.Signature, *f.Cache, *f.Extra = s, signature, mark, x
	}
	l.push(p)
}

// withType returns a source with another media type, without members that are not sent.
func (l *lowering) withType(s content.Source, kind string) content.Source {
	return sourceWith(s, kind, l.ownExtra(partfield.SourceExtra(s)))
}

// sourceWith returns a source with a media type and members.
func sourceWith(s content.Source, kind string, x *content.Extra) content.Source {
	f := partfield.OfSource(s)
	if *f.MediaType == kind && *f.Extra == x {
		return s
	}
	s, f = partfield.CopySource(s)
	*f.MediaType, *f.Extra = kind, x
	return s
}

// ownExtra returns the members of a source that are sent. The others have been reported.
func (l *lowering) ownExtra(x *content.Extra) *content.Extra {
	if !l.t.Own.Members {
		return nil
	}
	return codec.Own(x, l.t.Format)
}

// source returns the source to send: the bytes of a file, or a link or an id that the
// server accepts. It returns false if the file must be loaded first, or cannot be.
func (l *lowering) source(s content.Source, at Path, links bool) (content.Source, bool) {
	if !l.hasSource(s, at) {
		return nil, false
	}
	switch s.(type) { // other kinds have no bytes
	case *content.Base64:
		return s, true
	case *content.URL, *content.File:
	default:
		l.refuse(content.CodeUnsupported, at.Member("source"), noBytes)
		return nil, false
	}
	if !l.isKept(s, links) {
		return s, l.awaits(at)
	}
	if partfield.MediaTypeOf(s) != "" {
		l.lose(FileLinkType, at.Member("source.media_type"))
	}
	return l.withType(s, ""), true
}

// isKept reports whether a link or an id is sent as it is. links says that the target
// accepts links to such files.
func (l *lowering) isKept(s content.Source, links bool) bool {
	f := &l.t.Files
	switch s := s.(type) {
	case *content.URL:
		return l.keepsLink(s, links)
	case *content.File:
		return f.Keep || l.loaded && (f.AnyID || f.IDPrefix != "" && strings.HasPrefix(s.ID, f.IDPrefix))
	}
	return true
}

// hasSource refuses a file without a source.
func (l *lowering) hasSource(s content.Source, at Path) bool {
	if partfield.OfSource(s).Extra == nil {
		l.refuse(content.CodeUnsupported, at.Member("source"), noBytes)
		return false
	}
	return true
}

// awaits notes that a file must be loaded. It returns false if that was tried.
func (l *lowering) awaits(at Path) bool {
	if l.loaded {
		l.refuse(content.CodeUnsupported, at.Member("source"), "the file is not available; send it as base64")
		return false
	}
	l.to.Load = true
	return true
}

// keepsLink reports whether a link is sent. links says that the target accepts links to such
// files.
func (l *lowering) keepsLink(link *content.URL, links bool) bool {
	return l.t.Files.Keep || l.n.ForwardLinks && links && isWebURL(link.URL)
}

// KeepsLink reports whether the link of a part is sent to the target if the request allows
// that: see [upstream.Request.Inline].
func (t *Target) KeepsLink(p content.Part, link *content.URL) bool {
	links := t.Files.DocumentLinks
	if _, ok := p.(*content.Image); ok {
		links = t.Files.ImageLinks
	}
	return t.Files.Alike || links && isWebURL(link.URL)
}

func isWebURL(link string) bool {
	scheme, _, ok := strings.Cut(link, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// readsFiles reports whether the model reads files. If not, the file is unreadable.
func (l *lowering) readsFiles(at Path, kind, title string) bool {
	if l.t.Files.TextOnly {
		l.unreadable(at, kind, title, content.CodeUnsupported, "", "the model reads text only")
	}
	return !l.t.Files.TextOnly
}

// unreadable refuses the request because of a file that the server does not accept or, if
// the target has Note, pushes a sentence instead of the file.
func (l *lowering) unreadable(at Path, kind, title string, code content.Code, member, text string) {
	if !l.t.Files.Note {
		l.refuse(code, at.Member(member), text)
		return
	}
	l.lose(FileUnreadable, at)
	kind = cmp.Or(kind, "a file of an unknown type")
	if title != "" {
		kind += ", \"" + title + "\""
	}
	l.push(&content.Text{Text: "[Here is a file that you cannot read: " + kind + ".]"})
}

// document pushes a document: as a file, or as its texts and parts.
func (l *lowering) document(p *content.Document, at Path, in Site) {
	if !l.hasSource(p.Source, at) {
		return
	}
	if l.t.Files.Citable {
		l.citableDocument(p, at, in)
		return
	}
	if _, ok := p.Source.(*content.Parts); l.t.Files.Alike && !ok {
		l.file(p, at, in)
		return
	}
	l.signature(p.Signature, at, in == InAssistant)
	if p.Citations {
		l.lose(DocumentCitations, at.Member("citations"))
	}
	q := content.Document{}
	if l.t.Files.Details.Documents {
		q.Extra = l.detail(p.Extra, at)
	} else {
		l.extra(p.Extra, at, l.t.Own.Members, foreign.Part)
	}
	before := len(l.stack)
	mark := l.mark(p.Cache, at, in)
	switch s := p.Source.(type) {
	case *content.PlainText:
		l.textDocument(p, s.Text, at)
	case *content.Parts:
		l.lose(DocumentParts, at.Member("source"))
		l.heading(l.fileName(p, at), p, at)
		l.parts(s.Parts, at, SourceParts, in)
	default:
		l.documentFile(p, &q, at, in)
	}
	switch last := len(l.stack) - 1; {
	case mark == nil || last < before:
	case l.t.Marks.TextsOnly && isFile(l.stack[last]):
		l.lose(CacheMark, at.Member("cache"))
	default:
		l.markPart(last, mark)
	}
}

// citableDocument pushes a document that keeps its form.
func (l *lowering) citableDocument(p *content.Document, at Path, in Site) {
	q := *p
	q.Signature = l.signature(p.Signature, at, false)
	q.Extra = l.extra(p.Extra, at, l.t.Own.Members, foreign.Part)
	q.Citations = l.asksCitations(p.Citations, at)
	if q.Title = cut(p.Title, l.t.Files.TitleLength); q.Title != p.Title {
		l.lose(DocumentTitleLength, at.Member("title"))
	}
	l.label(p, at)
	if q.Source = l.documentSource(p, at); q.Source == nil {
		return
	}
	q.Cache = l.mark(p.Cache, at, in)
	if q == *p {
		l.push(p)
		return
	}
	l.push(&q)
}

// asksCitations reports whether a request for citations can be sent.
func (l *lowering) asksCitations(asked bool, at Path) bool {
	if asked && l.to.Output.Schema.JSON != "" {
		l.lose(CitationsOfSchema, at.Member("citations"))
		return false
	}
	return asked
}

// cut returns at most n characters of s. 0 means no limit.
func cut(s string, n int) string {
	if n == 0 || len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// documentSource returns the source of a document that keeps its form. It is nil if the
// request is refused.
func (l *lowering) documentSource(p *content.Document, at Path) content.Source {
	switch s := p.Source.(type) {
	case *content.PlainText:
		if s.Type() == plainType {
			return l.withType(s, s.MediaType)
		}
		l.lose(DocumentTextType, at.Member("source.media_type"))
		return l.withType(s, "")
	case *content.Parts:
		start := l.begin()
		l.parts(s.Parts, at, SourceParts, InDocument)
		list := l.pop(start, s.Parts)
		if x := l.ownExtra(s.Extra); x != s.Extra || !isSameList(list, s.Parts) {
			return &content.Parts{Parts: list, Extra: x}
		}
		return s
	}
	s, ok := l.source(p.Source, at, l.t.Files.DocumentLinks)
	if b, isData := s.(*content.Base64); ok && isData {
		return l.base64Document(p, b, at)
	}
	if !ok {
		return nil
	}
	return s
}

// base64Document returns the source of a file, or of a text, in base64.
func (l *lowering) base64Document(p *content.Document, s *content.Base64, at Path) content.Source {
	kind, _, _ := strings.Cut(strings.ToLower(s.MediaType), ";")
	if kind == "" && l.t.Files.DetectTypes {
		kind = media.File{Data: s.Data}.Detect()
	}
	switch {
	case isTextType(kind):
		text, ok := l.base64Text(s, at)
		if !ok {
			return nil
		}
		if kind != plainType {
			l.lose(DocumentTextType, at.Member("source.media_type"))
		} else {
			l.lose(DocumentDecoded, at.Member("source"))
		}
		return &content.PlainText{Text: text, Extra: l.ownExtra(s.Extra)}
	case slices.Contains(l.t.Files.Documents, kind): // bounded by Target
		if kind != s.MediaType {
			l.lose(FileType, at.Member("source.media_type"))
		}
		return l.withType(s, kind)
	}
	l.unreadable(at, kind, p.Title, content.CodeUnsupported, "source.media_type", "must be text or a type of documents that the server accepts: "+strings.Join(l.t.Files.Documents, ", "))
	return nil
}

// documentFile pushes a document whose bytes are in base64 or remote. q has what was
// found for it so far.
func (l *lowering) documentFile(p, q *content.Document, at Path, in Site) {
	f := &l.t.Files
	if l.unreadableRemote(p, at) {
		return
	}
	s, ok := l.source(p.Source, at, f.DocumentLinks)
	if !ok {
		return
	}
	b, ok := s.(*content.Base64)
	if !ok {
		if !l.isKept(s, f.DocumentLinks) { // it must be loaded first
			if !isTextType(partfield.MediaTypeOf(s)) {
				l.resultFile(in, at, ResultFile)
			}
			q.Source, q.Title = s, p.Title
			l.push(q)
			return
		}
		if l.readsFiles(at, "a file", p.Title) {
			l.heading(l.fileName(p, at), p, at)
			q.Source = s
			l.push(q)
		}
		return
	}
	kind := media.Canonical(b.MediaType)
	switch {
	case isTextType(kind):
		if text, ok := l.base64Text(b, at); ok {
			l.textDocument(p, text, at)
		}
		return
	case !l.readsFiles(at, kind, p.Title):
		return
	case len(f.Documents) == 0:
		l.unreadable(at, kind, l.fileName(p, at), content.CodeUnsupported, "source", "the server does not accept files; send the text")
		return
	case !slices.Contains(f.Documents, kind): // bounded by Target
		l.unreadable(at, kind, l.fileName(p, at), content.CodeUnsupported, "source.media_type", "must be text or a type of documents that the server accepts: "+strings.Join(f.Documents, ", "))
		return
	}
	l.heading("", p, at) // the file has its title as its name
	if l.defaultDetail != nil && !f.Details.Documents {
		l.lose(FileDetail, at)
	}
	q.Title = f.Name(l.fileName(p, at), kind)
	q.Source = l.withType(b, kind)
	l.resultFile(in, at, ResultFile)
	l.push(q)
}

// textDocument pushes a text document as text.
func (l *lowering) textDocument(p *content.Document, text string, at Path) {
	l.lose(DocumentText, at)
	l.heading(l.fileName(p, at), p, at)
	if text != "" {
		l.push(&content.Text{Text: text})
	}
}

// base64Text returns the text of a document in base64. It refuses other bytes.
func (l *lowering) base64Text(s *content.Base64, at Path) (text string, ok bool) {
	b, err := s.Bytes()
	if err != nil || !utf8.Valid(b) {
		l.refuse(content.CodeMedia, at.Member("source.data"), "must be base64 of UTF-8 text")
		return "", false
	}
	return string(b), true
}

// heading pushes a name and the context of a document as text.
func (l *lowering) heading(name string, p *content.Document, at Path) {
	text := ""
	if name != "" {
		text = "Document: " + name + "\n"
	}
	if p.Context != "" {
		text += "About the document: " + p.Context + "\n"
	}
	if text != "" {
		l.lose(DocumentTitle, at)
		l.push(&content.Text{Text: strings.TrimSuffix(text, "\n")})
	}
}

// fileName returns the name of a document: its title or the name in its members.
func (l *lowering) fileName(p *content.Document, at Path) string {
	x := partfield.SourceExtra(p.Source)
	if x == nil {
		return p.Title
	}
	if name := gjson.Get(x.JSON, "displayName").Str; name != "" && p.Title == "" {
		return name
	}
	l.extra(x, at.Member("source"), false, foreign.Part)
	return p.Title
}

// unreadableRemote reports whether a document that would have to be fetched cannot be
// read, and pushes a sentence instead. Most of these are PDFs.
func (l *lowering) unreadableRemote(p *content.Document, at Path) bool {
	f := &l.t.Files
	if len(f.Documents) > 0 && !f.TextOnly || !f.Note {
		return false
	}
	switch p.Source.(type) {
	case *content.URL, *content.File:
	default:
		return false
	}
	kind := partfield.MediaTypeOf(p.Source)
	if isTextType(kind) {
		return false
	}
	kind = cmp.Or(kind, pdfType)
	l.unreadable(at, kind, l.fileName(p, at), content.CodeUnsupported, "source", "the server does not accept files; send the text")
	return true
}
