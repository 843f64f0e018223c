package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// State of other vendors is sent in fields that Messages clients return unaltered; see
// [envelope]. Every client returns the ids of tool calls. Some clients drop thinking
// blocks, and some cannot read a response with thinking blocks that they did not request.
// A placement is derived from each request:
//
//   - The signature of thinking is in the signature of its thinking block.
//   - The signature of a tool call is in the signature of the thinking block before it, if
//     the request enables thinking, the block has text, no signature, and is still open,
//     and every earlier call was returned with its block. Otherwise it is in the id of the
//     call.
//   - Thinking that the client does not receive, or whose block it does not return,
//     is in the id of the call.
//   - If the request enables thinking and the client returns blocks, thinking without text
//     is in redacted_thinking blocks.
//
// A client that returns tool calls in order with their ids returns each signature
// of a call and the thinking before it, byte for byte; see [envelope.EncodeThinking]. A
// client that also returns the blocks of a response returns all other state. It may
// drop blank texts and return each block in a turn. The vendor has to sign a part
// once, before the next part opens, and a call before its block begins.
//
// All other state is dropped and reported:
//   - Signatures of texts, which no vendor needs.
//   - Thinking after the last call, if the client does not return blocks.
//   - Signatures that come too late or are too large.
//   - Signatures of parts that Messages has no block for.

// A placement defines where a response carries state. The zero placement is for
// responses without a known request: thinking is sent, and state is in ids.
type placement struct {
	hideThinking  bool // the request did not ask for thinking: no thinking block is sent
	returnsBlocks bool // the client returns thinking blocks, as far as its request shows
}

// placementOf returns the placement for the response to a request, which may be nil. A
// client that returned a call without the thinking block that held its state does not
// return blocks.
func placementOf(n *upstream.Request) placement {
	if n == nil {
		return placement{}
	}
	on := n.Thinking.Enabled()
	return placement{hideThinking: !on, returnsBlocks: on && (n.Wire == nil || !n.Wire.StateDropped)}
}

// isForeign reports whether a signature is of another format and must be carried.
func isForeign(s content.Signature) bool { return envelope.IsForeign(s, Format) }

// carriesInID reports whether the id of the next call carries thinking with the signature s.
func (c placement) carriesInID(s content.Signature) bool {
	return !c.returnsBlocks && isForeign(s) && envelope.CallsCarryThinking(s.Format)
}

// isOptional reports whether the vendor of thinking does not need its signature.
func isOptional(s content.Signature) bool {
	return isForeign(s) && !envelope.CallsCarryThinking(s.Format)
}

// encodeEnvelope returns an envelope with a signature of another format, or an empty
// string if the signature is too large.
func encodeEnvelope(s content.Signature, k envelope.Kind, report lossFunc) string {
	data, ok := envelope.Encode(s.Format, k, s.Data)
	if !ok {
		report(envelope.TooLarge)
	}
	return data
}

// losePart reports a loss of the part with an index.
func (s *responseEncoder) losePart(n int, r *loss.Rule) { s.LoseAt(s.Path(0, n), r) }

// takeSignature returns another vendor's signature of a tool call that opens with the
// signature opened. Events of the batch may sign the call, before another block opens. Such
// events are consumed.
func takeSignature(b *sentBlock, opened content.Signature, events []upstream.Event) (sig content.Signature) {
	if isForeign(opened) {
		sig = opened
	}
	closed := false
	for i := range events {
		e := &events[i]
		if closed && e.Kind == upstream.EventOpen {
			break // a whole response may have many blocks
		}
		if e.Block != b.Number {
			continue
		}
		closed = closed || e.Kind == upstream.EventClose
		if e.Kind == upstream.EventSignature && isForeign(*e.Signature) && e.Extra == nil {
			sig = *e.Signature
			*e = upstream.Event{} // consumed
		}
	}
	return sig
}

// hidesThinking reports whether a thinking block that opens is not sent because the
// request does not enable thinking. Thinking of Messages vendors is always sent.
func (s *responseEncoder) hidesThinking(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && s.hideThinking && !s.Own && t.Redacted.Format != Format && t.Signature.Format != Format && !isOptional(t.Redacted)
}

// isOnlyState reports whether a thinking block holds only state that the id of the
// next call carries.
func (c placement) isOnlyState(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && isForeign(t.Redacted) && !isOptional(t.Redacted) && !c.returnsBlocks
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

// beginThinking stores the state of thinking that the client receives. t is the thinking as
// it opened.
func (s *responseEncoder) beginThinking(b *sentBlock, t *content.Thinking) {
	foreign := isForeign(t.Redacted) || isForeign(t.Signature)
	s.inBlocks = s.inBlocks || foreign
	own := t.Redacted.Format == Format || t.Signature.Format == Format || s.Own && (!foreign || isOptional(t.Signature))
	if !s.returnsBlocks && !own {
		s.collect(b, t)
	}
}

// collect stores thinking for the id of the next call.
func (s *responseEncoder) collect(b *sentBlock, t *content.Thinking) {
	t = withoutOptionalSignature(t)
	if s.state().Open(b.Number, b.Index, t, &s.Room) {
		s.state().AppendText(b.Number, t.Text, &s.Room)
	}
}

// dropUnsigned drops and reports the hidden thinking that no vendor has signed. It is
// called before a block begins and at the end.
func (s *responseEncoder) dropUnsigned() {
	if s.state().Empty() {
		return
	}
	s.state().DropUnsigned(&s.Room, func(n int) {
		if s.hideThinking {
			s.losePart(n, response.LossHiddenThinking)
		}
	})
}

// dropPending drops and reports the state after the last call.
func (c placement) dropPending(pending *envelope.Pending, report func(n int, r *loss.Rule)) {
	if n, ok := pending.Oversized(); ok {
		report(n, envelope.TooLarge)
	}
	pending.DropAll(func(n int, p *content.Thinking) {
		if c.hideThinking || p.Redacted.Data != "" {
			report(n, lossUncarriedState) // otherwise the client has the block
		}
	})
}

// Sign stores the signature of a block until the block stops.
func (s *responseEncoder) Sign(b *sentBlock, sig content.Signature, late bool) {
	report, st := s.LossesOf(b), &b.State
	switch {
	case sig.Data == "", late && !b.Begun && !st.hidden && b.Kind != response.Text:
		return // nothing, or it was dropped with its part
	case b.Kind == response.Text && isForeign(sig):
		report(lossTextSignature)
		return
	case late && b.Number != s.last:
		b, st = nil, &sentState{} // too late for everything
	}
	open := b != nil && !late
	thinking := open && b.Kind == response.Thinking
	switch {
	case st.hidden && sig.Format == Format:
		s.reveal(b, sig, report)
	case st.hidden && envelope.CallsCarryThinking(sig.Format):
		s.signPending(b, sig, report)
	case open && b.IsWaiting() && b.Kind == response.Call && isForeign(sig):
		st.toCarry = sig
	case open && (b.IsWaiting() || b.Begun && b.Kind == response.Other):
		report(envelope.UnknownFormat)
	case b != nil && !b.Begun:
	case thinking && !st.signed && sig.Format == Format:
		st.signature = sig.Data
	case !isForeign(sig):
		report(envelope.UnknownFormat)
	case thinking && !st.signed:
		st.signature, s.inBlocks = encodeEnvelope(sig, envelope.KindPart, report), true
		s.signPending(b, sig, report)
	default:
		report(envelope.TooLate)
	}
}

// reveal writes hidden thinking that a Messages vendor has signed: the vendor decides
// whether to think.
func (s *responseEncoder) reveal(b *sentBlock, sig content.Signature, report lossFunc) {
	text, ok := s.state().Remove(b.Number, &s.Room)
	if !ok {
		report(response.LossHiddenThinking)
		return
	}
	s.Own = true
	b.Part = &content.Thinking{}
	s.Begin(b)
	s.to.writeText(b, text, nil)
	b.State.thinkingWritten, b.State.signature = true, sig.Data
	s.EndBlock(b, "")
	b.Begun, b.State = false, sentState{hidden: true}
}

// signPending stores the signature of thinking that the next call may have to carry.
func (s *responseEncoder) signPending(b *sentBlock, sig content.Signature, report lossFunc) {
	switch {
	case s.returnsBlocks:
	case !isForeign(sig):
		report(envelope.UnknownFormat)
	case s.carriesInID(sig) && !s.state().Sign(b.Number, sig, &s.Room):
		report(envelope.TooLate)
	}
}

// carryInBlock puts the signature of a call that is about to begin into the thinking
// block that was written last, if that is still open and unsigned. The id of the call
// is marked then.
func (s *responseEncoder) carryInBlock(b *sentBlock) {
	t, ok := b.Part.(*content.ToolUse)
	if !ok || !s.returnsBlocks || b.State.toCarry.Data == "" {
		return
	}
	o := s.free
	if o == nil || o.State.signature != "" || !s.whole && o.State.out != s.next-1 {
		return
	}
	s.nameCall(b)
	if _, ok := envelope.MarkID(t.ID); !ok {
		return
	}
	if data, ok := envelope.EncodeCall(b.State.toCarry, t.ID); ok {
		o.State.signature, b.State.toCarry = data, content.Signature{}
		s.inBlocks, s.free = true, nil
	}
}

// nameCall sets the id of a call to the id of its vendor, or to a new one.
func (s *responseEncoder) nameCall(b *sentBlock) {
	t, ok := b.Part.(*content.ToolUse) // a copy
	if !ok || b.State.named {
		return
	}
	b.State.named = true
	id := s.ids.Name(t.ID)
	if t.ID != "" && t.ID != id {
		s.Lose(b, lossCallID)
	}
	t.ID = id
}

// decodeState decodes the state of other vendors in turns. dropped reports whether a call
// was returned without the thinking block that held its state.
func decodeState(turns []content.Turn) (decoded envelope.Decoded, dropped bool) {
	o := stateDecoder{turns: turns, turn: -1, ids: envelope.DecodeIDs(turns)}
	decoded = envelope.DecodeTurns(turns, o.decodePart)
	return decoded, o.dropped
}

// A stateDecoder decodes the state in the turns of a request.
type stateDecoder struct {
	turns []content.Turn
	ids   envelope.CallIDs

	turn    int                            // that is being decoded
	calls   map[string][]content.Signature // by id: the state that thinking blocks of the assistant turns in a row hold for later calls
	carried bool                           // the client returned a block with state since the last call
	dropped bool                           // the client dropped a block that held the state of a call
}

// decodePart decodes the state of a part.
func (o *stateDecoder) decodePart(turn int, p content.Part) (q content.Part, lost *loss.Rule) {
	for o.turn < turn {
		if o.turn++; o.turns[o.turn].Role == content.RoleUser {
			o.calls, o.carried = nil, false
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
	}
	return o.ids.Decode(p)
}

// decodeCall decodes the id of a call, and sets the signature that its id or a block before it
// has carried.
func (o *stateDecoder) decodeCall(p *content.ToolUse) (q content.Part, lost *loss.Rule) {
	carried := o.carried
	o.carried = false
	q, lost = o.ids.Decode(p)
	if o.ids.IsMarked(p.ID) {
		c := q.(*content.ToolUse) // a copy
		switch list := o.calls[c.ID]; {
		case len(list) > 0:
			c.Signature, o.calls[c.ID] = list[0], list[1:]
		case !carried:
			o.dropped, lost = true, envelope.NotReturned
		}
	}
	return q, lost
}

// decodeThinking decodes the state that a thinking block holds.
func (o *stateDecoder) decodeThinking(t *content.Thinking) (q content.Part, lost *loss.Rule) {
	switch {
	case t.Redacted.Format == Format && envelope.IsEnvelope(t.Redacted.Data):
		q, lost = decodeRedacted(t)
		o.carried = o.carried || lost == nil
		return q, lost
	case t.Redacted.Data == "" && t.Signature.Format == Format && envelope.IsEnvelope(t.Signature.Data):
	default:
		return t, nil
	}
	c := *t
	e, ok := envelope.Decode(t.Signature.Data)
	switch {
	case ok && e.Kind == envelope.KindCall:
		id, sig := e.CallSignature()
		if o.calls == nil {
			o.calls = make(map[string][]content.Signature)
		}
		o.calls[id] = append(o.calls[id], sig)
		c.Signature = content.Signature{}
	case ok && e.Kind == envelope.KindPart && e.Format == envelope.UnsignedFormat:
		c.Signature = content.Signature{}
		return &c, nil
	case ok && e.Kind == envelope.KindPart:
		c.Signature = content.Signature{Format: e.Format, Data: e.Data}
	default:
		c.Signature = envelope.WithoutFormat(t.Signature)
		return &c, envelope.Damaged
	}
	o.carried = true
	return &c, nil
}

func decodeRedacted(t *content.Thinking) (q content.Part, lost *loss.Rule) {
	c := *t
	e, ok := envelope.Decode(t.Redacted.Data)
	switch {
	case ok && e.Kind == envelope.KindPart:
		c.Redacted = content.Signature{Format: e.Format, Data: e.Data}
	default:
		c.Redacted = envelope.WithoutFormat(t.Redacted)
		return &c, envelope.Damaged
	}
	return &c, nil
}

// unsigned reports whether turns have thinking with an empty signature, a citation of
// the web without an index, or a text in base64. Clients return such parts of other
// vendors' responses, and the Messages vendor refuses them.
func unsigned(turns []content.Turn) bool {
	for i := range turns {
		for _, p := range turns[i].Parts {
			switch p := p.(type) { // other kinds have no such members
			case *content.Thinking:
				if p != nil && p.Signature == (content.Signature{Format: Format}) && p.Redacted == (content.Signature{}) {
					return true
				}
			case *content.Document:
				if isBase64Text(p) {
					return true
				}
			case *content.ToolResult:
				if p != nil && slices.ContainsFunc(p.Parts, isBase64Text) { // one pass
					return true
				}
			case *content.Text:
				// one pass
				if p != nil && slices.ContainsFunc(p.Citations, func(c content.Citation) bool { return isUnindexed(&c) }) {
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
