package response

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// Rules of losses that several formats have.
var (
	LossSentCall = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments are not a JSON object, so the tool call cannot run; they were sent, because the call had already begun"}
	LossCallID = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossHint,
		Reason: "the id of the tool call is a duplicate, or too many tool calls precede it; another id was sent"}
	LossUncarriedState = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "no tool call follows that can carry the thinking; it was dropped, and later requests omit it"}
	LossStopDetails = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "the details of the stop reason are in another format; they were dropped"}
	LossMemberPlace = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "the extra member cannot be sent at this place of the response; it was dropped"}
	LossManyMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "the response has more than 256 KiB of extra members; the rest was dropped"}
	LossVendorEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "a vendor-specific event was dropped"}
)
