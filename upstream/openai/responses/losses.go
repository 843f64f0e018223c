package responses

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
)

// Losses of requests to servers that only this format has. Package lower has the others.
var (
	lossThinkingRefused = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDegraded,
		Reason: "the server can no longer read its earlier thinking; it was omitted"}
	lossUnrequestedItem = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDropped,
		Reason: "the item does not result from a tool of this request, so that a client may have made it up; it was dropped"}
)

// Losses of responses of servers.
var (
	lossDecodedImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "the server did not generate the image; it was dropped"}
	lossCutUsage = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "the response was cut at a stop sequence before the server reported the usage"}
	lossDecodedText = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "the complete form of a part differs from its deltas; the deltas were used"}
	lossDecodedPhase = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "the phase of a message does not follow from its place; later requests have the one that does"}
	lossDecodedItem = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossHint,
		Reason: "only OpenAI can read this item of the response; later requests omit it"}
)

// decodeLosses lists the losses of responses of servers.
var decodeLosses = []*loss.Rule{
	openaiformat.LossEmptyResponse, openaiformat.LossCharacters, openaiformat.LossThinkingState, openaiformat.LossCitation,
	openaiformat.LossNamelessCall, lossDecodedImage, lossCutUsage, lossDecodedText,
	lossDecodedItem, openaiformat.LossJSONText, lossDecodedPhase,
}
