package generatecontent

import (
	"cmp"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/geminifile"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

// isLink reports whether uri is a link to the web and not to a stored file.
func isLink(uri string) bool {
	scheme, _, _ := strings.Cut(uri, "://")
	return len(scheme) < len(uri) && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) &&
		!strings.HasPrefix(uri, geminifile.Storage)
}

// A linkFinder lists the files that a request links to.
type linkFinder struct {
	path  codec.Path
	lim   content.Limits
	files []handler.File
}

// linkedFiles lists the files that r links to, in document order.
func (d *dialect) linkedFiles(r *Request) []handler.File {
	f := linkFinder{path: codec.Path{Style: codec.Bracketed}, lim: fileLimits(&d.limits)}
	if r.origin != nil && r.origin.nested {
		f.path.Push("generate_content_request")
	}
	if s := r.SystemInstruction; s != nil {
		f.path.Push("system_instruction")
		f.parts(r, -1, s.Parts)
		f.path.Pop()
	}
	f.path.Push("contents")
	for i := range r.Contents {
		f.path.PushIndex(i)
		f.parts(r, i, r.Contents[i].Parts)
		f.path.Pop()
	}
	return f.files
}

func (f *linkFinder) parts(r *Request, turn int, list []content.Part) {
	f.path.Push("parts")
	defer f.path.Pop()
	for i, p := range list {
		if content.IsNil(p) {
			continue
		}
		f.path.PushIndex(r.original(turn, i))
		if res, ok := p.(*content.ToolResult); ok {
			f.path.Push("function_response")
			f.results(res.Parts)
			f.path.Pop()
		} else {
			f.source(p)
		}
		f.path.Pop()
	}
}

// results lists the files of a tool result. Its texts are not in the document's list of
// parts.
func (f *linkFinder) results(list []content.Part) {
	f.path.Push("parts")
	defer f.path.Pop()
	n := 0
	for _, p := range list {
		if _, text := p.(*content.Text); text || content.IsNil(p) {
			continue
		}
		f.path.PushIndex(n)
		f.source(p)
		f.path.Pop()
		n++
	}
}

func (f *linkFinder) source(p content.Part) {
	s := partfield.SourceOf(p)
	switch of := partfield.OfSource(s); of.Kind {
	case partfield.URL, partfield.File:
		f.file(s, *of.MediaType)
	}
}

// file adds a file. The fetched file must have the declared media type, which is
// known to be supported.
func (f *linkFinder) file(s content.Source, declared string) {
	place := f.path.At("file_data")
	lim := f.lim
	f.files = append(f.files, handler.File{Source: s, Path: place + ".file_uri", Check: func(b content.Blob) error {
		r := media.CheckLoaded(b.Data, b.MediaType, declared, codec.MediaLimits(lim))
		text, code := fileText(&r, lim)
		if text == "" {
			return nil
		}
		violation := &content.Violation{Code: code, Text: text} // of the file itself
		if r.Violation == media.FileType && r.Declared == media.Canonical(declared) {
			violation.Path = place + ".mime_type"
		}
		return violation
	}})
}

// fileLimits returns the limits for files in l, with the defaults filled in.
func fileLimits(l *content.Limits) content.Limits {
	return content.Limits{
		Files:       cmp.Or(l.Files, 100),
		FileBytes:   cmp.Or(l.FileBytes, 75<<20),
		ImageSide:   cmp.Or(l.ImageSide, 24_000),
		ImagePixels: cmp.Or(l.ImagePixels, 100_000_000),
	}
}
