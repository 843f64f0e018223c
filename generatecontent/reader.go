package generatecontent

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

// A StreamReader reads a streamed answer, as a server of this format sends it:
// as server-sent events or as a JSON array, which it sees for itself. It is for
// one goroutine at a time.
//
// Line ends, comments, byte order marks, fields other than data and splits are
// dealt with as the standard of event streams says; "[DONE]" says nothing. The
// elements of an array may be split anywhere. Deviations are read as far as
// they make sense: names in snake_case, one object for a list, counts and
// indices that are strings, arguments that are a string, unpadded base64. A
// member with a value of the wrong type that the response is nothing without is an
// error, and so are bytes that are not an event, as errors of other servers are
// sent. Half surrogate pairs and bytes that are not
// UTF-8 become U+FFFD, which is a loss.
//
// Memory does not grow with the stream, but for arguments of a call that come in
// pieces. It allocates once for about 32 KB of texts, and once for 256 chunks
// whose usage is a new one.
type StreamReader struct {
	lines  lines
	source *sse.Reader
	array  *array // once the stream turned out to be one
	limit  int
	some   bool // there was an event

	decoder
	held  heldPieces // the pieces of a call, until it is whole
	frame upstream.Frame
	ahead bool // the frame is the next
	err   error
}

// NewStreamReader returns a reader of src, which stays the caller's to close.
// Of lim count Body, for the bytes of one event (0 means 32 MiB), Depth and
// Values.
func NewStreamReader(src io.Reader, lim content.Limits) *StreamReader {
	r := &StreamReader{limit: sse.EventLimit(lim.Body), decoder: *newDecoder(lim)}
	r.lines.src = src
	r.source = sse.NewReader(&r.lines, r.limit)
	return r
}

// Next returns the next piece of the answer and what it means, ready for
// [upstream.Writer.Frame]. The frame and its events are good until the next
// call; strings and what the events point at are so for
// ever. Pieces that say nothing are passed over.
//
// The first frame begins with an EventStart and, if it has usage, an EventUsage
// right behind it. Texts and thoughts of a candidate that follow each other are
// one block; it is closed when something else comes, when it is signed and at
// the end. A signature on an empty text is that of the text or thought before
// it, if that has none. Calls, files and all other parts are blocks that open
// whole and close at once; a call among them that has no arguments has an empty
// object. Arguments of a call that come in pieces are one EventInput, once they
// are whole; those that were cut, or of which a piece cannot be read, lack the
// brace at their end. Usage is always the total so far. STOP is
// [content.StopToolUse] for a candidate with calls. A blocked prompt is
// [content.StopSafety] with the word that says why; its promptFeedback, and all
// else that has no field, is the Extra of the start, of a text's event, or of
// an EventExtra: promptFeedback, modelStatus, createTime and turnToken in it
// are members of the response, all others of the candidate. What
// groundingMetadata says of pages that support a text is told besides as
// citations of the text's block, with the segment it is about as Extra, if the
// block is still open and has that segment. finishMessage and
// safetyRatings at the end are in the stop, as Details and as Extra. A frame
// that clients should not be shown as it stands, because it deviates from the
// format, has no Format. The frame of a call's last piece has the others, and what came
// between them, in Before: nothing of it is returned earlier, up to 16 MiB. Beyond
// that, and if the call is not whole, the frame has no Format.
//
// The error is [io.EOF] at the end of the stream, if every candidate has said
// why it ended, or the prompt was blocked, and if an array was closed: only
// then is the answer whole. Every other error is an [*upstream.Error]. One that
// the server sent, in whatever framing, has the code of its status and, if it
// is the request's fault or a matter of rates, the server's words, cleaned. A
// stream that ends too early or an event over the limit has
// [upstream.CodeBadGateway] ([io.ErrUnexpectedEOF] is in the chain of the
// former), a read that timed out [upstream.CodeTimeout]. The error stays the
// same from then on.
func (r *StreamReader) Next() (*upstream.Frame, error) {
	for r.err == nil && !r.ahead {
		r.step()
	}
	if r.ahead {
		r.ahead = false
		return &r.frame, nil
	}
	return nil, r.err
}

// Buffered reports whether Next will return without waiting for the source. If
// not, it is time to flush. It changes nothing, and may say no where it could
// say yes.
func (r *StreamReader) Buffered() bool {
	switch {
	case r.err != nil || r.ahead:
		return true
	case r.array != nil:
		return r.array.buffered() && (!r.array.ready || speaks(r.array.elem))
	}
	e, ok := r.source.Peek()
	return ok && speaks(e.Data)
}

// speaks reports whether a piece is certain to say something: one that says
// nothing is passed over, and what comes behind it may be waited for. A text
// that is not empty is the one thing that streams are full of.
func speaks(data string) bool {
	_, rest, _ := strings.Cut(data, `"text":`)
	rest = strings.TrimLeft(rest, " ")
	return len(rest) > 1 && rest[0] == '"' && rest[1] != '"' && !strings.Contains(rest, `"willContinue"`)
}

// step reads one event or element. It leaves a frame, an error, or neither.
func (r *StreamReader) step() {
	data, err := r.piece()
	if err == nil && data == "" {
		return
	}
	defer r.doc.Close()
	if err == nil {
		err = r.read(data)
	}
	switch r.err = err; {
	case err != nil: // after what is known of the call
		r.frame, r.ahead = upstream.Frame{Events: r.held.events}, len(r.held.events) > 0
	case r.inCall() && r.held.add(&r.decoder):
	case len(r.events) > 0 || len(r.held.events) > 0:
		r.odd = r.split() || r.odd
		r.fill(&r.frame)
		r.held.release(&r.frame)
		r.ahead = true
	}
}

// piece returns the JSON of the next event or element; none if there is nothing
// in it.
func (r *StreamReader) piece() (string, error) {
	if r.array != nil {
		return r.element()
	}
	e, err := r.source.Next()
	switch {
	case err == nil && e.Data == "[DONE]":
		return "", nil
	case err == nil:
		r.some = true
		return e.Data, nil
	case r.lines.rest != nil && err != sse.ErrTooLarge:
		r.unframe()
		return "", nil
	}
	return "", r.end(err)
}

// unframe goes on with JSON that has no framing.
func (r *StreamReader) unframe() {
	r.array = &array{src: r.lines.src, limit: r.limit, buf: r.lines.rest}
	r.lines.rest = nil
}

// element returns the next element of an array. Where that is not the whole
// stream, it can only be an error.
func (r *StreamReader) element() (string, error) {
	data, err := r.array.next()
	if err != nil {
		return "", r.end(err)
	}
	if r.some || !r.array.within {
		defer r.doc.Close()
		if err := r.read(data); err != nil {
			return "", err
		}
		return "", unframed(data)
	}
	return data, nil
}

// end says what the end of a stream means.
func (r *StreamReader) end(err error) error {
	var timeout interface{ Timeout() bool }
	switch {
	case err == io.EOF && r.complete():
		return io.EOF
	case err == io.EOF:
		return codec.BadGateway(fmt.Errorf("generatecontent: the stream ended without a reason to: %w", io.ErrUnexpectedEOF))
	case errors.As(err, &timeout) && timeout.Timeout():
		return &upstream.Error{Code: upstream.CodeTimeout, Err: fmt.Errorf("generatecontent: reading the stream: %w", err)}
	}
	return codec.BadGateway(fmt.Errorf("generatecontent: reading the stream: %w", err))
}

// complete reports whether the answer is whole.
func (d *decoder) complete() bool {
	for i := range d.answers {
		if !d.answers[i].finished {
			return d.blocked
		}
	}
	return d.blocked || len(d.answers) > 0
}
