// Package geminifile describes the files that the vendor of generateContent accepts.
package geminifile

import (
	"slices"
	"strings"
)

// Storage is the address of Gemini's file storage.
const Storage = "https://generativelanguage.googleapis.com/"

// IsID reports whether id, the id of a content.File, is that of a file in a storage that
// Gemini reads.
func IsID(id string) bool {
	for _, prefix := range [...]string{"files/", "gs://", Storage} {
		if strings.HasPrefix(id, prefix) && len(id) > len(prefix) {
			return true
		}
	}
	return false
}

// mediaTypes are media types that Gemini accepts by their whole name.
var mediaTypes = []string{
	"image/png", "image/jpeg", "image/jpg", "image/webp", "image/gif", "image/heic", "image/heif", "image/avif",
	"application/pdf", "application/json", "application/rtf", "application/x-javascript", "application/x-python-code",
	"application/x-ipynb+json",
}

// IsMediaType reports whether Gemini accepts files of a media type.
func IsMediaType(mediaType string) bool {
	for _, prefix := range [...]string{"text/", "audio/", "video/"} {
		if strings.HasPrefix(mediaType, prefix) && len(mediaType) > len(prefix) {
			return true
		}
	}
	return slices.Contains(mediaTypes, mediaType) // bounded by mediaTypes
}
