package messages

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// image converts an image, nil if the format does not take its type. A type
// that is not that of the bytes is corrected, since the vendor would refuse it.
func (c *converter) image(p *content.Image, path string) content.Part {
	c.source(p.Source, path+".source")
	s, ok := p.Source.(*content.Base64)
	if !ok || s == nil {
		return p
	}
	kind := content.CanonicalMediaType(strings.ToLower(s.MediaType))
	if shown := shownType(s.Data); slices.Contains(imageTypes, shown) {
		kind = shown
	}
	if !slices.Contains(imageTypes, kind) {
		return c.drop(lostImageType, path)
	}
	if kind == s.MediaType {
		return p
	}
	c.lose(lostTyped, path+".source.media_type")
	q, typed := *p, *s
	typed.MediaType, q.Source = kind, &typed
	return &q
}

// shownType returns the type that a file shows by its first bytes.
func shownType(data string) string {
	const lead = (content.SniffLen + 2) / 3 * 4
	if len(data) < lead {
		return ""
	}
	var b [lead / 4 * 3]byte
	n, err := base64.StdEncoding.Decode(b[:], []byte(data[:lead]))
	if err != nil {
		return ""
	}
	return content.DetectMediaType(b[:n])
}

// document converts a document, nil if the format does not take its type.
func (c *converter) document(p *content.Document, path string) content.Part {
	c.source(p.Source, path+".source")
	q := *p
	switch s := p.Source.(type) {
	case *content.Parts:
		if s == nil {
			break
		}
		if parts, changed := c.parts(s.Parts, path+".source.parts", content.RoleUser); changed {
			in := *s
			in.Parts, q.Source = parts, &in
		}
	case *content.Base64:
		if s == nil {
			break
		}
		if q.Source = c.readable(s, path); q.Source == nil {
			return c.drop(lostDocument, path)
		}
	case *content.PlainText:
		if s != nil && s.Type() != plainType {
			c.lose(lostTextType, path+".source.media_type")
			q.Source = &content.PlainText{Text: s.Text, Extra: c.Own(s.Extra)}
		}
	}
	q.Citations = q.Citations && !c.uncited(q.Citations, path)
	if q.Title = cut(q.Title, mostTitle); q.Title != p.Title {
		c.lose(lostTitle, path+".title")
	}
	if q.Source == p.Source && q.Citations == p.Citations && q.Title == p.Title {
		return p
	}
	return &q
}

const (
	plainType = "text/plain"
	pdfType   = "application/pdf"
	mostTitle = 500 // characters
)

// readable returns the source of a PDF, or the text of a file that holds one.
// It returns nil for other types.
func (c *converter) readable(s *content.Base64, path string) content.Source {
	kind := strings.ToLower(s.MediaType)
	if kind, _, _ = strings.Cut(kind, ";"); kind == "" {
		kind = shownType(s.Data)
	}
	switch {
	case kind == s.MediaType && kind == pdfType:
		return s
	case kind == pdfType:
		c.lose(lostTyped, path+".source.media_type")
		typed := *s
		typed.MediaType = pdfType
		return &typed
	case !codec.IsText(kind):
		return nil
	}
	b, err := s.Bytes()
	if err != nil || !utf8.Valid(b) {
		return nil
	}
	if kind != plainType {
		c.lose(lostTextType, path+".source.media_type")
	} else {
		c.lose(lostTextSource, path+".source")
	}
	return &content.PlainText{Text: string(b), Extra: c.Own(s.Extra)}
}

// cut returns no more than n characters of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// source reports what stands beside a source and cannot be said.
func (c *converter) source(s content.Source, path string) {
	var x *content.Extra
	kind := ""
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			x = s.Extra
		}
	case *content.URL:
		if s != nil {
			x, kind = s.Extra, s.MediaType
		}
	case *content.File:
		if s != nil {
			x, kind = s.Extra, s.MediaType
		}
	case *content.PlainText:
		if s != nil {
			x = s.Extra
		}
	case *content.Parts:
		if s != nil {
			x = s.Extra
		}
	}
	c.alien(x, path)
	if kind != "" {
		c.lose(lostLinkType, path+".media_type")
	}
}
