package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/openaiformat"
)

// The objects of requests. The parser and the validator work by these tables: to add a member
// without a Go field, add it here.

// Values that many members accept.
var (
	textOrObject = &object.Value{Kinds: object.Text | object.Object | object.Null}
	parts        = &object.Value{Kinds: object.Text | object.List | object.Null, Elem: object.AnyObject}
)

// Values of settings that the format knows.
var (
	roles        = []string{"system", "assistant", "user", "function", "tool", "developer"}
	serviceTiers = []string{"auto", "default", "flex", "scale", "priority", "fast"}
	efforts      = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	verbosities  = []string{"low", "medium", "high"}
	details      = []string{"low", "high", "auto", "original"}
	formatTypes  = []string{"json_object", "json_schema", "text"}
	choiceNames  = []string{"none", "auto", "required"}
	choiceTypes  = []string{"function", "custom", "allowed_tools"}
	toolTypes    = []string{"function", "custom"}
	syntaxes     = []string{"lark", "regex"}
	modalities   = []string{"text", "audio"}
	contextSizes = []string{"low", "medium", "high"}
	moderates    = []string{"score", "block"}
)

// stops is the member stop, which is a string or a list.
type stops []string

var requestType = object.New("", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	policy := object.NullableObject(object.OptKept("mode", object.OneOf(object.Text|object.Null, moderates...)))
	return []object.Field{
		object.Opt("model", object.NullableText, func(r *Request) *string { return &r.Model }),
		object.Must("messages", &object.Value{Kinds: object.List, Elem: object.AnyObject}, func(r *Request) *[]content.Turn { return &r.Messages }),
		object.Opt("max_completion_tokens", object.NullableInteger, func(r *Request) **int64 { return &r.MaxCompletionTokens }),
		object.Opt("max_tokens", object.NullableInteger, func(r *Request) **int64 { return &r.MaxTokens }),
		object.Opt("temperature", object.NullableNumber, func(r *Request) **float64 { return &r.Temperature }),
		object.Opt("top_p", object.NullableNumber, func(r *Request) **float64 { return &r.TopP }),
		object.Opt("presence_penalty", object.NullableNumber, func(r *Request) **float64 { return &r.PresencePenalty }),
		object.Opt("frequency_penalty", object.NullableNumber, func(r *Request) **float64 { return &r.FrequencyPenalty }),
		object.Opt("top_k", object.NullableInteger, func(r *Request) **int64 { return &r.TopK }),
		object.Opt("seed", object.NullableInteger, func(r *Request) **int64 { return &r.Seed }),
		object.Opt("n", object.NullableInteger, func(r *Request) **int64 { return &r.N }),
		object.Opt("stop", &object.Value{Kinds: object.Text | object.List | object.Null, Elem: object.AnyText},
			func(r *Request) *stops { return (*stops)(&r.Stop) }),
		object.OptList("tools", object.NullableObjects, func(r *Request) *[]content.Tool { return &r.Tools }),
		object.OptList("functions", object.NullableObjects, func(r *Request) *[]content.Tool { return &r.Functions }),
		object.Opt("tool_choice", textOrObject, func(r *Request) **ToolChoice { return &r.ToolChoice }),
		object.Opt("function_call", textOrObject, func(r *Request) **ToolChoice { return &r.FunctionCall }),
		object.Opt("parallel_tool_calls", object.NullableFlag, func(r *Request) **bool { return &r.ParallelToolCalls }),
		object.OptObject("response_format", formatType, func(r *Request) **ResponseFormat { return &r.ResponseFormat }),
		object.Opt("modalities", &object.Value{Kinds: object.List | object.Null, Elem: object.OneOf(object.Text, modalities...)}, func(r *Request) *[]string { return &r.Modalities }),
		object.Opt("reasoning_effort", object.OneOf(object.Text|object.Null, efforts...), func(r *Request) *string { return &r.ReasoningEffort }),
		object.Opt("verbosity", object.OneOf(object.Text|object.Null, verbosities...), func(r *Request) *string { return &r.Verbosity }),
		object.Opt("safety_identifier", object.NullableText, func(r *Request) *string { return &r.SafetyIdentifier }),
		object.Opt("user", object.NullableText, func(r *Request) *string { return &r.User }),
		object.Opt("service_tier", object.OneOf(object.Text|object.Null, serviceTiers...), func(r *Request) *string { return &r.ServiceTier }),
		object.Opt("stream", object.NullableFlag, func(r *Request) *bool { return &r.Stream }),
		object.OptObject("stream_options", streamOptionsType, func(r *Request) **StreamOptions { return &r.StreamOptions }),

		object.OptKept("logprobs", object.NullableFlag),
		object.OptKept("top_logprobs", &object.Value{Kinds: object.Integer | object.Null, Max: 20}),
		object.OptKept("logit_bias", &object.Value{Kinds: object.Object | object.Null, Members: &object.Value{Kinds: object.Number, Min: -100, Max: 100}}),
		object.OptKept("metadata", &object.Value{Kinds: object.Object | object.Null, Members: &object.Value{Kinds: object.Text, Max: 512}}),
		object.OptKept("store", object.NullableFlag),
		object.OptKept("prediction", object.NullableObject(
			object.RequiredKept("type", object.Closed(object.Text, "content")),
			object.RequiredKept("content", &object.Value{Kinds: object.Text | object.List, Elem: object.KeptObject(
				object.RequiredKept("type", object.Closed(object.Text, "text")), object.RequiredKept("text", object.AnyText))}))),
		object.OptKept("audio", object.NullableObject(
			object.RequiredKept("format", object.OneOf(object.Text, "wav", "aac", "mp3", "flac", "opus", "pcm16")),
			object.RequiredKept("voice", &object.Value{Kinds: object.Text | object.Object}))),
		object.OptKept("web_search_options", object.NullableObject(
			object.OptKept("search_context_size", object.OneOf(object.Text|object.Null, contextSizes...)),
			object.OptKept("user_location", object.NullableObject(
				object.RequiredKept("type", object.Closed(object.Text, "approximate")),
				object.RequiredKept("approximate", object.KeptObject(object.OptKept("city", object.NullableText),
					object.OptKept("country", object.NullableText), object.OptKept("region", object.NullableText), object.OptKept("timezone", object.NullableText))))))),
		object.OptKept("prompt_cache_key", object.NullableText),
		object.OptKept("prompt_cache_options", object.NullableObject(
			object.OptKept("mode", object.OneOf(object.Text|object.Null, "implicit", "explicit")), object.OptKept("ttl", object.NullableText))),
		object.OptKept("prompt_cache_retention", object.NullableText),
		object.OptKept("moderation", object.NullableObject(
			object.OptKept("model", object.NullableText),
			object.OptKept("policy", object.NullableObject(object.OptKept("input", policy), object.OptKept("output", policy)))))}
})

// The settings of a request.
var (
	formatType = object.New("", func(f *ResponseFormat) **content.Extra { return &f.Extra }, func() []object.Field {
		return []object.Field{
			object.In(object.Field{Name: "type", Value: object.Closed(object.Text, formatTypes...), IsTag: true},
				func(f *ResponseFormat) *string { return &f.Type }),
			object.OptObject("json_schema", jsonSchemaType, func(f *ResponseFormat) **JSONSchema { return &f.Schema })}
	})

	jsonSchemaType = object.New("", func(s *JSONSchema) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			object.Opt("name", object.AnyText, func(s *JSONSchema) *string { return &s.Name }),
			object.Opt("description", object.NullableText, func(s *JSONSchema) *string { return &s.Description }),
			object.Opt("schema", object.NullableSchema, func(s *JSONSchema) *schemaText { return (*schemaText)(&s.Schema) }),
			object.Opt("strict", object.NullableFlag, func(s *JSONSchema) **bool { return &s.Strict })}
	})

	streamOptionsType = object.New("", func(o *StreamOptions) **content.Extra { return &o.Extra }, func() []object.Field {
		return []object.Field{
			object.Opt("include_usage", object.NullableFlag, func(o *StreamOptions) *bool { return &o.IncludeUsage }),
			object.Opt("include_obfuscation", object.NullableFlag, func(o *StreamOptions) **bool { return &o.IncludeObfuscation })}
	})

	// choiceType is the object form of a tool_choice.
	choiceType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.In(object.Field{Name: "type", Value: object.AnyText}, func(c *ToolChoice) *string { return &c.Type }),
			object.In(object.Field{Name: "function", Value: object.AnyObject}, func(c *ToolChoice) *nameRef { return (*nameRef)(c) }),
			object.In(object.Field{Name: "custom", Value: object.AnyObject}, func(c *ToolChoice) *nameRef { return (*nameRef)(c) }),
			object.In(object.Field{Name: "allowed_tools", Value: object.AnyObject}, func(c *ToolChoice) *allowedTools { return (*allowedTools)(c) })}
	})

	// functionCallType is the object form of the deprecated function_call.
	functionCallType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{nameMember}
	})

	nameMember = object.Must("name", object.NonEmptyText, func(c *ToolChoice) *chosenName { return (*chosenName)(c) })

	nameRefType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{nameMember}
	})

	allowedToolsType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Must("mode", object.AnyText, func(c *ToolChoice) *string { return &c.Mode }),
			object.Must("tools", &object.Value{Kinds: object.List, Elem: object.AnyObject}, func(c *ToolChoice) *chosenNames { return (*chosenNames)(&c.Names) })}
	})
)

// Types of pointers that select how a member is read.
type (
	schemaText   string
	chosenNames  []string   // of references to tools
	nameRef      ToolChoice // {"name": …}
	chosenName   ToolChoice // a text that becomes the only name
	allowedTools ToolChoice // {"mode": …, "tools": […]}
)

// A message is one element of messages while it is read.
type message struct {
	role       string
	name       string
	toolCallID string
	refusal    string
	content    contentKind

	reasoningContent string
	reasoning        string

	calls toolCalls
	call  functionCall

	extra *content.Extra
}

// toolCalls is whether a message has the member tool_calls with a list.
type toolCalls bool

// functionCall is whether a message has the member function_call with an object.
type functionCall bool

var messageType = object.New("", func(m *message) **content.Extra { return &m.extra }, func() []object.Field {
	return []object.Field{
		object.Must("role", object.NonEmptyText, func(m *message) *string { return &m.role }),
		object.Opt("content", parts, func(m *message) *contentKind { return &m.content }),
		object.Opt("name", object.NullableText, func(m *message) *string { return &m.name }),
		object.Opt("tool_call_id", object.NullableText, func(m *message) *string { return &m.toolCallID }),
		object.Opt("tool_calls", object.NullableObjects, func(m *message) *toolCalls { return &m.calls }),
		object.Opt("function_call", object.NullableAny, func(m *message) *functionCall { return &m.call }),
		object.Opt("refusal", object.NullableText, func(m *message) *string { return &m.refusal }),
		object.Opt("reasoning_content", object.NullableText, func(m *message) *string { return &m.reasoningContent }),
		object.Opt("reasoning", object.NullableText, func(m *message) *string { return &m.reasoning }),
		object.OptKept("audio", object.NullableObject(object.RequiredKept("id", object.AnyText))),
		object.Field{Name: "annotations", Value: &object.Value{Kinds: object.List | object.Null}, IsDefault: isEmptyList}}
})

// isEmptyList reports whether x is null or an empty list, which clients return as they got it.
func isEmptyList(x jsonwire.Value) bool {
	return x.Kind() == jsonwire.Null || x.Kind() == jsonwire.Array && x.Len() == 0
}

// The parts of a content.
var (
	textType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("text", object.AnyText, func(t *content.Text) *string { return &t.Text }),
			marked(func(t *content.Text) **content.Cache { return &t.Cache }),
			controlled(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	refusalType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("refusal", object.AnyText, func(t *content.Text) *string { return &t.Text }),
			marked(func(t *content.Text) **content.Cache { return &t.Cache }),
			controlled(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	imageType = object.New("", func(i *content.Image) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("image_url", &object.Value{Kinds: object.Text | object.Object}, func(i *content.Image) *content.Source { return &i.Source }),
			marked(func(i *content.Image) **content.Cache { return &i.Cache }),
			controlled(func(i *content.Image) **content.Cache { return &i.Cache })}
	})

	fileType = object.New("", func(d *content.Document) **content.Extra { return &d.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("file", object.AnyObject, func(d *content.Document) *content.Source { return &d.Source }),
			marked(func(d *content.Document) **content.Cache { return &d.Cache }),
			controlled(func(d *content.Document) **content.Cache { return &d.Cache })}
	})

	audioType = object.New("", func(m *content.Media) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("input_audio", object.AnyObject, func(m *content.Media) *content.Source { return &m.Source }),
			marked(func(m *content.Media) **content.Cache { return &m.Cache }),
			controlled(func(m *content.Media) **content.Cache { return &m.Cache })}
	})

	cacheType = object.New("", func(c *content.Cache) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Field{Name: "mode", Const: "explicit", Value: object.Closed(object.Text, "explicit"), Required: true},
			object.Opt("ttl", object.OneOf(object.Text|object.Null, "30m", "12h"), func(c *content.Cache) *string { return &c.TTL })}
	})

	controlType = object.New("", func(c *content.Cache) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Field{Name: "type", Const: "ephemeral", Value: object.OneOf(object.Text, "ephemeral")},
			object.Opt("ttl", object.NullableText, func(c *content.Cache) *string { return &c.TTL })}
	})
)

// marked returns the member prompt_cache_breakpoint.
func marked[T any](at func(*T) **content.Cache) object.Field {
	return object.OptObject(breakpoint, cacheType, at)
}

// controlled returns the member cache_control, which clients of OpenRouter and other servers send for Claude.
func controlled[T any](at func(*T) **content.Cache) object.Field {
	return object.OptObject(openaiformat.CacheControl, controlType, at)
}

const breakpoint = "prompt_cache_breakpoint"

// A fileMembers is the object in a part with a file while it is read.
type fileMembers struct {
	url, detail              string // of image_url
	fileData, fileID, name   string // of file
	audioData, audioEncoding string // of input_audio
	extra                    *content.Extra
}

var (
	imageURLType = fileObject(
		object.Must("url", object.AnyText, func(f *fileMembers) *string { return &f.url }),
		object.Opt("detail", object.OneOf(object.Text|object.Null, details...), func(f *fileMembers) *string { return &f.detail }))
	fileObjectType = fileObject(
		object.Opt("file_data", object.NullableText, func(f *fileMembers) *string { return &f.fileData }),
		object.Opt("file_id", object.NullableText, func(f *fileMembers) *string { return &f.fileID }),
		object.Opt("filename", object.NullableText, func(f *fileMembers) *string { return &f.name }))
	inputAudioType = fileObject(
		object.Must("data", object.AnyText, func(f *fileMembers) *string { return &f.audioData }),
		object.Must("format", object.OneOf(object.Text, openaiformat.AudioNames...), func(f *fileMembers) *string { return &f.audioEncoding }))
)

func fileObject(list ...object.Field) *object.Type {
	return object.New("", func(f *fileMembers) **content.Extra { return &f.extra }, func() []object.Field { return list })
}

// The calls of tools.
var (
	toolCallType = object.New("", func(c *toolCall) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.In(object.Field{Name: "type", Value: object.NullableText}, func(c *toolCall) *string { return &c.kind }),
			object.Must("id", object.NonEmptyText, func(c *toolCall) *string { return &c.ID }),
			object.Opt("function", object.AnyObject, func(c *toolCall) *calledFunction { return (*calledFunction)(c) }),
			object.Opt("custom", object.AnyObject, func(c *toolCall) *calledCustom { return (*calledCustom)(c) }),
			object.Field{Name: "index", IsDefault: func(jsonwire.Value) bool { return true }}} // left over from a stream
	})

	calledFunctionType = object.New("", func(c *toolCall) **content.Extra { return &c.inner }, func() []object.Field {
		return []object.Field{
			object.Must("name", object.AnyText, func(c *toolCall) *string { return &c.Name }),
			object.Must("arguments", object.NullableText, func(c *toolCall) *string { return &c.Input })}
	})

	calledCustomType = object.New("", func(c *toolCall) **content.Extra { return &c.inner }, func() []object.Field {
		return []object.Field{
			object.Must("name", object.AnyText, func(c *toolCall) *string { return &c.Name }),
			object.Must("input", object.NullableText, func(c *toolCall) *string { return &c.Text })}
	})
)

// A toolCall is an element of tool_calls while it is read.
type toolCall struct {
	content.ToolUse
	kind  string
	inner *content.Extra // of the object in it
}

type (
	calledFunction toolCall
	calledCustom   toolCall
)

// The tools.
var (
	toolType = object.New("", func(t *tool) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Opt("function", object.AnyObject, func(t *tool) *function { return (*function)(t) }),
			object.Opt("custom", object.AnyObject, func(t *tool) *custom { return (*custom)(t) }),
			controlled(func(t *tool) **content.Cache { return &t.Cache })}
	})

	functionType = object.New("", func(t *tool) **content.Extra { return &t.inner }, func() []object.Field {
		return []object.Field{
			object.Must("name", object.AnyText, func(t *tool) *string { return &t.Name }),
			object.Opt("description", object.NullableText, func(t *tool) *string { return &t.Description }),
			object.Opt("parameters", object.NullableSchema, func(t *tool) *schemaText { return (*schemaText)(&t.Input.JSON) }),
			object.Opt("strict", object.NullableFlag, func(t *tool) **bool { return &t.Strict })}
	})

	customType = object.New("", func(t *tool) **content.Extra { return &t.inner }, func() []object.Field {
		return []object.Field{
			object.Must("name", object.AnyText, func(t *tool) *string { return &t.Name }),
			object.Opt("description", object.NullableText, func(t *tool) *string { return &t.Description }),
			object.Opt("format", object.NullableAny, func(t *tool) *inputFormat { return (*inputFormat)(t) })}
	})

	// inputFormatType is the format of the input of a custom tool. Its tag is read before.
	inputFormatType = object.New("", func(t *tool) **content.Extra { return &t.ofFormat }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Opt("grammar", object.AnyObject, func(t *tool) *grammar { return (*grammar)(t) })}
	})

	grammarType = object.New("", func(t *tool) **content.Extra { return &t.ofGrammar }, func() []object.Field {
		return []object.Field{
			object.Must("syntax", object.OneOf(object.Text, syntaxes...), func(t *tool) *string { return &t.grammar.Syntax }),
			object.Must("definition", object.AnyText, func(t *tool) *string { return &t.grammar.Definition })}
	})
)

// A tool is an element of tools while it is read.
type tool struct {
	content.Tool
	grammar                    content.Grammar
	inner, ofFormat, ofGrammar *content.Extra // of the objects in it
}

type (
	function    tool
	custom      tool
	inputFormat tool
	grammar     tool
)
