package chatcompletions

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A stream encodes the events of one response as chunks. It does no I/O and reads no clock. For
// a delta it allocates nothing except room for tool arguments and for the state of thinking.
//
// Each choice has a first chunk with the role, then deltas, and at the end of the response a
// chunk with its finish_reason. A chunk with the usage follows, if the client has asked for it.
type stream struct {
	blocks responseEncoder

	id      string // of the response, if the upstream has none
	model   string // of the request
	created int64  // Unix time in seconds

	includeUsage bool // the client has asked for the usage

	vendorModel   string // `"model":` and the model in chunks that are forwarded, if the client receives another
	forwarded     bool   // the events of the current call are forwarded
	anew          bool   // events were encoded, so no others are forwarded
	finishWritten bool   // a forwarded chunk has the finish_reason
	usageWritten  bool   // a forwarded chunk has the usage

	head      string // the beginning of every chunk, up to the choices; empty before the first
	tail      string // the end of every chunk
	openText  []byte // what openDelta appends before its text for opened, the choice of the latest delta
	opened    int    // one more than its position in Candidates
	begun     []bool // the first chunk of a choice is written; parallel to Candidates
	started   bool   // an EventStart was received
	keptBytes int    // approximate bytes of stored members
	keptFull  bool   // too many members were reported
	dst       []byte // the bytes of the current call
	scratch   jsonwire.Writer
}

// newStream returns a stream for a response to the conversation in turns. Ids that it makes
// differ from those in turns.
func newStream(id, model string, created int64, turns []content.Turn) *stream {
	s := &stream{id: id, model: model, created: created}
	s.blocks.init(s, s, turns)
	return s
}

// ContentType implements [handler.Encoder].
func (s *stream) ContentType() string { return "text/event-stream; charset=utf-8" }

// Ping implements [handler.Encoder]. The keep-alive is a comment.
func (s *stream) Ping(dst []byte) []byte { return append(dst, ": keep-alive\n\n"...) }

// Events implements [handler.Encoder].
func (s *stream) Events(dst []byte, events []upstream.Event) []byte {
	s.dst = dst
	if model := handler.AsReceived(events); model != "" { // the client receives the chunks with the model that it requested
		s.vendorModel = string(jsonwire.AppendString([]byte(`"model":`), model))
	}
	s.forwarded = false
	s.blocks.Events(events)
	s.anew = s.anew || !s.forwarded && response.HasContent(events)
	if s.started {
		s.begin(0)
	}
	return s.take()
}

// Losses implements [handler.Encoder].
func (s *stream) Losses() []content.Loss { return s.blocks.Losses() }

// Err implements [handler.FallibleEncoder].
func (s *stream) Err() error { return s.blocks.Err() }

// take returns the bytes of the current call.
func (s *stream) take() []byte {
	dst := s.dst
	s.dst = nil
	return dst
}

// End implements [handler.Encoder].
func (s *stream) End(dst []byte, f *handler.Failure) []byte {
	if f != nil {
		e := openaiformat.NewServerError(Format, f)
		return append(e.Append(append(dst, "data: "...)), "\n\n"...)
	}
	s.dst = dst
	s.blocks.finish()
	for k := range s.blocks.Candidates {
		if k > 0 || !s.finishWritten {
			s.writeFinish(k)
		}
	}
	s.writeUsage()
	return append(s.take(), "data: [DONE]\n\n"...)
}

// Broken implements [response.Stream]. The finish_reason is written at the end.
func (s *stream) Broken(*sentBlock) {}

// Other implements [response.Stream].
func (s *stream) Other(b *sentBlock, e *upstream.Event) {
	switch {
	case e.Kind == upstream.EventBlockExtra:
		if b != nil {
			s.blocks.Lose(b, lossEventMembers)
		}
	case e.Kind == upstream.EventExtra && e.Text != "":
		s.blocks.LoseAt(loss.EventPath(e.Text), response.LossVendorEvent)
	case e.Kind == upstream.EventStart:
		s.started = true
		s.blocks.Own = s.blocks.Own || e.Start.Extra != nil && e.Start.Extra.Format == Format
		s.addMembers(e.Start.Extra, 0)
		fallthrough
	default:
		if e.Extra != nil {
			s.addMembers(e.Extra, s.blocks.Candidate(e.Candidate))
		}
	}
}

// maxKeptBytes limits the members without a field that are stored until the end.
const maxKeptBytes = 256 << 10

// addMembers adds members without a field.
func (s *stream) addMembers(x *content.Extra, k int) {
	if x == nil {
		return
	}
	s.blocks.choice(k)
	before := len(s.dst)
	if s.keptBytes > maxKeptBytes {
		if !s.keptFull {
			s.keptFull = true
			s.blocks.LoseAt("members", response.LossManyMembers)
		}
		return
	}
	if s.blocks.addMembers(x, k); len(s.dst) == before { // otherwise they are written
		s.keptBytes += len(x.JSON)
	}
}

// CanForward implements [response.Stream]. The chunks of a frame are forwarded if those of all
// earlier frames were, and if the blocks that
// they continue began in forwarded chunks, and if no block that begins in them needs another id,
// or state in its id.
func (s *stream) CanForward(f *upstream.Frame, events []upstream.Event) bool {
	c := &s.blocks.Candidates[0]
	if f.Data == "" || s.anew || s.blocks.encodesAnew() || c.Broken || c.HasQueued() ||
		strings.IndexByte(f.Data, '\n') >= 0 || strings.IndexByte(f.Data, '\r') >= 0 { // quicker than ContainsAny
		return false
	}
	for i := range events {
		e := &events[i]
		if e.Candidate != 0 {
			return false
		}
		switch e.Kind {
		case upstream.EventStart:
			if len(s.begun) > 0 {
				return false
			}
		case upstream.EventOpen:
			if t, ok := e.Part.(*content.ToolUse); ok && (t.ID == "" || envelope.IsReservedID(t.ID) || c.State.NeedsCarrier()) {
				return false
			}
			for _, b := range s.blocks.Blocks() {
				if !b.Forwarded {
					return false
				}
			}
		case upstream.EventText, upstream.EventInput, upstream.EventCitation, upstream.EventSignature,
			upstream.EventBlockExtra, upstream.EventClose:
			b := s.blocks.At(e.Block)
			if response.Opens(events[:i], e.Block) {
				continue
			}
			if b == nil || !b.Forwarded || b.EndsInRune() {
				return false
			}
		}
	}
	return true
}

// Forward implements [response.Stream].
func (s *stream) Forward(f *upstream.Frame, events []upstream.Event) {
	s.forwarded = true
	s.blocks.Track(events)
	if s.head == "" {
		if at := gjson.Get(f.Data, "created"); at.Type == gjson.Number {
			s.created = at.Int()
		}
		s.setHead()
	}
	if len(s.begun) == 0 {
		s.begun = append(s.begun, true)
	}
	s.begun[0] = true
	for _, data := range f.Preceding {
		s.forward(data)
	}
	s.forward(f.Data)
}

// forward writes a chunk of the server. The chunk with the usage is for clients that have asked
// for it.
func (s *stream) forward(data string) {
	if mayHaveUsage(data) {
		if isUsage := gjson.Get(data, "usage").IsObject() && gjson.Get(data, "choices.#").Int() == 0; isUsage {
			if !s.includeUsage {
				return
			}
			s.usageWritten = true
		}
	}
	s.dst = append(s.dst, "data: "...)
	if from := strings.Index(data, s.vendorModel); s.vendorModel != "" && from >= 0 {
		s.dst = append(append(s.dst, data[:from]...), `"model":`...)
		s.dst = jsonwire.AppendString(s.dst, s.model)
		data = data[from+len(s.vendorModel):]
	}
	s.dst = append(append(s.dst, data...), "\n\n"...)
}

// mayHaveUsage reports whether a chunk has an object in a member "usage".
func mayHaveUsage(data string) bool {
	for found := true; found; {
		if _, data, found = strings.Cut(data, `"usage":`); found && strings.HasPrefix(strings.TrimLeft(data, " "), "{") {
			return true
		}
	}
	return false
}

// Tracked implements [response.Stream].
func (s *stream) Tracked(b *sentBlock, e *upstream.Event) {
	c := s.blocks.choice(0)
	switch e.Kind {
	case upstream.EventOpen:
		t, ok := e.Part.(*content.ToolUse)
		if !ok {
			return
		}
		b.State.call = c.calls
		c.calls++
		c.hasCalls = true
		s.blocks.ids.Notice(t.ID)
	case upstream.EventText:
		if b != nil && b.Kind == response.Text {
			c.length += int64(utf8.RuneCountInString(e.Text))
		}
	case upstream.EventStop:
		s.finishWritten = true
	}
}

// begin writes the first chunk of a choice, if it is not written. k is its position in
// Candidates.
func (s *stream) begin(k int) {
	for len(s.begun) <= k {
		s.begun = append(s.begun, false)
	}
	if s.begun[k] {
		return
	}
	s.begun[k] = true
	if s.head == "" {
		s.setHead()
	}
	s.openDelta(k, `"role":"assistant","content":"","refusal":null`)
	s.closeDelta("}")
}

// setHead sets what all chunks have in common.
func (s *stream) setHead() {
	id, model := s.blocks.Start.ID, s.blocks.Start.Model
	id = cmp.Or(id, s.id)
	model = cmp.Or(model, s.model)
	b := jsonwire.AppendString([]byte(`data: {"id":`), id)
	b = jsonwire.AppendInt(append(b, `,"object":"chat.completion.chunk","created":`...), s.created)
	b = jsonwire.AppendString(append(b, `,"model":`...), model)
	s.head = string(append(b, `,"choices":[`...))
	if s.tail = "}\n\n"; s.includeUsage {
		s.tail = ",\"usage\":null}\n\n"
	}
}

// openDelta appends a chunk up to the members of its delta, and text.
func (s *stream) openDelta(k int, text string) {
	if s.opened != k+1 {
		s.opened, s.openText = k+1, append(append(s.openText[:0], s.head...), `{"index":`...)
		s.openText = jsonwire.AppendInt(s.openText, int64(s.blocks.Candidates[k].Index))
		s.openText = append(s.openText, `,"delta":{`...)
	}
	s.dst = append(append(s.dst, s.openText...), text...)
}

// closeDelta appends text and the end of a chunk.
func (s *stream) closeDelta(text string) {
	s.dst = append(append(append(s.dst, text...), `,"finish_reason":null}]`...), s.tail...)
}

// writeText implements [messageWriter], as the other methods with names of this form do.
func (s *stream) writeText(k int, f textField, text string) {
	s.begin(k)
	name := deltaNames[f]
	if f == fieldReasoning && s.blocks.reasoning {
		name = `"reasoning":`
	}
	s.openDelta(k, name)
	s.dst = jsonwire.AppendString(s.dst, text)
	s.closeDelta("}")
}

var deltaNames = [...]string{fieldContent: `"content":`, fieldRefusal: `"refusal":`, fieldReasoning: `"reasoning_content":`}

// openCall appends a delta of a tool call up to its members.
func (s *stream) openCall(k, call int) {
	s.openDelta(k, `"tool_calls":[{"index":`)
	s.dst = jsonwire.AppendInt(s.dst, int64(call))
}

func (s *stream) startCall(k, call int, t *content.ToolUse) {
	s.begin(k)
	if s.blocks.functions {
		s.openDelta(k, `"function_call":{"name":`)
		s.dst = jsonwire.AppendString(s.dst, t.Name)
		s.closeDelta(`,"arguments":""}}`)
		return
	}
	s.openCall(k, call)
	s.dst = jsonwire.AppendString(append(s.dst, `,"id":`...), t.ID)
	if t.Freeform {
		s.dst = jsonwire.AppendString(append(s.dst, `,"type":"custom","custom":{"name":`...), t.Name)
		s.closeDelta(`,"input":""}}]}`)
		return
	}
	s.dst = jsonwire.AppendString(append(s.dst, `,"type":"function","function":{"name":`...), t.Name)
	s.closeDelta(`,"arguments":""}}]}`)
}

func (s *stream) writeInput(k, call int, freeform bool, text string) {
	if s.blocks.functions {
		s.openDelta(k, `"function_call":{"arguments":`)
		s.dst = jsonwire.AppendString(s.dst, text)
		s.closeDelta("}}")
		return
	}
	s.openCall(k, call)
	if freeform {
		s.dst = append(s.dst, `,"custom":{"input":`...)
	} else {
		s.dst = append(s.dst, `,"function":{"arguments":`...)
	}
	s.dst = jsonwire.AppendString(s.dst, text)
	s.closeDelta("}}]}")
}

func (s *stream) writeCitation(k int, c *content.Citation, from, to int64) {
	s.begin(k)
	s.openDelta(k, `"annotations":[`)
	s.scratch.Reset()
	writeAnnotation(&s.scratch, c, from, to)
	s.dst = append(s.dst, s.scratch.Bytes()...)
	s.closeDelta("]}")
}

func (s *stream) writeImage(k int, url string) {
	s.begin(k)
	s.openDelta(k, `"images":[{"type":"image_url","image_url":{"url":`)
	s.dst = jsonwire.AppendString(s.dst, url)
	s.closeDelta("}}]}")
}

func (s *stream) writeMembers(k int, json string) {
	s.begin(k)
	s.openDelta(k, "")
	s.dst = jsonwire.AppendCompact(s.dst, json[1:])
	s.closeDelta("")
}

func (s *stream) writeLogprobs(k int, json string) {
	s.begin(k)
	s.openDelta(k, `},"logprobs":`)
	s.dst = jsonwire.AppendCompact(s.dst, json)
	s.closeDelta("")
}

func (s *stream) addLogprobs(k int, tokens []byte) { s.writeLogprobs(k, logprobsOf(tokens)) }

// writeFinish writes the last chunk of a choice.
func (s *stream) writeFinish(k int) {
	s.begin(k)
	reason := s.blocks.finishReason(k)
	s.openDelta(k, `},"finish_reason":`)
	s.dst = append(jsonwire.AppendString(s.dst, reason), "}]"...)
	if k == len(s.blocks.Candidates)-1 {
		s.appendMembers()
	}
	s.dst = append(s.dst, s.tail...)
}

// appendMembers appends the members of the response without a field.
func (s *stream) appendMembers() {
	for _, m := range s.blocks.members {
		s.dst = codec.AppendNext(s.dst, m.Name, m.JSON)
	}
}

// writeUsage writes the chunk with the usage. Without it the counts are in the report of the
// handler only.
func (s *stream) writeUsage() {
	s.blocks.reportCounts()
	if !s.includeUsage || s.usageWritten {
		return
	}
	s.scratch.Reset()
	writeUsage(&s.scratch, &s.blocks.Usage)
	s.dst = append(append(s.dst, s.head...), `],"usage":`...)
	s.dst = append(append(s.dst, s.scratch.Bytes()...), "}\n\n"...)
}

var _ response.Stream[sentState] = (*stream)(nil)
