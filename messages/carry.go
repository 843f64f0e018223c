package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/seal"
	"github.com/polywire/polywire/upstream"
)

// What another vendor needs back goes out sealed where clients of this format
// give back what they got: the signature of a thought in its thinking block, and
// any other in a block of redacted_thinking of its own. That block stands in
// front of the part that was signed, or behind it where the signature came when
// the part had begun.
//
// The promise: a client that gives back the blocks of an answer in their order
// brings each signature back, byte for byte, on the part that it was of, however
// the events of the answer arrived. It may leave out texts of nothing but white
// space; their signatures come back on empty texts in their places, which is how
// vendors themselves sign late. It may give back each block as a turn of its
// own. The vendor has to sign a part once, and before another part opens.
//
// What is not carried is told, each at the part that it is of:
//   - What would have to stand behind the text that ends the answer, since agents
//     print the last block: see unsaidLast. A whole answer loses only what is
//     signed behind that text, or on white space.
//   - A signature that comes when other parts have followed, or when another one
//     of its part is written, and one that is too large.
//   - The signature of a part that this format has no block for goes with it.
//
// The envelope says whether a text or a call was signed. Where the client has left
// that out, the signature goes back on an empty text in its place, never on a part
// of another kind; only one of the same kind that is next to it now, and has no
// signature, is taken for the one that is gone.

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

// inFront is how the signature of a block is carried in front of it.
func inFront(p content.Part) seal.Kind {
	if _, text := p.(*content.Text); text {
		return seal.Next
	}
	return seal.NextCall
}

// envelopeBlock returns a block that carries an envelope.
func envelopeBlock(data string) *content.Thinking {
	return &content.Thinking{Redacted: content.Signature{Format: Format, Data: data}}
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
	s.endsText = false
	return dst
}

// signature keeps the signature of a block until it stops. One that comes
// later stands behind it.
func (s *stream) signature(dst []byte, e *upstream.Event) []byte {
	b, sig, lost := s.at(e.Block), *e.Signature, s.loser(e.Block)
	late := b == nil && s.last.in == e.Block
	switch thought := b != nil && b.kind == thinkingBlock; {
	case b != nil && b.waiting() && foreign(sig):
		b.call.signature = sig
	case b != nil && b.waiting() && sig.Data != "":
		lost(seal.Nobodys)
	case sig.Data == "", b != nil && b.out < 0, late && s.last.out < 0:
	case thought && !b.signed && sig.Format == Format:
		b.signature = sig.Data
	case !foreign(sig):
		lost(seal.Nobodys)
	case thought && !b.signed:
		b.signature = sealed(sig, seal.Own, lost)
	case late && s.last.kind != thinkingBlock && !s.last.signed && s.last.out == s.next-1:
		return s.behind(dst, &s.last, sig)
	case b != nil && !thought && !b.signed && b.out == s.next-1:
		b.beside = sig
	default:
		lost(seal.TooLate)
	}
	return dst
}

// behind appends what carries the signature of a block that is over, or will be
// followed by another one.
func (s *stream) behind(dst []byte, b *streamed, sig content.Signature) []byte {
	b.signed = true
	if b.kind != textBlock {
		return s.appendCarrier(dst, sealed(sig, seal.LastCall, s.loser(b.in)))
	}
	s.held.hold(b.in, sig, besideText(b.says), s.loser(b.in))
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
	case ok && e.Kind.Beside():
		c.Redacted = seal.Neighbour(e.Format, e.Kind, e.Data)
	case ok && e.Kind == seal.Alone:
		return &content.Text{Signature: content.Signature{Format: e.Format, Data: e.Data}, Extra: t.Extra}, false
	default:
		c.Redacted = seal.Broken(t.Redacted)
		return &c, true
	}
	return &c, false
}
