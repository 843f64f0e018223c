package responses

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

// A StreamReader reads the streamed response of a server of this format. It is not safe for
// concurrent use.
//
// The type of an event is the type in its JSON or, without one, its name. Sequence
// numbers are ignored. Items are identified by index and kind, and tool calls also by
// call_id. Item ids only distinguish tool calls that are otherwise equal, since some
// servers omit them or make new ones for each event. Content that arrives both as
// deltas and complete is added once; the complete form adds what is missing. Unknown
// events are skipped. A known event with a required member of the wrong type is an
// error.
//
// Memory does not grow with the stream, except by a few words per item.
type StreamReader struct {
	source *sse.Reader
	responseDecoder
	frame upstream.Frame
	cut   *stopCutter // or nil
	err   error

	waiting []string // data of events without content since the last frame
	size    int      // of them, in bytes
	altered bool     // frames have no data: there were too many such events
}

// maxWaiting limits the bytes of events that wait for the next frame.
const maxWaiting = 256 << 10

// NewStreamReader returns a reader of src, which the caller closes. The reader uses three
// limits of lim, which may be nil: Body, for the bytes of one event (default 32 MiB), Depth and Values.
func NewStreamReader(src io.Reader, lim *content.Limits) *StreamReader {
	return NewStreamReaderWith(src, codec.LimitsOf(lim), DecodeOptions{Verbatim: true})
}

// Next returns the next event of the stream as a frame for [upstream.Writer.Frame]. The
// frame and its Events are valid until the next call; their strings and pointers remain valid.
// Next skips events without content.
//
// The Data of a frame is its event, and Preceding are the events without content since the last
// frame. The frames of a response have no Data once more than 256 KiB of such events wait.
//
// The error is [io.EOF] after the last event of a complete response. Every other error is an
// [*upstream.Error]: the error that the server sent or that of a response that failed, or one
// with [upstream.CodeBadGateway] if the stream ends early (the error wraps
// [io.ErrUnexpectedEOF]), is not valid or exceeds a limit, and with [upstream.CodeTimeout] if a
// read timed out. Later calls return the same error.
func (r *StreamReader) Next() (*upstream.Frame, error) {
	if r.cut != nil {
		return r.cut.next(r)
	}
	return r.next()
}

// next is Next without stop sequences.
func (r *StreamReader) next() (*upstream.Frame, error) {
	for r.err == nil {
		e, err := r.source.Next()
		if err != nil {
			r.err = streamEndError(err)
			break
		}
		if n := len(r.events); n > 0 && len(r.waiting) > 0 {
			r.waiting, r.size = r.waiting[:0], 0
		}
		err = r.readEvent(e)
		if r.err = err; len(r.events) > 0 && (err == nil || err == io.EOF) {
			r.emitted = true
			r.frame.Name, r.frame.Data, r.frame.Preceding, r.frame.Events = e.Name, e.Data, r.waiting, r.events
			if r.altered {
				r.frame.Data, r.frame.Preceding = "", nil
			}
			return &r.frame, nil
		}
		r.wait(e)
	}
	return nil, r.err
}

// wait keeps an event without content for the next frame.
func (r *StreamReader) wait(e sse.Event) {
	if e.Data == "" || e.Data[0] != '{' {
		return
	}
	if r.size += len(e.Data); r.size > maxWaiting {
		r.altered, r.waiting = true, nil
	}
	if !r.altered {
		r.waiting = append(r.waiting, e.Data)
	}
}

// Buffered reports whether Next returns without reading from the source. It may return
// false although Next would.
func (r *StreamReader) Buffered() bool {
	if r.cut != nil {
		return r.cut.done
	}
	if r.err != nil {
		return true
	}
	// Other events may have no content. Next would then read the following event.
	e, ok := r.source.Peek()
	return ok && strings.HasPrefix(e.Data, textDeltaPrefix) && !strings.Contains(e.Data, `"delta":""`)
}

// streamEndError converts an error of reading the stream, or its early end.
func streamEndError(err error) error {
	if err == io.EOF {
		return codec.BadGateway(fmt.Errorf("openai: the stream ended without its last event: %w", io.ErrUnexpectedEOF))
	}
	return codec.StreamError("openai", err)
}

// readEvent decodes one event of the stream.
func (r *StreamReader) readEvent(e sse.Event) error {
	if e.Data == "" || e.Data[0] == '[' && strings.TrimSpace(e.Data) == "[DONE]" {
		r.events = r.events[:0]
		return nil
	}
	if r.readDeltaFast(e.Data) {
		return nil
	}
	defer r.doc.Close()
	if err := r.parse(e.Data); err != nil {
		return err
	}
	return r.decodeEvent(e.Name, r.doc.Root())
}

// decodeEvent decodes the data of an event.
func (d *responseDecoder) decodeEvent(name string, v jsonwire.Value) error {
	kind := v.Get("type").Str()
	if kind == "" || kind == "error" {
		if v.Get("object").Is("response") {
			return d.readEnd("", v)
		}
		if name == "error" || kind == "error" || codec.IsSet(v.Get("error")) {
			return decodeError(v)
		}
		kind = name
	}
	if kind == "" && v.Kind() == jsonwire.Null {
		return codec.BadGateway(errors.New("openai: the data of an event is null"))
	}
	rest, ok := strings.CutPrefix(kind, "response.")
	switch {
	case ok:
	case codec.IsOn(v.Get("error")), v.Get("object").Is("error"):
		return decodeError(v)
	default:
		return nil
	}
	if err := checkDecodedEvent(rest, v); err != nil {
		return codec.BadGateway(err)
	}
	switch rest {
	case "output_text.delta", "refusal.delta", "function_call_arguments.delta", "custom_tool_call_input.delta",
		"reasoning_summary_text.delta", "reasoning_text.delta":
		return d.readDelta(rest, v)
	case "created", "in_progress", "queued":
		d.start(v.Get("response"))
	case "output_item.added":
		return d.itemAdded(v)
	case "output_item.done":
		return d.itemDone(v)
	case "output_text.done", "refusal.done", "function_call_arguments.done", "custom_tool_call_input.done",
		"reasoning_summary_text.done", "reasoning_text.done":
		return d.readDone(rest, v)
	case "output_text.annotation.added":
		d.readAnnotation(v)
	case "completed", "incomplete", "failed", "cancelled":
		return d.readEnd(rest, v.Get("response"))
	}
	d.reportReplaced()
	return nil
}

// checkDecodedEvent returns an error if an event lacks a required member or has one of the
// wrong type. Indexes are optional, since some servers omit them. kind is the event's
// type without "response.".
func checkDecodedEvent(kind string, v jsonwire.Value) error {
	member, want := "", codec.Kinds(0)
	switch kind {
	case "output_text.delta", "refusal.delta", "function_call_arguments.delta", "custom_tool_call_input.delta",
		"reasoning_summary_text.delta", "reasoning_text.delta":
		member, want = "delta", openaiformat.TextKinds
	case "output_text.done", "reasoning_summary_text.done", "reasoning_text.done":
		member, want = "text", openaiformat.TextKinds|codec.Missing
	case "refusal.done":
		member, want = "refusal", openaiformat.TextKinds|codec.Missing
	case "function_call_arguments.done":
		member, want = "arguments", openaiformat.TextKinds|codec.Optional
	case "custom_tool_call_input.done":
		member, want = "input", openaiformat.TextKinds|codec.Optional
	case "created", "in_progress", "queued":
		member, want = "response", codec.Objects|codec.Missing
	case "output_item.added", "output_item.done":
		member, want = "item", codec.Objects
	case "output_text.annotation.added":
		member, want = "annotation", codec.Objects
	case "completed", "incomplete", "failed", "cancelled":
		member, want = "response", codec.Objects
	default:
		return nil
	}
	if err := codec.Expect("openai: the data of an event", v, codec.Objects); err != nil {
		return err
	}
	if !want.Has(v.Get(member).Kind()) {
		return codec.Expect("openai: the "+member+" of response."+kind, v.Get(member), want)
	}
	for _, name := range [...]string{"output_index", "content_index", "summary_index"} {
		if err := codec.Expect("openai: an index", v.Get(name), codec.Numbers|codec.Optional); err != nil {
			return err
		}
	}
	return nil
}

// The beginnings of the most frequent events, as OpenAI writes them.
const (
	textDeltaPrefix    = `{"type":"response.output_text.delta"`
	inputDeltaPrefix   = `{"type":"response.function_call_arguments.delta"`
	customDeltaPrefix  = `{"type":"response.custom_tool_call_input.delta"`
	summaryDeltaPrefix = `{"type":"response.reasoning_summary_text.delta"`
)

// decodedDelta are the members of such an event.
type decodedDelta struct {
	output, part int64
	delta        string // raw JSON string
}

// readDeltaFast decodes such an event, and reports whether it could. The result is that
// of decodeEvent, several times faster: only the delta is parsed.
func (d *responseDecoder) readDeltaFast(data string) bool {
	k, rest := deltaKind(data)
	if k == decodedOther {
		return false
	}
	q := decodedDelta{output: -1, part: -1}
	if !q.read(rest) || q.output < 0 {
		return false
	}
	it := d.openItem(q.output, k)
	if it == nil || it.block < 0 || k != decodedCall && (it.part != q.part || it.isRaw || it.size == 0) {
		return false
	}
	// If delta is one string, the event is valid JSON and has no other content.
	if len(q.delta) <= 2 || d.doc.Parse(q.delta, jsonwire.Limits{}) != nil {
		return false
	}
	text := d.doc.Root().Str()
	d.doc.Close()
	it.size += len(text)
	it.sum = appendDigest(it.sum, text)
	kind := upstream.EventText
	if k == decodedCall {
		kind = upstream.EventInput
	}
	if len(d.events) == 1 && (d.events[0].Kind == upstream.EventText || d.events[0].Kind == upstream.EventInput) {
		// The previous event was a delta too. Overwriting its fields is faster than
		// writing a whole Event, which is large and contains many pointers.
		e := &d.events[0]
		e.Kind, e.Block, e.Text, e.Frame = kind, it.block, text, nil
		return true
	}
	clear(d.events)
	d.events = append(d.events[:0], upstream.Event{Kind: kind, Block: it.block, Text: text})
	return true
}

// deltaKind returns the kind of item that an event extends, and the rest of its data.
func deltaKind(data string) (decodedKind, string) {
	if rest, ok := strings.CutPrefix(data, textDeltaPrefix); ok {
		return decodedMessage, rest
	}
	if rest, ok := strings.CutPrefix(data, inputDeltaPrefix); ok {
		return decodedCall, rest
	}
	if rest, ok := strings.CutPrefix(data, customDeltaPrefix); ok {
		return decodedCall, rest
	}
	if rest, ok := strings.CutPrefix(data, summaryDeltaPrefix); ok {
		return decodedReasoning, rest
	}
	return decodedOther, ""
}

// openItem returns the last unfinished item of a kind at an index, or nil.
func (d *responseDecoder) openItem(output int64, k decodedKind) *decodedItem {
	for i := len(d.items) - 1; i >= 0; i-- {
		if it := &d.items[i]; !it.done && it.kind == k && it.index == output {
			return it
		}
	}
	return nil
}

// Bits of the members of a delta event.
const (
	seenOutput = 1 << iota
	seenPart
	seenDelta
	seenItem
	seenSequence
	seenObfuscation
	seenLogprobs
)

// read reads the members after the type, each at most once.
func (q *decodedDelta) read(s string) bool {
	seen := 0
	for {
		if s == "}" {
			return seen&seenDelta != 0
		}
		if len(s) < 2 || s[0] != ',' || s[1] != '"' {
			return false
		}
		name, rest, ok := strings.Cut(s[2:], `":`)
		if !ok {
			return false
		}
		bit := 0
		switch name {
		case "delta":
			bit = seenDelta
			q.delta, s = scanString(rest)
		case "output_index":
			bit = seenOutput
			q.output, s = scanIndex(rest)
		case "content_index", "summary_index":
			bit = seenPart
			q.part, s = scanIndex(rest)
		case "sequence_number":
			bit = seenSequence
			_, s = scanIndex(rest)
		case "item_id", "obfuscation":
			bit = seenItem
			if name == "obfuscation" {
				bit = seenObfuscation
			}
			var value string
			if value, s = scanString(rest); !isPlainString(value) {
				return false
			}
		case "logprobs":
			bit = seenLogprobs
			if s, ok = strings.CutPrefix(rest, "[]"); !ok {
				return false
			}
		}
		if bit == 0 || s == "" || seen&bit != 0 {
			return false
		}
		seen |= bit
	}
}

// scanIndex parses an index of a few digits. rest is empty if there is none.
func scanIndex(s string) (n int64, rest string) {
	i := 0
	for i < len(s) && i < 9 && s[i]-'0' < 10 {
		n = 10*n + int64(s[i]-'0')
		i++
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return -1, ""
	}
	return n, s[i:]
}

// scanString returns the JSON string at the beginning of s without checking it. rest is
// empty if there is none.
func scanString(s string) (value, rest string) {
	if s == "" || s[0] != '"' {
		return "", ""
	}
	for from := 1; ; {
		i := strings.IndexByte(s[from:], '"')
		if i < 0 {
			return "", ""
		}
		end := from + i
		slashes := 0
		for s[end-1-slashes] == '\\' {
			slashes++
		}
		if from = end + 1; slashes%2 == 0 {
			return s[:from], s[from:]
		}
	}
}

// isPlainString reports whether a JSON string contains only printable ASCII and no
// escapes.
func isPlainString(s string) bool {
	for i := 1; i < len(s)-1; i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '\\' || c == '"' {
			return false
		}
	}
	return len(s) >= 2
}
