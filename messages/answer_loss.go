package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/seal"
)

// What an answer can lose on its way into this format.
var (
	unsaidImage = &loss.Rule{Feature: loss.AnswerImage, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for an image"}
	unsaidDocument = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for a document"}
	unsaidMedia = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for sound or moving pictures"}
	unsaidTool = &loss.Rule{Feature: loss.AnswerVendorPart, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for a built-in tool of another format"}
	unsaidPart = &loss.Rule{Feature: loss.AnswerUnknown, Severity: content.LossDropped,
		Reason: "an answer in this format has no block for a part of this kind"}
	unsaidResult = &loss.Rule{Feature: loss.AnswerVendorPart, Severity: content.LossDropped,
		Reason: "the result of a built-in tool is no JSON"}
	unsaidInput = &loss.Rule{Feature: loss.AnswerArguments, Severity: content.LossDropped,
		Reason: notObject}
	unsaidCitation = &loss.Rule{Feature: loss.AnswerCitations, Severity: content.LossDropped,
		Reason: "a citation of a kind that this format has not"}
	unsaidLast = &loss.Rule{Feature: loss.AnswerSignature, Severity: content.LossHint,
		Reason: "a signature of the last text would have to be carried behind it, where agents look for the text"}
	unsaidCandidates = &loss.Rule{Feature: loss.AnswerCandidates, Severity: content.LossDropped,
		Reason: "this format has one answer only"}
	unsaidReason = &loss.Rule{Feature: loss.AnswerStop, Severity: content.LossDegraded,
		Reason: "a reason to stop that the vendor has no word for"}
	unsaidDetails = &loss.Rule{Feature: loss.AnswerStop, Severity: content.LossHint,
		Reason: "another format's details of the reason to stop"}
	unsaidCounts = &loss.Rule{Feature: loss.AnswerUsage, Severity: content.LossHint,
		Reason: "counts that this format has not"}
	unsaidCache = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "a cache mark in an answer"}
	unsaidMembers = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "members of another format"}
	unsaidEventMembers = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "members of an event"}
	unsaidManyMembers = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "more members than are kept of one answer"}
	unsaidEvent = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "an event of a kind that is not known"}
	unsaidDelta = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "a delta of a kind that is not known"}
)

// answerLosses is the table of all of them.
var answerLosses = []*loss.Rule{
	seal.Nobodys, seal.TooLarge, seal.TooLate, unsaidLast,
	unsaidImage, unsaidDocument, unsaidMedia, unsaidTool, unsaidPart, unsaidResult, unsaidInput, unsaidCitation,
	unsaidCandidates, unsaidReason, unsaidDetails, unsaidCounts,
	unsaidCache, unsaidMembers, unsaidEventMembers, unsaidManyMembers, unsaidEvent, unsaidDelta,
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
