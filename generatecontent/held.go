package generatecontent

import (
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
)

// The last chunk of a stream has the finishReason and a part with content. Clients keep a
// response in their history only if each chunk has parts (the chats of @google/genai 2 and 3),
// and if no text is empty (the chat of @google/generative-ai). The stream cannot know which
// part is the last one. So it holds the last character of a text, and any other part
// as a whole, until more text, another part or the end follows. Each chunk has one part,
// because @google/generative-ai joins the parts of a chunk to one.

// A held is the end of the content of a candidate that is not written yet.
type held struct {
	json   []byte        // a part without its closing brace; empty if nothing is held
	join   int           // length of json up to the end of its text; 0 if text cannot be joined
	kind   response.Kind // of the part
	block  int           // number of its block; -1 if it has none
	signed bool
}

// maxHeldPart limits what is held of a candidate other than the first, in bytes.
const maxHeldPart = 16 << 10

// holds reports whether h is the part of b, or the end of its text.
func (h *held) holds(b *sentBlock) bool { return len(h.json) > 0 && h.block == b.Number }

// canSign reports whether the part of b, or the end of its text, is held and has no signature.
func (s *stream) canSign(b *sentBlock) bool {
	h := &s.written(b.Candidate).held
	return h.holds(b) && !h.signed
}

// hold begins to hold a part of candidate k. It returns what is held, for the JSON of the part.
func (s *stream) hold(k int, kind response.Kind, block int) *held {
	s.release(k)
	s.hasParts = true
	h := &s.written(k).held
	h.kind, h.block = kind, block
	return h
}

// release writes the held part of candidate k in a chunk of its own.
func (s *stream) release(k int) {
	if h := &s.written(k).held; len(h.json) > 0 {
		s.beginPart(k)
		s.dst = h.take(s.dst)
	}
}

// take appends the held part to dst. Then nothing is held.
func (h *held) take(dst []byte) []byte {
	dst = append(append(dst, h.json...), '}')
	if cap(h.json) > maxHeldPart {
		h.json = nil
	}
	*h = held{json: h.json[:0]}
	return dst
}

// limit releases what is held of candidate k if it is too large.
func (s *stream) limit(k int) {
	if k > 0 && len(s.written(k).held.json) > maxHeldPart {
		s.release(k)
	}
}

// addText adds a piece of text. It writes everything up to the last character, and holds that.
func (s *stream) addText(b *sentBlock, text string) {
	w := s.written(b.Candidate)
	w.addText(b, text)
	h := &w.held
	if h.join == 0 || !h.holds(b) {
		h = s.hold(b.Candidate, b.Kind, b.Number)
	}
	_, n := utf8.DecodeLastRuneInString(text)
	text, last := text[:len(text)-n], text[len(text)-n:]
	if h.join > 0 || text != "" {
		s.beginPart(b.Candidate)
		dst, _ := appendText(s.dst, h.json[:h.join], text, b.Kind)
		s.dst = append(dst, '}')
	}
	h.json, h.join = appendText(h.json[:0], nil, last, b.Kind)
}

// addPiece holds a piece of text with the members of x and those of its block.
func (s *stream) addPiece(b *sentBlock, text string, x *content.Extra) {
	s.written(b.Candidate).addText(b, text)
	h := s.hold(b.Candidate, b.Kind, b.Number)
	h.json, _ = appendText(h.json, nil, text, b.Kind)
	h.json = appendMembers(h.json, &s.scratch, b.State.extra)
	h.json = appendMembers(h.json, &s.scratch, x)
	b.State.extra = nil
	s.limit(b.Candidate)
}

// appendText appends a text part without its closing brace. begun is empty, or the beginning of
// the part up to a character that precedes text. end is the length of the part up to the end
// of its text.
func appendText(dst, begun []byte, text string, kind response.Kind) (_ []byte, end int) {
	const open = `{"text":`
	from := len(dst)
	if len(begun) == 0 {
		dst = jsonwire.AppendString(append(dst, open...), text)
	} else {
		dst = append(dst, begun...)
		i := len(dst) - 1
		last := dst[i]
		dst = jsonwire.AppendString(dst[:i], text) // the opening quote replaces the last byte
		dst[i] = last
	}
	end = len(dst) - len(`"`) - from
	if kind == response.Thinking {
		dst = append(dst, `,"thought":true`...)
	}
	return dst, end
}

// addSignature signs the held part of b. If it was written already, or has a signature, the
// signature is on an empty text.
func (s *stream) addSignature(b *sentBlock, sig content.Signature) {
	if !s.canSign(b) {
		s.addPiece(b, "", nil)
	}
	s.signHeld(b.Candidate, sig)
}

// signHeld adds a signature to the held part of candidate k. No text is joined to it.
func (s *stream) signHeld(k int, sig content.Signature) {
	w := s.written(k)
	h := &w.held
	h.json = jsonwire.AppendString(append(h.json, `,"thoughtSignature":`...), sig.Data)
	h.join, h.signed, w.kind = 0, true, response.Other
	s.limit(k)
}

// addPart implements [partWriter].
func (s *stream) addPart(b *sentBlock, p content.Part) {
	s.scratch.Reset()
	e := newEncoder(&s.scratch)
	e.part(p) // cannot fail after toResponsePart
	w := s.written(b.Candidate)
	w.parts++
	w.kind = response.Other
	h := s.hold(b.Candidate, b.Kind, b.Number)
	h.json = appendOneLine(h.json, s.scratch.Bytes())
	h.json = h.json[:len(h.json)-1]
	h.signed = partfield.SignatureOf(p).Data != ""
	s.limit(b.Candidate)
}

// carry implements [partWriter]. It attaches the state to the text that is held. If that is
// another part, or signed, it adds an empty text.
func (s *stream) carry(k int, sig content.Signature) {
	w := s.written(k)
	if h := &w.held; len(h.json) == 0 || h.kind != response.Text || h.signed {
		w.parts++
		h = s.hold(k, response.Text, -1)
		h.json, _ = appendText(h.json, nil, "", response.Text)
	}
	s.signHeld(k, sig)
}

// Flush implements [handler.HoldingEncoder].
func (s *stream) Flush(dst []byte) []byte {
	from := len(dst)
	s.dst = dst
	s.releaseAll()
	return s.take(from)
}

// releaseAll writes everything that is held.
func (s *stream) releaseAll() {
	for k := range s.blocks.Candidates {
		s.release(k)
	}
	s.endChunk()
}
