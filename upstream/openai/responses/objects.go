package responses

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
)

// The objects of requests. The parser and the validator work by these tables: to add a member
// without a Go field, add it here.

func nullableUpTo(max int64) *object.Value {
	return &object.Value{Kinds: object.Text | object.Null, Max: max}
}

// Values that many members accept.
var (
	inputValue = &object.Value{Kinds: object.Text | object.List, Elem: object.AnyObject}

	// The content of a message and the output of a call are a text or a list.
	textOrParts         = &object.Value{Kinds: object.Text | object.List, Elem: object.AnyObject}
	nullableTextOrParts = &object.Value{Kinds: object.Text | object.List | object.Null, Elem: object.AnyObject}
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
		encryptedReasoning, "web_search_call.action.sources", "web_search_call.results", "file_search_call.results",
		"code_interpreter_call.outputs", "computer_call_output.output.image_url", "message.input_image.image_url",
		includeLogprobs,
	}
)

var requestType = object.New("", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	return []object.Field{
		object.Opt("model", object.NullableText, func(r *Request) *string { return &r.Model }),
		object.Opt("instructions", object.NullableText, func(r *Request) *string { return &r.Instructions }),
		object.OptList("input", inputValue, func(r *Request) *[]Item { return &r.Input }),
		object.OptList("tools", object.NullableObjects, func(r *Request) *[]content.Tool { return &r.Tools }),
		object.InPointer(object.Field{Name: "tool_choice", Value: &object.Value{Kinds: object.Text | object.Object | object.Null, Object: choiceType}},
			func(r *Request) **ToolChoice { return &r.ToolChoice }),
		object.Opt("parallel_tool_calls", object.NullableFlag, func(r *Request) **bool { return &r.ParallelToolCalls }),
		object.Opt("max_output_tokens", &object.Value{Kinds: object.Integer | object.Null, Min: minTokens}, func(r *Request) **int64 { return &r.MaxOutputTokens }),
		object.Opt("temperature", object.NullableNumber, func(r *Request) **float64 { return &r.Temperature }),
		object.Opt("top_p", object.NullableNumber, func(r *Request) **float64 { return &r.TopP }),
		object.Opt("presence_penalty", object.NullableNumber, func(r *Request) **float64 { return &r.PresencePenalty }),
		object.Opt("frequency_penalty", object.NullableNumber, func(r *Request) **float64 { return &r.FrequencyPenalty }),
		object.OptObject("reasoning", reasoningType, func(r *Request) **Reasoning { return &r.Reasoning }),
		object.OptObject("text", textConfigType, func(r *Request) **Text { return &r.Text }),
		object.Opt("include", &object.Value{Kinds: object.List | object.Null, Elem: object.OneOf(object.Text, includes...)},
			func(r *Request) *[]string { return &r.Include }),
		object.Opt("stream", object.NullableFlag, func(r *Request) *bool { return &r.Stream }),
		object.Opt("store", object.NullableFlag, func(r *Request) **bool { return &r.Store }),
		object.Opt("user", object.NullableText, func(r *Request) *string { return &r.User }),
		object.Opt("safety_identifier", object.NullableText, func(r *Request) *string { return &r.SafetyIdentifier }),
		object.Opt("service_tier", object.OneOf(object.Text|object.Null, serviceTiers...), func(r *Request) *string { return &r.ServiceTier }),

		object.OptKept("max_tool_calls", &object.Value{Kinds: object.Integer | object.Null, Min: 1}),
		object.OptKept("top_logprobs", &object.Value{Kinds: object.Integer | object.Null, Max: 20}),
		object.OptKept("metadata", &object.Value{Kinds: object.Object | object.Null, Members: nullableUpTo(512)}),
		object.OptKept("prompt_cache_key", object.NullableText),
		object.OptKept("prompt_cache_retention", object.OneOf(object.Text|object.Null, "in_memory", "in-memory", "24h")),
		object.OptKept("prompt_cache_options", object.NullableObject(object.Named("mode", "ttl", "prewarm", "comparison_response_id")...)),
		object.UnlessDefault(object.OptKept("truncation", object.OneOf(object.Text|object.Null, "auto", "disabled")), isDisabled),
		object.UnlessDefault(object.OptKept("stream_options", object.NullableObject(object.OptKept("include_obfuscation", object.NullableFlag))), hasNoObfuscation),
		object.UnlessDefault(object.OptKept("background", object.NullableFlag), isFalse),
		object.OptKept(memberPrevious, object.NullableText),
		object.OptKept(memberConversation, &object.Value{Kinds: object.Text | object.Object | object.Null, Object: object.Kept("", object.RequiredKept("id", object.AnyText))}),
		object.OptKept(memberPrompt, object.NullableObject(object.RequiredKept("id", object.AnyText), object.OptKept("version", object.NullableText), object.OptKept("variables", object.NullableAny))),
		object.OptKept("context_management", object.NullableObjects),
		object.OptKept("moderation", object.NullableAny),
		object.OptKept("access_programs", &object.Value{Kinds: object.List | object.Object | object.Text | object.Null}),
		object.OptKept("client_metadata", object.NullableAny),
		object.OptKept("image", object.NullableAny)}
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
			object.In(object.Field{Name: "type", Value: object.AnyText, IsTag: true}, func(c *ToolChoice) *string { return &c.Type }),
			object.Opt("name", object.NullableText, func(c *ToolChoice) *string { return &c.Name }),
			object.Opt("mode", object.OneOf(object.Text|object.Null, "auto", "required", "none"), func(c *ToolChoice) *string { return &c.Mode }),
			object.OptList("tools", object.NullableObjects, func(c *ToolChoice) *[]ToolRef { return &c.Tools }),
			object.OptKept("server_label", object.NullableText)}
	})

	toolRefType = object.New("", func(t *ToolRef) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.In(object.Field{Name: "type", Value: object.AnyText, IsTag: true}, func(t *ToolRef) *string { return &t.Type }),
			object.Opt("name", object.NullableText, func(t *ToolRef) *string { return &t.Name }),
			object.OptKept("server_label", object.NullableText)}
	})

	reasoningType = object.New("", func(c *Reasoning) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Opt("effort", object.OneOf(object.Text|object.Null, effortNames...), func(c *Reasoning) *string { return &c.Effort }),
			object.Opt("summary", object.OneOf(object.Text|object.Null, summaries...), func(c *Reasoning) *string { return &c.Summary }),
			object.Opt("generate_summary", object.OneOf(object.Text|object.Null, summaries...), func(c *Reasoning) *string { return &c.GenerateSummary }),
			object.OptKept("context", object.OneOf(object.Text|object.Null, "auto", "current_turn", "all_turns")),
			object.OptKept("mode", object.OneOf(object.Text|object.Null, "standard", "pro"))}
	})

	textConfigType = object.New("", func(c *Text) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.OptObject("format", textFormatType, func(c *Text) **TextFormat { return &c.Format }),
			object.Opt("verbosity", object.OneOf(object.Text|object.Null, verbosities...), func(c *Text) *string { return &c.Verbosity })}
	})

	textFormatType = object.New("", func(f *TextFormat) **content.Extra { return &f.Extra }, func() []object.Field {
		return []object.Field{
			object.TypeIn(func(f *TextFormat) *string { return &f.Type }, formatTypes...),
			object.Opt("name", object.NullableText, func(f *TextFormat) *string { return &f.Name }),
			object.Opt("description", object.NullableText, func(f *TextFormat) *string { return &f.Description }),
			object.Opt("schema", object.NullableSchema, func(f *TextFormat) *string { return &f.Schema }),
			object.Opt("strict", object.NullableFlag, func(f *TextFormat) **bool { return &f.Strict })}
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
		object.TagField,
		object.Opt("id", object.NullableText, func(c *callItem[P]) *string { return &c.item.ID }),
		object.Opt("status", object.NullableText, func(c *callItem[P]) *string { return &c.item.Status })}, more...)
}

// The items.
var (
	messageType = object.New("", func(i *Item) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("role", object.Closed(object.Text, messageRoles...), func(i *Item) *string { return &i.Role }),
			object.Must("content", nullableTextOrParts, func(i *Item) *[]content.Part { return &i.Parts }),
			object.Opt("id", object.NullableText, func(i *Item) *string { return &i.ID }),
			object.Opt("status", object.NullableText, func(i *Item) *string { return &i.Status }),
			object.Opt("phase", object.OneOf(object.Text|object.Null, phases...), func(i *Item) *string { return &i.Phase })}
	})

	referenceType = object.New("", func(i *Item) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{object.TagField, object.Must("id", object.AnyText, func(i *Item) *string { return &i.ID })}
	})

	additionalToolsType = object.New("", func(i *Item) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Opt("id", object.NullableText, func(i *Item) *string { return &i.ID }),
			object.Opt("status", object.NullableText, func(i *Item) *string { return &i.Status }),
			object.Opt("role", object.NullableText, func(i *Item) *string { return &i.Role }),
			object.Must("tools", object.NullableObjects, func(i *Item) *[]content.Tool { return &i.Tools })}
	})

	reasoningItemType = object.New("", func(c *callItem[*content.Thinking]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.Thinking](
			// parser.reasoning reads the texts.
			object.Field{Name: "summary", Value: object.NullableObjects, IsTag: true},
			object.Field{Name: "content", Value: object.NullableObjects, IsTag: true},
			object.Opt("encrypted_content", object.NullableText, func(c *callItem[*content.Thinking]) *content.Signature { return &c.part.Signature }))
	})

	functionCallType = object.New("", func(c *callItem[*content.ToolUse]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolUse](append(callFields(),
			object.Must("arguments", object.AnyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Input }))...)
	})

	customCallType = object.New("", func(c *callItem[*content.ToolUse]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolUse](append(callFields(),
			object.Must("input", object.AnyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Text }))...)
	})

	outputType = object.New("", func(c *callItem[*content.ToolResult]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolResult](
			object.Must("call_id", object.NonEmptyText, func(c *callItem[*content.ToolResult]) *string { return &c.part.ID }),
			object.Must("output", textOrParts, func(c *callItem[*content.ToolResult]) *[]content.Part { return &c.part.Parts }),
			object.Opt("name", object.NullableText, func(c *callItem[*content.ToolResult]) *string { return &c.part.Name }),
			object.OptKept("namespace", object.NullableText), callerField)
	})

	// The items of a search for tools that the client runs. parser.search reads the arguments and keeps
	// the output.
	searchCallType = object.New("", func(c *callItem[*content.ToolUse]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolUse](
			object.Must("call_id", object.NonEmptyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.ID }),
			object.Field{Name: "arguments", Value: object.NullableAny, IsTag: true},
			object.OptKept("execution", object.NullableText))
	})

	searchOutputType = object.New("", func(c *callItem[*content.ToolResult]) **content.Extra { return &c.part.Extra }, func() []object.Field {
		return itemMembers[*content.ToolResult](
			object.Must("call_id", object.NonEmptyText, func(c *callItem[*content.ToolResult]) *string { return &c.part.ID }),
			object.Must("tools", object.NullableObjects, func(c *callItem[*content.ToolResult]) *[]content.Tool { return &c.item.Tools }),
			object.Field{Name: "execution", Value: object.NullableText, IsTag: true})
	})

	// hostedItemType is for items that are kept as JSON text.
	hostedItemType = object.KeptLater("", func() []object.Field {
		return []object.Field{object.TagField, object.OptKept("id", object.NullableText), object.OptKept("status", object.NullableText)}
	})

	callerField = object.OptKept("caller", object.NullableAny)
)

func callFields() []object.Field {
	return []object.Field{
		object.Must("call_id", object.NonEmptyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.ID }),
		object.Must("name", object.NonEmptyText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Name }),
		object.Opt("namespace", object.NullableText, func(c *callItem[*content.ToolUse]) *string { return &c.part.Namespace }),
		object.UnlessDefault(object.OptKept("async", object.NullableFlag), isFalse), callerField,
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

// hostedItems are the items without a form of their own, by their types. What clients return for
// such calls, as "computer_call_output", is in the turn of the assistant, too: only the vendor can
// read both.
var hostedItems = map[string]bool{
	"web_search_call": true, "file_search_call": true, "code_interpreter_call": true, "image_generation_call": true,
	"computer_call": true, "computer_call_output": true, "mcp_list_tools": true, "mcp_call": true, "mcp_approval_request": true,
	"mcp_approval_response": true, "local_shell_call": true, "local_shell_call_output": true, "shell_call": true, "shell_call_output": true,
	"apply_patch_call": true, "apply_patch_call_output": true, typeSearchCall: true, typeSearchOutput: true,
	"program": true, "program_output": true, typeCompaction: true, typeTrigger: true, "configuration_update": true,
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
	case typeFunctionOutput, typeCustomOutput, typeTrigger:
		return userSide
	case typeSearchOutput:
		if len(i.Parts) == 1 && partfield.VendorOf(i.Parts[0]).Kind == "" { // a result of the client
			return userSide
		}
	case typeCompaction:
		if isOwnCompaction(i) {
			return userSide // it becomes a text
		}
	}
	return assistantSide
}

// The parts of messages and of outputs.
var (
	inputTextType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("text", object.AnyText, func(t *content.Text) *string { return &t.Text }),
			cacheMark(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	outputTextType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("text", object.AnyText, func(t *content.Text) *string { return &t.Text }),
			object.OptList("annotations", object.NullableObjects, func(t *content.Text) *[]content.Citation { return &t.Citations }),
			object.UnlessDefault(object.OptKept("logprobs", object.NullableObjects), isEmptyList),
			cacheMark(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	refusalType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{object.TagField, object.Must("refusal", object.AnyText, func(t *content.Text) *string { return &t.Text })}
	})

	imageType = object.New("", func(i *content.Image) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Opt("image_url", object.NullableText, func(i *content.Image) *content.Source { return &i.Source }),
			object.Opt("file_id", object.NullableText, func(i *content.Image) *content.Source { return &i.Source }),
			object.OptKept("detail", object.OneOf(object.Text|object.Null, details...)),
			cacheMark(func(i *content.Image) **content.Cache { return &i.Cache })}
	})

	fileType = object.New("", func(d *content.Document) **content.Extra { return &d.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Opt("filename", object.NullableText, func(d *content.Document) *string { return &d.Title }),
			object.Opt("file_data", object.NullableText, func(d *content.Document) *content.Source { return &d.Source }),
			object.Opt("file_url", object.NullableText, func(d *content.Document) *content.Source { return &d.Source }),
			object.Opt("file_id", object.NullableText, func(d *content.Document) *content.Source { return &d.Source }),
			object.OptKept("detail", object.OneOf(object.Text|object.Null, details...)),
			cacheMark(func(d *content.Document) **content.Cache { return &d.Cache })}
	})

	audioType = object.New("", func(m *content.Media) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("input_audio", &object.Value{Kinds: object.Object, Object: audioDataType}, func(m *content.Media) *content.Source { return &m.Source }),
			cacheMark(func(m *content.Media) **content.Cache { return &m.Cache })}
	})

	audioDataType = object.KeptLater("", func() []object.Field {
		return []object.Field{object.RequiredKept("data", object.NonEmptyText), object.RequiredKept("format", object.NonEmptyText)}
	})

	breakpointType = object.New("", func(c *content.Cache) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			{Name: "mode", Const: "explicit", Value: object.OneOf(object.Text, "explicit")},
			object.Opt("ttl", object.NullableText, func(c *content.Cache) *string { return &c.TTL })}
	})
)

func cacheMark[T any](at func(*T) **content.Cache) object.Field {
	return object.OptObject("prompt_cache_breakpoint", breakpointType, at)
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
			object.TagField,
			object.Must("name", object.NonEmptyText, func(t *content.Tool) *string { return &t.Name }),
			object.Opt("description", object.NullableText, func(t *content.Tool) *string { return &t.Description }),
			object.Opt("parameters", object.NullableSchema, func(t *content.Tool) *content.Schema { return &t.Input }),
			object.Opt("strict", object.NullableFlag, func(t *content.Tool) **bool { return &t.Strict }),
			object.Opt("output_schema", object.NullableSchema, func(t *content.Tool) *content.Schema { return &t.Output }),
			object.Opt("defer_loading", object.NullableFlag, func(t *content.Tool) *bool { return &t.Deferred }),
			object.UnlessDefault(object.OptKept("async", object.NullableFlag), isFalse),
			object.OptKept("allowed_callers", object.NullableTexts)}
	})

	customType = object.New("", func(t *content.Tool) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("name", object.NonEmptyText, func(t *content.Tool) *string { return &t.Name }),
			object.Opt("description", object.NullableText, func(t *content.Tool) *string { return &t.Description }),
			object.OptObject("format", grammarType, func(t *content.Tool) **content.Grammar { return &t.Grammar }),
			object.Opt("defer_loading", object.NullableFlag, func(t *content.Tool) *bool { return &t.Deferred }),
			object.UnlessDefault(object.OptKept("async", object.NullableFlag), isFalse),
			object.OptKept("allowed_callers", object.NullableTexts)}
	})

	// grammarType is for the format of a custom tool; parser.grammar reads it.
	grammarType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			object.TagField,
			object.OptKept("syntax", object.OneOf(object.Text|object.Null, "lark", "regex")),
			object.OptKept("definition", object.NullableText)}
	})

	// namespaceType is kept in the Extra of the first tool of the namespace, without its tools.
	namespaceType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			object.TagField,
			object.RequiredKept("name", object.NonEmptyText),
			object.OptKept("description", object.NullableText),
			object.RequiredKept("tools", &object.Value{Kinds: object.List, Elem: object.AnyObject})}
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
