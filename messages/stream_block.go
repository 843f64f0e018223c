package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// kindOfBlock says which deltas a block has.
func kindOfBlock(p content.Part) blockKind {
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

// opened appends the start of a block, and what it opened with as deltas.
func (s *stream) opened(dst []byte, e *upstream.Event, rest []upstream.Event) []byte {
	if !s.begun {
		dst = s.begin(dst)
	}
	dst = s.lastCall(dst, "")
	s.newest = e.Block
	s.dropUnsigned()
	if s.hidesThinking(e.Part) || s.isOnlyState(e.Part) {
		s.openHidden(e)
		return dst
	}
	part, input, call := split(e.Part)
	p := forAnswer(part, func(r *loss.Rule) {
		s.lose(e.Block, r)
		if unmade(r) {
			s.breaks()
		}
	})
	sig, says, nothing := s.lookAhead(e, p, rest)
	_, isText := part.(*content.Text)
	switch {
	case isText && isOptional(sig):
		s.lose(e.Block, unsaidTextSignature)
		sig = content.Signature{}
		if nothing {
			p = nil
		}
	case nothing && sig.Data != "":
		dst = s.release(dst, e.Block)
		if s.returnsBlocks {
			s.held.hold(e.Block, sig, envelope.KindEmptyText, s.loser(e.Block))
		} else {
			s.pending.AddTextSignature(e.Block, sig, &s.room)
		}
		p = nil
	}
	if p == nil {
		s.last = streamed{in: e.Block, out: -1}
		s.open = append(s.open, s.last)
		return dst
	}
	if call {
		return s.openCall(dst, e, &streamedCall{part: p, input: input, signature: sig}, rest)
	}
	s.said = false // an end that was written already was none
	dst = s.writeOwed(s.release(dst, e.Block))
	signed := sig.Data != "" && says && s.returnsBlocks
	if signed {
		dst = s.appendCarrier(dst, encodeEnvelope(sig, envelope.KindNextText, s.loser(e.Block)))
	}
	if t, ok := e.Part.(*content.Thinking); ok {
		s.carried = s.carried || isForeign(t.Redacted) || isForeign(t.Signature)
		if !s.returnsBlocks && !s.own {
			s.collect(e.Block, t)
		}
	}
	s.last = streamed{in: e.Block, out: s.next, kind: kindOfBlock(p), signed: signed}
	s.open, s.endsText = append(s.open, s.last), s.last.kind == textBlock
	b := &s.open[len(s.open)-1]
	if !b.signed {
		b.beside = sig
	}
	s.next++
	return s.beginning(s.startBlock(dst, b.out, p), b, p)
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

// beginning appends what a block opened with.
func (s *stream) beginning(dst []byte, b *streamed, p content.Part) []byte {
	switch p := p.(type) {
	case *content.Text:
		if p.Text != "" {
			b.says = !mayBeDropped(p.Text)
			dst = s.delta(dst, b, textDelta, p.Text, nil)
		}
		for i := range p.Citations {
			dst = s.cite(dst, b, &p.Citations[i], nil)
		}
	case *content.Thinking:
		if b.kind == thinkingBlock && p.Text != "" {
			b.thought, b.says = true, true
			dst = s.delta(dst, b, thinkingDelta, p.Text, nil)
		}
		b.signature = p.Signature.Data // none of a redacted one
	}
	return dst
}

// closed appends the end of a block.
func (s *stream) closed(dst []byte, block int) []byte {
	b := s.at(block)
	if b == nil {
		return dst
	}
	s.pending.Close(block)
	if b.out >= 0 && b.kind == thinkingBlock && b.signature == "" && !b.signed {
		b.over = true // a signature may come yet
		return dst
	}
	if s.unbegun(b) {
		b.over = true
		return dst
	}
	return s.stopped(dst, b)
}

// stopped appends the end of a block that is over, and forgets it.
func (s *stream) stopped(dst []byte, b *streamed) []byte {
	if b.call != nil {
		dst, b = s.endCall(dst, b.in)
	}
	s.pending.Close(b.in)
	if b.out >= 0 {
		dst = s.stopBlock(s.ending(dst, b), b.out)
	}
	if b.beside.Data != "" {
		dst = s.carryAfter(dst, b, b.beside)
	}
	if s.last.in == b.in {
		s.last.says, s.last.signed = b.says, b.signed
	}
	s.forget(b.in)
	return dst
}

// ending appends what was held back until a block stops.
func (s *stream) ending(dst []byte, b *streamed) []byte {
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
	if !b.thought {
		dst = s.delta(dst, b, thinkingDelta, "", nil)
	}
	if !b.signed {
		// Once: clients either append or replace. Never an empty one: clients
		// do not return it, or the vendor refuses it.
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
				s.size -= c.args.Len()
			}
			last := len(s.open) - 1
			copy(s.open[i:], s.open[i+1:])
			s.open[last] = streamed{}
			s.open = s.open[:last]
			return
		}
	}
}
