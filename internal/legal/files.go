package legal

import (
	"slices"
	"strings"
)

// GeminiStorage is the address of Gemini's file storage.
const GeminiStorage = "https://generativelanguage.googleapis.com/"

// IsGeminiFile reports whether id, the id of a content.File, is that of a file in a
// storage that Gemini reads.
func IsGeminiFile(id string) bool {
	for _, prefix := range [...]string{"files/", "gs://", GeminiStorage} {
		if strings.HasPrefix(id, prefix) && len(id) > len(prefix) {
			return true
		}
	}
	return false
}

// geminiTypes are media types that Gemini accepts by their whole name.
var geminiTypes = []string{
	"image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif", "image/heic", "image/heif", "image/avif",
	"application/pdf", "application/json", "application/rtf", "application/x-javascript", "application/x-python-code",
	"application/x-ipynb+json",
}

// IsGeminiMediaType reports whether Gemini accepts files of a media type.
func IsGeminiMediaType(mediaType string) bool {
	for _, prefix := range [...]string{"text/", "audio/", "video/"} {
		if strings.HasPrefix(mediaType, prefix) && len(mediaType) > len(prefix) {
			return true
		}
	}
	return slices.Contains(geminiTypes, mediaType)
}
