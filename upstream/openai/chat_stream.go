package openai

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// A chatReader decodes a streamed response. It must not be used concurrently.
//
// A response is complete at the end of the stream, or at its "[DONE]" event, if there
// was a finish_reason, or at "[DONE]" if there was content. A block is closed when the
// next begins, or at the end. Chunks without content and unknown members are skipped.
//
// Memory does not grow with the stream, except for tool calls whose id has not arrived.
// The reader allocates once per 32 KB of text deltas.
type chatReader struct {
	src     io.Reader
	source  *sse.Reader // nil before the first bytes
	maxBody int64
	chatDecoder
	frame upstream.Frame
	done  bool // "[DONE]" was received
	err   error
}

// newChatReader returns a reader of src. The caller closes src.
func newChatReader(src io.Reader, lim content.Limits, tags ThinkTags) *chatReader {
	r := &chatReader{src: src, maxBody: int64(sse.EventLimit(lim.Body))}
	r.init(lim, tags)
	return r
}

// Next returns the next events. The frame and its events are valid until the next call
// of Next. The error is [io.EOF] after a complete response, and an [*upstream.Error]
// otherwise. Later calls return the same error.
func (r *chatReader) Next() (*upstream.Frame, error) {
	for r.err == nil {
		r.reset()
		r.err = r.readEvent()
		if len(r.events) > 0 && (r.err == nil || r.err == io.EOF) {
			r.frame = upstream.Frame{Format: ChatFormat, Events: r.events}
			return &r.frame, nil
		}
	}
	return nil, r.err
}

// Buffered reports whether Next returns without reading from the source. It may return
// false although Next would.
func (r *chatReader) Buffered() bool {
	if r.err != nil {
		return true
	}
	if r.source == nil {
		return false
	}
	// Other events may have no content. Next would then read the following event.
	e, ok := r.source.Peek()
	return ok && e.Name == "" && r.matchesTemplate(e.Data)
}

// readEvent decodes one event of the stream.
func (r *chatReader) readEvent() error {
	if r.source == nil {
		return r.open()
	}
	e, err := r.source.Next()
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF) && r.isFinished():
		return r.end() // some servers close the connection early
	case err != nil:
		return openaiformat.StreamError(err)
	case e.Name == "" && r.readTemplate(e.Data):
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
	return r.readChunk(data, e.Name == "error")
}

// open looks at the beginning of the stream. A JSON document in place of events is a
// complete response or an error.
func (r *chatReader) open() error {
	head, err := r.readHead()
	if err != nil {
		return openaiformat.StreamError(err)
	}
	rest := io.MultiReader(strings.NewReader(head), r.src)
	if text := trimBlank(head); text != "" && (text[0] == '{' || text[0] == '[') {
		return r.document(rest)
	}
	// Some servers omit the empty line after the last event.
	r.source = sse.NewReader(io.MultiReader(rest, strings.NewReader("\n\n")), int(r.maxBody))
	return nil
}

// readHead reads until there is more than white space.
func (r *chatReader) readHead() (string, error) {
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

// document decodes a complete response.
func (r *chatReader) document(src io.Reader) error {
	text, more, err := codec.ReadText(src, -1, r.maxBody)
	switch {
	case err != nil:
		return openaiformat.StreamError(err)
	case more:
		return openaiformat.StreamError(sse.ErrTooLarge)
	}
	r.done, r.complete = true, true
	if err := r.readChunk(trimBlank(text), false); err != nil {
		return err
	}
	return r.end()
}

// end handles the end of the stream.
func (r *chatReader) end() error {
	if !r.done && !r.isFinished() {
		return codec.BadGateway(fmt.Errorf("openai: the stream ended without a finish_reason: %w", io.ErrUnexpectedEOF))
	}
	return r.finish()
}

// decodeChat decodes a response that is not declared as a stream. Of lim, Body, Depth
// and Values apply. It also accepts a stream. For logprobs see chatDecoder.
func decodeChat(text string, lim content.Limits, o chatOptions) (*upstream.Frame, error) {
	text = trimBlank(text)
	switch {
	case text == "":
		return nil, codec.BadGateway(errors.New("openai: the response body is empty"))
	case text[0] != '{' && text[0] != '[':
		return decodeChatStream(text, lim, o)
	}
	var d chatDecoder
	d.init(lim, o.tags)
	d.complete, d.options = true, o
	if err := d.readChunk(text, false); err != nil {
		return nil, err
	}
	if err := d.finish(); err != io.EOF {
		return nil, err
	}
	return &upstream.Frame{Format: ChatFormat, Events: d.events, Complete: true}, nil
}

func decodeChatStream(text string, lim content.Limits, o chatOptions) (*upstream.Frame, error) {
	r := newChatReader(strings.NewReader(text), lim, o.tags)
	r.options = o
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

// A chunkTemplate is the constant part of chunks that contain just one fragment of
// text, of thinking, or of a tool call's arguments. Nearly all chunks do, and
// consecutive ones differ in the fragment only.
type chunkTemplate struct {
	prefix, suffix string // before and after the fragment; prefix is empty if there is no template
	candidate      int    // index in candidates
	member         string // of the text, for thinking
	call           int    // index in calls, for arguments
	kind           templateKind
}

type templateKind uint8

const (
	templateText templateKind = iota
	templateThinking
	templateInput
)

// maxTemplate is the size of the largest chunk that becomes a template.
const maxTemplate = 4 << 10

// learnTemplate makes a template of the current chunk if all it does is to continue an
// open block.
func (d *chatDecoder) learnTemplate(data string, choices jsonwire.Value) {
	if len(d.events) != 1 || len(data) > maxTemplate || d.doc.Replacements() > 0 || choices.Len() != 1 || d.options.tags != ThinkTagsOff {
		return
	}
	e := &d.events[0]
	var choice, delta, at jsonwire.Value
	for _, v := range choices.Elems() {
		choice = v
	}
	// All other members are the same in the next chunk, and had no effect here.
	if delta = choice.Get("delta"); delta.Kind() != jsonwire.Object || choice.Get("finish_reason").Str() != "" {
		return
	}
	m := chunkTemplate{}
	for i := range d.candidates {
		if d.candidates[i].index == e.Candidate {
			m.candidate = i
		}
	}
	switch cand := &d.candidates[m.candidate]; {
	case e.Kind == upstream.EventText && cand.openKind == blockText:
		at = delta.Get("content")
	case e.Kind == upstream.EventText && cand.openKind == blockThinking:
		m.kind = templateThinking
		for _, name := range reasoningMembers {
			if v := delta.Get(name); v.Str() != "" && !at.Exists() {
				at, m.member = v, name
			}
		}
	case e.Kind == upstream.EventInput:
		m.kind = templateInput
		at, m.call = d.findInput(cand, delta, e.Block)
	}
	if at.Kind() != jsonwire.String || at.Str() != e.Text || strings.Count(data, at.Raw()) != 1 {
		return // ambiguous: another member has the same text
	}
	if delta.Get(detailsName).Len()+delta.Get(blocksName).Len()+len(delta.Get(encryptedName).Str()) > 0 {
		return // these accumulate even if they are equal
	}
	m.prefix, m.suffix = data[:at.Offset()], data[at.End():]
	d.template = m
}

// findInput returns the arguments in a delta and the index of their tool call.
func (d *chatDecoder) findInput(cand *chatCandidate, delta jsonwire.Value, block int) (at jsonwire.Value, call int) {
	list := delta.Get("tool_calls")
	if list.Len() != 1 {
		return at, 0
	}
	for _, v := range list.Elems() {
		f := v.Get("function")
		if v.Get("id").Str() == "" && f.Get("name").Str() == "" {
			at = f.Get("arguments")
		}
	}
	for i := range cand.calls {
		if cand.calls[i].block == block {
			call = i
		}
	}
	return at, call
}

// readTemplate decodes a chunk that matches the template, and reports whether it does.
// The result is that of readChunk, several times faster: only the fragment is parsed.
// If it is one string, the chunk is valid JSON and has no other content.
func (d *chatDecoder) readTemplate(data string) bool {
	m := &d.template
	rest, ok := strings.CutPrefix(data, m.prefix)
	if !ok || m.prefix == "" {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, m.suffix); !ok || len(rest) < 2 || rest[0] != '"' {
		return false
	}
	cand := &d.candidates[m.candidate]
	if !cand.continues(m) || d.doc.Parse(rest, jsonwire.Limits{}) != nil {
		return false
	}
	s := d.doc.Root().Str()
	if s == "" {
		return false // another member may have content instead
	}
	switch m.kind {
	case templateInput:
		d.addInput(cand, cand.calls[m.call], s)
	case templateThinking:
		d.addDelta(cand, blockThinking, s)
	default:
		d.addDelta(cand, blockText, s)
	}
	return true
}

// matchesTemplate reports whether a chunk seems to match the template and has content.
func (d *chatDecoder) matchesTemplate(data string) bool {
	m := &d.template
	return m.prefix != "" && len(data) > len(m.prefix)+len(m.suffix)+2 && strings.HasPrefix(data, m.prefix) &&
		strings.HasSuffix(data, m.suffix) && d.candidates[m.candidate].continues(m)
}

// continues reports whether the block of the template is still open.
func (cand *chatCandidate) continues(m *chunkTemplate) bool {
	switch m.kind {
	case templateInput:
		// Only the last call with an index accepts arguments.
		c := cand.calls[m.call]
		return !c.closed && !c.namedLate && c.block >= 0 && cand.callAt(c.index) == c
	case templateThinking:
		return cand.openKind == blockThinking && cand.member == m.member
	}
	return cand.openKind == blockText
}
