package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// The media types that the format takes inline. They are never changed.
var (
	imageTypes    = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	documentTypes = []string{"application/pdf"} // of the vendor's contract, and so of Strict
	textTypes     = []string{"application/pdf", plainType}
)

const maxURL = 8 << 10

// source checks where an image or a document comes from.
func (v *validator) source(s content.Source, image bool) {
	v.path.Push("source")
	defer v.path.Pop()
	tags := documentSources
	if image {
		tags = imageSources
	}
	kind, known := sourceTag(s)
	switch {
	case kind == "":
		// A path that ends in "source" is where the parser has told of what it
		// could not read.
		v.violation(content.CodeMissing, textRequired)
		return
	case !known || image && sourceKind(kind) != 1:
		v.violation(content.CodeValue, quoteTag(kind, tags))
		return
	case kind == "file" && !v.filesAllowed():
		without := strings.TrimSuffix(tags, ", 'file'")
		v.violation(content.CodeUnsupported, quoteTag(kind, without)+
			" (a file source needs the anthropic-beta value "+betaFiles+")")
		return
	}
	v.path.Push(kind)
	defer v.path.Pop()
	switch s := s.(type) {
	case *content.Base64:
		v.files++
		v.inline(s, image)
	case *content.URL:
		v.files++
		v.url(s)
	case *content.File:
		v.files++
		v.need(s.ID, "file_id")
		v.extra(s.Extra, nil)
	case *content.PlainText:
		v.plainText(s)
	case *content.Parts:
		v.parts(s)
	}
}

// sourceTag returns the tag of a source, empty for none.
func sourceTag(s content.Source) (tag string, known bool) {
	switch s := s.(type) {
	case nil:
		return "", true
	case *content.Base64:
		return tagUnless("base64", s == nil), true
	case *content.URL:
		return tagUnless("url", s == nil), true
	case *content.File:
		return tagUnless("file", s == nil), true
	case *content.PlainText:
		return tagUnless("text", s == nil), true
	case *content.Parts:
		return tagUnless("content", s == nil), true
	}
	return "unknown", false
}

func tagUnless(tag string, missing bool) string {
	if missing {
		return ""
	}
	return tag
}

func (v *validator) filesAllowed() bool {
	return v.opts.AllowFiles || v.is2026() || v.beta(betaFiles)
}

// inline checks a file in the document against its media type and the limits.
func (v *validator) inline(s *content.Base64, image bool) {
	what, types := "document", textTypes
	if v.opts.Strict {
		types = documentTypes
	}
	if image {
		what, types = "image", imageTypes
	} else if more := v.opts.MediaTypes; len(more) > 0 {
		types = slices.Concat(types, more)
	}
	v.extra(s.Extra, nil)
	if !v.need(s.MediaType, "media_type") {
		return
	}
	welcome := slices.Contains(types, content.CanonicalMediaType(s.MediaType))
	if !welcome {
		v.violation(content.CodeValue, textOneOf(types), "media_type")
	}
	if !v.need(s.Data, "data") {
		return
	}
	lim := v.lim
	r := content.CheckFile(s, v.ruleFor(s.Data), lim)
	switch r.Violation {
	case 0:
	case content.FileType, content.FileNotText:
		if welcome {
			v.mismatch(what, s.MediaType, r.Actual)
		}
	default:
		code, text := fileText(what, &r, lim)
		v.violation(code, text, "data")
	}
}

// soundSize is the length from which it is worth while to remember that a text
// is base64: a second look would cost more than the rest of a validation.
const soundSize = 4 << 10

// checked remembers a long text that is valid base64, which the JSON reader found
// out while it looked for the end of the string.
func (p *parser) checked(x jsonwire.Value, data string) {
	if p.origin == nil || len(data) < soundSize {
		return
	}
	if _, fault := x.Base64(); fault == 0 {
		p.origin.base64 = append(p.origin.base64, data)
	}
}

// ruleFor returns how to check base64 data: not again, if it is what the reader
// has found good. Comparing it costs nothing, since it shares its memory.
func (v *validator) ruleFor(data string) content.Base64Rule {
	if len(data) < soundSize || v.made || v.sound >= len(v.r.origin.base64) || v.r.origin.base64[v.sound] != data {
		return content.Base64Strict
	}
	v.sound++
	return content.Base64Checked
}

// mismatch reports bytes that are not of the type that was said.
func (v *validator) mismatch(what, said, actual string) {
	if what == "image" && strings.HasPrefix(actual, "image/") { // in the vendor's words, at the vendor's path
		v.violation(content.CodeMedia, "The image was specified using the "+codec.Clip(said)+" media type, but the image appears to be a "+actual+" image")
		return
	}
	text := strings.ToUpper(what[:1]) + what[1:] + " does not match the provided media type " + codec.Clip(said)
	if actual != "" {
		text += ": it is " + actual
	}
	member := "media_type"
	if what == "image" {
		member = "data"
	}
	v.violation(content.CodeMedia, text, member)
}

func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MB"
	}
	return "the"
}

// url checks that a link could be one. Whether it leads anywhere, and whether
// anyone should go there, is for whoever fetches it.
func (v *validator) url(s *content.URL) {
	v.extra(s.Extra, nil)
	if !v.need(s.URL, "url") {
		return
	}
	switch text, host := "", hostOf(s.URL); {
	case len(s.URL) > maxURL:
		v.violation(content.CodeRange, "URL should have at most "+strconv.Itoa(maxURL)+" characters", "url")
	case host == "":
		text = "Input should be a valid URL with the scheme http or https and a host"
		fallthrough
	case strings.ContainsFunc(s.URL, func(r rune) bool { return r <= ' ' || r == 0x7F || r == '\\' }):
		if text == "" {
			text = "Input should be a valid URL without white space, control characters and backslashes"
		}
		v.violation(content.CodeValue, text, "url")
	}
}

// hostOf returns what stands between the scheme of a web address and its
// path, empty if it is none.
func hostOf(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, ":") {
		return ""
	}
	return rest
}

func (v *validator) plainText(s *content.PlainText) {
	if s.MediaType != "" && s.MediaType != "text/plain" {
		v.violation(content.CodeValue, "Input should be 'text/plain'", "media_type")
	}
	n := min(len(s.Text), content.SniffLen)
	var lead [content.SniffLen]byte
	copy(lead[:], s.Text[:n])
	if actual := content.DetectMediaType(lead[:n]); actual != "" {
		v.mismatch("document", "text/plain", actual)
	}
	if int64(len(s.Text)) > v.lim.FileBytes {
		v.violation(content.CodeLimit, "document exceeds "+megabytes(v.lim.FileBytes)+" maximum", "data")
	}
	v.extra(s.Extra, nil)
}

// parts checks a document that is given as texts and images.
func (v *validator) parts(s *content.Parts) {
	if len(s.Parts) > 0 {
		v.path.Push("content")
		for i, p := range s.Parts {
			v.path.PushIndex(i)
			v.part(p, inContent)
			v.path.Pop()
		}
		v.path.Pop()
	}
	v.extra(s.Extra, nil)
}

func (v *validator) document(d *content.Document) {
	v.source(d.Source, false)
	if v.opts.Strict {
		v.atMost(d.Title, 500, "title")
	}
	v.cited = v.cited || d.Citations
	v.extra(d.Extra, nil)
}

// citations checks what a text cites.
func (v *validator) citations(t *content.Text) {
	if len(t.Citations) == 0 {
		return
	}
	v.path.Push("citations")
	for i := range t.Citations {
		v.path.PushIndex(i)
		v.citation(&t.Citations[i])
		v.path.Pop()
	}
	v.path.Pop()
}

func (v *validator) citation(c *content.Citation) {
	f := citeFormOf("", c.Kind)
	if f == nil {
		if c.Kind != "" || v.made && c.Extra == nil {
			v.violation(content.CodeValue, quoteTag(string(c.Kind), citeTags()))
		} else if v.opts.Strict && c.Extra != nil {
			tag, _ := memberText(c.Extra.JSON, "type")
			v.violation(content.CodeUnknown, quoteTag(strings.Trim(tag, `"`), citeTags()))
		}
		return
	}
	v.path.Push(f.tag)
	if f.index != "" {
		first := int64(0)
		if c.Kind == content.CitePages {
			first = 1
		}
		v.atLeast(c.Index, 0, f.index)
		v.atLeast(c.Start, first, f.start)
		v.atLeast(c.End, max(first, c.Start), f.end)
	}
	if c.Kind == content.CiteWeb {
		v.atMost(c.Title, 512, f.title)
		v.extra(c.Extra, webCiteFields)
	} else {
		v.extra(c.Extra, nil)
	}
	v.path.Pop()
}

func (v *validator) atLeast(n, least int64, name string) {
	if n < least {
		v.violation(content.CodeRange, textAtLeast(least), name)
	}
}

func citeTags() string {
	tags := make([]string, len(citeForms))
	for i := range citeForms {
		tags[i] = citeForms[i].tag
	}
	return quoteTags(tags)
}
