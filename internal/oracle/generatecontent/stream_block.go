package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// An openBlock is the state of a block that has not been closed.
type openBlock struct {
	number      int // Block of the events
	slot, index int // of the candidate, and of the part in the candidate
	kind        blockKind
	verbatim    bool // written by verbatim frames

	part             content.Part   // of a wholeBlock: the part of the EventOpen
	input            *codec.Builder // arguments of EventInput
	waiting          bool           // a tool call that closed but may have been cut; see flushWaiting
	extra            *content.Extra // of a text: written with its first piece
	signature        content.Signature
	foreignSignature content.Signature // of a text: the signature of another vendor that signature carries
	tail             response.PartialRune
	citations        []content.Citation
	citationBytes    int     // size of citations
	citationsDropped bool    // citations were dropped
	span             segment // of a text
}

type blockKind uint8

const (
	droppedBlock  blockKind = iota // cannot be represented
	textBlock                      // written when it arrives
	thinkingBlock                  // written when it arrives
	wholeBlock                     // written when it closes
)

// find returns the open block with the given number.
func (s *stream) find(block int) *openBlock {
	for i := range s.open {
		if s.open[i].number == block {
			return &s.open[i]
		}
	}
	return nil
}

// addBlock adds the block of an EventOpen.
func (s *stream) addBlock(e *upstream.Event) *openBlock {
	k := s.slotFor(e.Candidate)
	s.open = append(s.open, openBlock{number: e.Block, slot: k, index: s.progress[k].blocks})
	s.progress[k].blocks++
	s.progress[k].newest = e.Block
	return &s.open[len(s.open)-1]
}

// openEvent opens a block. The text of the opening part is the first piece.
func (s *stream) openEvent(dst []byte, e *upstream.Event) []byte {
	dst = s.flushWaiting(dst, s.slotFor(e.Candidate), "")
	b := s.addBlock(e)
	report := func(r *loss.Rule) { s.reportBlock(b, r) }
	switch p := e.Part.(type) {
	case *content.Text:
		b.kind = textBlock
		c := *p
		dropHints(&c, report)
		b.extra, b.signature, b.foreignSignature = c.Extra, c.Signature, p.Signature
		for i := range p.Citations {
			s.addCitation(b, &p.Citations[i])
		}
		return s.appendText(dst, b, c.Text, nil)
	case *content.Thinking:
		return s.openThinking(dst, b, p)
	}
	b.kind, b.part = wholeBlock, e.Part
	if t, ok := e.Part.(*content.ToolUse); ok {
		c := *t
		dropHints(&c, report)
		b.part = &c
	}
	return dst
}

// textEvent appends a piece of text or thinking.
func (s *stream) textEvent(dst []byte, e *upstream.Event) []byte {
	b := s.find(e.Block)
	if b == nil || b.kind != textBlock && b.kind != thinkingBlock {
		return dst
	}
	if b.kind == thinkingBlock && !b.verbatim {
		s.appendThinking(b, e.Text)
	}
	x := e.Extra
	if x != nil && (x.Format != Format || !jsonwire.ValidObject(x.JSON)) {
		codec.UnsupportedOfPart(x, func(r *loss.Rule) { s.reportBlock(b, r) })
		x = nil
	}
	return s.appendText(dst, b, e.Text, x)
}

// appendText appends a piece of text with the members of x, unless both are empty.
func (s *stream) appendText(dst []byte, b *openBlock, text string, x *content.Extra) []byte {
	text = b.tail.Join(text)
	if text == "" && x == nil {
		return dst
	}
	dst = s.beginText(dst, b, text)
	if x != nil {
		dst = appendMembers(dst, &s.scratch, x)
	}
	return append(dst, '}')
}

// beginText appends a text part without its closing brace.
func (s *stream) beginText(dst []byte, b *openBlock, text string) []byte {
	dst = append(s.beginPart(dst, b.slot), `{"text":`...)
	s.progress[b.slot].addText(b, text)
	dst = jsonwire.AppendString(dst, text)
	if b.kind == thinkingBlock {
		dst = append(dst, `,"thought":true`...)
	}
	if b.extra != nil {
		dst = appendMembers(dst, &s.scratch, b.extra)
		b.extra = nil
	}
	return dst
}

// inputEvent stores a piece of tool arguments.
func (s *stream) inputEvent(e *upstream.Event) {
	b := s.find(e.Block)
	if b == nil || b.kind != wholeBlock || b.verbatim || e.Text == "" {
		return
	}
	if s.heldArguments += len(e.Text); s.heldArguments > maxHeldArguments {
		s.err = errArgumentsTooLarge
		return
	}
	if b.input == nil {
		b.input = new(codec.Builder)
	}
	b.input.Add(e.Text)
}

// signatureEvent stores the signature of an open block. It writes the signature of a closed
// block on an empty text.
func (s *stream) signatureEvent(dst []byte, e *upstream.Event) []byte {
	b := s.find(e.Block)
	late := b == nil
	for i := range s.closed {
		if late && b == nil && s.closed[i].number == e.Block {
			b = &s.closed[i]
		}
	}
	if b == nil {
		return dst
	}
	if b.kind == thinkingBlock && s.signThinking(b, *e.Signature) {
		return dst
	}
	sig := toResponseSignature(*e.Signature, func(r *loss.Rule) { s.reportBlock(b, r) })
	switch {
	case b.kind == droppedBlock || sig.Data == "" && late:
		return dst
	case !late && !b.verbatim:
		b.signature, b.foreignSignature = sig, *e.Signature
		return dst
	case b.kind == wholeBlock:
		s.reportBlock(b, lossLateSignature)
	}
	b.foreignSignature = *e.Signature
	return s.appendSigned(dst, b, "", sig)
}

// appendSigned appends a text part with a signature. text may be empty.
func (s *stream) appendSigned(dst []byte, b *openBlock, text string, sig content.Signature) []byte {
	dst = append(s.beginText(dst, b, text), `,"thoughtSignature":`...)
	if b.kind == textBlock {
		s.progress[b.slot].state.CopyTextSignature(b.index, b.foreignSignature, &s.stateBudget)
	}
	s.progress[b.slot].kind = droppedBlock // no text is joined to a signed part
	return append(jsonwire.AppendString(dst, sig.Data), '}')
}

// closeEvent closes a block.
func (s *stream) closeEvent(dst []byte, block int) []byte {
	b := s.find(block)
	if b == nil {
		return dst
	}
	switch rest := b.tail.Flush(); {
	case b.verbatim || b.kind == droppedBlock:
	case b.kind == wholeBlock:
		p := b.complete()
		if block == s.progress[b.slot].newest && codec.HasNoInput(p) {
			b.waiting = true
			return dst
		}
		dst = s.appendPart(dst, b, p)
	case b.signature.Data != "":
		dst = s.appendSigned(dst, b, rest, b.signature)
	case rest != "" || b.extra != nil:
		dst = append(s.beginText(dst, b, rest), '}')
	}
	s.flushCitations(b)
	s.removeBlock(block)
	return dst
}

// flushWaiting appends the waiting tool call of a candidate, if it has one. A tool call
// without arguments waits, because the response may have been truncated before they began.
// It is dropped if the stop reason ended shows that.
func (s *stream) flushWaiting(dst []byte, k int, ended content.StopReason) []byte {
	b := s.find(s.progress[k].newest)
	if b == nil || b.slot != k || !b.waiting {
		return dst
	}
	if p := b.complete(); codec.NotStarted(p, ended) {
		s.reportBlock(b, lossCutCall)
		b.kind = droppedBlock
	} else {
		dst = s.appendPart(dst, b, p)
	}
	s.removeBlock(b.number)
	return dst
}

// appendPart appends p, the complete part of a block.
func (s *stream) appendPart(dst []byte, b *openBlock, p content.Part) []byte {
	p = toResponsePart(p, func(r *loss.Rule) {
		s.reportBlock(b, r)
		if isBrokenCall(r) {
			s.candidates[b.slot].broken = true
			s.progress[b.slot].finishReason = ""
		}
	})
	if p == nil {
		b.kind = droppedBlock
		return dst
	}
	t, ok := p.(*content.ToolUse)
	if ok {
		s.candidates[b.slot].calls++
	}
	if ok && t.Signature.Data == "" { // t is a copy
		if t.Signature = s.takeState(b.slot); t.Signature.Data == "" {
			t.Signature = s.unsignedCall(b.slot)
		}
	} else if ok {
		dst = s.appendCarrier(dst, b.slot)
		s.progress[b.slot].state.DropCopies(&s.stateBudget)
	}
	s.scratch.Reset()
	e := newEncoder(&s.scratch)
	e.part(p) // cannot fail after toResponsePart
	s.progress[b.slot].parts++
	s.progress[b.slot].kind = droppedBlock
	return appendOneLine(s.beginPart(dst, b.slot), s.scratch.Bytes())
}

// complete returns the part with the signature and arguments that followed it.
func (b *openBlock) complete() content.Part {
	p := b.part
	if b.signature.Data != "" {
		p = partfield.WithSignature(p, b.signature)
	}
	if b.input != nil {
		switch t := p.(type) {
		case *content.ToolUse:
			c := *t
			c.Input = b.input.String()
			return &c
		case *content.ServerToolUse:
			c := *t
			c.Input = b.input.String()
			return &c
		}
	}
	return p
}

// removeBlock moves an open block to closed.
func (s *stream) removeBlock(block int) {
	for i := range s.open {
		if s.open[i].number == block {
			b := s.open[i]
			if b.input != nil {
				s.heldArguments -= b.input.Len()
			}
			s.progress[b.slot].state.Close(block)
			if old := &s.closed[len(s.closed)-1]; old.number >= 0 {
				s.progress[old.slot].state.DropIfUnsigned(old.number, &s.stateBudget)
			}
			b.part, b.input, b.citations, b.signature, b.foreignSignature = nil, nil, nil, content.Signature{}, content.Signature{}
			copy(s.closed[1:], s.closed[:])
			s.closed[0] = b
			last := len(s.open) - 1
			copy(s.open[i:], s.open[i+1:])
			s.open[last] = openBlock{}
			s.open = s.open[:last]
			return
		}
	}
}
