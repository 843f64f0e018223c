package messages

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/media"
)

// A fileFinder lists the files to which a request refers by URL or id.
type fileFinder struct {
	path  codec.Path
	lim   content.Limits
	types []string // additional media types of documents
	files []handler.File
}

// referencedFiles lists the files to which r refers by URL or id, in the order of
// the document.
func (d *dialect) referencedFiles(r *Request) []handler.File {
	f := fileFinder{lim: fileLimits(&d.limits), types: d.mediaTypes}
	f.path.Push("system")
	f.parts(r.System)
	f.path.Pop()
	f.path.Push("messages")
	for i := range r.Messages {
		f.path.PushIndex(i)
		f.path.Push("content")
		f.parts(r.Messages[i].Parts)
		f.path.Pop()
		f.path.Pop()
	}
	return f.files
}

func (f *fileFinder) parts(list []content.Part) {
	for i, p := range list {
		if content.IsNil(p) {
			continue
		}
		f.path.PushIndex(i)
		switch p := p.(type) {
		case *content.Image:
			f.path.Push("image")
			f.source(p.Source, true)
			f.path.Pop()
		case *content.Document:
			f.path.Push("document")
			f.source(p.Source, false)
			f.path.Pop()
		case *content.ToolResult:
			f.path.Push("tool_result")
			f.path.Push("content")
			f.parts(p.Parts)
			f.path.Pop()
			f.path.Pop()
		}
		f.path.Pop()
	}
}

func (f *fileFinder) source(s content.Source, image bool) {
	f.path.Push("source")
	defer f.path.Pop()
	switch s := s.(type) { // other kinds contain their data
	case *content.URL:
		if s != nil {
			f.file(s, f.path.At("url", "url"), image)
		}
	case *content.File:
		if s != nil {
			f.file(s, f.path.At("file", "file_id"), image)
		}
	case *content.Parts:
		if s != nil {
			f.path.Push("content")
			f.path.Push("content")
			f.parts(s.Parts)
			f.path.Pop()
			f.path.Pop()
		}
	}
}

// file adds a file. The content that is loaded for it must be valid in a base64
// source at the same place.
func (f *fileFinder) file(s content.Source, path string, image bool) {
	lim, types := f.lim, f.types
	f.files = append(f.files, handler.File{Source: s, Path: path, Check: func(b content.Blob) error {
		return checkLoaded(b, image, types, lim)
	}})
}

// checkLoaded validates a file that was loaded for a URL or an id. The violation
// has no path.
func checkLoaded(b content.Blob, image bool, types []string, lim content.Limits) error {
	kind, accepted := "document", slices.Concat(documentTypes, []string{"text/plain"}, types)
	if image {
		kind, accepted = "image", imageTypes
	}
	r := media.CheckLoaded(b.Data, b.MediaType, "", codec.MediaLimits(lim))
	code, text := fileText(kind, &r, lim)
	if (code == "" || r.Violation == media.FileHeader) && !slices.Contains(accepted, r.Declared) { // bounded by the host
		code, text = content.CodeMedia, textOneOf(accepted)+"; the loaded file has "
		if r.Declared == "" {
			text += "an unknown media type"
		} else {
			text += "the media type " + codec.Clip(r.Declared)
		}
	}
	if code == "" {
		return nil
	}
	return &content.Violation{Code: code, Text: text}
}

// fileText returns the code and text of the violation that r reports, or "" and ""
// if the file is valid.
func fileText(kind string, r *media.FileReport, lim content.Limits) (content.Code, string) {
	switch r.Violation {
	case 0:
		return "", ""
	case media.FileTooLarge:
		return content.CodeLimit, kind + " exceeds " + megabytes(lim.FileBytes) + " maximum: " +
			strconv.FormatInt(r.Size, 10) + " bytes > " + strconv.FormatInt(lim.FileBytes, 10) + " bytes"
	case media.FileEncoding:
		return content.CodeMedia, "invalid base64 data: it " + r.Detail
	case media.FileType:
		text := "the " + kind + " does not match its declared media type " + codec.Clip(r.Declared)
		if r.Actual != "" {
			text += ": it is " + r.Actual
		}
		return content.CodeMedia, text
	case media.FileHeader:
		return content.CodeMedia, "Could not process image"
	case media.FileSide:
		return content.CodeLimit, "At least one of the image dimensions exceed max allowed size: " +
			strconv.Itoa(lim.ImageSide) + " pixels"
	case media.FilePixels:
		return content.CodeLimit, "The image has too many pixels; the maximum is " + strconv.FormatInt(lim.ImagePixels, 10)
	}
	return content.CodeMedia, "the " + kind + " " + r.Violation.String()
}

// fileLimits returns the limits for files in l, with the defaults filled in.
func fileLimits(l *content.Limits) content.Limits {
	return content.Limits{
		Files:       cmp.Or(l.Files, 100),
		FileBytes:   cmp.Or(l.FileBytes, 32<<20),
		ImageSide:   cmp.Or(l.ImageSide, 8000),
		ImagePixels: l.ImagePixels,
	}
}
