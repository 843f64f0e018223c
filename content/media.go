package content

import "strings"

// MediaLead is how many leading bytes [DetectMediaType] looks at, at most.
const MediaLead = 12

// The media types that are recognised by their bytes.
const (
	mediaPNG  = "image/png"
	mediaJPEG = "image/jpeg"
	mediaGIF  = "image/gif"
	mediaWebP = "image/webp"
	mediaPDF  = "application/pdf"
)

// DetectMediaType returns the type that a file shows by its leading bytes:
// image/png, image/jpeg, image/gif, image/webp or application/pdf; "" if it is
// none of them or lead is too short to tell. [MediaLead] bytes are enough for
// all. Only offset 0 counts: what stands further in never decides.
func DetectMediaType(lead []byte) string {
	has := func(at int, magic string) bool {
		return len(lead) >= at+len(magic) && string(lead[at:at+len(magic)]) == magic
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"):
		return mediaPNG
	case has(0, "\xff\xd8\xff"):
		return mediaJPEG
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return mediaGIF
	case has(0, "RIFF") && has(8, "WEBP"):
		return mediaWebP
	case has(0, "%PDF-"):
		return mediaPDF
	}
	return ""
}

// CanonicalMediaType returns the registered name where mediaType is a common
// misspelling: image/jpeg for image/jpg. Everything else is returned as it is;
// types are compared by the letter, upper and lower case included.
func CanonicalMediaType(mediaType string) string {
	if mediaType == "image/jpg" {
		return mediaJPEG
	}
	return mediaType
}

// Detectable reports whether [DetectMediaType] knows files of a type, in its
// canonical form: a file that is said to be of it must be one.
func Detectable(mediaType string) bool { return recognised(mediaType) }

// recognised reports whether files of a type can be told by their bytes.
func recognised(mediaType string) bool {
	switch mediaType {
	case mediaPNG, mediaJPEG, mediaGIF, mediaWebP, mediaPDF:
		return true
	}
	return false
}

// textual reports whether files of a type have to be UTF-8 text.
func textual(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || mediaType == "application/json"
}
