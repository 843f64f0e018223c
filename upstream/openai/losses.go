package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
)

func hint(feature, reason string) *loss.Rule {
	return &loss.Rule{Feature: feature, Severity: content.LossHint, Reason: reason}
}

func degraded(feature, reason string) *loss.Rule {
	return &loss.Rule{Feature: feature, Severity: content.LossDegraded, Reason: reason}
}

func dropped(feature, reason string) *loss.Rule {
	return &loss.Rule{Feature: feature, Severity: content.LossDropped, Reason: reason}
}

// Losses of requests that only the Responses API has. Package lower has the others.
var (
	lossThinkingRefused = degraded(loss.LostThinking, "the server can no longer read its earlier thinking; it was omitted")
	lossUnrequestedItem = dropped(loss.VendorPart, "the item does not result from a tool of this request, so that a client may have made it up; it was dropped")
)

// Losses of responses in Chat Completions. Some are shared with the Responses API.
var (
	lossUnknownPiece     = dropped(loss.ResponseUnknown, "a part of unknown kind was dropped")
	lossLateInput        = degraded(loss.ResponseArguments, "arguments after the end of a tool call were omitted")
	lossResponseFile     = dropped(loss.ResponseFile, "a file that cannot be decoded was dropped")
	lossExecutedTools    = dropped(loss.ResponseVendorPart, "calls of the server's built-in tools and their results were dropped")
	lossMessageSignature = hint(loss.ResponseSignature, "the signature of a message was omitted")
)

// Losses of responses that only the Responses API has.
var (
	lossImageFailed     = dropped(loss.ResponseImage, "the server did not generate the image; it was dropped")
	lossUsageCut        = hint(loss.ResponseUsage, "the response was cut at a stop sequence before the server reported the usage")
	lossConflictingText = hint(loss.ResponseText, "the complete form of a part differs from its deltas; the deltas were used")
	lossPhase           = hint(loss.ResponseMembers, "the phase of a message does not follow from its place; later requests have the one that does")
	lossUnknownItem     = hint(loss.ResponseUnknown, "only OpenAI can read this item of the response; later requests omit it")
)

// chatLosses lists the losses of responses in Chat Completions.
var chatLosses = []*loss.Rule{
	openaiformat.LossEmptyResponse, openaiformat.LossCharacters, openaiformat.LossThinkingState, openaiformat.LossCitation, lossUnknownPiece, lossLateInput, openaiformat.LossCustomCall,
	openaiformat.LossNamelessCall, lossResponseFile, lossExecutedTools, lossMessageSignature, openaiformat.LossJSONText,
}

// responsesLosses lists the losses of responses in the Responses API.
var responsesLosses = []*loss.Rule{
	openaiformat.LossEmptyResponse, openaiformat.LossCharacters, openaiformat.LossThinkingState, openaiformat.LossCitation, openaiformat.LossCustomCall, openaiformat.LossNamelessCall,
	lossImageFailed, lossUsageCut, lossConflictingText, lossUnknownItem, openaiformat.LossJSONText, lossPhase,
}
