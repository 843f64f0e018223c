package chatcompletions

import (
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// Request is the body of POST /v1/chat/completions, as [ParseRequest] reads it. The vendor's
// reference defines its fields.
//
// The Extra of a struct holds the members that have no field.
type Request struct {
	Model string // empty if the path names the model, as Azure's does

	// System are the texts of the system and developer messages at the beginning. The Extra of
	// the first text of a message has the role "developer", the "name" of the author and other
	// members of the message.
	System []content.Part

	// Messages are the other messages, or the last message if there are no others. Later system and developer messages have the role
	// System. Consecutive messages with the role tool or function are one turn of the user,
	// with a [content.ToolResult] for each message.
	//
	// A turn of the assistant has its thinking (reasoning_content or reasoning), its content,
	// its refusal and its tool calls, in this order.
	Messages []content.Turn

	MaxCompletionTokens *int64
	MaxTokens           *int64 // the deprecated name of MaxCompletionTokens
	Temperature         *float64
	TopP                *float64
	PresencePenalty     *float64
	FrequencyPenalty    *float64
	TopK                *int64 // only compatible servers have it; a violation with Strict
	Seed                *int64
	N                   *int64
	Stop                []string // the document may have one string

	Tools             []content.Tool
	Functions         []content.Tool // deprecated: functions that are not in Tools
	ToolChoice        *ToolChoice
	FunctionCall      *ToolChoice // deprecated: the choice among Functions
	ParallelToolCalls *bool

	ResponseFormat  *ResponseFormat
	Modalities      []string // "text" and "audio"
	ReasoningEffort string
	Verbosity       string

	SafetyIdentifier string
	User             string // the deprecated name of SafetyIdentifier
	ServiceTier      string

	Stream        bool
	StreamOptions *StreamOptions

	// Extra has all other members, such as "metadata", "store" and "logprobs".
	Extra *content.Extra

	origin *origin // nil for a request that was not parsed
}

// ToolChoice selects the tools that the model may or must call.
type ToolChoice struct {
	// Type is "none", "auto" or "required", which the document has as a string, or "function",
	// "custom" or "allowed_tools".
	Type string

	Names []string // of the functions and custom tools that may be called; one, unless Type is "allowed_tools"
	Mode  string   // with "allowed_tools": "auto" or "required"
	Extra *content.Extra
}

// ResponseFormat is the form of the response.
type ResponseFormat struct {
	Type   string      // "text", "json_object" or "json_schema"
	Schema *JSONSchema // with "json_schema"
	Extra  *content.Extra
}

// JSONSchema is a schema that the response must satisfy.
type JSONSchema struct {
	Name        string
	Description string
	Schema      string // JSON text
	Strict      *bool
	Extra       *content.Extra
}

// StreamOptions are options of a streamed response.
type StreamOptions struct {
	IncludeUsage       bool
	IncludeObfuscation *bool
	Extra              *content.Extra
}

// usesFunctions reports whether the client expects the deprecated function_call instead of
// tool_calls.
func (r *Request) usesFunctions() bool { return len(r.Functions) > 0 && len(r.Tools) == 0 }

// includesUsage reports whether a stream must end with the usage. Clients of OpenRouter ask for it in
// another member.
func (r *Request) includesUsage() bool {
	return r.StreamOptions != nil && r.StreamOptions.IncludeUsage || r.Extra != nil && gjson.Get(r.Extra.JSON, "usage.include").Bool()
}

// readsReasoning reports whether the client reads thinking in the member reasoning, as clients of OpenRouter and
// Groq do. It is known of those that send members which only these servers have.
func (r *Request) readsReasoning() bool {
	return r.Extra != nil && strings.Contains(r.Extra.JSON, "reasoning") &&
		(gjson.Get(r.Extra.JSON, "reasoning").IsObject() || gjson.Get(r.Extra.JSON, "reasoning_format").Exists())
}

// An origin holds what parsing learned about a document. It is not changed after parsing and is
// safe for concurrent use.
type origin struct {
	codec.Origin
	hidesReasoning bool // the client does not receive thinking: see Options.HideReasoning
	cacheControl   bool // the cache marks are members cache_control

	places []place // of the messages, by index
}

// isReplaced reports whether adapters replace a member.
func isReplaced(name string) bool {
	return name == "model" || name == "stream" || name == "stream_options" || name == "max_tokens"
}

// A place is where the parts of a message are in the request.
type place struct {
	turn    int32 // index in Messages; -1 for a text of System
	part    int32 // index of the first part in the turn, or in System
	content int32 // number of parts that are from the content
	calls   int32 // number of parts that are tool calls

	kind     contentKind
	thinking thinkingMember
	refusal  bool // a part is from the member refusal
	legacy   bool // the call is a function_call, or the message has the role function
	result   bool // the message is a result
}

// A contentKind is a kind of value of the member content.
type contentKind uint8

const (
	noContent   contentKind = iota // the member is missing
	nullContent                    // null
	textContent                    // a string
	listContent                    // a list of parts
	badContent                     // not readable
)

// A thinkingMember is the member from which a message has thinking.
type thinkingMember uint8

const (
	noThinking thinkingMember = iota
	reasoningContent
	reasoning
)

func (m thinkingMember) String() string {
	if m == reasoning {
		return "reasoning"
	}
	return "reasoning_content"
}

// placesOf returns the places of the messages. Those of a constructed request are the ones that a
// document of it would have.
func (r *Request) placesOf() []place {
	if r.origin != nil {
		return r.origin.places
	}
	var list []place
	for i := range r.System {
		list = append(list, place{turn: -1, part: int32(i), content: 1, kind: textContent})
	}
	for i := range r.Messages {
		t := &r.Messages[i]
		p := place{turn: int32(i), kind: listContent}
		for k, part := range t.Parts {
			switch x := part.(type) { // other kinds are in the content
			case *content.ToolResult:
				list = append(list, place{turn: int32(i), part: int32(k), kind: listContent, result: true})
				continue
			case *content.ToolUse:
				p.calls++
				continue
			case *content.Thinking:
				if k == 0 && x != nil {
					p.thinking = reasoningContent
					continue
				}
			}
			p.content++
		}
		if len(t.Parts) == 0 || p.content+p.calls > 0 || p.thinking != noThinking {
			list = append(list, p)
		}
	}
	return list
}

// messageOf returns the index of the message that has a part of a turn, and its place. turn is -1
// for System. A negative part means the first message of the turn.
func (r *Request) messageOf(turn, part int) (int, *place) {
	places := r.placesOf()
	i := sort.Search(len(places), func(i int) bool {
		p := &places[i]
		return int(p.turn) > turn || int(p.turn) == turn && int(p.part) > max(part, 0)
	}) - 1
	for part < 0 && i > 0 && int(places[i-1].turn) == turn {
		i-- // messages without parts have the same place as the one after them
	}
	if i < 0 || int(places[i].turn) != turn {
		return -1, nil
	}
	return i, &places[i]
}

// found returns what parsing found in the document, or nil if r was not parsed.
func (r *Request) found() *codec.Found {
	if r.origin == nil {
		return nil
	}
	return &r.origin.Found
}
