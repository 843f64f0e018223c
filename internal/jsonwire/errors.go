package jsonwire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Reason says which rule a document breaks.
type Reason uint8

// The reasons for which a document is refused.
const (
	Syntax        Reason = iota + 1 // not the grammar of RFC 8259
	Empty                           // nothing, or nothing but white space
	Truncated                       // the end comes too early
	Trailing                        // something follows the document
	TooDeep                         // more nesting than Limits.Depth
	TooManyValues                   // more values than Limits.Values
	TooLong                         // more than 2 GiB of text
	DuplicateName                   // an object has two members of one name
	InvalidUTF8                     // a string is not UTF-8
	LoneSurrogate                   // an escape is half of a surrogate pair
	ByteOrderMark                   // the text begins with a byte order mark
)

// String returns a short name of the reason, for logs.
func (r Reason) String() string {
	switch r {
	case Syntax:
		return "syntax"
	case Empty:
		return "empty"
	case Truncated:
		return "truncated"
	case Trailing:
		return "trailing text"
	case TooDeep:
		return "too deep"
	case TooManyValues:
		return "too many values"
	case TooLong:
		return "too long"
	case DuplicateName:
		return "duplicate name"
	case InvalidUTF8:
		return "invalid UTF-8"
	case LoneSurrogate:
		return "lone surrogate"
	case ByteOrderMark:
		return "byte order mark"
	}
	return "none"
}

// A SyntaxError says why and where a document was refused. It is the type of
// every error that [Parse] and [Valid] return.
//
// Offset counts bytes from 0. Line and Column count from 1; a line ends with a
// line feed, and a column is one code point (a byte, where the text is not
// UTF-8). If lenient parsing has repaired the document, they speak of the
// repaired text.
type SyntaxError struct {
	Offset, Line, Column int
	Reason               Reason

	// Text is a sentence of this package without the place. The only thing in
	// it that comes from the document is the name that occurs twice: quoted as
	// in Go, without line breaks or control characters, and cut at 64 bytes.
	Text string
}

// Error returns the text and the place.
func (e *SyntaxError) Error() string {
	return e.Text + " (line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ")"
}

// newError works out line and column, which nothing needs before.
func newError(src string, at int, r Reason, text string) *SyntaxError {
	before := src[:at]
	return &SyntaxError{
		Offset: at,
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
		Reason: r,
		Text:   text,
	}
}

// maxQuoted is the number of bytes of a name that an error repeats.
const maxQuoted = 64

// quoteName quotes a name for an error. What is not printable, line breaks and
// the marks that turn the direction of text included, comes out escaped.
func quoteName(name string) string {
	if len(name) <= maxQuoted {
		return strconv.Quote(name)
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strconv.Quote(name[:cut]) + "…"
}
