package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
)

// State of other vendors is sent as thoughtSignature; see [envelope]. Every client
// returns the signature of a tool call, and some return no other part of the thinking.
// Therefore the next tool call carries all thinking before it. In a response without a
// later tool call, the last text carries it; see [envelope.EncodeThinking]. A client that asked for the
// thinking also receives it as thought parts. The signature of any other part is in its own
// thoughtSignature.

// isForeign reports whether a signature is of another format and must be carried.
func isForeign(s content.Signature) bool { return envelope.IsForeign(s, Format) }

// encodeSignature returns the signature that carries a signature of another format, or
// the zero Signature if that is too large.
func encodeSignature(s content.Signature, report lossFunc) content.Signature {
	data, ok := envelope.EncodeBase64(s.Format, envelope.KindPart, s.Data)
	if !ok {
		report(envelope.TooLarge)
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: data}
}

// openThinking stores the state of thinking that opens. It returns false if the client
// does not receive the thinking itself.
func (s *responseEncoder) openThinking(b *sentBlock, p *content.Thinking) bool {
	if p.Redacted.Data != "" && !isForeign(p.Redacted) {
		s.Lose(b, envelope.UnknownFormat)
		return false
	}
	s.State(b).Open(b.Number, b.Index, p, &s.Room)
	if s.hidesThinking() {
		s.signHidden(b, p.Signature)
		return false
	}
	if p.Redacted.Data == "" {
		return true
	}
	if p.Extra != nil {
		foreign.ResponseMembersOfPart(p.Extra, s.LossesOf(b))
	}
	return false
}

// hidesThinking reports whether the client receives no thinking, because its request does
// not ask for it. The thinking of servers of this format is always sent: the server
// decides.
func (s *responseEncoder) hidesThinking() bool { return s.hideThinking && !s.Own }

// A hiddenSignature is a signature of this format of thinking that the client does not receive.
// The next part that has none carries it, as the vendor signs the part after thinking that it
// does not show.
type hiddenSignature struct {
	content.Signature
	part int // index of the thinking
}

// signHidden stores the signature of thinking that the client does not receive. Signatures of
// other formats are state that later parts carry.
func (s *responseEncoder) signHidden(b *sentBlock, sig content.Signature) {
	if sig.Data == "" || isForeign(sig) {
		return
	}
	own := toResponseSignature(sig, s.LossesOf(b))
	if own.Data == "" {
		return
	}
	c := s.candidate(b.Candidate)
	if c.hidden.part != b.Index { // otherwise the signature replaces an earlier one
		s.dropHidden(b.Candidate)
	}
	c.hidden = hiddenSignature{own, b.Index}
}

// takeHidden returns the signature of thinking before a part, or the zero Signature if there
// is none.
func (s *responseEncoder) takeHidden(k int) content.Signature {
	h := &s.candidate(k).hidden
	sig := h.Signature
	*h = hiddenSignature{}
	return sig
}

// dropHidden drops the signature of thinking that no part carries.
func (s *responseEncoder) dropHidden(k int) {
	if h := s.candidate(k).hidden; h.Data != "" {
		s.LoseAt(s.Path(k, h.part), lossHiddenSignature)
		s.takeHidden(k)
	}
}

// visibleOnly removes the parts of thinking that this format cannot represent.
func visibleOnly(p *content.Thinking, report lossFunc) {
	if isForeign(p.Signature) {
		p.Signature = content.Signature{}
	}
	dropHints(p, report)
}

// signThinking stores the signature of a thinking block. It reports whether the
// signature is of another format, and thus complete.
func (s *responseEncoder) signThinking(b *sentBlock, sig content.Signature) bool {
	if !s.State(b).Sign(b.Number, sig, &s.Room) && isForeign(sig) {
		s.Lose(b, envelope.TooLate)
	}
	return isForeign(sig)
}

// signsCalls reports whether the vendor signs the first tool call of every response of a
// model. Clients treat such a response without the signature as an error.
func signsCalls(model string) bool {
	version, ok := strings.CutPrefix(strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]), "gemini-")
	n := 0
	for n < len(version) && version[n] >= '0' && version[n] <= '9' {
		n++
	}
	if n == 0 { // such as gemini-flash-latest
		return ok && strings.HasSuffix(version, "-latest")
	}
	major, err := strconv.Atoi(version[:n])
	return ok && err == nil && major >= 3
}

// unsignedCall returns the signature of a tool call that no vendor has signed: an empty
// envelope if clients expect a signature, otherwise the zero Signature.
func (s *responseEncoder) unsignedCall(k int) content.Signature {
	if !s.expectSigned || s.Own || s.Candidates[k].Calls != 1 {
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: envelope.UnsignedBase64}
}

// signatureOfCall returns the signature of a tool call that the upstream has not signed.
func (s *responseEncoder) signatureOfCall(k int) content.Signature {
	if sig := s.takeState(k); sig.Data != "" {
		return sig
	}
	if sig := s.takeHidden(k); sig.Data != "" {
		return sig
	}
	return s.unsignedCall(k)
}

// takeState returns the signature that carries the state before a part, or the zero Signature
// if there is none.
func (s *responseEncoder) takeState(k int) content.Signature {
	s.DropUnsigned(k, s.hidesThinking())
	encode := func(f content.Format, data string) (string, bool) {
		return envelope.EncodeBase64(f, envelope.KindThinking, data)
	}
	lose := func(n int, r *loss.Rule) { s.LoseAt(s.Path(k, n), r) }
	if data := s.Candidates[k].State.Take(&s.Room, encode, lose); data != "" {
		return content.Signature{Format: Format, Data: data}
	}
	return content.Signature{}
}

// carryState writes the state of a candidate that no tool call has carried, unless the client
// has received all of it with its parts.
func (s *responseEncoder) carryState(k int) {
	if !s.Candidates[k].State.NeedsCarrier() {
		return
	}
	if sig := s.takeState(k); sig.Data != "" {
		s.to.carry(k, sig)
	}
}

// decodeState decodes the state of other vendors in turns.
func decodeState(turns []content.Turn) envelope.Decoded {
	return envelope.DecodeTurns(turns, func(_ int, p content.Part) (content.Part, *loss.Rule) {
		sig := partfield.SignatureOf(p)
		if sig.Format != Format || !envelope.IsEnvelopeBase64(sig.Data) {
			return p, nil
		}
		e, ok := envelope.DecodeBase64(sig.Data)
		if !ok || e.Kind != envelope.KindPart && e.Kind != envelope.KindThinking {
			return partfield.WithSignature(p, envelope.WithoutFormat(sig)), envelope.Damaged
		}
		if e.Format == envelope.UnsignedFormat {
			return partfield.WithSignature(p, content.Signature{}), nil
		}
		return partfield.WithSignature(p, content.Signature{Format: e.Format, Data: e.Data}), nil
	})
}
