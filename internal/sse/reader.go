// Package sse reads server-sent events as specified by the WHATWG.
package sse

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/polywire/polywire/internal/jsonwire"
)

// EventLimit returns the limit of one event for a configured limit n: 32 MiB if n is
// not positive, and at most 2 GiB.
func EventLimit(n int64) int {
	if n <= 0 {
		n = 32 << 20
	}
	return int(min(n, math.MaxInt32))
}

// ErrTooLarge is the error for an event that exceeds the limit of its Reader.
var ErrTooLarge = errors.New("sse: an event is over the limit")

// An Event is one event of a stream. Its strings stay valid.
type Event struct {
	Name string // the last "event" field, or "", for which the standard uses "message"
	Data string // the "data" fields, joined by LF
}

const (
	firstBuffer = 1 << 10  // for streams with little data
	usualBuffer = 16 << 10 // for all others
	keepBuffer  = 32 << 10 // a larger buffer is released when it is no longer needed
	maxName     = 64       // longer names are not cached

	byteOrderMark = "\uFEFF"
)

// A Reader reads the events of a stream. It must be used by one goroutine at a time.
//
// Lines end with LF, CR or CRLF. The Reader skips a byte order mark at the
// beginning, comments, events without a "data" field, and fields other than "event"
// and "data": it does not reconnect, so it needs neither "id" nor "retry". It does
// not validate UTF-8.
//
// It allocates once for about 32 KB of data. An event of more than 8 KB is allocated
// separately.
type Reader struct {
	src   io.Reader
	limit int
	err   error // the error that ended src
	over  bool  // an event exceeds the limit

	buf      []byte // read bytes; buf[pos:] is unused
	pos      int
	feed     int  // there is no LF in buf[pos:feed]
	searched int  // there is no CR in buf[pos:searched]
	begun    bool // the first line was read
	skipFeed bool // the last line ended with CR: a following LF belongs to it

	// State of the current event.
	size   int    // bytes of its lines
	fields bool   // it has a line that is not a comment
	lines  int    // number of data lines
	span   []byte // its only data line, still in buf
	data   []byte // otherwise its data so far
	name   string

	ready  bool // next holds an event
	next   Event
	names  [8]string // recently seen
	oldest int
	arena  jsonwire.Arena
}

// NewReader returns a Reader of src. limit bounds the lines of one event in bytes,
// without comments and line ends, and the length of a comment: see [EventLimit].
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: EventLimit(int64(limit))}
}

// Next returns the next event as soon as the empty line that ends it was read.
//
// The error is [io.EOF] if the stream ends between events, [io.ErrUnexpectedEOF] if
// it ends within an event, which the standard discards, [ErrTooLarge], or the error
// of the source. Later calls return the same error.
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

// Buffered reports whether Next would return without a read.
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

// Peek returns the next event if that needs no read.
func (r *Reader) Peek() (Event, bool) {
	if r.Buffered() && r.ready {
		return r.next, true
	}
	return Event{}, false
}

// end returns the error after the last event.
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

// line returns the next line without its end, if it was read completely.
func (r *Reader) line() ([]byte, bool) {
	if r.skipFeed && r.pos < len(r.buf) {
		r.skipFeed = false
		if r.buf[r.pos] == '\n' {
			r.pos++
		}
	}
	// Both searches resume where they stopped. Otherwise a long line in small
	// pieces, or many lines that end with CR, would be searched repeatedly.
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

// cut consumes the line that ends at index end, with its line end.
func (r *Reader) cut(end int) []byte {
	line := r.buf[r.pos:end]
	r.pos = end + 1
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
	return line
}

// take processes a line and reports whether it completes an event.
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

// add adds a data line.
func (r *Reader) add(value []byte) {
	r.lines++
	if r.lines == 1 {
		r.span = value
		return
	}
	r.settle()
	r.data = append(append(r.data, '\n'), value...)
}

// settle copies a data line that is still in the buffer.
func (r *Reader) settle() {
	if r.span != nil {
		r.data = append(r.data, r.span...)
		r.span = nil
	}
}

// dispatch ends an event and reports whether it has data.
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

// intern returns name as a string, usually a cached one.
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

// fill reads once, and records an error.
func (r *Reader) fill() {
	r.settle()
	r.compact()
	rest := r.buf
	if len(rest) > 0 && rest[0] != ':' && r.size+len(rest) > r.limit || len(rest) > r.limit {
		r.over = true
		return
	}
	const attempts = 100 // as in package bufio
	for range attempts {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// compact moves the unused bytes to the beginning of a buffer with room for more.
func (r *Reader) compact() {
	rest := r.buf[r.pos:]
	switch {
	case r.buf == nil:
		r.buf = make([]byte, 0, firstBuffer)
	case len(r.buf) == cap(r.buf) && cap(r.buf) < usualBuffer: // the source probably has more data
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
