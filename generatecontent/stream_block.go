package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A streamed is a block that is open.
type streamed struct {
	in   int // the event's number
	k, n int // the place of its candidate, and which of that one's parts it is
	kind blockKind
	raw  bool // written by the vendor's own frames

	part      content.Part   // what a whole block opened with
	input     *codec.Builder // the arguments of a call that come in pieces
	waits     bool           // a call that closed, but may have been cut: see lastCall
	extra     *content.Extra // of a text, to be said with its first piece
	signature content.Signature
	phase     content.Signature // of a text: the signature of another vendor that signature encodes
	tail      handler.PartialRune
	cites     []content.Citation
	citesSize int     // bytes
	over      bool    // some were too many
	told      segment // of a text
}

type blockKind uint8

const (
	noBlock      blockKind = iota // one that cannot be said
	textBlock                     // goes out as it comes
	thoughtBlock                  // likewise
	wholeBlock                    // goes out when it is closed
)

// find returns the open block with the given number.
func (s *stream) find(block int) *streamed {
	for i := range s.open {
		if s.open[i].in == block {
			return &s.open[i]
		}
	}
	return nil
}

// begins notes a block that opens.
func (s *stream) begins(e *upstream.Event) *streamed {
	k := s.place(e.Candidate)
	s.open = append(s.open, streamed{in: e.Block, k: k, n: s.said[k].parts})
	s.said[k].parts++
	s.said[k].newest = e.Block
	return &s.open[len(s.open)-1]
}

// opened begins a block. What a text opened with is its first piece.
func (s *stream) opened(dst []byte, e *upstream.Event) []byte {
	dst = s.lastCall(dst, s.place(e.Candidate), "")
	b := s.begins(e)
	lost := func(r *loss.Rule) { s.lose(b, r) }
	switch p := e.Part.(type) {
	case *content.Text:
		b.kind = textBlock
		c := *p
		hints(&c.Cache, &c.Extra, &c.Signature, lost)
		b.extra, b.signature, b.phase = c.Extra, c.Signature, p.Signature
		for i := range p.Citations {
			s.cite(b, &p.Citations[i])
		}
		return s.piece(dst, b, c.Text, nil)
	case *content.Thinking:
		return s.openThinking(dst, b, p)
	}
	b.kind, b.part = wholeBlock, e.Part
	return dst
}

// text appends more of a text.
func (s *stream) text(dst []byte, e *upstream.Event) []byte {
	b := s.find(e.Block)
	if b == nil || b.kind != textBlock && b.kind != thoughtBlock {
		return dst
	}
	if b.kind == thoughtBlock && !b.raw {
		s.appendThinking(b, e.Text)
	}
	x := e.Extra
	if x != nil && (x.Format != Format || !jsonwire.ValidObject(x.JSON)) {
		codec.UnsupportedOfPart(x, func(r *loss.Rule) { s.lose(b, r) })
		x = nil
	}
	return s.piece(dst, b, e.Text, x)
}

// piece appends a piece of a text with the members of x, if that says
// anything.
func (s *stream) piece(dst []byte, b *streamed, text string, x *content.Extra) []byte {
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

// beginText appends a part of a text block but for its end.
func (s *stream) beginText(dst []byte, b *streamed, text string) []byte {
	dst = append(s.part(dst, b.k), `{"text":`...)
	s.said[b.k].joins(b, text)
	dst = jsonwire.AppendString(dst, text)
	if b.kind == thoughtBlock {
		dst = append(dst, `,"thought":true`...)
	}
	if b.extra != nil {
		dst = appendMembers(dst, &s.scratch, b.extra)
		b.extra = nil
	}
	return dst
}

// input holds back more of a call's arguments.
func (s *stream) input(e *upstream.Event) {
	b := s.find(e.Block)
	if b == nil || b.kind != wholeBlock || b.raw {
		return
	}
	if s.held += len(e.Text); s.held > maxHeld {
		s.err = errHeld
		return
	}
	if b.input == nil {
		b.input = new(codec.Builder)
	}
	b.input.Add(e.Text)
}

// signature keeps the signature of a block until it is closed. If it comes
// later than that, it stands on an empty text.
func (s *stream) signature(dst []byte, e *upstream.Event) []byte {
	b := s.find(e.Block)
	late := b == nil
	for i := range s.closed {
		if late && b == nil && s.closed[i].in == e.Block {
			b = &s.closed[i]
		}
	}
	if b == nil {
		return dst
	}
	if b.kind == thoughtBlock && s.signThinking(b, *e.Signature) {
		return dst
	}
	sig := answerSignature(*e.Signature, func(r *loss.Rule) { s.lose(b, r) })
	switch {
	case b.kind == noBlock || sig.Data == "" && late:
		return dst
	case !late && !b.raw:
		b.signature, b.phase = sig, *e.Signature
		return dst
	case b.kind == wholeBlock:
		s.lose(b, unsaidLate)
	}
	b.phase = *e.Signature
	return s.sign(dst, b, "", sig)
}

// sign appends a part of a text, or an empty one, that bears a signature.
func (s *stream) sign(dst []byte, b *streamed, text string, sig content.Signature) []byte {
	dst = append(s.beginText(dst, b, text), `,"thoughtSignature":`...)
	if b.kind == textBlock {
		s.said[b.k].thoughts.CopyTextSignature(b.n, b.phase, &s.room)
	}
	s.said[b.k].kind = noBlock // what is signed stays by itself
	return append(jsonwire.AppendString(dst, sig.Data), '}')
}

// closes ends a block.
func (s *stream) closes(dst []byte, block int) []byte {
	b := s.find(block)
	if b == nil {
		return dst
	}
	switch rest := b.tail.Flush(); {
	case b.raw || b.kind == noBlock:
	case b.kind == wholeBlock:
		p := b.complete()
		if block == s.said[b.k].newest && codec.NotStarted(p, content.StopMaxTokens) {
			b.waits = true
			return dst
		}
		dst = s.whole(dst, b, p)
	case b.signature.Data != "":
		dst = s.sign(dst, b, rest, b.signature)
	case rest != "" || b.extra != nil:
		dst = append(s.beginText(dst, b, rest), '}')
	}
	s.cited(b)
	s.forget(block)
	return dst
}

// lastCall appends the call that waits for what follows it, if a candidate has
// one: without arguments it may have been cut before they began. If it was, it is
// left out.
func (s *stream) lastCall(dst []byte, k int, ended content.StopReason) []byte {
	b := s.find(s.said[k].newest)
	if b == nil || b.k != k || !b.waits {
		return dst
	}
	if p := b.complete(); codec.NotStarted(p, ended) {
		s.lose(b, unsaidCut)
	} else {
		dst = s.whole(dst, b, p)
	}
	s.forget(b.in)
	return dst
}

// whole appends a block that was held back, p being all of it.
func (s *stream) whole(dst []byte, b *streamed, p content.Part) []byte {
	p = forAnswer(p, func(r *loss.Rule) {
		s.lose(b, r)
		if unmade(r) {
			s.candidates[b.k].broken = true
			s.said[b.k].word = ""
		}
	})
	if p == nil {
		return dst
	}
	t, ok := p.(*content.ToolUse)
	if ok {
		s.candidates[b.k].calls++
	}
	if ok && t.Signature.Data == "" { // a copy
		if t.Signature = s.takeCarried(b.k); t.Signature.Data == "" {
			t.Signature = s.unsignedCall(b.k)
		}
	} else if ok {
		dst = s.appendCarrier(dst, b.k)
		s.said[b.k].thoughts.DropCopies(&s.room)
	}
	s.scratch.Reset()
	e := newEncoder(&s.scratch)
	e.part(p) // forAnswer leaves nothing that cannot be written
	s.said[b.k].told++
	s.said[b.k].kind = noBlock
	return appendOneLine(s.part(dst, b.k), s.scratch.Bytes())
}

// complete returns the part with what came after it was opened.
func (b *streamed) complete() content.Part {
	p := b.part
	if b.signature.Data != "" {
		p = envelope.WithSignature(p, b.signature)
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

// forget notes that a block is closed.
func (s *stream) forget(block int) {
	for i := range s.open {
		if s.open[i].in == block {
			b := s.open[i]
			if b.input != nil {
				s.held -= b.input.Len()
			}
			s.said[b.k].thoughts.Close(block)
			if old := &s.closed[len(s.closed)-1]; old.in >= 0 {
				s.said[old.k].thoughts.DropIfUnsigned(old.in, &s.room)
			}
			b.part, b.input, b.cites, b.signature, b.phase = nil, nil, nil, content.Signature{}, content.Signature{}
			copy(s.closed[1:], s.closed[:])
			s.closed[0] = b
			last := len(s.open) - 1
			copy(s.open[i:], s.open[i+1:])
			s.open[last] = streamed{}
			s.open = s.open[:last]
			return
		}
	}
}
