package handler

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/partfield"
)

// A Reference is a file to which a part refers by link or id.
type Reference struct {
	Source content.Source // a *content.URL or *content.File, not nil
	Path   string         // the neutral path of the source

	// In are the parts that contain the source, the innermost last.
	In []content.Part
}

// Files returns the files to which the parts of a request refer, in document order. file is
// called for each reference, and adds the path in the document and the check. It must not keep
// In.
func Files(system []content.Part, turns []content.Turn, file func(r *Reference) File) []File {
	f := finder{file: file}
	f.path.Push("system")
	f.parts(system)
	f.path.Pop()
	f.path.Push("turns")
	for i := range turns {
		f.path.PushIndex(i)
		f.path.Push("parts")
		f.parts(turns[i].Parts)
		f.path.Truncate(1)
	}
	return f.files
}

// A finder finds the references in parts.
type finder struct {
	path  codec.Path
	in    []content.Part
	file  func(r *Reference) File
	files []File
}

func (f *finder) parts(list []content.Part) {
	depth := f.path.Depth()
	for i, p := range list {
		if content.IsNil(p) {
			continue
		}
		f.in = append(f.in, p)
		f.path.PushIndex(i)
		if result, ok := p.(*content.ToolResult); ok {
			f.path.Push("parts")
			f.parts(result.Parts)
		} else {
			f.source(partfield.SourceOf(p))
		}
		f.path.Truncate(depth)
		f.in = f.in[:len(f.in)-1]
	}
}

// source finds the references in the source of a part.
func (f *finder) source(s content.Source) {
	f.path.Push("source")
	switch partfield.OfSource(s).Kind {
	case partfield.Parts:
		f.path.Push("parts")
		f.parts(s.(*content.Parts).Parts)
	case partfield.URL, partfield.File:
		f.files = append(f.files, f.file(&Reference{Source: s, Path: f.path.At(), In: f.in}))
	}
}
