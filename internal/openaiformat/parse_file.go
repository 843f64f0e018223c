package openaiformat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/media"
)

// A FileKind is a kind of file that a request may contain.
type FileKind uint8

// The kinds of files.
const (
	ImageFile FileKind = iota
	DocumentFile
	AudioFile
)

// ParseURL returns the source of a member that has a data URL or a link. Other strings become a
// [content.URL], too, which [Reporter.File] reports. The media type is that of the data URL,
// without parameters; it is empty if the URL has none.
func ParseURL(url string) content.Source {
	if kind, data, ok := cutDataURL(url); ok {
		return &content.Base64{MediaType: kind, Data: data}
	}
	return &content.URL{URL: url}
}

// ParseFileData returns the source of a member that has a data URL, a link, which some servers
// accept, or only base64 data, whose media type is then that of the extension of the name, or that
// of a PDF.
func ParseFileData(data, name string) content.Source {
	if kind, data, ok := cutDataURL(data); ok {
		return &content.Base64{MediaType: kind, Data: data}
	}
	if IsWebURL(data) {
		return &content.URL{URL: data}
	}
	return &content.Base64{MediaType: typeOfName(name), Data: data}
}

// cutDataURL returns the media type and the base64 data of a data URL. ok is false for other
// strings. If the URL does not have base64, the data is the URL, which is not valid base64.
func cutDataURL(url string) (kind, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, found := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !found || !encoded {
		return "", url, true
	}
	kind, _, _ = strings.Cut(kind, ";")
	return kind, data, true
}

// typeOfName returns the media type that the extension of a file name has.
func typeOfName(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return TypePDF
	}
	switch strings.ToLower(name[i:]) {
	case ".txt":
		return "text/plain"
	case ".md":
		return "text/markdown"
	case ".csv":
		return "text/csv"
	case ".html":
		return "text/html"
	case ".json":
		return "application/json"
	case ".doc":
		return "application/msword"
	case ".docx":
		return officePrefix + "wordprocessingml.document"
	case ".xlsx":
		return officePrefix + "spreadsheetml.sheet"
	case ".pptx":
		return officePrefix + "presentationml.presentation"
	}
	return TypePDF
}

// ParseAudio returns the source of an input_audio.
func ParseAudio(data, format string) *content.Base64 {
	return &content.Base64{MediaType: "audio/" + format, Data: data}
}

// AudioNames are the formats of audio that input_audio may have.
var AudioNames = []string{"wav", "mp3"}

// FileRules specify which files are valid: see [NewFileRules].
type FileRules struct {
	Documents []string // media types of documents
	AnyText   bool     // documents may be text
	Limits    content.Limits
}

// NewFileRules returns the rules for files, also for those that are loaded for a link or an id.
// Documents may have the media types of the format and more, those of the host, and be text if
// anyText is set. The default limits of l are 500 files of 50 MiB; images have none of their size.
func NewFileRules(format, more []string, anyText bool, l *content.Limits) FileRules {
	rules := FileRules{format, anyText, codec.FileLimits(l, content.Limits{Files: 500, FileBytes: 50 << 20})}
	if len(more) > 0 {
		rules.Documents = slices.Concat(format, more)
	}
	return rules
}

// accepts reports whether a file may have a media type in its canonical form.
func (f *FileRules) accepts(kind FileKind, mediaType string) bool {
	switch kind {
	case ImageFile:
		return slices.Contains(ImageTypes, mediaType) // bounded by ImageTypes
	case AudioFile:
		return strings.HasPrefix(mediaType, "audio/")
	}
	// bounded by the host
	return slices.Contains(f.Documents, mediaType) || f.AnyText && strings.HasPrefix(mediaType, "text/")
}

// Base64 reports what is wrong with a file in the request. name is the member that has it.
func (r *Reporter) Base64(name string, kind FileKind, s *content.Base64, rules *FileRules) {
	code, vendor, text := rules.check(kind, s)
	if text == "" || r.Full(code) {
		return
	}
	at := r.At(name)
	switch {
	case kind == DocumentFile && strings.HasPrefix(text, "Expected"):
		text = "Invalid file data: '" + at + "'. " + text
	case strings.HasPrefix(text, "Expected"):
		text = "Invalid '" + at + "'. " + text
	default:
		text = "Invalid '" + at + "': " + text
	}
	r.ViolationAs(code, vendor, name, text)
}

// check returns what is wrong with a file, or an empty text.
func (f *FileRules) check(kind FileKind, s *content.Base64) (code content.Code, vendor, text string) {
	mediaType := media.Canonical(s.MediaType)
	if !f.accepts(kind, mediaType) {
		if s.MediaType == "" {
			return content.CodeMedia, vendorInvalidValue, expectedURL(kind) + "but got a value without a MIME type."
		}
		return content.CodeMedia, vendorInvalidValue, expectedURL(kind) + "but got unsupported MIME type '" + codec.Clip(s.MediaType) + "'."
	}
	rep := media.File{MediaType: s.MediaType, Data: s.Data}.Check(media.Base64Strict, codec.MediaLimits(f.Limits))
	return fileText(kind, &rep, f.Limits)
}

// expectedURL returns the beginning of the vendor's sentence about data URLs.
func expectedURL(kind FileKind) string {
	switch kind {
	case ImageFile:
		return "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), "
	case AudioFile:
		return "Expected base64-encoded audio, "
	}
	return "Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,SGVsbG8sIFdvcmxkIQ=='), "
}

// fileText returns the code and the text of the violation that r reports, or an empty text if the
// file is valid.
func fileText(kind FileKind, r *media.FileReport, lim content.Limits) (code content.Code, vendor, text string) {
	switch r.Violation {
	case 0:
		return "", "", ""
	case media.FileEmpty:
		return content.CodeMedia, vendorInvalidValue, expectedURL(kind) + "but got empty base64-encoded bytes."
	case media.FileEncoding:
		return content.CodeMedia, vendorInvalidValue, expectedURL(kind) + "but got an invalid base64-encoded value: it " + r.Detail + "."
	case media.FileTooLarge:
		return content.CodeLimit, vendorInvalidValue, "the file has " + number(r.Size) + " bytes; the maximum is " + number(lim.FileBytes) + "."
	case media.FileType:
		text = "the file does not match its MIME type '" + codec.Clip(r.Declared) + "'"
		if r.Actual != "" {
			text += "; it is " + r.Actual
		}
		if kind == ImageFile {
			return content.CodeMedia, vendorImageFormat, text + "."
		}
		return content.CodeMedia, vendorInvalidValue, text + "."
	case media.FileHeader:
		return content.CodeMedia, vendorImageFormat, "the image has an incomplete or invalid header."
	case media.FileSide:
		return content.CodeLimit, vendorInvalidValue, "the image is wider or higher than the maximum of " + strconv.Itoa(lim.ImageSide) + " pixels."
	case media.FilePixels:
		return content.CodeLimit, vendorInvalidValue, "the image has more than the maximum of " + number(lim.ImagePixels) + " pixels."
	}
	return content.CodeMedia, vendorInvalidValue, "the file " + r.Violation.String() + "."
}

// maxURL is the maximum length of a link in bytes.
const maxURL = 8 << 10

// Link reports a link that is not a URL of the web.
func (r *Reporter) Link(name string, kind FileKind, url string) {
	if IsWebURL(url) && len(url) <= maxURL && !hasSpace(url) {
		return
	}
	if r.Full(content.CodeValue) {
		return
	}
	vendor, text := vendorInvalidValue, "Expected a valid URL, but got a value with an invalid format."
	if kind == ImageFile {
		vendor = vendorInvalidImage
	}
	if len(url) > maxURL {
		text = "Expected a URL of at most " + strconv.Itoa(maxURL) + " bytes, but got " + strconv.Itoa(len(url)) + " bytes."
	}
	r.ViolationAs(content.CodeValue, vendor, name, "Invalid '"+r.At(name)+"'. "+text)
}

// hasSpace reports whether a URL has white space or control characters.
func hasSpace(url string) bool {
	return strings.IndexFunc(url, func(c rune) bool { return c <= ' ' || c == 0x7F }) >= 0
}

// CheckLoaded validates a file that was loaded for a link or an id. The violation has no path.
func (f *FileRules) CheckLoaded(kind FileKind, b content.Blob) error {
	r := media.CheckLoaded(b.Data, b.MediaType, "", codec.MediaLimits(f.Limits))
	code, vendor, text := fileText(kind, &r, f.Limits)
	if (text == "" || r.Violation == media.FileHeader) && !f.accepts(kind, r.Declared) {
		code, vendor, text = content.CodeMedia, vendorInvalidValue, "the loaded file has an unknown MIME type; it is not accepted here."
		if r.Declared != "" {
			text = "the loaded file has the MIME type '" + codec.Clip(r.Declared) + "', which is not accepted here."
		}
	}
	if text == "" {
		return nil
	}
	return &content.Violation{Code: code, Vendor: vendor, Text: text}
}
