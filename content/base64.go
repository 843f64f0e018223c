package content

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A Base64Rule says which spellings of base64 are taken. Under the first two
// rules empty data, line breaks, white space, characters of no alphabet, anything
// behind the padding and bits behind the last byte are faults.
type Base64Rule uint8

const (
	// Base64Strict takes the standard alphabet, padded.
	Base64Strict Base64Rule = iota

	// Base64Any takes the standard or the URL-safe alphabet, though not both
	// at once, padded or not.
	Base64Any

	// Base64Checked takes everything: the caller has checked the data by one
	// of the other rules.
	Base64Checked
)

// Check returns what is wrong with data by the rule, as words that continue
// "the data ", or "" if it is good. It looks at every character, decodes
// nothing and allocates nothing.
func (r Base64Rule) Check(data string) string {
	switch r {
	case Base64Checked:
		return ""
	case Base64Any:
		return jsonwire.CheckBase64Any(data).String()
	}
	return jsonwire.CheckBase64(data).String()
}

// Size returns the number of bytes that the data stands for. It looks at the
// length and the padding only, so it is right for data that can be decoded.
func (s *Base64) Size() int64 {
	n := int64(len(trimPadding(s.Data)))
	return n/4*3 + n%4*3/4
}

// Bytes decodes the data, by [Base64Any]. Each call decodes again; the bytes
// are the caller's. The error is an [*Violation] without a path.
func (s *Base64) Bytes() ([]byte, error) {
	data := trimPadding(s.Data)
	padded := len(data) < len(s.Data)
	// The decoder skips line breaks; everything else it refuses by itself.
	if data != "" && !(padded && len(s.Data)%4 != 0) && !has(data, '\n') && !has(data, '\r') {
		enc := base64.RawStdEncoding
		if has(data, '-') || has(data, '_') {
			enc = base64.RawURLEncoding
		}
		if b, err := enc.Strict().DecodeString(data); err == nil {
			return b, nil
		}
	}
	return nil, &Violation{Code: CodeMedia, Text: "invalid base64 data: it " + Base64Any.Check(s.Data)}
}

func has(s string, c byte) bool { return strings.IndexByte(s, c) >= 0 }

// Lead decodes the first len(dst) bytes into dst and returns how many there
// are, fewer only if the data is shorter. No more is looked at than that takes.
// The error is an [*Violation] without a path.
func (s *Base64) Lead(dst []byte) (int, error) {
	w := windowOf(s.Data)
	n := 0
	for n < len(dst) {
		p := w.bytes(n, 1)
		if p == nil {
			break
		}
		n += copy(dst[n:], w.rest(n))
	}
	if w.bad {
		return n, &Violation{Code: CodeMedia, Text: "invalid base64 data"}
	}
	return n, nil
}

func trimPadding(s string) string {
	for range 2 {
		s = strings.TrimSuffix(s, "=")
	}
	return s
}

// windowChars is how many characters are decoded at a time: a multiple of 4,
// large enough that walking through small pieces costs no more than decoding.
const windowChars = 680

// A window gives access to any place of a file without decoding the rest. Its
// file is text, unpadded base64 of either alphabet, or else data.
type window struct {
	text string
	data []byte
	bad  bool // text that had to be decoded is not base64

	buf  [windowChars / 4 * 3]byte
	from int // buf[:n] are the bytes from here on
	n    int
}

func windowOf(data string) window { return window{text: trimPadding(data)} }

// bytes returns n bytes from off on, or nil if the file ends before. They are
// good until the next call. n must be far less than a window.
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

// rest returns what is at hand from off on.
func (w *window) rest(off int) []byte {
	if w.text == "" {
		return w.data[off:]
	}
	return w.buf[off-w.from : w.n]
}

// fill decodes the piece that begins with the byte at off.
func (w *window) fill(off int) {
	w.from, w.n = off/3*3, 0
	at := off / 3 * 4
	if at >= len(w.text) {
		return
	}
	// The alphabets differ in two characters. With those made equal one
	// encoding reads both, and it is cheaper to do so here than to search
	// megabytes for them beforehand.
	var src [windowChars]byte
	size := copy(src[:], w.text[at:])
	for i, c := range src[:size] {
		switch c {
		case '-':
			src[i] = '+'
		case '_':
			src[i] = '/'
		case '\r', '\n': // the decoder would skip them
			size, w.bad = i&^3, true
		}
		if w.bad {
			break
		}
	}
	n, err := base64.RawStdEncoding.Decode(w.buf[:], src[:size])
	w.n, w.bad = n, w.bad || err != nil
}

// isText reports whether the decoded data is UTF-8.
func (w *window) isText() bool {
	for off := 0; ; {
		if w.bytes(off, 1) == nil {
			return !w.bad
		}
		p := w.rest(off)
		off += len(p)
		if utf8.Valid(p) {
			continue
		}
		// The last character may go on behind the window: then everything
		// before it is valid, and the next window begins with it.
		cut := incomplete(p)
		if cut == 0 || !utf8.Valid(p[:len(p)-cut]) {
			return false
		}
		off -= cut
		if next := w.bytes(off, cut+1); next == nil {
			return false // it does not go on
		}
	}
}

// incomplete returns how many bytes at the end of p are the beginning of a
// character that could go on, 0 if there are none.
func incomplete(p []byte) int {
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
