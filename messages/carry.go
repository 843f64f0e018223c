package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// State of other vendors is sent in fields that Messages clients return unaltered;
// see [envelope]. Every client returns the ids of tool calls. Some clients drop
// thinking blocks, and some cannot read a response with thinking blocks that they
// did not ask for. A placement is derived from each request:
//
//   - The signature of thinking is in the signature of its thinking block.
//   - The signature of a tool call is in the signature of the thinking block before
//     it, if the client asked for thinking, the block has text, no signature, and
//     is still open, and every earlier call was returned with its block. Otherwise
//     it is in the id of the call.
//   - Thinking that the client does not receive, or whose block it does not return,
//     and the signatures of texts before a call, are in the id of the call.
//   - If the client asked for thinking and returns blocks, thinking without text and
//     the signatures of texts are in redacted_thinking blocks: before the text or,
//     if the signature came late, after it.
//
// A client that returns tool calls in order with their ids returns each signature
// of a call and the thinking before it, byte for byte; see [envelope.State]. A
// client that also returns the blocks of a response returns all other state. It may
// drop blank texts and return each block in a turn. The vendor has to sign a part
// once, before the next part opens, and a call before its block begins.
//
// All other state is dropped and reported:
//   - Signatures of texts of generateContent, which that vendor does not need.
//   - State after the text that ends a response, since agents print the last
//     block: see unsaidLast. A whole response drops only state that is signed after
//     that text, or on white space.
//   - Thinking and signatures of texts after the last call, if the client does not
//     return blocks.
//   - Signatures that come too late or are too large.
//   - Signatures of parts that Messages has no block for.

// A placement defines where a response carries state. The zero placement is for
// responses without a known request: thinking is sent, and state is in ids.
type placement struct {
	hideThinking  bool // the request did not ask for thinking: no thinking block is sent
	returnsBlocks bool // the client returns thinking blocks, as far as its request shows
}

// placementOf returns the placement for the response to a request. dropped reports
// that a call was returned without the thinking block that held its state.
func placementOf(n *upstream.Request, dropped bool) placement {
	on := n.Thinking.Enabled()
	return placement{hideThinking: !on, returnsBlocks: on && !dropped}
}

// isForeign reports whether a signature is of another format and must be carried.
func isForeign(s content.Signature) bool { return envelope.IsForeign(s, Format) }

// carriesInID reports whether the id of the next call carries thinking or a text with
// the signature s.
func (c placement) carriesInID(s content.Signature) bool {
	return !c.returnsBlocks && isForeign(s) && envelope.CallsCarryThinking(s.Format)
}

// isOptional reports whether the vendor of a text or of thinking does not need the
// signature.
func isOptional(s content.Signature) bool {
	return isForeign(s) && !envelope.CallsCarryThinking(s.Format)
}

// encodeEnvelope returns an envelope with a signature of another format, or an empty
// string if the signature is too large.
func encodeEnvelope(s content.Signature, k envelope.Kind, lost lose) string {
	data, ok := envelope.Encode(s.Format, k, s.Data)
	if !ok {
		lost(envelope.TooLarge)
	}
	return data
}

// adjacentSignature returns the signature of a text or a tool call that is carried
// next to the part or in its id.
func adjacentSignature(p content.Part) content.Signature {
	switch p.(type) {
	case *content.Text, *content.ToolUse:
		if s := envelope.SignatureOf(p); isForeign(s) {
			return s
		}
	}
	return content.Signature{}
}

// envelopeBlock returns a redacted thinking block that holds an envelope.
func envelopeBlock(data string) *content.Thinking {
	return &content.Thinking{Redacted: content.Signature{Format: Format, Data: data}}
}

// callID returns the id of a tool call with its state: the signature sig of the call
// or, if sig is empty, the pending thinking. marked reports that blocks before the
// call hold its state.
func callID(id string, sig content.Signature, marked bool, pending *envelope.Pending, room *int, lost func(n int, r *loss.Rule), own lose) string {
	if sig.Data != "" {
		if s, ok := envelope.EncodeID(id, envelope.Envelope{Format: sig.Format, Kind: envelope.KindPart, Data: sig.Data}); ok {
			return s
		}
		own(envelope.TooLarge)
	} else if pending.NeedsCarrier() {
		encode := func(f content.Format, data string) (string, bool) {
			return envelope.EncodeID(id, envelope.Envelope{Format: f, Kind: envelope.KindThinking, Data: data})
		}
		if s := pending.Take(room, encode, lost); s != "" {
			return s
		}
	}
	if marked {
		if s, ok := envelope.MarkID(id); ok {
			return s
		}
	}
	if envelope.IsReservedID(id) {
		if s, ok := envelope.EncodeID(id, envelope.Envelope{Kind: envelope.KindIDOnly}); ok {
			return s
		}
		return envelope.HashedID(id)
	}
	return id
}

// lookAhead returns the signature of a block that opens, if it must be carried next to
// the block and is known: events of the batch may sign the block, before another
// block opens. Such events are consumed. lookAhead also reports whether the batch
// has text for the part p that is not blank, and whether the block closes empty.
func (s *stream) lookAhead(open *upstream.Event, p content.Part, events []upstream.Event) (sig content.Signature, says, nothing bool) {
	if _, own := open.Part.(*content.Thinking); own {
		return sig, false, false
	}
	sig = adjacentSignature(open.Part)
	t, isText := p.(*content.Text)
	some := !isText || !isEmptyText(t)
	says = !isText || !mayBeDropped(t.Text)
	over := false
	for i := range events {
		e := &events[i]
		if over && e.Kind == upstream.EventOpen {
			break // a whole response may have many blocks
		}
		if e.Block != open.Block {
			continue
		}
		switch e.Kind {
		case upstream.EventText:
			some = true
			says = says || !mayBeDropped(e.Text)
		case upstream.EventCitation, upstream.EventBlockExtra:
			some = true
		case upstream.EventClose:
			over, nothing = true, !some
		case upstream.EventSignature:
			if isForeign(*e.Signature) && e.Extra == nil {
				sig = *e.Signature
				*e = upstream.Event{} // consumed
			}
		}
	}
	return sig, says, nothing
}

// appendCarrier appends a block that holds an envelope, unless data is empty.
func (s *stream) appendCarrier(dst []byte, data string) []byte {
	if data == "" {
		return dst
	}
	s.said = false // an end that was written already was none
	dst = s.startBlock(dst, s.next, envelopeBlock(data))
	dst = s.stopBlock(dst, s.next)
	s.next++
	s.endsText, s.carried = false, true
	return dst
}

// hidesThinking reports whether a thinking block that opens is not sent because the
// request did not ask for thinking. Thinking of Messages vendors is always sent.
func (s *stream) hidesThinking(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && t != nil && s.hideThinking && !s.own && t.Redacted.Format != Format && t.Signature.Format != Format && !isOptional(t.Redacted)
}

// openHidden opens a thinking block that is not sent.
func (s *stream) openHidden(e *upstream.Event) {
	t := e.Part.(*content.Thinking)
	s.last = streamed{in: e.Block, out: -1, kind: thinkingBlock, hidden: true}
	s.open = append(s.open, s.last)
	s.collect(e.Block, t)
}

// isOnlyState reports whether a thinking block holds only state that the id of the
// next call carries.
func (c placement) isOnlyState(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && t != nil && isForeign(t.Redacted) && !isOptional(t.Redacted) && !c.returnsBlocks
}

// withoutOptionalSignature returns thinking without a signature that no id carries.
func withoutOptionalSignature(t *content.Thinking) *content.Thinking {
	if envelope.CallsCarryThinking(t.Signature.Format) {
		return t
	}
	c := *t
	c.Signature = content.Signature{}
	return &c
}

// collect stores thinking for the id of the next call.
func (s *stream) collect(block int, t *content.Thinking) {
	t = withoutOptionalSignature(t)
	if s.pending.Open(block, block, t, &s.room) {
		s.pending.AppendText(block, t.Text, &s.room)
	}
}

// dropUnsigned drops and reports the hidden thinking that no vendor has signed. It is
// called before a block begins and at the end.
func (s *stream) dropUnsigned() {
	if s.pending.Empty() {
		return
	}
	s.pending.DropUnsigned(&s.room, func(n int) {
		if s.hideThinking {
			s.lose(n, unsaidThinking)
		}
	})
}

// dropPending drops and reports the state after the last call.
func (c placement) dropPending(pending *envelope.Pending, lost func(n int, r *loss.Rule)) {
	if n, ok := pending.Oversized(); ok {
		lost(n, envelope.TooLarge)
	}
	pending.DropAll(func(n int, p *content.Thinking) {
		if p == nil || c.hideThinking || p.Redacted.Data != "" {
			lost(n, unsaidState) // otherwise the client has the block
		}
	})
}

// signature stores the signature of a block until the block stops. A later signature
// is carried after the block.
func (s *stream) signature(dst []byte, e *upstream.Event) []byte {
	b, sig, lost := s.at(e.Block), *e.Signature, s.loser(e.Block)
	late := b == nil && s.last.in == e.Block
	of := b
	if late {
		of = &s.last
	}
	switch thought := b != nil && b.kind == thinkingBlock; {
	case sig.Data == "":
	case of != nil && of.hidden && sig.Format == Format:
		return s.reveal(dst, e.Block, sig, lost)
	case of != nil && of.hidden && envelope.CallsCarryThinking(sig.Format):
		s.signPending(e.Block, sig, lost)
	case b != nil && b.waiting() && isForeign(sig):
		b.call.signature = sig
	case b != nil && b.waiting():
		lost(envelope.UnknownFormat)
	case of != nil && of.kind == textBlock && isOptional(sig):
		lost(unsaidTextSignature)
	case of != nil && of.out < 0:
	case thought && !b.signed && sig.Format == Format:
		b.signature = sig.Data
	case !isForeign(sig):
		lost(envelope.UnknownFormat)
	case thought && !b.signed:
		b.signature, s.carried = encodeEnvelope(sig, envelope.KindPart, lost), true
		s.signPending(e.Block, sig, lost)
	case late && of.kind == textBlock && !of.signed && of.out == s.next-1:
		return s.carryAfter(dst, of, sig)
	case b != nil && b.kind == textBlock && !b.signed && b.out == s.next-1:
		b.beside = sig
	default:
		lost(envelope.TooLate)
	}
	return dst
}

// reveal appends hidden thinking that a Messages vendor has signed: the vendor decides
// whether to think.
func (s *stream) reveal(dst []byte, block int, sig content.Signature, lost lose) []byte {
	text, ok := s.pending.Remove(block, &s.room)
	if !ok {
		lost(unsaidThinking)
		return dst
	}
	s.own, s.said, s.endsText = true, false, false
	dst = s.writeOwed(s.release(dst, block))
	b := streamed{in: block, out: s.next, kind: thinkingBlock, signature: sig.Data}
	s.next++
	dst = s.startBlock(dst, b.out, &content.Thinking{})
	dst = s.deltas(dst, &b, thinkingDelta, &upstream.Event{Text: text})
	b.thought = true
	return s.stopBlock(s.ending(dst, &b), b.out)
}

// signPending stores the signature of thinking that the next call may have to carry.
func (s *stream) signPending(block int, sig content.Signature, lost lose) {
	switch {
	case s.returnsBlocks:
	case !isForeign(sig):
		lost(envelope.UnknownFormat)
	case s.carriesInID(sig) && !s.pending.Sign(block, sig, &s.room):
		lost(envelope.TooLate)
	}
}

// carryAfter stores the signature of a text that is complete, or that another block
// follows.
func (s *stream) carryAfter(dst []byte, b *streamed, sig content.Signature) []byte {
	b.signed = true
	if s.returnsBlocks {
		s.held.hold(b.in, sig, heldKind(b.says), s.loser(b.in))
	} else {
		s.pending.AddTextSignature(b.in, sig, &s.room)
	}
	return dst
}

// writeOwed appends everything owed to earlier blocks before another block begins: the
// end of thinking and the envelopes with signatures of texts.
func (s *stream) writeOwed(dst []byte) []byte {
	dst = s.stopThinking(dst)
	if b := s.blockToCarry(); b != nil {
		sig := b.beside
		b.beside = content.Signature{}
		dst = s.carryAfter(dst, b, sig)
	}
	for _, h := range s.held.take() {
		dst = s.appendCarrier(dst, h.data)
	}
	return dst
}

// stopThinking appends the ends of closed thinking blocks, which were open to late
// signatures.
func (s *stream) stopThinking(dst []byte) []byte {
	for i := 0; i < len(s.open); {
		if b := &s.open[i]; b.over && b.kind == thinkingBlock {
			dst = s.stopped(dst, b)
		} else {
			i++
		}
	}
	return dst
}

// blockToCarry returns the open block whose signature must be carried after it, or
// nil. It is the block that was written last.
func (s *stream) blockToCarry() *streamed {
	for i := range s.open {
		if s.open[i].beside.Data != "" {
			return &s.open[i]
		}
	}
	return nil
}

// carryInBlock puts the signature of a call that is about to begin into the thinking
// block that was written last, if that is still open and unsigned. The id of the call
// is marked then.
func (s *stream) carryInBlock(b *streamed) {
	c := b.call
	t, ok := c.part.(*content.ToolUse)
	if !ok || !s.returnsBlocks || c.signature.Data == "" {
		return
	}
	for i := range s.open {
		o := &s.open[i]
		if o.kind != thinkingBlock || !o.over || o.out != s.next-1 || !o.says || o.signed || o.signature != "" {
			continue
		}
		s.nameCall(b)
		if _, ok := envelope.MarkID(t.ID); !ok {
			return
		}
		if data, ok := envelope.EncodeCall(c.signature, t.ID); ok {
			o.signature, c.signature, s.carried = data, content.Signature{}, true
		}
		return
	}
}

// nameCall sets the id of a call to the id of its vendor.
func (s *stream) nameCall(b *streamed) {
	t, ok := b.call.part.(*content.ToolUse) // a copy
	if !ok || b.call.named {
		return
	}
	b.call.named = true
	s.calls++
	if s.ids.name(t) {
		s.lose(b.in, unsaidID)
	}
}

// decodeState decodes the state of other vendors in turns. It returns turns itself if
// there is none. dropped reports whether a call was returned without the thinking
// block that held its state.
func decodeState(turns []content.Turn) (list []content.Turn, changed, dropped bool, lost []content.Loss) {
	o := stateDecoder{turns: turns, turn: -1}
	o.decodeIDs()
	list, changed, lost = envelope.DecodeTurns(turns, o.decodePart)
	return list, changed, o.dropped, lost
}

// A stateDecoder decodes the state in the turns of a request.
type stateDecoder struct {
	turns []content.Turn

	// By the id of a call in the request, if any is encoded or marked: the decoded
	// id, the state, and whether the id is damaged.
	ids     map[string]string
	state   map[string]content.Signature
	damaged map[string]bool

	turn    int          // that is being decoded
	calls   []signedCall // of the assistant turns in a row
	carried bool         // the client returned a block with state since the last call
	dropped bool         // the client dropped a block that held the state of a call
}

// A signedCall is the state that a thinking block holds for a later call.
type signedCall struct {
	id        string
	signature content.Signature
}

// decodeIDs decodes the ids of calls. The ids of a request stay distinct: an id that
// would decode to the id of another call is treated as damaged.
func (o *stateDecoder) decodeIDs() {
	some := false
	eachCallID(o.turns, func(id string) {
		some = some || envelope.IsReservedID(id)
	})
	if !some {
		return
	}
	o.ids = make(map[string]string)
	o.state, o.damaged = make(map[string]content.Signature), make(map[string]bool)
	whose := make(map[string]string) // by decoded id: the id in the request
	eachCallID(o.turns, func(id string) {
		if !envelope.IsReservedID(id) {
			whose[id] = id
		}
	})
	eachCallID(o.turns, func(id string) {
		if _, known := o.ids[id]; known || !envelope.IsReservedID(id) {
			return
		}
		inner, e, ok := decodeID(id)
		if other, taken := whose[inner]; taken && other != id {
			inner, ok = envelope.HashedID(id), false
			for whose[inner] != "" {
				inner = envelope.HashedID(inner)
			}
		}
		whose[inner], o.ids[id], o.damaged[id] = id, inner, !ok
		if ok && e.Data != "" {
			o.state[id] = content.Signature{Format: e.Format, Data: e.Data}
		}
	})
}

// decodeID returns the id in an encoded or marked id, and the state that it holds.
func decodeID(s string) (id string, e envelope.Envelope, ok bool) {
	if id, ok := envelope.UnmarkID(s); ok {
		if again, ok := envelope.MarkID(id); ok && again == s {
			return id, e, true
		}
		return envelope.DamagedID(s), e, false
	}
	id, e, ok = envelope.DecodeID(s)
	if !ok || e.Kind == envelope.KindThinking && !envelope.CallsCarryThinking(e.Format) {
		return envelope.DamagedID(s), envelope.Envelope{}, false
	}
	return id, e, true
}

// eachCallID calls f with the id of every call and result.
func eachCallID(turns []content.Turn, f func(id string)) {
	for i := range turns {
		for _, p := range turns[i].Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				if p != nil && p.ID != "" {
					f(p.ID)
				}
			case *content.ToolResult:
				if p != nil && p.ID != "" {
					f(p.ID)
				}
			}
		}
	}
}

// decodePart decodes the state of a part.
func (o *stateDecoder) decodePart(turn int, p content.Part) (q content.Part, damaged bool) {
	for o.turn < turn {
		if o.turn++; o.turns[o.turn].Role == content.RoleUser {
			o.calls, o.carried = o.calls[:0], false
		}
	}
	switch p := p.(type) {
	case *content.Thinking:
		if p != nil {
			return o.decodeThinking(p)
		}
	case *content.ToolUse:
		if p != nil {
			return o.decodeCall(p)
		}
	case *content.ToolResult:
		if p == nil {
			break
		}
		if id, ok := o.ids[p.ID]; ok && id != p.ID {
			c := *p
			c.ID = id
			return &c, false
		}
	}
	return p, false
}

// decodeCall decodes the id of a call, and sets the signature that was carried.
func (o *stateDecoder) decodeCall(p *content.ToolUse) (q content.Part, damaged bool) {
	carried := o.carried
	o.carried = false
	id, ok := o.ids[p.ID]
	if !ok {
		return p, false
	}
	c := *p
	c.ID = id
	if sig, ok := o.state[p.ID]; ok {
		c.Signature = sig
	} else if _, marked := envelope.UnmarkID(p.ID); marked && !o.damaged[p.ID] {
		at := slices.IndexFunc(o.calls, func(s signedCall) bool { return s.id == id })
		switch {
		case at >= 0:
			c.Signature = o.calls[at].signature
			o.calls = slices.Delete(o.calls, at, at+1)
		case !carried:
			o.dropped = true
		}
	}
	return &c, o.damaged[p.ID]
}

// decodeThinking decodes the state that a thinking block holds.
func (o *stateDecoder) decodeThinking(t *content.Thinking) (q content.Part, damaged bool) {
	switch {
	case t.Redacted.Format == Format && envelope.IsEnvelope(t.Redacted.Data):
		q, damaged = decodeRedacted(t)
		o.carried = o.carried || !damaged
		return q, damaged
	case t.Redacted.Data == "" && t.Signature.Format == Format && envelope.IsEnvelope(t.Signature.Data):
	default:
		return t, false
	}
	c := *t
	e, ok := envelope.Decode(t.Signature.Data)
	switch {
	case ok && e.Kind == envelope.KindCall:
		id, sig := e.CallSignature()
		o.calls = append(o.calls, signedCall{id, sig})
		c.Signature = content.Signature{}
	case ok && e.Kind == envelope.KindPart && e.Format == envelope.UnsignedFormat:
		c.Signature = content.Signature{}
		return &c, false
	case ok && e.Kind == envelope.KindPart:
		c.Signature = content.Signature{Format: e.Format, Data: e.Data}
	default:
		c.Signature = envelope.WithoutFormat(t.Signature)
		return &c, true
	}
	o.carried = true
	return &c, false
}

func decodeRedacted(t *content.Thinking) (q content.Part, damaged bool) {
	c := *t
	e, ok := envelope.Decode(t.Redacted.Data)
	switch {
	case ok && e.Kind == envelope.KindPart:
		c.Redacted = content.Signature{Format: e.Format, Data: e.Data}
	case ok && e.Kind.IsAdjacent():
		c.Redacted = envelope.AdjacentSignature(e.Format, e.Kind, e.Data)
	case ok && e.Kind == envelope.KindEmptyText:
		return &content.Text{Signature: content.Signature{Format: e.Format, Data: e.Data}, Extra: t.Extra}, false
	default:
		c.Redacted = envelope.WithoutFormat(t.Redacted)
		return &c, true
	}
	return &c, false
}

// unsigned reports whether turns have thinking with an empty signature, a citation of
// the web without an index, or a text in base64. Clients return such parts of other
// vendors' responses, and the Messages vendor refuses them.
func unsigned(turns []content.Turn) bool {
	for i := range turns {
		for _, p := range turns[i].Parts {
			switch p := p.(type) {
			case *content.Thinking:
				if p != nil && p.Signature == (content.Signature{Format: Format}) && p.Redacted == (content.Signature{}) {
					return true
				}
			case *content.Document:
				if isBase64Text(p) {
					return true
				}
			case *content.ToolResult:
				if p != nil && slices.ContainsFunc(p.Parts, isBase64Text) {
					return true
				}
			case *content.Text:
				if p != nil && slices.ContainsFunc(p.Citations, func(c content.Citation) bool { return unindexed(&c) }) {
					return true
				}
			}
		}
	}
	return false
}

// isBase64Text reports whether a part is a text in base64, which the handler accepts
// and the vendor accepts as a text source only.
func isBase64Text(p content.Part) bool {
	d, ok := p.(*content.Document)
	if !ok || d == nil {
		return false
	}
	s, ok := d.Source.(*content.Base64)
	return ok && s != nil && s.MediaType == plainType
}
