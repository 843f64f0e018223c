package openai

import (
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
)

// What responses cannot say, or only in another way, where chat completions
// says it, or does not know of it.
var (
	resSystemFile     = dropped(loss.SystemFiles, "responses takes only texts as instructions")
	resUnknownPart    = dropped(loss.UnknownPart, "responses does not have this kind of part")
	resCitations      = hint(loss.TextCitations, "citations of earlier answers are left out")
	resByAssistant    = degraded(loss.ImageByAssistant, "only the user gives files: what an earlier answer had is told as the user's")
	resCiting         = dropped(loss.DocumentCitations, "responses cannot be asked to cite documents")
	resForeignThought = hint(loss.ThinkingHistory, "the thought is not one that this vendor can read and is left out")
	resLooseThought   = hint(loss.ThinkingHistory, "a thought that nothing of the answer follows any more is left out")
	resRefusedThought = degraded(loss.LostThinking, "the vendor cannot read its earlier thoughts any more: they are left out")
	resBrokenState    = dropped(loss.LostThinking, "what the vendor wanted back did not come back as it was sent")
	resUnaskedItem    = dropped(loss.VendorPart, "an item that nothing in the request brings about: a client can have made it up")
	resMoved          = degraded(loss.LostThinking, "the texts around thoughts came back altered, so that these may stand elsewhere among them")
	resThoughtless    = hint(loss.LostThinking, "the server does not give its thoughts out: later turns do without them")

	resVendorTool   = dropped(loss.VendorTool, "the server does not have this built-in tool")
	resMappedTool   = degraded(loss.VendorTool, "the tool of another vendor is told as this vendor's own of the same purpose")
	resToolBounds   = dropped(loss.VendorTool, "how the other vendor's tool is bounded cannot be said here")
	resToolSettings = degraded(loss.VendorTool, "some settings of the other vendor's tool have no like here")
	resToolAgain    = degraded(loss.VendorTool, "a built-in tool of the same purpose is told already")
	lostChoiceFree  = degraded(loss.ChoiceMode, "the server cannot be kept from functions only: it is kept from its built-in tools, too")
	resToolOutput   = hint(loss.ToolOutput, "the server does not take schemas of results: it is left out")
	resToolCache    = hint(loss.CacheMarks, "responses has no cache marks on tools and calls")
	resSeed         = dropped(loss.Seed, "responses has no seed")
	resPenalties    = dropped(loss.Penalties, "responses has no penalties")
	resTopK         = dropped(loss.TopK, "responses has no top_k")
	resStops        = degraded(loss.StopSequences, "responses has no stop sequences: the answer is cut here, and tokens behind the cut may be counted or not")
	resCandidates   = dropped(loss.Candidates, "responses gives one answer")
	resFewTokens    = degraded(loss.MaxTokens, "the limit is raised to 16 tokens, the least that the server takes")
	resFullDisplay  = degraded(loss.ThinkingDisplay, "the vendor shows a summary of what was thought")
	resMute         = hint(loss.ThinkingDisplay, "the model does not think: there is nothing to be shown")
	resSummary      = hint(loss.ThinkingDisplay, "the server refuses to be asked for summaries of what was thought")
	resOutputType   = dropped(loss.OutputType, "responses does not have this type of answers")
	resModalities   = dropped(loss.OutputModalities, "responses answers with text only")
	resOutputImage  = dropped(loss.OutputImage, "responses has no shape and size of images")
)

// What may get lost of an answer.
var (
	resNoImage   = dropped(loss.ResponseImage, "an image that was not made")
	resCut       = hint(loss.ResponseUsage, "the answer was cut at a stop sequence before the server told how many tokens it has")
	resLateItem  = hint(loss.ResponseText, "the server told of a piece of the answer in two ways that differ; the first stands")
	resUnknownIt = hint(loss.ResponseUnknown, "an item of the answer that only the vendor understands")
)

// responsesLosses are all that responses can report, but for what is lost of
// schemas, which their own package has a table of.
var responsesLosses = append([]*loss.Rule{
	legal.RenamedTool, legal.RenamedCall, legal.SummaryAsText, legal.ReferenceAsText, legal.ToolAsFunction, codec.EmptyMessage, legal.HeaderNotSent,
	resSystemFile, lostSystemTurn, resUnknownPart, lostVendorPart, lostOwn, lostWritten, lostDetail, lostUnread, resCitations, resByAssistant, resCiting,
	lostPrefill, resForeignThought, resLooseThought, resRefusedThought, resBrokenState, resUnaskedItem, resMoved, resThoughtless, lostEmptyText, lostEmptyTurn, lostHeldTurn,
	lostSignature, lostCache, lostCacheTime, lostDocumentText, lostDocumentTitle, lostDocumentParts, lostSearch,
	lostResultParts, lostResultError, lostResultNone, lostResultOrphan,
	resVendorTool, resMappedTool, resToolBounds, resToolSettings, resToolAgain, resToolOutput, resToolCache, lostToolStrict,
	lostChoice, lostChoiceOther, lostValidated, lostChoiceNames, lostChoiceGone, lostForced, lostChoiceFree, lostChoiceTrust, lostParallel,
	lostLimit, lostTemperature, lostTopP, resTopK, resSeed, resPenalties, resStops, resCandidates, resFewTokens,
	lostThinkingOff, lostThinkingOn, lostThinkingAuto, lostBetween, lostBudget, lostNoBudget, lostEffortOff, lostEffort, lostEffortField,
	resFullDisplay, resMute, resSummary, lostSchemaStrict, lostSchemaNever, lostJSONObject, resOutputType, lostOutputEnum, resModalities, resOutputImage,
	lostUserDigest, lostUser, lostTier,
	lostEmpty, lostCharacters, lostDetails, lostCitation, lostCustom, lostNameless,
	resNoImage, resCut, resLateItem, resUnknownIt,
}, codec.ForeignRules...)
