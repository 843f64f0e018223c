package messages

import (
	"fmt"
	"io"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// A StreamReader reads the streamed response of a server of this format. It is not safe
// for concurrent use.
//
// It parses events as the standard for server-sent events defines. The type of an event is
// the one in its JSON, or else its name. The reader accepts some deviations: events
// without a name, no message_start, a missing index or member, several message_delta
// events, a block without a stop. Everything else is an error: an event for a block that
// is not open, a delta of another kind than its block, a required member of the wrong
// type, invalid JSON. Unpaired surrogates and invalid UTF-8 become U+FFFD, which is
// reported as a loss.
//
// Memory does not grow with the stream. The reader allocates about once for 32 KB of
// text deltas.
type StreamReader struct {
	source *sse.Reader
	decoder
	frame upstream.Frame
	err   error
}

// NewStreamReader returns a reader of src, which the caller closes. The reader uses three
// limits of lim, which may be nil: Body, for the bytes of one event (default 32 MiB), Depth and Values.
func NewStreamReader(src io.Reader, lim *content.Limits) *StreamReader {
	limits := codec.LimitsOf(lim)
	r := &StreamReader{source: sse.NewReader(src, sse.EventLimit(limits.Body))}
	r.init(limits)
	return r
}

// Next returns the next event of the stream as a frame for [upstream.Writer.Frame]. The
// frame and its Events are valid until the next call; their strings and pointers
// remain valid. Next skips events without content, such as pings.
//
// Blocks have the indices of the stream. A message_start becomes an EventStart,
// followed by an EventUsage. Usage is always the total so far. An unknown event
// becomes an EventExtra, and an unknown delta an EventBlockExtra, with the name of the
// event and all of its data. If that data is not an object, there is only the frame. A
// frame that deviates from the format, and must not be sent to clients unchanged, has
// no Format.
//
// After message_stop, Next returns [io.EOF]: only then is the response complete. It does
// not read the source beyond that event. Every other error is an [*upstream.Error]. An
// error that the server sent has the code of its type; if it concerns the request or a
// rate limit, it also has the server's redacted message. The code is
// [upstream.CodeBadGateway] if the stream ends without message_stop (the error wraps
// [io.ErrUnexpectedEOF]) or an event exceeds the limit, and [upstream.CodeTimeout] if a
// read timed out. Further calls return the same error.
func (r *StreamReader) Next() (*upstream.Frame, error) {
	for r.err == nil {
		e, err := r.source.Next()
		if err != nil {
			r.err = streamError(err)
			break
		}
		r.err = r.read(e)
		if len(r.frame.Events) > 0 && (r.err == nil || r.err == io.EOF) {
			return &r.frame, nil
		}
	}
	return nil, r.err
}

// Buffered reports whether Next is certain to return without reading from the source. If
// not, the caller should flush its output.
func (r *StreamReader) Buffered() bool {
	if r.err != nil {
		return true
	}
	// Next would skip some other events and wait for the one after them.
	e, ok := r.source.Peek()
	return ok && strings.HasPrefix(e.Name, "content_block_") && e.Data != ""
}

// read reads one event into the frame. The frame has no events if the event has no content.
func (r *StreamReader) read(e sse.Event) error {
	r.frame.Events = r.frame.Events[:0]
	if e.Data == "" || e.Name == "ping" || e.Name == "" && e.Data == "[DONE]" {
		return nil
	}
	defer r.doc.Close()
	if (e.Name == "" || e.Name == "content_block_delta") && r.readFast(e.Data) {
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
		return failureOf(root)
	}
	name := eventName(kind, e.Name)
	if err := r.event(kind, name, root); err != nil {
		return codec.BadGateway(err)
	}
	if len(r.events) > 0 {
		r.frame.Name = name
		r.nonstandard = r.nonstandard || r.frame.Name == ""
		r.finish(&r.frame)
	}
	if r.ended {
		return io.EOF
	}
	return nil
}

// eventName returns the name of an event of a kind. A kind that would break the framing of
// the stream is not a name.
func eventName(kind, name string) string {
	if strings.ContainsAny(kind, "\r\n\x00") {
		return name
	}
	return kind
}

// streamError returns the error for the end of a stream.
func streamError(err error) *upstream.Error {
	if err == io.EOF {
		return codec.BadGateway(fmt.Errorf("messages: the stream ended without message_stop: %w", io.ErrUnexpectedEOF))
	}
	return codec.StreamError("messages", err)
}
