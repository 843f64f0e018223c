package media

import "strings"

// Limits bounds files. A zero limit is not checked. The fields are those of
// content.Limits.
type Limits struct {
	FileBytes   int64
	ImageSide   int
	ImagePixels int64
}

// A FileViolation is a reason why a file is invalid.
type FileViolation uint8

// The reasons, in the order in which they are checked. A [FileReport] contains only the
// first.
const (
	FileEmpty    FileViolation = iota + 1 // no data
	FileTooLarge                          // more bytes than Limits.FileBytes
	FileEncoding                          // invalid base64 by the [Base64Rule]
	FileType                              // the bytes do not match the media type
	FileNotText                           // a text file that is not valid UTF-8
	FileHeader                            // an image with an incomplete or invalid header
	FileSide                              // an image wider or higher than Limits.ImageSide
	FilePixels                            // an image with more pixels than Limits.ImagePixels
)

// String returns a phrase that continues "the file ", or "" for 0.
func (f FileViolation) String() string {
	switch f {
	case FileEmpty:
		return "is empty"
	case FileTooLarge:
		return "is too large"
	case FileEncoding:
		return "is not valid base64"
	case FileType:
		return "does not match its media type"
	case FileNotText:
		return "is not UTF-8 text"
	case FileHeader:
		return "has an incomplete or invalid image header"
	case FileSide:
		return "is an image that is too wide or too high"
	case FilePixels:
		return "is an image with too many pixels"
	}
	return ""
}

// A FileReport is the result of [File.Check] and [CheckLoaded]. Each format makes its own
// error text from it.
type FileReport struct {
	Violation FileViolation // 0 if the file is valid

	// Declared is the media type that the document specifies, in its canonical form.
	Declared string

	// Actual is the media type found by [Detect]. It is empty if the leading
	// bytes are of no known type or were not read. If [CheckLoaded] reports FileType
	// because of the label of a file, Actual is that label.
	Actual string

	// Size is the number of bytes of the decoded file.
	Size int64

	// Width and Height are in pixels. They are 0 unless the file is an image whose
	// header was read.
	Width, Height int

	// Detail is the result of [Base64Rule.Check] if Violation is FileEncoding.
	Detail string
}

// Check validates a file in a document: its encoding, its size, whether its bytes
// match its media type, and the header and dimensions of an image.
//
// A file declared as one of the five types that [Detect] recognizes must be of
// that type, and a file declared as any other type must not be one of the five. Text
// and JSON must be UTF-8. Check does not check whether a format supports the type.
//
// Check does not allocate.
func (f File) Check(rule Base64Rule, lim Limits) FileReport {
	r := FileReport{Declared: Canonical(f.MediaType), Size: f.Size()}
	if f.Data == "" {
		r.Violation = FileEmpty
		return r
	}
	if lim.FileBytes > 0 && r.Size > lim.FileBytes {
		r.Violation = FileTooLarge
		return r
	}
	if r.Detail = rule.Check(f.Data); r.Detail != "" {
		r.Violation = FileEncoding
		return r
	}
	w := newWindow(f.Data)
	r.Violation = r.inspect(&w, lim)
	return r
}

// inspect checks the bytes of a file whose encoding is valid.
func (r *FileReport) inspect(w *window, lim Limits) FileViolation {
	r.Actual = detect(w)
	if r.Actual != r.Declared && (r.Actual != "" || IsDetectable(r.Declared)) {
		return FileType
	}
	if isTextual(r.Declared) && !w.isUTF8() {
		return FileNotText
	}
	if !isImage(r.Declared) {
		return 0
	}
	r.Width, r.Height = readSize(r.Declared, w)
	switch {
	case r.Width == 0:
		return FileHeader
	case lim.ImageSide > 0 && (r.Width > lim.ImageSide || r.Height > lim.ImageSide):
		return FileSide
	case lim.ImagePixels > 0 && int64(r.Width) > lim.ImagePixels/int64(r.Height):
		return FilePixels
	}
	return 0
}

// CheckLoaded validates a file that was loaded from outside the document, as
// [File.Check] does for files in it. declared is the media type in the document, empty if it has
// none. label is the media type that the origin of the file gave it, for example a
// Content-Type.
//
// A generic label, such as application/octet-stream, is ignored. If declared is empty,
// the type of the file is the label, or the type of the leading bytes if there is no
// label. A label that names one of the five types that [Detect] recognizes
// must match the bytes. Other labels are often vague: they only need to be compatible
// with declared, as all audio types are with each other.
//
// If the file is valid, Declared in the report is its type, or empty if that is
// unknown.
func CheckLoaded(data []byte, label, declared string, lim Limits) FileReport {
	r := FileReport{Declared: Canonical(declared), Size: int64(len(data))}
	if r.Size == 0 {
		r.Violation = FileEmpty
		return r
	}
	if lim.FileBytes > 0 && r.Size > lim.FileBytes {
		r.Violation = FileTooLarge
		return r
	}
	w := window{data: data}
	actual, label := detect(&w), labelMediaType(label)
	switch {
	case label != "" && label != actual && (actual != "" || IsDetectable(label)):
		r.Declared, r.Actual, r.Violation = label, actual, FileType
		return r
	case r.Declared == "" && label != "":
		r.Declared = label
	case r.Declared == "":
		r.Declared = actual
	case !isCompatible(r.Declared, label):
		r.Actual, r.Violation = label, FileType
		return r
	}
	r.Violation = r.inspect(&w, lim)
	return r
}

// labelMediaType returns the media type in a label without parameters. It returns ""
// for generic types.
func labelMediaType(label string) string {
	label, _, _ = strings.Cut(label, ";")
	label = strings.ToLower(strings.TrimSpace(label))
	switch label {
	case "application/octet-stream", "binary/octet-stream", "application/binary", "application/unknown", "unknown/unknown":
		return ""
	}
	return Canonical(label)
}

// isCompatible reports whether a file of the declared type may have the label.
func isCompatible(declared, label string) bool {
	if label == "" || label == declared {
		return true
	}
	class, name, _ := strings.Cut(declared, "/")
	labelClass, labelName, _ := strings.Cut(label, "/")
	switch {
	case class == labelClass && class != "application", name == labelName:
		return true
	case class == "application" && (label == "text/plain" || label == "application/zip"):
		return !IsDetectable(declared) // many formats are text or an archive underneath
	}
	return isTextual(declared) && isTextual(label)
}
