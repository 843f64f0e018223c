package content

import "strings"

// CheckBlob looks for what is wrong with a file that came from elsewhere, as
// [CheckFile] does for one in the document. declared is the type that the
// document says, empty if it says none; the type in b is a label, put on by
// whoever the file came from.
//
// Where the document says nothing the label counts, and where that says nothing
// either (it is empty, or application/octet-stream and the like) the leading
// bytes do. A label that names one of the five types must be true like any
// other. Of the rest, labels are known to be vague: they have to agree with
// declared only roughly, such as audio with audio and text with text.
//
// If there is no fault, Declared in the report is the type of the file, empty
// if nobody knows. Nothing is decoded.
func CheckBlob(b Blob, declared string, lim Limits) FileReport {
	r := FileReport{Declared: CanonicalMediaType(declared), Size: int64(len(b.Data))}
	if r.Size == 0 {
		r.Violation = FileEmpty
		return r
	}
	if lim.FileBytes > 0 && r.Size > lim.FileBytes {
		r.Violation = FileTooLarge
		return r
	}
	w := window{data: b.Data}
	actual, label := detect(&w), labelOf(b.MediaType)
	switch {
	case label != "" && label != actual && (actual != "" || recognised(label)):
		r.Declared, r.Actual, r.Violation = label, actual, FileType
		return r
	case r.Declared == "" && label != "":
		r.Declared = label
	case r.Declared == "":
		r.Declared = actual
	case !agree(r.Declared, label):
		r.Actual, r.Violation = label, FileType
		return r
	}
	r.Violation = r.inspect(&w, lim)
	return r
}

// labelOf returns the type that a label names, without its parameters; "" if
// it says no more than that there are bytes.
func labelOf(label string) string {
	label, _, _ = strings.Cut(label, ";")
	label = strings.ToLower(strings.TrimSpace(label))
	switch label {
	case "application/octet-stream", "binary/octet-stream", "application/binary", "application/unknown", "unknown/unknown":
		return ""
	}
	return CanonicalMediaType(label)
}

// agree reports whether a label may stand on a file of a type.
func agree(declared, label string) bool {
	if label == "" || label == declared {
		return true
	}
	class, name, _ := strings.Cut(declared, "/")
	labelClass, labelName, _ := strings.Cut(label, "/")
	switch {
	case class == labelClass && class != "application", name == labelName:
		return true
	case class == "application" && (label == "text/plain" || label == "application/zip"):
		return !recognised(declared) // many a format is text or an archive underneath
	}
	return textual(declared) && textual(label)
}
