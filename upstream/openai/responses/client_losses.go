package responses

import (
	"github.com/polywire/polywire/internal/loss"
)

// Losses of responses that are sent to clients of this format.
var (
	lossSentFile       = loss.Dropped(loss.ResponseFile, "Responses output cannot contain documents, audio or video; the part was dropped")
	lossSentImage      = loss.Dropped(loss.ResponseImage, "Responses output has images only as base64; the image was dropped")
	lossOpenImage      = loss.Dropped(loss.ResponseImage, "Open Responses output cannot contain images; the image was dropped")
	lossSentTool       = loss.Dropped(loss.ResponseVendorPart, "Responses output cannot contain built-in tools of another vendor; the part was dropped")
	lossSentPart       = loss.Dropped(loss.ResponseUnknown, "Responses output cannot contain this kind of part; it was dropped")
	lossSentArguments  = loss.Dropped(loss.ResponseArguments, "the arguments are not a JSON object, so the tool call cannot run; they were sent as an incomplete item, because the call had already begun")
	lossNotAllowed     = loss.Dropped(loss.ResponseCall, "the request does not allow a call of this tool; it was dropped")
	lossSentCitation   = loss.Dropped(loss.ResponseCitations, "Responses output does not have this kind of citation; it was dropped")
	lossCitedText      = loss.Hint(loss.ResponseCitations, "Responses citations do not have the cited text; it was omitted")
	lossSentSignature  = loss.Hint(loss.ResponseSignature, "Responses cannot carry the signature of a text or an image, which vendors do not need; it was omitted")
	lossSentCandidates = loss.Dropped(loss.ResponseCandidates, "Responses has a single candidate; the others were dropped")
	lossSentStop       = loss.Degraded(loss.ResponseStop, "Responses does not have this stop reason; the status of the response is the nearest one")
	lossSentCounts     = loss.Hint(loss.ResponseUsage, "Responses does not have some token counts or usage members; they were added to another count or dropped")
	lossSentSequence   = loss.Hint(loss.ResponseStop, "Responses does not report which stop sequence matched; it was dropped")
	lossSentCache      = loss.Hint(loss.ResponseMembers, "Responses output has no cache marks; the mark was dropped")
	lossSentMembers    = loss.Hint(loss.ResponseMembers, "Responses has no place for the extra members of the event; they were dropped")
	lossSentEvent      = loss.Hint(loss.ResponseMembers, "an event that Responses clients do not know was dropped")
	lossKeptOutput     = loss.Degraded(loss.ResponseMembers, "the output is larger than 8 MiB; the last event does not repeat it")
)
