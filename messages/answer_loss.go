package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// What an answer can lose on its way into this format.
var (
	unsaidImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for an image: it is left out"}
	unsaidDocument = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for a document: it is left out"}
	unsaidMedia = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for sound or moving pictures: they are left out"}
	unsaidTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for a built-in tool of another format: it is left out"}
	unsaidPart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for a part of this kind: it is left out"}
	unsaidResult = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "the result of a built-in tool is no JSON and is left out"}
	unsaidName = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "the call has no name: it is left out"}
	unsaidInput = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments of the call are not a JSON object: it is left out"}
	unsaidSent = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments of the call, which was sent as it came, are not a JSON object"}
	unsaidCut = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the answer was cut before the arguments of the call began: it is left out"}
	unsaidQuery = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments of a built-in tool are not a JSON object and are left out"}
	unsaidID = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossHint,
		Reason: "the call has the id of another call, or comes behind more calls than are remembered: it gets one of its own"}
	unsaidCitation = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the citation is of a kind that this format does not have and is left out"}
	unsaidLast = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "a signature of the last text would have to be carried behind it, where agents look for the text"}
	unsaidTextSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "the signature of a text, which its vendor does not need back, is not sent"}
	unsaidState = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "without thinking blocks, only a tool call behind it could carry this thinking, or the signature of this text, back to its vendor"}
	unsaidThinking = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "the request did not ask for thinking: it is not sent"}
	unsaidCandidates = &loss.Rule{Feature: loss.ResponseCandidates, Severity: content.LossDropped,
		Reason: "this format has one answer only: the others are left out"}
	unsaidReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "the vendor has no word for the reason to stop: it is told in one that is not the vendor's"}
	unsaidDetails = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "the details of the reason to stop are another format's and are left out"}
	unsaidCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "counts that this format does not have, or words about them, are left out"}
	unsaidCache = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an answer has no place for a cache mark"}
	unsaidEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of an event have no place here and are left out"}
	unsaidManyMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "the answer has more members of its own than are kept"}
	unsaidEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an event that is not known is left out"}
	unsaidDelta = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "a piece of a part is not known and is left out"}
)

// answerLosses is the table of all of them.
var answerLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, unsaidLast, unsaidTextSignature, unsaidState, unsaidThinking,
	unsaidImage, unsaidDocument, unsaidMedia, unsaidTool, unsaidPart, unsaidResult, unsaidName, unsaidInput, unsaidSent, unsaidCut, unsaidQuery, unsaidID, unsaidCitation,
	unsaidCandidates, unsaidReason, unsaidDetails, unsaidCounts,
	unsaidCache, unsaidEventMembers, unsaidManyMembers, unsaidEvent, unsaidDelta,
	codec.UnsupportedSources, codec.UnsupportedLogprobs, codec.UnsupportedResume, codec.UnsupportedMembers,
}

// unsayable returns the rule for a part that an answer has no block for.
func unsayable(p content.Part) *loss.Rule {
	switch p.(type) {
	case *content.Image:
		return unsaidImage
	case *content.Document:
		return unsaidDocument
	case *content.Media:
		return unsaidMedia
	case *content.ServerToolUse, *content.ServerToolResult:
		return unsaidTool
	}
	return unsaidPart
}
