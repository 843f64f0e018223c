package lower

import (
	"github.com/polywire/polywire/internal/loss"
)

// The rules for system text and turns.
var (
	SystemFile      = loss.Dropped(loss.SystemFiles, "system text can contain text only; the part was dropped")
	SystemFileMoved = loss.Degraded(loss.SystemFiles, "system text can contain text only; the file was sent in the first user turn")
	Attribution     = loss.Hint(loss.Attribution, "the line that identifies a coding agent's request to its own vendor was omitted; it differs between sessions and requests, and the server could not cache what follows")
	SystemTurn      = loss.Degraded(loss.SystemTurn, "the server does not accept system text at this place; it was sent as the user's, and the model may give it less weight")
	LeadingTurn     = loss.Hint(loss.SystemTurn, "the system turn before the conversation was sent as system text")
	TurnsJoined     = loss.Hint(loss.TurnOrder, "consecutive turns of one role were joined, because they have tool calls, results or thinking")
	TurnMembers     = loss.Dropped(loss.Members, "the turn was joined with the one before it; its extra members were dropped")
	EmptyTurn       = loss.Hint(loss.EmptyText, "an empty turn was omitted")
	TurnPlaceholder = loss.Degraded(loss.VendorPart, "all parts of the turn were dropped; a sentence that something is missing was sent instead")
	EmptyMessage    = loss.Degraded(loss.EmptyText, "the last user message is empty; a sentence that states this was sent")
	AssistantFirst  = loss.Degraded(loss.TurnOrder, "the model requires a user turn first; one with a note was added")
	Prefill         = always(loss.Degraded(loss.TurnOrder, "the beginning of a response cannot be continued; the model writes a new response after it"))
	AssistantLast   = always(loss.Degraded(loss.TurnOrder, "the model requires a user turn last; one that asks for the rest of the response was added"))
	TrailingSpace   = loss.Hint(loss.EmptyText, "white space at the end of a response to be continued was omitted")
)

// The rules for texts and for parts of all kinds.
var (
	EmptyText     = loss.Hint(loss.EmptyText, "an empty text was omitted")
	EmptyMark     = loss.Hint(loss.CacheMarks, "the text with the cache mark is empty; both were omitted")
	TextCitations = loss.Hint(loss.TextCitations, "the server has no citations of this kind in earlier responses; they were omitted")
	TextRefusal   = loss.Hint(loss.TextRefusal, "the server does not mark refusals in earlier responses; the refusal was sent as a text like others")
	Signature     = loss.Hint(loss.Signature, "only the vendor that made a signature can use it; it was omitted")
	CacheMark     = loss.Hint(loss.CacheMarks, "the server accepts no cache mark at this place; the mark was omitted, and the server decides what it caches")
	CacheTime     = loss.Hint(loss.CacheMarks, "the server does not have this lifetime of a cache mark; the next longer one was sent, or its default applies")
	OwnMembers    = loss.Hint(loss.Members, "the server rejects extra members at this place; they were omitted")
	VendorPart    = loss.Dropped(loss.VendorPart, "only another vendor can read this part; it was dropped")
	UnknownPart   = loss.Dropped(loss.UnknownPart, "the server does not have this kind of part; it was dropped")
)

// The rules for files.
var (
	FileUnreadable = loss.Dropped(loss.DocumentType, "the server does not accept the file; a sentence that it cannot be read was sent instead")
	FileDetail     = loss.Hint(loss.Members, "the resolution of the file was omitted; the server's default applies")
	AssistantFile  = loss.Dropped(loss.ImageByAssistant, "the server accepts files in user turns only; the file was dropped")
	FileMoved      = loss.Degraded(loss.ImageByAssistant, "the server accepts files in user turns only; the file was sent in the next user turn")
	FileNotMoved   = loss.Dropped(loss.ImageByAssistant, "the server accepts files in user turns only, and none follows; the file was dropped")
	FileLinkType   = loss.Hint(loss.ImageType, "the server determines the media types of linked files itself; the type was omitted")
	FileType       = loss.Hint(loss.ImageType, "the media type is missing or does not match the data; the type of the data was sent")
	LinkType       = loss.Degraded(loss.ImageSource, "the link has no media type; one was guessed from the end of the link")
	FileStored     = loss.Dropped(loss.DocumentSource, "the file is stored at another vendor; it was dropped")

	DocumentText        = loss.Degraded(loss.DocumentType, "the document was sent as text")
	DocumentTitle       = loss.Degraded(loss.DocumentTitle, "the document's title and context were sent as text before it")
	DocumentParts       = loss.Degraded(loss.DocumentParts, "the document was sent as its parts")
	DocumentCitations   = loss.Dropped(loss.DocumentCitations, "the server cannot cite parts of a request; the setting was dropped")
	DocumentTitleLength = loss.Hint(loss.DocumentTitle, "the title of the document is too long for the server; it was cut")
	CitationsOfSchema   = loss.Degraded(loss.DocumentCitations, "the server does not cite in responses with a schema; the setting was omitted")
	DocumentTextType    = loss.Hint(loss.DocumentType, "the server accepts text documents as text/plain only; the media type was replaced")
	DocumentDecoded     = loss.Hint(loss.DocumentType, "the server accepts text documents as text only; the base64 was decoded")
	SearchResult        = loss.Degraded(loss.SearchResults, "the search result was sent as text")
)

// The rules for thinking of earlier responses.
var (
	Thinking        = loss.Hint(loss.ThinkingHistory, "the server accepts its own earlier thinking at most; this thinking was omitted")
	ThinkingLast    = loss.Hint(loss.ThinkingHistory, "thinking at the end of a turn was omitted, because nothing that it belongs to follows")
	ThinkingBroken  = loss.Dropped(loss.LostThinking, "the client has altered thinking that the server needs; it was dropped")
	ThinkingMissing = always(loss.Degraded(loss.LostThinking, "the server requires the thinking before tool calls, which is missing; an empty text was sent"))
	ThinkingEmpty   = always(loss.Hint(loss.LostThinking, "for tool calls without thinking an empty text was sent"))
)

// The rules for tool calls and their results.
var (
	CallSignature        = loss.Degraded(loss.LostThinking, "the tool call has no signature of this vendor; a placeholder was sent, and the model continues without its earlier thinking")
	CallSignatureEarlier = loss.Hint(loss.LostThinking, "a tool call of an earlier turn, or without thinking of the model that made it, has no signature of this vendor; a placeholder was sent")

	RenamedTool = loss.Hint(loss.ToolName, "the tool name is not valid in the target format; a converted name is sent, and tool calls return with the original name")
	RenamedCall = loss.Hint(loss.CallID, "tool call ids are missing, unknown, repeated or not valid in the target format; converted ids are sent")

	CallOrder       = loss.Degraded(loss.CallOrder, "text after a tool call was sent before the call")
	ResultImage     = loss.Degraded(loss.ResultImage, "a tool result can contain text only; the image was sent after it as the user's")
	ResultFile      = loss.Degraded(loss.ResultDocument, "a tool result can contain text only; the file was sent after it as the user's")
	ResultParts     = loss.Hint(loss.ResultParts, "a tool result has one text; the texts were joined")
	ResultError     = loss.Hint(loss.ResultError, `the server has no flag for a failed tool call; the result begins with "Error:" instead`)
	ResultOrder     = loss.Hint(loss.ResultOrder, "tool results were moved directly behind their calls")
	ResultsAnswered = loss.Degraded(loss.TurnOrder, "the server requires a response between tool results and other content of the user; a sentence was sent as one")
	ResultMissing   = loss.Degraded(loss.ResultPairs, "the tool call has no result; a sentence that there is none was sent instead")
	ResultOrphan    = loss.Degraded(loss.ResultPairs, "no tool call before the result has its id; the result was sent as user text")
)
