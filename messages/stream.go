package messages

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A stream converts the events of one response to events of the wire. It does no I/O. For
// a delta it allocates nothing except room for tool arguments.
//
// Clients use the last message_delta, so the stream writes it at the end.
type stream struct {
	blocks responseEncoder

	request string       // id of the request, for errors
	id      string       // of the message, if the upstream has none
	model   string       // of the request
	prompt  func() int64 // estimates the tokens of the prompt; may be nil

	// Of the usage in message_start.
	startUsage          content.Usage
	startTier, startGeo string // JSON texts

	started    bool   // an EventStart was received
	begun      bool   // message_start is written
	endWritten bool   // the current stop reason and usage are written
	keptBytes  int    // approximate bytes of stored members
	keptFull   bool   // too many members were reported
	dst        []byte // the bytes of the current call
	scratch    jsonwire.Writer
}

// newStream returns a stream for a response to the conversation in turns. Ids that it makes
// differ from those in turns.
func newStream(request, id, model string, turns []content.Turn) *stream {
	s := &stream{request: request, id: id, model: model}
	s.blocks.init(s, s, turns)
	return s
}

// ContentType implements [handler.Encoder].
func (s *stream) ContentType() string { return "text/event-stream; charset=utf-8" }

func (s *stream) Ping(dst []byte) []byte {
	return append(dst, "event: ping\ndata: {\"type\":\"ping\"}\n\n"...)
}

func (s *stream) Events(dst []byte, events []upstream.Event) []byte {
	s.dst = dst
	s.blocks.Events(events)
	if s.started {
		s.startMessage() // after the whole batch, which may contain the usage
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
		dst = append(dst, "event: error\ndata: "...)
		return append(appendError(dst, s.request, f), "\n\n"...)
	}
	s.dst = dst
	s.startMessage()
	s.blocks.finish()
	if !s.endWritten {
		s.messageDelta()
	}
	return append(s.take(), "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

// Broken implements [response.Stream]. The stop reason changes, so the end is written again.
func (s *stream) Broken(*sentBlock) { s.endWritten = false }

// Other implements [response.Stream].
func (s *stream) Other(b *sentBlock, e *upstream.Event) {
	switch {
	case e.Kind == upstream.EventBlockExtra:
		s.blockExtra(b, e)
	case e.Kind == upstream.EventExtra && e.Text != "":
		s.vendorEvent(e)
	default:
		s.record(e)
	}
}

// record stores what is written later.
func (s *stream) record(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.started = true
		s.blocks.Own = s.blocks.Own || e.Start.Extra != nil && e.Start.Extra.Format == Format
	case upstream.EventUsage, upstream.EventStop:
		s.endWritten = false
	}
	if e.Extra == nil {
		return
	}
	if e.Extra.Format != Format {
		s.blocks.addMembers(e.Extra)
		return
	}
	s.endWritten = false
	if s.keptBytes += len(e.Extra.JSON); s.keptBytes > maxKeptBytes {
		if !s.keptFull {
			s.keptFull = true
			s.blocks.LoseAt("members", response.LossManyMembers)
		}
		return
	}
	s.blocks.members.Add(e.Extra, Format)
}

// maxKeptBytes limits the members without a field that are stored until the end.
const maxKeptBytes = 256 << 10

// startMessage implements [blockWriter]. It writes message_start.
func (s *stream) startMessage() {
	if s.begun {
		return
	}
	s.begun = true
	ignore := func(string, *loss.Rule) {} // losses are reported at the end
	info := responseInfo{start: s.blocks.Start, usage: s.blocks.Usage, members: s.blocks.members}
	if info.usage.Prompt() == 0 && s.prompt != nil {
		// Other vendors count at the end, but some clients read the tokens of the prompt
		// only here. The exact count is in message_delta.
		info.usage.Input = s.prompt()
	}
	r := info.toResponse(ignore)
	r.StopReason, r.StopDetails, r.Container = "", "", ""
	r.ID = cmp.Or(r.ID, s.id)
	r.Model = cmp.Or(r.Model, s.model)
	s.scratch.Reset()
	r.write(&s.scratch, s.startOmits)
	s.startUsage = r.Usage
	s.dst = append(s.dst, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"...)
	s.appendScratch()
	s.dst = append(s.dst, "}\n\n"...)
}

// startOmits reports the members of usage that message_start does not have. It keeps those
// that only message_start has.
func (s *stream) startOmits(name, json string) bool {
	switch name {
	case "output_tokens_details", "server_tool_use", "iterations":
		return true
	case "service_tier":
		s.startTier = json
	case "inference_geo":
		s.startGeo = json
	}
	return false
}

// endOmits reports the members of usage that message_delta does not have: those of
// message_start, unless they have changed since.
func (s *stream) endOmits(name, json string) bool {
	switch name {
	case "cache_creation":
		return s.blocks.Usage.CacheWrite == s.startUsage.CacheWrite && s.blocks.Usage.CacheWrite1h == s.startUsage.CacheWrite1h
	case "service_tier":
		return json == s.startTier
	case "inference_geo":
		return json == s.startGeo
	}
	return false
}

// messageDelta writes message_delta with the current stop reason and usage.
func (s *stream) messageDelta() {
	info := s.blocks.info()
	r := info.toResponse(s.blocks.LoseAt)
	w := &s.scratch
	w.Reset()
	w.BeginObject()
	w.Member("type", "message_delta")
	w.Object("delta")
	r.writeStop(w)
	w.OptRawMember("container", r.Container)
	w.EndObject()
	w.Name("usage")
	writeUsage(w, &r.Usage, s.endOmits)
	var m response.Members
	m.Add(s.blocks.members.Extra(Format), Format)
	m.Add(info.stop.Extra, Format)
	for _, x := range m {
		if x.Name != "delta" && !isMessageMember(x.Name) {
			w.RawMember(x.Name, x.JSON)
		}
	}
	w.EndObject()
	s.endWritten = true
	s.dst = append(s.dst, "event: message_delta\ndata: "...)
	s.appendScratch()
	s.dst = append(s.dst, "\n\n"...)
}

// appendScratch appends the contents of scratch on one line.
func (s *stream) appendScratch() {
	if b := s.scratch.Bytes(); bytes.ContainsAny(b, "\r\n") {
		s.dst = jsonwire.AppendCompact(s.dst, string(b))
	} else {
		s.dst = append(s.dst, b...)
	}
}

// startBlock implements [blockWriter]. What a part has when it opens follows in deltas.
func (s *stream) startBlock(b *sentBlock, p content.Part) {
	s.endWritten = false // the written end was not the last one
	if frame := b.State.frame; frame != "" && b.State.out == b.Number {
		s.writeFrame("content_block_start", frame)
		if t, ok := p.(*content.Text); ok {
			for i := range t.Citations {
				s.writeCitation(b, &t.Citations[i], nil)
			}
		}
		return
	}
	s.scratch.Reset()
	writeBlock(&s.scratch, p, true)
	s.dst = append(s.dst, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	s.dst = jsonwire.AppendInt(s.dst, int64(b.State.out))
	s.dst = append(s.dst, ",\"content_block\":"...)
	s.appendScratch()
	s.dst = append(s.dst, "}\n\n"...)
	switch p := p.(type) { // other kinds have no deltas
	case *content.Text:
		if p.Text != "" {
			s.writeText(b, p.Text, nil)
		}
		for i := range p.Citations {
			s.writeCitation(b, &p.Citations[i], nil)
		}
	case *content.Thinking:
		if p.Text != "" && p.Redacted.Data == "" {
			s.writeText(b, p.Text, nil)
		}
	case *content.ToolUse, *content.ServerToolUse:
		s.delta(b, inputDelta, "", nil) // as the vendor does
	}
}

// stopBlock implements [blockWriter].
func (s *stream) stopBlock(b *sentBlock) {
	s.dst = append(s.dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	s.dst = jsonwire.AppendInt(s.dst, int64(b.State.out))
	s.dst = append(s.dst, "}\n\n"...)
}

const deltaHead = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"

const (
	textDelta      = `,"delta":{"type":"text_delta","text":`
	thinkingDelta  = `,"delta":{"type":"thinking_delta","thinking":`
	inputDelta     = `,"delta":{"type":"input_json_delta","partial_json":`
	signatureDelta = `,"delta":{"type":"signature_delta","signature":`
	citationsDelta = `,"delta":{"type":"citations_delta","citation":`
)

// maxDelta limits the text of a delta, because some clients limit the length of a line.
const maxDelta = 1 << 20

// beginDelta appends a delta up to its value.
func beginDelta(dst []byte, index int, head string) []byte {
	return append(jsonwire.AppendInt(append(dst, deltaHead...), int64(index)), head...)
}

// writeText implements [blockWriter]. It writes as many deltas as necessary.
func (s *stream) writeText(b *sentBlock, text string, x *content.Extra) {
	head := textDelta
	switch b.Kind {
	case response.Thinking:
		head = thinkingDelta
	case response.Call:
		head = inputDelta
	}
	for len(text) > maxDelta {
		cut := maxDelta
		for !utf8.RuneStart(text[cut]) && cut > maxDelta-utf8.UTFMax {
			cut--
		}
		s.delta(b, head, text[:cut], nil)
		text = text[cut:]
	}
	s.delta(b, head, text, x)
}

// delta appends one delta with a string.
func (s *stream) delta(b *sentBlock, head, text string, x *content.Extra) {
	dst := jsonwire.AppendString(beginDelta(s.dst, b.State.out, head), text)
	if x != nil {
		dst = s.deltaExtra(dst, b, x)
	}
	s.dst = append(dst, "}}\n\n"...)
}

// deltaExtra appends the members of a delta without a field.
func (s *stream) deltaExtra(dst []byte, b *sentBlock, x *content.Extra) []byte {
	if x.Format != Format {
		foreign.ResponseMembersOfPart(x, s.blocks.LossesOf(b))
		return dst
	}
	var list response.Members
	list.Add(x, Format)
	for _, m := range list {
		if !isDeltaMember(m.Name) {
			dst = codec.AppendNext(dst, m.Name, m.JSON)
		}
	}
	return dst
}

// writeCitation implements [blockWriter].
func (s *stream) writeCitation(b *sentBlock, c *content.Citation, x *content.Extra) {
	s.dst = beginDelta(s.dst, b.State.out, citationsDelta)
	s.scratch.Reset()
	writeCitation(&s.scratch, c)
	s.appendScratch()
	if x != nil {
		s.dst = s.deltaExtra(s.dst, b, x)
	}
	s.dst = append(s.dst, "}}\n\n"...)
}

// writeSignature implements [blockWriter].
func (s *stream) writeSignature(b *sentBlock, data string) { s.delta(b, signatureDelta, data, nil) }

// CanForward implements [response.Stream]. A frame must be a streamed one with the indices
// that its blocks have in this stream.
func (s *stream) CanForward(f *upstream.Frame, events []upstream.Event) bool {
	if s.blocks.Candidates[0].HasQueued() || len(f.Preceding) > 0 || f.Name == "" || strings.ContainsAny(f.Name, "\r\n") {
		return false
	}
	next := s.blocks.next
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
			if len(s.blocks.Blocks()) > 0 || s.blocks.Candidates[0].Broken {
				return false // blocks must end first, or the stop reason differs
			}
		case upstream.EventOpen:
			if t, ok := e.Part.(*content.ToolUse); e.Block != next || ok && t.ID == "" || s.blocks.owes(nil) {
				return false
			}
			next++
		case upstream.EventText, upstream.EventInput, upstream.EventCitation, upstream.EventSignature,
			upstream.EventBlockExtra, upstream.EventClose:
			b := s.blocks.At(e.Block)
			if b != nil && !b.Begun && b.State.frame != "" { // its start can be forwarded before its first text
				if e.Kind != upstream.EventText || e.Text == "" || e.Block != next || s.blocks.owes(b) {
					return false
				}
				next++
				continue
			}
			if b == nil || !b.Begun || b.Closed || b.State.out != e.Block || e.Kind == upstream.EventSignature && e.Signature.Format != Format {
				return false
			}
			if b.EndsInRune() || b.IsChecked() && (e.Kind == upstream.EventInput || e.Kind == upstream.EventClose) {
				return false // the start of a character must be written first, or the arguments checked
			}
			if e.Kind == upstream.EventClose && b.State.signature != "" && !b.State.signed {
				return false // the signature must be written first
			}
		}
	}
	return true
}

// Forward implements [response.Stream].
func (s *stream) Forward(f *upstream.Frame, events []upstream.Event) {
	start := false
	for i := range events {
		start = start || events[i].Kind == upstream.EventStart
	}
	if !start {
		s.startMessage()
	}
	s.blocks.FinishClosed()
	if t, ok := events[0].Part.(*content.Text); ok && len(events) == 1 && len(t.Citations) == 0 {
		s.blocks.Hold(&events[0]).State.frame = f.Data
		return
	}
	for i := range events {
		if b := s.blocks.At(events[i].Block); b != nil && b.State.frame != "" && !b.Begun {
			s.blocks.Begin(b)
		}
	}
	s.blocks.Track(events)
	if start {
		s.scratch.Reset()
		writeUsage(&s.scratch, &s.blocks.Usage, s.startOmits)
		s.startUsage = s.blocks.Usage
	}
	switch f.Name {
	case "ping", "error", "message_stop": // the stream writes these itself
		return
	}
	s.writeFrame(f.Name, f.Data)
}

// writeFrame writes an event of the vendor.
func (s *stream) writeFrame(name, data string) {
	s.dst = append(s.dst, "event: "...)
	s.dst = append(s.dst, name...)
	s.dst = append(s.dst, "\ndata: "...)
	if strings.IndexByte(data, '\n') >= 0 || strings.IndexByte(data, '\r') >= 0 {
		s.dst = jsonwire.AppendCompact(s.dst, data)
	} else {
		s.dst = append(s.dst, data...)
	}
	s.dst = append(s.dst, "\n\n"...)
}

// Tracked implements [response.Stream].
func (s *stream) Tracked(b *sentBlock, e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.begun = true
	case upstream.EventStop:
		s.endWritten = true
	case upstream.EventOpen:
		b.State.out, s.blocks.last = s.blocks.next, b.Number
		s.blocks.next++
		if t, ok := e.Part.(*content.ToolUse); ok {
			s.blocks.ids.Notice(t.ID)
		}
	case upstream.EventText:
		if b != nil {
			b.State.hasText = b.State.hasText || b.Kind == response.Thinking && e.Text != ""
		}
	case upstream.EventSignature:
		if b != nil {
			b.State.signed = true
		}
	}
}

// vendorEvent writes an unknown event of the vendor.
func (s *stream) vendorEvent(e *upstream.Event) {
	if e.Extra == nil || e.Extra.Format != Format || !isVendorEventName(e.Text) || !jsonwire.ValidObject(e.Extra.JSON) {
		s.blocks.LoseAt(loss.EventPath(e.Text), lossUnknownEvent)
		return
	}
	s.startMessage() // clients reject events before message_start
	s.dst = append(append(s.dst, "event: "...), e.Text...)
	s.dst = jsonwire.AppendCompact(append(s.dst, "\ndata: "...), e.Extra.JSON)
	s.dst = append(s.dst, "\n\n"...)
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

// blockExtra writes an unknown delta of the vendor, with the index of its block on the wire.
func (s *stream) blockExtra(b *sentBlock, e *upstream.Event) {
	if b == nil {
		return // an upstream.Writer sends none of a block that is not open
	}
	if !b.Begun || e.Text != "content_block_delta" || e.Extra == nil || e.Extra.Format != Format {
		s.blocks.Lose(b, lossUnknownDelta)
		return
	}
	d, err := jsonwire.Parse(e.Extra.JSON, jsonwire.Limits{})
	if err != nil || d.Root().Kind() != jsonwire.Object {
		s.blocks.Lose(b, lossUnknownDelta)
		return
	}
	defer d.Close()
	s.dst = beginDelta(s.dst, b.State.out, "")
	for name, v := range d.Root().Members() {
		if name != "type" && name != "index" {
			s.dst = codec.AppendNext(s.dst, name, v.Raw())
		}
	}
	s.dst = append(s.dst, "}\n\n"...)
}
