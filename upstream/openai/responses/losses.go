package responses

import (
	"github.com/polywire/polywire/internal/loss"
)

// Losses of requests to servers that only this format has. Package lower has the others.
var (
	lossThinkingRefused = loss.Degraded(loss.LostThinking, "the server can no longer read its earlier thinking; it was omitted")
	lossUnrequestedItem = loss.Dropped(loss.VendorPart, "the item does not result from a tool of this request, so that a client may have made it up; it was dropped")
)

// Losses of responses of servers.
var (
	lossDecodedImage = loss.Dropped(loss.ResponseImage, "the server did not generate the image; it was dropped")
	lossCutUsage     = loss.Hint(loss.ResponseUsage, "the response was cut at a stop sequence before the server reported the usage")
	lossDecodedText  = loss.Hint(loss.ResponseText, "the complete form of a part differs from its deltas; the deltas were used")
	lossDecodedPhase = loss.Hint(loss.ResponseMembers, "the phase of a message does not follow from its place; later requests have the one that does")
	lossDecodedItem  = loss.Hint(loss.ResponseUnknown, "only OpenAI can read this item of the response; later requests omit it")
)
