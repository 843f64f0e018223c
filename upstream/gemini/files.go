package gemini

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// checkFiles returns what is wrong with the files of a request to which those
// that could be had were put in: what the vendor cannot be sent. Paths are
// neutral.
func checkFiles(n *upstream.Request) error {
	var faults content.ViolationList
	for f := range adapter.Files(n) {
		if f.System() {
			continue
		}
		switch s := f.Source.(type) {
		case *content.Base64:
			if s == nil {
				break
			}
			switch kind := typeOf(s); {
			case kind == "":
				faults.Add(content.CodeMedia, f.Path(), "the media type of the file is not known")
			case !generatecontent.IsSupportedMediaType(kind):
				faults.Add(content.CodeUnsupported, f.Path(), "the model does not take files of this media type")
			}
		case *content.File:
			if s != nil && !generatecontent.IsStored(s.ID) {
				faults.Add(content.CodeUnsupported, f.Path(), "the file is not kept by the vendor of the model; send it as base64")
			}
		}
	}
	return faults.Err()
}

// typeOf returns the media type of a file, as far as it is said or shows.
func typeOf(s *content.Base64) string {
	if s.MediaType != "" {
		return s.MediaType
	}
	var lead [content.MediaLead]byte
	n, _ := s.Lead(lead[:])
	return content.DetectMediaType(lead[:n])
}

// absent reports whether a request has files that would have to be had from
// elsewhere to be sent.
func absent(n *upstream.Request) bool {
	for f := range adapter.Files(n) {
		if f.System() {
			continue
		}
		switch s := f.Source.(type) {
		case *content.URL:
			if s != nil && !n.ForwardLinks {
				return true
			}
		case *content.File:
			if s != nil && !generatecontent.IsStored(s.ID) {
				return true
			}
		}
	}
	return false
}
