// Package sse reads event streams as the WHATWG standard defines them
// (server-sent events).
package sse

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/polywire/polywire/internal/jsonwire"
)

// Limit returns how many bytes one event may have where a host says n: 32 MiB
// if that is none, and never more than 2 GiB.
func Limit(n int64) int {
	if n <= 0 {
		n = 32 << 20
	}
	return int(min(n, math.MaxInt32))
}

// ErrTooLarge is what a Reader returns for an event over its limit.
var ErrTooLarge = errors.New("sse: an event is over the limit")

// An Event is one event of a stream. Its strings are valid for ever.
type Event struct {
	Name string // of the last "event" field; empty if there was none, which the standard calls "message"
	Data string // the "data" fields, joined by LF
}

const (
	firstBuffer = 1 << 10  // of a stream that brings little at once
	usualBuffer = 16 << 10 // of all others
	keepBuffer  = 32 << 10 // what grew beyond this is given up once it is not needed
	maxName     = 64       // longer names are not remembered

	byteOrderMark = "\uFEFF"
)

// A Reader reads the events of a stream. It is for one goroutine at a time.
//
// Lines end with LF, CR or CRLF. A byte order mark at the beginning, comments
// and fields other than "event" and "data" are skipped, "id" and "retry" among
// them, since nothing here reconnects; so are events without a "data" field.
// Bytes are handed on as they came, UTF-8 or not.
//
// It allocates once for about 32 KB of data; one of more than 8 KB gets memory
// of its own.
type Reader struct {
	src   io.Reader
	limit int
	err   error // what src ended with
	over  bool  // an event is over the limit

	buf      []byte // what was read; buf[pos:] is not used yet
	pos      int
	feed     int  // there is no LF in buf[pos:feed]
	searched int  // there is no CR in buf[pos:searched]
	begun    bool // the first line is over
	skipFeed bool // the last line ended with CR: an LF that follows belongs to it

	// Of the event that is being read.
	size   int    // bytes of its lines
	fields bool   // it has a line that is no comment
	lines  int    // of data
	span   []byte // its only data, still in buf
	data   []byte // else all of its data
	name   string

	ready  bool // next is an event that Buffered has found
	next   Event
	names  [8]string // seen lately
	oldest int
	arena  jsonwire.Arena
}

// NewReader returns a reader of src. limit is how many bytes the lines of one
// event may have, comments and line ends not counted, and how long a comment
// may be; see [Limit].
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: Limit(int64(limit))}
}

// Next returns the next event, as soon as the empty line that ends it has
// come.
//
// The error is [io.EOF] where the stream ends between two events,
// [io.ErrUnexpectedEOF] where it ends within one, which is then lost as the
// standard demands, [ErrTooLarge], or the error of the source. It stays the
// same from then on.
func (r *Reader) Next() (Event, error) {
	for !r.Buffered() {
		r.fill()
	}
	if r.ready {
		r.ready = false
		return r.next, nil
	}
	return Event{}, r.end()
}

// Buffered reports whether Next has something to return without another read,
// be it an event or an error.
func (r *Reader) Buffered() bool {
	for !r.ready && !r.over {
		line, ok := r.line()
		if !ok {
			return r.err != nil
		}
		r.ready = r.take(line)
	}
	return true
}

// Peek returns the event that Next will return, if that takes no read.
func (r *Reader) Peek() (Event, bool) {
	if r.Buffered() && r.ready {
		return r.next, true
	}
	return Event{}, false
}

// end returns why there are no more events.
func (r *Reader) end() error {
	rest := r.buf[r.pos:]
	if !r.begun {
		rest = bytes.TrimPrefix(rest, []byte(byteOrderMark))
	}
	switch {
	case r.over:
		return ErrTooLarge
	case r.err != io.EOF:
		return r.err
	case r.fields, len(rest) > 0 && rest[0] != ':':
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// line returns the next line without its end, if all of it has been read.
func (r *Reader) line() ([]byte, bool) {
	if r.skipFeed && r.pos < len(r.buf) {
		r.skipFeed = false
		if r.buf[r.pos] == '\n' {
			r.pos++
		}
	}
	// Both searches go on where they stopped, or one long line that comes in
	// small pieces, or many that end with CR, would be searched again and
	// again.
	r.feed = max(r.feed, r.pos)
	if r.feed < len(r.buf) && r.buf[r.feed] != '\n' {
		if i := bytes.IndexByte(r.buf[r.feed:], '\n'); i >= 0 {
			r.feed += i
		} else {
			r.feed = len(r.buf)
		}
	}
	r.searched = max(r.searched, r.pos)
	if r.searched < r.feed {
		if i := bytes.IndexByte(r.buf[r.searched:r.feed], '\r'); i >= 0 {
			r.skipFeed = true
			return r.cut(r.searched + i), true
		}
		r.searched = r.feed
	}
	if r.feed == len(r.buf) {
		return nil, false
	}
	return r.cut(r.feed), true
}

// cut takes the line that ends at the index end, and its line end.
func (r *Reader) cut(end int) []byte {
	line := r.buf[r.pos:end]
	r.pos = end + 1
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	return line
}

// take deals with a line and reports whether it completes an event.
func (r *Reader) take(line []byte) bool {
	if len(line) == 0 {
		return r.dispatch()
	}
	if line[0] == ':' {
		return false
	}
	r.fields = true
	if r.size += len(line); r.size > r.limit {
		r.over = true
		return false
	}
	value := line[len(line):]
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		line, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(line) {
	case "event":
		r.name = r.intern(value)
	case "data":
		r.add(value)
	}
	return false
}

// add adds a line of data.
func (r *Reader) add(value []byte) {
	r.lines++
	if r.lines == 1 {
		r.span = value
		return
	}
	r.settle()
	r.data = append(append(r.data, '\n'), value...)
}

// settle copies data that is still in the buffer.
func (r *Reader) settle() {
	if r.span != nil {
		r.data = append(r.data, r.span...)
		r.span = nil
	}
}

// dispatch ends an event and reports whether there is one.
func (r *Reader) dispatch() bool {
	found := r.lines > 0
	switch {
	case r.span != nil:
		r.next = Event{Name: r.name, Data: r.arena.Bytes(r.span)}
	case found:
		r.next = Event{Name: r.name, Data: r.arena.Bytes(r.data)}
	}
	if cap(r.data) > keepBuffer {
		r.data = nil
	}
	r.size, r.fields, r.lines = 0, false, 0
	r.span, r.data, r.name = nil, r.data[:0], ""
	return found
}

// intern returns name as a string, mostly one that was seen before.
func (r *Reader) intern(name []byte) string {
	for _, s := range r.names {
		if s == string(name) {
			return s
		}
	}
	s := r.arena.Bytes(name)
	if len(s) <= maxName {
		r.names[r.oldest] = s
		r.oldest = (r.oldest + 1) % len(r.names)
	}
	return s
}

// fill reads once. What it reads, or an error, is in the Reader then.
func (r *Reader) fill() {
	r.settle()
	r.compact()
	rest := r.buf
	if len(rest) > 0 && rest[0] != ':' && r.size+len(rest) > r.limit || len(rest) > r.limit {
		r.over = true
		return
	}
	const attempts = 100 // as many as bufio allows a source that gives nothing
	for range attempts {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// compact moves what is not used yet to the beginning of a buffer that has
// room behind it.
func (r *Reader) compact() {
	rest := r.buf[r.pos:]
	switch {
	case r.buf == nil:
		r.buf = make([]byte, 0, firstBuffer)
	case len(r.buf) == cap(r.buf) && cap(r.buf) < usualBuffer: // there may be more where this came from
		r.buf = append(make([]byte, 0, 4*cap(r.buf)), rest...)
	case cap(r.buf) > keepBuffer && len(rest) < usualBuffer/2:
		r.buf = append(make([]byte, 0, usualBuffer), rest...)
	case len(rest) > cap(r.buf)/2:
		r.buf = append(make([]byte, 0, 2*cap(r.buf)), rest...)
	case r.pos > 0:
		r.buf = r.buf[:copy(r.buf, rest)]
	}
	r.feed = max(r.feed-r.pos, 0)
	r.searched = max(r.searched-r.pos, 0)
	r.pos = 0
}
