package content

import "encoding/binary"

// maxFrameOffset is how far into a JPEG its frame header may begin.
const maxFrameOffset = 1 << 20

// ImageSize returns the width and height in pixels that an image's header
// tells: a PNG, JPEG, GIF or WebP. The header must be whole, and both must be
// more than zero. Of a JPEG everything before the frame header is skipped, up
// to 1 MiB; of a GIF and an extended WebP it is the canvas. No pixel is looked
// at, and nothing is decompressed. The error is an [*Violation] without a path.
func ImageSize(data []byte) (width, height int, err error) {
	return imageSize(&window{data: data})
}

// ImageSize is the function of the same name for the data as it stands. It
// decodes no more than the header.
func (s *Base64) ImageSize() (width, height int, err error) {
	w := windowOf(s.Data)
	return imageSize(&w)
}

func imageSize(w *window) (width, height int, err error) {
	mediaType := detect(w)
	width, height = sizeOf(mediaType, w)
	switch {
	case width > 0 && height > 0:
		return width, height, nil
	case !hasSize(mediaType):
		return 0, 0, &Violation{Code: CodeMedia, Text: "not a PNG, JPEG, GIF or WebP image"}
	}
	return 0, 0, &Violation{Code: CodeMedia, Text: "the image's header is incomplete or broken"}
}

// detect is DetectMediaType for a window.
func detect(w *window) string {
	for n := MediaLead; n > 2; n-- { // a short file may still tell what it is
		if p := w.bytes(0, n); p != nil {
			return DetectMediaType(p)
		}
	}
	return ""
}

func hasSize(mediaType string) bool {
	return recognised(mediaType) && mediaType != mediaPDF
}

// sizeOf reads the header of an image that begins as one of mediaType does.
// If the header is not whole or makes no sense, the result is 0, 0.
func sizeOf(mediaType string, w *window) (width, height int) {
	switch mediaType {
	case mediaPNG:
		width, height = sizePNG(w)
	case mediaJPEG:
		width, height = sizeJPEG(w)
	case mediaGIF:
		if p := w.bytes(6, 7); p != nil {
			width, height = le16(p), le16(p[2:])
		}
	case mediaWebP:
		width, height = sizeWebP(w)
	}
	if width <= 0 || height <= 0 {
		return 0, 0
	}
	return width, height
}

func le16(p []byte) int { return int(binary.LittleEndian.Uint16(p)) }
func be16(p []byte) int { return int(binary.BigEndian.Uint16(p)) }
func le24(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }

// sizePNG reads the first chunk, which has to be the header: length, name,
// width, height, five bytes of other things, checksum.
func sizePNG(w *window) (width, height int) {
	p := w.bytes(8, 25)
	if p == nil || string(p[:8]) != "\x00\x00\x00\x0dIHDR" {
		return 0, 0
	}
	x, y := binary.BigEndian.Uint32(p[8:]), binary.BigEndian.Uint32(p[12:])
	if x > 1<<31-1 || y > 1<<31-1 { // the format's own limit
		return 0, 0
	}
	return int(x), int(y)
}

// sizeJPEG goes from segment to segment until it finds the frame header.
func sizeJPEG(w *window) (width, height int) {
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
			return 0, 0 // the picture begins, or ends, without a frame
		}
		if p = w.bytes(at+2, 2); p == nil {
			return 0, 0
		}
		length := be16(p)
		if length < 2 {
			return 0, 0
		}
		if marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC {
			return frameJPEG(w, at+4, length-2)
		}
		at += 2 + length
	}
	return 0, 0
}

// frameJPEG reads a frame header of n bytes: precision, height, width, and
// three bytes for each component.
func frameJPEG(w *window, at, n int) (width, height int) {
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

// sizeWebP reads the first chunk, whose name tells which kind of WebP it is.
func sizeWebP(w *window) (width, height int) {
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
