package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/seal"
)

// What an answer can lose on its way into this format.
var (
	unsaidTool = &loss.Rule{Feature: loss.AnswerVendorPart, Severity: content.LossDropped,
		Reason: "an answer in this format cannot hold a built-in tool of another format"}
	unsaidPart = &loss.Rule{Feature: loss.AnswerUnknown, Severity: content.LossDropped,
		Reason: "an answer in this format cannot hold a part of this kind"}
	unsaidBroken = &loss.Rule{Feature: loss.AnswerUnknown, Severity: content.LossDropped,
		Reason: "a part whose JSON is broken, or that the vendor does not have"}
	unsaidInput = &loss.Rule{Feature: loss.AnswerArguments, Severity: content.LossDropped,
		Reason: "a call whose arguments are not a JSON object"}
	unsaidTitle = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDegraded,
		Reason: "a document has no title and no context in this format"}
	unsaidFile = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDropped,
		Reason: "a file that is not here, or of a kind that this format does not have"}
	unsaidData = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDropped,
		Reason: "a file that is empty or not base64"}
	unsaidType = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDropped,
		Reason: "a file whose type is not known"}
	unsaidGuessed = &loss.Rule{Feature: loss.AnswerFile, Severity: content.LossDegraded,
		Reason: "the type of the file was not said; it is told by its first bytes"}
	unsaidSignature = &loss.Rule{Feature: loss.AnswerSignature, Severity: content.LossDropped,
		Reason: "a signature that is not base64"}
	unsaidLate = &loss.Rule{Feature: loss.AnswerSignature, Severity: content.LossDegraded,
		Reason: "a signature that came after its part"}
	unsaidSource = &loss.Rule{Feature: loss.AnswerCitations, Severity: content.LossDropped,
		Reason: "a citation whose source has no name"}
	unsaidPassage = &loss.Rule{Feature: loss.AnswerCitations, Severity: content.LossDegraded,
		Reason: "of a citation, the place in the source: this format names sources as a whole"}
	unsaidNothing = &loss.Rule{Feature: loss.AnswerCitations, Severity: content.LossDropped,
		Reason: "citations of a text that says nothing"}
	unsaidBeside = &loss.Rule{Feature: loss.AnswerCitations, Severity: content.LossDropped,
		Reason: "citations beside the vendor's own " + grounding}
	unsaidCites = &loss.Rule{Feature: loss.AnswerCitations, Severity: content.LossDropped,
		Reason: "citations of what is no text, or too many of one"}
	unsaidReason = &loss.Rule{Feature: loss.AnswerStop, Severity: content.LossDegraded,
		Reason: "a reason to stop that the vendor has no word for"}
	unsaidOwnReason = &loss.Rule{Feature: loss.AnswerStop, Severity: content.LossDegraded,
		Reason: "a reason to stop that the vendor has no word of its own for"}
	unsaidSequence = &loss.Rule{Feature: loss.AnswerStop, Severity: content.LossHint,
		Reason: "which stop sequence was met"}
	unsaidDetails = &loss.Rule{Feature: loss.AnswerStop, Severity: content.LossHint,
		Reason: "another format's details of the reason to stop"}
	unsaidCounts = &loss.Rule{Feature: loss.AnswerUsage, Severity: content.LossHint,
		Reason: "counts that this format has not, or only as part of a sum"}
	unsaidCache = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "a cache mark in an answer"}
	unsaidMembers = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "members of another format"}
	unsaidPlace = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "members that have no place here"}
	unsaidEventMembers = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "members of an event"}
	unsaidAbout = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "something about a part that only its vendor knows"}
	unsaidEvent = &loss.Rule{Feature: loss.AnswerMembers, Severity: content.LossHint,
		Reason: "an event that only its vendor knows"}
)

// answerLosses is the table of all of them.
var answerLosses = []*loss.Rule{
	seal.Nobodys, seal.TooLarge, seal.TooLate, seal.TwoVendors,
	unsaidTool, unsaidPart, unsaidBroken, unsaidInput,
	unsaidTitle, unsaidFile, unsaidData, unsaidType, unsaidGuessed, unsaidSignature, unsaidLate,
	unsaidSource, unsaidPassage, unsaidNothing, unsaidBeside, unsaidCites,
	unsaidReason, unsaidOwnReason, unsaidSequence, unsaidDetails, unsaidCounts,
	unsaidCache, unsaidMembers, unsaidPlace, unsaidEventMembers, unsaidAbout, unsaidEvent,
}

// unsayable returns the rule for a part that an answer cannot hold.
func unsayable(p content.Part) *loss.Rule {
	switch p.(type) {
	case *content.ServerToolUse, *content.ServerToolResult:
		return unsaidTool
	}
	return unsaidPart
}
