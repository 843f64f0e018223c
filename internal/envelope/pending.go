package envelope

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
)

// A Pending collects the state of one response that the next tool call may have to
// carry; see [EncodeThinking]. It collects all thinking, since a vendor may sign a block
// after its last event.
//
// Methods identify a part by block, the number of its events, or by n, its index in
// the response, which losses report. room is the number of bytes that all
// collections of a response may still store.
type Pending struct {
	// ClientFormat is the format of the client. State of this format is not carried.
	ClientFormat content.Format

	// OmitText drops the text of thinking whose signature holds the text, too.
	OmitText bool

	list      []pendingState
	oversized int // 1 + the index of a signed part that was too large; nothing is stored until Take
}

// A pendingState is the state of one part.
type pendingState struct {
	block, n int
	open     bool
	dropped  bool // the state exceeded the room
	cost     int  // bytes that count against the room
	text     []byte
	part     content.Thinking // without its text
}

// stateCost counts against the room for each state, besides its bytes.
const stateCost = 256

// signature returns the signature or the redacted data.
func (s *pendingState) signature() content.Signature {
	if s.part.Redacted.Data != "" {
		return s.part.Redacted
	}
	return s.part.Signature
}

// size returns the number of bytes that count against MaxSize.
func (s *pendingState) size() int {
	return len(s.text) + len(s.part.Signature.Data) + len(s.part.Redacted.Data)
}

// appendText appends text unless the state is dropped.
func (s *pendingState) appendText(text string, room *int) {
	if s.charge(len(text), room); !s.dropped {
		s.text = append(s.text, text...)
	}
}

// charge counts n bytes against the room. If they exceed it, the state is dropped.
func (s *pendingState) charge(n int, room *int) {
	if s.dropped {
		return
	}
	s.cost, *room = s.cost+n, *room-n
	if *room < 0 {
		*room += s.cost
		s.dropped, s.cost, s.text = true, 0, nil
	}
}

// Open adds thinking whose events follow. It returns false if the state is too
// large.
func (p *Pending) Open(block, n int, t *content.Thinking, room *int) bool {
	if p.oversized > 0 {
		return false
	}
	s := pendingState{block: block, n: n, open: true, part: content.Thinking{Redacted: t.Redacted}}
	s.charge(stateCost+s.size(), room)
	p.list = append(p.list, s)
	p.sign(&p.list[len(p.list)-1], t.Signature, room)
	return p.oversized == 0
}

// AppendText appends to the text of a block.
func (p *Pending) AppendText(block int, text string, room *int) {
	if s := p.find(block); s != nil {
		s.appendText(text, room)
		p.checkSize(s, room)
	}
}

// Sign sets the signature of a block and replaces an earlier one. It returns false
// if the block is no longer stored: the signature came too late.
func (p *Pending) Sign(block int, sig content.Signature, room *int) bool {
	if s := p.find(block); s != nil {
		p.sign(s, sig, room)
		return true
	}
	return p.oversized > 0
}

// Close marks a block as complete. A signature may still follow.
func (p *Pending) Close(block int) {
	if s := p.find(block); s != nil {
		s.open = false
	}
}

// DropUnsigned drops all closed blocks without state of another format, and calls
// dropped with the index of each.
func (p *Pending) DropUnsigned(room *int, dropped func(n int)) {
	p.list = slices.DeleteFunc(p.list, func(s pendingState) bool {
		if s.open || IsForeign(s.signature(), p.ClientFormat) {
			return false
		}
		*room += s.cost
		dropped(s.n)
		return true
	})
}

// DropIfUnsigned drops a block that has no state of another format. It returns the index of
// a block that it has dropped.
func (p *Pending) DropIfUnsigned(block int, room *int) (n int, ok bool) {
	for i := range slices.Backward(p.list) {
		if s := p.list[i]; s.block == block {
			if IsForeign(s.signature(), p.ClientFormat) {
				break
			}
			*room += s.cost
			p.list = slices.Delete(p.list, i, i+1)
			return s.n, true
		}
	}
	return 0, false
}

// DropAll drops all states, and calls lost for each state of another format.
func (p *Pending) DropAll(lost func(n int, t *content.Thinking)) {
	for i := range p.list {
		if s := &p.list[i]; IsForeign(s.signature(), p.ClientFormat) {
			lost(s.n, &s.part)
		}
	}
	p.list = nil
}

// Remove removes a block and returns its text. It returns false if the text is not
// stored.
func (p *Pending) Remove(block int, room *int) (text string, ok bool) {
	i := slices.IndexFunc(p.list, func(s pendingState) bool { return s.block == block }) // bounded by MaxSize
	if i < 0 || p.list[i].dropped {
		return "", false
	}
	text = string(p.list[i].text)
	*room += p.list[i].cost
	p.list = slices.Delete(p.list, i, i+1)
	return text, true
}

// Empty reports whether nothing is stored.
func (p *Pending) Empty() bool { return len(p.list) == 0 }

// NeedsCarrier reports whether there is state of another format.
func (p *Pending) NeedsCarrier() bool {
	if p.oversized > 0 {
		return true
	}
	for i := range p.list {
		if IsForeign(p.list[i].signature(), p.ClientFormat) {
			return true
		}
	}
	return false
}

// Oversized returns the index of a part whose state was too large to be carried.
// Then nothing is stored until the next call of [Pending.Take].
func (p *Pending) Oversized() (n int, ok bool) { return p.oversized - 1, p.oversized > 0 }

// Size returns the number of stored states, and about how many bytes they occupy.
func (p *Pending) Size() (states, bytes int) {
	for i := range p.list {
		bytes += p.list[i].size() + stateCost
	}
	return len(p.list), bytes
}

// Take removes all closed states and returns their encoded form, or an empty string if
// there are none. encode is called with their format and the result of
// [EncodeThinking]; it returns false if that is too large. Take encodes all states or
// none: a vendor refuses a list with gaps. lost is called with the index of each part
// that has a loss.
func (p *Pending) Take(room *int, encode func(f content.Format, data string) (string, bool), lost func(n int, r *loss.Rule)) string {
	var list []*content.Thinking
	var format content.Format
	first, size, oversized, open := 0, 0, p.oversized-1, p.list[:0]
	p.oversized = 0
	for i := range p.list {
		s := &p.list[i]
		if s.open {
			open = append(open, *s)
			continue
		}
		*room += s.cost
		sig := s.signature()
		switch {
		case !IsForeign(sig, p.ClientFormat):
			continue
		case format != "" && sig.Format != format:
			lost(s.n, TwoVendors)
			continue
		case format == "":
			first = s.n
		}
		format = sig.Format
		if size += s.size(); s.dropped || size > MaxSize {
			oversized = s.n
		}
		t := s.part
		if !p.OmitText || !foreign.HoldsText(sig) {
			t.Text = string(s.text)
		}
		list = append(list, &t)
	}
	clear(p.list[len(open):])
	p.list = open
	if len(list) == 0 && oversized < 0 {
		return ""
	}
	if oversized < 0 {
		if data, ok := encode(format, EncodeThinking(list)); ok {
			return data
		}
		oversized = first // JSON escapes count, too
	}
	lost(oversized, TooLarge)
	return ""
}

// find returns the state of a block, or nil if it is not stored.
func (p *Pending) find(block int) *pendingState {
	for i := len(p.list) - 1; i >= 0; i-- {
		if p.list[i].block == block {
			return &p.list[i]
		}
	}
	return nil
}

// sign sets the signature of a state.
func (p *Pending) sign(s *pendingState, sig content.Signature, room *int) {
	more := len(sig.Data) - len(s.part.Signature.Data)
	s.part.Signature = sig
	s.charge(more, room)
	p.checkSize(s, room)
}

// checkSize drops all states if one that must be carried is too large.
func (p *Pending) checkSize(s *pendingState, room *int) {
	if !s.dropped || !IsForeign(s.signature(), p.ClientFormat) {
		return
	}
	p.oversized = s.n + 1
	for i := range p.list {
		*room += p.list[i].cost
	}
	p.list = nil
}

// CallsCarryThinking reports whether tool calls carry the thinking before them for vendors of
// the format f, because they need signatures of thinking and not of calls.
func CallsCarryThinking(f content.Format) bool { return !foreign.SignsCalls(f) }
