package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// Losses of requests, as indices of requestLosses.
const (
	lossSeed = iota
	lossPresence
	lossFrequency
	lossCandidates
	lossImageOutput
	lossModalities
	lossTemperature
	lossTopP
	lossTopK
	lossStop
	lossUserID
	lossTier

	lossChoiceValidated
	lossChoice
	lossChoiceNames
	lossChoiceNoTools
	lossToolOutput
	lossToolMapped
	lossToolConflict
	lossToolDuplicate
	lossChoiceNone
	lossChoiceAny
	lossInputDialect
	lossOutputDialect

	lossBudget
	lossDisplay
	lossFullDisplay
	lossMode
	lossMinimalEffort
	lossEffort

	lossJSONMode
	lossMediaType
	lossOutputEnum
	lossDocumentCitations

	lossSystemFile
	lossSystemPart
	lossSystemTurn
	lossLeadingTurn
	lossJoined
	lossEmpty
	lossEmptyMark
	lossTrailingSpace

	lossThinking
	lossThinkingState
	lossTrailingThinking
	lossImageMoved
	lossImage
	lossImageType
	lossTypeMismatch
	lossLinkType
	lossMedia
	lossDocument
	lossTextType
	lossTextSource
	lossTitle
	lossCitation
	lossObject
	lossResultOrder
	lossResultMissing
	lossResultOrphan
)

// requestLosses lists the losses of requests. Those that all codecs share, and those of
// schemas, are in other tables.
var requestLosses = [...]loss.Rule{
	lossSeed:        {Feature: loss.Seed, Severity: content.LossDropped, Reason: "Messages has no seed; it was dropped"},
	lossPresence:    {Feature: loss.Penalties, Severity: content.LossDropped, Reason: "Messages has no presence penalty; it was dropped"},
	lossFrequency:   {Feature: loss.Penalties, Severity: content.LossDropped, Reason: "Messages has no frequency penalty; it was dropped"},
	lossCandidates:  {Feature: loss.Candidates, Severity: content.LossDropped, Reason: "Messages has a single candidate; the others were dropped"},
	lossImageOutput: {Feature: loss.OutputImage, Severity: content.LossDropped, Reason: "Messages has no aspect ratio or size of images; it was dropped"},
	lossModalities:  {Feature: loss.OutputModalities, Severity: content.LossDropped, Reason: "Messages has text output only; other modalities were dropped"},
	lossTemperature: {Feature: loss.Temperature, Severity: content.LossDegraded, Reason: "Messages accepts temperatures from 0 to 1; the nearest one was sent"},
	lossTopP:        {Feature: loss.TopP, Severity: content.LossDropped, Reason: "Messages accepts top_p from 0 to 1; it was dropped"},
	lossTopK:        {Feature: loss.TopK, Severity: content.LossDropped, Reason: "Messages does not accept a negative top_k; it was dropped"},
	lossStop:        {Feature: loss.StopSequences, Severity: content.LossDropped, Reason: "Messages does not accept blank stop sequences; they were dropped"},
	lossUserID:      {Feature: loss.UserID, Severity: content.LossHint, Reason: "the user id is longer than 512 characters; its SHA-256 digest was sent"},
	lossTier:        {Feature: loss.ServiceTier, Severity: content.LossHint, Reason: "Messages does not have this service tier; its default applies"},

	lossChoiceValidated: {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "Messages validates arguments for strict tools only; the model may call tools without that guarantee"},
	lossChoice:          {Feature: loss.ChoiceMode, Severity: content.LossDropped, Reason: "Messages does not have this tool choice; the model may call any tool or none"},
	lossChoiceNames:     {Feature: loss.ChoiceNames, Severity: content.LossDegraded, Reason: "Messages cannot limit the choice to several functions; only these functions were sent"},
	lossChoiceNoTools:   {Feature: loss.ChoiceMode, Severity: content.LossHint, Reason: "the request has no tools; the tool choice was omitted"},
	lossToolOutput:      {Feature: loss.ToolOutput, Severity: content.LossHint, Reason: "Messages has no schema of tool results; it was omitted"},
	lossToolMapped:      {Feature: loss.VendorTool, Severity: content.LossDegraded, Reason: "the built-in tool was replaced with Anthropic's tool for the same purpose; settings without an equivalent were dropped"},
	lossInputDialect:    {Feature: loss.ToolSchema, Severity: content.LossHint, Reason: "the schema was rewritten for Messages: arguments are an object, types are in lower case, nullable is a type"},
	lossOutputDialect:   {Feature: loss.OutputSchema, Severity: content.LossHint, Reason: "the schema was rewritten for Messages with the same meaning"},
	lossToolConflict:    {Feature: loss.VendorTool, Severity: content.LossDropped, Reason: "another tool has the name of Anthropic's tool for the same purpose; the built-in tool was dropped"},
	lossToolDuplicate:   {Feature: loss.VendorTool, Severity: content.LossHint, Reason: "the built-in tool is in the list twice; the second one was omitted"},
	lossChoiceNone:      {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "Messages cannot forbid functions alone; the functions were omitted and built-in tools stay available"},
	lossChoiceAny:       {Feature: loss.ChoiceMode, Severity: content.LossDegraded, Reason: "Messages cannot require a call of a function; the model may call a built-in tool instead"},

	lossBudget:        {Feature: loss.ThinkingBudget, Severity: content.LossDropped, Reason: "Messages has no thinking budget without a thinking mode; it was dropped"},
	lossDisplay:       {Feature: loss.ThinkingDisplay, Severity: content.LossHint, Reason: "Messages has no thinking display in this thinking mode; it was omitted"},
	lossFullDisplay:   {Feature: loss.ThinkingDisplay, Severity: content.LossDegraded, Reason: "Messages shows only a summary of the thinking"},
	lossMode:          {Feature: loss.ThinkingMode, Severity: content.LossDropped, Reason: "Messages does not have this thinking mode; it was dropped"},
	lossMinimalEffort: {Feature: loss.ThinkingEffort, Severity: content.LossDegraded, Reason: "the lowest effort of Messages is low; it was sent"},
	lossEffort:        {Feature: loss.ThinkingEffort, Severity: content.LossDropped, Reason: "Messages does not have this effort; it was dropped"},

	lossJSONMode:          {Feature: loss.OutputType, Severity: content.LossDropped, Reason: "Messages cannot limit the response to JSON without a schema; the setting was dropped"},
	lossMediaType:         {Feature: loss.OutputType, Severity: content.LossDropped, Reason: "Messages does not have this response type; it was dropped"},
	lossOutputEnum:        {Feature: loss.OutputType, Severity: content.LossDegraded, Reason: "Messages cannot limit the response to the values; an instruction to respond with one of them was added"},
	lossDocumentCitations: {Feature: loss.DocumentCitations, Severity: content.LossDegraded, Reason: "Messages cannot cite in responses that follow a schema; the setting was omitted"},

	lossSystemFile:    {Feature: loss.SystemFiles, Severity: content.LossDegraded, Reason: "the system text of Messages cannot contain files; the file was sent in the first user turn"},
	lossSystemPart:    {Feature: loss.SystemFiles, Severity: content.LossDropped, Reason: "the system text of Messages can contain text only; the part was dropped"},
	lossSystemTurn:    {Feature: loss.SystemTurn, Severity: content.LossDegraded, Reason: "Messages does not accept a system turn at this place; it was sent as a user turn"},
	lossLeadingTurn:   {Feature: loss.SystemTurn, Severity: content.LossHint, Reason: "the system turn before the conversation was sent as system text"},
	lossJoined:        {Feature: loss.TurnOrder, Severity: content.LossHint, Reason: "consecutive turns of a role with tool calls, results or thinking were joined"},
	lossEmpty:         {Feature: loss.EmptyText, Severity: content.LossHint, Reason: "Messages does not accept blank texts or empty turns; the text or turn was omitted"},
	lossEmptyMark:     {Feature: loss.CacheMarks, Severity: content.LossHint, Reason: "the text with the cache mark is blank; both were omitted"},
	lossTrailingSpace: {Feature: loss.EmptyText, Severity: content.LossHint, Reason: "Messages does not accept white space at the end of a response to be continued; it was omitted"},

	lossThinking:         {Feature: loss.ThinkingHistory, Severity: content.LossHint, Reason: "thinking without a signature of this vendor was omitted"},
	lossTrailingThinking: {Feature: loss.ThinkingHistory, Severity: content.LossHint, Reason: "an assistant turn cannot end with thinking; the thinking was dropped"},
	lossThinkingState:    {Feature: loss.LostThinking, Severity: content.LossDegraded, Reason: "the thinking in the signature cannot be decoded; it was omitted"},
	lossImageMoved:       {Feature: loss.ImageByAssistant, Severity: content.LossDegraded, Reason: "Messages accepts images in user turns only; the image was sent in the next user turn"},
	lossImage:            {Feature: loss.ImageByAssistant, Severity: content.LossDropped, Reason: "Messages accepts images in user turns only, and no user turn follows; the image was dropped"},
	lossImageType:        *codec.MessagesImageType,
	lossTypeMismatch:     {Feature: loss.ImageType, Severity: content.LossHint, Reason: "the media type does not match the data; the type of the data was sent"},
	lossLinkType:         *codec.MessagesLinkType,
	lossMedia:            *codec.MessagesAudioVideo,
	lossDocument:         *codec.MessagesDocumentType,
	lossTextSource:       {Feature: loss.DocumentType, Severity: content.LossHint, Reason: "Messages accepts plain text as a text source only; the base64 was decoded"},
	lossTextType:         {Feature: loss.DocumentType, Severity: content.LossHint, Reason: "Messages accepts text documents as text/plain only; the media type was replaced"},
	lossTitle:            {Feature: loss.DocumentTitle, Severity: content.LossHint, Reason: "the title is longer than 500 characters; it was cut"},
	lossCitation:         {Feature: loss.TextCitations, Severity: content.LossHint, Reason: "Messages cannot represent the citation; it was omitted"},
	lossObject:           {Feature: loss.ResultObject, Severity: content.LossHint, Reason: "Messages has no objects as tool results; the JSON text was sent"},
	lossResultOrder:      {Feature: loss.ResultOrder, Severity: content.LossHint, Reason: "Messages requires tool results first; they were moved to the beginning of the turn"},
	lossResultMissing:    {Feature: loss.ResultPairs, Severity: content.LossDegraded, Reason: "the tool call has no result; a result that states this was sent instead"},
	lossResultOrphan:     {Feature: loss.ResultPairs, Severity: content.LossDegraded, Reason: "no tool call of the previous turn has the id of the result; it was sent as user content"},
}

// lose reports a loss at path.
func (c *converter) lose(rule int, path string) { c.Report(&requestLosses[rule], path) }

// drop reports the loss of a whole part and returns nil.
func (c *converter) drop(rule int, path string) content.Part {
	return c.Drop(&requestLosses[rule], path)
}

// Losses of responses that are sent in this format.
var (
	lossResponseImage = &loss.Rule{Feature: loss.ResponseImage, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain images; the part was dropped"}
	lossResponseDocument = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain documents; the part was dropped"}
	lossResponseMedia = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain audio or video; the part was dropped"}
	lossResponseTool = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain built-in tools of another vendor; the part was dropped"}
	lossResponsePart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "Messages responses cannot contain this kind of part; it was dropped"}
	lossServerResult = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "the result of a built-in tool is not valid JSON; it was dropped"}
	lossNamelessCall = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "a tool call without a name was dropped"}
	lossBrokenCall = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments are not a JSON object; the tool call was dropped"}
	lossSentCall = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments are not a JSON object; they were sent unchanged, because the tool call had already begun"}
	lossCutCall = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the response was cut before the arguments began; the tool call was dropped"}
	lossServerInput = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "the arguments of a built-in tool are not a JSON object; they were dropped"}
	lossCallID = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossHint,
		Reason: "the id of the tool call is a duplicate, or too many tool calls precede it; another id was sent"}
	lossResponseCitation = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossDropped,
		Reason: "Messages does not have this kind of citation; it was dropped"}
	lossLastSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "the signature of the last text cannot be carried after it, because agents read the last block; the signature was dropped"}
	lossTextSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "the signature of a text, which its vendor does not need, was omitted"}
	lossUncarriedState = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "no tool call follows that can carry the thinking or the text's signature; it was dropped, and later requests omit it"}
	lossHiddenThinking = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "the request did not ask for thinking; it was omitted"}
	lossResponseCandidates = &loss.Rule{Feature: loss.ResponseCandidates, Severity: content.LossDropped,
		Reason: "Messages has a single candidate; the others were dropped"}
	lossStopReason = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossDegraded,
		Reason: "Messages does not have this stop reason; a value that the vendor does not define was sent"}
	lossStopDetails = &loss.Rule{Feature: loss.ResponseStop, Severity: content.LossHint,
		Reason: "the details of the stop reason are in another format; they were dropped"}
	lossCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "token counts and usage members that Messages does not have were dropped"}
	lossResponseCache = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Messages responses have no cache marks; it was dropped"}
	lossEventMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "Messages has no place for the extra members of the event; they were dropped"}
	lossManyMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "the response has more than 256 KiB of extra members; the rest was dropped"}
	lossUnknownEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an unknown event was dropped"}
	lossUnknownDelta = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an unknown delta was dropped"}
)

// responseLosses lists the losses of responses that are sent.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossLastSignature, lossTextSignature, lossUncarriedState, lossHiddenThinking,
	lossResponseImage, lossResponseDocument, lossResponseMedia, lossResponseTool, lossResponsePart, lossServerResult, lossNamelessCall, lossBrokenCall, lossSentCall, lossCutCall, lossServerInput, lossCallID, lossResponseCitation,
	lossResponseCandidates, lossStopReason, lossStopDetails, lossCounts,
	lossResponseCache, lossEventMembers, lossManyMembers, lossUnknownEvent, lossUnknownDelta,
	codec.UnsupportedSources, codec.UnsupportedLogprobs, codec.UnsupportedResume, codec.UnsupportedMembers,
}

// lossOfPart returns the rule for a part that responses cannot contain.
func lossOfPart(p content.Part) *loss.Rule {
	switch p.(type) {
	case *content.Image:
		return lossResponseImage
	case *content.Document:
		return lossResponseDocument
	case *content.Media:
		return lossResponseMedia
	case *content.ServerToolUse, *content.ServerToolResult:
		return lossResponseTool
	}
	return lossResponsePart
}

// Losses of responses that are read, besides those that all codecs share.
var (
	lossStopMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "extra members of message_stop were dropped"}
	lossMisplacedEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an unknown event without a name or before message_start was dropped"}
)

// readLosses lists the losses of responses that are read.
var readLosses = append([]*loss.Rule{lossStopMembers, lossMisplacedEvent}, codec.ResponseLosses...)
