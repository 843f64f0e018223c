package messages

import (
	"bytes"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A stream turns the events of one answer into those of the wire. It does no
// I/O and allocates nothing for a delta, but for room for a call's arguments.
//
// It numbers blocks anew, since some of the answer's have no block here. The
// last message_delta wins with clients, so it is held back until the end.
type stream struct {
	request string       // the request's id, for errors
	id      string       // of the message, unless the upstream knows better
	model   string       // that was asked
	prompt  func() int64 // estimates the prompt's tokens; nil: no estimate
	answer
	placement

	starting bool // an EventStart came
	begun    bool // message_start is written
	said     bool // stop and usage are written as they are now
	next     int  // index of the next block
	open     []streamed
	newest   int              // the number of the block that opened last
	last     streamed         // the last block that was opened, as far as its signature goes
	endsText bool             // the last block that was written is a text
	held     heldEnvelopes    // what carries signatures of texts, for when something follows
	pending  envelope.Pending // what the id of the next call carries
	room     int              // bytes that may be kept for it besides
	carried  bool             // blocks before the next call carry state
	own      bool             // the response is of this format's own vendor
	others   bool             // other answers were reported
	kept     int              // bytes of members that were kept until the end, about
	full     bool             // too many, which was reported
	ids      idMaker
	size     int // bytes of the arguments of calls that are open
	err      error
	scratch  jsonwire.Writer
	lost     []content.Loss
}

// A streamed is a block that is open.
type streamed struct {
	in, out   int // the event's number and the wire's; out is -1 for one that cannot be said
	kind      blockKind
	thought   bool                // a thinking_delta is written
	signed    bool                // a signature is written
	raw       bool                // written by the vendor's own frames
	says      bool                // a text that clients do not leave out, or thinking with a text
	over      bool                // it closed, but a thought may be signed yet, and a call have been cut
	hidden    bool                // thinking that is not sent
	signature string              // of a thought: to be written before it stops
	beside    content.Signature   // another vendor's of no thought: to be carried behind the block
	tail      handler.PartialRune // the beginning of a character whose end has not come
	call      *streamedCall       // of a call that the vendor's own frames do not tell
}

type blockKind uint8

const (
	wholeBlock blockKind = iota // without deltas
	textBlock
	thinkingBlock
	callBlock
)

// newStream returns a stream that answers a conversation; its calls are named
// so that they differ from those in turns.
func newStream(request, id, model string, turns []content.Turn) *stream {
	return &stream{request: request, id: id, model: model, ids: idMaker{turns: turns},
		pending: envelope.Pending{ClientFormat: Format, OmitText: true}, room: envelope.MaxIDSize}
}

// ContentType implements [handler.Encoder], as the other methods do.
func (s *stream) ContentType() string { return "text/event-stream; charset=utf-8" }

func (s *stream) Ping(dst []byte) []byte {
	return append(dst, "event: ping\ndata: {\"type\":\"ping\"}\n\n"...)
}

func (s *stream) Losses() []content.Loss {
	l := s.lost
	s.lost = nil
	return l
}

func (s *stream) Events(dst []byte, events []upstream.Event) []byte {
	if f := upstream.FrameOf(events); f != nil {
		s.own = s.own || f.Format == Format
		if s.fits(f, events) {
			return s.verbatim(dst, f, events)
		}
	}
	for i := range events {
		dst = s.event(dst, &events[i], events[i+1:])
	}
	if s.starting && !s.begun {
		// Not before the rest of the batch is known: it may hold the usage.
		dst = s.begin(dst)
	}
	return dst
}

func (s *stream) End(dst []byte, f *handler.Failure) []byte {
	if f != nil {
		dst = append(dst, "event: error\ndata: "...)
		return append(appendError(dst, s.request, f), "\n\n"...)
	}
	if !s.begun {
		dst = s.begin(dst)
	}
	dst = s.stopThinking(s.lastCall(dst, s.stop.Reason))
	if s.endsText {
		s.dropHeld()
	}
	dst = s.writeOwed(dst)
	s.dropUnsigned()
	s.placement.dropPending(&s.pending, s.lose)
	if !s.said {
		dst = s.messageDelta(dst)
	}
	return append(dst, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// lose notes a loss; block is the event's number.
func (s *stream) lose(block int, r *loss.Rule) {
	s.loseAt(partPath(block), r)
}

func (s *stream) loseAt(path string, r *loss.Rule) {
	s.lost = append(s.lost, r.At(path))
}

// loser returns what notes the losses of a block.
func (s *stream) loser(block int) lose {
	return func(r *loss.Rule) { s.lose(block, r) }
}

// event appends one event. rest are those behind it that came with it.
func (s *stream) event(dst []byte, e *upstream.Event, rest []upstream.Event) []byte {
	if e.Candidate != 0 {
		if !s.others {
			s.others = true
			s.loseAt("candidates", unsaidCandidates)
		}
		return dst
	}
	switch e.Kind {
	case upstream.EventText:
		return s.text(dst, e)
	case upstream.EventInput:
		return s.input(dst, e, rest)
	case upstream.EventOpen:
		dst = s.opened(dst, e, rest)
	case upstream.EventClose:
		dst = s.closed(dst, e.Block)
	case upstream.EventSignature:
		dst = s.signature(dst, e)
	case upstream.EventCitation:
		return s.citation(dst, e)
	case upstream.EventBlockExtra:
		return s.blockExtra(dst, e)
	case upstream.EventExtra:
		if e.Text != "" {
			return s.foreignEvent(dst, e)
		}
		s.note(e)
		return dst
	default:
		s.note(e)
		return dst
	}
	if e.Extra != nil {
		s.lose(e.Block, unsaidEventMembers)
	}
	return dst
}

// note takes what is written later.
func (s *stream) note(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.start, s.starting = *e.Start, true
		s.own = s.own || s.start.Extra != nil && s.start.Extra.Format == Format
	case upstream.EventUsage:
		s.usage, s.said = *e.Usage, false
	case upstream.EventStop:
		s.stop, s.said = *e.Stop, false
	}
	if e.Extra == nil {
		return
	}
	if e.Extra.Format != Format {
		s.take(e.Extra, s.loseAt)
		return
	}
	s.said = false
	if s.kept += len(e.Extra.JSON); s.kept > maxKept {
		if !s.full {
			s.full = true
			s.loseAt("members", unsaidManyMembers)
		}
		return
	}
	s.more.Add(e.Extra, Format)
}

// maxKept bounds what is kept until the end of members that have no field.
const maxKept = 256 << 10

// at returns the open block with the given number.
func (s *stream) at(block int) *streamed {
	for i := range s.open {
		if s.open[i].in == block {
			return &s.open[i]
		}
	}
	return nil
}

const deltaHead = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"

// maxDelta is where a text is cut into several deltas: some clients bound the
// length of a line.
const maxDelta = 1 << 20

// deltas appends a text that may come in any pieces, in as many as it takes.
func (s *stream) deltas(dst []byte, b *streamed, head string, e *upstream.Event) []byte {
	text := b.tail.Join(e.Text)
	for len(text) > maxDelta {
		cut := maxDelta
		for !utf8.RuneStart(text[cut]) && cut > maxDelta-utf8.UTFMax {
			cut--
		}
		dst = s.delta(dst, b, head, text[:cut], nil)
		text = text[cut:]
	}
	if text == "" && e.Text != "" {
		return dst
	}
	return s.delta(dst, b, head, text, e.Extra)
}

// delta appends a delta with one text.
func (s *stream) delta(dst []byte, b *streamed, head, text string, x *content.Extra) []byte {
	dst = append(dst, deltaHead...)
	dst = jsonwire.AppendInt(dst, int64(b.out))
	dst = append(dst, head...)
	dst = jsonwire.AppendString(dst, text)
	if x != nil {
		dst = s.deltaExtra(dst, b, x)
	}
	return append(dst, "}}\n\n"...)
}

const (
	textDelta      = `,"delta":{"type":"text_delta","text":`
	thinkingDelta  = `,"delta":{"type":"thinking_delta","thinking":`
	inputDelta     = `,"delta":{"type":"input_json_delta","partial_json":`
	signatureDelta = `,"delta":{"type":"signature_delta","signature":`
)

// deltaExtra appends members of a delta that have no field.
func (s *stream) deltaExtra(dst []byte, b *streamed, x *content.Extra) []byte {
	if x.Format != Format {
		codec.UnsupportedOfPart(x, s.loser(b.in))
		return dst
	}
	var list handler.Members
	list.Add(x, Format)
	for _, m := range list {
		switch m.Name {
		case "type", "text", "thinking", "partial_json", "signature", "citation":
		default:
			dst = jsonwire.AppendString(append(dst, ','), m.Name)
			dst = jsonwire.AppendCompact(append(dst, ':'), m.JSON)
		}
	}
	return dst
}

func (s *stream) text(dst []byte, e *upstream.Event) []byte {
	b := s.at(e.Block)
	if b != nil && b.kind == thinkingBlock && !s.returnsBlocks {
		s.pending.AppendText(e.Block, e.Text, &s.room)
	}
	if b == nil || b.out < 0 {
		return dst
	}
	switch b.kind {
	case textBlock:
		b.says = b.says || !mayBeDropped(e.Text)
		return s.deltas(dst, b, textDelta, e)
	case thinkingBlock:
		b.thought, b.says = true, b.says || e.Text != ""
		return s.deltas(dst, b, thinkingDelta, e)
	}
	return dst
}

func (s *stream) citation(dst []byte, e *upstream.Event) []byte {
	b := s.at(e.Block)
	if b == nil || b.out < 0 || b.kind != textBlock {
		return dst
	}
	lost := func(r *loss.Rule) { s.lose(e.Block, r) }
	if !answerCitation(e.Citation, lost) {
		return dst
	}
	return s.cite(dst, b, e.Citation, e.Extra)
}

func (s *stream) cite(dst []byte, b *streamed, c *content.Citation, x *content.Extra) []byte {
	dst = append(dst, deltaHead...)
	dst = jsonwire.AppendInt(dst, int64(b.out))
	dst = append(dst, `,"delta":{"type":"citations_delta","citation":`...)
	s.sources.Cite(c)
	s.scratch.Reset()
	writeCitation(&s.scratch, c)
	dst = s.appendScratch(dst)
	if x != nil {
		dst = s.deltaExtra(dst, b, x)
	}
	return append(dst, "}}\n\n"...)
}

// appendScratch appends what was written to the scratch, on one line.
func (s *stream) appendScratch(dst []byte) []byte {
	b := s.scratch.Bytes()
	if bytes.ContainsAny(b, "\r\n") {
		return jsonwire.AppendCompact(dst, string(b))
	}
	return append(dst, b...)
}

// begin appends message_start.
func (s *stream) begin(dst []byte) []byte {
	s.begun = true
	quiet := func(string, *loss.Rule) {} // the end tells it
	so := answer{start: s.start, usage: s.usage, more: s.more}
	if so.usage.Prompt() == 0 && s.prompt != nil {
		// Vendors of other formats count at the end, and some clients read the
		// prompt's tokens here only. The true count is in message_delta.
		so.usage.Input = s.prompt()
	}
	r := so.response(quiet)
	r.StopReason, r.StopDetails = "", ""
	if r.ID == "" {
		r.ID = s.id
	}
	if r.Model == "" {
		r.Model = s.model
	}
	s.scratch.Reset()
	_ = r.write(&s.scratch) // without blocks there are no faults
	dst = append(dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"...)
	return append(s.appendScratch(dst), "}\n\n"...)
}

// messageDelta appends the end of the message as it is known now.
func (s *stream) messageDelta(dst []byte) []byte {
	r := s.answer.response(s.loseAt)
	w := &s.scratch
	w.Reset()
	w.BeginObject()
	w.Name("type")
	w.String("message_delta")
	w.Name("delta")
	w.BeginObject()
	r.writeStop(w)
	w.Name("container")
	rawOrNull(w, r.Container)
	w.EndObject()
	w.Name("usage")
	writeUsage(w, &r.Usage)
	var m handler.Members
	m.Add(s.more.Extra(Format), Format)
	m.Add(s.stop.Extra, Format)
	for _, x := range m {
		if x.Name != "delta" && !messageMember(x.Name) {
			w.Name(x.Name)
			w.Raw(x.JSON)
		}
	}
	w.EndObject()
	s.said = true
	dst = append(dst, "event: message_delta\ndata: "...)
	return append(s.appendScratch(dst), "\n\n"...)
}
