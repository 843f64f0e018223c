package anthropic

import (
	"iter"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// checkFiles says which files of a request the vendor cannot find: ids that are
// no ids of its own, and links that are none of the web.
func checkFiles(n *upstream.Request) error {
	var faults content.ViolationList
	known := ours(n.Header) // the client knows the vendor: ids may be anything
	for f := range files(n) {
		switch s := f.Source.(type) {
		case *content.URL:
			if s != nil && !isLink(s.URL) {
				faults.Add(content.CodeUnsupported, f.Path(), "the vendor fetches links of the web only; send the file as base64")
			}
		case *content.File:
			if s != nil && !known && !isFileID(s.ID) {
				for _, e := range violations() {
					faults.Add(e.Code, f.Path(), e.Text)
				}
			}
		}
	}
	return faults.Err()
}

// files goes through the images and documents of a request: sound is never sent.
func files(n *upstream.Request) iter.Seq[*adapter.File] {
	return func(yield func(*adapter.File) bool) {
		for f := range adapter.Files(n) {
			if _, sound := f.Part.(*content.Media); !sound && !yield(f) {
				return
			}
		}
	}
}

func violations() []*content.Violation {
	list, _ := content.Violations(content.ErrUnresolved)
	return list
}

// isLink reports whether the vendor can fetch what a link leads to.
func isLink(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// isFileID reports whether an id looks like those that the vendor gives.
func isFileID(s string) bool {
	rest, ok := strings.CutPrefix(s, "file_")
	return ok && rest != "" && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// elsewhere reports whether a request names files that it does not hold.
func elsewhere(n *upstream.Request) bool {
	for f := range files(n) {
		switch f.Source.(type) {
		case *content.URL, *content.File:
			return true
		}
	}
	return false
}
