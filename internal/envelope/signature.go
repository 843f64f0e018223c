package envelope

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
)

// SignatureOf returns the signature of a part, or the zero Signature if the part
// has none.
func SignatureOf(p content.Part) content.Signature {
	if content.IsNil(p) {
		return content.Signature{}
	}
	switch p := p.(type) {
	case *content.Text:
		return p.Signature
	case *content.Image:
		return p.Signature
	case *content.Document:
		return p.Signature
	case *content.Media:
		return p.Signature
	case *content.Thinking:
		return p.Signature
	case *content.ToolUse:
		return p.Signature
	case *content.ServerToolUse:
		return p.Signature
	case *content.ServerToolResult:
		return p.Signature
	}
	return content.Signature{}
}

// WithSignature returns a copy of a part with another signature. It returns the part
// itself if parts of its kind have no signature.
func WithSignature(p content.Part, s content.Signature) content.Part {
	switch p := p.(type) {
	case *content.Text:
		c := *p
		c.Signature = s
		return &c
	case *content.Image:
		c := *p
		c.Signature = s
		return &c
	case *content.Document:
		c := *p
		c.Signature = s
		return &c
	case *content.Media:
		c := *p
		c.Signature = s
		return &c
	case *content.Thinking:
		c := *p
		c.Signature = s
		return &c
	case *content.ToolUse:
		c := *p
		c.Signature = s
		return &c
	case *content.ServerToolUse:
		c := *p
		c.Signature = s
		return &c
	case *content.ServerToolResult:
		c := *p
		c.Signature = s
		return &c
	}
	return p
}

// IsForeign reports whether a handler of the format own encodes a signature as an
// envelope: the signature is of another format, and that format has a name.
func IsForeign(s content.Signature, own content.Format) bool {
	return s.Data != "" && s.Format != own && hasName(s.Format)
}

// WithoutFormat returns the signature that replaces a damaged envelope. It has no
// format, so every adapter drops it.
func WithoutFormat(s content.Signature) content.Signature { return content.Signature{Data: s.Data} }

// DecodeTurns decodes the envelopes in turns. It calls decode with the index of the
// turn and each part, in order. decode returns the part itself if it holds no
// envelope, otherwise another part and whether the envelope is damaged. DecodeTurns
// does not change turns: it copies the lists in which a part is replaced. Every
// part keeps its index.
func DecodeTurns(turns []content.Turn, decode func(turn int, p content.Part) (q content.Part, damaged bool)) (list []content.Turn, changed bool, lost []content.Loss) {
	list = turns
	for i := range turns {
		own := false
		for j, p := range turns[i].Parts {
			q, damaged := decode(i, p)
			if q == p {
				continue
			}
			if !changed {
				changed, list = true, slices.Clone(turns)
			}
			if !own {
				own, list[i].Parts = true, slices.Clone(turns[i].Parts)
			}
			list[i].Parts[j] = q
			if damaged {
				lost = append(lost, Damaged.At("turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(j)+".signature"))
			}
		}
	}
	return list, changed, lost
}
