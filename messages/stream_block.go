package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/seal"
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
	p := forAnswer(e.Part, func(r *loss.Rule) {
		s.lose(e.Block, r)
		s.broken = s.broken || r == unsaidInput
	})
	sig, says, nothing := s.ahead(e, p, rest)
	if nothing && sig.Data != "" {
		s.held.hold(e.Block, sig, seal.Alone, s.loser(e.Block))
		p = nil
	}
	if p == nil {
		s.last = streamed{in: e.Block, out: -1}
		s.open = append(s.open, s.last)
		return dst
	}
	s.said = false // an end that was written already was none
	dst = s.catchUp(dst)
	if sig.Data != "" && says {
		dst = s.appendCarrier(dst, sealed(sig, inFront(p), s.loser(e.Block)))
	}
	s.last = streamed{in: e.Block, out: s.next, kind: kindOfBlock(p), signed: sig.Data != "" && says}
	s.open, s.endsText = append(s.open, s.last), s.last.kind == textBlock
	b := &s.open[len(s.open)-1]
	if !b.signed {
		b.beside = sig
	}
	s.next++
	if t, ok := p.(*content.ToolUse); ok { // a copy of our own
		s.calls++
		if s.ids.name(t) {
			s.lose(e.Block, unsaidID)
		}
	}
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
			b.says = !skipped(p.Text)
			dst = s.delta(dst, b, textDelta, p.Text, nil)
		}
		for i := range p.Citations {
			dst = s.cite(dst, b, &p.Citations[i], nil)
		}
	case *content.Thinking:
		if b.kind == thinkingBlock && p.Text != "" {
			b.thought = true
			dst = s.delta(dst, b, thinkingDelta, p.Text, nil)
		}
		b.signature = p.Signature.Data // none of a redacted one
	case *content.ToolUse:
		b.input = p.Input
		dst = s.delta(dst, b, inputDelta, "", nil)
	case *content.ServerToolUse:
		b.input = p.Input
		dst = s.delta(dst, b, inputDelta, "", nil)
	}
	return dst
}

// closed appends the end of a block.
func (s *stream) closed(dst []byte, block int) []byte {
	b := s.at(block)
	if b == nil {
		return dst
	}
	if b.out >= 0 && b.kind == thinkingBlock && b.signature == "" && !b.signed {
		b.over = true // a signature may come yet
		return dst
	}
	return s.stopped(dst, b)
}

// stopped appends the end of a block that is over, and forgets it.
func (s *stream) stopped(dst []byte, b *streamed) []byte {
	if b.out >= 0 {
		dst = s.stopBlock(s.ending(dst, b), b.out)
	}
	if b.beside.Data != "" {
		dst = s.behind(dst, b, b.beside)
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
		dst = s.delta(dst, b, head, b.tail.Rest(), nil)
	}
	switch b.kind {
	case thinkingBlock:
		if !b.thought {
			dst = s.delta(dst, b, thinkingDelta, "", nil)
		}
		if !b.signed {
			// Once, also where there is none: clients either append or replace.
			dst = s.delta(dst, b, signatureDelta, b.signature, nil)
		}
	case callBlock:
		if b.input != "" {
			return s.delta(dst, b, inputDelta, b.input, nil)
		}
		if !b.raw && !b.arguments.object() {
			s.broken = true
			s.lose(b.in, unsaidInput)
		}
	}
	return dst
}

func (s *stream) forget(block int) {
	for i := range s.open {
		if s.open[i].in == block {
			last := len(s.open) - 1
			copy(s.open[i:], s.open[i+1:])
			s.open[last] = streamed{}
			s.open = s.open[:last]
			return
		}
	}
}

// A balance watches a JSON text that comes in pieces, in bounded memory. It
// sees whether it is one object that ends, which finds out what was cut; it
// does not see every mistake inside.
type balance struct {
	depth                              int
	inString, escaped, begun, over, no bool
}

func (b *balance) scan(s string) {
	for i := range len(s) {
		c := s[i]
		switch {
		case b.escaped:
			b.escaped = false
		case b.inString:
			b.escaped = c == '\\'
			b.inString = c != '"'
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		case b.over, !b.begun && c != '{':
			b.no = true
			return
		case c == '"':
			b.inString = true
		case c == '{' || c == '[':
			b.begun = true
			b.depth++
		case c == '}' || c == ']':
			b.depth--
			b.over = b.depth == 0
		}
	}
}

// object reports whether it was an object, or nothing at all.
func (b *balance) object() bool { return !b.no && (b.over || !b.begun) }
