package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
)

// The losses of [RequestForTarget] in conversations and tools. internal/schema has those of
// schemas.
var (
	lossSystemFile = &loss.Rule{Feature: loss.SystemFiles, Severity: content.LossDropped,
		Reason: "system instructions of generateContent can contain only text; the part was dropped"}
	lossSystemTurn = &loss.Rule{Feature: loss.SystemTurn, Severity: content.LossDegraded,
		Reason: "generateContent has no system text within a conversation; the turn was sent as a user turn"}
	lossJoinedResults = &loss.Rule{Feature: loss.ResultOrder, Severity: content.LossHint,
		Reason: "all results of a step must be in one turn; the turn was joined with the one before it"}
	lossJoinedCalls = &loss.Rule{Feature: loss.TurnOrder, Severity: content.LossHint,
		Reason: "all output of the model in a step must be in one turn; the turn was joined with the one before it"}
	lossJoinedMembers = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the turn was joined with the one before it; its extra members were dropped"}
	lossEmptyText = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossHint,
		Reason: "an empty text was omitted"}
	lossEmptyTurn = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossHint,
		Reason: "an empty turn was omitted"}
	lossReplacedTurn = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "all parts of the turn were dropped; a placeholder sentence was sent instead"}
	lossEarlierCitations = &loss.Rule{Feature: loss.TextCitations, Severity: content.LossHint,
		Reason: "generateContent has no citations in requests; they were omitted"}
	lossCacheMark = &loss.Rule{Feature: loss.CacheMarks, Severity: content.LossHint,
		Reason: "generateContent has no cache marks and caches automatically; the mark was omitted"}
	lossGuessedType = &loss.Rule{Feature: loss.ImageSource, Severity: content.LossDegraded,
		Reason: "the link has no media type; one was guessed from the end of the link"}
	lossDetectedType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossHint,
		Reason: "the file has no media type; the one detected from its first bytes was sent"}
	lossForeignFile = &loss.Rule{Feature: loss.DocumentSource, Severity: content.LossDropped,
		Reason: "the file is stored at another vendor; it was dropped"}
	lossDocumentParts = &loss.Rule{Feature: loss.DocumentParts, Severity: content.LossDegraded,
		Reason: "the document was sent as its parts"}
	lossDocumentTitle = &loss.Rule{Feature: loss.DocumentTitle, Severity: content.LossDegraded,
		Reason: "the document's title and context were sent as text before it"}
	lossDocumentCitations = &loss.Rule{Feature: loss.DocumentCitations, Severity: content.LossDropped,
		Reason: "generateContent cannot cite parts of a request; the setting was dropped"}
	lossForeignThinking = &loss.Rule{Feature: loss.ThinkingHistory, Severity: content.LossHint,
		Reason: "thinking of another vendor was omitted"}
	lossMissingSignature = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDegraded,
		Reason: "the tool call has no signature of this vendor; a placeholder was sent, and the model continues without its earlier thinking"}
	lossMissingEarlierSignature = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossHint,
		Reason: "a tool call of an earlier turn has no signature of this vendor; a placeholder was sent"}
	lossResultTextsJoined = &loss.Rule{Feature: loss.ResultParts, Severity: content.LossDegraded,
		Reason: "a tool result has one text, before its files; the texts were joined and moved there"}
	lossResultFiles = &loss.Rule{Feature: loss.ResultImage, Severity: content.LossDegraded,
		Reason: "the model does not accept files in tool results; they were sent after the result"}
	lossSearchResult = &loss.Rule{Feature: loss.SearchResults, Severity: content.LossDegraded,
		Reason: "generateContent has no search results in requests; the search result was sent as text"}

	lossMappedTool = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "the built-in tool was replaced by this vendor's similar tool"}
	lossMappedToolBounds = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "this vendor's similar tool cannot be restricted in this way; the restriction was dropped"}
	lossMappedToolSettings = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "this vendor's similar tool does not have this setting; it was omitted"}
	lossToolBesideFunctions = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "the model does not accept built-in tools together with functions; the built-in tool was dropped"}
	lossStrictTool = &loss.Rule{Feature: loss.ToolStrict, Severity: content.LossDegraded,
		Reason: "generateContent validates arguments for all functions or for none; the setting of one function was omitted"}
	lossChoiceMode = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossDropped,
		Reason: "generateContent does not have this tool choice; it was dropped"}
	lossChoiceNoTools = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossHint,
		Reason: "the request has no functions to choose; the tool choice was omitted"}
	lossChoiceForced = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossDegraded,
		Reason: "generateContent can require calls of functions only; no call of a built-in tool is required"}
	lossChoiceNames = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossDropped,
		Reason: "only functions of the request can be chosen by name; the other names were dropped"}
	lossChoiceValidated = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossHint,
		Reason: "generateContent accepts names only if arguments are validated; the mode VALIDATED was sent"}
	lossChoiceNoneNames = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossHint,
		Reason: "no function may be called; the names were omitted"}
	lossChoiceParallel = &loss.Rule{Feature: loss.ChoiceParallel, Severity: content.LossDropped,
		Reason: "generateContent cannot forbid parallel tool calls; the setting was dropped"}
)

// The losses of settings.
var (
	lossMaxTokensRange = &loss.Rule{Feature: loss.MaxTokens, Severity: content.LossDegraded,
		Reason: "the limit of output tokens is not a 32-bit number; the model's own limit applies"}
	lossTemperatureRange = &loss.Rule{Feature: loss.Temperature, Severity: content.LossDropped,
		Reason: "generateContent accepts temperatures from 0 to 2; the temperature was dropped"}
	lossTopPRange = &loss.Rule{Feature: loss.TopP, Severity: content.LossDropped,
		Reason: "generateContent accepts top_p from 0 to 1; it was dropped"}
	lossTopKRange = &loss.Rule{Feature: loss.TopK, Severity: content.LossDropped,
		Reason: "generateContent accepts top_k from 1 to 2147483647; it was dropped"}
	lossSeedRange = &loss.Rule{Feature: loss.Seed, Severity: content.LossDropped,
		Reason: "generateContent accepts 32-bit seeds; the seed was dropped"}
	lossPenaltyRange = &loss.Rule{Feature: loss.Penalties, Severity: content.LossDropped,
		Reason: "generateContent accepts penalties from -2 to less than 2; the penalty was dropped"}
	lossStopEmpty = &loss.Rule{Feature: loss.StopSequences, Severity: content.LossHint,
		Reason: "an empty stop sequence was omitted"}
	lossStopsOverLimit = &loss.Rule{Feature: loss.StopSequences, Severity: content.LossDropped,
		Reason: "generateContent accepts at most 5 stop sequences; the others were dropped"}

	lossThinkingMode = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDropped,
		Reason: "generateContent does not have this thinking mode; it was dropped"}
	lossThinkingBetween = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDegraded,
		Reason: "thinking cannot be limited to the time between tool calls; the model may always think"}
	lossBudgetWithoutMode = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossDropped,
		Reason: "generateContent has no thinking budget without a thinking mode; it was dropped"}
	lossMissingBudget = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossHint,
		Reason: "the thinking mode has no budget; the model decides how much to think"}
	lossEffortBesideBudget = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "generateContent accepts a thinking budget or an effort, not both; the effort was omitted"}
	lossEffortOff = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "there is no effort when thinking is off; it was omitted"}
	lossEffortHighest = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the highest effort of generateContent is high; it was sent"}
	lossEffortUnknown = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDropped,
		Reason: "generateContent does not have this effort; it was dropped"}
	lossDisplaySummary = &loss.Rule{Feature: loss.ThinkingDisplay, Severity: content.LossDegraded,
		Reason: "generateContent shows thinking only as a summary; the summary was requested"}
	lossDisplayUnknown = &loss.Rule{Feature: loss.ThinkingDisplay, Severity: content.LossHint,
		Reason: "generateContent does not have this display of thinking; the setting was omitted"}

	lossImpliedType = &loss.Rule{Feature: loss.OutputType, Severity: content.LossHint,
		Reason: "generateContent requires a media type with a schema; application/json was sent"}
	lossOutputType = &loss.Rule{Feature: loss.OutputType, Severity: content.LossDropped,
		Reason: "generateContent does not have this media type of responses; it was dropped"}
	lossOutputModality = &loss.Rule{Feature: loss.OutputModalities, Severity: content.LossDropped,
		Reason: "generateContent does not have this kind of output; it was dropped"}
	lossOutputImage = &loss.Rule{Feature: loss.OutputImage, Severity: content.LossDropped,
		Reason: "generateContent does not have this aspect ratio or size of images; it was dropped"}
	lossUnsupportedUserID = &loss.Rule{Feature: loss.UserID, Severity: content.LossHint,
		Reason: "generateContent has no user id; it was omitted"}
	lossTierUnknown = &loss.Rule{Feature: loss.ServiceTier, Severity: content.LossHint,
		Reason: "generateContent does not have this service tier; its default applies"}
)

// requestLosses lists the losses of converting a request to this format.
var requestLosses = append([]*loss.Rule{
	codec.ForeignSignature, codec.ForeignPart, codec.ForeignTool, lossSystemFile, lossSystemTurn,
	lossJoinedResults, lossJoinedCalls, lossJoinedMembers, lossEmptyText, lossEmptyTurn, lossReplacedTurn,
	lossEarlierCitations, lossCacheMark, lossGuessedType, lossDetectedType, lossForeignFile, lossDocumentParts,
	lossDocumentTitle, lossDocumentCitations, lossForeignThinking, lossMissingSignature,
	lossMissingEarlierSignature, lossResultTextsJoined, lossResultFiles, lossSearchResult, lossMappedTool,
	lossMappedToolBounds, lossMappedToolSettings, lossToolBesideFunctions, lossStrictTool, lossChoiceMode,
	lossChoiceNoTools, lossChoiceForced, lossChoiceNames, lossChoiceValidated, lossChoiceNoneNames,
	lossChoiceParallel, lossMaxTokensRange, lossTemperatureRange, lossTopPRange, lossTopKRange, lossSeedRange,
	lossPenaltyRange, lossStopEmpty, lossStopsOverLimit, lossThinkingMode, lossThinkingBetween,
	lossBudgetWithoutMode, lossMissingBudget, lossEffortBesideBudget, lossEffortOff, lossEffortHighest,
	lossEffortUnknown, lossDisplaySummary, lossDisplayUnknown, lossImpliedType, lossOutputType,
	lossOutputModality, lossOutputImage, lossUnsupportedUserID, lossTierUnknown,
}, foreign.MemberRules...)

// The losses of converting a response to this format.
var (
	lossBuiltinTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "generateContent responses cannot contain built-in tools of another vendor; the part was dropped"}
	lossPartKind = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "generateContent responses cannot contain this kind of part; it was dropped"}
	lossInvalidPart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "the part is not valid JSON, or generateContent does not define it; it was dropped"}
	lossCallName = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "a tool call without a name was dropped"}
	lossCallArguments = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments are not a JSON object; the tool call was dropped"}
	lossCutCall = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the response was cut before the arguments began; the tool call was dropped"}
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
	lossStopDetails = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "the details of the stop reason are in another format; they were dropped"}
	lossUsageCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "generateContent does not have some token counts or usage members; they were added to another count or dropped"}
	lossResponseCacheMark = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "generateContent responses have no cache marks; the mark was dropped"}
	lossMemberPlace = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "the extra member cannot be sent at this place of the response; it was dropped"}
	lossEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "generateContent has no place for the extra members of the event; they were dropped"}
	lossBlockExtra = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "generateContent has no place for a vendor-specific event about a part; it was dropped"}
	lossVendorEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "a vendor-specific event was dropped"}
)

// responseLosses lists the losses of converting a response to this format.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors,
	lossBuiltinTool, lossPartKind, lossInvalidPart, lossCallName, lossCallArguments, lossCutCall,
	lossResponseDocumentTitle, lossFileSource, lossFileData, lossFileType, lossFileTypeDetected, lossSignatureData, lossLateSignature,
	lossCitationSource, lossCitationPassage, lossEmptyCited, lossCitationsReplaced, lossCitations,
	lossStopReason, lossStopReasonNearest, lossStopSequence, lossStopDetails, lossUsageCounts,
	lossResponseCacheMark, lossMemberPlace, lossEventMembers, lossBlockExtra, lossVendorEvent,
	codec.UnsupportedLogprobs, codec.UnsupportedResume, codec.UnsupportedMembers,
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
