package media

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A File is a file in a document, encoded as base64.
type File struct {
	MediaType string
	Data      string
}

// A Base64Rule specifies which forms of base64 are valid. Under Base64Strict and
// Base64Any the data must not be empty and must not contain line breaks, white space,
// other characters outside the alphabet, data after the padding, or nonzero bits after
// the last byte.
type Base64Rule uint8

const (
	// Base64Strict allows the standard alphabet with padding.
	Base64Strict Base64Rule = iota

	// Base64Any allows the standard or the URL-safe alphabet, but not both in one
	// value, with or without padding.
	Base64Any

	// Base64Checked disables the check. It is for data that was already checked by
	// another rule.
	Base64Checked
)

// Check validates data. It returns "" if data is valid, and otherwise a phrase that
// continues "the data ", such as "is empty". It does not allocate.
func (r Base64Rule) Check(data string) string {
	switch r {
	case Base64Checked:
		return ""
	case Base64Any:
		return jsonwire.CheckLenientBase64(data).String()
	}
	return jsonwire.CheckBase64(data).String()
}

// Size returns the length of the decoded data in bytes without decoding it. If Data is
// not valid base64, the result has no meaning.
func (f File) Size() int64 {
	n := int64(len(trimPadding(f.Data)))
	return n/4*3 + n%4*3/4
}

// Bytes decodes the data. It returns false if the data does not satisfy [Base64Any].
func (f File) Bytes() ([]byte, bool) {
	data := trimPadding(f.Data)
	padded := len(data) < len(f.Data)
	// The decoder skips line breaks. It rejects all other invalid characters.
	if data != "" && !(padded && len(f.Data)%4 != 0) && !containsByte(data, '\n') && !containsByte(data, '\r') {
		enc := base64.RawStdEncoding
		if containsByte(data, '-') || containsByte(data, '_') {
			enc = base64.RawURLEncoding
		}
		if b, err := enc.Strict().DecodeString(data); err == nil {
			return b, true
		}
	}
	return nil, false
}

func containsByte(s string, c byte) bool { return strings.IndexByte(s, c) >= 0 }

func trimPadding(s string) string {
	for range 2 {
		s = strings.TrimSuffix(s, "=")
	}
	return s
}

// windowChars is the number of characters decoded at a time. It is a multiple of 4, and
// large enough that reading a file in small pieces costs no more than decoding it at
// once.
const windowChars = 680

// A window reads bytes at any offset of a file without decoding the rest. The file is
// either text, which is unpadded base64 of either alphabet, or data.
type window struct {
	text    string
	data    []byte
	invalid bool // text that had to be decoded is not valid base64

	buf  [windowChars / 4 * 3]byte
	from int // offset of buf[0] in the file
	n    int
}

func newWindow(data string) window { return window{text: trimPadding(data)} }

// bytes returns n bytes at offset off, or nil if the file ends before off+n. The result
// is valid until the next call. n must be far smaller than the window.
func (w *window) bytes(off, n int) []byte {
	if w.text == "" {
		if off > len(w.data) || n > len(w.data)-off {
			return nil
		}
		return w.data[off : off+n]
	}
	if off < w.from || off+n > w.from+w.n {
		w.fill(off)
	}
	if i := off - w.from; i+n <= w.n {
		return w.buf[i : i+n]
	}
	return nil
}

// buffered returns the bytes from offset off on that are already decoded.
func (w *window) buffered(off int) []byte {
	if w.text == "" {
		return w.data[off:]
	}
	return w.buf[off-w.from : w.n]
}

// fill decodes the piece that contains the byte at offset off.
func (w *window) fill(off int) {
	w.from, w.n = off/3*3, 0
	at := off / 3 * 4
	if at >= len(w.text) {
		return
	}
	// The alphabets differ in two characters. Replacing them lets one decoder read
	// both, and costs less here than searching megabytes for them beforehand.
	var src [windowChars]byte
	size := copy(src[:], w.text[at:])
	for i, c := range src[:size] {
		switch c {
		case '-':
			src[i] = '+'
		case '_':
			src[i] = '/'
		case '\r', '\n': // the decoder would skip them
			size, w.invalid = i&^3, true
		}
		if w.invalid {
			break
		}
	}
	n, err := base64.RawStdEncoding.Decode(w.buf[:], src[:size])
	w.n, w.invalid = n, w.invalid || err != nil
}

// isUTF8 reports whether the decoded data is valid UTF-8.
func (w *window) isUTF8() bool {
	for off := 0; ; {
		if w.bytes(off, 1) == nil {
			return !w.invalid
		}
		p := w.buffered(off)
		off += len(p)
		if utf8.Valid(p) {
			continue
		}
		// The last character may continue after the window. Then everything before it
		// is valid, and the next window begins with it.
		cut := incompleteSuffix(p)
		if cut == 0 || !utf8.Valid(p[:len(p)-cut]) {
			return false
		}
		off -= cut
		if next := w.bytes(off, cut+1); next == nil {
			return false // the last character is incomplete
		}
	}
}

// incompleteSuffix returns the number of bytes at the end of p that begin a character
// without completing it.
func incompleteSuffix(p []byte) int {
	for n := 1; n <= 3 && n <= len(p); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
