package messages

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

// A StreamReader reads a streamed answer, as a server of this format sends it.
// It is for one goroutine at a time.
//
// Line ends, comments, byte order marks and splits are dealt with as the
// standard of event streams says. An event's type is that of its JSON, its name
// where there is none. Deviations are read as far as they make sense: no name,
// no message_start, an index that is missing, a member that is missing, several
// message_delta, a block that is never stopped. Everything else is an error: an
// event for a block that is not open, a delta that does not suit its block, a
// member with a value of the wrong type that the event is nothing without, invalid
// JSON. Half surrogate pairs and bytes
// that are not UTF-8 become U+FFFD, which is a loss.
//
// Memory does not grow with the stream. It allocates once for about 32 KB of
// text deltas.
type StreamReader struct {
	source *sse.Reader
	decoder
	frame upstream.Frame
	err   error
}

// NewStreamReader returns a reader of src, which stays the caller's to close.
// Of lim count Body, for the bytes of one event (0 means 32 MiB), Depth and
// Values.
func NewStreamReader(src io.Reader, lim content.Limits) *StreamReader {
	r := &StreamReader{source: sse.NewReader(src, sse.EventLimit(lim.Body))}
	r.init(lim)
	return r
}

// Next returns the next event of the stream and what it means, ready for
// [upstream.Writer.Frame]. The frame and its events are good until the next
// call; strings and what the events point at are so for ever. Events that say
// nothing, such as pings, are passed over.
//
// Blocks have the indices of the stream. A message_start becomes an EventStart
// and, right behind it, an EventUsage; usage is always the total so far. Events
// of a kind that is not known become an EventExtra, such deltas an
// EventBlockExtra, with the event's name and all of its data; of data that is no
// object there is only the frame. A frame that clients should not be shown as
// it stands, because it deviates from the format, has no Format.
//
// The error is [io.EOF] after message_stop: only then is the answer whole, and
// what the source holds behind is not read. Every other error is an
// [*upstream.Error]. One that the server sent has the code of its type and, if
// it is the request's fault or a matter of rates, the server's words, cleaned.
// A stream that ends without message_stop or an event over the limit has
// [upstream.CodeBadGateway] ([io.ErrUnexpectedEOF] is in the chain of the
// former), a read that timed out [upstream.CodeTimeout]. The error stays the
// same from then on.
func (r *StreamReader) Next() (*upstream.Frame, error) {
	for r.err == nil {
		e, err := r.source.Next()
		if err != nil {
			r.err = broken(err)
			break
		}
		r.err = r.read(e)
		if len(r.frame.Events) > 0 && (r.err == nil || r.err == io.EOF) {
			return &r.frame, nil
		}
	}
	return nil, r.err
}

// Buffered reports whether Next will return without waiting for the source. If
// not, it is time to flush. It may say no where it could say yes.
func (r *StreamReader) Buffered() bool {
	if r.err != nil {
		return true
	}
	// Anything else may say nothing, and Next would go on to the next event.
	e, ok := r.source.Peek()
	return ok && strings.HasPrefix(e.Name, "content_block_") && e.Data != ""
}

// read reads one event into the frame, which has no events if it says nothing.
func (r *StreamReader) read(e sse.Event) error {
	r.frame.Events = r.frame.Events[:0]
	if e.Data == "" || e.Name == "ping" || e.Name == "" && e.Data == "[DONE]" {
		return nil
	}
	defer r.doc.Close()
	if (e.Name == "" || e.Name == "content_block_delta") && r.quick(e.Data) {
		r.frame.Format, r.frame.Name, r.frame.Data, r.frame.Events = Format, "content_block_delta", e.Data, r.events
		return nil
	}
	if err := r.parse(e.Data); err != nil {
		return codec.BadGateway(err)
	}
	root := r.doc.Root()
	kind := e.Name
	if t := root.Get("type").Str(); t != "" && kind != "error" {
		kind = t
	}
	switch kind {
	case "ping":
		return nil
	case "error":
		return r.failure(root)
	}
	name := eventName(kind, e.Name)
	if err := r.event(kind, name, root); err != nil {
		return codec.BadGateway(err)
	}
	if len(r.events) > 0 {
		r.frame.Name = name
		r.odd = r.odd || r.frame.Name == ""
		r.finish(&r.frame)
	}
	if r.over {
		return io.EOF
	}
	return nil
}

// eventName returns the name that an event of this kind goes by, or "" if
// there is none. A kind that would break the framing is no name.
func eventName(kind, name string) string {
	if strings.ContainsAny(kind, "\r\n\x00") {
		return name
	}
	return kind
}

// broken says what the end of a stream means.
func broken(err error) *upstream.Error {
	var timeout interface{ Timeout() bool }
	switch {
	case err == io.EOF:
		return codec.BadGateway(fmt.Errorf("messages: the stream ended without message_stop: %w", io.ErrUnexpectedEOF))
	case errors.As(err, &timeout) && timeout.Timeout():
		return &upstream.Error{Code: upstream.CodeTimeout, Err: fmt.Errorf("messages: reading the stream: %w", err)}
	}
	return codec.BadGateway(fmt.Errorf("messages: reading the stream: %w", err))
}
