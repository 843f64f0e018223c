package envelope

import (
	"github.com/polywire/polywire/internal/loss"
)

// The losses of carried state. Handlers report Damaged and NotReturned for requests and the
// others for responses.
var (
	Damaged       = loss.Dropped(loss.LostThinking, "the client did not return the carried signature as it was sent; the signature was dropped")
	NotReturned   = loss.Degraded(loss.LostThinking, "the client returned the tool call without the thinking that carried its state; the state is lost")
	UnknownFormat = loss.Hint(loss.ResponseSignature, "the signature has an unknown format, or the part cannot have one; the signature was dropped")
	TooLarge      = loss.Degraded(loss.ResponseSignature, "the signature of another format is too large to be carried; the signature was dropped")
	TooLate       = loss.Degraded(loss.ResponseSignature, "the signature of another format came too late to be carried; the signature was dropped")
	TwoVendors    = loss.Degraded(loss.ResponseSignature, "a response cannot carry thinking of two vendors; the thinking of the second vendor was dropped")
)
