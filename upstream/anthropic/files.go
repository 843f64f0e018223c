package anthropic

import (
	"iter"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// checkFiles returns violations for files that the vendor cannot load: ids of
// another vendor, and links without http or https.
func checkFiles(n *upstream.Request) error {
	var violations violation.List
	native := isNative(n.Header) // the client uses the vendor's own ids
	for f := range files(n) {
		switch s := f.Source.(type) {
		case *content.URL:
			if s != nil && !isLink(s.URL) {
				violations.Add(content.CodeUnsupported, f.Path(), "the vendor fetches http and https links only; send the file as base64")
			}
		case *content.File:
			if s != nil && !native && !isFileID(s.ID) {
				for _, e := range unresolved() {
					violations.Add(e.Code, f.Path(), e.Text)
				}
			}
		}
	}
	return violations.Err()
}

// files returns the images and documents of a request. Audio and video are never
// sent.
func files(n *upstream.Request) iter.Seq[*adapter.File] {
	return func(yield func(*adapter.File) bool) {
		for f := range adapter.Files(n) {
			if _, audio := f.Part.(*content.Media); !audio && !yield(f) {
				return
			}
		}
	}
}

func unresolved() []*content.Violation {
	list, _ := content.Violations(content.ErrUnresolved)
	return list
}

// isLink reports whether the vendor fetches links like s.
func isLink(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// isFileID reports whether s looks like an id of the vendor.
func isFileID(s string) bool {
	rest, ok := strings.CutPrefix(s, "file_")
	return ok && rest != "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// hasExternalFiles reports whether a request references files by link or id.
func hasExternalFiles(n *upstream.Request) bool {
	for f := range files(n) {
		switch f.Source.(type) {
		case *content.URL, *content.File:
			return true
		}
	}
	return false
}
