package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

// What a request can lose on its way into this format, by name: see
// requestLosses.
const (
	lostSeed = iota
	lostPresence
	lostFrequency
	lostCandidates
	lostImageOutput
	lostModalities
	lostTemperature
	lostTopP
	lostTopK
	lostStop
	lostUserID
	lostTier

	lostChecked
	lostChoice
	lostNames
	lostNoTools
	lostToolOutput
	lostToolMapped
	lostToolTwice
	lostToolAgain
	lostNoFunctions
	lostAnyTool
	lostSchemaWords
	lostAnswerWords

	lostBudget
	lostDisplay
	lostFullDisplay
	lostMode
	lostLeastEffort
	lostEffort

	lostJSONMode
	lostMediaType
	lostOutputEnum
	lostCiting

	lostSystemFile
	lostSystemPart
	lostSystemTurn
	lostLeadingTurn
	lostJoined
	lostEmpty
	lostEmptyMark
	lostSpace

	lostThought
	lostState
	lostTrailing
	lostImageMoved
	lostImage
	lostImageType
	lostTyped
	lostLinkType
	lostSound
	lostDocument
	lostTextType
	lostTextSource
	lostTitle
	lostCitation
	lostObject
	lostResultOrder
	lostResult
	lostOrphan
)

// requestLosses is all that a request can lose on its way into this format, but
// for what every codec loses and what schemas lose: those have tables of their
// own.
var requestLosses = [...]loss.Rule{
	lostSeed:        {Feature: loss.Seed, Severity: content.LossDropped, Reason: "Messages has no seed"},
	lostPresence:    {Feature: loss.Penalties, Severity: content.LossDropped, Reason: "Messages has no presence penalty"},
	lostFrequency:   {Feature: loss.Penalties, Severity: content.LossDropped, Reason: "Messages has no frequency penalty"},
	lostCandidates:  {Feature: loss.Candidates, Severity: content.LossDropped, Reason: "Messages gives one answer"},
	lostImageOutput: {Feature: loss.OutputImage, Severity: content.LossDropped, Reason: "Messages makes no images"},
	lostModalities:  {Feature: loss.OutputModalities, Severity: content.LossDropped, Reason: "Messages answers with text only"},
	lostTemperature: {Feature: loss.Temperature, Severity: content.LossDegraded, Reason: "temperatures of Messages go from 0 to 1: the nearest is taken"},
	lostTopP:        {Feature: loss.TopP, Severity: content.LossDropped, Reason: "top_p is no number from 0 to 1"},
	lostTopK:        {Feature: loss.TopK, Severity: content.LossDropped, Reason: "top_k is negative"},
	lostStop:        {Feature: loss.StopSequences, Severity: content.LossDropped, Reason: "Messages takes no stop sequence of nothing but white space"},
	lostUserID:      {Feature: loss.UserID, Severity: content.LossHint, Reason: "the name of the user is longer than Messages takes: a digest stands for it"},
	lostTier:        {Feature: loss.ServiceTier, Severity: content.LossHint, Reason: "Messages does not have this service tier"},

	lostChecked:     {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "Messages checks arguments only for tools that are strict"},
	lostChoice:      {Feature: loss.ChoiceMode, Severity: content.LossDropped, Reason: "Messages does not have this way of choosing tools"},
	lostNames:       {Feature: loss.ChoiceNames, Severity: content.LossDegraded, Reason: "Messages can name one tool to be called: of several, these are all the functions that the model is told of"},
	lostNoTools:     {Feature: loss.ChoiceMode, Severity: content.LossHint, Reason: "there are no tools to choose from: the choice is left out"},
	lostToolOutput:  {Feature: loss.ToolOutput, Severity: content.LossHint, Reason: "Messages has no schema of a tool's result: it is left out"},
	lostToolMapped:  {Feature: loss.VendorTool, Severity: content.LossDegraded, Reason: "the tool is another vendor's own; this vendor's for the same purpose stands for it, without all of its settings"},
	lostSchemaWords: {Feature: loss.ToolSchema, Severity: content.LossHint, Reason: "the schema is written as the format has it: arguments are an object, types are in small letters, what may be null says so by its type"},
	lostAnswerWords: {Feature: loss.OutputSchema, Severity: content.LossHint, Reason: "the schema is written as the format has it, and means the same"},
	lostToolTwice:   {Feature: loss.VendorTool, Severity: content.LossDropped, Reason: "the tool is another vendor's own, and the name of this vendor's is taken: it is left out"},
	lostToolAgain:   {Feature: loss.VendorTool, Severity: content.LossHint, Reason: "the tool is another vendor's own and stands in the list twice: once is enough"},
	lostNoFunctions: {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "the choice of Messages would switch off the vendor's own tools too: the functions that may not be called are left out instead"},
	lostAnyTool:     {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "Messages demands a call of any tool: one of the vendor's own will do as well as a function"},

	lostBudget:      {Feature: loss.ThinkingBudget, Severity: content.LossDropped, Reason: "Messages has no budget without a thinking mode"},
	lostDisplay:     {Feature: loss.ThinkingDisplay, Severity: content.LossHint, Reason: "Messages has no display without a mode in which the model thinks"},
	lostFullDisplay: {Feature: loss.ThinkingDisplay, Severity: content.LossDegraded, Reason: "Messages shows a summary of what was thought"},
	lostMode:        {Feature: loss.ThinkingMode, Severity: content.LossDropped, Reason: "Messages does not have this thinking mode"},
	lostLeastEffort: {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "the least effort of Messages is low: it is told that"},
	lostEffort:      {Feature: loss.ThinkingEffort, Severity: content.LossDropped, Reason: "Messages does not have this effort"},

	lostJSONMode:   {Feature: loss.OutputType, Severity: content.LossDropped, Reason: "Messages answers with JSON only by a schema"},
	lostMediaType:  {Feature: loss.OutputType, Severity: content.LossDropped, Reason: "Messages answers with plain text or JSON"},
	lostOutputEnum: {Feature: loss.OutputType, Severity: content.LossDegraded, Reason: "the answer is not held to the values that it may have: a sentence asks for one of them"},
	lostCiting:     {Feature: loss.DocumentCitations, Severity: content.LossDegraded, Reason: "Messages does not cite in answers that follow a schema"},

	lostSystemFile:  {Feature: loss.SystemFiles, Severity: content.LossDegraded, Reason: "Messages takes texts as system instruction: the file stands at the beginning of the conversation"},
	lostSystemPart:  {Feature: loss.SystemFiles, Severity: content.LossDropped, Reason: "Messages takes texts as system instruction"},
	lostSystemTurn:  {Feature: loss.SystemTurn, Severity: content.LossDegraded, Reason: "a system turn cannot stand here in Messages: it is told as one of the user"},
	lostLeadingTurn: {Feature: loss.SystemTurn, Severity: content.LossHint, Reason: "a system turn in front of the conversation is told as system instruction"},
	lostJoined:      {Feature: loss.TurnOrder, Severity: content.LossHint, Reason: "turns of one side with calls, results or thoughts are joined"},
	lostEmpty:       {Feature: loss.EmptyText, Severity: content.LossHint, Reason: "Messages takes no text, and no turn, of nothing but white space: it is left out"},
	lostEmptyMark:   {Feature: loss.CacheMarks, Severity: content.LossHint, Reason: "the cache mark stands on a text that is left out"},
	lostSpace:       {Feature: loss.EmptyText, Severity: content.LossHint, Reason: "an answer to be continued does not end in white space in Messages"},

	lostThought:     {Feature: loss.ThinkingHistory, Severity: content.LossHint, Reason: "the thought is not signed by this vendor and is left out"},
	lostTrailing:    {Feature: loss.ThinkingHistory, Severity: content.LossHint, Reason: "an assistant turn cannot end with thinking; the thinking was dropped"},
	lostState:       {Feature: loss.LostThinking, Severity: content.LossDegraded, Reason: "the thoughts that the signature stands for cannot be read"},
	lostImageMoved:  {Feature: loss.ImageByAssistant, Severity: content.LossDegraded, Reason: "Messages takes images from the user only: it stands in the next turn of the user"},
	lostImage:       {Feature: loss.ImageByAssistant, Severity: content.LossDropped, Reason: "Messages takes images from the user only, and no turn of the user follows"},
	lostImageType:   *codec.MessagesImageType,
	lostTyped:       {Feature: loss.ImageType, Severity: content.LossHint, Reason: "the media type is not that of the bytes and is corrected"},
	lostLinkType:    *codec.MessagesLinkType,
	lostSound:       *codec.MessagesAudioVideo,
	lostDocument:    *codec.MessagesDocumentType,
	lostTextSource:  {Feature: loss.DocumentType, Severity: content.LossHint, Reason: "Messages accepts plain text as a text source only: the base64 is decoded"},
	lostTextType:    {Feature: loss.DocumentType, Severity: content.LossHint, Reason: "Messages knows one type of texts: it is told as plain text"},
	lostTitle:       {Feature: loss.DocumentTitle, Severity: content.LossHint, Reason: "the title is longer than Messages takes, and is cut"},
	lostCitation:    {Feature: loss.TextCitations, Severity: content.LossHint, Reason: "the citation cannot be said in the Messages format"},
	lostObject:      {Feature: loss.ResultObject, Severity: content.LossHint, Reason: "Messages has texts for results: the object is told as JSON text"},
	lostResultOrder: {Feature: loss.ResultOrder, Severity: content.LossHint, Reason: "results come first in Messages, in front of what else the user says"},
	lostResult:      {Feature: loss.ResultPairs, Severity: content.LossDegraded, Reason: "the call has no result: one stands for it that says so"},
	lostOrphan:      {Feature: loss.ResultPairs, Severity: content.LossDegraded, Reason: "the result belongs to no call of the turn before: it is told as the user's words"},
}

// lose notes that a rule of the table has met what stands at path.
func (c *converter) lose(rule int, path string) { c.Report(&requestLosses[rule], path) }

// drop is lose for a part of which nothing is left.
func (c *converter) drop(rule int, path string) content.Part {
	return c.Drop(&requestLosses[rule], path)
}
