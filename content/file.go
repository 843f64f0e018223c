package content

// A FileViolation says what is wrong with a file.
type FileViolation uint8

// The faults of files, in the order in which they are looked for; a
// [FileReport] tells the first.
const (
	FileEmpty    FileViolation = iota + 1 // there is no data
	FileTooLarge                          // more bytes than [Limits.FileBytes]
	FileEncoding                          // the data is not base64 by the rule
	FileType                              // the bytes are of another type than was said
	FileNotText                           // a text that is not UTF-8
	FileHeader                            // an image whose header is cut short, or makes no sense
	FileSide                              // an image wider or higher than [Limits.ImageSide]
	FilePixels                            // an image of more pixels than [Limits.ImagePixels]
)

// String returns a phrase for people that continues "the file ", or "" if there
// is no fault.
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
		return "has an incomplete or broken image header"
	case FileSide:
		return "is an image with too long a side"
	case FilePixels:
		return "is an image with too many pixels"
	}
	return ""
}

// A FileReport is what [CheckFile] has found. Formats word it in their own way.
type FileReport struct {
	Violation FileViolation // 0 if nothing is wrong

	// Declared is the canonical form of the type that was said.
	Declared string

	// Actual is the type that the leading bytes show, as [DetectMediaType]
	// tells it; empty if they show none or were not looked at. [CheckBlob]
	// tells the file's label where that is what differs.
	Actual string

	// Size is the number of bytes of the decoded file.
	Size int64

	// Width and Height of an image whose header could be read, in pixels.
	Width, Height int

	// Detail continues "the data " where Fault is FileEncoding.
	Detail string
}

// CheckFile looks for what is wrong with a file in a document: its encoding,
// its size, whether its bytes are what its media type says, and whether an
// image has a whole header and a bearable size.
//
// The five types that can be told by their bytes are compared with them both
// ways: what is called one must be one, and what is called anything else must
// not be one. Texts must be UTF-8. Which types are welcome is not judged here.
//
// A zero limit is not checked; formats fill in their defaults beforehand. All
// characters are looked at, but only a header, or a text, is decoded. Nothing
// is allocated.
func CheckFile(f *Base64, rule Base64Rule, lim Limits) FileReport {
	r := FileReport{Declared: CanonicalMediaType(f.MediaType), Size: f.Size()}
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
	w := windowOf(f.Data)
	r.Violation = r.inspect(&w, lim)
	return r
}

// inspect judges the bytes of a file whose encoding is good.
func (r *FileReport) inspect(w *window, lim Limits) FileViolation {
	r.Actual = detect(w)
	if r.Actual != r.Declared && (r.Actual != "" || recognised(r.Declared)) {
		return FileType
	}
	if textual(r.Declared) && !w.isText() {
		return FileNotText
	}
	if !hasSize(r.Declared) {
		return 0
	}
	r.Width, r.Height = sizeOf(r.Declared, w)
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
