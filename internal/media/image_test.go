package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
)

// A sample is a file of one of the five types, and the end of its header.
type sample struct {
	mediaType     string
	data          []byte
	header        int
	width, height int
}

func samples(t testing.TB) map[string]sample {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, 13, 7), []colorModel{rgba(0), rgba(255)})
	encode := func(f func(*bytes.Buffer) error) []byte {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	photo := encode(func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) })
	frame := bytes.Index(photo, []byte{0xFF, 0xC0})
	return map[string]sample{
		"png":  {"image/png", encode(func(b *bytes.Buffer) error { return png.Encode(b, img) }), 33, 13, 7},
		"jpeg": {"image/jpeg", photo, frame + 2 + be16(photo[frame+2:]), 13, 7},
		"gif":  {"image/gif", encode(func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) }), 13, 13, 7},
		"vp8":  {"image/webp", webp("VP8 ", "\x10\x00\x00\x9d\x01\x2a\x0d\x40\x07\x80rest"), 30, 13, 7},
		"vp8l": {"image/webp", webp("VP8L", "\x2f\x0c\x80\x01\x00rest"), 25, 13, 7},
		"vp8x": {"image/webp", webp("VP8X", "\x00\x00\x00\x00\x0c\x00\x00\x06\x00\x00rest"), 30, 13, 7},
		"pdf":  {"application/pdf", []byte("%PDF-1.7\nnothing that anyone would open"), 5, 0, 0},
		"long": {"image/jpeg", longJPEG(maxFrameOffset - 2), maxFrameOffset + 13, 13, 7},
	}
}

func webp(kind, chunk string) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"), kind...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(chunk)))
	b = append(b, chunk...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// longJPEG returns a JPEG with n bytes of comments before its frame header.
func longJPEG(n int) []byte {
	b := []byte{0xFF, 0xD8}
	for n > 0 {
		size := min(n, 60000)
		if left := n - size; left > 0 && left < 4 {
			size -= 4
		}
		b = append(b, 0xFF, 0xFE)
		b = binary.BigEndian.AppendUint16(b, uint16(size-2))
		b = append(b, make([]byte, size-4)...)
		n -= size
	}
	return append(b, 0xFF, 0xC2, 0, 11, 8, 0, 7, 0, 13, 1, 1, 0x11, 0, 0xFF, 0xDA)
}

func TestDetect(t *testing.T) {
	for name, s := range samples(t) {
		if got := Detect(s.data[:SniffLen]); got != s.mediaType {
			t.Errorf("%s: Detect = %q, want %q", name, got, s.mediaType)
		}
		// Only offset 0 counts.
		if got := Detect(append([]byte{' '}, s.data...)); got != "" {
			t.Errorf("%s after a space: Detect = %q, want none", name, got)
		}
	}
	for _, lead := range []string{"", "GIF", "GIF88a", "RIFF", "RIFF....WEB", "RIFF....WAVE", "\x89PNG\r\n\x1a", "%PDF", "BM", "<svg>", "II*\x00"} {
		if got := Detect([]byte(lead)); got != "" {
			t.Errorf("Detect(%q) = %q, want none", lead, got)
		}
	}
}

func TestImageSize(t *testing.T) {
	for name, s := range samples(t) {
		inline := File{Data: base64.StdEncoding.EncodeToString(s.data)}
		for _, read := range []func() (int, int){
			func() (int, int) { return sizeOf(s.data) }, inline.ImageSize,
		} {
			if width, height := read(); width != s.width || height != s.height {
				t.Errorf("%s: ImageSize = %d, %d; want %d, %d", name, width, height, s.width, s.height)
			}
		}
	}
}

// TestImageSizeCut checks that a truncated header has no size and a complete one has.
func TestImageSizeCut(t *testing.T) {
	for name, s := range samples(t) {
		if s.width == 0 {
			continue
		}
		from := 0
		if s.header > 2000 { // the comments before the frame header are the same
			from = s.header - 11
		}
		for n := from; n < s.header; n++ {
			cut := s.data[:n:n]
			if width, height := sizeOf(cut); width != 0 {
				t.Errorf("%s cut at %d: ImageSize = %d, %d; want 0, 0", name, n, width, height)
			}
			inline := File{Data: base64.StdEncoding.EncodeToString(cut)}
			if width, height := inline.ImageSize(); width != 0 {
				t.Errorf("%s cut at %d, inline: ImageSize = %d, %d; want 0, 0", name, n, width, height)
			}
		}
		if width, _ := sizeOf(s.data[:s.header:s.header]); width == 0 {
			t.Errorf("%s, the header alone: ImageSize = 0", name)
		}
	}
}

func TestImageSizeBroken(t *testing.T) {
	all := samples(t)
	edit := func(name string, at int, with string) []byte {
		b := bytes.Clone(all[name].data)
		copy(b[at:], with)
		return b
	}
	frame := all["jpeg"].header - 17 // three components: the header has 17 bytes after its marker
	tests := map[string][]byte{
		"png of no width":                edit("png", 16, "\x00\x00\x00\x00"),
		"png of no height":               edit("png", 20, "\x00\x00\x00\x00"),
		"png of 2^31 width":              edit("png", 16, "\x80\x00\x00\x00"),
		"png with another first chunk":   edit("png", 12, "IDAT"),
		"png with a short header":        edit("png", 8, "\x00\x00\x00\x0c"),
		"gif of no width":                edit("gif", 6, "\x00\x00"),
		"gif of no height":               edit("gif", 8, "\x00\x00"),
		"jpeg of no height":              edit("jpeg", frame+3, "\x00\x00"),
		"jpeg of no width":               edit("jpeg", frame+5, "\x00\x00"),
		"jpeg of no components":          edit("jpeg", frame+7, "\x00"),
		"jpeg of too many components":    edit("jpeg", frame+7, "\x04"),
		"jpeg without a frame":           append([]byte{0xFF, 0xD8}, 0xFF, 0xDA, 0, 2),
		"jpeg that ends":                 {0xFF, 0xD8, 0xFF, 0xD9},
		"jpeg with a segment of 1 byte":  {0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 0, 0, 0, 0},
		"jpeg of fill bytes":             append([]byte{0xFF, 0xD8}, bytes.Repeat([]byte{0xFF}, 2<<20)...),
		"jpeg with no marker":            edit("jpeg", 2, "\xff\xe0\x00\x02\x00"),
		"jpeg with its frame too far in": longJPEG(maxFrameOffset + 3),
		"vp8 without its mark":           edit("vp8", 23, "\x9d\x01\x2b"),
		"vp8 without a key frame":        edit("vp8", 20, "\x11"),
		"vp8 of no width":                edit("vp8", 26, "\x00\x40"),
		"vp8l without its mark":          edit("vp8l", 20, "\x2e"),
		"webp of another kind":           edit("vp8x", 12, "VP9 "),
		"webp with a short chunk":        edit("vp8x", 16, "\x09"),
		"pdf":                            all["pdf"].data,
		"text":                           []byte("plain text, and long enough for a header"),
		"nothing":                        {},
	}
	for name, data := range tests {
		inline := File{Data: base64.StdEncoding.EncodeToString(data)}
		if width, height := sizeOf(data); width != 0 || height != 0 {
			t.Errorf("%s: ImageSize = %d, %d; want 0, 0", name, width, height)
		}
		if width, height := inline.ImageSize(); width != 0 || height != 0 {
			t.Errorf("%s, inline: ImageSize = %d, %d; want 0, 0", name, width, height)
		}
	}
}

// FuzzImageSize checks that reading a header does not panic, that the result is the
// same for base64 and bytes, and that it is plausible.
func FuzzImageSize(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.data[:min(len(s.data), 2048)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		width, height := sizeOf(data[:len(data):len(data)])
		if width < 0 || height < 0 || (width == 0) != (height == 0) {
			t.Errorf("ImageSize = %d, %d", width, height)
		}
		inline := File{Data: base64.RawURLEncoding.EncodeToString(data)}
		if w, h := inline.ImageSize(); w != width || h != height {
			t.Errorf("inline: ImageSize = %d, %d; want %d, %d", w, h, width, height)
		}
	})
}

// sizeOf returns the size of the image in data.
func sizeOf(data []byte) (width, height int) {
	w := window{data: data}
	return readSize(detect(&w), &w)
}
