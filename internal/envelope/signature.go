package envelope

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
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
	var losses loss.List
	to, changed := partfield.MapTurns(turns, func(i int, parts []content.Part) ([]content.Part, bool) {
		return partfield.Map(parts, func(j int, p content.Part) content.Part {
			decoded, lost := decode(i, p)
			if lost != nil && decoded != p {
				losses.AddPlace(lost, "turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(j)+".signature")
			}
			return decoded
		})
	})
	return Decoded{to, changed, losses.All}
}
