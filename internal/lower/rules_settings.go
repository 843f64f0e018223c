package lower

import "github.com/polywire/polywire/internal/loss"

// The rules for headers, and for members of the request.
var (
	// HeaderNotSent reports a client header that the handler would forward to the vendor of
	// its own format, and RequiredHeaderNotSent one on which the body depends.
	HeaderNotSent         = loss.Hint(loss.Headers, "the header is only for the vendor of the client's format; it is not sent")
	RequiredHeaderNotSent = loss.Dropped(loss.Headers, "the body depends on this client header, which is not sent; the server may reject or ignore the member")

	// These report what a service with the models of a vendor does not have: see [Cloud].
	// CloudBeta is reported by adapters.
	CloudBeta      = loss.Hint(loss.Headers, "the cloud service is not known to accept this beta; it is not sent")
	CloudHint      = loss.Hint(loss.Members, "the cloud service does not have this member, which is not known to change the response; it was omitted")
	CloudInfluence = loss.Degraded(loss.Members, "the cloud service does not have this member, which influences the response; it was omitted")
	CloudSetting   = loss.Dropped(loss.Members, "the cloud service does not have this member, which changes the response; it was dropped")
	CloudLocation  = loss.Dropped(loss.Members, "the cloud service does not have this member, which restricts where the request is processed; it was dropped")
	CloudState     = loss.Dropped(loss.Members, "the member refers to conversation state, which the cloud service does not store")
	CloudEdit      = loss.Hint(loss.Members, "the cloud service does not have this kind of edit of the context; the edit was omitted")
	CloudMark      = loss.Hint(loss.CacheMarks, "the cloud service does not have a member of this cache mark; the member was omitted")
	CloudTool      = loss.Dropped(loss.VendorTool, "the cloud service does not have this tool of the vendor; it was dropped")
	CloudCall      = loss.Dropped(loss.VendorPart, "the cloud service does not have the tool of this call or result; the part was dropped")

	MemberReplaced = loss.Degraded(loss.Members, "a field of the request replaces this extra member, which was omitted")
	UsageNotSent   = always(loss.Hint(loss.ResponseUsage, "the server rejects the request for token counts; a handler estimates them"))
)

// The rules for tools.
var (
	ToolVendor      = loss.Dropped(loss.VendorTool, "the server does not have this built-in tool; it was dropped")
	ToolDeferred    = loss.Hint(loss.ToolDeferred, "a tool that the conversation has not loaded yet is not sent")
	ToolNotDeferred = loss.Hint(loss.ToolDeferred, "the server cannot search tools, so the tool is sent with every request")
	ToolMapped      = loss.Degraded(loss.VendorTool, "the built-in tool was replaced by the server's own tool for the same purpose")
	ToolTwice       = loss.Degraded(loss.VendorTool, "the request has another built-in tool for the same purpose; this one was omitted")
	ToolNameTaken   = loss.Dropped(loss.VendorTool, "a function has the name of the server's own tool for the same purpose; the built-in tool was dropped")
	ToolWithOthers  = loss.Dropped(loss.VendorTool, "the model does not accept built-in tools together with functions; the built-in tool was dropped")
	ToolUndeclared  = loss.Hint(loss.VendorPart, "earlier tool calls use tools that the request does not declare; they were declared without a schema, and the model cannot call them")
	ToolOutput      = loss.Hint(loss.ToolOutput, "the server has no schema of tool results; it was omitted")
	ToolStrict      = loss.Degraded(loss.ToolStrict, "the server cannot hold the model to this schema; the schema was sent, but arguments are not validated")
	ToolCache       = loss.Hint(loss.CacheMarks, "the server has no cache marks on tools; the mark was omitted, and the server decides what it caches")
	ToolDescription = loss.Degraded(loss.ToolOther, "the server accepts at most 1,024 characters; the description was cut")
	ToolSchema      = loss.Hint(loss.ToolSchema, "the schema was rewritten with the same meaning: arguments are an object, types are in lower case, nullable is a type")
)

// The rules for what tools have in some formats.
var (
	ToolNamespace = loss.Hint(loss.ToolNamespace, "the server has no namespaces of tools; the namespace was sent as the beginning of the name, and tool calls return with both")
	ToolFreeform  = loss.Hint(loss.ToolFreeform, "the server has no free-form tools; a function with one text as its argument was sent, and its calls return as those of a free-form tool")
	ToolGrammar   = loss.Degraded(loss.ToolFreeform, "the server cannot hold the model to a grammar; it was sent in the description of the tool")
)

// The rules for the tool choice.
var (
	ChoiceNoTools       = loss.Hint(loss.ChoiceMode, "no tools are sent to choose from; the tool choice was omitted")
	ChoiceUnknown       = loss.Dropped(loss.ChoiceMode, "the server does not have this tool choice; the model may call any tool or none")
	ChoiceValidated     = loss.Degraded(loss.ChoiceMode, "the server cannot guarantee that arguments match their schema; the model may call tools without that guarantee")
	ChoiceForced        = loss.Degraded(loss.ChoiceMode, "the model does not accept a required tool call; it may call tools")
	ChoiceBuiltIn       = loss.Degraded(loss.ChoiceMode, "the server can require calls of functions only; no call of a built-in tool is required")
	ChoiceAnyTool       = loss.Degraded(loss.ChoiceMode, "the server cannot require a call of a function; the model may call a built-in tool instead")
	ChoiceNoBuiltIn     = loss.Degraded(loss.ChoiceMode, "the server cannot forbid functions alone; its built-in tools are forbidden too")
	ChoiceNoFunctions   = loss.Degraded(loss.ChoiceMode, "the server cannot forbid functions alone; the functions were omitted, and built-in tools stay available")
	ChoiceNames         = loss.Degraded(loss.ChoiceNames, "the server cannot limit the choice to these tools; the model may call any tool")
	ChoiceNamesAsTools  = loss.Degraded(loss.ChoiceNames, "the server cannot limit the choice to several functions; only these functions were sent")
	ChoiceNamesSome     = loss.Degraded(loss.ChoiceNames, "some of the chosen tools were not sent; the choice is limited to the others")
	ChoiceNamesNone     = loss.Dropped(loss.ChoiceNames, "the required tool was not sent; the model may call any tool or none")
	ChoiceNamesUnknown  = loss.Dropped(loss.ChoiceNames, "only functions of the request can be chosen by name; the other names were dropped")
	ChoiceNamesForbids  = loss.Hint(loss.ChoiceNames, "no function may be called; the names were omitted")
	ChoiceNamesValidate = loss.Hint(loss.ChoiceNames, "the server accepts names only if arguments are validated; validated arguments were requested")
	ChoiceNamesTrust    = always(loss.Hint(loss.ChoiceNames, "the tool choice by name was sent, but some servers of this kind ignore it"))
	ChoiceParallel      = loss.Degraded(loss.ChoiceParallel, "the server cannot forbid parallel tool calls; the model may call tools in parallel")
)

// The rules for the form of the response.
var (
	OutputStrict        = always(loss.Degraded(loss.OutputSchema, "the schema has no equivalent strict form, in which all properties are required and no others allowed; it was sent, but the response may not match it"))
	OutputName          = loss.Hint(loss.OutputSchema, "the server does not accept this name of the schema, or any; another or none was sent")
	OutputDescription   = loss.Degraded(loss.OutputSchema, "the server has no description of the schema; it was omitted")
	OutputVerbosity     = loss.Degraded(loss.OutputVerbosity, "the server does not have a verbosity; the model's default applies")
	OutputUnsatisfiable = loss.Dropped(loss.OutputSchema, "no value matches the schema; it was dropped")
	OutputSchema        = loss.Hint(loss.OutputSchema, "the schema was rewritten with the same meaning")
	OutputWithTools     = loss.Degraded(loss.OutputSchema, "the model does not accept a response format together with functions; an instruction with the format was added instead")
	OutputOnlyObject    = loss.Degraded(loss.OutputType, "the response is limited to JSON objects")
	OutputObject        = loss.Degraded(loss.OutputType, "the response is limited to JSON objects, and an instruction to respond in JSON was added")
	OutputNoJSON        = loss.Degraded(loss.OutputType, "the server cannot limit the response to JSON without a schema; an instruction to respond in JSON was added instead")
	OutputType          = loss.Dropped(loss.OutputType, "the server does not have this response type; it was dropped")
	OutputTypeAdded     = loss.Hint(loss.OutputType, "the server requires a media type with a schema; application/json was sent")
	OutputEnum          = loss.Degraded(loss.OutputType, "the response cannot be limited to the values; an instruction to respond with one of them was added")
	OutputModalities    = loss.Dropped(loss.OutputModalities, "the server does not have this kind of output; it was dropped")
	OutputImage         = loss.Dropped(loss.OutputImage, "the server does not have this aspect ratio or size of images; it was dropped")
)

// The rules for the limit of tokens.
var (
	LimitLowered = loss.Degraded(loss.MaxTokens, "the limit of output tokens was lowered to the model's limit")
	LimitRaised  = loss.Degraded(loss.MaxTokens, "the limit of output tokens was raised to 16, the server's minimum")
)

// The rules for the thinking of the response.
var (
	ThinkingByDefault = loss.Hint(loss.ThinkingMode, "the request does not specify thinking, and the model cannot do exactly what the client's vendor does then; the nearest setting was sent")

	ModeOff        = loss.Degraded(loss.ThinkingMode, "thinking cannot be turned off; the model thinks as little as possible")
	ModeOn         = loss.Degraded(loss.ThinkingMode, "no setting is known that turns thinking on for the model; its default applies")
	ModeAuto       = loss.Degraded(loss.ThinkingMode, "the model has no automatic thinking; a fixed amount was sent")
	ModeBetween    = loss.Degraded(loss.ThinkingMode, "thinking cannot be limited to the time between tool calls; the model may always think")
	ModeNone       = loss.Degraded(loss.ThinkingMode, "the model cannot think; it responds without thinking")
	ModeUnknown    = loss.Dropped(loss.ThinkingMode, "the server does not have this thinking mode; it was dropped")
	ModeForcedTool = loss.Degraded(loss.ThinkingMode, "the model cannot think with a budget when a tool call is required; thinking was turned off for this response")
	ModeMissing    = loss.Degraded(loss.LostThinking, "the thinking before the tool calls is missing; thinking was turned off for this response")

	BudgetAsEffort = loss.Degraded(loss.ThinkingBudget, "the model has efforts in place of budgets of thinking tokens; the nearest effort was sent")
	BudgetOmitted  = loss.Degraded(loss.ThinkingBudget, "the server has efforts in place of budgets of thinking tokens; only the request's effort was sent")
	BudgetAlone    = loss.Dropped(loss.ThinkingBudget, "the request has a budget of thinking tokens without the mode that uses it; the budget was dropped")
	BudgetAuto     = loss.Degraded(loss.ThinkingBudget, "the model does not accept a budget of thinking tokens, or none was given; it decides how much to think")
	BudgetMissing  = loss.Hint(loss.ThinkingBudget, "the thinking mode has no budget; the model decides how much to think")
	BudgetRange    = loss.Degraded(loss.ThinkingBudget, "the budget of thinking tokens is outside the range that the model accepts; the nearest one was sent")
	BudgetNone     = loss.Degraded(loss.ThinkingBudget, "the limit of output tokens leaves no room for the smallest budget of thinking tokens; thinking was turned off")

	EffortOff      = loss.Degraded(loss.ThinkingEffort, "there is no effort when thinking is off; it was omitted")
	EffortNearest  = loss.Degraded(loss.ThinkingEffort, "the model does not have this effort; the nearest one was sent")
	EffortTools    = loss.Degraded(loss.ThinkingEffort, "the model accepts tools in this format only without thinking, which was turned off; the vendor's other format supports both")
	EffortRefused  = loss.Degraded(loss.ThinkingEffort, "the server rejects an effort; the model's default applies")
	EffortNone     = loss.Degraded(loss.ThinkingEffort, "the model does not accept an effort; it was omitted")
	EffortUnknown  = loss.Dropped(loss.ThinkingEffort, "the server does not have this effort; it was dropped")
	EffortAsBudget = loss.Degraded(loss.ThinkingEffort, "the model has budgets of thinking tokens instead of efforts; one that fits the effort was sent")
	EffortBudget   = loss.Degraded(loss.ThinkingEffort, "the server accepts a budget of thinking tokens or an effort, not both; the effort was omitted")

	DisplayNever       = loss.Hint(loss.ThinkingDisplay, "the server does not return thinking; there is none to show")
	DisplayNone        = loss.Hint(loss.ThinkingDisplay, "the server cannot control which thinking is shown; the setting was omitted")
	DisplayNoThinking  = loss.Hint(loss.ThinkingDisplay, "the model does not think; there is no thinking to show")
	DisplayRefused     = loss.Hint(loss.ThinkingDisplay, "the server rejects the request for summaries; thinking is not shown")
	DisplaySummary     = loss.Degraded(loss.ThinkingDisplay, "the server shows only a summary of the thinking; the summary was requested")
	DisplayUnknown     = loss.Hint(loss.ThinkingDisplay, "the server does not have this display of thinking; the setting was omitted")
	ThinkingNotCarried = always(loss.Hint(loss.LostThinking, "the server does not return encrypted thinking; later requests omit the thinking"))
)

// The rules for sampling.
var (
	Temperature         = loss.Dropped(loss.Temperature, "the model does not accept this temperature, or any; its default applies")
	TemperatureNearest  = loss.Degraded(loss.Temperature, "the temperature is outside the range that the server accepts; the nearest one was sent")
	TemperatureThinking = loss.Dropped(loss.Temperature, "the model does not accept a temperature while it thinks; its default applies")
	TopP                = loss.Dropped(loss.TopP, "the model does not accept this top_p, or any; its default applies")
	TopPThinking        = loss.Dropped(loss.TopP, "the model does not accept top_p while it thinks; its default applies")
	TopPBeside          = loss.Dropped(loss.TopP, "the model accepts temperature or top_p, not both; top_p was dropped")
	TopK                = loss.Dropped(loss.TopK, "the server does not accept this top_k, or any; the model's default applies")
	TopKThinking        = loss.Dropped(loss.TopK, "the model does not accept top_k while it thinks; its default applies")
	Seed                = loss.Dropped(loss.Seed, "the server does not accept this seed, or any; equal requests may have different responses")
	Penalties           = loss.Dropped(loss.Penalties, "the server does not accept this penalty, or any; none applies")
	StopsOff            = loss.Dropped(loss.StopSequences, "the model does not accept stop sequences; they were dropped, and the response continues after them")
	StopsCut            = loss.Degraded(loss.StopSequences, "the server has no stop sequences; Polywire cuts the response, and the usage may or may not include the tokens after the cut")
	StopsOverLimit      = loss.Dropped(loss.StopSequences, "the server accepts fewer stop sequences; the last ones were dropped, and the response continues after them")
	StopEmpty           = loss.Hint(loss.StopSequences, "an empty stop sequence was omitted")
	StopBlank           = loss.Dropped(loss.StopSequences, "the server does not accept blank stop sequences; they were dropped, and the response continues after them")
	Candidates          = loss.Dropped(loss.Candidates, "the server returns a single candidate; the others were dropped")
)

// The rules for the user and the service tier.
var (
	UserDigest  = loss.Hint(loss.UserID, "the user id is longer than the server accepts; its SHA-256 digest was sent")
	User        = loss.Hint(loss.UserID, "the server does not receive a user id; it was omitted")
	ServiceTier = loss.Hint(loss.ServiceTier, "the server does not have this service tier; its default applies")
)

// always marks a rule that does not report what lowering removes, but what holds for the
// target.
func always(r *loss.Rule) *loss.Rule {
	r.Always = true
	return r
}
