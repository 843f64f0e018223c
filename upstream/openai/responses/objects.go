package responses

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// The objects of requests. The parser and the validator work by these tables: to add a member
// without a Go field, add it here.

// must returns a member that is required and that a Go field holds.
func must[T, F any](name string, v *object.Value, at func(*T) *F) object.Field {
	return object.In(object.Field{Name: name, Value: v, Required: true}, at)
}

// opt returns an optional member that a Go field holds.
func opt[T, F any](name string, v *object.Value, at func(*T) *F) object.Field {
	return object.In(object.Field{Name: name, Value: v}, at)
}

// optObject returns an optional member that a pointer to a struct of type t holds.
func optObject[T, S any](name string, t *object.Type, at func(*T) **S) object.Field {
	return object.InPointer(object.Field{Name: name, Value: &object.Value{Kinds: object.Object | object.Null, Object: t}}, at)
}

// optList returns an optional list of objects that a slice holds.
func optList[T, E any](name string, v *object.Value, at func(*T) *[]E) object.Field {
	return object.InList(object.Field{Name: name, Value: v}, at)
}

// required returns a required member that is kept as JSON text.
func required(name string, v *object.Value) object.Field {
	return object.Field{Name: name, Value: v, Required: true}
}

// optional returns an optional member that is kept as JSON text.
func optional(name string, v *object.Value) object.Field { return object.Field{Name: name, Value: v} }

// unlessDefault returns f without the values for which isDefault returns true.
func unlessDefault(f object.Field, isDefault func(jsonwire.Value) bool) object.Field {
	f.IsDefault = isDefault
	return f
}

// named returns optional members with arbitrary values.
func named(names ...string) []object.Field {
	list := make([]object.Field, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

func nullableObject(list ...object.Field) *object.Value {
	return &object.Value{Kinds: object.Object | object.Null, Object: object.Kept("", list...)}
}

func nullableEnum(values ...string) *object.Value {
	return &object.Value{Kinds: object.Text | object.Null, Enum: &object.Enum{Values: values}}
}

func nullableUpTo(max int64) *object.Value {
	return &object.Value{Kinds: object.Text | object.Null, Max: max}
}

// typeTag is the member "type" of an object whose type is known when it is read.
var typeTag = object.Field{Name: "type", IsTag: true}

// typeIn returns the member "type", with one of values, of an object whose type is read before
// its other members.
func typeIn[T any](at func(*T) *string, values ...string) object.Field {
	return object.In(object.Field{Name: "type", Value: &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: values}}, IsTag: true}, at)
}

// Values that many members accept.
var (
	anyText        = &object.Value{Kinds: object.Text}
	nullableText   = &object.Value{Kinds: object.Text | object.Null}
	nonEmptyText   = &object.Value{Kinds: object.Text, Min: 1}
	anyFlag        = &object.Value{Kinds: object.Flag}
	nullableFlag   = &object.Value{Kinds: object.Flag | object.Null}
	nullableNumber = &object.Value{Kinds: object.Number | object.Null}
	nullableTexts  = &object.Value{Kinds: object.List | object.Null, Elem: anyText}
	nullableList   = &object.Value{Kinds: object.List | object.Null, Elem: anyObject}
	anyObject      = &object.Value{Kinds: object.Object}
	objectOrNull   = &object.Value{Kinds: object.Object | object.Null}
	schemaObject   = &object.Value{Kinds: object.Object, Schema: true}
	schemaOrNull   = &object.Value{Kinds: object.Object | object.Null, Schema: true}
	callID         = &object.Value{Kinds: object.Text, Min: 1}

	inputValue = &object.Value{Kinds: object.Text | object.List, Elem: anyObject}
	toolList   = &object.Value{Kinds: object.List | object.Null, Elem: anyObject}

	// The content of a message and the output of a call are a text or a list.
	textOrParts         = &object.Value{Kinds: object.Text | object.List, Elem: anyObject}
	nullableTextOrParts = &object.Value{Kinds: object.Text | object.List | object.Null, Elem: anyObject}
)

// Values of settings that the format knows.
var (
	serviceTiers = []string{"auto", "default", "flex", "scale", "priority", "fast", "ultrafast"}
	effortNames  = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	summaries    = []string{"auto", "concise", "detailed"}
	verbosities  = []string{"low", "medium", "high"}
	formatTypes  = []string{"text", "json_object", "json_schema"}
	details      = []string{"auto", "low", "high", "original"}
	phases       = []string{"commentary", "final_answer"}
	messageRoles = []string{roleAssistant, roleSystem, roleDeveloper, roleUser}
	includes     = []string{
		includeReasoning, "web_search_call.action.sources", "web_search_call.results", "file_search_call.results",
		"code_interpreter_call.outputs", "computer_call_output.output.image_url", "message.input_image.image_url",
		"message.output_text.logprobs",
	}
)

// minOutputTokens is the minimum of max_output_tokens.
const minOutputTokens = 16

var requestType = object.New("", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	return []object.Field{
		opt("model", nullableText, func(r *Request) *string { return &r.Model }),
		opt("instructions", nullableText, func(r *Request) *string { return &r.Instructions }),
		optList("input", inputValue, func(r *Request) *[]Item { return &r.Input }),
		optList("tools", toolList, func(r *Request) *[]content.Tool { return &r.Tools }),
		object.InPointer(object.Field{Name: "tool_choice", Value: &object.Value{Kinds: object.Text | object.Object | object.Null, Object: choiceType}},
			func(r *Request) **ToolChoice { return &r.ToolChoice }),
		opt("parallel_tool_calls", nullableFlag, func(r *Request) **bool { return &r.ParallelToolCalls }),
		opt("max_output_tokens", &object.Value{Kinds: object.Integer | object.Null, Min: minOutputTokens}, func(r *Request) **int64 { return &r.MaxOutputTokens }),
		opt("temperature", nullableNumber, func(r *Request) **float64 { return &r.Temperature }),
		opt("top_p", nullableNumber, func(r *Request) **float64 { return &r.TopP }),
		optObject("reasoning", reasoningType, func(r *Request) **Reasoning { return &r.Reasoning }),
		optObject("text", textConfigType, func(r *Request) **Text { return &r.Text }),
		opt("include", &object.Value{Kinds: object.List | object.Null, Elem: &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: includes}}},
			func(r *Request) *[]string { return &r.Include }),
		opt("stream", nullableFlag, func(r *Request) *bool { return &r.Stream }),
		opt("store", nullableFlag, func(r *Request) **bool { return &r.Store }),
		opt("user", nullableText, func(r *Request) *string { return &r.User }),
		opt("safety_identifier", nullableText, func(r *Request) *string { return &r.SafetyIdentifier }),
		opt("service_tier", nullableEnum(serviceTiers...), func(r *Request) *string { return &r.ServiceTier }),

		optional("max_tool_calls", &object.Value{Kinds: object.Integer | object.Null, Min: 1}),
		optional("top_logprobs", &object.Value{Kinds: object.Integer | object.Null, Max: 20}),
		optional("metadata", &object.Value{Kinds: object.Object | object.Null, Members: nullableUpTo(512)}),
		optional("prompt_cache_key", nullableText),
		optional("prompt_cache_retention", nullableEnum("in_memory", "in-memory", "24h")),
		optional("prompt_cache_options", nullableObject(named("mode", "ttl", "prewarm", "comparison_response_id")...)),
		unlessDefault(optional("truncation", nullableEnum("auto", "disabled")), isDisabled),
		unlessDefault(optional("stream_options", nullableObject(optional("include_obfuscation", nullableFlag))), hasNoObfuscation),
		unlessDefault(optional("background", nullableFlag), isFalse),
		optional(memberPrevious, nullableText),
		optional(memberConversation, &object.Value{Kinds: object.Text | object.Object | object.Null, Object: object.Kept("", required("id", anyText))}),
		optional(memberPrompt, nullableObject(required("id", anyText), optional("version", nullableText), optional("variables", objectOrNull))),
		optional("context_management", nullableList),
		optional("moderation", objectOrNull),
		optional("access_programs", nil),
		optional("client_metadata", objectOrNull),
		optional("image", objectOrNull),
		optional("presence_penalty", nullableNumber), // of Open Responses
		optional("frequency_penalty", nullableNumber)}
})

// Members that refer to state at the server.
const (
	memberPrevious     = "previous_response_id"
	memberConversation = "conversation"
	memberPrompt       = "prompt"
)

// Default values, which mean the same as a missing member.

func isFalse(x jsonwire.Value) bool    { return !isOn(x) }
func isOn(x jsonwire.Value) bool       { return x.Kind() == jsonwire.True }
func isDisabled(x jsonwire.Value) bool { return x.Kind() == jsonwire.Null || x.Is("disabled") }

// hasNoObfuscation reports whether stream_options asks for nothing: this module never pads events.
func hasNoObfuscation(x jsonwire.Value) bool {
	return x.Kind() == jsonwire.Null || x.Len() == 0 || x.Len() == 1 && x.Get("include_obfuscation").Kind() == jsonwire.False
}

func isEmptyList(x jsonwire.Value) bool { return x.Kind() != jsonwire.Array || x.Len() == 0 }

// The settings of a request.
var (
	choiceType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.In(object.Field{Name: "type", Value: anyText, IsTag: true}, func(c *ToolChoice) *string { return &c.Type }),
			opt("name", nullableText, func(c *ToolChoice) *string { return &c.Name }),
			opt("mode", nullableEnum("auto", "required"), func(c *ToolChoice) *string { return &c.Mode }),
			optList("tools", toolList, func(c *ToolChoice) *[]ToolRef { return &c.Tools }),
			optional("server_label", nullableText)}
	})

	toolRefType = object.New("", func(t *ToolRef) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.In(object.Field{Name: "type", Value: anyText, IsTag: true}, func(t *ToolRef) *string { return &t.Type }),
			opt("name", nullableText, func(t *ToolRef) *string { return &t.Name }),
			optional("server_label", nullableText)}
	})

	reasoningType = object.New("", func(c *Reasoning) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			opt("effort", nullableEnum(effortNames...), func(c *Reasoning) *string { return &c.Effort }),
			opt("summary", nullableEnum(summaries...), func(c *Reasoning) *string { return &c.Summary }),
			optional("generate_summary", nullableEnum(summaries...)),
			optional("context", nullableEnum("auto", "current_turn", "all_turns")),
			optional("mode", nullableEnum("standard", "pro"))}
	})

	textConfigType = object.New("", func(c *Text) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			optObject("format", textFormatType, func(c *Text) **TextFormat { return &c.Format }),
			opt("verbosity", nullableEnum(verbosities...), func(c *Text) *string { return &c.Verbosity })}
	})

	textFormatType = object.New("", func(f *TextFormat) **content.Extra { return &f.Extra }, func() []object.Field {
		return []object.Field{
			typeIn(func(f *TextFormat) *string { return &f.Type }, formatTypes...),
			opt("name", nullableText, func(f *TextFormat) *string { return &f.Name }),
			opt("description", nullableText, func(f *TextFormat) *string { return &f.Description }),
			opt("schema", schemaOrNull, func(f *TextFormat) *string { return &f.Schema }),
			opt("strict", nullableFlag, func(f *TextFormat) **bool { return &f.Strict })}
	})
)

// A callItem is an item with a part: its members are in fields of both.
type callItem[P any] struct {
	item *Item
	part P
}

// itemMembers returns the members that all items with a part have, before others.
func itemMembers[P any](more ...object.Field) []object.Field {
	return append([]object.Field{
		typeTag,
		opt("id", nullableText, func(c *callItem[P]) *string { return &c.item.ID }),
		opt("status", nullableText, func(c *callItem[P]) *string { return &c.item.Status })}, more...)
}

// The items.
var (
	messageType = object.New("", func(i *Item) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("role", &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: messageRoles, Closed: true}}, func(i *Item) *string { return &i.Role }),
			must("content", nullableTextOrParts, func(i *Item) *[]content.Part { return &i.Parts }),
			opt("id", nullableText, func(i *Item) *string { return &i.ID }),
			opt("status", nullableText, func(i *Item) *string { return &i.Status }),
			opt("phase", nullableEnum(phases...), func(i *Item) *string { return &i.Phase })}
	})

	referenceType = object.New("", func(i *Item) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{typeTag, must("id", anyText, func(i *Item) *string { return &i.ID })}
	})

	additionalToolsType = object.New("", func(i *Item) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			opt("id", nullableText, func(i *Item) *string { return &i.ID }),
			opt("status", nullableText, func(i *Item) *string { return &i.Status }),
			opt("role", nullableText, func(i *Item) *string { return &i.Role }),
			must("tools", toolList, func(i *Item) *[]content.Tool { return &i.Tools })}
	})

	reasoningItemType = object.New("", func(c *callItem[*content.Thinking]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.Thinking](
			// parser.reasoning reads the texts.
			object.Field{Name: "summary", Value: nullableList, Required: true, IsTag: true},
			object.Field{Name: "content", Value: nullableList, IsTag: true},
			opt("encrypted_content", nullableText, func(c *callItem[*content.Thinking]) *content.Signature { return &c.part.Signature }))
	})

	functionCallType = object.New("", func(c *callItem[*content.ToolUse]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolUse](append(callFields(),
			must("arguments", anyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Input }))...)
	})

	customCallType = object.New("", func(c *callItem[*content.ToolUse]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolUse](append(callFields(),
			must("input", anyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Text }))...)
	})

	outputType = object.New("", func(c *callItem[*content.ToolResult]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolResult](
			must("call_id", callID, func(c *callItem[*content.ToolResult]) *string { return &c.part.ID }),
			must("output", textOrParts, func(c *callItem[*content.ToolResult]) *[]content.Part { return &c.part.Parts }),
			opt("name", nullableText, func(c *callItem[*content.ToolResult]) *string { return &c.part.Name }),
			optional("namespace", nullableText), callerField)
	})

	// hostedItemType is for items that are kept as JSON text.
	hostedItemType = object.KeptLater("", func() []object.Field {
		return []object.Field{typeTag, optional("id", nullableText), optional("status", nullableText)}
	})

	callerField = optional("caller", objectOrNull)
)

func callFields() []object.Field {
	return []object.Field{
		must("call_id", callID, func(c *callItem[*content.ToolUse]) *string { return &c.part.ID }),
		must("name", nonEmptyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Name }),
		opt("namespace", nullableText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Namespace }),
		unlessDefault(optional("async", nullableFlag), isFalse), callerField,
	}
}

// A side is the author of an item: items of one side in a row are one turn.
type side uint8

const (
	noSide side = iota // the item is not part of a turn
	userSide
	assistantSide
	systemSide
)

// hostedItems are the items without a form of their own, by their types. Those of the user's side
// are what its programs return.
var hostedItems = map[string]side{
	"web_search_call": assistantSide, "file_search_call": assistantSide, "code_interpreter_call": assistantSide,
	"image_generation_call": assistantSide, "computer_call": assistantSide, "computer_call_output": userSide,
	"mcp_list_tools": assistantSide, "mcp_call": assistantSide, "mcp_approval_request": assistantSide, "mcp_approval_response": userSide,
	"local_shell_call": assistantSide, "local_shell_call_output": userSide, "shell_call": assistantSide, "shell_call_output": userSide,
	"apply_patch_call": assistantSide, "apply_patch_call_output": userSide,
	"tool_search_call": assistantSide, "tool_search_output": userSide, "program": assistantSide, "program_output": assistantSide,
	typeCompaction: userSide, "compaction_trigger": userSide, "configuration_update": userSide,
}

// sideOf returns the author of an item.
func sideOf(i *Item) side {
	switch i.Type {
	case typeMessage:
		switch i.Role {
		case roleAssistant:
			return assistantSide
		case roleSystem, roleDeveloper:
			return systemSide
		}
		return userSide
	case typeReference, typeAdditionalTools:
		return noSide
	case typeReasoning, typeFunctionCall, typeCustomCall:
		return assistantSide
	case typeFunctionOutput, typeCustomOutput:
		return userSide
	}
	if s, ok := hostedItems[i.Type]; ok {
		return s
	}
	return assistantSide
}

// The parts of messages and of outputs.
var (
	inputTextType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("text", anyText, func(t *content.Text) *string { return &t.Text }),
			cacheMark(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	outputTextType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("text", anyText, func(t *content.Text) *string { return &t.Text }),
			optList("annotations", nullableList, func(t *content.Text) *[]content.Citation { return &t.Citations }),
			unlessDefault(optional("logprobs", nullableList), isEmptyList),
			cacheMark(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	refusalType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{typeTag, must("refusal", anyText, func(t *content.Text) *string { return &t.Text })}
	})

	imageType = object.New("", func(i *content.Image) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			opt("image_url", nullableText, func(i *content.Image) *content.Source { return &i.Source }),
			opt("file_id", nullableText, func(i *content.Image) *content.Source { return &i.Source }),
			optional("detail", nullableEnum(details...)),
			cacheMark(func(i *content.Image) **content.Cache { return &i.Cache })}
	})

	fileType = object.New("", func(d *content.Document) **content.Extra { return &d.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			opt("filename", nullableText, func(d *content.Document) *string { return &d.Title }),
			opt("file_data", nullableText, func(d *content.Document) *content.Source { return &d.Source }),
			opt("file_url", nullableText, func(d *content.Document) *content.Source { return &d.Source }),
			opt("file_id", nullableText, func(d *content.Document) *content.Source { return &d.Source }),
			optional("detail", nullableEnum(details...)),
			cacheMark(func(d *content.Document) **content.Cache { return &d.Cache })}
	})

	audioType = object.New("", func(m *content.Media) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("input_audio", &object.Value{Kinds: object.Object, Object: audioDataType}, func(m *content.Media) *content.Source { return &m.Source }),
			cacheMark(func(m *content.Media) **content.Cache { return &m.Cache })}
	})

	audioDataType = object.KeptLater("", func() []object.Field {
		return []object.Field{required("data", nonEmptyText), required("format", nonEmptyText)}
	})

	breakpointType = object.New("", func(c *content.Cache) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			{Name: "mode", Const: "explicit", Value: &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: []string{"explicit"}}}},
			opt("ttl", nullableText, func(c *content.Cache) *string { return &c.TTL })}
	})
)

func cacheMark[T any](at func(*T) **content.Cache) object.Field {
	return optObject("prompt_cache_breakpoint", breakpointType, at)
}

// places is a set of places where a part is allowed.
type places uint8

const (
	inUser places = 1 << iota
	inAssistant
	inSystem
	inOutput // of a tool call
)

// A partForm is one kind of part.
type partForm struct {
	tag   string
	where places
	of    *object.Type
}

// partForms are the parts of messages and of outputs, in the order in which error texts list them.
var partForms = [...]partForm{
	{"input_text", inUser | inSystem | inOutput, inputTextType},
	{"input_image", inUser | inOutput, imageType},
	{"output_text", inAssistant, outputTextType},
	{"refusal", inAssistant, refusalType},
	{"input_file", inUser | inOutput, fileType},
	{"input_audio", inUser | inOutput, audioType},
}

// otherForms are parts of the vendor's other format, which clients send by mistake.
var otherForms = []string{"text", "image_url", "file"}

// partFormOf returns the form with a tag, or nil.
func partFormOf(tag string) *partForm {
	for i := range partForms {
		if partForms[i].tag == tag {
			return &partForms[i]
		}
	}
	return nil
}

// tagsIn lists the tags of the parts that are allowed in a place.
func tagsIn(where places) (tags []string) {
	for i := range partForms {
		if partForms[i].where&where != 0 {
			tags = append(tags, partForms[i].tag)
		}
	}
	return tags
}

// Tools.

var (
	functionType = object.New("", func(t *content.Tool) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("name", nonEmptyText, func(t *content.Tool) *string { return &t.Name }),
			opt("description", nullableText, func(t *content.Tool) *string { return &t.Description }),
			opt("parameters", schemaOrNull, func(t *content.Tool) *content.Schema { return &t.Input }),
			opt("strict", nullableFlag, func(t *content.Tool) *bool { return &t.Strict }),
			opt("output_schema", schemaOrNull, func(t *content.Tool) *content.Schema { return &t.Output }),
			unlessDefault(optional("defer_loading", nullableFlag), isFalse),
			unlessDefault(optional("async", nullableFlag), isFalse),
			optional("allowed_callers", nullableTexts)}
	})

	customType = object.New("", func(t *content.Tool) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("name", nonEmptyText, func(t *content.Tool) *string { return &t.Name }),
			opt("description", nullableText, func(t *content.Tool) *string { return &t.Description }),
			optObject("format", grammarType, func(t *content.Tool) **content.Grammar { return &t.Grammar }),
			unlessDefault(optional("defer_loading", nullableFlag), isFalse),
			unlessDefault(optional("async", nullableFlag), isFalse),
			optional("allowed_callers", nullableTexts)}
	})

	// grammarType is for the format of a custom tool; parser.grammar reads it.
	grammarType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			typeTag,
			optional("syntax", nullableEnum("lark", "regex")),
			optional("definition", nullableText)}
	})

	// namespaceType is kept in the Extra of the first tool of the namespace, without its tools.
	namespaceType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			typeTag,
			required("name", nonEmptyText),
			optional("description", nullableText),
			required("tools", &object.Value{Kinds: object.List, Elem: anyObject})}
	})
)

// hostedTools are the types of tools that the vendor runs or defines. A version may follow some.
var hostedTools = []string{
	"web_search", "web_search_preview", "file_search", "code_interpreter", "image_generation", "mcp", "computer", "computer_use_preview",
	"shell", "local_shell", "apply_patch", "tool_search", "programmatic_tool_calling",
}

// isHostedTool reports whether kind is the type of a tool of the vendor.
func isHostedTool(kind string) bool {
	return slices.Contains(hostedTools, kind) || kind == "web_search_2025_08_26" || kind == "web_search_preview_2025_03_11" // bounded by hostedTools
}
