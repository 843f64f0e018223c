package openai

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

// A chatReader reads a streamed answer. It is for one goroutine at a time.
//
// The answer is whole at the end of the stream, or at its end mark, if there
// was a finish_reason, or an end mark behind something. Blocks are closed when
// something else begins or at the end. Chunks that say nothing are passed over,
// and so are members that are not known: they are no client's business, who
// does not know the format.
//
// Memory does not grow with the stream, but for calls whose id has not come. It
// allocates once for about 32 KB of text deltas.
type chatReader struct {
	src    io.Reader
	source *sse.Reader // nil until the first bytes have been seen
	limit  int64
	chatDecoder
	frame upstream.Frame
	done  bool // the end mark has come
	err   error
}

// newChatReader returns a reader of src, which stays the caller's to close.
func newChatReader(src io.Reader, lim content.Limits, tags ThinkTags) *chatReader {
	r := &chatReader{src: src, limit: int64(sse.Limit(lim.Body))}
	r.init(lim, tags)
	return r
}

// Next returns the next piece of the answer. The frame and its events are good
// until the next call. The error is [io.EOF] once the answer is whole, and an
// [*upstream.Error] otherwise. It stays the same.
func (r *chatReader) Next() (*upstream.Frame, error) {
	for r.err == nil {
		r.begin()
		r.err = r.step()
		if len(r.events) > 0 && (r.err == nil || r.err == io.EOF) {
			r.frame = upstream.Frame{Format: ChatFormat, Events: r.events}
			return &r.frame, nil
		}
	}
	return nil, r.err
}

// Buffered reports whether Next will return without waiting for the source. It
// may say no where it could say yes.
func (r *chatReader) Buffered() bool {
	if r.err != nil {
		return true
	}
	if r.source == nil {
		return false
	}
	// Anything else may say nothing, and Next would go on to the next event.
	e, ok := r.source.Peek()
	return ok && e.Name == "" && r.suits(e.Data)
}

// step reads one event.
func (r *chatReader) step() error {
	if r.source == nil {
		return r.open()
	}
	e, err := r.source.Next()
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF) && r.finished():
		return r.end() // servers go away once they have said all
	case err != nil:
		return broken(err)
	case e.Name == "" && r.quick(e.Data):
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
	return r.chunk(data, e.Name == "error")
}

// open looks at how the stream begins. A document instead of events is an
// answer that was not to be whole, or an error.
func (r *chatReader) open() error {
	head, err := r.peek()
	if err != nil {
		return broken(err)
	}
	rest := io.MultiReader(strings.NewReader(head), r.src)
	if text := trimBlank(head); text != "" && (text[0] == '{' || text[0] == '[') {
		return r.document(rest)
	}
	// Servers forget the empty line behind the last event.
	r.source = sse.NewReader(io.MultiReader(rest, strings.NewReader("\n\n")), int(r.limit))
	return nil
}

// peek reads until there is more than blanks.
func (r *chatReader) peek() (string, error) {
	var buf [512]byte
	for n := 0; ; {
		k, err := r.src.Read(buf[n:])
		n += k
		switch {
		case trimBlank(string(buf[:n])) != "" || err == io.EOF:
			return string(buf[:n]), nil
		case err != nil:
			return "", err
		case n == len(buf):
			n = 0 // blank lines keep the connection alive
		}
	}
}

func trimBlank(s string) string {
	return strings.TrimLeft(strings.TrimPrefix(s, "\ufeff"), " \t\r\n")
}

// document reads a whole answer.
func (r *chatReader) document(src io.Reader) error {
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(src, r.limit+1))
	switch {
	case err != nil:
		return broken(err)
	case n > r.limit:
		return broken(sse.ErrTooLarge)
	}
	r.done, r.whole = true, true
	if err := r.chunk(trimBlank(b.String()), false); err != nil {
		return err
	}
	return r.end()
}

// end says what the end of the stream means.
func (r *chatReader) end() error {
	if !r.done && !r.finished() {
		return codec.BadGateway(fmt.Errorf("openai: the stream ended without a finish_reason: %w", io.ErrUnexpectedEOF))
	}
	return r.finish()
}

// broken says what it means that a stream cannot be read.
func broken(err error) *upstream.Error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &upstream.Error{Code: upstream.CodeTimeout, Err: fmt.Errorf("openai: reading the stream: %w", err)}
	}
	return codec.BadGateway(fmt.Errorf("openai: reading the stream: %w", err))
}

// decodeChat reads a whole answer. Of lim count Body, Depth and Values. A
// stream in its place is read as one. logprobs: see chatDecoder.
func decodeChat(text string, lim content.Limits, tags ThinkTags, logprobs bool) (*upstream.Frame, error) {
	text = trimBlank(text)
	switch {
	case text == "":
		return nil, codec.BadGateway(errors.New("openai: the answer is empty"))
	case text[0] != '{' && text[0] != '[':
		return decodeEvents(text, lim, tags, logprobs)
	}
	var d chatDecoder
	d.init(lim, tags)
	d.whole, d.logprobs = true, logprobs
	if err := d.chunk(text, false); err != nil {
		return nil, err
	}
	if err := d.finish(); err != io.EOF {
		return nil, err
	}
	return &upstream.Frame{Format: ChatFormat, Events: d.events, Whole: true}, nil
}

func decodeEvents(text string, lim content.Limits, tags ThinkTags, logprobs bool) (*upstream.Frame, error) {
	r := newChatReader(strings.NewReader(text), lim, tags)
	r.logprobs = logprobs
	all := &upstream.Frame{Format: ChatFormat}
	for {
		f, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all.Events = append(all.Events, f.Events...)
	}
}
