package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
)

// The losses of converting a response to this format.
var (
	lossBuiltinTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "generateContent responses cannot contain built-in tools of another vendor; the part was dropped"}
	lossPartKind = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "generateContent responses cannot contain this kind of part; it was dropped"}
	lossInvalidPart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "the part is not valid, or generateContent does not define it, so clients could not return it in the next request; it was dropped"}
	lossForwardedArguments = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the tool call began in a chunk of the vendor, which arguments outside of its chunks cannot continue; they were dropped"}
	lossResponseDocumentTitle = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDegraded,
		Reason: "generateContent documents have no title, context or citation setting; they were dropped"}
	lossFileSource = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "the source of the file is missing, or generateContent cannot represent it; the part was dropped"}
	lossFileData = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "the data of the file is empty or not valid base64; the part was dropped"}
	lossFileType = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "the media type of the file is missing and cannot be detected; the part was dropped"}
	lossFileTypeDetected = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDegraded,
		Reason: "the media type of the file is missing; the type detected from its first bytes was sent"}
	lossSignatureData = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDropped,
		Reason: "the signature is not valid base64; it was dropped"}
	lossLateSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "the signature arrived after its part was sent; it was sent on an empty text part"}
	lossHiddenSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "the request did not ask for thinking, and no unsigned text or tool call follows that could carry its signature; the signature was dropped"}
	lossCitationSource = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the citation has no URL, title or text; it was dropped"}
	lossCitationPassage = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDegraded,
		Reason: "generateContent cites whole sources; the location within the source was dropped"}
	lossEmptyCited = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the cited text is empty; the citations were dropped"}
	lossCitationsReplaced = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "the vendor sent " + groundingMember + "; other citations of the candidate were dropped"}
	lossCitations = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "citations of other parts than texts, and citations over the limit, were dropped"}
	lossStopReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "generateContent does not have this stop reason; OTHER was sent"}
	lossStopReasonNearest = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "generateContent does not have this stop reason; the nearest one was sent"}
	lossStopSequence = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "generateContent does not report which stop sequence matched; it was dropped"}
	lossUsageCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "generateContent does not have some token counts or usage members; they were added to another count or dropped"}
	lossResponseCacheMark = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "generateContent responses have no cache marks; the mark was dropped"}
	lossEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "generateContent has no place for the extra members of the event; they were dropped"}
	lossBlockExtra = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "generateContent has no place for a vendor-specific event about a part; it was dropped"}
)

// responseLosses lists the losses of converting a response to this format.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, response.LossHiddenThinking,
	lossBuiltinTool, lossPartKind, lossInvalidPart, response.LossCallName, response.LossCallArguments, response.LossCutCall, response.LossFreeform, response.LossNamespace, response.LossRefusal, response.LossCitedPlace, lossForwardedArguments,
	lossResponseDocumentTitle, lossFileSource, lossFileData, lossFileType, lossFileTypeDetected, lossSignatureData, lossLateSignature, lossHiddenSignature,
	lossCitationSource, lossCitationPassage, lossEmptyCited, lossCitationsReplaced, lossCitations,
	lossStopReason, lossStopReasonNearest, lossStopSequence, response.LossStopDetails, lossUsageCounts,
	lossResponseCacheMark, response.LossMemberPlace, lossEventMembers, lossBlockExtra, response.LossVendorEvent,
	foreign.LogprobsLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}

// unsupportedPartLoss returns the loss for a part that a response cannot contain.
func unsupportedPartLoss(p content.Part) *loss.Rule {
	switch p.(type) {
	case *content.ServerToolUse, *content.ServerToolResult:
		return lossBuiltinTool
	}
	return lossPartKind
}

// The losses of decoding a response in this format, except those of package codec.
var (
	lossArgumentPiece = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "a piece of the tool arguments is invalid or too large; the arguments are incomplete"}
	lossCutArguments = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDegraded,
		Reason: "the response ended within the tool arguments; they are incomplete"}
	lossTokenCount = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "a token count is not a number; it was dropped"}
)

// decodeLosses lists the losses of decoding a response in this format.
var decodeLosses = append([]*loss.Rule{lossArgumentPiece, lossCutArguments, lossTokenCount}, codec.ResponseLosses...)
