package adapter

import (
	"iter"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// A File is a file in a request.
type File struct {
	Part   content.Part // an *Image, *Document or *Media
	Source content.Source

	steps []string // path of the part
}

// Path returns the neutral path of the source.
func (f *File) Path() string { return strings.Join(f.steps, ".") + ".source" }

// Files returns an iterator over the files of a request, including those in tool
// results and in documents made of parts. A File is valid until the next iteration.
func Files(n *upstream.Request) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		f := File{steps: []string{"system"}}
		if !f.walk(n.System, yield) {
			return
		}
		for i := range n.Turns {
			f.steps = append(f.steps[:0], "turns", strconv.Itoa(i), "parts")
			if !f.walk(n.Turns[i].Parts, yield) {
				return
			}
		}
	}
}

// walk visits the files in a list of parts whose path is f.steps.
func (f *File) walk(list []content.Part, yield func(*File) bool) bool {
	depth := len(f.steps)
	for i, p := range list {
		f.steps = append(f.steps[:depth], strconv.Itoa(i))
		if r, ok := p.(*content.ToolResult); ok && r != nil {
			f.steps = append(f.steps, "parts")
			if !f.walk(r.Parts, yield) {
				return false
			}
			continue
		}
		source := partfield.Of(p).Source
		if source == nil {
			continue
		}
		f.Part, f.Source = p, *source
		if s, ok := f.Source.(*content.Parts); ok && s != nil {
			f.steps = append(f.steps, "source", "parts")
			if !f.walk(s.Parts, yield) {
				return false
			}
		} else if !yield(f) {
			return false
		}
	}
	return true
}
