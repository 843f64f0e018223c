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

// Decoded are turns whose envelopes are decoded.
type Decoded struct {
	Turns   []content.Turn
	Changed bool // Turns is a copy, because a part was replaced
	Losses  []content.Loss
}

// DecodeTurns decodes the envelopes in turns. It calls decode with the index of the
// turn and each part, in order. decode returns the part itself if it holds no
// envelope, otherwise another part, and the rule if its state is lost. DecodeTurns
// does not change turns: it copies the lists in which a part is replaced. Every
// part keeps its index.
func DecodeTurns(turns []content.Turn, decode func(turn int, p content.Part) (content.Part, *loss.Rule)) Decoded {
	d := Decoded{Turns: turns}
	var losses loss.List
	for i := range turns {
		copied := false // the list of parts
		for j, p := range turns[i].Parts {
			decoded, lost := decode(i, p)
			if decoded == p {
				continue
			}
			if !d.Changed {
				d.Changed, d.Turns = true, slices.Clone(turns)
			}
			if !copied {
				copied, d.Turns[i].Parts = true, slices.Clone(turns[i].Parts)
			}
			d.Turns[i].Parts[j] = decoded
			if lost != nil {
				losses.AddPlace(lost, "turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(j)+".signature")
			}
		}
	}
	d.Losses = losses.All
	return d
}
