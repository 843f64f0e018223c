package responses

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
)

// State that a vendor needs back is sent in two fields, which clients return unaltered:
//
//   - Thinking is a reasoning item if the request asks for one. Its encrypted_content is an
//     envelope with the signature or the redacted data: see [encodeReasoning]. Its text is in
//     the summary.
//   - The signature of a tool call is in its call_id. If the request does not ask for
//     encrypted reasoning, or the client has not returned it, the thinking before the call is
//     there, too.
//
// Thinking of a server of this format is carried in the same way: an encrypted_content of the
// vendor is bound to the id of its item, and the vendor's id is not known when a streamed item
// begins. Items that are complete when they arrive are sent as they are.
//
// All other state is dropped and reported: signatures of texts, thinking after the last call if
// calls carry it, and signatures that come too late or are too large.

// An expectation is what the client expects of a response, as its request shows. The zero
// expectation is for responses without a known request.
type expectation struct {
	hideThinking bool            // the request did not ask for reasoning items: none is sent
	returnsItems bool            // the client returns encrypted_content
	searches     bool            // the client runs a search for tools
	knowsSearch  bool            // the client receives the searches of the server
	restricted   bool            // only the tools in allowed may be called
	allowed      map[string]bool // by name, also after the namespace and a dot; only those are all tools of a namespace
}

// allows reports whether the request allows a call.
func (x *expectation) allows(t *content.ToolUse) bool {
	return !x.restricted || x.allowed[t.Name] || t.Namespace != "" && (x.allowed[t.Namespace+"."+t.Name] || x.allowed[t.Namespace+"."])
}

// encodeReasoning returns the encrypted_content of a reasoning item with the state of t, whose
// text is in the summary of the item: an envelope with a list of one thinking block without
// text, as [envelope.EncodeThinking] makes it. It returns "" if t has no state, or if the state
// is too large, which it reports.
func encodeReasoning(t *content.Thinking, report func(*loss.Rule)) string {
	s := t.Signature
	if t.Redacted.Data != "" {
		s = t.Redacted
	}
	if s.Data == "" {
		return ""
	}
	data, ok := envelope.Encode(s.Format, envelope.KindThinking, envelope.EncodeThinking([]*content.Thinking{
		{Signature: t.Signature, Redacted: t.Redacted}}))
	if !ok {
		report(envelope.TooLarge)
	}
	return data
}

// openThinking returns when a block of thinking begins.
func (s *encoder) openThinking(b *sentBlock, t *content.Thinking) response.When {
	onlyState := t.Redacted.Data != ""
	if onlyState && t.Redacted.Format == Format && !isReasoningItem(t.Redacted.Data) {
		if t.Redacted.Data == s.shown {
			b.Kind, b.State.hidden = response.Thinking, true
			return response.Never // the part before it is this item
		}
		return response.Now // an item of a built-in tool
	}
	s.losePartMembers(b, t.Extra)
	if !s.returnsItems {
		b.Kind = response.Thinking
		s.Collect(b, t)
	}
	if s.hideThinking || onlyState && !s.returnsItems {
		b.Kind, b.State.hidden = response.Thinking, true
		return response.Never
	}
	b.State.signature = t.Signature
	return response.Now
}

// Sign stores the signature of a block until the block ends.
func (s *encoder) Sign(b *sentBlock, sig content.Signature, late bool) {
	report, st := s.LossesOf(b), &b.State
	switch {
	case sig.Data == "":
	case !envelope.IsForeign(sig, ""):
		report(envelope.UnknownFormat)
	case b.Kind == response.Text:
		report(lossSentSignature)
	case b.Kind == response.Call:
		switch {
		case !late && b.IsWaiting():
			st.toCarry = sig
		case b.Begun || st.item != nil:
			report(envelope.TooLate)
		}
	case b.Kind != response.Thinking:
		if st.item != nil {
			report(lossSentSignature)
		}
	case !s.returnsItems:
		if envelope.CallsCarryThinking(sig.Format) && !s.State(b).Sign(b.Number, sig, &s.Room) {
			report(envelope.TooLate)
		}
	case st.hidden:
		report(response.LossHiddenThinking)
	case late:
		report(envelope.TooLate)
	default:
		st.signature = sig
	}
}

// nameCall sets the id of a call, with the state that it carries.
func (s *encoder) nameCall(b *sentBlock, t *content.ToolUse) {
	s.NameCall(b, t, &s.ids)
	s.DropUnsigned(0, s.hideThinking)
	s.CarryInID(b, t, b.State.toCarry, s.returnsItems && s.inItems)
	b.State.toCarry, s.inItems = content.Signature{}, false
}
