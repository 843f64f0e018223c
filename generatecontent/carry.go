package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// What another vendor needs back goes out sealed as thoughtSignature. The one
// place from where every client gives it back is a call, and some give back
// nothing else of what was thought. So the thoughts of another vendor go out
// whole in the signature of the next call, or in that of a text at the end of an
// answer without one; the client still sees them as thoughts. What is promised
// of this is said at [envelope.Thought]. The signature of a text is in its own
// thoughtSignature, and its copy in the signature of the next call.

// foreign reports whether a signature is one of another format, which is
// sealed.
func foreign(s content.Signature) bool { return envelope.Foreign(s, Format) }

// sealed returns the signature that carries a foreign one, the zero one if it
// cannot be sealed.
func sealed(s content.Signature, lost lose) content.Signature {
	data, ok := envelope.SealBase64(s.Format, envelope.Own, s.Data)
	if !ok {
		lost(envelope.TooLarge)
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: data}
}

// thinks begins a thought.
func (s *stream) thinks(dst []byte, b *streamed, p *content.Thinking) []byte {
	lost := func(r *loss.Rule) { s.lose(b, r) }
	if p.Redacted.Data != "" && !foreign(p.Redacted) {
		lost(envelope.Nobodys)
		return dst
	}
	s.said[b.k].thoughts.Add(b.in, b.n, p, &s.room)
	if p.Redacted.Data != "" {
		return dst
	}
	b.kind = thoughtBlock
	c := *p
	plainly(&c, lost)
	b.extra, b.signature = c.Extra, c.Signature
	return s.piece(dst, b, c.Text, nil)
}

// plainly leaves of a thought what this format can say of it in the open.
func plainly(p *content.Thinking, lost lose) {
	if foreign(p.Signature) {
		p.Signature = content.Signature{}
		if p.Extra != nil && p.Extra.Format != Format {
			p.Extra = nil // it goes with the signature
		}
	}
	hints(nil, &p.Extra, &p.Signature, lost)
}

// keep keeps what was said of a thought.
func (s *stream) keep(b *streamed, text string) {
	s.said[b.k].thoughts.Write(b.in, text, &s.room)
}

// signThought keeps the signature of a thought, and reports whether that is
// all there is to be done with it.
func (s *stream) signThought(b *streamed, sig content.Signature) bool {
	if !s.said[b.k].thoughts.Sign(b.in, sig, &s.room) && foreign(sig) {
		s.note(answerPath(s.candidates[b.k].index, b.n), envelope.TooLate)
	}
	return foreign(sig)
}

// take returns the signature that carries the thinking of a candidate, the zero
// one if there is none.
func take(t *envelope.Pending, room *int, lost func(n int, r *loss.Rule)) content.Signature {
	encode := func(f content.Format, data string) (string, bool) {
		return envelope.SealBase64(f, envelope.Thoughts, data)
	}
	if data := t.Take(room, encode, lost); data != "" {
		return content.Signature{Format: Format, Data: data}
	}
	return content.Signature{}
}

// signsCalls reports whether a model is one whose vendor signs the first call of
// every response. Clients that know its name take a response without such a
// signature for a mistake.
func signsCalls(model string) bool {
	version, ok := strings.CutPrefix(strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]), "gemini-")
	n := 0
	for n < len(version) && version[n] >= '0' && version[n] <= '9' {
		n++
	}
	if n == 0 { // such as gemini-flash-latest
		return ok && strings.HasSuffix(version, "-latest")
	}
	major, err := strconv.Atoi(version[:n])
	return ok && err == nil && major >= 3
}

// unsigned returns the signature of a call that no vendor has signed: one that
// carries nothing where clients expect a signature, else none.
func (a *answer) unsigned(k int) content.Signature {
	if !a.signs || a.candidates[k].calls != 1 {
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: envelope.UnsignedBase64}
}

// carried returns the signature that carries the thoughts before it.
func (s *stream) carried(k int) content.Signature {
	return take(&s.said[k].thoughts, &s.room, func(n int, r *loss.Rule) {
		s.note(answerPath(s.candidates[k].index, n), r)
	})
}

// appendCarrier appends an empty text that carries the thoughts before it, if
// there are any.
func (s *stream) appendCarrier(dst []byte, k int) []byte {
	if !s.said[k].thoughts.Any() {
		return dst
	}
	sig := s.carried(k)
	if sig.Data == "" {
		return dst
	}
	dst = append(s.part(dst, k), `{"text":"","thoughtSignature":`...)
	s.said[k].told++
	s.said[k].kind = noBlock
	s.said[k].thoughts.Begin()
	return append(jsonwire.AppendString(dst, sig.Data), '}')
}

// unseal opens what other vendors need back. It returns the turns themselves if
// there is nothing of it.
func unseal(turns []content.Turn) (list []content.Turn, changed bool, lost []content.Loss) {
	return envelope.Turns(turns, func(_ int, p content.Part) (content.Part, bool) {
		sig := envelope.Of(p)
		if sig.Format != Format || !envelope.SealedBase64(sig.Data) {
			return p, false
		}
		e, ok := envelope.OpenBase64(sig.Data)
		if !ok || e.Kind != envelope.Own && e.Kind != envelope.Thoughts {
			return envelope.With(p, envelope.Broken(sig)), true
		}
		if e.Format == envelope.UnsignedFormat {
			return envelope.With(p, content.Signature{}), false
		}
		return envelope.With(p, content.Signature{Format: e.Format, Data: e.Data}), false
	})
}
