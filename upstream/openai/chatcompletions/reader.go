package chatcompletions

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// A StreamReader reads the streamed response of a server of this format. It is not safe for
// concurrent use.
//
// A response is complete at the end of the stream, or at its "[DONE]" event, if there
// was a finish_reason, or at "[DONE]" if there was content. A block is closed when the
// next begins, or at the end. Chunks without content and unknown members are skipped.
//
// Memory does not grow with the stream, except for tool calls whose id has not arrived.
// The reader allocates once per 32 KB of text deltas.
type StreamReader struct {
	src     io.Reader
	source  *sse.Reader // nil before the first bytes
	maxBody int64
	responseDecoder
	frame upstream.Frame
	done  bool // "[DONE]" was received
	err   error

	// The chunks since the last frame, and their size in bytes. A chunk without events belongs to
	// the next frame. So does the chunk with the finish_reason, because its stop follows at the
	// end, and what follows it.
	chunks []string
	size   int
}

// maxHeld limits the bytes of chunks that wait for events.
const maxHeld = 256 << 10

// NewStreamReader returns a reader of src, which the caller closes. The reader uses three
// limits of lim, which may be nil: Body, for the bytes of one event (default 32 MiB), Depth and Values.
func NewStreamReader(src io.Reader, lim *content.Limits) *StreamReader {
	return NewStreamReaderWith(src, codec.LimitsOf(lim), DecodeOptions{Verbatim: true})
}

// Next returns the next events of the stream, as a frame for [upstream.Writer.Frame]. The
// frame and its Events are valid until the next call; their strings and pointers remain valid.
// Next skips chunks without content.
//
// The Data of a frame is the last chunk that was received, and Preceding are the chunks before it
// since the last frame. Chunks and events do not correspond one to one: a tool call opens with its
// first arguments, and the chunk with the finish_reason is in the last frame, whose events have
// the stop. The frames of a response have no Data from the first chunk on that does not have
// exactly the meaning of its events, or belongs to one of several choices.
//
// The error is [io.EOF] after a complete response. Every other error is an [*upstream.Error]:
// the error that the server sent, or one with [upstream.CodeBadGateway] if the stream ends early
// (the error wraps [io.ErrUnexpectedEOF]), is not valid or exceeds a limit, and with
// [upstream.CodeTimeout] if a read timed out. Later calls return the same error.
func (r *StreamReader) Next() (*upstream.Frame, error) {
	for r.err == nil {
		r.reset()
		r.err = r.readEvent()
		held := false
		for r.err == nil && r.holds() {
			held = true
			before := r.contents()
			r.err = r.readEvent()
			r.altered = r.altered || r.err == nil && r.contents() != before // content after the finish_reason
		}
		if len(r.events) > 0 && (r.err == nil || r.err == io.EOF || held) {
			r.frame = upstream.Frame{Format: Format, Events: r.events}
			if n := len(r.chunks); n > 0 && !r.altered && (r.err == nil || r.err == io.EOF && r.isFinished()) {
				r.frame.Data, r.frame.Preceding = r.chunks[n-1], r.chunks[:n-1]
			}
			r.chunks, r.size = r.chunks[:0], 0
			return &r.frame, nil
		}
	}
	return nil, r.err
}

// holds reports whether the chunk with the finish_reason was read and the end follows.
func (r *StreamReader) holds() bool { return !r.altered && len(r.chunks) > 0 && r.isFinished() }

// contents returns the number of events since the last frame, without those of usage.
func (r *StreamReader) contents() (n int) {
	for i := range r.events {
		if r.events[i].Kind != upstream.EventUsage {
			n++
		}
	}
	return n
}

// keep keeps a chunk for the Data of a frame.
func (r *StreamReader) keep(data string) {
	if r.size += len(data); r.size > maxHeld {
		r.altered = true
	}
	if !r.altered {
		r.chunks = append(r.chunks, data)
	}
}

// Buffered reports whether Next returns without reading from the source. It may return
// false although Next would.
func (r *StreamReader) Buffered() bool {
	if r.err != nil {
		return true
	}
	if r.source == nil || r.holds() {
		return false
	}
	// Other events may have no content. Next would then read the following event.
	e, ok := r.source.Peek()
	return ok && e.Name == "" && r.matchesTemplate(e.Data)
}

// readEvent decodes one event of the stream.
func (r *StreamReader) readEvent() error {
	if r.source == nil {
		return r.open()
	}
	e, err := r.source.Next()
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF) && r.isFinished():
		return r.end() // some servers close the connection early
	case err != nil:
		return codec.StreamError("openai", err)
	case e.Name == "" && r.readTemplate(e.Data):
		r.keep(e.Data)
		return nil
	}
	data := strings.TrimSpace(e.Data)
	switch data {
	case "":
		return nil
	case "[DONE]":
		r.done = true
		return r.end()
	}
	if err := r.readChunk(data, e.Name == "error"); err != nil {
		return err
	}
	r.keep(data)
	return nil
}

// open looks at the beginning of the stream. A JSON document in place of events is a
// complete response or an error.
func (r *StreamReader) open() error {
	head, err := r.readHead()
	if err != nil {
		return codec.StreamError("openai", err)
	}
	rest := io.MultiReader(strings.NewReader(head), r.src)
	if text := trimStart(head); text != "" && (text[0] == '{' || text[0] == '[') {
		return r.document(rest)
	}
	// Some servers omit the empty line after the last event.
	r.source = sse.NewReader(io.MultiReader(rest, strings.NewReader("\n\n")), int(r.maxBody))
	return nil
}

// maxEmptyReads limits the reads in a row that return neither bytes nor an error.
const maxEmptyReads = 100

// readHead reads until there is more than white space.
func (r *StreamReader) readHead() (string, error) {
	var buf [512]byte
	empty := 0 // reads without bytes in a row
	for n := 0; ; {
		k, err := r.src.Read(buf[n:])
		n += k
		if empty++; k > 0 {
			empty = 0
		}
		switch {
		case trimStart(string(buf[:n])) != "" || err == io.EOF:
			return string(buf[:n]), nil
		case err != nil:
			return "", err
		case empty == maxEmptyReads:
			return "", io.ErrNoProgress
		case n == len(buf):
			n = 0 // blank lines keep the connection alive
		}
	}
}

func trimStart(s string) string {
	return strings.TrimLeft(strings.TrimPrefix(s, "\ufeff"), " \t\r\n")
}

// document decodes a complete response.
func (r *StreamReader) document(src io.Reader) error {
	text, more, err := codec.ReadText(src, -1, r.maxBody)
	switch {
	case err != nil:
		return codec.StreamError("openai", err)
	case more:
		return codec.StreamError("openai", sse.ErrTooLarge)
	}
	r.done, r.complete = true, true
	if err := r.readChunk(trimStart(text), false); err != nil {
		return err
	}
	return r.end()
}

// end handles the end of the stream.
func (r *StreamReader) end() error {
	if !r.done && !r.isFinished() {
		return codec.BadGateway(fmt.Errorf("openai: the stream ended without a finish_reason: %w", io.ErrUnexpectedEOF))
	}
	return r.finish()
}
