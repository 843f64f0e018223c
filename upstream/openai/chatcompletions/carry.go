package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/response"
)

// State of other vendors is sent in the ids of tool calls, because clients return nothing else
// unaltered: see [envelope]. The id of a call has the signature of the call or, if it has none,
// all thinking before the call with its signatures and redacted data. The client also receives
// the text of the thinking, as reasoning_content; what it returns of it has no signature.
//
// All other state is dropped and reported: signatures of texts, which no vendor needs, thinking
// after the last call, and signatures that come too late or are too large.
//
// State of a vendor of this format is in members of the message: see [ownMembers].

// isForeign reports whether a signature is of another format and must be carried.
func isForeign(s content.Signature) bool { return envelope.IsForeign(s, Format) }

// openThinking stores the state of thinking, and returns when the client receives its text.
func (s *responseEncoder) openThinking(b *sentBlock, p *content.Thinking) response.When {
	s.dropHints(b, p)
	redacted := p.Redacted.Data != ""
	switch sig := p.Redacted; {
	case redacted && sig.Format == Format:
		b.State.own = sig.Data
		s.writeOwnState(b)
		return response.Never
	case redacted && (!isForeign(sig) || !envelope.CallsCarryThinking(sig.Format)):
		s.Lose(b, envelope.UnknownFormat)
		return response.Never
	}
	s.Collect(b, p)
	s.signThinking(b, p.Signature)
	switch {
	case redacted:
		b.Kind, b.State.hidden = response.Thinking, true
		return response.Never
	case s.hideReasoning:
		b.State.hidden = true
		s.Lose(b, lossHiddenReasoning)
		return response.Never
	}
	return response.Now
}

// signThinking stores a signature of this format, and reports one that has no format.
func (s *responseEncoder) signThinking(b *sentBlock, sig content.Signature) {
	switch {
	case sig.Data == "" || isForeign(sig):
	case sig.Format == Format:
		b.State.own = sig.Data
	default:
		s.Lose(b, envelope.UnknownFormat)
	}
}

// Sign stores the signature of a block.
func (s *responseEncoder) Sign(b *sentBlock, sig content.Signature, late bool) {
	if sig.Data == "" {
		return
	}
	foreign := isForeign(sig)
	switch {
	case b.Kind == response.Text && foreign:
		s.Lose(b, lossTextSignature)
	case b.Kind == response.Thinking && !foreign:
		if late {
			s.Lose(b, envelope.TooLate)
			return
		}
		s.signThinking(b, sig)
	case b.Kind == response.Thinking:
		if envelope.CallsCarryThinking(sig.Format) && !s.State(b).Sign(b.Number, sig, &s.Room) {
			s.Lose(b, envelope.TooLate)
		}
	case b.Kind == response.Call && foreign && !late && b.IsWaiting():
		b.State.toCarry = sig
	case b.Kind == response.Call && foreign && (late || b.Begun):
		s.Lose(b, envelope.TooLate)
	default:
		s.Lose(b, envelope.UnknownFormat)
	}
}

// ownMembers are the members of a message in which servers of this format get thinking back.
var ownMembers = [...]string{"encrypted_content", "reasoning_details", "thinking_blocks"}

// writeOwnState writes the state of thinking of a vendor of this format, which decoding has
// collected in an object. A vendor that needs only the text has none.
func (s *responseEncoder) writeOwnState(b *sentBlock) {
	json := b.State.own
	if b.State.own = ""; json == "" || json[0] != '{' {
		return
	}
	var all response.Members
	all.Add(&content.Extra{Format: Format, JSON: json}, Format)
	var w jsonwire.Writer
	w.BeginObject()
	for _, name := range ownMembers {
		w.OptRawMember(name, all.Get(name))
	}
	w.EndObject()
	if text := w.Text(); text != "{}" {
		s.to.writeMembers(b.Candidate, text)
	}
}

// nameCall sets the id of a tool call that begins, with the state that it carries. A function_call
// has no id: the state is reported at the end.
func (s *responseEncoder) nameCall(b *sentBlock, t *content.ToolUse) {
	s.DropUnsigned(b.Candidate, false)
	if !s.functions {
		s.NameCall(b, t, &s.ids)
		s.CarryInID(b, t, b.State.toCarry, false)
		b.State.toCarry = content.Signature{}
	}
}
