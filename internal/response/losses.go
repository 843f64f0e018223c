package response

import (
	"github.com/polywire/polywire/internal/loss"
)

// Rules of losses that several formats have.
var (
	LossSentCall         = loss.Dropped(loss.ResponseArguments, "the arguments are not a JSON object, so the tool call cannot run; they were sent, because the call had already begun")
	LossCallID           = loss.Hint(loss.ResponseCall, "the id of the tool call is a duplicate, or too many tool calls precede it; another id was sent")
	LossUncarriedState   = loss.Degraded(loss.ResponseSignature, "no tool call follows that can carry the state of the thinking; it was dropped, and later requests omit it")
	LossFinishedThinking = loss.Hint(loss.ResponseSignature, "no tool call follows that can carry the state of the thinking; it was omitted, and the model does not read the thinking of earlier turns")
	LossStopDetails      = loss.Hint(loss.ResponseStop, "the details of the stop reason are in another format; they were dropped")
	LossMemberPlace      = loss.Hint(loss.ResponseMembers, "the extra member cannot be sent at this place of the response; it was dropped")
	LossManyMembers      = loss.Hint(loss.ResponseMembers, "the response has more than 256 KiB of extra members; the rest was dropped")
	LossVendorEvent      = loss.Hint(loss.ResponseMembers, "a vendor-specific event was dropped")
)
