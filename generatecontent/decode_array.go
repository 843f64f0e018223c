package generatecontent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/sse"
)

// A lines passes a stream on as long as it has lines of events, and stops in
// front of the first line that begins as JSON does: an array that is the whole
// stream, or an error that stands there without its framing. No field of an
// event begins with a brace.
type lines struct {
	src   io.Reader
	begun bool   // the beginning is over, where spaces and a byte order mark may stand
	mark  int    // bytes of the byte order mark
	start bool   // a line begins
	rest  []byte // from the JSON on, as far as it was read; nil if there is none
}

const (
	byteOrderMark = "\uFEFF"
	white         = " \t\r\n"
)

// Read implements [io.Reader]. The end is that of the source, or that JSON
// begins.
func (l *lines) Read(p []byte) (int, error) {
	if l.rest != nil {
		return 0, io.EOF
	}
	n, err := l.src.Read(p)
	if i := l.find(p[:n]); i >= 0 {
		l.rest = bytes.Clone(p[i:n])
		return i, nil
	}
	return n, err
}

// find returns where a line begins that is JSON, -1 if there is none.
func (l *lines) find(p []byte) int {
	i := 0
	for !l.begun && i < len(p) {
		switch c := p[i]; {
		case l.mark < len(byteOrderMark) && c == byteOrderMark[l.mark]:
			l.mark++
		case strings.IndexByte(white, c) >= 0:
			l.mark = len(byteOrderMark)
		default:
			l.begun, l.start = true, true
			continue
		}
		i++
	}
	feed, carriage := i-1, i-1 // the next of each; both are looked for once
	for i < len(p) {
		if l.start && (p[i] == '{' || p[i] == '[') {
			return i
		}
		feed, carriage = next(p, feed, i, '\n'), next(p, carriage, i, '\r')
		i = min(feed, carriage) + 1
		l.start = i <= len(p)
	}
	return -1
}

// next returns where the next c is from i on, len(p) if there is none. at is
// where the last one was.
func next(p []byte, at, i int, c byte) int {
	if at >= i {
		return at
	}
	if k := bytes.IndexByte(p[i:], c); k >= 0 {
		return i + k
	}
	return len(p)
}

// An array reads the elements of a JSON array, which come in pieces of any
// size, or a single object. Between elements there are commas and white space;
// how many commas does not matter.
type array struct {
	src   io.Reader
	limit int
	err   error // what src ended with

	buf      []byte
	pos      int // buf[pos:] is not used yet
	scanned  int // buf[pos:scanned] is the beginning of an element
	depth    int
	inString bool
	escaped  bool

	within bool // the bracket was read
	over   bool // the end was
	large  bool
	bad    error
	ready  bool // elem is the next
	elem   string
	arena  jsonwire.Arena
}

const (
	firstRead = 16 << 10
	keptRead  = 64 << 10 // what grew beyond this is given up once it is not needed
)

// next returns the next element. The error is [io.EOF] behind the array's end,
// [io.ErrUnexpectedEOF] if the source ends before it, [sse.ErrTooLarge], the
// error of the source, or that there is something else than objects.
func (a *array) next() (string, error) {
	for !a.buffered() {
		a.fill()
	}
	switch {
	case a.ready:
		a.ready = false
		return a.elem, nil
	case a.over:
		return "", io.EOF
	case a.large:
		return "", sse.ErrTooLarge
	case a.bad != nil:
		return "", a.bad
	case a.err == io.EOF:
		return "", io.ErrUnexpectedEOF
	}
	return "", a.err
}

// buffered reports whether next has something to return without another read.
func (a *array) buffered() bool {
	if a.ready || a.over || a.large || a.bad != nil {
		return true
	}
	if a.depth == 0 && !a.between() {
		return a.over || a.bad != nil || a.err != nil
	}
	a.scan()
	if a.ready {
		return true
	}
	a.large = a.large || a.scanned-a.pos > a.limit
	return a.large || a.err != nil
}

// between passes over what stands between elements, and reports whether an
// element begins.
func (a *array) between() bool {
	for ; a.pos < len(a.buf); a.pos++ {
		switch c := a.buf[a.pos]; c {
		case ' ', '\t', '\r', '\n', ',':
			continue
		case '{':
			a.scanned = a.pos
			return true
		case '[':
			if !a.within {
				a.within = true
				continue
			}
		case ']':
			if a.within {
				a.over = true
				return false
			}
		}
		a.bad = errNoObject
		return false
	}
	return false
}

var errNoObject = errors.New("the elements of the array are not all objects")

// scan looks for the end of the element.
func (a *array) scan() {
	p, i := a.buf, a.scanned
	for i < len(p) {
		c := p[i]
		i++
		switch {
		case a.escaped:
			a.escaped = false
		case a.inString:
			switch c {
			case '"':
				a.inString = false
			case '\\':
				a.escaped = true
			default:
				i += plainBytes(p[i:])
			}
		case c == '"':
			a.inString = true
		case c == '{' || c == '[':
			a.depth++
		case c == '}' || c == ']':
			if a.depth--; a.depth == 0 {
				a.elem, a.ready = a.arena.Bytes(p[a.pos:i]), true
				a.pos, a.scanned = i, i
				a.large = len(a.elem) > a.limit
				a.ready = !a.large
				return
			}
		}
	}
	a.scanned = i
}

// plainBytes returns how many bytes within a string need no look, in steps: a
// string with very many escapes must not be searched to its end for each.
func plainBytes(p []byte) int {
	const step = 128
	n := 0
	for {
		w := p[n:min(n+step, len(p))]
		if i := bytes.IndexByte(w, '"'); i >= 0 {
			w = w[:i]
		}
		if i := bytes.IndexByte(w, '\\'); i >= 0 {
			return n + i
		}
		if n += len(w); len(w) < step {
			return n
		}
	}
}

// fill reads once. What it reads, or an error, is in the array then.
func (a *array) fill() {
	a.compact()
	const attempts = 100 // as many as bufio allows a source that gives nothing
	for range attempts {
		n, err := a.src.Read(a.buf[len(a.buf):cap(a.buf)])
		a.buf = a.buf[:len(a.buf)+n]
		if a.err = err; n > 0 || err != nil {
			return
		}
	}
	a.err = io.ErrNoProgress
}

// compact moves what is not used yet to the beginning of a buffer that has room
// behind it.
func (a *array) compact() {
	rest := a.buf[a.pos:]
	a.scanned = max(a.scanned-a.pos, 0)
	switch {
	case a.buf == nil, cap(a.buf) > keptRead && len(rest) < firstRead/2:
		a.buf = append(make([]byte, 0, firstRead), rest...)
	case a.pos > 0:
		a.buf = append(a.buf[:0], rest...)
	}
	a.pos = 0
	if cap(a.buf)-len(a.buf) < cap(a.buf)/4 {
		a.buf = slices.Grow(a.buf, max(len(a.buf), firstRead))
	}
}

// unframed returns what a single element that stands in a stream of events
// without their framing is.
func unframed(text string) error {
	return codec.BadGateway(fmt.Errorf("generatecontent: %d bytes that are no event stand in the stream", len(text)))
}
