package messages

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A stream converts the events of one response to events of the wire. It does no I/O. For
// a delta it allocates nothing except room for tool arguments.
//
// It numbers blocks anew, because some blocks of the response are not sent. Clients use
// the last message_delta, so the stream writes it at the end.
type stream struct {
	request string       // id of the request, for errors
	id      string       // of the message, if the upstream has none
	model   string       // of the request
	prompt  func() int64 // estimates the tokens of the prompt; may be nil
	responseInfo
	placement

	started         bool // an EventStart was received
	begun           bool // message_start is written
	endWritten      bool // the current stop reason and usage are written
	next            int  // index of the next block
	open            []streamBlock
	newestBlock     int              // event number of the block that opened last
	last            streamBlock      // state of the last opened block that its signature needs
	endsText        bool             // the last written block is a text
	held            heldEnvelopes    // signatures of texts, written before the next block
	pending         envelope.Pending // state for the id of the next tool call
	room            int              // free bytes of pending
	carried         bool             // blocks before the next tool call carry state
	own             bool             // the response is of this format's own vendor
	otherCandidates bool             // other candidates were reported
	keptBytes       int              // approximate bytes of stored members
	keptFull        bool             // too many members were reported
	ids             idMaker
	inputBytes      int // bytes of the arguments of open tool calls
	err             error
	scratch         jsonwire.Writer
	lost            []content.Loss
}

// A streamBlock is an open block.
type streamBlock struct {
	in, out         int // event number and index on the wire; out is -1 for a block that is not sent
	kind            blockKind
	thinkingWritten bool                 // a thinking_delta is written
	signed          bool                 // a signature is written
	hasText         bool                 // a text that clients keep, or thinking with text
	closed          bool                 // the upstream closed it; a signature or the next block is still expected
	hidden          bool                 // thinking that is not sent
	signature       string               // signature of thinking, written at the end of the block
	textSignature   content.Signature    // another vendor's signature, carried after the block
	tail            response.PartialRune // incomplete character at the end of the text
	call            *streamCall          // a tool call that is not forwarded as frames
}

type blockKind uint8

const (
	wholeBlock blockKind = iota // without deltas
	textBlock
	thinkingBlock
	callBlock
)

// newStream returns a stream for a response to the conversation in turns. Ids that it makes
// differ from those in turns.
func newStream(request, id, model string, turns []content.Turn) *stream {
	return &stream{request: request, id: id, model: model, ids: idMaker{turns: turns},
		pending: envelope.Pending{ClientFormat: Format, OmitText: true}, room: envelope.MaxIDSize}
}

// ContentType implements [handler.Encoder].
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
		if s.canForward(f, events) {
			return s.forward(dst, f, events)
		}
	}
	for i := range events {
		dst = s.event(dst, &events[i], events[i+1:])
	}
	if s.started && !s.begun {
		// After the whole batch, which may contain the usage.
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
	dst = s.stopThinking(s.finishLastCall(dst, s.stop.Reason))
	if s.endsText {
		s.dropHeld()
	}
	dst = s.writeOwed(dst)
	s.dropUnsigned()
	s.placement.dropPending(&s.pending, s.lose)
	if !s.endWritten {
		dst = s.messageDelta(dst)
	}
	return append(dst, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// lose reports a loss of a block with an event number.
func (s *stream) lose(block int, r *loss.Rule) {
	s.loseAt(partPath(block), r)
}

func (s *stream) loseAt(path string, r *loss.Rule) {
	s.lost = append(s.lost, r.At(path))
}

// lossesOf returns a function that reports losses of a block.
func (s *stream) lossesOf(block int) lossFunc {
	return func(r *loss.Rule) { s.lose(block, r) }
}

// event appends one event. rest are the following events of the batch.
func (s *stream) event(dst []byte, e *upstream.Event, rest []upstream.Event) []byte {
	if e.Candidate != 0 {
		if !s.otherCandidates {
			s.otherCandidates = true
			s.loseAt("candidates", lossResponseCandidates)
		}
		return dst
	}
	switch e.Kind {
	case upstream.EventText:
		return s.text(dst, e)
	case upstream.EventInput:
		return s.input(dst, e, rest)
	case upstream.EventOpen:
		dst = s.openBlock(dst, e, rest)
	case upstream.EventClose:
		dst = s.closeBlock(dst, e.Block)
	case upstream.EventSignature:
		dst = s.signature(dst, e)
	case upstream.EventCitation:
		return s.citation(dst, e)
	case upstream.EventBlockExtra:
		return s.blockExtra(dst, e)
	case upstream.EventExtra:
		if e.Text != "" {
			return s.vendorEvent(dst, e)
		}
		s.record(e)
		return dst
	default:
		s.record(e)
		return dst
	}
	if e.Extra != nil {
		s.lose(e.Block, lossEventMembers)
	}
	return dst
}

// record stores what is written later.
func (s *stream) record(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.start, s.started = *e.Start, true
		s.own = s.own || s.start.Extra != nil && s.start.Extra.Format == Format
	case upstream.EventUsage:
		s.usage, s.endWritten = *e.Usage, false
	case upstream.EventStop:
		s.stop, s.endWritten = *e.Stop, false
	}
	if e.Extra == nil {
		return
	}
	if e.Extra.Format != Format {
		s.addMembers(e.Extra, s.loseAt)
		return
	}
	s.endWritten = false
	if s.keptBytes += len(e.Extra.JSON); s.keptBytes > maxKeptBytes {
		if !s.keptFull {
			s.keptFull = true
			s.loseAt("members", lossManyMembers)
		}
		return
	}
	s.members.Add(e.Extra, Format)
}

// maxKeptBytes limits the members without a field that are stored until the end.
const maxKeptBytes = 256 << 10

// at returns the open block with an event number, or nil.
func (s *stream) at(block int) *streamBlock {
	for i := range s.open {
		if s.open[i].in == block {
			return &s.open[i]
		}
	}
	return nil
}

const deltaHead = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"

// maxDelta limits the text of a delta, because some clients limit the length of a line.
const maxDelta = 1 << 20

// deltas appends a text in as many deltas as necessary. The text may end in the middle of
// a character.
func (s *stream) deltas(dst []byte, b *streamBlock, head string, e *upstream.Event) []byte {
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

// delta appends one delta.
func (s *stream) delta(dst []byte, b *streamBlock, head, text string, x *content.Extra) []byte {
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

// deltaExtra appends the members of a delta without a field.
func (s *stream) deltaExtra(dst []byte, b *streamBlock, x *content.Extra) []byte {
	if x.Format != Format {
		codec.UnsupportedOfPart(x, s.lossesOf(b.in))
		return dst
	}
	var list response.Members
	list.Add(x, Format)
	for _, m := range list {
		if !isDeltaMember(m.Name) {
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
		b.hasText = b.hasText || !mayBeDropped(e.Text)
		return s.deltas(dst, b, textDelta, e)
	case thinkingBlock:
		b.thinkingWritten, b.hasText = true, b.hasText || e.Text != ""
		return s.deltas(dst, b, thinkingDelta, e)
	}
	return dst
}

func (s *stream) citation(dst []byte, e *upstream.Event) []byte {
	b := s.at(e.Block)
	if b == nil || b.out < 0 || b.kind != textBlock {
		return dst
	}
	report := func(r *loss.Rule) { s.lose(e.Block, r) }
	if !acceptCitation(e.Citation, report) {
		return dst
	}
	return s.cite(dst, b, e.Citation, e.Extra)
}

func (s *stream) cite(dst []byte, b *streamBlock, c *content.Citation, x *content.Extra) []byte {
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

// appendScratch appends the contents of scratch on one line.
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
	ignore := func(string, *loss.Rule) {} // losses are reported at the end
	info := responseInfo{start: s.start, usage: s.usage, members: s.members}
	if info.usage.Prompt() == 0 && s.prompt != nil {
		// Other vendors count at the end, but some clients read the tokens of the prompt
		// only here. The exact count is in message_delta.
		info.usage.Input = s.prompt()
	}
	r := info.toResponse(ignore)
	r.StopReason, r.StopDetails = "", ""
	if r.ID == "" {
		r.ID = s.id
	}
	if r.Model == "" {
		r.Model = s.model
	}
	s.scratch.Reset()
	_ = r.write(&s.scratch) // never fails without blocks
	dst = append(dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"...)
	return append(s.appendScratch(dst), "}\n\n"...)
}

// messageDelta appends message_delta with the current stop reason and usage.
func (s *stream) messageDelta(dst []byte) []byte {
	r := s.responseInfo.toResponse(s.loseAt)
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
	var m response.Members
	m.Add(s.members.Extra(Format), Format)
	m.Add(s.stop.Extra, Format)
	for _, x := range m {
		if x.Name != "delta" && !isMessageMember(x.Name) {
			w.Name(x.Name)
			w.Raw(x.JSON)
		}
	}
	w.EndObject()
	s.endWritten = true
	dst = append(dst, "event: message_delta\ndata: "...)
	return append(s.appendScratch(dst), "\n\n"...)
}

// canForward reports whether a frame of the vendor has the meaning of its events in this
// stream. It must be a streamed frame of this format with matching block indices.
func (s *stream) canForward(f *upstream.Frame, events []upstream.Event) bool {
	if f.Format != Format || f.Complete || len(f.Preceding) > 0 || f.Name == "" || strings.ContainsAny(f.Name, "\r\n") {
		return false
	}
	next := s.next
	for i := range events {
		e := &events[i]
		if e.Candidate != 0 {
			return false
		}
		switch e.Kind {
		case upstream.EventStart:
			if s.begun {
				return false
			}
		case upstream.EventStop:
			if len(s.open) > 0 || s.broken {
				return false // blocks must end first, or the stop reason differs
			}
		case upstream.EventOpen:
			if t, ok := e.Part.(*content.ToolUse); e.Block != next || ok && t.ID == "" || s.blockToCarry() != nil || len(s.held.list) > 0 ||
				slices.ContainsFunc(s.open, func(b streamBlock) bool { return b.isWaiting() }) {
				return false
			}
			next++
		case upstream.EventText, upstream.EventInput, upstream.EventCitation, upstream.EventSignature,
			upstream.EventBlockExtra, upstream.EventClose:
			b := s.at(e.Block)
			if b == nil || b.out != e.Block || e.Kind == upstream.EventSignature && e.Signature.Format != Format {
				return false
			}
			if !b.tail.Empty() || e.Kind == upstream.EventClose && (b.call != nil || b.textSignature.Data != "" || b.signature != "" && !b.signed) {
				return false // owed data must be written first, or the tool call validated
			}
		}
	}
	return true
}

// forward appends a frame of the vendor.
func (s *stream) forward(dst []byte, f *upstream.Frame, events []upstream.Event) []byte {
	start := false
	for i := range events {
		start = start || events[i].Kind == upstream.EventStart
	}
	if !start && !s.begun {
		dst = s.begin(dst)
	}
	dst = s.stopThinking(dst)
	for i := range events {
		s.track(&events[i])
	}
	switch f.Name {
	case "ping", "error", "message_stop": // the stream writes these itself
		return dst
	}
	dst = append(dst, "event: "...)
	dst = append(dst, f.Name...)
	dst = append(dst, "\ndata: "...)
	if strings.ContainsAny(f.Data, "\r\n") {
		dst = jsonwire.AppendCompact(dst, f.Data)
	} else {
		dst = append(dst, f.Data...)
	}
	return append(dst, "\n\n"...)
}

// track updates the state for an event that was forwarded.
func (s *stream) track(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.start, s.begun = *e.Start, true
	case upstream.EventUsage:
		s.usage = *e.Usage
	case upstream.EventStop:
		s.stop, s.endWritten = *e.Stop, true
	case upstream.EventOpen:
		b := streamBlock{in: e.Block, out: s.next, kind: blockKindOf(e.Part)}
		s.last, s.endsText = b, b.kind == textBlock
		s.next++
		if t, ok := e.Part.(*content.ToolUse); ok {
			s.calls++
			s.ids.seeID(t.ID)
		}
		s.open = append(s.open, b)
	case upstream.EventText, upstream.EventInput, upstream.EventSignature:
		if b := s.at(e.Block); b != nil {
			b.thinkingWritten = b.thinkingWritten || e.Kind == upstream.EventText
			b.hasText = b.hasText || e.Kind == upstream.EventText && !mayBeDropped(e.Text)
			b.signed = b.signed || e.Kind == upstream.EventSignature
			if b.call != nil && s.storeInput(b.call, e.Text) {
				b.call.written = true
			}
			b.tail = response.PartialRune{}
		}
	case upstream.EventClose:
		if b := s.at(e.Block); b != nil && s.last.in == b.in {
			s.last.hasText = b.hasText
		}
		s.forget(e.Block)
	}
}

// vendorEvent appends an unknown event of the vendor.
func (s *stream) vendorEvent(dst []byte, e *upstream.Event) []byte {
	if e.Extra == nil || e.Extra.Format != Format || !isVendorEventName(e.Text) || !jsonwire.ValidObject(e.Extra.JSON) {
		s.loseAt(loss.EventPath(e.Text), lossUnknownEvent)
		return dst
	}
	if !s.begun { // clients reject events before message_start
		dst = s.begin(dst)
	}
	dst = append(append(dst, "event: "...), e.Text...)
	dst = jsonwire.AppendCompact(append(dst, "\ndata: "...), e.Extra.JSON)
	return append(dst, "\n\n"...)
}

// isVendorEventName reports whether an event with this name can be at any place in the
// stream. The name must fit on a line and not be that of a known event.
func isVendorEventName(name string) bool {
	switch name {
	case "ping", "error", "content_block_start", "content_block_stop":
		return false
	}
	return !isKnownEvent(name) && !strings.ContainsAny(name, "\r\n\x00")
}

// blockExtra appends an unknown delta of the vendor, with the index of its block on the wire.
func (s *stream) blockExtra(dst []byte, e *upstream.Event) []byte {
	b := s.at(e.Block)
	if b == nil || b.out < 0 || e.Text != "content_block_delta" || e.Extra == nil || e.Extra.Format != Format {
		s.lose(e.Block, lossUnknownDelta)
		return dst
	}
	d, err := jsonwire.Parse(e.Extra.JSON, jsonwire.Limits{})
	if err != nil || d.Root().Kind() != jsonwire.Object {
		s.lose(e.Block, lossUnknownDelta)
		return dst
	}
	defer d.Close()
	dst = append(dst, deltaHead...)
	dst = jsonwire.AppendInt(dst, int64(b.out))
	for name, v := range d.Root().Members() {
		if name != "type" && name != "index" {
			dst = jsonwire.AppendString(append(dst, ','), name)
			dst = jsonwire.AppendCompact(append(dst, ':'), v.Raw())
		}
	}
	return append(dst, "}\n\n"...)
}

// An idMaker makes ids for tool calls without an id, or with the id of another call, because
// clients need ids to return results. It numbers ids from the highest number in the
// conversation. So ids are unique, and the same conversation always gets the same ids.
type idMaker struct {
	turns       []content.Turn
	seen        bool            // turns were searched
	used        map[string]bool // ids of tool calls and results; nil until needed
	responseIDs int             // number of ids of the response in used
	next        int
}

// idPrefix is the prefix of made ids. Ids of the vendor have other letters after the first
// underscore.
const idPrefix = "toolu_pw"

// maxResponseIDs limits the stored ids of a response. All later tool calls get made ids.
const maxResponseIDs = 1 << 12

// name sets the id of a tool call that has no unique id. It reports whether it replaced one.
func (m *idMaker) name(t *content.ToolUse) (replaced bool) {
	if !m.seen {
		m.seen = true
		for i := range m.turns {
			m.seeParts(m.turns[i].Parts)
		}
	}
	if t.ID == "" || m.used[t.ID] || m.responseIDs == maxResponseIDs {
		replaced = t.ID != ""
		t.ID = idPrefix + strconv.Itoa(m.next)
	}
	m.seeID(t.ID)
	return replaced
}

func (m *idMaker) seeParts(parts []content.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case *content.ToolUse:
			if p != nil {
				m.use(p.ID)
			}
		case *content.ToolResult:
			if p != nil {
				m.use(p.ID)
			}
		}
	}
}

// seeID stores the id of a tool call of the response.
func (m *idMaker) seeID(id string) {
	if m.responseIDs < maxResponseIDs {
		m.responseIDs++
		m.use(strings.Clone(id)) // does not keep the frame in memory
	} else {
		m.count(id)
	}
}

func (m *idMaker) use(id string) {
	if m.used == nil {
		m.used = make(map[string]bool)
	}
	m.used[id] = true
	m.count(id)
}

// count raises next above the number of a made id.
func (m *idMaker) count(id string) {
	if digits, ok := strings.CutPrefix(id, idPrefix); ok {
		// Made ids never reach larger numbers.
		if n, err := strconv.Atoi(digits); err == nil && n >= m.next && n < 1<<30 {
			m.next = n + 1
		}
	}
}
