package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

// What [RequestForTarget] can lose of a request: every report that it makes is of one
// of these, or of internal/schema's for a schema.
var (
	systemFile = &loss.Rule{Feature: loss.SystemFiles, Severity: content.LossDropped,
		Reason: "content generation takes only texts as system instruction"}
	systemTurn = &loss.Rule{Feature: loss.SystemTurn, Severity: content.LossDegraded,
		Reason: "a system turn in the middle is told as one of the user"}
	joinedResults = &loss.Rule{Feature: loss.ResultOrder, Severity: content.LossHint,
		Reason: "the results of a step have to stand in one turn: it is joined with the turn before"}
	joinedCalls = &loss.Rule{Feature: loss.TurnOrder, Severity: content.LossHint,
		Reason: "what the model says in one step has to stand in one turn: it is joined with the turn before"}
	joinedMembers = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "members of a turn that is joined with the turn before are left out"}
	emptyText = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossHint,
		Reason: "a text that says nothing is left out"}
	emptyTurn = &loss.Rule{Feature: loss.EmptyText, Severity: content.LossHint,
		Reason: "a turn that says nothing is left out"}
	heldTurn = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "nothing of the turn is left: a sentence that says so holds its place"}
	earlierCitations = &loss.Rule{Feature: loss.TextCitations, Severity: content.LossHint,
		Reason: "content generation has no citations in a request: they are left out"}
	cacheMark = &loss.Rule{Feature: loss.CacheMarks, Severity: content.LossHint,
		Reason: "content generation has no cache marks: it caches by itself"}
	guessedType = &loss.Rule{Feature: loss.ImageSource, Severity: content.LossDegraded,
		Reason: "the media type of the link was not said and is guessed"}
	detectedType = &loss.Rule{Feature: loss.ImageType, Severity: content.LossHint,
		Reason: "the media type of the file was not said: it is what its bytes show"}
	foreignFile = &loss.Rule{Feature: loss.DocumentSource, Severity: content.LossDropped,
		Reason: "the file is kept by another vendor"}
	documentParts = &loss.Rule{Feature: loss.DocumentParts, Severity: content.LossDegraded,
		Reason: "the parts of the document are told as parts of the turn"}
	documentTitle = &loss.Rule{Feature: loss.DocumentTitle, Severity: content.LossDegraded,
		Reason: "the title and the context of the document are told as a text in front of it"}
	documentCitations = &loss.Rule{Feature: loss.DocumentCitations, Severity: content.LossDropped,
		Reason: "content generation does not cite what stands in a request"}
	foreignThought = &loss.Rule{Feature: loss.ThinkingHistory, Severity: content.LossHint,
		Reason: "the thought is another vendor's and is left out"}
	lostThought = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDegraded,
		Reason: "the thought before this call is not known: the model goes on without it"}
	lostEarlier = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossHint,
		Reason: "the thought before this call of an earlier turn is not known"}
	resultTextsJoined = &loss.Rule{Feature: loss.ResultParts, Severity: content.LossDegraded,
		Reason: "a result has one text here, in front of its files"}
	resultFiles = &loss.Rule{Feature: loss.ResultImage, Severity: content.LossDegraded,
		Reason: "the model takes no files in a result: they stand behind it"}
	searchResult = &loss.Rule{Feature: loss.SearchResults, Severity: content.LossDegraded,
		Reason: "content generation has no search results: it is told as text"}

	mappedTool = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "the vendor's own tool is replaced by one that does the like"}
	mappedToolBounds = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "how the vendor's own tool is bounded cannot be said here"}
	mappedToolSettings = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "how the vendor's own tool works is not for the request to say here"}
	toolBesideFunctions = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDropped,
		Reason: "the model does not take a tool of its vendor beside functions"}
	strictTool = &loss.Rule{Feature: loss.ToolStrict, Severity: content.LossDegraded,
		Reason: "content generation checks arguments for all functions or none"}
	choiceMode = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossDropped,
		Reason: "content generation does not have this way of choosing tools"}
	choiceNoTools = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossHint,
		Reason: "there is no function to choose"}
	choiceForced = &loss.Rule{Feature: loss.ChoiceMode, Severity: content.LossDegraded,
		Reason: "content generation can only demand calls of functions"}
	choiceNames = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossDropped,
		Reason: "only functions of the request can be chosen by name"}
	choiceValidated = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossHint,
		Reason: "names need a mode in which arguments are checked"}
	choiceNoneNames = &loss.Rule{Feature: loss.ChoiceNames, Severity: content.LossHint,
		Reason: "names mean nothing where nothing may be called"}
	choiceParallel = &loss.Rule{Feature: loss.ChoiceParallel, Severity: content.LossDropped,
		Reason: "content generation cannot forbid parallel calls"}
)

// What stands beside the conversation.
var (
	maxTokensRange = &loss.Rule{Feature: loss.MaxTokens, Severity: content.LossDegraded,
		Reason: "the limit of tokens is beyond what content generation takes"}
	temperatureRange = &loss.Rule{Feature: loss.Temperature, Severity: content.LossDropped,
		Reason: "content generation takes a temperature from 0 to 2"}
	topPRange = &loss.Rule{Feature: loss.TopP, Severity: content.LossDropped,
		Reason: "content generation takes a top_p from 0 to 1"}
	topKRange = &loss.Rule{Feature: loss.TopK, Severity: content.LossDropped,
		Reason: "content generation takes a top_k of 1 and more"}
	seedRange = &loss.Rule{Feature: loss.Seed, Severity: content.LossDropped,
		Reason: "content generation takes a seed of 32 bits"}
	penaltyRange = &loss.Rule{Feature: loss.Penalties, Severity: content.LossDropped,
		Reason: "content generation takes penalties from -2 up to 2"}
	stopEmpty = &loss.Rule{Feature: loss.StopSequences, Severity: content.LossHint,
		Reason: "an empty stop sequence is left out"}
	stopMany = &loss.Rule{Feature: loss.StopSequences, Severity: content.LossDropped,
		Reason: "content generation takes 5 stop sequences"}

	thinkingMode = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDropped,
		Reason: "content generation does not have this thinking mode"}
	thinkingBetween = &loss.Rule{Feature: loss.ThinkingMode, Severity: content.LossDegraded,
		Reason: "content generation cannot confine thinking to the time between calls"}
	budgetWithoutMode = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossDropped,
		Reason: "there is no budget without a thinking mode"}
	budgetUnsaid = &loss.Rule{Feature: loss.ThinkingBudget, Severity: content.LossHint,
		Reason: "no budget was said: the model decides"}
	effortBesideBudget = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "content generation takes a budget or an effort, not both"}
	effortOff = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "content generation has no effort where thinking is off"}
	effortHighest = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDegraded,
		Reason: "the most effort of content generation is high"}
	effortUnknown = &loss.Rule{Feature: loss.ThinkingEffort, Severity: content.LossDropped,
		Reason: "content generation does not have this effort"}
	displaySummary = &loss.Rule{Feature: loss.ThinkingDisplay, Severity: content.LossDegraded,
		Reason: "content generation shows a summary of what was thought"}
	displayUnknown = &loss.Rule{Feature: loss.ThinkingDisplay, Severity: content.LossHint,
		Reason: "content generation does not have this display"}

	impliedType = &loss.Rule{Feature: loss.OutputType, Severity: content.LossHint,
		Reason: "a schema needs a media type here: it is application/json"}
	outputType = &loss.Rule{Feature: loss.OutputType, Severity: content.LossDropped,
		Reason: "content generation does not write texts of this media type"}
	outputModality = &loss.Rule{Feature: loss.OutputModalities, Severity: content.LossDropped,
		Reason: "content generation does not have this kind of output"}
	outputImage = &loss.Rule{Feature: loss.OutputImage, Severity: content.LossDropped,
		Reason: "content generation does not make images of this shape"}
	userName = &loss.Rule{Feature: loss.UserID, Severity: content.LossHint,
		Reason: "content generation has no name for the client's user: it is left out"}
	tierUnknown = &loss.Rule{Feature: loss.ServiceTier, Severity: content.LossHint,
		Reason: "content generation does not have this service tier"}
)

// requestLosses is the table of all of them.
var requestLosses = append([]*loss.Rule{
	codec.ForeignSignature, codec.ForeignPart, codec.ForeignTool,
	systemFile, systemTurn, joinedResults, joinedCalls, joinedMembers, emptyText, emptyTurn, heldTurn, earlierCitations, cacheMark,
	guessedType, detectedType, foreignFile, documentParts, documentTitle, documentCitations, foreignThought, lostThought, lostEarlier,
	resultTextsJoined, resultFiles, searchResult,
	mappedTool, mappedToolBounds, mappedToolSettings, toolBesideFunctions, strictTool,
	choiceMode, choiceNoTools, choiceForced, choiceNames, choiceValidated, choiceNoneNames, choiceParallel,
	maxTokensRange, temperatureRange, topPRange, topKRange, seedRange, penaltyRange, stopEmpty, stopMany,
	thinkingMode, thinkingBetween, budgetWithoutMode, budgetUnsaid, effortBesideBudget, effortOff, effortHighest, effortUnknown,
	displaySummary, displayUnknown, impliedType, outputType, outputModality, outputImage, userName, tierUnknown,
}, codec.ForeignRules...)
