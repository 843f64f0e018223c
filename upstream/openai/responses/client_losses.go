package responses

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
)

// Losses of responses that are sent to clients of this format.
var (
	lossSentFile = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "Responses output cannot contain documents, audio or video; the part was dropped"}
	lossSentImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "Responses output has images only as base64; the image was dropped"}
	lossOpenImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "Open Responses output cannot contain images; the image was dropped"}
	lossSentTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "Responses output cannot contain built-in tools of another vendor; the part was dropped"}
	lossSentPart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "Responses output cannot contain this kind of part; it was dropped"}
	lossSentArguments = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments are not a JSON object, so the tool call cannot run; they were sent as an incomplete item, because the call had already begun"}
	lossNotAllowed = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "the request does not allow a call of this tool; it was dropped"}
	lossSentCitation = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "Responses output does not have this kind of citation; it was dropped"}
	lossCitedText = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossHint,
		Reason: "Responses citations do not have the cited text; it was omitted"}
	lossSentSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "Responses cannot carry the signature of a text or an image, which vendors do not need; it was omitted"}
	lossSentCandidates = &loss.Rule{Feature: loss.ResponseCandidates, Severity: content.LossDropped,
		Reason: "Responses has a single candidate; the others were dropped"}
	lossSentStop = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "Responses does not have this stop reason; the status of the response is the nearest one"}
	lossSentCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "Responses does not have some token counts or usage members; they were added to another count or dropped"}
	lossSentSequence = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "Responses does not report which stop sequence matched; it was dropped"}
	lossSentCache = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Responses output has no cache marks; the mark was dropped"}
	lossSentMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Responses has no place for the extra members of the event; they were dropped"}
	lossSentEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an event that Responses clients do not know was dropped"}
	lossKeptOutput = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossDegraded,
		Reason: "the output is larger than 8 MiB; the last event does not repeat it"}
)

// clientLosses lists the losses of responses that are sent.
var clientLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossSentSignature, response.LossUncarriedState, response.LossHiddenThinking,
	lossSentImage, lossOpenImage, lossSentFile, lossSentTool, lossSentPart, response.LossCallName, response.LossCallArguments, lossSentArguments, response.LossCutCall,
	lossNotAllowed, response.LossCallID, lossSentCitation, lossCitedText, lossSentCandidates, lossSentStop, response.LossStopDetails, lossSentSequence, lossSentCounts,
	lossSentCache, lossSentMembers, lossSentEvent, lossKeptOutput, lossNoSummary, lossNotStored,
	foreign.SourcesLoss, foreign.EntryPointLoss, foreign.QueriesLoss, foreign.LogprobsLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}
