package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

const maxURI = 8 << 10

// soundSize is the length from which it is worth while to remember that a text
// is base64: a second look would cost more than the rest of a validation.
const soundSize = 4 << 10

// source checks where a file comes from.
func (v *validator) source(s content.Source) {
	v.files++
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			v.path.Push("inline_data")
			v.inline(s)
			v.path.Pop()
			return
		}
	case *content.PlainText:
		if s != nil {
			return
		}
	case *content.URL:
		if s != nil {
			v.elsewhere(s.URL, s.MediaType)
			return
		}
	case *content.File:
		if s != nil {
			v.elsewhere(s.ID, s.MediaType)
			return
		}
	}
	v.fault(content.CodeMissing, textNoData, "data")
}

// elsewhere checks a file that is not in the document. Whether the link leads
// anywhere, and whether anyone should go there, is for whoever fetches it.
func (v *validator) elsewhere(uri, mediaType string) {
	v.path.Push("file_data")
	defer v.path.Pop()
	v.mediaType(mediaType)
	switch {
	case uri == "":
		v.fault(content.CodeMissing, "file_uri must be set", "file_uri")
	case len(uri) > maxURI:
		v.fault(content.CodeRange, "file_uri should have at most "+strconv.Itoa(maxURI)+" characters", "file_uri")
	case strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7F || r == '\\' }):
		v.fault(content.CodeValue, "Invalid or unsupported file uri: it has white space, control characters or backslashes", "file_uri")
	case !isLink(uri) && !isStored(uri):
		// The URI is not repeated: it may hold a password or a signature.
		v.fault(content.CodeValue, "Invalid or unsupported file uri; accepted are URLs of http and https, files/… and gs://…", "file_uri")
	}
}

// mediaType checks that a type is said and welcome.
func (v *validator) mediaType(t string) bool {
	switch {
	case t == "":
		v.fault(content.CodeMissing, "mime_type must be set", "mime_type")
	case !v.welcome(t):
		v.fault(content.CodeValue, "Unsupported MIME type: "+codec.Clip(t), "mime_type")
	default:
		return true
	}
	return false
}

// fileTypes are the types that are welcome by their whole name.
var fileTypes = []string{
	"image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif", "image/heic", "image/heif", "image/avif",
	"application/pdf", "application/json", "application/rtf", "application/x-javascript", "application/x-python-code",
	"application/x-ipynb+json",
}

func (v *validator) welcome(t string) bool {
	return IsSupportedMediaType(t) || slices.Contains(v.rules.MediaTypes, t)
}

// inline checks a file in the document against its media type and the limits.
func (v *validator) inline(s *content.Base64) {
	good := v.mediaType(s.MediaType)
	if s.Data == "" {
		if !v.complained("data") {
			v.fault(content.CodeMissing, "data must be set", "data")
		}
		return
	}
	lim := v.rules.Limits
	r := content.CheckFile(s, v.ruleFor(s.Data), lim)
	if text, code := fileText(&r, lim); text != "" && (good || r.Violation != content.FileType) {
		name := "data"
		if r.Violation == content.FileType {
			name = "mime_type"
		}
		v.fault(code, text, name)
	}
}

// fileText tells what is wrong with a file.
func fileText(r *content.FileReport, lim content.Limits) (string, content.Code) {
	switch r.Violation {
	case 0:
		return "", ""
	case content.FileTooLarge:
		return "the file has " + strconv.FormatInt(r.Size, 10) + " bytes, the limit is " +
			strconv.FormatInt(lim.FileBytes, 10), content.CodeLimit
	case content.FileEncoding:
		return "Base64 decoding failed: the data " + r.Detail, content.CodeMedia
	case content.FileType:
		if r.Actual == "" {
			return "the bytes are not those of a file of type " + codec.Clip(r.Declared), content.CodeMedia
		}
		return "the bytes are not of type " + codec.Clip(r.Declared) + " but " + r.Actual, content.CodeMedia
	case content.FileSide:
		return "Unable to process input image: it may have at most " + strconv.Itoa(lim.ImageSide) +
			" pixels in width and height", content.CodeLimit
	case content.FilePixels:
		return "Unable to process input image: it may have at most " + strconv.FormatInt(lim.ImagePixels, 10) +
			" pixels", content.CodeLimit
	case content.FileHeader:
		return "Unable to process input image: the file " + r.Violation.String(), content.CodeMedia
	}
	return "the file " + r.Violation.String(), content.CodeMedia
}

// ruleFor returns how to check base64 data: not again, if it is what the reader
// has found good. Comparing it costs nothing, since it shares its memory.
func (v *validator) ruleFor(data string) content.Base64Rule {
	f := v.r.Form
	if len(data) < soundSize || f == nil || v.sound >= len(f.sound) || f.sound[v.sound] != data {
		return content.Base64Any
	}
	v.sound++
	return content.Base64Checked
}
