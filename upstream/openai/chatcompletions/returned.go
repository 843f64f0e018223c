package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// decodeState decodes the state of other vendors in turns. Only the ids of tool calls carry some:
// clients return no other member of a response unaltered.
func decodeState(turns []content.Turn) envelope.Decoded {
	ids := envelope.DecodeIDs(turns)
	return envelope.DecodeTurns(turns, func(_ int, p content.Part) (content.Part, *loss.Rule) { return ids.Decode(p) })
}
