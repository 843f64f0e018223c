package responses

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Log probabilities of tokens are with their text: in each delta, and in the complete part. A server
// of this format sends them so, and they are in the Extra of the text or of its event. Servers of other
// formats send them before the text, in an event of their own.

// takeLogprobs keeps the log probabilities in x for the next text. It returns false if x has none, or
// other members.
func (s *encoder) takeLogprobs(x *content.Extra) bool {
	if x == nil {
		return false
	}
	before := len(s.logprobs)
	if x.Format == Format {
		doc := codec.Open(x, Format)
		if doc == nil {
			return false
		}
		defer doc.Close()
		list := doc.Root().Get("logprobs")
		if doc.Root().Len() != 1 || list.Kind() != jsonwire.Array {
			return false
		}
		for _, v := range list.Elems() {
			s.logprobs = jsonwire.AppendCompact(s.nextLogprob(), v.Raw())
		}
	} else {
		list := foreign.Logprobs(x)
		if len(list) == 0 {
			return false
		}
		for i := range list {
			s.logprobs = appendLogprob(s.nextLogprob(), &list[i], true)
		}
	}
	s.keep(len(s.logprobs) - before)
	return true
}

// nextLogprob returns the list with a comma if it has an element.
func (s *encoder) nextLogprob() []byte {
	if len(s.logprobs) > 0 {
		return append(s.logprobs, ',')
	}
	return s.logprobs
}

// appendLogprob appends a token.
func appendLogprob(dst []byte, p *foreign.Logprob, withTop bool) []byte {
	dst = jsonwire.AppendString(append(dst, `{"token":`...), p.Token)
	dst = append(append(dst, `,"logprob":`...), p.Number...)
	dst = append(dst, `,"bytes":`...)
	if p.Bytes != "" {
		dst = jsonwire.AppendCompact(dst, p.Bytes)
	} else {
		dst = append(dst, '[')
		for i := range len(p.Token) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsonwire.AppendInt(dst, int64(p.Token[i]))
		}
		dst = append(dst, ']')
	}
	if withTop {
		dst = append(dst, `,"top_logprobs":[`...)
		for i := range p.Top {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendLogprob(dst, &p.Top[i], false)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}
