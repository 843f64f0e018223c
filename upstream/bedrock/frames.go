package bedrock

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
)

const (
	defaultEvent = 32 << 20  // default limit of one event of a stream
	maxHeaders   = 64 << 10  // bytes of the headers of a frame
	preludeSize  = 4 + 4 + 4 // the length of a frame, that of its headers, and a checksum
	frameSize    = preludeSize + 4
	keepPayload  = 64 << 10 // a larger buffer is released after the frame
)

// A frameReader reads the frames of an event stream as server-sent events. Package
// eventstream decodes the frames and checks their checksums.
type frameReader struct {
	body    io.ReadCloser
	in      *bufio.Reader
	limit   int64 // of a frame
	decoder *eventstream.Decoder
	payload []byte // buffer of the decoder
	out     []byte // events that were not read yet
	buf     []byte // buffer of out
	err     error  // after out
}

// newFrameReader returns a reader of body. limit bounds the document of one event; 0
// means the default.
func newFrameReader(body io.ReadCloser, limit int64) *frameReader {
	if limit <= 0 {
		limit = defaultEvent
	}
	// The document is in base64, beside a member with padding.
	limit = min(limit, math.MaxInt32)/3*4 + 4 + maxHeaders + 64<<10
	return &frameReader{body: body, in: bufio.NewReaderSize(body, 16<<10), limit: limit, decoder: eventstream.NewDecoder()}
}

// Read returns events as soon as their frames have arrived. The error after an incomplete
// frame is [io.ErrUnexpectedEOF].
func (r *frameReader) Read(p []byte) (n int, err error) {
	for len(p) > 0 && n == 0 {
		for len(r.out) == 0 {
			if r.err != nil {
				return 0, r.err
			}
			r.next()
		}
		// As many events as are there, because the caller flushes when it has to wait.
		for {
			m := copy(p[n:], r.out)
			n, r.out = n+m, r.out[m:]
			if len(r.out) > 0 || r.err != nil || !r.buffered() {
				break
			}
			r.next()
		}
	}
	return n, nil
}

func (r *frameReader) Close() error { return r.body.Close() }

// buffered reports whether the next frame was read completely.
func (r *frameReader) buffered() bool {
	if r.in.Buffered() < preludeSize {
		return false
	}
	b, _ := r.in.Peek(4)
	return int64(binary.BigEndian.Uint32(b)) <= int64(r.in.Buffered())
}

// next reads a frame into out, or sets err.
func (r *frameReader) next() {
	m, err := r.frame()
	if err != nil {
		r.err = err
		return
	}
	if cap(r.buf) > keepPayload {
		r.buf = nil
	}
	r.buf, r.err = appendEvent(r.buf[:0], &m)
	r.out = r.buf
	if r.payload = m.Payload; cap(r.payload) > keepPayload {
		r.payload = nil
	}
}

// frame reads a frame. Its payload is valid until the next call. The decoder does not
// bound the lengths of a frame.
func (r *frameReader) frame() (eventstream.Message, error) {
	b, err := r.in.Peek(8)
	switch {
	case err == io.EOF && len(b) > 0:
		return eventstream.Message{}, errCutFrame
	case err != nil:
		return eventstream.Message{}, err
	}
	size, headers := int64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	switch {
	case size < frameSize+headers:
		return eventstream.Message{}, errors.New("bedrock: the lengths of a frame of the stream contradict each other")
	case headers > maxHeaders || size > r.limit:
		return eventstream.Message{}, fmt.Errorf("bedrock: a frame of the stream has %d bytes, and %d bytes of headers; the limits are %d and %d", size, headers, r.limit, maxHeaders)
	}
	m, err := r.decoder.Decode(&io.LimitedReader{R: r.in, N: size}, r.payload)
	switch {
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return m, errCutFrame
	case err != nil:
		return m, fmt.Errorf("bedrock: decoding a frame of the stream: %w", err)
	}
	return m, nil
}

var errCutFrame = fmt.Errorf("bedrock: the stream ended within a frame: %w", io.ErrUnexpectedEOF)

// appendEvent appends the server-sent event of a frame. The error of a frame with an
// exception, which ends the stream, is [io.EOF].
func appendEvent(dst []byte, m *eventstream.Message) ([]byte, error) {
	switch kind := header(m, eventstreamapi.MessageTypeHeader); kind {
	case eventstreamapi.EventMessageType:
		if header(m, eventstreamapi.EventTypeHeader) != "chunk" {
			return dst, nil // clients ignore events that they do not know
		}
		var chunk struct {
			Bytes []byte `json:"bytes"`
		}
		if err := json.Unmarshal(m.Payload, &chunk); err != nil {
			return dst, fmt.Errorf("bedrock: a chunk of the stream is not a JSON object with bytes in base64: %w", err)
		}
		name := eventName(chunk.Bytes)
		if name == "message_stop" {
			chunk.Bytes = withoutMetrics(chunk.Bytes)
		}
		return appendSSE(dst, name, chunk.Bytes), nil
	case eventstreamapi.ExceptionMessageType:
		e := parseError(header(m, eventstreamapi.ExceptionTypeHeader), m.Payload)
		return appendSSE(dst, "error", e.document("")), io.EOF
	case eventstreamapi.ErrorMessageType:
		e := awsError{name: header(m, eventstreamapi.ErrorCodeHeader), message: header(m, eventstreamapi.ErrorMessageHeader)}
		return appendSSE(dst, "error", e.document("")), io.EOF
	default:
		return dst, fmt.Errorf("bedrock: a frame of the stream has the unknown type %q", kind)
	}
}

// withoutMetrics returns the document of the last event without the metrics of the service,
// which, like those in its headers, are not part of the response.
func withoutMetrics(document []byte) []byte {
	const name = "amazon-bedrock-invocationMetrics"
	if !bytes.Contains(document, []byte(name)) {
		return document
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil {
		return document // the reader of Messages reports it
	}
	delete(members, name)
	b, _ := json.Marshal(members) // values that were decoded can be encoded
	return b
}

// header returns the value of a header of a frame, or "" unless it is a string.
func header(m *eventstream.Message, name string) string {
	s, _ := m.Headers.Get(name).(eventstream.StringValue)
	return string(s)
}

// eventName returns the type of an event if its document begins with it, as those of the
// server do, and else "". Events need no name, but readers see sooner what follows.
func eventName(document []byte) string {
	rest, ok := bytes.CutPrefix(document, []byte(`{"type":"`))
	if !ok {
		return ""
	}
	name, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || len(name) > 64 || strings.Trim(string(name), "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	return string(name)
}

// appendSSE appends a server-sent event. A document with line breaks, which JSON allows
// between its values, has a line of data for each of its lines.
func appendSSE(dst []byte, name string, document []byte) []byte {
	if name != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	for more := true; more; {
		line := document
		i := bytes.IndexAny(document, "\r\n")
		if more = i >= 0; more {
			line, document = document[:i], document[i+1:]
		}
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}
