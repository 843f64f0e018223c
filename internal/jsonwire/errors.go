package jsonwire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Reason is the rule that a document violates.
type Reason uint8

// The reasons.
const (
	Syntax        Reason = iota + 1 // not in the grammar of RFC 8259
	Empty                           // empty, or only white space
	Truncated                       // ends too early
	Trailing                        // text follows the document
	TooDeep                         // deeper than Limits.Depth
	TooManyValues                   // more values than Limits.Values
	TooLong                         // more than 2 GiB of text
	DuplicateName                   // an object has two members with the same name
	InvalidUTF8                     // a string is not valid UTF-8
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

// A SyntaxError describes an invalid document. All errors of [Parse] and [Valid]
// have this type.
//
// Offset counts bytes from 0. Line and Column count from 1. Lines end with a line
// feed. Columns count code points, or bytes where the text is not valid UTF-8. If
// parsing replaced invalid UTF-8, the positions are those in the repaired text.
type SyntaxError struct {
	Offset, Line, Column int
	Reason               Reason

	// Text is a sentence without the position. The only part of the document in it
	// is a duplicate member name: quoted as in Go, and cut at 64 bytes.
	Text string
}

// Error returns the text and the position.
func (e *SyntaxError) Error() string {
	return e.Text + " (line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ")"
}

// newError returns an error with line and column, which are computed only now.
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

// maxQuoted is the maximum length of a member name in an error, in bytes.
const maxQuoted = 64

// quoteName quotes a name for an error. Characters that are not printable are
// escaped, including line breaks and marks that change the direction of text.
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
