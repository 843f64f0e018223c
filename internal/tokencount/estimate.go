// Package tokencount guesses how many tokens something has, for upstreams that
// cannot count.
//
// Text is read once by a table of costs that does what tokenizers have in
// common: a word is about one token, however long; a capital within a word
// starts another; digits go in threes; a run of punctuation is one token and a
// line break with its indentation another; scripts with many letters cost about
// a token a character. The weights were fitted to a published tokenizer of the
// Messages vendor and rounded towards a newer public one (o200k). How far off
// it is, as measured on 484 samples of some 6 KB (estimate divided by count,
// middle four fifths of the samples):
//
//	                          Messages vendor   o200k
//	English prose             0.95-1.04         1.01-1.11
//	program code              0.90-1.05         1.00-1.19
//	JSON                      0.91-1.02         1.02-1.09
//	Chinese, Japanese         0.98-1.12         1.13-1.39
//	Russian                   0.71-0.90         0.94-1.51
//
// Newer tokenizers of the Messages vendor are said to give up to a third more
// than the published one.
package tokencount

import "math"

// One is a token in the unit of the costs.
const one = 32

// Bytes fall into classes. A byte costs by its class and that of the one
// before it, which is enough to see where words, numbers and runs begin.
const (
	lower = iota
	upper
	digit
	blank
	line // control characters: line breaks and tabs
	punct
	latin // first byte of an accented letter
	other // first byte of a letter of a small alphabet: Greek, Cyrillic, Hebrew, Arabic
	wide  // first byte of a character of three bytes
	astral
	tail // a further byte of a character
	classes
)

var (
	class = classTable()
	cost  = costTable()
)

func classTable() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = lower
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == ' ':
			t[c] = blank
		case c < ' ':
			t[c] = line
		case c < 0x80:
			t[c] = punct
		case c < 0xC0:
			t[c] = tail
		case c < 0xC9:
			t[c] = latin
		case c < 0xE0:
			t[c] = other
		case c < 0xF0:
			t[c] = wide
		default:
			t[c] = astral
		}
	}
	return t
}

// costTable is indexed by the class before, times 16, plus the class.
func costTable() (t [256]uint8) {
	for before := range classes {
		// What a byte costs where it begins something.
		copy(t[before*16:], []uint8{
			lower: one, upper: one, digit: one * 9 / 10, blank: 0, line: one * 3 / 2, punct: one,
			latin: one, other: one * 3, wide: one, astral: one * 3, tail: 0,
		})
	}
	// What it costs where it goes on with something.
	for _, m := range []struct{ before, class, cost uint8 }{
		{lower, lower, 0}, {upper, lower, 0}, {upper, upper, 1}, {tail, lower, 0}, {tail, other, 0},
		{digit, digit, one * 3 / 10}, {punct, punct, 1},
		{line, line, 0}, {line, blank, 0}, {blank, blank, 1}, {blank, line, one},
	} {
		t[m.before*16+m.class] = m.cost
	}
	return t
}

// Text estimates the tokens of a text. It reads it once and allocates nothing.
func Text(s string) int64 {
	var sum uint64
	before := uint8(line) // a text begins as if behind a line break
	for i := 0; i < len(s); i++ {
		c := class[s[i]]
		sum += uint64(cost[before<<4|c])
		before = c
	}
	return int64((sum + one - 1) / one)
}

// An image is cut into squares of 28 by 28 pixels, each a token, after it was
// shrunk to no more than 2576 pixels a side and 4784 tokens.
const (
	square   = 28
	maxSide  = 2576
	MaxImage = 4784
)

// Image returns the tokens of an image of the given size in pixels, by the
// formula that the Messages vendor documents for its newer models.
func Image(width, height int) int64 {
	if width <= 0 || height <= 0 {
		return 0
	}
	w, h := float64(width), float64(height)
	if side := max(w, h); side > maxSide {
		w, h = w*maxSide/side, h*maxSide/side
	}
	squares := func() int64 { return int64(math.Ceil(w/square) * math.Ceil(h/square)) }
	if area := w * h / (square * square); area > MaxImage {
		by := math.Sqrt(MaxImage / area)
		w, h = w*by, h*by
	}
	return min(squares(), MaxImage)
}
