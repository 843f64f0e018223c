package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// Losses of responses that are sent in this format.
var (
	lossResponseImage    = loss.Dropped(loss.ResponseImage, "the source of the image has no URL or media type; the part was dropped")
	lossImageMember      = loss.Degraded(loss.ResponseImage, "Chat Completions does not define images in responses; the image was sent in the member images, which only some clients read")
	lossResponseFile     = loss.Dropped(loss.ResponseFile, "Chat Completions responses cannot contain this file; the part was dropped")
	lossResponseTool     = loss.Dropped(loss.ResponseVendorPart, "Chat Completions responses cannot contain built-in tools; the part was dropped")
	lossResponsePart     = loss.Dropped(loss.ResponseUnknown, "Chat Completions responses cannot contain this kind of part; it was dropped")
	lossManyFunctions    = loss.Dropped(loss.ResponseCall, "the client expects at most one function_call; the tool call was dropped")
	lossManyChoices      = loss.Dropped(loss.ResponseCandidates, "a response has at most 128 choices; the others were dropped")
	lossTextOrder        = loss.Hint(loss.ResponseText, "the text follows a tool call, but a message has its text before its tool calls")
	lossHiddenReasoning  = loss.Hint(loss.ResponseText, "the options of the handler hide thinking; it was omitted")
	lossResponseCitation = loss.Dropped(loss.ResponseCitations, "Chat Completions cites only web pages; the citation was dropped")
	lossCitedPassage     = loss.Hint(loss.ResponseCitations, "Chat Completions cites whole web pages; the passage within the page was dropped")
	lossManyCitations    = loss.Dropped(loss.ResponseCitations, "the text has too many citations; the rest was dropped")
	lossTextSignature    = loss.Hint(loss.ResponseSignature, "Chat Completions cannot carry the signature of a text, which vendors do not need; it was omitted")
	lossStopReason       = loss.Degraded(loss.ResponseStop, "Chat Completions does not have this stop reason; the nearest one was sent")
	lossStopSequence     = loss.Hint(loss.ResponseStop, "Chat Completions does not report which stop sequence matched; it was dropped")
	lossUsageCounts      = loss.Hint(loss.ResponseUsage, "Chat Completions does not have some token counts or usage members; they were added to another count or dropped")
	lossResponseCache    = loss.Hint(loss.ResponseMembers, "Chat Completions responses have no cache marks; the mark was dropped")
	lossEventMembers     = loss.Hint(loss.ResponseMembers, "Chat Completions has no place for the extra members; they were dropped")
)

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
