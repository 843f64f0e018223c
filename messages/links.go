package messages

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
)

// A linkFinder lists the files that a request names and does not hold.
type linkFinder struct {
	path  codec.Path
	lim   content.Limits
	types []string // of documents, besides the usual ones
	files []handler.File
}

// elsewhere lists the files that r names and does not hold, in the order of the
// document.
func (d *dialect) elsewhere(r *Request) []handler.File {
	f := linkFinder{lim: fileLimits(d.limits), types: d.mediaTypes}
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

func (f *linkFinder) parts(list []content.Part) {
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

func (f *linkFinder) source(s content.Source, image bool) {
	f.path.Push("source")
	defer f.path.Pop()
	switch s := s.(type) {
	case *content.URL:
		if s != nil {
			f.file(s, f.path.At("url"), image)
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

// file notes a file. Whatever is found must be what could stand in its place.
func (f *linkFinder) file(s content.Source, path string, image bool) {
	lim, types := f.lim, f.types
	f.files = append(f.files, handler.File{Source: s, Path: path, Check: func(b content.Blob) error {
		return checkFound(b, image, types, lim)
	}})
}

// checkFound judges a file that came from elsewhere. The fault has no path.
func checkFound(b content.Blob, image bool, types []string, lim content.Limits) error {
	what, welcome := "document", slices.Concat(documentTypes, []string{"text/plain"}, types)
	if image {
		what, welcome = "image", imageTypes
	}
	r := content.CheckBlob(b, "", lim)
	code, text := fileText(what, &r, lim)
	if (code == "" || r.Violation == content.FileHeader) && !slices.Contains(welcome, r.Declared) {
		code, text = content.CodeMedia, textOneOf(welcome)+"; the file that was found is "
		if r.Declared == "" {
			text += "of no type that is known"
		} else {
			text += codec.Clip(r.Declared)
		}
	}
	if code == "" {
		return nil
	}
	return &content.Violation{Code: code, Text: text}
}

// fileText tells what is wrong with a file. The code is empty if nothing is.
func fileText(what string, r *content.FileReport, lim content.Limits) (content.Code, string) {
	switch r.Violation {
	case 0:
		return "", ""
	case content.FileTooLarge:
		return content.CodeLimit, what + " exceeds " + megabytes(lim.FileBytes) + " maximum: " +
			strconv.FormatInt(r.Size, 10) + " bytes > " + strconv.FormatInt(lim.FileBytes, 10) + " bytes"
	case content.FileEncoding:
		return content.CodeMedia, "invalid base64 data: it " + r.Detail
	case content.FileType:
		text := "the " + what + " does not match the media type that it is labelled with, " + codec.Clip(r.Declared)
		if r.Actual != "" {
			text += ": it is " + r.Actual
		}
		return content.CodeMedia, text
	case content.FileHeader:
		return content.CodeMedia, "Could not process image"
	case content.FileSide:
		return content.CodeLimit, "At least one of the image dimensions exceed max allowed size: " +
			strconv.Itoa(lim.ImageSide) + " pixels"
	case content.FilePixels:
		return content.CodeLimit, "The image has more than the " + strconv.FormatInt(lim.ImagePixels, 10) +
			" pixels that are allowed"
	}
	return content.CodeMedia, "the " + what + " " + r.Violation.String()
}

// fileLimits fills in the defaults for files.
func fileLimits(l content.Limits) content.Limits {
	return content.Limits{
		Files:       cmp.Or(l.Files, 100),
		FileBytes:   cmp.Or(l.FileBytes, 32<<20),
		ImageSide:   cmp.Or(l.ImageSide, 8000),
		ImagePixels: l.ImagePixels,
	}
}
