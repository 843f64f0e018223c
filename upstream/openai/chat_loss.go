package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
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

// What chat completions cannot say of a conversation, or only in another way.
var (
	lostSystemFile  = dropped(loss.SystemFiles, "chat completions takes only texts as system text")
	lostSystemTurn  = degraded(loss.SystemTurn, "the server takes system text at the beginning only: this is told as the user's")
	lostCallOrder   = degraded(loss.CallOrder, "text behind a call is told in front of the calls")
	lostSignature   = hint(loss.Signature, "the signature is another vendor's and is left out")
	lostCache       = hint(loss.CacheMarks, "the model has no cache marks in this place")
	lostCacheTime   = hint(loss.CacheMarks, "how long the cache keeps is left to the server")
	lostThought     = hint(loss.ThinkingHistory, "the server takes no earlier thoughts, or not this one, and it is left out")
	lostThoughtGone = degraded(loss.LostThinking, "the server wants the thoughts that led to calls, and some are gone: it is told empty ones")
	lostThoughtless = hint(loss.LostThinking, "calls without a thought are told with an empty one")
	lostVendorPart  = dropped(loss.VendorPart, "only another vendor understands this part")
	lostUnknownPart = dropped(loss.UnknownPart, "chat completions does not have this kind of part")
	lostOwn         = hint(loss.Members, "members of a part or of a tool that this format may have are left out, as the vendor refuses those that it does not know")
	lostWritten     = degraded(loss.Members, "a field of the request says what the member would, and counts")
	lostDetail      = hint(loss.Members, "the resolution of the image or file is left to the server")
	lostUnread      = dropped(loss.DocumentType, "the server does not take the file: the model is told that there is one which it cannot read")
	lostEmptyTurn   = hint(loss.EmptyText, "a turn that says nothing is left out")
	lostHeldTurn    = degraded(loss.VendorPart, "nothing of the turn is left: a sentence that says so holds its place")
	lostPrefill     = degraded(loss.TurnOrder, "an answer that is begun is not continued: the model writes a new one behind it")
	lostCitations   = hint(loss.TextCitations, "citations of earlier answers have no place in chat completions")
	lostByAssistant = dropped(loss.ImageByAssistant, "chat completions takes files from the user only")

	lostDocumentText  = degraded(loss.DocumentType, "the document is told as text")
	lostDocumentTitle = degraded(loss.DocumentTitle, "title and context of the document are told as text in front of it")
	lostDocumentParts = degraded(loss.DocumentParts, "the document is told as its parts, one after another")
	lostCiting        = dropped(loss.DocumentCitations, "chat completions cannot be asked to cite documents")
	lostSearch        = degraded(loss.SearchResults, "the search result is told as text")

	lostResultImage    = degraded(loss.ResultImage, "a tool message holds text only: the image follows in a message of the user")
	lostResultDocument = degraded(loss.ResultDocument, "a tool message holds text only: the file follows in a message of the user")
	lostResultParts    = hint(loss.ResultParts, "the texts of the result are told as one")
	lostResultError    = degraded(loss.ResultError, `there is no sign for a failed tool: the result begins with "Error:"`)
	lostResultOrder    = hint(loss.ResultOrder, "results of tools come right after their calls, in front of everything else")
	lostResultNone     = degraded(loss.ResultPairs, "the call has no result in the conversation: the model is told so")
	lostResultOrphan   = degraded(loss.ResultPairs, "the result has no call in front of it and is told as text of the user")
)

// What it cannot say of the rest of a request.
var (
	lostVendorTool   = dropped(loss.VendorTool, "chat completions does not have this built-in tool")
	lostToolOutput   = hint(loss.ToolOutput, "chat completions has no schema for results")
	lostToolStrict   = degraded(loss.ToolStrict, "the schema cannot be made strict without changing it, so arguments are not held to it")
	lostToolCache    = hint(loss.CacheMarks, "chat completions has no cache marks on tools")
	lostDescription  = degraded(loss.ToolOther, "the server takes no more than 1,024 characters of a description: it is cut")
	lostValidated    = degraded(loss.ChoiceMode, "the server cannot promise that arguments satisfy their schema")
	lostChoice       = hint(loss.ChoiceMode, "there is no tool to choose")
	lostChoiceOther  = degraded(loss.ChoiceMode, "the server does not have this way of choosing tools")
	lostEmptyText    = hint(loss.EmptyText, "a text with nothing in it is left out")
	lostChoiceNames  = degraded(loss.ChoiceNames, "the server cannot be held to some of the tools: it may call any")
	lostChoiceGone   = degraded(loss.ChoiceNames, "some of the tools that may be called are not told: the model is held to the others")
	lostForced       = dropped(loss.ChoiceNames, "the tool that is to be called is not told: the model may call any, or none")
	lostChoiceTrust  = hint(loss.ChoiceNames, "servers that resemble the vendor's do not all hold to a tool that is chosen by its name")
	lostParallel     = degraded(loss.ChoiceParallel, "the server refuses to be told that calls must not be parallel")
	lostLimit        = degraded(loss.MaxTokens, "the model's responses have fewer tokens: the limit is lowered")
	lostTemperature  = dropped(loss.Temperature, "the model takes no temperature")
	lostTopP         = dropped(loss.TopP, "the model takes no top_p")
	lostTopK         = dropped(loss.TopK, "the server does not have top_k")
	lostSeed         = dropped(loss.Seed, "the server refuses a seed")
	lostPenalties    = dropped(loss.Penalties, "the model takes no penalties")
	lostStop         = dropped(loss.StopSequences, "the model refuses stop sequences")
	lostStops        = dropped(loss.StopSequences, "chat completions takes four stop sequences: the others are left out")
	lostThinkingOff  = degraded(loss.ThinkingMode, "the model cannot be kept from thinking: it is told to try the least")
	lostThinkingOn   = degraded(loss.ThinkingMode, "the model does not think, or cannot be told to")
	lostThinkingAuto = degraded(loss.ThinkingMode, "the model does not think by itself: it is told to try at a medium effort")
	lostBetween      = degraded(loss.ThinkingMode, "the model cannot be told to think between calls only")
	lostBudget       = degraded(loss.ThinkingBudget, "a budget of tokens for thinking is told as an effort")
	lostNoBudget     = degraded(loss.ThinkingBudget, "the server takes no budget of tokens for thinking")
	lostEffortOff    = degraded(loss.ThinkingEffort, "there is no effort where thinking is off")
	lostEffort       = degraded(loss.ThinkingEffort, "the model does not have this effort: it is told the nearest")
	lostEffortTools  = degraded(loss.ThinkingEffort, "on chat completions the model takes tools only if it does not think; responses takes both")
	lostEffortField  = degraded(loss.ThinkingEffort, "the server refuses an effort: how hard to think is left to the model")
	lostDisplay      = hint(loss.ThinkingDisplay, "chat completions cannot be told which thoughts to show")
	lostSchemaStrict = degraded(loss.OutputSchema, "the schema cannot be made strict without changing it, so the answer is not held to it")
	lostJSONObject   = degraded(loss.OutputType, "the answer is a JSON object, never another value, and a sentence asks for it")
	lostSchemaNever  = dropped(loss.OutputSchema, "no answer satisfies the schema: it is left out")
	lostOutputType   = dropped(loss.OutputType, "chat completions does not have this type of answers")
	lostOutputEnum   = degraded(loss.OutputType, "the answer is not held to the values that it may have: a sentence asks for one of them")
	lostModalities   = dropped(loss.OutputModalities, "the server cannot be asked for this kind of output")
	lostOutputImage  = dropped(loss.OutputImage, "chat completions has no shape and size of images")
	lostUserDigest   = hint(loss.UserID, "the user's name is too long, and a digest stands for it")
	lostUser         = hint(loss.UserID, "compatible servers are not told who the user is")
	lostTier         = hint(loss.ServiceTier, "the server does not have this service tier")
)

// What may get lost of an answer.
var (
	lostEmpty      = degraded(loss.ResponseText, "the model wrote nothing that can be shown")
	lostCharacters = hint(loss.ResponseText, "text that is not UTF-8 was replaced by U+FFFD")
	lostUsage      = hint(loss.ResponseUsage, "the server refuses to say how many tokens were used")
	lostDetails    = hint(loss.ResponseSignature, "what the server wants back of its thoughts is too large to be carried")
	lostCitation   = hint(loss.ResponseCitations, "a citation without a text that it belongs to")
	lostPiece      = dropped(loss.ResponseUnknown, "a piece of the answer that is of no known kind")
	lostInput      = degraded(loss.ResponseArguments, "more arguments came for a call that was whole")
	lostCustom     = dropped(loss.ResponseUnknown, "a call that is not one of a function")
	lostNameless   = dropped(loss.ResponseCall, "a call without a name")
	lostFile       = dropped(loss.ResponseFile, "a file that cannot be read")
	lostExecuted   = dropped(loss.ResponseVendorPart, "calls of the server's own tools and their results are dropped")
	lostSigned     = hint(loss.ResponseSignature, "the signature of a message is dropped")
)

// chatLosses are all that chat completions can report, but for what is lost of
// schemas, which their own package has a table of.
var chatLosses = append([]*loss.Rule{
	legal.RenamedTool, legal.RenamedCall, legal.SummaryAsText, legal.ReferenceAsText, legal.ToolAsFunction, codec.EmptyMessage, legal.HeaderNotSent,
	lostSystemFile, lostSystemTurn, lostCallOrder, lostSignature, lostCache, lostCacheTime, lostThought, lostThoughtGone, lostThoughtless, lostPrefill,
	lostVendorPart, lostUnknownPart, lostOwn, lostWritten, lostDetail, lostUnread, lostCitations, lostByAssistant,
	lostDocumentText, lostDocumentTitle, lostDocumentParts, lostCiting, lostSearch,
	lostResultImage, lostResultDocument, lostResultParts, lostResultError, lostResultOrder, lostResultNone, lostResultOrphan,
	lostVendorTool, lostToolOutput, lostToolStrict, lostToolCache, lostDescription, lostValidated, lostChoice, lostChoiceOther, lostEmptyText, lostEmptyTurn, lostHeldTurn, lostChoiceNames, lostChoiceGone, lostForced, lostChoiceTrust, lostParallel,
	lostLimit, lostTemperature, lostTopP, lostTopK, lostSeed, lostPenalties, lostStop, lostStops,
	lostThinkingOff, lostThinkingOn, lostThinkingAuto, lostBetween, lostBudget, lostNoBudget, lostEffortOff, lostEffort, lostEffortTools, lostEffortField,
	lostDisplay, lostSchemaStrict, lostSchemaNever, lostJSONObject, lostOutputType, lostOutputEnum, lostModalities, lostOutputImage,
	lostUserDigest, lostUser, lostTier,
	lostEmpty, lostCharacters, lostUsage, lostDetails, lostCitation, lostPiece, lostInput, lostCustom, lostNameless, lostFile, lostExecuted, lostSigned,
}, codec.ForeignRules...)
