package anthropic

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// checkFiles says which files of a request the vendor cannot find: ids that are
// no ids of its own, and links that are none of the web.
func checkFiles(n *upstream.Request) error {
	f := fileChecker{any: ours(n.Header)}
	f.parts("system", n.System)
	for i := range n.Turns {
		f.parts("turns."+strconv.Itoa(i)+".parts", n.Turns[i].Parts)
	}
	return f.Err()
}

type fileChecker struct {
	content.Faults
	any bool // ids may be anything: the client knows the vendor
}

func (f *fileChecker) parts(path string, list []content.Part) {
	for i, p := range list {
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Image:
			f.source(path, i, p.Source)
		case *content.Document:
			f.source(path, i, p.Source)
		case *content.ToolResult:
			f.parts(path+"."+strconv.Itoa(i)+".parts", p.Parts)
		}
	}
}

func (f *fileChecker) source(path string, i int, s content.Source) {
	at := func() string { return path + "." + strconv.Itoa(i) + ".source" }
	switch s := s.(type) {
	case *content.URL:
		if s != nil && !isLink(s.URL) {
			f.Add(content.CodeUnsupported, at(), "the vendor fetches links of the web only; send the file as base64")
		}
	case *content.File:
		if s != nil && !f.any && !isFileID(s.ID) {
			for _, e := range violations() {
				f.Add(e.Code, at(), e.Text)
			}
		}
	case *content.Parts:
		if s != nil {
			f.parts(at()+".parts", s.Parts)
		}
	}
}

func violations() []*content.Error {
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
func elsewhere(parts []content.Part) bool {
	for _, p := range parts {
		if content.IsNil(p) {
			continue
		}
		var s content.Source
		switch p := p.(type) {
		case *content.Image:
			s = p.Source
		case *content.Document:
			s = p.Source
		case *content.ToolResult:
			if elsewhere(p.Parts) {
				return true
			}
		}
		switch s := s.(type) {
		case *content.URL, *content.File:
			return true
		case *content.Parts:
			if s != nil && elsewhere(s.Parts) {
				return true
			}
		}
	}
	return false
}
