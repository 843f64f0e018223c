package generatecontent

import (
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

// linkedFiles lists the files that r links to, in document order. A fetched file must have the
// declared media type, which is known to be supported.
func (d *dialect) linkedFiles(r *Request) []handler.File {
	lim := fileLimits(&d.Limits)
	prefix := ""
	if r.origin != nil && r.origin.nested {
		prefix = "generate_content_request."
	}
	return handler.Files(nil, r.Contents, func(ref *handler.Reference) handler.File {
		place := prefix + r.path(ref.Path)
		declared := partfield.MediaTypeOf(ref.Source)
		return handler.File{Source: ref.Source, Path: place + ".file_uri", Check: func(b content.Blob) error {
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
		}}
	})
}

// fileLimits returns the limits for files in l, with the defaults filled in.
func fileLimits(l *content.Limits) content.Limits {
	return codec.FileLimits(l, content.Limits{Files: 100, FileBytes: 75 << 20, ImageSide: 24_000, ImagePixels: 100_000_000})
}
