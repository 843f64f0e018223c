package openaiformat

import (
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
)

// AppendLogprobs appends the log probabilities of tokens to the elements of a list, which dst ends
// with if it is not empty.
func AppendLogprobs(dst []byte, list []foreign.Logprob) []byte {
	for i := range list {
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		dst = appendLogprob(dst, &list[i], true)
	}
	return dst
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
