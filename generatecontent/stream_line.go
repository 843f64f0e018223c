package generatecontent

import (
	"bytes"
	"slices"
)

// separator is how Unicode's two separators of lines begin. The one is a bit
// away from the other.
const (
	separator     = "\xe2\x80"
	lineSeparator = 0xa8
)

// oneLine escapes these separators in the events behind from. JSON allows them
// as they are, but the parser that agents bundle ends a line there, and the
// whole answer with it.
func (s *stream) oneLine(dst []byte, from int) []byte {
	if s.framing != inEvents {
		return dst
	}
	count := 0
	for rest := dst[from:]; ; {
		i := bytes.Index(rest, []byte(separator))
		if i < 0 {
			break
		}
		rest = rest[i+len(separator):]
		if len(rest) > 0 && rest[0]&^1 == lineSeparator {
			count++
		}
	}
	if count == 0 {
		return dst
	}
	// From the end on, each byte moves once.
	i, to := len(dst), len(dst)+3*count
	dst = slices.Grow(dst, 3*count)[:to]
	for i < to {
		if i-3 >= from && string(dst[i-3:i-1]) == separator && dst[i-1]&^1 == lineSeparator {
			digit := '8' + dst[i-1]&1
			i, to = i-3, to-6
			copy(dst[to:], `\u202`)
			dst[to+5] = digit
			continue
		}
		i, to = i-1, to-1
		dst[to] = dst[i]
	}
	return dst
}
