package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/seal"
	"github.com/polywire/polywire/upstream"
)

// What another vendor needs back goes out sealed where clients of this format
// give back what they got: in the signature of a thinking block, and in blocks
// of redacted_thinking, each of which stands for a signature of the part behind
// or before it.

// foreign reports whether a signature is one of another format, which is
// sealed.
func foreign(s content.Signature) bool { return seal.Foreign(s, Format) }

// sealed returns an envelope with a signature that is foreign, empty if it
// cannot be sealed.
func sealed(s content.Signature, k seal.Kind, lost lose) string {
	data, ok := seal.Seal(s.Format, k, s.Data)
	if !ok {
		lost(seal.TooLarge)
	}
	return data
}

// beside returns the signature of a part that has to be carried beside it.
func beside(p content.Part) content.Signature {
	if _, own := p.(*content.Thinking); own {
		return content.Signature{}
	}
	if s := seal.Of(p); foreign(s) {
		return s
	}
	return content.Signature{}
}

// envelopeBlock returns a block that carries an envelope.
func envelopeBlock(data string) *content.Thinking {
	return &content.Thinking{Redacted: content.Signature{Format: Format, Data: data}}
}

// appendCarried appends the block of a whole answer that p is, which was from,
// behind one that carries its signature. An empty text, which clients could not
// give back, is nothing but its signature.
func appendCarried(to []content.Part, from, p content.Part, lost lose) []content.Part {
	s := beside(from)
	if s.Data == "" {
		return append(to, p)
	}
	k := seal.Next
	if t, ok := p.(*content.Text); ok && saysNothing(t) {
		k = seal.Alone
	}
	if data := sealed(s, k, lost); data != "" {
		to = append(to, envelopeBlock(data))
	}
	if k == seal.Alone {
		return to
	}
	return append(to, p)
}

func saysNothing(t *content.Text) bool {
	return t.Text == "" && len(t.Citations) == 0 && t.Extra == nil
}

// ahead returns the signature of a block that opens, if it has one that must be
// carried beside it and is known by now: other events of the batch may bring
// it, which then are done with. It also reports whether the block is over with
// these events and no other piece of it came.
func (s *stream) ahead(open *upstream.Event, events []upstream.Event) (sig content.Signature, over bool) {
	if _, own := open.Part.(*content.Thinking); own {
		return sig, false
	}
	sig = beside(open.Part)
	some := false
	for i := range events {
		e := &events[i]
		if e.Block != open.Block {
			continue
		}
		switch e.Kind {
		case upstream.EventText, upstream.EventCitation, upstream.EventBlockExtra:
			some = true
		case upstream.EventClose:
			over = !some
		case upstream.EventSignature:
			if foreign(*e.Signature) && e.Extra == nil {
				sig = *e.Signature
				*e = upstream.Event{} // no event at all
			}
		}
	}
	return sig, over
}

// carry appends a block that carries a signature beside that of an event.
func (s *stream) carry(dst []byte, block int, sig content.Signature, k seal.Kind) []byte {
	data := sealed(sig, k, s.loser(block))
	if data == "" {
		return dst
	}
	return s.appendCarrier(dst, data)
}

// appendCarrier appends a block that carries an envelope.
func (s *stream) appendCarrier(dst []byte, data string) []byte {
	s.said = false // an end that was written already was none
	dst = s.startBlock(dst, s.next, envelopeBlock(data))
	dst = s.stopBlock(dst, s.next)
	s.next++
	return dst
}

// signature keeps the signature of a block until it stops. One that comes
// later stands behind it.
func (s *stream) signature(dst []byte, e *upstream.Event) []byte {
	b, sig, lost := s.at(e.Block), *e.Signature, s.loser(e.Block)
	switch thought := b != nil && b.kind == thinkingBlock; {
	case sig.Data == "", b != nil && b.out < 0:
	case thought && !b.signed && sig.Format == Format:
		b.signature = sig.Data
	case !foreign(sig):
		lost(seal.Nobodys)
	case thought && !b.signed:
		b.signature = sealed(sig, seal.Own, lost)
	case b == nil && s.last.in == e.Block && s.last.out == s.next-1 && s.next > 0:
		if s.lastText {
			s.hold(e.Block, sealed(sig, seal.Last, lost))
			return dst
		}
		return s.carry(dst, e.Block, sig, seal.Last)
	case b != nil && !thought && b.out == s.next-1:
		b.signature = sealed(sig, seal.Last, lost)
	default:
		lost(seal.TooLate)
	}
	return dst
}

// catchUp appends what carries the signatures of texts that another block will
// follow, and of a block that is still open and soon is no longer the last.
func (s *stream) catchUp(dst []byte) []byte {
	for _, h := range s.held {
		dst = s.appendCarrier(dst, h.data)
	}
	s.held = s.held[:0]
	if b := s.unsaid(); b != nil {
		data := b.signature
		b.signature = ""
		return s.appendCarrier(dst, data)
	}
	return dst
}

// unsaid returns the open block whose signature has to be carried behind it,
// or nil. It is the last one that was written.
func (s *stream) unsaid() *streamed {
	for i := range s.open {
		if b := &s.open[i]; b.kind != thinkingBlock && b.signature != "" {
			return b
		}
	}
	return nil
}

// unseal opens what other vendors need back. It returns the turns themselves if
// there is nothing of it.
func unseal(turns []content.Turn) (list []content.Turn, changed bool, lost []content.Loss) {
	return seal.Turns(turns, openPart)
}

// unsigned reports whether a thought has no signature at all, or a citation of
// the web no index. Answers of other vendors bring these about, and clients give
// them back.
func unsigned(turns []content.Turn) bool {
	for i := range turns {
		for _, p := range turns[i].Parts {
			switch p := p.(type) {
			case *content.Thinking:
				if p != nil && p.Signature.Data == "" && p.Redacted == (content.Signature{}) {
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

func openPart(p content.Part) (q content.Part, damaged bool) {
	t, ok := p.(*content.Thinking)
	if !ok || t == nil {
		return p, false
	}
	switch {
	case t.Redacted.Format == Format && seal.Sealed(t.Redacted.Data):
		return openRedacted(t)
	case t.Redacted.Data == "" && t.Signature.Format == Format && seal.Sealed(t.Signature.Data):
		c := *t
		e, ok := seal.Open(t.Signature.Data)
		if !ok || e.Kind != seal.Own {
			c.Signature = seal.Broken(t.Signature)
			return &c, true
		}
		c.Signature = content.Signature{Format: e.Format, Data: e.Data}
		return &c, false
	}
	return p, false
}

func openRedacted(t *content.Thinking) (q content.Part, damaged bool) {
	c := *t
	e, ok := seal.Open(t.Redacted.Data)
	switch {
	case ok && e.Kind == seal.Own:
		c.Redacted = content.Signature{Format: e.Format, Data: e.Data}
	case ok && (e.Kind == seal.Next || e.Kind == seal.Last):
		c.Redacted = seal.Neighbour(e.Format, e.Kind, e.Data)
	case ok && e.Kind == seal.Alone:
		return &content.Text{Signature: content.Signature{Format: e.Format, Data: e.Data}, Extra: t.Extra}, false
	default:
		c.Redacted = seal.Broken(t.Redacted)
		return &c, true
	}
	return &c, false
}
