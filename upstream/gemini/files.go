package gemini

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/geminifile"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// checkFiles returns violations for files that the vendor does not accept, after
// files were inlined. Paths are neutral.
func checkFiles(n *upstream.Request) error {
	var violations violation.List
	for f := range adapter.Files(n) {
		if f.InSystem() {
			continue
		}
		switch s := f.Source.(type) {
		case *content.Base64:
			if s == nil {
				break
			}
			switch kind := typeOf(s); {
			case kind == "":
				violations.Add(content.CodeMedia, f.Path(), "the media type of the file is unknown; set it")
			case !geminifile.IsMediaType(kind):
				violations.Add(content.CodeUnsupported, f.Path(), "the model does not accept files of this media type")
			}
		case *content.File:
			if s != nil && !geminifile.IsID(s.ID) {
				violations.Add(content.CodeUnsupported, f.Path(), "the file is not stored by the model's vendor; send it as base64")
			}
		}
	}
	return violations.Err()
}

// typeOf returns the declared or detected media type of a file.
func typeOf(s *content.Base64) string {
	if s.MediaType != "" {
		return s.MediaType
	}
	return media.File{Data: s.Data}.Detect()
}

// hasExternalFiles reports whether the request references files that must be loaded
// before it can be sent.
func hasExternalFiles(n *upstream.Request) bool {
	for f := range adapter.Files(n) {
		if f.InSystem() {
			continue
		}
		switch s := f.Source.(type) {
		case *content.URL:
			if s != nil && !n.ForwardLinks {
				return true
			}
		case *content.File:
			if s != nil && !geminifile.IsID(s.ID) {
				return true
			}
		}
	}
	return false
}
