package jsonwire

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// buffer returns room to unescape into.
func (t *tape) buffer() []byte {
	if t.scratch == nil {
		t.scratch = make([]byte, scratchSize)
	}
	return t.scratch
}

// unescape decodes text, the checked inside of a string, into dst until dst
// has less than 16 bytes of room or text is used up. It returns how many bytes
// it has written and how many of text it has used.
func unescape(dst []byte, text string) (n, used int) {
	i := 0
	for i < len(text) && n <= len(dst)-16 {
		if i <= len(text)-8 {
			// Eight bytes are written whether or not all of them are wanted.
			x := load(text, i)
			binary.LittleEndian.PutUint64(dst[n:], x)
			m := backslash(x)
			if m == 0 {
				i += 8
				n += 8
				continue
			}
			k := first(m)
			i += k
			n += k
		} else if text[i] != '\\' {
			dst[n] = text[i]
			i++
			n++
			continue
		}
		if c := simple[text[i+1]]; c != 0 {
			dst[n] = c
			n++
			i += 2
			// Where there is one, others often follow at once.
			for n < len(dst) && i+1 < len(text) && text[i] == '\\' && simple[text[i+1]] != 0 {
				dst[n] = simple[text[i+1]]
				n++
				i += 2
			}
			continue
		}
		r, _ := hex4(text, i+2)
		i += 6
		if r >= 0xD800 && r < 0xDC00 {
			low, _ := hex4(text, i+2)
			r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
			i += 6
		}
		n += utf8.EncodeRune(dst[n:], r)
	}
	return n, i
}

// decode returns what text, the checked inside of a string, stands for, in
// memory of its own if it has escapes. It is for rare cases.
func decode(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return decodeLong(make([]byte, 512), text, 0)
}

// decodeLong decodes text piece by piece through buf. size is the length of
// the result, or 0.
func decodeLong(buf []byte, text string, size int) string {
	var b strings.Builder
	b.Grow(size)
	for len(text) > 0 {
		n, used := unescape(buf, text)
		b.Write(buf[:n])
		text = text[used:]
	}
	return b.String()
}
