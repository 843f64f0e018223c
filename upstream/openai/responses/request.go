package responses

import (
	"cmp"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// Request is the body of POST /v1/responses, as [ParseRequest] reads it. The vendor's reference
// defines its fields.
//
// The Extra of a struct holds the members that have no field.
type Request struct {
	Model string

	// Instructions are texts of the system before all of Input.
	Instructions string

	// Input are the items of the conversation. A string as the member "input" is one message
	// of the user.
	Input []Item

	// Tools are the tools of the request, without those in items. A namespace is not an element:
	// its tools have its name as their Namespace, and the first of them has the other members
	// of the namespace in its Extra, as the member "namespace".
	Tools []content.Tool

	ToolChoice        *ToolChoice
	ParallelToolCalls *bool
	MaxOutputTokens   *int64
	Temperature       *float64
	TopP              *float64
	PresencePenalty   *float64 // of Open Responses, as FrequencyPenalty
	FrequencyPenalty  *float64
	Reasoning         *Reasoning
	Text              *Text
	Include           []string // additional output
	Stream            bool
	Store             *bool // nil means true; a handler stores only with Options.Store
	User              string
	SafetyIdentifier  string
	ServiceTier       string

	// Extra has all other members, such as "metadata", "prompt_cache_key" and
	// "previous_response_id".
	Extra *content.Extra

	origin *origin // nil for a request that was not parsed
}

// An Item is an element of the input.
type Item struct {
	// Type is "message", "reasoning", "function_call", "function_call_output",
	// "custom_tool_call", "custom_tool_call_output", "item_reference", "additional_tools", or
	// another type of the vendor.
	Type string

	ID     string // made by the server that created the item; empty if there is none
	Status string // "completed", "incomplete" or "in_progress"; empty if there is none

	Role  string // of a message: "user", "assistant", "system" or "developer"
	Phase string // of a message of the assistant: "commentary" or "final_answer"; empty if unknown

	// Parts are the content of a message. Other items have one part: thinking, a tool call, the
	// result of one, or a [content.Unknown] with an item of a type that has no other form. An
	// item_reference and additional_tools have none.
	//
	// A search for tools that the client runs is a call of the tool "tool_search". Its result has one
	// part, a [content.Unknown] with the item, and the item has the Tools that were found.
	//
	// The Signature of thinking is the member "encrypted_content".
	Parts []content.Part

	Tools []content.Tool // of additional_tools, or found by a search, in the form of [Request] Tools

	Extra *content.Extra // of a message, an item_reference or additional_tools
}

// The types of items that have a form of their own.
const (
	typeMessage         = "message"
	typeReasoning       = "reasoning"
	typeFunctionCall    = "function_call"
	typeFunctionOutput  = "function_call_output"
	typeCustomCall      = "custom_tool_call"
	typeCustomOutput    = "custom_tool_call_output"
	typeReference       = "item_reference"
	typeAdditionalTools = "additional_tools"
	typeCompaction      = "compaction"
	typeSearchCall      = "tool_search_call"
	typeSearchOutput    = "tool_search_output"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
	roleDeveloper = "developer"
)

// ToolChoice selects the tools that the model may or must call.
type ToolChoice struct {
	// Type is "auto", "none" or "required" for a string. For an object it is "function",
	// "custom", "allowed_tools" or the type of a tool of the vendor.
	Type string

	Name  string    // of the function or the custom tool
	Mode  string    // of allowed_tools: "auto", "required" or, in Open Responses, "none"; empty means "auto"
	Tools []ToolRef // of allowed_tools

	Extra *content.Extra
}

// A ToolRef refers to a tool of the request.
type ToolRef struct {
	Type  string // "function", "custom" or the type of a tool of the vendor
	Name  string // of a function or custom tool
	Extra *content.Extra
}

// Reasoning configures the reasoning of the model.
type Reasoning struct {
	Effort          string // "none", "minimal", "low", "medium", "high", "xhigh" or "max"; empty: the model's default
	Summary         string // of the reasoning for the client: "auto", "concise" or "detailed"; empty means none
	GenerateSummary string // older name of Summary

	Extra *content.Extra
}

// Text configures the text of the response.
type Text struct {
	Format    *TextFormat // nil means plain text
	Verbosity string      // "low", "medium" or "high"; empty: the model's default
	Extra     *content.Extra
}

// TextFormat is the form of the text of the response.
type TextFormat struct {
	Type string // "text", "json_object" or "json_schema"

	// These are for json_schema.
	Name        string
	Description string
	Schema      string // JSON text
	Strict      *bool  // nil means the default of the server

	Extra *content.Extra
}

// wantsState reports whether the client asks for the state of reasoning, which it returns.
func (r *Request) wantsState() bool { return slices.Contains(r.Include, encryptedReasoning) } // one pass

// wantsReasoning reports whether the response may have reasoning items: the client asks for their
// state or for a summary. Other clients refer to such items later, which only works for stored
// ones.
func (r *Request) wantsReasoning() bool { return r.wantsState() || r.wantsSummary() }

// wantsSummary reports whether the client asks for a summary of the reasoning.
func (r *Request) wantsSummary() bool { return r.Reasoning.summary() != "" }

// summary returns the summary that is asked for, or "". c may be nil.
func (c *Reasoning) summary() string {
	if c == nil {
		return ""
	}
	return cmp.Or(c.Summary, c.GenerateSummary)
}

// has reports whether the request has a member without a field that is not null.
func (r *Request) has(name string) bool {
	json, ok := r.Extra.Get(name)
	return ok && json != "null"
}

// An origin holds what parsing learned about a document. It is not changed after parsing and
// is safe for concurrent use.
type origin struct {
	codec.Origin

	isText    bool        // "input" is a string
	textItems []int       // indices of the items whose content or output is a string
	tools     []toolPlace // of all tools, those of Input last; nil if they have their places in "tools"

	places []itemPlace // of the items in the neutral request; [Request.withDocument] sets it
}

// A toolPlace is the place of a tool in the document.
type toolPlace struct {
	item  int // index of the item that has it, or -1
	outer int // index in the list of tools
	inner int // index in the namespace, or -1
}

// isReplaced reports whether adapters replace a member. A session reads "input".
func isReplaced(name string) bool {
	return name == "model" || name == "stream" || name == "stream_options" || name == "input"
}

// found returns what parsing found in the document, or nil if r was not parsed.
func (r *Request) found() *codec.Found {
	if r.origin == nil {
		return nil
	}
	return &r.origin.Found
}
