package media

import (
	"encoding/binary"
	"strings"
)

// SniffLen is the maximum number of leading bytes that [Detect] examines.
const SniffLen = 12

// The media types that Detect recognizes.
const (
	mediaPNG  = "image/png"
	mediaJPEG = "image/jpeg"
	mediaGIF  = "image/gif"
	mediaWebP = "image/webp"
	mediaPDF  = "application/pdf"
)

// Detect returns the media type of a file that begins with the bytes in lead:
// image/png, image/jpeg, image/gif, image/webp or application/pdf. It returns "" for
// any other file, and if lead is too short. It examines at most [SniffLen] bytes.
func Detect(lead []byte) string {
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

// Canonical returns image/jpeg for the common misspelling image/jpg, and any
// other media type unchanged. The comparison is case-sensitive.
func Canonical(mediaType string) string {
	if mediaType == "image/jpg" {
		return mediaJPEG
	}
	return mediaType
}

// IsDetectable reports whether [Detect] can return mediaType, which must be in
// canonical form: see [Canonical].
func IsDetectable(mediaType string) bool {
	switch mediaType {
	case mediaPNG, mediaJPEG, mediaGIF, mediaWebP, mediaPDF:
		return true
	}
	return false
}

// isTextual reports whether files of a media type must be UTF-8 text.
func isTextual(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || mediaType == "application/json"
}

// maxFrameOffset is the largest offset in a JPEG at which its frame header may begin.
const maxFrameOffset = 1 << 20

// ImageSize returns the width and height in pixels from the header of a PNG, JPEG, GIF
// or WebP image. For GIF and extended WebP it returns the size of the canvas. It decodes
// only the header. It returns 0, 0 if the file is not such an image, if the header is
// incomplete or invalid, or if the frame header of a JPEG does not begin within the
// first 1 MiB.
func (f File) ImageSize() (width, height int) {
	w := newWindow(f.Data)
	return readSize(detect(&w), &w)
}

// Detect returns the media type of the leading bytes: see the function [Detect].
func (f File) Detect() string {
	w := newWindow(f.Data)
	return detect(&w)
}

// detect returns the media type of the file in w, as Detect does.
func detect(w *window) string {
	for n := SniffLen; n > 2; n-- { // a short file may still have a signature
		if p := w.bytes(0, n); p != nil {
			return Detect(p)
		}
	}
	return ""
}

func isImage(mediaType string) bool {
	return IsDetectable(mediaType) && mediaType != mediaPDF
}

// readSize reads the header of an image of the given type. It returns 0, 0 if the
// header is incomplete or invalid.
func readSize(mediaType string, w *window) (width, height int) {
	switch mediaType {
	case mediaPNG:
		width, height = readPNG(w)
	case mediaJPEG:
		width, height = readJPEG(w)
	case mediaGIF:
		if p := w.bytes(6, 7); p != nil {
			width, height = le16(p), le16(p[2:])
		}
	case mediaWebP:
		width, height = readWebP(w)
	}
	if width <= 0 || height <= 0 {
		return 0, 0
	}
	return width, height
}

func le16(p []byte) int { return int(binary.LittleEndian.Uint16(p)) }
func be16(p []byte) int { return int(binary.BigEndian.Uint16(p)) }
func le24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

// readPNG reads the first chunk, which must be the header: length, name, width, height,
// five more bytes, checksum.
func readPNG(w *window) (width, height int) {
	p := w.bytes(8, 25)
	if p == nil || string(p[:8]) != "\x00\x00\x00\x0dIHDR" {
		return 0, 0
	}
	x, y := binary.BigEndian.Uint32(p[8:]), binary.BigEndian.Uint32(p[12:])
	if x > 1<<31-1 || y > 1<<31-1 { // the maximum of the format
		return 0, 0
	}
	return int(x), int(y)
}

// readJPEG reads the segments up to the frame header.
func readJPEG(w *window) (width, height int) {
	for at := 2; at <= maxFrameOffset; {
		p := w.bytes(at, 2)
		if p == nil || p[0] != 0xFF {
			return 0, 0
		}
		marker := p[1]
		switch {
		case marker == 0xFF: // a fill byte
			at++
			continue
		case marker == 0x01: // a marker without a segment
			at += 2
			continue
		case marker < 0xC0, marker >= 0xD0 && marker <= 0xDA:
			return 0, 0 // image data, or the end of the image, before a frame header
		}
		if p = w.bytes(at+2, 2); p == nil {
			return 0, 0
		}
		length := be16(p)
		if length < 2 {
			return 0, 0
		}
		if marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC {
			return readJPEGFrame(w, at+4, length-2)
		}
		at += 2 + length
	}
	return 0, 0
}

// readJPEGFrame reads a frame header of n bytes: precision, height, width, and three
// bytes for each component.
func readJPEGFrame(w *window, at, n int) (width, height int) {
	p := w.bytes(at, 6)
	if p == nil {
		return 0, 0
	}
	height, width = be16(p[1:]), be16(p[3:])
	components := int(p[5])
	if components == 0 || n != 6+3*components || w.bytes(at+n-1, 1) == nil {
		return 0, 0
	}
	return width, height
}

// readWebP reads the first chunk. Its name specifies whether the image is lossy,
// lossless or extended.
func readWebP(w *window) (width, height int) {
	p := w.bytes(12, 8)
	if p == nil {
		return 0, 0
	}
	var kind [4]byte
	copy(kind[:], p)
	size := binary.LittleEndian.Uint32(p[4:])
	switch string(kind[:]) {
	case "VP8 ":
		p = w.bytes(20, 10)
		if p == nil || size < 10 || p[0]&1 != 0 || string(p[3:6]) != "\x9d\x01\x2a" {
			return 0, 0
		}
		return le16(p[6:]) & 0x3FFF, le16(p[8:]) & 0x3FFF
	case "VP8L":
		p = w.bytes(20, 5)
		if p == nil || size < 5 || p[0] != 0x2F {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(p[1:])
		return int(bits&0x3FFF) + 1, int(bits>>14&0x3FFF) + 1
	case "VP8X":
		p = w.bytes(20, 10)
		if p == nil || size < 10 {
			return 0, 0
		}
		return le24(p[4:]) + 1, le24(p[7:]) + 1
	}
	return 0, 0
}
