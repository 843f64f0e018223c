package jsonwire

import "math/bits"

// The scanners look at eight bytes at a time, as one word with the first byte
// lowest. The masks they get have the top bit of a byte set where it is of the
// wanted kind. Above the lowest such byte a mask may be wrong, since a borrow
// can run upwards; everyone looks at the lowest only.
const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load returns the eight bytes at s[i:]. The compiler makes one load of it.
func load(s string, i int) uint64 {
	t := s[i : i+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// special marks the bytes that plain text in a string may not hold: quotes,
// backslashes and control characters. Flipping bit 1 puts the quote (0x22)
// right behind the control characters, and the two after them behind it.
func special(x uint64) uint64 {
	return (((x ^ 0x02*lows) - 0x21*lows) | ((x ^ '\\'*lows) - lows)) & ^x & highs
}

// backslash marks the backslashes.
func backslash(x uint64) uint64 {
	return ((x ^ '\\'*lows) - lows) & ^x & highs
}

// first returns the index of the lowest marked byte of a mask that is not 0.
func first(mask uint64) int {
	return bits.TrailingZeros64(mask) >> 3
}

// below returns the top bits of the bytes below the lowest marked one.
func below(mask uint64) uint64 {
	return (mask & -mask) - 1
}
