package messages

import (
	"slices"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// State that another vendor needs back goes out where clients of this format
// return what they received. Every client returns the ids of tool calls; not
// every client returns thinking blocks; and a client that did not ask for
// thinking may not be able to read a response with one. So a carriage decides
// for each response, from its request alone:
//
//   - The signature of thinking is that of its thinking block.
//   - The signature of a call is in the signature of a thinking block with text
//     before it, if the client asked for thinking, the block has no signature of
//     its own and is still open to one, and the history shows no call that came
//     back without its block. Otherwise it is in the id of the call.
//   - Thinking that the client does not see, or whose block it does not return,
//     and the signatures of texts before a call, are in the id of the call.
//   - Where the client asked for thinking and returns blocks, thinking without
//     a text and signatures of texts are in blocks of redacted_thinking: that of
//     a text before it or, where the signature came late, behind it.
//
// The promise: a client that returns calls in their order with their ids returns
// each signature of a call, byte for byte, and the thinking before it in its place
// (see [envelope.Thought]). A client that returns the blocks of a response, too,
// returns everything else. It may leave out texts of nothing but white space; it
// may return each block as a turn of its own. The vendor has to sign a part once,
// before another part opens, and a call before its block begins.
//
// Everything else is reported at the part that it is of:
//   - The signatures of texts of content generation, which that vendor does not
//     need.
//   - State that would have to follow the text that ends a response, since agents
//     print the last block: see unsaidLast. A whole response drops only what is
//     signed behind that text, or on white space.
//   - Thinking and signatures of texts behind the last call, where there are no
//     blocks for them.
//   - A signature that comes too late, and one that is too large.
//   - The signature of a part that this format has no block for.

// A carriage is where state goes in a response. The zero carriage is for
// responses whose request is not known: thinking is sent, and state is in ids.
type carriage struct {
	hidden bool // the request did not ask for thinking: no thinking block is sent
	blocks bool // the client returns thinking blocks, as far as its request shows
}

// carriageOf returns the carriage for a request whose calls came back without the
// blocks that held their state, or with them.
func carriageOf(n *upstream.Request, dropped bool) carriage {
	on := n.Thinking.Enabled()
	return carriage{hidden: !on, blocks: on && !dropped}
}

// foreign reports whether a signature is one of another format, which is
// carried.
func foreign(s content.Signature) bool { return envelope.Foreign(s, Format) }

// collects reports whether the id of the next call may have to carry thinking
// with a signature, or the signature of a text.
func (c carriage) collects(s content.Signature) bool {
	return !c.blocks && foreign(s) && envelope.CarriesThinking(s.Format)
}

// optional reports whether the signature of a text or of thinking is one that its
// vendor does not need back.
func optional(s content.Signature) bool { return foreign(s) && !envelope.CarriesThinking(s.Format) }

// sealed returns an envelope with a signature that is foreign, empty if it
// cannot be sealed.
func sealed(s content.Signature, k envelope.Kind, lost lose) string {
	data, ok := envelope.Seal(s.Format, k, s.Data)
	if !ok {
		lost(envelope.TooLarge)
	}
	return data
}

// beside returns the signature of a part that has to be carried beside it, or in
// its id.
func beside(p content.Part) content.Signature {
	switch p.(type) {
	case *content.Text, *content.ToolUse:
		if s := envelope.Of(p); foreign(s) {
			return s
		}
	}
	return content.Signature{}
}

// envelopeBlock returns a block that carries an envelope.
func envelopeBlock(data string) *content.Thinking {
	return &content.Thinking{Redacted: content.Signature{Format: Format, Data: data}}
}

// callID returns the id of a call with the state that it carries: the signature
// sig of the call or, without one, what is pending. marked says that state is in
// blocks before the call.
func callID(id string, sig content.Signature, marked bool, pending *envelope.Pending, room *int, lost func(n int, r *loss.Rule), own lose) string {
	if sig.Data != "" {
		if s, ok := envelope.EncodeID(id, envelope.Envelope{Format: sig.Format, Kind: envelope.Own, Data: sig.Data}); ok {
			return s
		}
		own(envelope.TooLarge)
	} else if pending.Any() {
		encode := func(f content.Format, data string) (string, bool) {
			return envelope.EncodeID(id, envelope.Envelope{Format: f, Kind: envelope.Thoughts, Data: data})
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
	if envelope.ReservedID(id) {
		if s, ok := envelope.EncodeID(id, envelope.Envelope{Kind: envelope.ID}); ok {
			return s
		}
		return envelope.HashedID(id)
	}
	return id
}

// ahead returns the signature of a block that opens, if it has one that must be
// carried beside it and is known by now: other events of the batch may bring
// it, which then are done with, up to where another block opens behind this one.
// It also reports whether the batch says something in the block, which p is, and
// whether the block is over with nothing said at all.
func (s *stream) ahead(open *upstream.Event, p content.Part, events []upstream.Event) (sig content.Signature, says, nothing bool) {
	if _, own := open.Part.(*content.Thinking); own {
		return sig, false, false
	}
	sig = beside(open.Part)
	t, isText := p.(*content.Text)
	some := !isText || !saysNothing(t)
	says = !isText || !skipped(t.Text)
	over := false
	for i := range events {
		e := &events[i]
		if over && e.Kind == upstream.EventOpen {
			break // a whole answer may have very many blocks
		}
		if e.Block != open.Block {
			continue
		}
		switch e.Kind {
		case upstream.EventText:
			some = true
			says = says || !skipped(e.Text)
		case upstream.EventCitation, upstream.EventBlockExtra:
			some = true
		case upstream.EventClose:
			over, nothing = true, !some
		case upstream.EventSignature:
			if foreign(*e.Signature) && e.Extra == nil {
				sig = *e.Signature
				*e = upstream.Event{} // no event at all
			}
		}
	}
	return sig, says, nothing
}

// appendCarrier appends a block that carries an envelope, if there is one.
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

// hides reports whether a block of thinking that opens is not sent, since the
// request did not ask for it. What this format's own vendor sends is sent on.
func (s *stream) hides(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && t != nil && s.hidden && !s.own && t.Redacted.Format != Format && t.Signature.Format != Format && !optional(t.Redacted)
}

// hide notes a block of thinking that is not sent.
func (s *stream) hide(e *upstream.Event) {
	t := e.Part.(*content.Thinking)
	s.last = streamed{in: e.Block, out: -1, kind: thinkingBlock, hidden: true}
	s.open = append(s.open, s.last)
	s.collect(e.Block, t)
}

// collectsOnly reports whether a block of thinking has nothing but state that the
// id of the next call carries.
func (c carriage) collectsOnly(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && t != nil && foreign(t.Redacted) && !optional(t.Redacted) && !c.blocks
}

// toCollect returns thinking without a signature that no id carries.
func toCollect(t *content.Thinking) *content.Thinking {
	if envelope.CarriesThinking(t.Signature.Format) {
		return t
	}
	c := *t
	c.Signature = content.Signature{}
	return &c
}

// collect keeps thinking for the id of the next call.
func (s *stream) collect(block int, t *content.Thinking) {
	t = toCollect(t)
	if s.pending.Add(block, block, t, &s.room) {
		s.pending.Write(block, t.Text, &s.room)
	}
}

// settleHidden reports the thinking before a block that opens or begins, or before
// the end, which was not sent and which no vendor has signed.
func (s *stream) settleHidden() {
	if s.pending.Empty() {
		return
	}
	s.pending.Settle(&s.room, func(n int) {
		if s.hidden {
			s.lose(n, unsaidThinking)
		}
	})
}

// passText counts text that the client gets, in front of a call that may carry
// what is pending.
func (c carriage) passText(pending *envelope.Pending, text string) {
	switch {
	case c.blocks:
	case pending.Empty(): // only whether there is any counts
		pending.Text(len(text))
	default:
		pending.Text(width(text))
	}
}

// rest reports what was to be carried, and no call has come to carry it.
func (c carriage) rest(pending *envelope.Pending, lost func(n int, r *loss.Rule)) {
	if n, ok := pending.Large(); ok {
		lost(n, envelope.TooLarge)
	}
	pending.Rest(func(n int, p *content.Thinking) {
		if p == nil || c.hidden || p.Redacted.Data != "" {
			lost(n, unsaidState) // else it is in a block, too
		}
	})
}

// width returns the length of a text as it is written, where every byte that is
// not UTF-8 is replaced.
func width(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += utf8.RuneLen(r)
	}
	return n
}

// signature keeps the signature of a block until it stops. One that comes
// later follows it.
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
	case of != nil && of.hidden && envelope.CarriesThinking(sig.Format):
		s.sign(e.Block, sig, lost)
	case b != nil && b.waiting() && foreign(sig):
		b.call.signature = sig
	case b != nil && b.waiting():
		lost(envelope.Nobodys)
	case of != nil && of.kind == textBlock && optional(sig):
		lost(unsaidTextSignature)
	case of != nil && of.out < 0:
	case thought && !b.signed && sig.Format == Format:
		b.signature = sig.Data
	case !foreign(sig):
		lost(envelope.Nobodys)
	case thought && !b.signed:
		b.signature, s.carried = sealed(sig, envelope.Own, lost), true
		s.sign(e.Block, sig, lost)
	case late && of.kind == textBlock && !of.signed && of.out == s.next-1:
		return s.behind(dst, of, sig)
	case b != nil && b.kind == textBlock && !b.signed && b.out == s.next-1:
		b.beside = sig
	default:
		lost(envelope.TooLate)
	}
	return dst
}

// reveal appends thinking that was not sent, but that is of this format's own
// vendor, as its signature shows: that vendor knows when to think.
func (s *stream) reveal(dst []byte, block int, sig content.Signature, lost lose) []byte {
	text, ok := s.pending.Withdraw(block, &s.room)
	if !ok {
		lost(unsaidThinking)
		return dst
	}
	s.own, s.said, s.endsText = true, false, false
	dst = s.catchUp(s.release(dst, block))
	b := streamed{in: block, out: s.next, kind: thinkingBlock, signature: sig.Data}
	s.next++
	dst = s.startBlock(dst, b.out, &content.Thinking{})
	dst = s.deltas(dst, &b, thinkingDelta, &upstream.Event{Text: text})
	b.thought = true
	return s.stopBlock(s.ending(dst, &b), b.out)
}

// sign keeps the signature of thinking that the next call may have to carry.
func (s *stream) sign(block int, sig content.Signature, lost lose) {
	switch {
	case s.blocks:
	case !foreign(sig):
		lost(envelope.Nobodys)
	case s.collects(sig) && !s.pending.Sign(block, sig, &s.room):
		lost(envelope.TooLate)
	}
}

// behind keeps the signature of a text that is over, or will be followed by
// another block.
func (s *stream) behind(dst []byte, b *streamed, sig content.Signature) []byte {
	b.signed = true
	if s.blocks {
		s.held.hold(b.in, sig, besideText(b.says), s.loser(b.in))
	} else {
		s.pending.AddText(b.in, sig, &s.room)
	}
	return dst
}

// catchUp appends what has to be said before another block begins: the end of a
// thought, what carries the signatures of texts, and of a block that is still
// open and soon is no longer the last.
func (s *stream) catchUp(dst []byte) []byte {
	dst = s.settle(dst)
	if b := s.unsaid(); b != nil {
		sig := b.beside
		b.beside = content.Signature{}
		dst = s.behind(dst, b, sig)
	}
	for _, h := range s.held.take() {
		dst = s.appendCarrier(dst, h.data)
	}
	return dst
}

// settle appends the ends of thoughts that are over: they were open to late
// signatures.
func (s *stream) settle(dst []byte) []byte {
	for i := 0; i < len(s.open); {
		if b := &s.open[i]; b.over && b.kind == thinkingBlock {
			dst = s.stopped(dst, b)
		} else {
			i++
		}
	}
	return dst
}

// unsaid returns the open block whose signature has to be carried behind it,
// or nil. It is the last one that was written.
func (s *stream) unsaid() *streamed {
	for i := range s.open {
		if s.open[i].beside.Data != "" {
			return &s.open[i]
		}
	}
	return nil
}

// inBlock puts the signature of a call whose block is about to begin into the
// block of thinking that was written last, if it is open to it. The id of the call
// is marked then.
func (s *stream) inBlock(b *streamed) {
	c := b.call
	t, ok := c.part.(*content.ToolUse)
	if !ok || !s.blocks || c.signature.Data == "" {
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
		if data, ok := envelope.SealCall(c.signature, t.ID); ok {
			o.signature, c.signature, s.carried = data, content.Signature{}, true
		}
		return
	}
}

// nameCall gives a call the id by which its vendor knows it.
func (s *stream) nameCall(b *streamed) {
	t, ok := b.call.part.(*content.ToolUse) // a copy of our own
	if !ok || b.call.named {
		return
	}
	b.call.named = true
	s.calls++
	if s.ids.name(t) {
		s.lose(b.in, unsaidID)
	}
}

// unseal opens what other vendors need back. It returns the turns themselves if
// there is nothing of it. dropped reports whether a call came back without the
// thinking block that held its state.
func unseal(turns []content.Turn) (list []content.Turn, changed, dropped bool, lost []content.Loss) {
	o := opener{turns: turns, turn: -1}
	o.decodeIDs()
	list, changed, lost = envelope.Turns(turns, o.open)
	return list, changed, o.dropped, lost
}

// An opener opens what came back in the turns of a request.
type opener struct {
	turns []content.Turn

	// By the id of a call as it came, if any is encoded or marked: the id inside,
	// the state that it carries, and whether it is damaged.
	ids     map[string]string
	state   map[string]content.Signature
	damaged map[string]bool

	turn    int          // that is being opened
	calls   []signedCall // the state of calls of the assistant's turns in a row
	carried bool         // a block with state came back since the last call
	dropped bool         // a call came back without the block that held its state
}

// A signedCall is what a thinking block carries for a call behind it.
type signedCall struct {
	id        string
	signature content.Signature
}

// decodeIDs decodes the ids of calls. Every id of a request stays different from
// all others, whatever a client has made of them: one that would become the id
// of another call counts as damaged.
func (o *opener) decodeIDs() {
	some := false
	each(o.turns, func(id string) {
		some = some || envelope.ReservedID(id)
	})
	if !some {
		return
	}
	o.ids = make(map[string]string)
	o.state, o.damaged = make(map[string]content.Signature), make(map[string]bool)
	whose := make(map[string]string) // by the id inside: the id that came
	each(o.turns, func(id string) {
		if !envelope.ReservedID(id) {
			whose[id] = id
		}
	})
	each(o.turns, func(id string) {
		if _, known := o.ids[id]; known || !envelope.ReservedID(id) {
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

// decodeID returns the id that is inside an encoded or marked id, and what it
// carries.
func decodeID(s string) (id string, e envelope.Envelope, ok bool) {
	if id, ok := envelope.MarkedID(s); ok {
		if again, ok := envelope.MarkID(id); ok && again == s {
			return id, e, true
		}
		return envelope.DamagedID(s), e, false
	}
	id, e, ok = envelope.DecodeID(s)
	if !ok || e.Kind == envelope.Thoughts && !envelope.CarriesThinking(e.Format) {
		return envelope.DamagedID(s), envelope.Envelope{}, false
	}
	return id, e, true
}

// each calls f with the id of every call and result.
func each(turns []content.Turn, f func(id string)) {
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

// open opens one part.
func (o *opener) open(turn int, p content.Part) (q content.Part, damaged bool) {
	for o.turn < turn {
		if o.turn++; o.turns[o.turn].Role == content.RoleUser {
			o.calls, o.carried = o.calls[:0], false
		}
	}
	switch p := p.(type) {
	case *content.Thinking:
		if p != nil {
			return o.thinking(p)
		}
	case *content.ToolUse:
		if p != nil {
			return o.call(p)
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

// call opens the id of a call, and signs the call with what was carried.
func (o *opener) call(p *content.ToolUse) (q content.Part, damaged bool) {
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
	} else if _, marked := envelope.MarkedID(p.ID); marked && !o.damaged[p.ID] {
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

// thinking opens what a thinking block carries.
func (o *opener) thinking(t *content.Thinking) (q content.Part, damaged bool) {
	switch {
	case t.Redacted.Format == Format && envelope.Sealed(t.Redacted.Data):
		q, damaged = openRedacted(t)
		o.carried = o.carried || !damaged
		return q, damaged
	case t.Redacted.Data == "" && t.Signature.Format == Format && envelope.Sealed(t.Signature.Data):
	default:
		return t, false
	}
	c := *t
	e, ok := envelope.Open(t.Signature.Data)
	switch {
	case ok && e.Kind == envelope.Call:
		id, sig := e.CallOf()
		o.calls = append(o.calls, signedCall{id, sig})
		c.Signature = content.Signature{}
	case ok && e.Kind == envelope.Own && e.Format == envelope.UnsignedFormat:
		c.Signature = content.Signature{}
		return &c, false
	case ok && e.Kind == envelope.Own:
		c.Signature = content.Signature{Format: e.Format, Data: e.Data}
	default:
		c.Signature = envelope.Broken(t.Signature)
		return &c, true
	}
	o.carried = true
	return &c, false
}

func openRedacted(t *content.Thinking) (q content.Part, damaged bool) {
	c := *t
	e, ok := envelope.Open(t.Redacted.Data)
	switch {
	case ok && e.Kind == envelope.Own:
		c.Redacted = content.Signature{Format: e.Format, Data: e.Data}
	case ok && e.Kind.Beside():
		c.Redacted = envelope.Neighbour(e.Format, e.Kind, e.Data)
	case ok && e.Kind == envelope.Alone:
		return &content.Text{Signature: content.Signature{Format: e.Format, Data: e.Data}, Extra: t.Extra}, false
	default:
		c.Redacted = envelope.Broken(t.Redacted)
		return &c, true
	}
	return &c, false
}

// unsigned reports whether the signature of a thought is empty, or a citation of
// the web has no index. Responses of other vendors bring these about, and clients
// return them. It also reports texts in base64.
func unsigned(turns []content.Turn) bool {
	for i := range turns {
		for _, p := range turns[i].Parts {
			switch p := p.(type) {
			case *content.Thinking:
				if p != nil && p.Signature == (content.Signature{Format: Format}) && p.Redacted == (content.Signature{}) {
					return true
				}
			case *content.Document:
				if encodedText(p) {
					return true
				}
			case *content.ToolResult:
				if p != nil && slices.ContainsFunc(p.Parts, encodedText) {
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

// encodedText reports whether a part is a text in base64, which the handler
// accepts and the vendor only as a text source.
func encodedText(p content.Part) bool {
	d, ok := p.(*content.Document)
	if !ok || d == nil {
		return false
	}
	s, ok := d.Source.(*content.Base64)
	return ok && s != nil && s.MediaType == plainType
}
