package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
)

// Losses of responses that are sent in this format.
var (
	lossResponseImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "the source of the image has no URL or media type; the part was dropped"}
	lossImageMember = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDegraded,
		Reason: "Chat Completions does not define images in responses; the image was sent in the member images, which only some clients read"}
	lossResponseFile = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "Chat Completions responses cannot contain this file; the part was dropped"}
	lossResponseTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "Chat Completions responses cannot contain built-in tools; the part was dropped"}
	lossResponsePart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "Chat Completions responses cannot contain this kind of part; it was dropped"}
	lossManyFunctions = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "the client expects at most one function_call; the tool call was dropped"}
	lossManyChoices = &loss.Rule{Feature: loss.ResponseCandidates, Severity: content.LossDropped,
		Reason: "a response has at most 128 choices; the others were dropped"}
	lossTextOrder = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "the text follows a tool call, but a message has its text before its tool calls"}
	lossHiddenReasoning = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "the options of the handler hide thinking; it was omitted"}
	lossResponseCitation = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "Chat Completions cites only web pages; the citation was dropped"}
	lossCitedPassage = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossHint,
		Reason: "Chat Completions cites whole web pages; the passage within the page was dropped"}
	lossManyCitations = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the text has too many citations; the rest was dropped"}
	lossTextSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "Chat Completions cannot carry the signature of a text, which vendors do not need; it was omitted"}
	lossUncarriedState = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "no tool call follows that can carry the state of the thinking; it was dropped, and later requests omit it"}
	lossStopReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "Chat Completions does not have this stop reason; the nearest one was sent"}
	lossStopSequence = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "Chat Completions does not report which stop sequence matched; it was dropped"}
	lossUsageCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "Chat Completions does not have some token counts or usage members; they were added to another count or dropped"}
	lossResponseCache = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Chat Completions responses have no cache marks; the mark was dropped"}
	lossEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Chat Completions has no place for the extra members; they were dropped"}
)

// responseLosses lists the losses of responses that are sent.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossTextSignature, lossUncarriedState, lossHiddenReasoning,
	lossResponseImage, lossImageMember, lossResponseFile, lossResponseTool, lossResponsePart, lossManyChoices, lossTextOrder,
	response.LossCallName, response.LossCallArguments, response.LossSentCall, response.LossCutCall, response.LossCallID, response.LossNamespace, lossManyFunctions,
	lossResponseCitation, lossCitedPassage, lossManyCitations, lossStopReason, lossStopSequence, response.LossStopDetails, lossUsageCounts,
	lossResponseCache, response.LossMemberPlace, response.LossManyMembers, lossEventMembers, response.LossVendorEvent,
	foreign.SourcesLoss, foreign.EntryPointLoss, foreign.QueriesLoss, foreign.LogprobsLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}

// lossOfPart returns the rule for a part that responses cannot contain.
func lossOfPart(p content.Part) *loss.Rule {
	switch p.(type) { // other kinds have a place, or none in any version
	case *content.Image:
		return lossResponseImage
	case *content.Document, *content.Media:
		return lossResponseFile
	case *content.ServerToolUse, *content.ServerToolResult:
		return lossResponseTool
	}
	return lossResponsePart
}
