package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
)

// Losses of responses that are sent in this format.
var (
	lossResponseImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain images; the part was dropped"}
	lossResponseDocument = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain documents; the part was dropped"}
	lossResponseMedia = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain audio or video; the part was dropped"}
	lossResponseTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain built-in tools of another vendor; the part was dropped"}
	lossResponsePart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain this kind of part; it was dropped"}
	lossServerResult = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "the result of a built-in tool is not valid JSON; it was dropped"}
	lossResponseCitation = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "Messages does not have this kind of citation; it was dropped"}
	lossUnreturnable = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "a member of the block is missing or wrong, so clients could not return it in the next request; it was dropped"}
	lossEmptyText = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the text with the citations is empty, which Messages does not allow; they were dropped"}
	lossTextSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "Messages cannot carry the signature of a text, which vendors do not need; it was omitted"}
	lossResponseCandidates = &loss.Rule{Feature: loss.ResponseCandidates, Severity: content.LossDropped,
		Reason: "Messages has a single candidate; the others were dropped"}
	lossStopReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "Messages does not have this stop reason; max_tokens was sent"}
	lossCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "token counts and usage members that Messages does not have were dropped"}
	lossResponseCache = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Messages responses have no cache marks; it was dropped"}
	lossEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Messages has no place for the extra members of the event; they were dropped"}
	lossUnknownEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an unknown event was dropped"}
	lossUnknownDelta = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an unknown delta was dropped"}
)

// responseLosses lists the losses of responses that are sent.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossTextSignature, response.LossUncarriedState, response.LossHiddenThinking,
	lossResponseImage, lossResponseDocument, lossResponseMedia, lossResponseTool, lossResponsePart, lossUnreturnable, lossServerResult, response.LossCallName, response.LossCallArguments, response.LossSentCall, response.LossCutCall, response.LossServerArguments, response.LossFreeform, response.LossNamespace, response.LossRefusal, response.LossCitedPlace, response.LossCallID, lossResponseCitation, lossEmptyText,
	lossResponseCandidates, lossStopReason, response.LossStopDetails, lossCounts,
	lossResponseCache, lossEventMembers, response.LossManyMembers, lossUnknownEvent, lossUnknownDelta,
	foreign.SourcesLoss, foreign.EntryPointLoss, foreign.QueriesLoss, foreign.LogprobsLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}

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
	lossStopMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "extra members of message_stop were dropped"}
	lossMisplacedEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an unknown event without a name or before message_start was dropped"}
)

// readLosses lists the losses of responses that are read.
var readLosses = append([]*loss.Rule{lossStopMembers, lossMisplacedEvent}, codec.ResponseLosses...)
