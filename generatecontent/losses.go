package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

// The losses of [RequestForTarget] in conversations and tools. internal/schema has those of
// schemas.
var (
	systemFile = &loss.Rule{Feature: loss.SystemFiles, Severity: content.LossDropped,
		Reason: "system instructions of content generation can contain only text; the part was dropped"}
	systemTurn = &loss.Rule{Feature: loss.SystemTurn, Severity: content.LossDegraded,
		Reason: "content generation has no system text within a conversation; the turn was sent as a user turn"}
	joinedResults = &loss.Rule{Feature: loss.ResultOrder, Severity: content.LossHint,
		Reason: "all results of a step must be in one turn; the turn was joined with the one before it"}
	joinedCalls = &loss.Rule{Feature: loss.TurnOrder, Severity: content.LossHint,
		Reason: "all output of the model in a step must be in one turn; the turn was joined with the one before it"}
	joinedMembers = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the turn was joined with the one before it; its extra members were dropped"}
	emptyText = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossHint,
		Reason: "an empty text was omitted"}
	emptyTurn = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossHint,
		Reason: "an empty turn was omitted"}
	replacedTurn = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "all parts of the turn were dropped; a placeholder sentence was sent instead"}
	earlierCitations = &loss.Rule{Feature: loss.TextCitations, Severity: content.LossHint,
		Reason: "content generation has no citations in requests; they were omitted"}
	cacheMark = &loss.Rule{Feature: loss.CacheMarks, Severity: content.LossHint,
		Reason: "content generation has no cache marks and caches automatically; the mark was omitted"}
	guessedType = &loss.Rule{Feature: loss.ImageSource, Severity: content.LossDegraded,
		Reason: "the link has no media type; one was guessed from the end of the link"}
	detectedType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossHint,
		Reason: "the file has no media type; the one detected from its first bytes was sent"}
	foreignFile = &loss.Rule{Feature: loss.DocumentSource, Severity: content.LossDropped,
		Reason: "the file is stored at another vendor; it was dropped"}
	documentParts = &loss.Rule{Feature: loss.DocumentParts, Severity: content.LossDegraded,
		Reason: "the document was sent as its parts"}
	documentTitle = &loss.Rule{Feature: loss.DocumentTitle, Severity: content.LossDegraded,
		Reason: "the document's title and context were sent as text before it"}
	documentCitations = &loss.Rule{Feature: loss.DocumentCitations, Severity: content.LossDropped,
		Reason: "content generation cannot cite parts of a request; the setting was dropped"}
	foreignThinking = &loss.Rule{Feature: loss.ThinkingHistory, Severity: content.LossHint,
		Reason: "thinking of another vendor was omitted"}
	missingSignature = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDegraded,
		Reason: "the tool call has no signature of this vendor; a placeholder was sent, and the model continues without its earlier thinking"}
	missingEarlierSignature = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossHint,
		Reason: "a tool call of an earlier turn has no signature of this vendor; a placeholder was sent"}
	resultTextsJoined = &loss.Rule{Feature: loss.ResultParts, Severity: content.LossDegraded,
		Reason: "a tool result has one text, before its files; the texts were joined and moved there"}
	resultFiles = &loss.Rule{Feature: loss.ResultImage, Severity: content.LossDegraded,
		Reason: "the model does not accept files in tool results; they were sent after the result"}
	searchResult = &loss.Rule{Feature: loss.SearchResults, Severity: content.LossDegraded,
		Reason: "content generation has no search results in requests; the search result was sent as text"}

	mappedTool = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "the built-in tool was replaced by this vendor's similar tool"}
	mappedToolBounds = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "this vendor's similar tool cannot be restricted in this way; the restriction was dropped"}
	mappedToolSettings = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "this vendor's similar tool does not have this setting; it was omitted"}
	toolBesideFunctions = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "the model does not accept built-in tools together with functions; the built-in tool was dropped"}
	strictTool = &loss.Rule{Feature: loss.ToolStrict, Severity: content.LossDegraded,
		Reason: "content generation validates arguments for all functions or for none; the setting of one function was omitted"}
	choiceMode = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossDropped,
		Reason: "content generation does not have this tool choice; it was dropped"}
	choiceNoTools = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossHint,
		Reason: "the request has no functions to choose; the tool choice was omitted"}
	choiceForced = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossDegraded,
		Reason: "content generation can require calls of functions only; no call of a built-in tool is required"}
	choiceNames = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossDropped,
		Reason: "only functions of the request can be chosen by name; the other names were dropped"}
	choiceValidated = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossHint,
		Reason: "content generation accepts names only if arguments are validated; the mode VALIDATED was sent"}
	choiceNoneNames = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossHint,
		Reason: "no function may be called; the names were omitted"}
	choiceParallel = &loss.Rule{Feature: loss.ChoiceParallel, Severity: content.LossDropped,
		Reason: "content generation cannot forbid parallel tool calls; the setting was dropped"}
)

// The losses of settings.
var (
	maxTokensRange = &loss.Rule{Feature: loss.MaxTokens, Severity: content.LossDegraded,
		Reason: "the limit of output tokens is not a 32-bit number; the model's own limit applies"}
	temperatureRange = &loss.Rule{Feature: loss.Temperature, Severity: content.LossDropped,
		Reason: "content generation accepts temperatures from 0 to 2; the temperature was dropped"}
	topPRange = &loss.Rule{Feature: loss.TopP, Severity: content.LossDropped,
		Reason: "content generation accepts top_p from 0 to 1; it was dropped"}
	topKRange = &loss.Rule{Feature: loss.TopK, Severity: content.LossDropped,
		Reason: "content generation accepts top_k from 1 to 2147483647; it was dropped"}
	seedRange = &loss.Rule{Feature: loss.Seed, Severity: content.LossDropped,
		Reason: "content generation accepts 32-bit seeds; the seed was dropped"}
	penaltyRange = &loss.Rule{Feature: loss.Penalties, Severity: content.LossDropped,
		Reason: "content generation accepts penalties from -2 to less than 2; the penalty was dropped"}
	stopEmpty = &loss.Rule{Feature: loss.StopSequences, Severity: content.LossHint,
		Reason: "an empty stop sequence was omitted"}
	stopsOverLimit = &loss.Rule{Feature: loss.StopSequences, Severity: content.LossDropped,
		Reason: "content generation accepts at most 5 stop sequences; the others were dropped"}

	thinkingMode = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDropped,
		Reason: "content generation does not have this thinking mode; it was dropped"}
	thinkingBetween = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDegraded,
		Reason: "thinking cannot be limited to the time between tool calls; the model may always think"}
	budgetWithoutMode = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossDropped,
		Reason: "content generation has no thinking budget without a thinking mode; it was dropped"}
	missingBudget = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossHint,
		Reason: "the thinking mode has no budget; the model decides how much to think"}
	effortBesideBudget = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "content generation accepts a thinking budget or an effort, not both; the effort was omitted"}
	effortOff = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "there is no effort when thinking is off; it was omitted"}
	effortHighest = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the highest effort of content generation is high; it was sent"}
	effortUnknown = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDropped,
		Reason: "content generation does not have this effort; it was dropped"}
	displaySummary = &loss.Rule{Feature: loss.ThinkingDisplay, Severity: content.LossDegraded,
		Reason: "content generation shows thinking only as a summary; the summary was requested"}
	displayUnknown = &loss.Rule{Feature: loss.ThinkingDisplay, Severity: content.LossHint,
		Reason: "content generation does not have this display of thinking; the setting was omitted"}

	impliedType = &loss.Rule{Feature: loss.OutputType, Severity: content.LossHint,
		Reason: "content generation requires a media type with a schema; application/json was sent"}
	outputType = &loss.Rule{Feature: loss.OutputType, Severity: content.LossDropped,
		Reason: "content generation does not have this media type of responses; it was dropped"}
	outputModality = &loss.Rule{Feature: loss.OutputModalities, Severity: content.LossDropped,
		Reason: "content generation does not have this kind of output; it was dropped"}
	outputImage = &loss.Rule{Feature: loss.OutputImage, Severity: content.LossDropped,
		Reason: "content generation does not have this aspect ratio or size of images; it was dropped"}
	unsupportedUserID = &loss.Rule{Feature: loss.UserID, Severity: content.LossHint,
		Reason: "content generation has no user id; it was omitted"}
	tierUnknown = &loss.Rule{Feature: loss.ServiceTier, Severity: content.LossHint,
		Reason: "content generation does not have this service tier; its default applies"}
)

// requestLosses lists the losses of converting a request to this format.
var requestLosses = append([]*loss.Rule{
	codec.ForeignSignature, codec.ForeignPart, codec.ForeignTool,
	systemFile, systemTurn, joinedResults, joinedCalls, joinedMembers, emptyText, emptyTurn, replacedTurn, earlierCitations, cacheMark,
	guessedType, detectedType, foreignFile, documentParts, documentTitle, documentCitations, foreignThinking, missingSignature, missingEarlierSignature,
	resultTextsJoined, resultFiles, searchResult,
	mappedTool, mappedToolBounds, mappedToolSettings, toolBesideFunctions, strictTool,
	choiceMode, choiceNoTools, choiceForced, choiceNames, choiceValidated, choiceNoneNames, choiceParallel,
	maxTokensRange, temperatureRange, topPRange, topKRange, seedRange, penaltyRange, stopEmpty, stopsOverLimit,
	thinkingMode, thinkingBetween, budgetWithoutMode, missingBudget, effortBesideBudget, effortOff, effortHighest, effortUnknown,
	displaySummary, displayUnknown, impliedType, outputType, outputModality, outputImage, unsupportedUserID, tierUnknown,
}, codec.ForeignRules...)
