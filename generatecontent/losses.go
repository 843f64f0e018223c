package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// The losses of converting a response to this format.
var (
	lossBuiltinTool           = loss.Dropped(loss.ResponseVendorPart, "generateContent responses cannot contain built-in tools of another vendor; the part was dropped")
	lossPartKind              = loss.Dropped(loss.ResponseUnknown, "generateContent responses cannot contain this kind of part; it was dropped")
	lossInvalidPart           = loss.Dropped(loss.ResponseUnknown, "the part is not valid, or generateContent does not define it, so clients could not return it in the next request; it was dropped")
	lossForwardedArguments    = loss.Dropped(loss.ResponseArguments, "the tool call began in a chunk of the vendor, which arguments outside of its chunks cannot continue; they were dropped")
	lossResponseDocumentTitle = loss.Degraded(loss.ResponseFile, "generateContent documents have no title, context or citation setting; they were dropped")
	lossFileSource            = loss.Dropped(loss.ResponseFile, "the source of the file is missing, or generateContent cannot represent it; the part was dropped")
	lossFileData              = loss.Dropped(loss.ResponseFile, "the data of the file is empty or not valid base64; the part was dropped")
	lossFileType              = loss.Dropped(loss.ResponseFile, "the media type of the file is missing and cannot be detected; the part was dropped")
	lossFileTypeDetected      = loss.Degraded(loss.ResponseFile, "the media type of the file is missing; the type detected from its first bytes was sent")
	lossSignatureData         = loss.Dropped(loss.ResponseSignature, "the signature is not valid base64; it was dropped")
	lossLateSignature         = loss.Degraded(loss.ResponseSignature, "the signature arrived after its part was sent; it was sent on an empty text part")
	lossHiddenSignature       = loss.Degraded(loss.ResponseSignature, "the request did not ask for thinking, and no unsigned text or tool call follows that could carry its signature; the signature was dropped")
	lossCitationSource        = loss.Dropped(loss.ResponseCitations, "the citation has no URL, title or text; it was dropped")
	lossCitationPassage       = loss.Degraded(loss.ResponseCitations, "generateContent cites whole sources; the location within the source was dropped")
	lossEmptyCited            = loss.Dropped(loss.ResponseCitations, "the cited text is empty; the citations were dropped")
	lossCitationsReplaced     = loss.Dropped(loss.ResponseCitations, "the vendor sent "+groundingMember+"; other citations of the candidate were dropped")
	lossCitations             = loss.Dropped(loss.ResponseCitations, "citations of other parts than texts, and citations over the limit, were dropped")
	lossStopReason            = loss.Degraded(loss.ResponseStop, "generateContent does not have this stop reason; OTHER was sent")
	lossStopReasonNearest     = loss.Degraded(loss.ResponseStop, "generateContent does not have this stop reason; the nearest one was sent")
	lossStopSequence          = loss.Hint(loss.ResponseStop, "generateContent does not report which stop sequence matched; it was dropped")
	lossUsageCounts           = loss.Hint(loss.ResponseUsage, "generateContent does not have some token counts or usage members; they were added to another count or dropped")
	lossResponseCacheMark     = loss.Hint(loss.ResponseMembers, "generateContent responses have no cache marks; the mark was dropped")
	lossEventMembers          = loss.Hint(loss.ResponseMembers, "generateContent has no place for the extra members of the event; they were dropped")
	lossBlockExtra            = loss.Hint(loss.ResponseMembers, "generateContent has no place for a vendor-specific event about a part; it was dropped")
)

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
	lossArgumentPiece = loss.Dropped(loss.ResponseArguments, "a piece of the tool arguments is invalid or too large; the arguments are incomplete")
	lossCutArguments  = loss.Degraded(loss.ResponseArguments, "the response ended within the tool arguments; they are incomplete")
	lossTokenCount    = loss.Hint(loss.ResponseUsage, "a token count is not a number; it was dropped")
)
