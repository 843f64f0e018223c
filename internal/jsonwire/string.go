package jsonwire

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// sweepAfter is the number of plain bytes after which a string is scanned as base64.
// Shorter strings are checked on demand.
const sweepAfter = 64

// scanString scans the string whose opening quote is at i, appends its node, and
// returns the index after its closing quote.
func (s *scanner) scanString(i int) int {
	src, start := s.src, i
	meta := uint32(String)
	var seen uint64 // all bytes combined, for the top bits
	for i++; ; {
		if i <= len(src)-8 {
			x := load(src, i)
			m := special(x)
			if m == 0 {
				seen |= x
				i += 8
				if i-start == 1+sweepAfter {
					if isBase64(x) {
						var whole bool
						if i, whole = sweep(src, start+1, i); whole {
							meta |= flagBase64
						}
					}
					i, seen = longText(src, i, seen)
				}
				continue
			}
			seen |= x & belowMarked(m)
			i += firstMarked(m)
		} else if i >= len(src) {
			return s.failAt(i, "")
		} else if c := src[i]; c != '"' && c != '\\' && c >= ' ' {
			seen |= uint64(c)
			i++
			continue
		}
		switch src[i] {
		case '"':
			if seen&highs != 0 && !s.checkUTF8(start, i+1) {
				return -1
			}
			return s.add(start, i+1, meta)
		case '\\':
			return s.scanEscaped(start, i, seen)
		}
		return s.fail(i, Syntax, textControl)
	}
}

// longText continues a string that is plain up to i. It returns where a byte may end plain text,
// and seen with all bytes before it.
func longText(src string, i int, seen uint64) (int, uint64) {
	for i <= len(src)-8 {
		for last := ahead(src, i); i <= last; i += 8 {
			x := load(src, i)
			if special(x) != 0 {
				return i, seen
			}
			seen |= x
		}
	}
	return i, seen
}

const textControl = "a control character in a string must be escaped"

// maxDecoded is the length of the longest document whose strings with escapes are decoded
// while they are scanned, which is faster than to find the escapes again. Memory for the
// decoded text is as long as the document. Longer texts are read ahead, see touch.
const maxDecoded = 1 << 20

// scanEscaped scans the rest of the string that begins at start. The first escape is at i, and
// seen combines the bytes before it. The decoded text is written to s.decoded, at the same
// index as in the source. In a long document it is written to scratch memory and lost.
func (s *scanner) scanEscaped(start, i int, seen uint64) int {
	src, shrink := s.src, 0
	var dst []byte
	n := 0
	if len(src) <= maxDecoded {
		dst, n = s.decodeBuffer(), start+1
		n += copy(dst[n:], src[n:i])
	} else {
		dst = s.buffer()
	}
	for {
		if n > len(dst)-16 {
			n = 0 // scratch memory
			_ = touch(src[i:min(i+len(dst), len(src))])
		}
		if i <= len(src)-8 {
			x := load(src, i)
			binary.LittleEndian.PutUint64(dst[n:], x)
			m := special(x)
			if m == 0 {
				seen |= x
				i += 8
				n += 8
				continue
			}
			seen |= x & belowMarked(m)
			k := firstMarked(m)
			i += k
			n += k
		} else if i >= len(src) {
			return s.failAt(i, "")
		} else if c := src[i]; c != '"' && c != '\\' && c >= ' ' {
			seen |= uint64(c)
			dst[n] = c
			i++
			n++
			continue
		}
		switch src[i] {
		case '"':
			if seen&highs != 0 && !s.checkUTF8(start, i+1) {
				return -1
			}
			return s.add(start, i+1, uint32(String)|uint32(min(shrink, numMax))<<numShift)
		case '\\':
			// Escapes often follow each other.
			from := i
			for n < len(dst) && i+1 < len(src) && src[i] == '\\' && simpleEscapes[src[i+1]] != 0 {
				dst[n] = simpleEscapes[src[i+1]]
				n++
				i += 2
			}
			if i > from {
				shrink += (i - from) / 2
				continue
			}
			end, r := s.scanUnicode(i)
			if end < 0 {
				return end
			}
			size := utf8.EncodeRune(dst[n:], r)
			n += size
			shrink += end - i - size
			i = end
		default:
			return s.fail(i, Syntax, textControl)
		}
	}
}

// decodeBuffer returns s.decoded with the length of the document and room for a word that is
// written ahead.
func (s *scanner) decodeBuffer() []byte {
	if len(s.decoded) == 0 {
		size := len(s.src) + 16
		if cap(s.decoded) < size {
			s.decoded = make([]byte, 1<<bits.Len(uint(size)))
		}
		s.decoded = s.decoded[:size]
	}
	return s.decoded
}

// sweep continues a string that begins at from and is plain up to i, as far as it is
// base64. It returns the index where the scan continues, and whether the string ends
// there.
func sweep(src string, from, i int) (int, bool) {
	end := base64Span(src, from)
	if end < i {
		return i, false
	}
	i = end
	for i < len(src) && src[i] == '=' && i < end+2 {
		i++
	}
	return i, i < len(src) && src[i] == '"'
}

// checkUTF8 checks that the text from start to end is valid UTF-8.
func (s *scanner) checkUTF8(start, end int) bool {
	if utf8.ValidString(s.src[start:end]) {
		return true
	}
	for i := start; ; {
		r, n := utf8.DecodeRuneInString(s.src[i:])
		if r == utf8.RuneError && n == 1 {
			s.fail(i, InvalidUTF8, "a string is not valid UTF-8")
			return false
		}
		i += n
	}
}

// simpleEscapes maps the letter of each escape except \u to the character that it
// encodes.
var simpleEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// scanUnicode scans an escape at i that is not a simple one. It returns the index
// after it and the character.
func (s *scanner) scanUnicode(i int) (end int, r rune) {
	const wrong = "invalid escape sequence in a string"
	src := s.src
	if i+1 >= len(src) || src[i+1] != 'u' {
		return s.failAt(i+1, wrong), 0
	}
	r, bad := hex4(src, i+2)
	if bad >= 0 {
		return s.failAt(bad, wrong), 0
	}
	if r < 0xD800 || r > 0xDFFF {
		return i + 6, r
	}
	if r < 0xDC00 && i+7 < len(src) && src[i+6] == '\\' && src[i+7] == 'u' {
		if low, bad := hex4(src, i+8); bad < 0 && low >= 0xDC00 && low <= 0xDFFF {
			return i + 12, 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
		}
	}
	return s.fail(i, LoneSurrogate, "an escape sequence in a string is half of a surrogate pair"), 0
}

// hex4 parses the four hexadecimal digits at i. bad is the index of the first
// invalid one, or -1.
func hex4(src string, i int) (r rune, bad int) {
	for j := i; j < i+4; j++ {
		if j >= len(src) {
			return 0, j
		}
		c := src[j]
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, j
		}
		r = r<<4 | rune(c)
	}
	return r, -1
}

// The scanners process eight bytes at a time, as one word with the first byte
// lowest. A mask has the top bit set of each byte that matches. Above the lowest
// match a mask may be wrong, since a borrow can propagate upwards; callers use only
// the lowest match.
const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load returns the eight bytes at s[i:]. The compiler turns it into one load.
func load(s string, i int) uint64 {
	t := s[i : i+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// block is the number of bytes that are read ahead. It divides the index of a block.
const block = 4 << 10

// ahead returns the index of the last word of s to load before the next call. If s is long, and i
// is where a block begins, it reads the block.
func ahead(s string, i int) (last int) {
	if len(s) <= maxDecoded {
		return len(s) - 8
	}
	last = i | (block - 1)
	if i&(block-1) < 8 {
		_ = touch(s[i:min(last+1, len(s))])
	}
	return min(last, len(s)-8)
}

// touch reads s, a part of a text that does not fit in the caches next to a processor, before it
// is scanned. A scanner has so many instructions for each word that the processor waits for few
// lines of memory at a time, while this loop waits for many: together they need half the time.
//
//go:noinline
func touch(s string) (sum byte) {
	for i := 0; i < len(s); i += 64 {
		sum |= s[i]
	}
	return sum // keeps the compiler from removing the loop
}

// special marks quotes, backslashes and control characters, which end plain text in
// a string. Flipping bit 1 moves the quote (0x22) right after the control
// characters, and the next two characters after it.
func special(x uint64) uint64 {
	return (((x ^ 0x02*lows) - 0x21*lows) | ((x ^ '\\'*lows) - lows)) & ^x & highs
}

// backslash marks backslashes.
func backslash(x uint64) uint64 {
	return ((x ^ '\\'*lows) - lows) & ^x & highs
}

// firstMarked returns the index of the lowest marked byte of a nonzero mask.
func firstMarked(mask uint64) int {
	return bits.TrailingZeros64(mask) >> 3
}

// belowMarked returns a mask of the bits below the lowest marked bit.
func belowMarked(mask uint64) uint64 {
	return (mask & -mask) - 1
}

// buffer returns scratch space for unescape.
func (t *tape) buffer() []byte {
	if t.scratch == nil {
		t.scratch = make([]byte, scratchSize)
	}
	return t.scratch
}

// unescape decodes text, the inside of a valid string, into dst, until dst has less
// than 16 bytes of room or text is used up. It returns the number of bytes written,
// and of bytes of text used.
func unescape(dst []byte, text string) (n, used int) {
	i := 0
	for i < len(text) && n <= len(dst)-16 {
		if i <= len(text)-8 {
			// Eight bytes are always written, even if fewer count.
			x := load(text, i)
			binary.LittleEndian.PutUint64(dst[n:], x)
			m := backslash(x)
			if m == 0 {
				i += 8
				n += 8
				continue
			}
			k := firstMarked(m)
			i += k
			n += k
		} else if text[i] != '\\' {
			dst[n] = text[i]
			i++
			n++
			continue
		}
		if c := simpleEscapes[text[i+1]]; c != 0 {
			dst[n] = c
			n++
			i += 2
			// Escapes often follow each other.
			for n < len(dst) && i+1 < len(text) && text[i] == '\\' && simpleEscapes[text[i+1]] != 0 {
				dst[n] = simpleEscapes[text[i+1]]
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

// decode returns the decoded text, the inside of a valid string. It allocates if
// there are escapes, so it is for rare cases.
func decode(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return decodeLong(make([]byte, 512), text, 0)
}

// decodeLong decodes text in pieces through buf. size is the length of the result,
// or 0.
func decodeLong(buf []byte, text string, size int) string {
	var b strings.Builder
	b.Grow(size)
	for len(text) > 0 {
		if size > maxDecoded {
			_ = touch(text[:min(len(buf), len(text))])
		}
		n, used := unescape(buf, text)
		b.Write(buf[:n])
		text = text[used:]
	}
	return b.String()
}

const (
	arenaChunk = 28 << 10 // the largest size that the runtime does not allocate as a large object
	arenaFirst = 1 << 10
	// Longer texts are allocated separately, so that the unused end of a chunk is
	// never more than a quarter of it.
	arenaWhole = arenaChunk / 4
)

// An Arena converts byte slices to strings with one allocation for many of them. The
// strings stay valid; one that is kept keeps up to 28 KB around it. The first chunks
// are smaller. The zero Arena is ready to use. It must not be copied after use, and
// must be used by one goroutine at a time.
type Arena struct {
	b     strings.Builder
	chunk int // size of a new chunk; 0 means four times the last one, up to arenaChunk
}

// Bytes returns a string with a copy of p.
func (a *Arena) Bytes(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b.Cap()-a.b.Len() < len(p) {
		if len(p) > arenaWhole {
			return string(p)
		}
		// A builder that never grows can return substrings of itself. The strings
		// keep the old chunk alive.
		size := a.chunk
		if size <= 0 {
			size = min(max(4*a.b.Cap(), arenaFirst), arenaChunk)
		}
		a.b.Reset()
		a.b.Grow(max(size, len(p)))
	}
	from := a.b.Len()
	a.b.Write(p)
	return a.b.String()[from:]
}
