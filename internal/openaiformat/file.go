package openaiformat

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/media"
)

// TypePDF is the media type of PDFs.
const TypePDF = "application/pdf"

// ImageTypes are the media types of images that the vendor accepts.
var ImageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// AudioTypes maps the media types of audio that the vendor accepts to one of each kind.
var AudioTypes = map[string]string{
	"audio/wav": "audio/wav", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav",
	"audio/mp3": "audio/mp3", "audio/mpeg": "audio/mp3",
}

// AudioFormats maps the media types to which AudioTypes maps others to the names that
// input_audio has for them.
var AudioFormats = map[string]string{"audio/wav": "wav", "audio/mp3": "mp3"}

// DocumentTypes are the media types of documents that Responses accepts besides text. The first
// is TypePDF.
var DocumentTypes = []string{
	TypePDF, "application/rtf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
	"application/vnd.oasis.opendocument.text", officePrefix + "wordprocessingml.document",
	officePrefix + "presentationml.presentation", officePrefix + "spreadsheetml.sheet",
}

const officePrefix = "application/vnd.openxmlformats-officedocument."

// Extension returns the file extension of a media type, or "" if the vendor does not accept it.
func Extension(mediaType string) string {
	switch mediaType {
	case "application/pdf":
		return ".pdf"
	case "application/rtf":
		return ".rtf"
	case "application/msword":
		return ".doc"
	case "application/vnd.ms-excel":
		return ".xls"
	case "application/vnd.ms-powerpoint":
		return ".ppt"
	case "application/vnd.oasis.opendocument.text":
		return ".odt"
	case officePrefix + "wordprocessingml.document":
		return ".docx"
	case officePrefix + "presentationml.presentation":
		return ".pptx"
	case officePrefix + "spreadsheetml.sheet":
		return ".xlsx"
	}
	return ""
}

// IsWebURL reports whether link is a URL of the web.
func IsWebURL(link string) bool {
	return strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
}

// Source parses a data URL or a link. It returns nil for other strings, and for data that is not
// base64 in one of its alphabets.
func Source(url string) content.Source {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		if IsWebURL(url) {
			return &content.URL{URL: url}
		}
		return nil
	}
	head, data, ok := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !ok || !encoded || media.Base64Any.Check(data) != "" {
		return nil
	}
	kind, _, _ = strings.Cut(kind, ";")
	return &content.Base64{MediaType: kind, Data: data}
}

// isURLSafe reports whether data uses the URL-safe base64 alphabet. The first character
// that only one alphabet has decides; it usually comes early. The rest is searched in
// chunks of 16 KiB, so that each comes from memory once.
func isURLSafe(data string) bool {
	const head = 4 << 10
	for i := range min(len(data), head) {
		switch data[i] {
		case '-', '_':
			return true
		case '+', '/':
			return false
		}
	}
	for data = data[min(len(data), head):]; len(data) > 0; {
		piece := data[:min(len(data), 16<<10)]
		if strings.IndexByte(piece, '-') >= 0 || strings.IndexByte(piece, '_') >= 0 {
			return true
		}
		data = data[len(piece):]
	}
	return false
}

// StandardBase64 returns base64 in the standard alphabet with padding.
func StandardBase64(data string) string {
	if isURLSafe(data) {
		data = strings.NewReplacer("-", "+", "_", "/").Replace(data)
	}
	if n := len(data) % 4; n > 1 {
		data += "=="[:4-n]
	}
	return data
}
