package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
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

// Losses of conversations in Chat Completions. Some are shared with the Responses API.
var (
	lossSystemFile      = dropped(loss.SystemFiles, "the system text of Chat Completions cannot contain files; the part was dropped")
	lossSystemTurn      = degraded(loss.SystemTurn, "the server accepts system text at the beginning only; the text was sent as a user message")
	lossCallOrder       = degraded(loss.CallOrder, "text after a tool call was sent before the call")
	lossSignature       = hint(loss.Signature, "the signature of another vendor was omitted")
	lossCache           = hint(loss.CacheMarks, "the server accepts no cache mark at this place; the mark was omitted")
	lossCacheTime       = hint(loss.CacheMarks, "the lifetime of the cache entry was omitted; the server's default applies")
	lossThinking        = hint(loss.ThinkingHistory, "earlier thinking that the server does not accept was omitted")
	lossThinkingMissing = degraded(loss.LostThinking, "the server requires the thinking before tool calls, which is missing; an empty text was sent")
	lossThinkingEmpty   = hint(loss.LostThinking, "for tool calls without thinking an empty text was sent")
	lossVendorPart      = dropped(loss.VendorPart, "only another vendor can read this part; it was dropped")
	lossUnknownPart     = dropped(loss.UnknownPart, "Chat Completions does not have this kind of part; it was dropped")
	lossOwnMembers      = hint(loss.Members, "OpenAI rejects unknown members; extra members of a part or tool were omitted")
	lossMemberReplaced  = degraded(loss.Members, "a field of the request overrides this extra member, which was omitted")
	lossDetail          = hint(loss.Members, "the resolution of the image or file was omitted; the server's default applies")
	lossUnreadableFile  = dropped(loss.DocumentType, "the server does not accept the file; a sentence that it cannot be read was sent instead")
	lossEmptyTurn       = hint(loss.EmptyText, "an empty turn was omitted")
	lossTurnPlaceholder = degraded(loss.VendorPart, "all parts of the turn were dropped; a placeholder sentence was sent instead")
	lossPrefill         = degraded(loss.TurnOrder, "the beginning of a response cannot be continued; the model writes a new response after it")
	lossCitations       = hint(loss.TextCitations, "Chat Completions has no citations in earlier responses; they were omitted")
	lossAssistantFile   = dropped(loss.ImageByAssistant, "assistant messages of Chat Completions cannot contain files; the file was dropped")

	lossDocumentText      = degraded(loss.DocumentType, "the document was sent as text")
	lossDocumentTitle     = degraded(loss.DocumentTitle, "the document's title and context were sent as text before it")
	lossDocumentParts     = degraded(loss.DocumentParts, "the document was sent as its parts")
	lossDocumentCitations = dropped(loss.DocumentCitations, "Chat Completions cannot cite documents; the setting was dropped")
	lossSearchResult      = degraded(loss.SearchResults, "the search result was sent as text")

	lossResultImage    = degraded(loss.ResultImage, "a tool message can contain text only; the image was sent in the next user message")
	lossResultDocument = degraded(loss.ResultDocument, "a tool message can contain text only; the file was sent in the next user message")
	lossResultParts    = hint(loss.ResultParts, "the texts of the tool result were joined")
	lossResultError    = degraded(loss.ResultError, `the server has no flag for a failed tool call; the result begins with "Error:" instead`)
	lossResultOrder    = hint(loss.ResultOrder, "tool results were moved directly after their calls")
	lossResultMissing  = degraded(loss.ResultPairs, "the tool call has no result; a sentence that there is none was sent instead")
	lossResultOrphan   = degraded(loss.ResultPairs, "no tool call before the result has its id; the result was sent as user text")
)

// Losses of other request members in Chat Completions. Some are shared with the Responses API.
var (
	lossVendorTool          = dropped(loss.VendorTool, "Chat Completions does not have this built-in tool; it was dropped")
	lossToolOutput          = hint(loss.ToolOutput, "Chat Completions has no schema of tool results; it was omitted")
	lossToolStrict          = degraded(loss.ToolStrict, "the schema has no equivalent strict form; the tool's arguments are not validated")
	lossToolCache           = hint(loss.CacheMarks, "Chat Completions has no cache marks on tools; the mark was omitted")
	lossDescription         = degraded(loss.ToolOther, "the server accepts at most 1,024 characters; the description was cut")
	lossChoiceValidated     = degraded(loss.ChoiceMode, "the server cannot guarantee that arguments match their schema; the model may call tools without that guarantee")
	lossChoice              = hint(loss.ChoiceMode, "the request has no tools; the tool choice was omitted")
	lossChoiceOther         = degraded(loss.ChoiceMode, "the server does not have this tool choice; the model may call any tool")
	lossEmptyText           = hint(loss.EmptyText, "an empty text was omitted")
	lossChoiceNames         = degraded(loss.ChoiceNames, "the server cannot limit the choice to these tools; the model may call any tool")
	lossChoiceNamesSome     = degraded(loss.ChoiceNames, "some of the chosen tools were not sent; the choice is limited to the others")
	lossChoiceForced        = dropped(loss.ChoiceNames, "the required tool was not sent; the model may call any tool or none")
	lossChoiceTrust         = hint(loss.ChoiceNames, "the tool choice by name was sent, but some compatible servers ignore it")
	lossParallel            = degraded(loss.ChoiceParallel, "the server rejects the setting; the model may call tools in parallel")
	lossLimit               = degraded(loss.MaxTokens, "the limit of output tokens was lowered to the model's limit")
	lossTemperature         = dropped(loss.Temperature, "the model does not accept a temperature; it was dropped")
	lossTopP                = dropped(loss.TopP, "the model does not accept top_p; it was dropped")
	lossTopK                = dropped(loss.TopK, "the server does not have top_k; it was dropped")
	lossSeed                = dropped(loss.Seed, "the server rejects a seed; it was dropped")
	lossPenalties           = dropped(loss.Penalties, "the model does not accept penalties; they were dropped")
	lossStop                = dropped(loss.StopSequences, "the model does not accept stop sequences; they were dropped")
	lossStopsOverLimit      = dropped(loss.StopSequences, "Chat Completions accepts at most four stop sequences; the others were dropped")
	lossThinkingOff         = degraded(loss.ThinkingMode, "thinking cannot be turned off; the lowest effort was sent")
	lossThinkingOn          = degraded(loss.ThinkingMode, "thinking cannot be turned on for the model; the setting was omitted")
	lossThinkingAuto        = degraded(loss.ThinkingMode, "the model has no automatic thinking; a medium effort was sent")
	lossThinkingBetween     = degraded(loss.ThinkingMode, "thinking cannot be limited to the time between tool calls; the model may always think")
	lossBudget              = degraded(loss.ThinkingBudget, "the budget of thinking tokens was sent as an effort")
	lossNoBudget            = degraded(loss.ThinkingBudget, "the server has no budget of thinking tokens; it was omitted")
	lossEffortOff           = degraded(loss.ThinkingEffort, "there is no effort when thinking is off; it was omitted")
	lossEffort              = degraded(loss.ThinkingEffort, "the model does not have this effort; the nearest one was sent")
	lossEffortTools         = degraded(loss.ThinkingEffort, "in Chat Completions the model accepts tools only without thinking; thinking was turned off. The Responses API supports both")
	lossEffortRefused       = degraded(loss.ThinkingEffort, "the server rejects an effort; the model's default applies")
	lossDisplay             = hint(loss.ThinkingDisplay, "Chat Completions cannot control which thinking is shown; the setting was omitted")
	lossSchemaStrict        = degraded(loss.OutputSchema, "the schema has no equivalent strict form; the response is not validated")
	lossJSONObject          = degraded(loss.OutputType, "the response is limited to JSON objects, and an instruction to respond in JSON was added")
	lossSchemaUnsatisfiable = dropped(loss.OutputSchema, "no value matches the schema; it was dropped")
	lossOutputType          = dropped(loss.OutputType, "Chat Completions does not have this response type; it was dropped")
	lossOutputEnum          = degraded(loss.OutputType, "the response cannot be limited to the values; an instruction to respond with one of them was added")
	lossModalities          = dropped(loss.OutputModalities, "the server does not have this kind of output; it was dropped")
	lossOutputImage         = dropped(loss.OutputImage, "Chat Completions has no aspect ratio or size of images; it was dropped")
	lossUserDigest          = hint(loss.UserID, "the user id is too long; its SHA-256 digest was sent")
	lossUser                = hint(loss.UserID, "compatible servers do not receive the user id; it was omitted")
	lossTier                = hint(loss.ServiceTier, "the server does not have this service tier; its default applies")
)

// Losses of responses in Chat Completions. Some are shared with the Responses API.
var (
	lossEmptyResponse    = degraded(loss.ResponseText, "the response has no content that can be shown; the client receives none")
	lossCharacters       = hint(loss.ResponseText, "invalid UTF-8 was replaced by U+FFFD")
	lossUsage            = hint(loss.ResponseUsage, "the server rejects the request for token counts; the response has none")
	lossThinkingState    = hint(loss.ResponseSignature, "the state that returns thinking to the server is too large; later requests omit it")
	lossResponseCitation = hint(loss.ResponseCitations, "a citation outside of a text was omitted")
	lossUnknownPiece     = dropped(loss.ResponseUnknown, "a part of unknown kind was dropped")
	lossLateInput        = degraded(loss.ResponseArguments, "arguments after the end of a tool call were omitted")
	lossCustomCall       = dropped(loss.ResponseUnknown, "a custom tool call cannot be represented; it was dropped")
	lossNamelessCall     = dropped(loss.ResponseCall, "a tool call without a name was dropped")
	lossResponseFile     = dropped(loss.ResponseFile, "a file that cannot be decoded was dropped")
	lossExecutedTools    = dropped(loss.ResponseVendorPart, "calls of the server's built-in tools and their results were dropped")
	lossMessageSignature = hint(loss.ResponseSignature, "the signature of a message was omitted")
)

// chatLosses lists the losses of Chat Completions. Those of schemas are in package
// schema.
var chatLosses = append([]*loss.Rule{
	legal.RenamedTool, legal.RenamedCall, foreign.SummaryAsText, foreign.ReferenceAsText, foreign.ToolAsFunction, codec.EmptyMessage, legal.HeaderNotSent,
	lossSystemFile, lossSystemTurn, lossCallOrder, lossSignature, lossCache, lossCacheTime, lossThinking, lossThinkingMissing, lossThinkingEmpty, lossPrefill,
	lossVendorPart, lossUnknownPart, lossOwnMembers, lossMemberReplaced, lossDetail, lossUnreadableFile, lossCitations, lossAssistantFile,
	lossDocumentText, lossDocumentTitle, lossDocumentParts, lossDocumentCitations, lossSearchResult,
	lossResultImage, lossResultDocument, lossResultParts, lossResultError, lossResultOrder, lossResultMissing, lossResultOrphan,
	lossVendorTool, lossToolOutput, lossToolStrict, lossToolCache, lossDescription, lossChoiceValidated, lossChoice, lossChoiceOther, lossEmptyText, lossEmptyTurn, lossTurnPlaceholder, lossChoiceNames, lossChoiceNamesSome, lossChoiceForced, lossChoiceTrust, lossParallel,
	lossLimit, lossTemperature, lossTopP, lossTopK, lossSeed, lossPenalties, lossStop, lossStopsOverLimit,
	lossThinkingOff, lossThinkingOn, lossThinkingAuto, lossThinkingBetween, lossBudget, lossNoBudget, lossEffortOff, lossEffort, lossEffortTools, lossEffortRefused,
	lossDisplay, lossSchemaStrict, lossSchemaUnsatisfiable, lossJSONObject, lossOutputType, lossOutputEnum, lossModalities, lossOutputImage,
	lossUserDigest, lossUser, lossTier,
	lossEmptyResponse, lossCharacters, lossUsage, lossThinkingState, lossResponseCitation, lossUnknownPiece, lossLateInput, lossCustomCall, lossNamelessCall, lossResponseFile, lossExecutedTools, lossMessageSignature,
}, foreign.MemberRules...)

// Losses of requests that only the Responses API has, or that have another text there.
var (
	lossResponsesSystemFile        = dropped(loss.SystemFiles, "the instructions of Responses cannot contain files; the part was dropped")
	lossResponsesUnknownPart       = dropped(loss.UnknownPart, "Responses does not have this kind of part; it was dropped")
	lossResponsesCitations         = hint(loss.TextCitations, "citations in earlier responses were omitted")
	lossResponsesAssistantFile     = degraded(loss.ImageByAssistant, "assistant messages cannot contain files; the file was sent in a user message")
	lossResponsesDocumentCitations = dropped(loss.DocumentCitations, "Responses cannot cite documents; the setting was dropped")
	lossForeignThinking            = hint(loss.ThinkingHistory, "thinking that the server cannot read was omitted")
	lossTrailingThinking           = hint(loss.ThinkingHistory, "thinking without a following part of its response was omitted")
	lossThinkingRefused            = degraded(loss.LostThinking, "the server can no longer read its earlier thinking; it was omitted")
	lossBrokenState                = dropped(loss.LostThinking, "state that the server needs was altered by the client; it was dropped")
	lossUnrequestedItem            = dropped(loss.VendorPart, "the item does not result from a tool of this request, so that a client may have made it up; it was dropped")
	lossThinkingNotReturned        = hint(loss.LostThinking, "the server does not return encrypted thinking; later requests omit the thinking")

	lossResponsesVendorTool  = dropped(loss.VendorTool, "the server does not have this built-in tool; it was dropped")
	lossMappedTool           = degraded(loss.VendorTool, "the built-in tool was replaced with OpenAI's tool for the same purpose")
	lossToolRestrictions     = dropped(loss.VendorTool, "a restriction of the built-in tool has no equivalent; it was dropped")
	lossToolSettings         = degraded(loss.VendorTool, "some settings of the built-in tool have no equivalent; they were omitted")
	lossDuplicateTool        = degraded(loss.VendorTool, "the request has another built-in tool for the same purpose; this one was omitted")
	lossChoiceFree           = degraded(loss.ChoiceMode, "the server cannot forbid functions alone; its built-in tools are forbidden too")
	lossResponsesToolOutput  = hint(loss.ToolOutput, "the server has no schema of tool results; it was omitted")
	lossResponsesToolCache   = hint(loss.CacheMarks, "Responses has no cache marks on tools and tool calls; the mark was omitted")
	lossResponsesSeed        = dropped(loss.Seed, "Responses has no seed; it was dropped")
	lossResponsesPenalties   = dropped(loss.Penalties, "Responses has no penalties; they were dropped")
	lossResponsesTopK        = dropped(loss.TopK, "Responses has no top_k; it was dropped")
	lossResponsesStops       = degraded(loss.StopSequences, "Responses has no stop sequences; Polywire cuts the response, and the usage may or may not include the tokens after the cut")
	lossCandidates           = dropped(loss.Candidates, "Responses has a single candidate; the others were dropped")
	lossMinTokens            = degraded(loss.MaxTokens, "the limit of output tokens was raised to 16, the server's minimum")
	lossFullDisplay          = degraded(loss.ThinkingDisplay, "the server shows only a summary of the thinking")
	lossDisplayNoThinking    = hint(loss.ThinkingDisplay, "the model does not think; there is no thinking to show")
	lossSummaryRefused       = hint(loss.ThinkingDisplay, "the server rejects the request for summaries; thinking is not shown")
	lossResponsesOutputType  = dropped(loss.OutputType, "Responses does not have this response type; it was dropped")
	lossResponsesModalities  = dropped(loss.OutputModalities, "Responses has text output only; other modalities were dropped")
	lossResponsesOutputImage = dropped(loss.OutputImage, "Responses has no aspect ratio or size of images; it was dropped")
)

// Losses of responses that only the Responses API has.
var (
	lossImageFailed     = dropped(loss.ResponseImage, "the server did not generate the image; it was dropped")
	lossUsageCut        = hint(loss.ResponseUsage, "the response was cut at a stop sequence before the server reported the usage")
	lossConflictingText = hint(loss.ResponseText, "the complete form of a part differs from its deltas; the deltas were used")
	lossUnknownItem     = hint(loss.ResponseUnknown, "only OpenAI can read this item of the response; later requests omit it")
)

// responsesLosses lists the losses of the Responses API. Those of schemas are in package
// schema.
var responsesLosses = append([]*loss.Rule{
	legal.RenamedTool, legal.RenamedCall, foreign.SummaryAsText, foreign.ReferenceAsText, foreign.ToolAsFunction, codec.EmptyMessage, legal.HeaderNotSent,
	lossResponsesSystemFile, lossSystemTurn, lossResponsesUnknownPart, lossVendorPart, lossOwnMembers, lossMemberReplaced, lossDetail, lossUnreadableFile, lossResponsesCitations, lossResponsesAssistantFile, lossResponsesDocumentCitations,
	lossPrefill, lossForeignThinking, lossTrailingThinking, lossThinkingRefused, lossBrokenState, lossUnrequestedItem, lossThinkingNotReturned, lossEmptyText, lossEmptyTurn, lossTurnPlaceholder,
	lossSignature, lossCache, lossCacheTime, lossDocumentText, lossDocumentTitle, lossDocumentParts, lossSearchResult,
	lossResultParts, lossResultError, lossResultMissing, lossResultOrphan,
	lossResponsesVendorTool, lossMappedTool, lossToolRestrictions, lossToolSettings, lossDuplicateTool, lossResponsesToolOutput, lossResponsesToolCache, lossToolStrict,
	lossChoice, lossChoiceOther, lossChoiceValidated, lossChoiceNames, lossChoiceNamesSome, lossChoiceForced, lossChoiceFree, lossChoiceTrust, lossParallel,
	lossLimit, lossTemperature, lossTopP, lossResponsesTopK, lossResponsesSeed, lossResponsesPenalties, lossResponsesStops, lossCandidates, lossMinTokens,
	lossThinkingOff, lossThinkingOn, lossThinkingAuto, lossThinkingBetween, lossBudget, lossNoBudget, lossEffortOff, lossEffort, lossEffortRefused,
	lossFullDisplay, lossDisplayNoThinking, lossSummaryRefused, lossSchemaStrict, lossSchemaUnsatisfiable, lossJSONObject, lossResponsesOutputType, lossOutputEnum, lossResponsesModalities, lossResponsesOutputImage,
	lossUserDigest, lossUser, lossTier,
	lossEmptyResponse, lossCharacters, lossThinkingState, lossResponseCitation, lossCustomCall, lossNamelessCall,
	lossImageFailed, lossUsageCut, lossConflictingText, lossUnknownItem,
}, foreign.MemberRules...)
