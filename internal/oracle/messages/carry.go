package messages

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
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
//     and the signatures of texts before a call, are in the id of the call.
//   - If the request enables thinking and the client returns blocks, thinking without text
//     and the signatures of texts are in redacted_thinking blocks: before the text or, if
//     the signature came late, after it.
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
//     block: see lossLastSignature. A whole response drops only state that is signed after
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
func encodeEnvelope(s content.Signature, k envelope.Kind, report lossFunc) string {
	data, ok := envelope.Encode(s.Format, k, s.Data)
	if !ok {
		report(envelope.TooLarge)
	}
	return data
}

// adjacentSignature returns the signature of a text or a tool call that is carried
// next to the part or in its id.
func adjacentSignature(p content.Part) content.Signature {
	switch p.(type) {
	case *content.Text, *content.ToolUse:
		if s := partfield.SignatureOf(p); isForeign(s) {
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
func callID(id string, sig content.Signature, marked bool, pending *envelope.Pending, room *int, report func(n int, r *loss.Rule), own lossFunc) string {
	if sig.Data != "" {
		if s, ok := envelope.EncodeID(id, envelope.Envelope{Format: sig.Format, Kind: envelope.KindPart, Data: sig.Data}); ok {
			return s
		}
		own(envelope.TooLarge)
	} else if pending.NeedsCarrier() {
		encode := func(f content.Format, data string) (string, bool) {
			return envelope.EncodeID(id, envelope.Envelope{Format: f, Kind: envelope.KindThinking, Data: data})
		}
		if s := pending.Take(room, encode, report); s != "" {
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
func (s *stream) lookAhead(open *upstream.Event, p content.Part, events []upstream.Event) (sig content.Signature, hasText, empty bool) {
	switch open.Part.(type) {
	case *content.Text, *content.ToolUse:
	default:
		return sig, false, false
	}
	sig = adjacentSignature(open.Part)
	t, isText := p.(*content.Text)
	nonempty := !isText || !isEmptyText(t)
	hasText = !isText || !mayBeDropped(t.Text)
	closed := false
	for i := range events {
		e := &events[i]
		if closed && e.Kind == upstream.EventOpen {
			break // a whole response may have many blocks
		}
		if e.Block != open.Block {
			continue
		}
		switch e.Kind {
		case upstream.EventText:
			nonempty = true
			hasText = hasText || !mayBeDropped(e.Text)
		case upstream.EventCitation, upstream.EventBlockExtra:
			nonempty = true
		case upstream.EventClose:
			closed, empty = true, !nonempty
		case upstream.EventSignature:
			if isForeign(*e.Signature) && e.Extra == nil {
				sig = *e.Signature
				*e = upstream.Event{} // consumed
			}
		}
	}
	return sig, hasText, empty
}

// appendCarrier appends a block that holds an envelope, unless data is empty.
func (s *stream) appendCarrier(dst []byte, data string) []byte {
	if data == "" {
		return dst
	}
	s.endWritten = false // the written end was not the last one
	dst = s.startBlock(dst, s.next, envelopeBlock(data))
	dst = s.stopBlock(dst, s.next)
	s.next++
	s.endsText, s.carried = false, true
	return dst
}

// hidesThinking reports whether a thinking block that opens is not sent because the
// request does not enable thinking. Thinking of Messages vendors is always sent.
func (s *stream) hidesThinking(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return ok && t != nil && s.hideThinking && !s.own && t.Redacted.Format != Format && t.Signature.Format != Format && !isOptional(t.Redacted)
}

// openHidden opens a thinking block that is not sent.
func (s *stream) openHidden(e *upstream.Event) {
	t := e.Part.(*content.Thinking)
	if x := t.Extra; x != nil && x.Format != Format {
		codec.UnsupportedOfPart(x, s.lossesOf(e.Block))
	}
	s.last = streamBlock{in: e.Block, out: -1, kind: thinkingBlock, hidden: true}
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
			s.lose(n, lossHiddenThinking)
		}
	})
}

// dropPending drops and reports the state after the last call.
func (c placement) dropPending(pending *envelope.Pending, report func(n int, r *loss.Rule)) {
	if n, ok := pending.Oversized(); ok {
		report(n, envelope.TooLarge)
	}
	pending.DropAll(func(n int, p *content.Thinking) {
		if p == nil || c.hideThinking || p.Redacted.Data != "" {
			report(n, lossUncarriedState) // otherwise the client has the block
		}
	})
}

// signature stores the signature of a block until the block stops. A later signature
// is carried after the block.
func (s *stream) signature(dst []byte, e *upstream.Event) []byte {
	b, sig, report := s.at(e.Block), *e.Signature, s.lossesOf(e.Block)
	isLate := b == nil && s.last.in == e.Block
	of := b
	if isLate {
		of = &s.last
	}
	switch isThinking := b != nil && b.kind == thinkingBlock; {
	case sig.Data == "":
	case of != nil && of.hidden && sig.Format == Format:
		return s.reveal(dst, e.Block, sig, report)
	case of != nil && of.hidden && envelope.CallsCarryThinking(sig.Format):
		s.signPending(e.Block, sig, report)
	case b != nil && b.isWaiting() && isForeign(sig) && isToolUse(b.call.part):
		b.call.signature = sig
	case b != nil && (b.isWaiting() || b.out >= 0 && b.kind == wholeBlock):
		report(envelope.UnknownFormat)
	case of != nil && of.kind == textBlock && isOptional(sig):
		report(lossTextSignature)
	case of != nil && of.out < 0:
	case isThinking && !b.signed && sig.Format == Format:
		b.signature = sig.Data
	case !isForeign(sig):
		report(envelope.UnknownFormat)
	case isThinking && !b.signed:
		b.signature, s.carried = encodeEnvelope(sig, envelope.KindPart, report), true
		s.signPending(e.Block, sig, report)
	case isLate && of.kind == textBlock && !of.signed && of.out == s.next-1:
		return s.carryAfter(dst, of, sig)
	case b != nil && b.kind == textBlock && !b.signed && b.out == s.next-1:
		b.textSignature = sig
	default:
		report(envelope.TooLate)
	}
	return dst
}

// reveal appends hidden thinking that a Messages vendor has signed: the vendor decides
// whether to think.
func (s *stream) reveal(dst []byte, block int, sig content.Signature, report lossFunc) []byte {
	text, ok := s.pending.Remove(block, &s.room)
	if !ok {
		report(lossHiddenThinking)
		return dst
	}
	s.own, s.endWritten, s.endsText = true, false, false
	dst = s.writeOwed(s.startWaiting(dst, block))
	b := streamBlock{in: block, out: s.next, kind: thinkingBlock, signature: sig.Data}
	s.next++
	dst = s.startBlock(dst, b.out, &content.Thinking{})
	dst = s.delta(dst, &b, thinkingDelta, text, nil)
	b.thinkingWritten = true
	return s.stopBlock(s.appendEnd(dst, &b), b.out)
}

// signPending stores the signature of thinking that the next call may have to carry.
func (s *stream) signPending(block int, sig content.Signature, report lossFunc) {
	switch {
	case s.returnsBlocks:
	case !isForeign(sig):
		report(envelope.UnknownFormat)
	case s.carriesInID(sig) && !s.pending.Sign(block, sig, &s.room):
		report(envelope.TooLate)
	}
}

// carryAfter stores the signature of a text that is complete, or that another block
// follows.
func (s *stream) carryAfter(dst []byte, b *streamBlock, sig content.Signature) []byte {
	b.signed = true
	if s.returnsBlocks {
		s.held.hold(b.in, sig, heldKind(b.hasText), s.lossesOf(b.in))
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
		sig := b.textSignature
		b.textSignature = content.Signature{}
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
		if b := &s.open[i]; b.closed && b.kind == thinkingBlock {
			dst = s.finishBlock(dst, b)
		} else {
			i++
		}
	}
	return dst
}

// blockToCarry returns the open block whose signature must be carried after it, or
// nil. It is the block that was written last.
func (s *stream) blockToCarry() *streamBlock {
	for i := range s.open {
		if s.open[i].textSignature.Data != "" {
			return &s.open[i]
		}
	}
	return nil
}

// carryInBlock puts the signature of a call that is about to begin into the thinking
// block that was written last, if that is still open and unsigned. The id of the call
// is marked then.
func (s *stream) carryInBlock(b *streamBlock) {
	c := b.call
	t, ok := c.part.(*content.ToolUse)
	if !ok || !s.returnsBlocks || c.signature.Data == "" {
		return
	}
	for i := range s.open {
		o := &s.open[i]
		if o.kind != thinkingBlock || !o.closed || o.out != s.next-1 || !o.hasText || o.signed || o.signature != "" {
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
func (s *stream) nameCall(b *streamBlock) {
	t, ok := b.call.part.(*content.ToolUse) // a copy
	if !ok || b.call.named {
		return
	}
	b.call.named = true
	s.calls++
	if s.ids.name(t) {
		s.lose(b.in, lossCallID)
	}
}

// decodeState decodes the state of other vendors in turns. It returns turns itself if
// there is none. dropped reports whether a call was returned without the thinking
// block that held its state.
func decodeState(turns []content.Turn) (list []content.Turn, changed, dropped bool, lost []content.Loss) {
	o := stateDecoder{turns: turns, turn: -1}
	o.decodeIDs()
	list, changed, lost = envelope.DecodeTurns(turns, func(i int, p content.Part) (content.Part, *loss.Rule) {
		q, damaged := o.decodePart(i, p)
		if damaged {
			return q, envelope.Damaged
		}
		return q, nil
	})
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

// A response carries nothing after the text that ends it: agents print the last
// block. Vendors do not need the signature of that text. Envelopes after a text are
// held until another block follows.

// A heldEnvelope is an envelope that is held.
type heldEnvelope struct {
	part int // the index of the part with the signature
	data string
}

// heldEnvelopes is the list of held envelopes. Its size is limited, for streams that
// never end.
type heldEnvelopes struct {
	list []heldEnvelope
	size int
}

// hold adds an envelope with the signature of a text, or of an empty text.
func (w *heldEnvelopes) hold(part int, sig content.Signature, k envelope.Kind, report lossFunc) {
	data := encodeEnvelope(sig, k, report)
	if data == "" {
		return
	}
	if w.size += len(data) + heldCost; w.size > 2*envelope.MaxSize {
		w.size -= len(data) + heldCost
		report(envelope.TooLarge)
		return
	}
	w.list = append(w.list, heldEnvelope{part, data})
}

const heldCost = 256 // upper bound of the bytes of a held envelope besides its data

// take empties the list and returns it. The result is valid until the next hold.
func (w *heldEnvelopes) take() []heldEnvelope {
	list := w.list
	w.list, w.size = w.list[:0], 0
	return list
}

// heldKind returns the kind of the envelope after a text. Clients drop blank texts;
// the signature must not be attached to another text then.
func heldKind(hasText bool) envelope.Kind {
	if hasText {
		return envelope.KindPreviousText
	}
	return envelope.KindEmptyText
}

// mayBeDropped reports whether clients may drop a text: some client regards it as
// white space.
func mayBeDropped(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && r != '\uFEFF' })
}

func isEmptyText(t *content.Text) bool {
	return t.Text == "" && len(t.Citations) == 0 && t.Extra == nil
}

// dropHeld drops and reports the envelopes that no block follows.
func (s *stream) dropHeld() {
	for _, h := range s.held.take() {
		s.lose(h.part, lossLastSignature)
	}
}

// A blockList is the blocks of a whole response. They are the blocks of a stream whose
// events arrive at once.
type blockList struct {
	placement
	list    []content.Part
	held    heldEnvelopes
	pending envelope.Pending // the state for the id of the next call
	room    int
	free    *content.Thinking // the last unsigned block with text, which can carry the signature of a call
	carried bool              // blocks before the next call carry state
	own     bool              // the response is of this format's own vendor
	ids     idMaker
	calls   int
	report  func(path string, r *loss.Rule)
}

// lose reports the loss of a part.
func (l *blockList) lose(part int, r *loss.Rule) { l.report(partPath(part), r) }

// add adds the block p for the part from, which has the given index in the response.
// For an empty text, which clients drop, it adds only the signature.
func (l *blockList) add(part int, from, p content.Part, report lossFunc) {
	switch p := p.(type) {
	case *content.Thinking: // a copy
		l.thinking(part, from.(*content.Thinking), p, report)
		return
	case *content.ToolUse: // a copy
		l.call(part, adjacentSignature(from), p, report)
		return
	}
	sig := adjacentSignature(from)
	t, isText := p.(*content.Text)
	empty := isText && isEmptyText(t)
	switch {
	case sig.Data == "":
		l.appendHeld(p)
	case isOptional(sig):
		report(lossTextSignature)
		if !empty {
			l.appendHeld(p)
		}
	case !l.returnsBlocks:
		if !empty {
			l.appendHeld(p)
		}
		l.pending.AddTextSignature(part, sig, &l.room)
	case empty:
		l.held.hold(part, sig, envelope.KindEmptyText, report)
	case mayBeDropped(t.Text):
		l.appendHeld(p)
		l.held.hold(part, sig, envelope.KindEmptyText, report)
	default:
		l.appendHeld(nil)
		if data := encodeEnvelope(sig, envelope.KindNextText, report); data != "" {
			l.carry(data)
		}
		l.list = append(l.list, p)
	}
}

// thinking adds a thinking block, or stores it for the next call.
func (l *blockList) thinking(part int, from, p *content.Thinking, report lossFunc) {
	hidden := l.hideThinking && !l.own && from.Redacted.Format != Format && from.Signature.Format != Format
	if !l.returnsBlocks {
		l.pending.Add(part, withoutOptionalSignature(from), &l.room)
	}
	switch {
	case hidden && !l.carriesInID(from.Signature) && !l.carriesInID(from.Redacted):
		report(lossHiddenThinking)
		return
	case hidden || l.isOnlyState(from):
		return
	}
	l.appendHeld(p)
	l.carried = l.carried || isForeign(from.Redacted) || isForeign(from.Signature)
	if p.Redacted.Data == "" && p.Signature.Data == "" {
		p.Signature = content.Signature{Format: Format, Data: envelope.Unsigned}
		if p.Text != "" {
			l.free = p
		}
	}
}

// call adds a tool call, with its state in its id or in the thinking before it.
func (l *blockList) call(part int, sig content.Signature, p *content.ToolUse, report lossFunc) {
	l.appendHeld(nil)
	l.calls++
	if l.ids.name(p) {
		report(lossCallID)
	}
	if _, ok := envelope.MarkID(p.ID); ok && l.returnsBlocks && l.free != nil && sig.Data != "" {
		if data, ok := envelope.EncodeCall(sig, p.ID); ok {
			l.free.Signature.Data, l.free = data, nil
			sig, l.carried = content.Signature{}, true
		}
	}
	p.ID = callID(p.ID, sig, l.returnsBlocks && l.carried, &l.pending, &l.room, l.lose, report)
	l.carried = false
	l.list = append(l.list, p)
}

// carry adds a block that holds an envelope.
func (l *blockList) carry(data string) {
	l.list = append(l.list, envelopeBlock(data))
	l.carried = true
}

// appendHeld adds the held envelopes, and p after them unless p is nil.
func (l *blockList) appendHeld(p content.Part) {
	for _, h := range l.held.take() {
		l.carry(h.data)
	}
	if p != nil {
		l.list = append(l.list, p)
	}
}

// end returns all blocks, and the losses after the last text.
func (l *blockList) end() (blocks []content.Part, lost []content.Loss) {
	l.placement.dropPending(&l.pending, l.lose)
	if n := len(l.list); n > 0 {
		if _, ok := l.list[n-1].(*content.Text); ok {
			return l.list, heldLosses(l.held.take(), lossLastSignature)
		}
	}
	l.appendHeld(nil)
	return l.list, nil
}

func heldLosses(list []heldEnvelope, r *loss.Rule) (lost []content.Loss) {
	for _, h := range list {
		lost = append(lost, r.At("parts."+strconv.Itoa(h.part)))
	}
	return lost
}

func isToolUse(p content.Part) bool { _, ok := p.(*content.ToolUse); return ok }
