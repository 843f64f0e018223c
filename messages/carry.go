package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// State of other vendors is sent in fields that Messages clients return unaltered; see
// [envelope]. Every client returns the ids of tool calls. Some clients drop thinking
// blocks, and some cannot read a response with thinking blocks that they did not request.
// A placement is derived from each request:
//
//   - The signature of thinking is in the signature of its thinking block. So is the text of
//     thinking if the request omits it from the response, unless its vendor does not need it.
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
	omitText      bool // thinking blocks have no text
	knowsSearch   bool // the client receives the searches of the server
}

// placementOf returns the placement for the response to a request, which may be nil. A
// client that returned a call without the thinking block that held its state does not
// return blocks.
func placementOf(n *upstream.Request) placement {
	if n == nil {
		return placement{knowsSearch: true}
	}
	on := n.Thinking.Enabled()
	return placement{
		hideThinking:  !on,
		returnsBlocks: on && !document.Of(n.Wire).DropsState(),
		omitText:      on && n.Thinking.Display == "omitted",
		knowsSearch:   slices.ContainsFunc(n.Tools, isWebSearch), // one pass
	}
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

// beginThinking stores the state of thinking that the client receives. t is the thinking as
// it opened.
func (s *responseEncoder) beginThinking(b *sentBlock, t *content.Thinking) {
	foreign := isForeign(t.Redacted) || isForeign(t.Signature)
	s.inBlocks = s.inBlocks || foreign
	own := t.Redacted.Format == Format || t.Signature.Format == Format || s.Own && (!foreign || isOptional(t.Signature))
	if own {
		return
	}
	if !s.returnsBlocks {
		s.Collect(b, t)
	}
	if p, ok := b.Part.(*content.Thinking); ok && s.omitText && t.Redacted.Data == "" { // p is a copy
		b.State.omits = true
		s.omit(b, p.Text)
		p.Text = ""
		if isForeign(t.Signature) {
			b.State.toCarry = t.Signature
		}
	}
}

// omit keeps text that the client does not receive, for the signature of its block.
func (s *responseEncoder) omit(b *sentBlock, text string) {
	if s.omitted += len(text); s.omitted <= envelope.MaxSize {
		b.State.omitted = append(b.State.omitted, text...)
	} else {
		b.State.omitted = nil
		s.Lose(b, envelope.TooLarge)
	}
}

// signOmitted sets the signature of thinking without its text to an envelope that also has
// the text. The text is not kept if the vendor has signed a later call, or if the signature
// of the vendor has it.
func (s *responseEncoder) signOmitted(b *sentBlock) {
	st := &b.State
	sig := st.toCarry
	if len(st.omitted) == 0 || st.signature != "" && sig.Data == "" || foreign.HoldsText(sig) {
		return
	}
	if sig.Data == "" {
		sig.Format = envelope.UnsignedFormat
	}
	state := envelope.EncodeThinking([]*content.Thinking{{Text: string(st.omitted), Signature: sig}})
	if data, ok := envelope.Encode(sig.Format, envelope.KindThinking, state); ok {
		st.signature = data
	} else {
		s.Lose(b, envelope.TooLarge)
	}
}

// A signable is what a signature finds of its block.
type signable uint8

const (
	dropped      signable = iota // the client does not receive the block
	hidden                       // nor its thinking, whose state the next call carries
	waiting                      // the block has not begun
	openThinking                 // unsigned thinking
	unsignable                   // an open block of a kind without a place for a signature
	over                         // it is too late
)

// signableAs returns what a signature finds of b. If late is true, b has ended.
func (s *responseEncoder) signableAs(b *sentBlock, late bool) signable {
	st := &b.State
	switch received := b.Begun || st.hidden || b.Kind == response.Text; {
	case late && received && b.Number != s.last:
		return over
	case st.hidden:
		return hidden
	case !late && b.IsWaiting():
		return waiting
	case !b.Begun:
		return dropped
	case !late && b.Kind == response.Thinking && !st.signed:
		return openThinking
	case !late && b.Kind == response.Other:
		return unsignable
	}
	return over
}

// Sign stores the signature of a block until the block stops.
func (s *responseEncoder) Sign(b *sentBlock, sig content.Signature, late bool) {
	report, foreign := s.LossesOf(b), isForeign(sig)
	switch state := s.signableAs(b, late); {
	case sig.Data == "":
	case b.Kind == response.Text && foreign:
		report(lossTextSignature)
	case state == dropped:
	case state == hidden:
		s.signHidden(b, sig, report)
	case state == openThinking:
		s.signThinking(b, sig, report)
	case state == waiting && b.Kind == response.Call && foreign:
		b.State.toCarry = sig
	case state == over && foreign:
		report(envelope.TooLate)
	default:
		report(envelope.UnknownFormat)
	}
}

// signHidden handles the signature of thinking that the client does not receive.
func (s *responseEncoder) signHidden(b *sentBlock, sig content.Signature, report lossFunc) {
	switch {
	case sig.Format == Format:
		s.reveal(b, sig, report)
	case envelope.CallsCarryThinking(sig.Format):
		s.signPending(b, sig, report)
	}
}

// signThinking stores the signature of open thinking that the client receives.
func (s *responseEncoder) signThinking(b *sentBlock, sig content.Signature, report lossFunc) {
	switch {
	case sig.Format == Format:
		if b.State.omits { // the vendor decides whether thinking has a text
			s.to.writeText(b, string(b.State.omitted), nil)
			b.State.omits = false
		}
		b.State.signature = sig.Data
	case !isForeign(sig):
		report(envelope.UnknownFormat)
	default:
		if b.State.omits {
			b.State.toCarry = sig
		}
		b.State.signature, s.inBlocks = encodeEnvelope(sig, envelope.KindPart, report), true
		s.signPending(b, sig, report)
	}
}

// reveal writes hidden thinking that a Messages vendor has signed: the vendor decides
// whether to think.
func (s *responseEncoder) reveal(b *sentBlock, sig content.Signature, report lossFunc) {
	text, ok := s.State(b).Remove(b.Number, &s.Room)
	if !ok {
		report(response.LossHiddenThinking)
		return
	}
	s.Own = true
	b.Part = &content.Thinking{}
	s.Begin(b)
	s.to.writeText(b, text, nil)
	b.State.signature = sig.Data
	s.EndBlock(b, "")
	b.Begun, b.State = false, sentState{hidden: true}
}

// signPending stores the signature of thinking that the next call may have to carry.
func (s *responseEncoder) signPending(b *sentBlock, sig content.Signature, report lossFunc) {
	switch {
	case s.returnsBlocks:
	case !isForeign(sig):
		report(envelope.UnknownFormat)
	case s.carriesInID(sig) && !s.State(b).Sign(b.Number, sig, &s.Room):
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
	s.NameCall(b, t, &s.ids)
}
