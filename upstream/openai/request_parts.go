package openai

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
)

// A piece is an element of a message's content.
type piece struct {
	kind      pieceKind
	text      string // a text, or the URL of an image
	cacheMark bool   // ends a cached prefix
	isLabel   bool   // a text that is the name of the next file

	mediaType, data string // data is base64
	name            string // of a file
	detail          string // of an image or file: "low" or "high"
}

type pieceKind uint8

const (
	pieceText pieceKind = iota
	pieceImage
	pieceAudio
	pieceFile
)

// partLossRules are the loss rules for parts that differ between the formats.
type partLossRules struct{ systemFile, citations, citing, thought, unknown *loss.Rule }

var (
	chatPartLosses      = partLossRules{lossSystemFile, lossCitations, lossDocumentCitations, lossThinking, lossUnknownPart}
	responsesPartLosses = partLossRules{lossResponsesSystemFile, lossResponsesCitations, lossResponsesDocumentCitations, lossForeignThinking, lossResponsesUnknownPart}
)

// systemPart adds a part of the system text.
func (e *encoder) systemPart(p content.Part, at partPath) {
	t, ok := p.(*content.Text)
	switch {
	case content.IsNil(p):
		e.addViolation(content.CodeValue, at, "", "the part must not be nil")
	case !ok:
		e.addLoss(e.partLosses.systemFile, at)
	default:
		e.text(t, at)
	}
}

// text adds a text of the user or the system.
func (e *encoder) text(p *content.Text, at partPath) {
	e.checkPartExtra(p.Extra, at)
	e.checkSignature(p.Signature, at)
	if len(p.Citations) > 0 {
		e.addLoss(e.partLosses.citations, at)
	}
	if p.Text == "" {
		e.addLoss(lossEmptyText, at)
		return
	}
	e.pieces = append(e.pieces, piece{text: p.Text, cacheMark: e.acceptsCacheMark(p.Cache, at)})
}

// growPieces reserves space for n pieces.
func (e *encoder) growPieces(n int) { e.pieces = slices.Grow(e.pieces, n) }

// maxKeptPieces is the largest capacity that resetPieces keeps.
const maxKeptPieces = 1024

// resetPieces removes all pieces.
func (e *encoder) resetPieces() {
	if cap(e.pieces) > maxKeptPieces {
		e.pieces = nil
		return
	}
	clear(e.pieces)
	e.pieces = e.pieces[:0]
}

// unsupportedPart adds the loss of a part that is dropped.
func (e *encoder) unsupportedPart(p content.Part, at partPath) {
	switch p.(type) {
	case *content.ServerToolUse, *content.ServerToolResult:
		e.addLoss(lossVendorPart, at)
	case *content.Thinking:
		e.addLoss(e.partLosses.thought, at)
	default:
		e.addLoss(e.partLosses.unknown, at)
	}
}

// searchResult adds a search result as text. part adds each of its parts.
func (e *encoder) searchResult(p *content.SearchResult, at partPath, part func(content.Part, partPath)) {
	e.checkPartExtra(p.Extra, at)
	if p.Citations {
		e.addLoss(e.partLosses.citing, at)
	}
	mark := e.acceptsCacheMark(p.Cache, at)
	e.addLoss(lossSearchResult, at)
	head := "Search result: " + p.Title
	if p.Source != "" {
		head += "\nSource: " + p.Source
	}
	e.pieces = append(e.pieces, piece{text: head})
	for i, q := range p.Parts {
		part(q, at.in(".parts", i))
	}
	if mark {
		e.pieces[len(e.pieces)-1].cacheMark = true
	}
}

// base64Source returns the source if it holds its bytes. Otherwise it returns nil and
// marks the file to be fetched, or adds a violation.
func (e *encoder) base64Source(s content.Source, at partPath, image bool) *content.Base64 {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return s
		}
	case *content.URL, *content.File:
		if !e.filesLoaded {
			e.needsFiles, e.needsDocuments = true, e.needsDocuments || !image
			return nil
		}
		e.addViolation(content.CodeUnsupported, at, ".source", "the file is not available; send it as base64")
		return nil
	}
	e.addViolation(content.CodeUnsupported, at, ".source", "this kind of source has no bytes; send the file as base64")
	return nil
}

// inlineDocument adds a document that contains its text or parts, and reports whether p
// is one. part adds each of its parts.
func (e *encoder) inlineDocument(p *content.Document, at partPath, part func(content.Part, partPath)) bool {
	switch s := p.Source.(type) {
	case *content.PlainText:
		if s != nil {
			e.textDocument(p, s.Text, at)
		}
	case *content.Parts:
		if s != nil {
			e.addLoss(lossDocumentParts, at)
			e.documentHeading(p, at, true)
			for i, q := range s.Parts {
				part(q, at.in(".source.parts", i))
			}
		}
	default:
		return false
	}
	return true
}

// base64TextDocument adds a text document in base64 as text.
func (e *encoder) base64TextDocument(p *content.Document, s *content.Base64, at partPath) {
	text, err := s.Bytes()
	if err != nil || !utf8.Valid(text) {
		e.addViolation(content.CodeMedia, at, ".source.data", "must be base64 of UTF-8 text")
		return
	}
	e.textDocument(p, string(text), at)
}

func (e *encoder) textDocument(p *content.Document, text string, at partPath) {
	e.addLoss(lossDocumentText, at)
	e.documentHeading(p, at, true)
	if text != "" {
		e.pieces = append(e.pieces, piece{text: text})
	}
}

// documentHeading adds the title and context of a document as text. The title is left
// out for a file, which has it as its name.
func (e *encoder) documentHeading(p *content.Document, at partPath, title bool) {
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
		e.addLoss(lossDocumentTitle, at)
		e.pieces = append(e.pieces, piece{text: strings.TrimSuffix(text, "\n")})
	}
}

// fileName returns the name of a document: its title, or the displayName of
// generateContent, or "".
func (e *encoder) fileName(p *content.Document, at partPath) string {
	x := partfield.SourceExtra(p.Source)
	if x == nil {
		return p.Title
	}
	if name := gjson.Get(x.JSON, "displayName").Str; name != "" && p.Title == "" {
		return name
	}
	e.checkExtra(x, foreign.Part, at.String()+".source.extra")
	return p.Title
}

// fileLabel adds the name of a file as text if the object of a tool result refers to
// it. It adds losses for other extra members of the source.
func (e *encoder) fileLabel(p content.Part, s content.Source, at partPath) {
	x := partfield.SourceExtra(s)
	if x == nil {
		return
	}
	if e.hasRefs {
		name, onlyName := codec.DisplayName(p)
		if name != "" {
			e.pieces = append(e.pieces, piece{text: name + ":", isLabel: true})
			if onlyName {
				return
			}
		}
	}
	e.checkExtra(x, foreign.Part, at.String()+".source.extra")
}

// resultParts adds the parts of a tool result with part, except texts that its object
// repeats. marked reports whether one of these texts has a cache mark.
func (e *encoder) resultParts(r *content.ToolResult, at partPath, part func(content.Part, partPath)) (marked bool) {
	e.hasRefs = strings.Contains(r.Object, `"$ref"`)
	e.growPieces(len(r.Parts))
	for k, p := range r.Parts {
		before := len(e.pieces)
		part(p, at.in(".parts", k))
		if t, ok := p.(*content.Text); ok && len(e.pieces) > before && objectRepeats(r.Object, t.Text) {
			marked = marked || e.pieces[before].cacheMark
			e.pieces = e.pieces[:before]
		}
	}
	e.hasRefs = false
	return marked
}

// objectRepeats reports whether an object contains text: as a whole, or as a member.
func objectRepeats(object, text string) bool {
	if object == "" || object == text {
		return object != ""
	}
	doc, err := jsonwire.Parse(object, codec.UnlimitedJSON)
	if err != nil {
		return false
	}
	defer doc.Close()
	for _, x := range doc.Root().Members() {
		if x.Str() == text || x.Raw() == text { // text is not empty here
			return true
		}
	}
	return false
}

// toolInput returns the arguments of a tool call. Without arguments it returns an empty
// object.
func (e *encoder) toolInput(input string, at partPath) string {
	switch object := codec.TrimBlank(input); {
	case object == "":
		return "{}"
	case object[0] != '{':
		e.addViolation(content.CodeType, at, ".input", "must be a JSON object")
	}
	return input
}

// joinPieces writes texts as one string, separated by empty lines.
func (e *encoder) joinPieces(list []piece) {
	e.texts = e.texts[:0]
	for i := range list {
		if i > 0 {
			e.texts = append(e.texts, "\n\n")
		}
		e.texts = append(e.texts, list[i].text)
	}
	e.w.JoinedString(e.texts...)
	clear(e.texts)
	e.texts = e.texts[:0]
}

// readsFiles reports whether the model reads files. If not, it handles the file as
// unreadable. title is the title of the file or "".
func (e *encoder) readsFiles(at partPath, kind, title string) bool {
	if e.target.dialect.TextOnly {
		e.unreadableFile(at, kind, title, content.CodeUnsupported, "", "the model reads text only")
	}
	return !e.target.dialect.TextOnly
}

// unreadableFile adds a violation for a file that the server does not accept or, with
// DescribeUnreadable, a text that describes it.
func (e *encoder) unreadableFile(at partPath, kind, title string, code content.Code, member, text string) {
	// After the files are fetched, it is too late to report a loss.
	if path := at.String(); !e.target.dialect.DescribeUnreadable || e.filesLoaded && !e.described.has(path) {
		e.addViolation(code, at, member, text)
		return
	} else if !e.filesLoaded {
		e.described.add(path)
	}
	e.addLoss(lossUnreadableFile, at)
	if title != "" {
		kind += ", \"" + title + "\""
	}
	e.pieces = append(e.pieces, piece{text: "[Here is a file that you cannot read: " + kind + ".]"})
}

// unreadableRemoteFile reports whether a document that would have to be fetched cannot
// be read. If so, it describes the document. Most of these are PDFs.
func (e *encoder) unreadableRemoteFile(p *content.Document, at partPath) bool {
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
	if e.target.acceptsFiles() && !e.target.dialect.TextOnly || !e.target.dialect.DescribeUnreadable || codec.IsText(kind) {
		return false
	}
	if kind == "" {
		kind = typePDF
	}
	e.unreadableFile(at, kind, e.fileName(p, at), content.CodeUnsupported, ".source", "the server does not accept files; send the text")
	return true
}

// fileDetail returns the detail of a file: "low", "high", or "" for the server's
// default. x are the extra members of the part.
func (e *encoder) fileDetail(x *content.Extra, at partPath) string {
	if x == nil || x.JSON == "" || x.JSON == "{}" {
		return e.defaultDetail
	}
	level := ""
	resolution := gjson.Get(x.JSON, "mediaResolution")
	switch {
	case codec.Own(x, e.format) != nil:
		level = gjson.Get(x.JSON, "detail").Str
	case e.target.isOpenAI:
		level = detailLevels[resolution.Get("level").Str]
	}
	if level == "" {
		e.checkPartExtra(x, at)
		return e.defaultDetail
	}
	if codec.MemberCount(x.JSON) > 1 || codec.MemberCount(resolution.Raw) > 1 {
		e.checkPartExtra(x, at)
	}
	return level
}

// detailLevels maps resolutions of generateContent to details.
var detailLevels = map[string]string{"MEDIA_RESOLUTION_LOW": "low", "MEDIA_RESOLUTION_HIGH": "high"}

// setDefaultDetail sets the default detail from the members of a generateContent
// request. It reports whether there is such a detail.
func (e *encoder) setDefaultDetail(x *content.Extra) bool {
	if !e.target.isOpenAI {
		return false
	}
	e.defaultDetail = detailLevels[gjson.Get(x.JSON, "generationConfig.mediaResolution").Str]
	return e.defaultDetail != ""
}

func isWebURL(link string) bool {
	return strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
}

// isURLSafe reports whether data uses the URL-safe base64 alphabet. The first character
// that only one alphabet has decides; it usually comes early. The rest is searched in
// chunks of 16 KiB, so that each comes from memory once.
func isURLSafe(data string) bool {
	const head = 4 << 10
	for i := range min(len(data), head) {
		switch data[i] {
		case '-', '_':
			return true
		case '+', '/':
			return false
		}
	}
	for data = data[min(len(data), head):]; len(data) > 0; {
		piece := data[:min(len(data), 16<<10)]
		if strings.IndexByte(piece, '-') >= 0 || strings.IndexByte(piece, '_') >= 0 {
			return true
		}
		data = data[len(piece):]
	}
	return false
}

// toStandardBase64 returns base64 in the standard alphabet with padding.
func toStandardBase64(data string) string {
	if isURLSafe(data) {
		data = strings.NewReplacer("-", "+", "_", "/").Replace(data)
	}
	if n := len(data) % 4; n > 1 {
		data += "=="[:4-n]
	}
	return data
}

const typePDF = "application/pdf"
