package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// Losses of responses that are sent in this format.
var (
	lossResponseImage      = loss.Dropped(loss.ResponseImage, "Messages responses cannot contain images; the part was dropped")
	lossResponseDocument   = loss.Dropped(loss.ResponseFile, "Messages responses cannot contain documents; the part was dropped")
	lossResponseMedia      = loss.Dropped(loss.ResponseFile, "Messages responses cannot contain audio or video; the part was dropped")
	lossResponseTool       = loss.Dropped(loss.ResponseVendorPart, "Messages responses cannot contain built-in tools of another vendor; the part was dropped")
	lossResponsePart       = loss.Dropped(loss.ResponseUnknown, "Messages responses cannot contain this kind of part; it was dropped")
	lossServerResult       = loss.Dropped(loss.ResponseVendorPart, "the result of a built-in tool is not valid JSON; it was dropped")
	lossResponseCitation   = loss.Dropped(loss.ResponseCitations, "Messages does not have this kind of citation; it was dropped")
	lossUnreturnable       = loss.Dropped(loss.ResponseUnknown, "a member of the block is missing or wrong, so clients could not return it in the next request; it was dropped")
	lossEmptyText          = loss.Dropped(loss.ResponseCitations, "the text with the citations is empty, which Messages does not allow; they were dropped")
	lossTextSignature      = loss.Hint(loss.ResponseSignature, "Messages cannot carry the signature of this part, which vendors do not need; it was omitted")
	lossResponseCandidates = loss.Dropped(loss.ResponseCandidates, "Messages has a single candidate; the others were dropped")
	lossStopReason         = loss.Degraded(loss.ResponseStop, "Messages does not have this stop reason; max_tokens was sent")
	lossCounts             = loss.Hint(loss.ResponseUsage, "token counts and usage members that Messages does not have were dropped")
	lossResponseCache      = loss.Hint(loss.ResponseMembers, "Messages responses have no cache marks; it was dropped")
	lossEventMembers       = loss.Hint(loss.ResponseMembers, "Messages has no place for the extra members of the event; they were dropped")
	lossUnknownEvent       = loss.Hint(loss.ResponseMembers, "an unknown event was dropped")
	lossUnknownDelta       = loss.Hint(loss.ResponseMembers, "an unknown delta was dropped")
)

// lossOfPart returns the rule for a part that responses cannot contain.
func lossOfPart(p content.Part) *loss.Rule {
	switch p.(type) { // other kinds have a block, or none in any version
	case *content.Image:
		return lossResponseImage
	case *content.Document:
		return lossResponseDocument
	case *content.Media:
		return lossResponseMedia
	case *content.ServerToolUse, *content.ServerToolResult:
		return lossResponseTool
	}
	return lossResponsePart
}

// Losses of responses that are read, besides those that all codecs share.
var (
	lossStopMembers    = loss.Hint(loss.ResponseMembers, "extra members of message_stop were dropped")
	lossMisplacedEvent = loss.Hint(loss.ResponseMembers, "an unknown event without a name or before message_start was dropped")
)
