package envelope

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

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
// envelope, otherwise another part, and the rule if its state is lost. DecodeTurns
// does not change turns: it copies the lists in which a part is replaced. Every
// part keeps its index.
func DecodeTurns(turns []content.Turn, decode func(turn int, p content.Part) (q content.Part, r *loss.Rule)) (list []content.Turn, changed bool, lost []content.Loss) {
	list = turns
	for i := range turns {
		own := false
		for j, p := range turns[i].Parts {
			q, r := decode(i, p)
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
			if r != nil {
				lost = append(lost, r.At("turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(j)+".signature"))
			}
		}
	}
	return list, changed, lost
}
