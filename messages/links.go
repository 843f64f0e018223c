package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/media"
)

// referencedFiles lists the files to which r refers by URL or id, in the order of
// the document. The content that is loaded for one must be valid in a base64 source at the
// same place.
func (d *dialect) referencedFiles(r *Request) []handler.File {
	lim := fileLimits(&d.Limits)
	return handler.Files(r.System, r.Messages, func(ref *handler.Reference) handler.File {
		_, block := typeOf(ref.In[len(ref.In)-1])
		files := fileFormOf(block)
		return handler.File{Source: ref.Source, Path: referencePath(ref), Check: func(b content.Blob) error {
			return files.checkLoaded(b, d.MediaTypes, lim)
		}}
	})
}

// referencePath returns the path of a reference in the document. Like the vendor, it names
// the types of blocks and sources.
func referencePath(ref *handler.Reference) string {
	var path codec.Path
	steps, in := strings.Split(wirePath(ref.Path), "."), ref.In
	for i, step := range steps {
		path.Push(step)
		switch {
		case step == "source" && i+1 < len(steps): // of several blocks
			path.Push("content")
		case i > 0 && (steps[i-1] == "content" || steps[i-1] == "system"): // the index of a block
			kind, _ := typeOf(in[0])
			path.Push(kind)
			in = in[1:]
		}
	}
	if _, ok := ref.Source.(*content.File); ok {
		return path.At("file", "file_id")
	}
	return path.At("url", "url")
}

// checkLoaded validates a file that was loaded for a URL or an id. The violation
// has no path.
func (f *fileForm) checkLoaded(b content.Blob, types []string, lim content.Limits) error {
	accepted := f.accepted(false, types)
	r := media.CheckLoaded(b.Data, b.MediaType, "", codec.MediaLimits(lim))
	code, text := fileText(f.block, &r, lim)
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
	return codec.FileLimits(l, content.Limits{Files: 100, FileBytes: 32 << 20, ImageSide: 8000})
}
