package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// What an answer can lose on its way into this format.
var (
	unsaidTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "an answer in this format cannot hold a built-in tool of another format: it is left out"}
	unsaidPart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "an answer in this format cannot hold a part of this kind: it is left out"}
	unsaidBroken = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "the JSON of the part is broken, or the vendor does not have it: it is left out"}
	unsaidName = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "the call has no name: it is left out"}
	unsaidInput = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments of the call are not a JSON object: it is left out"}
	unsaidCut = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the answer was cut before the arguments of the call began: it is left out"}
	unsaidTitle = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDegraded,
		Reason: "a document has no title and no context in this format: they are left out"}
	unsaidFile = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "the file is not here, or of a kind that this format does not have: it is left out"}
	unsaidData = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "the file is empty or not base64 and is left out"}
	unsaidType = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "the type of the file is not known: it is left out"}
	unsaidGuessed = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDegraded,
		Reason: "the type of the file was not said; it is told by its first bytes"}
	unsaidSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDropped,
		Reason: "the signature is not base64 and is left out"}
	unsaidLate = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "the signature came when its part was sent: it stands behind it"}
	unsaidSource = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the source of the citation has no name: it is left out"}
	unsaidPassage = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDegraded,
		Reason: "this format names sources as a whole: the place in the source is left out"}
	unsaidNothing = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the citations are of a text that says nothing and are left out"}
	unsaidBeside = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "citations beside the vendor's own " + grounding}
	unsaidCites = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the citations are not of a text, or too many, and are left out"}
	unsaidReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "the format has no word for the reason to stop: it says that there is another"}
	unsaidOwnReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "the format has no word of its own for the reason to stop: it tells the nearest"}
	unsaidSequence = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "the format does not tell which stop sequence was met"}
	unsaidDetails = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "the details of the reason to stop are another format's and are left out"}
	unsaidCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "counts, or words about them, are left out, or stand as part of a sum only"}
	unsaidCache = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an answer has no place for a cache mark"}
	unsaidPlace = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members that have no place here are left out"}
	unsaidEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of an event have no place here and are left out"}
	unsaidAbout = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "something about a part that only its vendor knows is left out"}
	unsaidEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an event that only its vendor knows is left out"}
)

// answerLosses is the table of all of them.
var answerLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors,
	unsaidTool, unsaidPart, unsaidBroken, unsaidName, unsaidInput, unsaidCut,
	unsaidTitle, unsaidFile, unsaidData, unsaidType, unsaidGuessed, unsaidSignature, unsaidLate,
	unsaidSource, unsaidPassage, unsaidNothing, unsaidBeside, unsaidCites,
	unsaidReason, unsaidOwnReason, unsaidSequence, unsaidDetails, unsaidCounts,
	unsaidCache, unsaidPlace, unsaidEventMembers, unsaidAbout, unsaidEvent,
	codec.UnsupportedLogprobs, codec.UnsupportedResume, codec.UnsupportedMembers,
}

// unsayable returns the rule for a part that an answer cannot hold.
func unsayable(p content.Part) *loss.Rule {
	switch p.(type) {
	case *content.ServerToolUse, *content.ServerToolResult:
		return unsaidTool
	}
	return unsaidPart
}
