package messages

import (
	"errors"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// blockKindOf returns the kind of deltas that a block has.
func blockKindOf(p content.Part) blockKind {
	switch p := p.(type) {
	case *content.Text:
		return textBlock
	case *content.Thinking:
		if p.Redacted.Data == "" {
			return thinkingBlock
		}
	case *content.ToolUse, *content.ServerToolUse:
		return callBlock
	}
	return wholeBlock
}

// openBlock appends the start of a block, and its initial content as deltas.
func (s *stream) openBlock(dst []byte, e *upstream.Event, rest []upstream.Event) []byte {
	if !s.begun {
		dst = s.begin(dst)
	}
	dst = s.finishLastCall(dst, "")
	s.newestBlock = e.Block
	s.dropUnsigned()
	if s.hidesThinking(e.Part) || s.isOnlyState(e.Part) {
		s.openHidden(e)
		return dst
	}
	part, input, call := splitCall(e.Part)
	p := toBlock(part, func(r *loss.Rule) {
		s.lose(e.Block, r)
		if isBrokenCall(r) {
			s.markBroken()
		}
	})
	sig, hasText, empty := s.lookAhead(e, p, rest)
	_, isText := part.(*content.Text)
	switch {
	case isText && isOptional(sig):
		s.lose(e.Block, lossTextSignature)
		sig = content.Signature{}
		if empty {
			p = nil
		}
	case empty && sig.Data != "":
		dst = s.startWaiting(dst, e.Block)
		if s.returnsBlocks {
			s.held.hold(e.Block, sig, envelope.KindEmptyText, s.lossesOf(e.Block))
		} else {
			s.pending.AddTextSignature(e.Block, sig, &s.room)
		}
		p = nil
	}
	if p == nil {
		s.last = streamBlock{in: e.Block, out: -1}
		s.open = append(s.open, s.last)
		return dst
	}
	if call {
		return s.openCall(dst, e, &streamCall{part: p, input: input, signature: sig}, rest)
	}
	s.endWritten = false // the written end was not the last one
	dst = s.writeOwed(s.startWaiting(dst, e.Block))
	signed := sig.Data != "" && hasText && s.returnsBlocks
	if signed {
		dst = s.appendCarrier(dst, encodeEnvelope(sig, envelope.KindNextText, s.lossesOf(e.Block)))
	}
	if t, ok := e.Part.(*content.Thinking); ok {
		s.carried = s.carried || isForeign(t.Redacted) || isForeign(t.Signature)
		if !s.returnsBlocks && (!s.own || (isForeign(t.Redacted) || isForeign(t.Signature)) && !isOptional(t.Signature)) && t.Signature.Format != Format && t.Redacted.Format != Format {
			s.collect(e.Block, t)
		}
	}
	s.last = streamBlock{in: e.Block, out: s.next, kind: blockKindOf(p), signed: signed}
	s.open, s.endsText = append(s.open, s.last), s.last.kind == textBlock
	b := &s.open[len(s.open)-1]
	if !b.signed {
		b.textSignature = sig
	}
	s.next++
	return s.appendInitial(s.startBlock(dst, b.out, p), b, p)
}

func (s *stream) startBlock(dst []byte, index int, p content.Part) []byte {
	s.scratch.Reset()
	writeBlock(&s.scratch, p, true)
	dst = append(dst, "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"...)
	dst = jsonwire.AppendInt(dst, int64(index))
	dst = append(dst, ",\"content_block\":"...)
	return append(s.appendScratch(dst), "}\n\n"...)
}

func (s *stream) stopBlock(dst []byte, index int) []byte {
	dst = append(dst, "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":"...)
	dst = jsonwire.AppendInt(dst, int64(index))
	return append(dst, "}\n\n"...)
}

// appendInitial appends the initial content of a block.
func (s *stream) appendInitial(dst []byte, b *streamBlock, p content.Part) []byte {
	switch p := p.(type) {
	case *content.Text:
		if p.Text != "" {
			b.hasText = !mayBeDropped(p.Text)
			dst = s.delta(dst, b, textDelta, p.Text, nil)
		}
		for i := range p.Citations {
			dst = s.cite(dst, b, &p.Citations[i], nil)
		}
	case *content.Thinking:
		if b.kind == thinkingBlock && p.Text != "" {
			b.thinkingWritten, b.hasText = true, true
			dst = s.delta(dst, b, thinkingDelta, p.Text, nil)
		}
		b.signature = p.Signature.Data // empty for redacted thinking
	}
	return dst
}

// closeBlock appends the end of a block, unless a signature or the next block is expected.
func (s *stream) closeBlock(dst []byte, block int) []byte {
	b := s.at(block)
	if b == nil {
		return dst
	}
	s.pending.Close(block)
	if b.out >= 0 && b.kind == thinkingBlock && b.signature == "" && !b.signed {
		b.closed = true // a signature may follow
		return dst
	}
	if s.mayBeCut(b) {
		b.closed = true
		return dst
	}
	return s.finishBlock(dst, b)
}

// finishBlock appends the end of a block and forgets the block.
func (s *stream) finishBlock(dst []byte, b *streamBlock) []byte {
	if b.call != nil {
		dst, b = s.endCall(dst, b.in)
	}
	s.pending.Close(b.in)
	if b.out >= 0 {
		dst = s.stopBlock(s.appendEnd(dst, b), b.out)
	}
	if b.textSignature.Data != "" {
		dst = s.carryAfter(dst, b, b.textSignature)
	}
	if s.last.in == b.in {
		s.last.hasText, s.last.signed = b.hasText, b.signed
	}
	s.forget(b.in)
	return dst
}

// appendEnd appends what must be written before the end of a block.
func (s *stream) appendEnd(dst []byte, b *streamBlock) []byte {
	if !b.tail.Empty() {
		head := textDelta
		switch b.kind {
		case thinkingBlock:
			head = thinkingDelta
		case callBlock:
			head = inputDelta
		}
		dst = s.delta(dst, b, head, b.tail.Flush(), nil)
	}
	if b.kind != thinkingBlock {
		return dst
	}
	if !b.thinkingWritten {
		dst = s.delta(dst, b, thinkingDelta, "", nil)
	}
	if !b.signed {
		// Only one delta: some clients append signatures, others replace them. Never an
		// empty one: clients do not return it, or the vendor rejects it.
		if b.signature == "" {
			b.signature = envelope.Unsigned
		}
		dst = s.delta(dst, b, signatureDelta, b.signature, nil)
	}
	return dst
}

func (s *stream) forget(block int) {
	for i := range s.open {
		if s.open[i].in == block {
			if c := s.open[i].call; c != nil {
				s.inputBytes -= c.args.Len()
			}
			last := len(s.open) - 1
			copy(s.open[i:], s.open[i+1:])
			s.open[last] = streamBlock{}
			s.open = s.open[:last]
			return
		}
	}
}

// Clients cannot undo a tool call. Some run every call that they have received, for any
// stop reason, and treat arguments that are not valid JSON as empty. So the block of
// a call begins when its arguments begin with a brace, or when the call is complete. A
// call that is known to be broken by then has no block, as in a whole response.
//
// If arguments turn out to be broken later, they have been sent. Their block ends there, as
// with the vendor when a response is truncated, and the stop reason reports it. An error
// instead would take the whole response from clients that repeat requests.
//
// A tool call without arguments at the end of a response may have been truncated. It waits
// until another block follows or the response ends.

// A streamCall is the state of a tool call that is not forwarded as frames.
type streamCall struct {
	part        content.Part      // a copy without arguments
	input       string            // initial arguments, which deltas replace
	maybeBroken bool              // input is not valid so far
	args        codec.Builder     // arguments in deltas, unless complete
	firstByte   byte              // first byte that is not white space; 0: none yet
	complete    bool              // the batch that opened the call has all arguments
	broken      bool              // known not to be an object
	written     bool              // deltas were written
	named       bool              // part has its final id
	signature   content.Signature // another vendor's, carried in the id
}

// maxInputBytes limits the arguments of all open tool calls.
const maxInputBytes = 32 << 20

var errInputTooLarge = &upstream.Error{Code: upstream.CodeBadGateway,
	Err: errors.New("messages: the arguments of open tool calls are larger than " + strconv.Itoa(maxInputBytes>>20) + " MiB")}

// Err implements [handler.FallibleEncoder].
func (s *stream) Err() error { return s.err }

// splitCall returns a tool call without its arguments, and the arguments. It returns other
// parts unchanged.
func splitCall(p content.Part) (part content.Part, input string, call bool) {
	switch p := p.(type) {
	case *content.ToolUse:
		c := *p
		c.Input = ""
		return &c, p.Input, true
	case *content.ServerToolUse:
		c := *p
		c.Input = ""
		return &c, p.Input, true
	}
	return p, "", false
}

// openCall stores a new tool call. Its block begins at once if the call is complete and valid.
func (s *stream) openCall(dst []byte, e *upstream.Event, c *streamCall, rest []upstream.Event) []byte {
	s.open = append(s.open, streamBlock{in: e.Block, out: -1, kind: callBlock, call: c})
	input, whole := inputAhead(e.Block, c.input, rest)
	object, ok := codec.Arguments(input)
	c.complete = whole && object != "" // repaired here, too
	c.maybeBroken, c.broken = !ok, !ok && whole
	if ok && c.complete {
		dst, _ = s.beginCall(dst, e.Block)
	}
	return dst
}

// inputAhead returns the arguments of a call that ends within events: the deltas, or input if
// there are none. For other calls it returns input.
func inputAhead(block int, input string, events []upstream.Event) (all string, whole bool) {
	var pieces []string
	for i := range events {
		switch e := &events[i]; {
		case e.Block != block:
		case e.Kind == upstream.EventInput && e.Text != "":
			pieces = append(pieces, e.Text)
		case e.Kind == upstream.EventClose:
			if len(pieces) > 0 {
				input = strings.Join(pieces, "")
			}
			return input, true
		}
	}
	return input, false
}

// isWaiting reports whether b is a tool call whose block has not begun.
func (b *streamBlock) isWaiting() bool { return b.call != nil && b.out < 0 }

// input appends tool arguments. rest are the following events of the batch.
func (s *stream) input(dst []byte, e *upstream.Event, rest []upstream.Event) []byte {
	b := s.at(e.Block)
	if b == nil || b.kind != callBlock || b.out < 0 && b.call == nil {
		return dst
	}
	c := b.call
	if c == nil {
		return s.deltas(dst, b, inputDelta, e)
	}
	if !s.storeInput(c, e.Text) {
		return dst
	}
	if b.isWaiting() && c.firstByte == '{' && !c.broken {
		if more, whole := inputAhead(e.Block, "", rest); whole {
			_, ok := codec.Arguments(c.args.String() + more)
			c.broken = !ok
		}
	}
	if c.broken || c.firstByte != '{' && !c.written && !c.complete {
		if e.Extra != nil {
			s.lose(e.Block, lossEventMembers)
		}
		return dst
	}
	if b.isWaiting() {
		dst, b = s.beginCall(dst, e.Block)
	}
	if !c.written && !c.complete {
		c.written = true
		all := *e
		all.Text = c.args.String()
		return s.deltas(dst, b, inputDelta, &all)
	}
	c.written = c.written || e.Text != ""
	return s.deltas(dst, b, inputDelta, e)
}

// storeInput stores arguments until they are validated at the end of the call. It reports
// whether they are within the limit.
func (s *stream) storeInput(c *streamCall, piece string) bool {
	if c.complete {
		return true
	}
	if s.inputBytes += len(piece); s.inputBytes > maxInputBytes {
		s.err = errInputTooLarge
		return false
	}
	c.args.Add(piece)
	if c.firstByte == 0 {
		if piece = codec.TrimBlank(piece); piece != "" {
			c.firstByte = piece[0]
		}
	}
	return true
}

// arguments returns the arguments received so far.
func (c *streamCall) arguments() string {
	if c.args.Len() > 0 {
		return c.args.String()
	}
	return c.input
}

// markBroken records an incomplete tool call of the model.
func (s *stream) markBroken() { s.broken, s.endWritten = true, false }

// startWaiting begins the blocks of tool calls that opened before a block, to keep the order.
// Calls that may be broken continue to wait.
func (s *stream) startWaiting(dst []byte, block int) []byte {
	ready := false
	for i := 0; i < len(s.open) && s.open[i].in != block; i++ {
		b := &s.open[i]
		switch {
		case !b.isWaiting() || b.call.firstByte != 0 || b.call.maybeBroken:
		case ready:
			dst = s.startCall(dst, b)
		default:
			ready = true
			s.carryInBlock(b)
			dst = s.writeOwed(dst)
			i = -1 // finished blocks were removed
		}
	}
	return dst
}

// beginCall appends the start of the block of a waiting tool call.
func (s *stream) beginCall(dst []byte, block int) ([]byte, *streamBlock) {
	dst = s.startWaiting(dst, block)
	s.carryInBlock(s.at(block))
	dst = s.writeOwed(dst)
	b := s.at(block)
	return s.startCall(dst, b), b
}

// startCall is beginCall if nothing must be written before.
func (s *stream) startCall(dst []byte, b *streamBlock) []byte {
	c := b.call
	s.endWritten = false // the written end was not the last one
	b.out = s.next
	s.next++
	s.last, s.endsText = streamBlock{in: b.in, out: b.out, kind: callBlock}, false
	s.nameCall(b)
	if t, ok := c.part.(*content.ToolUse); ok { // a copy
		s.dropUnsigned()
		t.ID = callID(t.ID, c.signature, s.returnsBlocks && s.carried, &s.pending, &s.room, s.lose, s.lossesOf(b.in))
		s.carried = false
	}
	dst = s.startBlock(dst, b.out, c.part)
	return s.delta(dst, b, inputDelta, "", nil)
}

// mayBeCut reports whether the response may have been truncated before the arguments of a
// closing tool call.
func (s *stream) mayBeCut(b *streamBlock) bool {
	return b.call != nil && b.in == s.newestBlock && b.isWaiting() && codec.TrimBlank(b.call.arguments()) == "" &&
		!b.call.complete && codec.HasNoInput(b.call.part)
}

// finishLastCall appends the tool call that waits for the next block, if any. It drops the
// call if the response was cut.
func (s *stream) finishLastCall(dst []byte, ended content.StopReason) []byte {
	b := s.at(s.newestBlock)
	if b == nil || b.call == nil || !b.closed {
		return dst
	}
	b.closed = false
	if codec.NotStarted(b.call.part, ended) {
		s.lose(b.in, lossCutCall)
		s.forget(b.in)
		return dst
	}
	return s.finishBlock(dst, b)
}

// endCall validates a complete tool call. It writes or drops a waiting one.
func (s *stream) endCall(dst []byte, block int) ([]byte, *streamBlock) {
	b := s.at(block)
	c := b.call
	input, ok := c.input, !c.broken
	if !c.complete {
		input, ok = codec.Arguments(c.arguments())
	}
	_, own := c.part.(*content.ToolUse)
	if own && !ok {
		s.markBroken()
	}
	switch {
	case !b.isWaiting() && !ok:
		s.lose(block, lossSentCall)
	case own && !ok:
		s.lose(block, lossBrokenCall)
		return dst, b
	case !ok:
		s.lose(block, lossServerInput)
		input = ""
	}
	if b.isWaiting() {
		dst, b = s.beginCall(dst, block)
	}
	if !c.written && input != "" { // also broken arguments, which clients should see
		dst = s.deltas(dst, b, inputDelta, &upstream.Event{Text: input})
	}
	return dst, b
}
