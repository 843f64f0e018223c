package generatecontent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// A StreamReader reads a streamed response. It detects whether the stream consists
// of server-sent events or of a JSON array. It must not be used by several
// goroutines at once.
//
// Events are parsed as the standard for server-sent events defines. The data
// "[DONE]" is ignored. The reader accepts common deviations from the format: names in
// snake_case, an object in place of an array, counts and indices that are strings,
// arguments that are a string, and unpadded base64. It returns an error if a
// required member has the wrong type, and if the stream contains bytes that are not
// an event. Unpaired surrogates and invalid UTF-8 become U+FFFD, and this is
// reported as a loss.
//
// Memory does not grow with the stream, except for tool arguments that arrive in
// pieces. The reader allocates about once for 32 KB of text and once for 256 chunks
// with changed usage.
type StreamReader struct {
	lines     lineFilter
	sseReader *sse.Reader
	array     *array // nil unless the stream is a JSON array
	limit     int
	sawEvent  bool // an event was read

	decoder
	held  heldPieces // chunks of an incomplete tool call
	frame upstream.Frame
	ready bool // Next returns frame
	err   error
}

// NewStreamReader returns a reader of src. The caller closes src. The reader uses
// three limits of lim, which may be nil: Body, for the bytes of one event (default 32 MiB), Depth and
// Values.
func NewStreamReader(src io.Reader, lim *content.Limits) *StreamReader {
	limits := codec.LimitsOf(lim)
	r := &StreamReader{limit: sse.EventLimit(limits.Body), decoder: *newDecoder(limits)}
	r.lines.src = src
	r.sseReader = sse.NewReader(&r.lines, r.limit)
	return r
}

// Next returns the next chunk of the response and its events, ready for
// [upstream.Writer.Frame]. The frame and its events are valid until the next call of
// Next. Strings, and values that the events point to, stay valid. Chunks without
// events are skipped.
//
// The events are as follows:
//
//   - The first frame begins with an EventStart. If the chunk has usage, an
//     EventUsage follows. Usage is always the total so far.
//   - Consecutive texts of a candidate are one block, and so is consecutive thinking.
//     The block closes before another part, after its signature, and at the end. A
//     signature on an empty text belongs to the text or thinking before it, unless that
//     already has a signature.
//   - Every other part is a block that opens and closes at once. A tool call without
//     arguments has an empty object.
//   - Tool arguments that arrive in pieces are one EventInput when they are complete. If
//     they are truncated, or a piece is invalid, the final brace is missing.
//   - STOP is [content.StopToolUse] for a candidate with tool calls. A blocked prompt is
//     [content.StopSafety] with its block reason. The finishMessage and safetyRatings
//     are in the Details of the stop.
//   - Members without a field are in the Extra of the start, of a text event or of an
//     EventExtra. There, promptFeedback, modelStatus, createTime and turnToken belong
//     to the response, and all others to the candidate.
//   - Web pages in groundingMetadata that support a text are also citations of the
//     text's block, if the block is open and contains the segment. The segment is the
//     Extra of the citation.
//
// A frame has no Format if its JSON deviates from the format; clients must not receive
// its Data. The frame that completes a tool call has the preceding chunks, up to
// 16 MiB, in Preceding. If they are larger, or the tool call is incomplete, the frame
// has no Format.
//
// The error is [io.EOF] at the end of a complete response: every candidate has a
// finishReason or the prompt was blocked, and an array is closed. Every other error is
// an [*upstream.Error]. An error that the server sent has the code of its status and, if
// the client can act on it, the server's redacted message. The code is
// [upstream.CodeBadGateway] if the stream ends early (the error wraps
// [io.ErrUnexpectedEOF]) or an event exceeds the limit, and [upstream.CodeTimeout] if a
// read timed out. Later calls return the same error.
func (r *StreamReader) Next() (*upstream.Frame, error) {
	for r.err == nil && !r.ready {
		r.step()
	}
	if r.ready {
		r.ready = false
		return &r.frame, nil
	}
	return nil, r.err
}

// Buffered reports whether Next is certain to return without reading from the source.
// If not, the caller should flush its output.
func (r *StreamReader) Buffered() bool {
	switch {
	case r.err != nil || r.ready:
		return true
	case r.array != nil:
		return r.array.buffered() && (!r.array.ready || hasText(r.array.elem))
	}
	e, ok := r.sseReader.Peek()
	return ok && hasText(e.Data)
}

// hasText reports whether a chunk is certain to have a nonempty text, and thus an
// event. Next skips chunks without events and may then wait for the source.
func hasText(data string) bool {
	_, rest, _ := strings.Cut(data, `"text":`)
	rest = strings.TrimLeft(rest, " ")
	return len(rest) > 1 && rest[0] == '"' && rest[1] != '"' && !strings.Contains(rest, `"willContinue"`)
}

// step reads one event or array element. It sets frame, err, or neither.
func (r *StreamReader) step() {
	data, err := r.nextPiece()
	if err == nil && data == "" {
		return
	}
	defer r.doc.Close()
	if err == nil {
		err = r.read(data)
	}
	switch r.err = err; {
	case err != nil: // return the events of the incomplete tool call first
		r.frame, r.ready = upstream.Frame{Events: r.held.events}, len(r.held.events) > 0
	case r.inCall() && r.held.add(&r.decoder):
	case len(r.events) > 0 || len(r.held.events) > 0:
		r.deviates = r.splitCall() || r.deviates
		r.fill(&r.frame)
		r.held.release(&r.frame)
		r.ready = true
	}
}

// nextPiece returns the JSON of the next event or array element. It is empty if the
// event has no data.
func (r *StreamReader) nextPiece() (string, error) {
	if r.array != nil {
		return r.element()
	}
	e, err := r.sseReader.Next()
	switch {
	case err == nil && e.Data == "[DONE]":
		return "", nil
	case err == nil:
		r.sawEvent = true
		return e.Data, nil
	case r.lines.json != nil && err != sse.ErrTooLarge:
		r.switchToArray()
		return "", nil
	}
	return "", r.endError(err)
}

// switchToArray continues with JSON that is not in events.
func (r *StreamReader) switchToArray() {
	r.array = &array{src: r.lines.src, limit: r.limit, buf: r.lines.json}
	r.lines.json = nil
}

// element returns the next element of the array. JSON after events, and a single
// object, can only be an error.
func (r *StreamReader) element() (string, error) {
	data, err := r.array.next()
	if err != nil {
		return "", r.endError(err)
	}
	if r.sawEvent || !r.array.opened {
		defer r.doc.Close()
		if err := r.read(data); err != nil {
			return "", err
		}
		return "", codec.BadGateway(fmt.Errorf("generatecontent: the stream contains %d bytes that are not an event", len(data)))
	}
	return data, nil
}

// endError converts an error of the source to the error of Next.
func (r *StreamReader) endError(err error) error {
	switch {
	case err == io.EOF && r.isComplete():
		return io.EOF
	case err == io.EOF:
		return codec.BadGateway(fmt.Errorf("generatecontent: the stream ended without a finishReason: %w", io.ErrUnexpectedEOF))
	}
	return codec.StreamError("generatecontent", err)
}

// isComplete reports whether the response is complete.
func (d *decoder) isComplete() bool {
	for i := range d.states {
		if !d.states[i].finished {
			return d.blocked
		}
	}
	return d.blocked || len(d.states) > 0
}

// A lineFilter reads the lines of events of a stream. It stops before the first line
// that begins as JSON does: such a line begins a JSON array, or an error that is not in
// an event. No field of an event begins with a brace or bracket.
type lineFilter struct {
	src      io.Reader
	begun    bool   // leading white space and the byte order mark were read
	bomBytes int    // bytes of the byte order mark that were read
	start    bool   // at the start of a line
	json     []byte // JSON that was read, nil if the filter has not found JSON
}

const (
	byteOrderMark = "\uFEFF"
	white         = " \t\r\n"
)

// Read implements [io.Reader]. It returns [io.EOF] at the end of the source and where
// JSON begins.
func (l *lineFilter) Read(p []byte) (int, error) {
	if l.json != nil {
		return 0, io.EOF
	}
	n, err := l.src.Read(p)
	if i := l.find(p[:n]); i >= 0 {
		l.json = bytes.Clone(p[i:n])
		return i, nil
	}
	return n, err
}

// find returns the index of the first line that is JSON, or -1.
func (l *lineFilter) find(p []byte) int {
	i := 0
	for !l.begun && i < len(p) {
		switch c := p[i]; {
		case l.bomBytes < len(byteOrderMark) && c == byteOrderMark[l.bomBytes]:
			l.bomBytes++
		case strings.IndexByte(white, c) >= 0:
			l.bomBytes = len(byteOrderMark)
		default:
			l.begun, l.start = true, true
			continue
		}
		i++
	}
	feed, carriage := i-1, i-1 // the next of each; each byte is searched once
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

// next returns the index of the first c at or after i, or len(p). at is the previous
// result.
func next(p []byte, at, i int, c byte) int {
	if at >= i {
		return at
	}
	if k := bytes.IndexByte(p[i:], c); k >= 0 {
		return i + k
	}
	return len(p)
}

// An array reads the elements of a JSON array, or a single object, from a stream. It
// accepts any number of commas between elements.
type array struct {
	src   io.Reader
	limit int
	err   error // the error of src

	buf      []byte
	pos      int // buf[pos:] is unread
	scanned  int // buf[pos:scanned] is the start of an element
	depth    int
	inString bool
	escaped  bool

	opened    bool // the opening bracket was read
	ended     bool // the closing bracket was read
	tooLarge  bool
	formatErr error
	ready     bool // next returns elem
	elem      string
	arena     jsonwire.Arena
}

const (
	minBuffer     = 16 << 10
	maxIdleBuffer = 64 << 10 // larger buffers are released when they are not needed
)

// next returns the next element. The error is [io.EOF] after the end of the array,
// [io.ErrUnexpectedEOF] if the source ends earlier, [sse.ErrTooLarge], the error of the
// source, or errNotObjects.
func (a *array) next() (string, error) {
	for !a.buffered() {
		a.fill()
	}
	switch {
	case a.ready:
		a.ready = false
		return a.elem, nil
	case a.ended:
		return "", io.EOF
	case a.tooLarge:
		return "", sse.ErrTooLarge
	case a.formatErr != nil:
		return "", a.formatErr
	case a.err == io.EOF:
		return "", io.ErrUnexpectedEOF
	}
	return "", a.err
}

// buffered reports whether next returns without another read.
func (a *array) buffered() bool {
	if a.ready || a.ended || a.tooLarge || a.formatErr != nil {
		return true
	}
	if a.depth == 0 && !a.between() {
		return a.ended || a.formatErr != nil || a.err != nil
	}
	a.scan()
	if a.ready {
		return true
	}
	a.tooLarge = a.tooLarge || a.scanned-a.pos > a.limit
	return a.tooLarge || a.err != nil
}

// between skips commas and white space, and reports whether an element begins.
func (a *array) between() bool {
	for ; a.pos < len(a.buf); a.pos++ {
		switch c := a.buf[a.pos]; c {
		case ' ', '\t', '\r', '\n', ',':
			continue
		case '{':
			a.scanned = a.pos
			return true
		case '[':
			if !a.opened {
				a.opened = true
				continue
			}
		case ']':
			if a.opened {
				a.ended = true
				return false
			}
		}
		a.formatErr = errNotObjects
		return false
	}
	return false
}

var errNotObjects = errors.New("an element of the array is not an object")

// scan searches for the end of the element.
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
				if n := bytes.IndexAny(p[i:], `"\`); n >= 0 {
					i += n
				} else {
					i = len(p)
				}
			}
		case c == '"':
			a.inString = true
		case c == '{' || c == '[':
			a.depth++
		case c == '}' || c == ']':
			if a.depth--; a.depth == 0 {
				a.elem, a.ready = a.arena.Bytes(p[a.pos:i]), true
				a.pos, a.scanned = i, i
				a.tooLarge = len(a.elem) > a.limit
				a.ready = !a.tooLarge
				return
			}
		}
	}
	a.scanned = i
}

// fill reads from the source once. It sets err if the read fails.
func (a *array) fill() {
	a.compact()
	const attempts = 100 // as in package bufio
	for range attempts {
		n, err := a.src.Read(a.buf[len(a.buf):cap(a.buf)])
		a.buf = a.buf[:len(a.buf)+n]
		if a.err = err; n > 0 || err != nil {
			return
		}
	}
	a.err = io.ErrNoProgress
}

// compact moves the unread bytes to the beginning of the buffer and makes room after
// them.
func (a *array) compact() {
	rest := a.buf[a.pos:]
	a.scanned = max(a.scanned-a.pos, 0)
	switch {
	case a.buf == nil, cap(a.buf) > maxIdleBuffer && len(rest) < minBuffer/2:
		a.buf = append(make([]byte, 0, minBuffer), rest...)
	case a.pos > 0:
		a.buf = append(a.buf[:0], rest...)
	}
	a.pos = 0
	if cap(a.buf)-len(a.buf) < cap(a.buf)/4 {
		a.buf = slices.Grow(a.buf, max(len(a.buf), minBuffer))
	}
}
