package messages

import (
	"slices"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// The objects of requests. The parser, the encoder and the validator work by these tables: to
// add a member without a Go field, add it here. The blocks of responses are written by
// response.go.

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

// optUnion is optObject for an object whose "type" is part of the paths in it.
func optUnion[T, S any](name string, t *object.Type, at func(*T) **S) object.Field {
	f := optObject(name, t, at)
	f.Value.Tagged = true
	return f
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

// implied is unlessDefault for a member that all responses have, for which their encoder writes
// the default value.
func implied(f object.Field, isDefault func(jsonwire.Value) bool) object.Field {
	f.Implied = true
	return unlessDefault(f, isDefault)
}

// named returns optional members with arbitrary values.
func named(names ...string) []object.Field {
	list := make([]object.Field, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

// fields returns a new list of fields followed by more.
func fields(list []object.Field, more ...object.Field) []object.Field {
	return append(slices.Clip(list), more...)
}

func objectOf(kinds object.Kinds, list []object.Field) *object.Value {
	return &object.Value{Kinds: kinds, Object: object.Kept("", list...)}
}

func keptObject(list ...object.Field) *object.Value { return objectOf(object.Object, list) }

func nullableObject(list ...object.Field) *object.Value {
	return objectOf(object.Object|object.Null, list)
}

func list(elem *object.Value) *object.Value { return &object.Value{Kinds: object.List, Elem: elem} }

func enum(values ...string) *object.Value {
	return &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: values}}
}

func nullableEnum(values ...string) *object.Value {
	return &object.Value{Kinds: object.Text | object.Null, Enum: &object.Enum{Values: values}}
}

// constant accepts one text.
func constant(value string) *object.Value {
	return &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: []string{value}, Closed: true}}
}

// variant returns the type of objects that are kept as JSON text and whose "type" is tag.
func variant(tag string, list ...object.Field) object.Tag {
	return object.Tag{Name: tag, Type: object.Kept("", fields([]object.Field{typeTag}, list...)...)}
}

func union(kinds object.Kinds, tags ...object.Tag) *object.Value {
	return &object.Value{Kinds: kinds, Tags: tags}
}

// typeTag is the member "type" of an object whose type is known when it is read.
var typeTag = object.Field{Name: "type", IsTag: true}

// Values that many members accept.
var (
	anyText         = &object.Value{Kinds: object.Text}
	nullableText    = &object.Value{Kinds: object.Text | object.Null}
	nonEmptyText    = &object.Value{Kinds: object.Text, Min: 1}
	title           = &object.Value{Kinds: object.Text | object.Null, Min: 1}
	anyFlag         = &object.Value{Kinds: object.Flag}
	nullableFlag    = &object.Value{Kinds: object.Flag | object.Null}
	anyInteger      = &object.Value{Kinds: object.Integer}
	nullableInteger = &object.Value{Kinds: object.Integer | object.Null}
	positive        = &object.Value{Kinds: object.Integer, Min: 1}
	nullableCount   = &object.Value{Kinds: object.Integer | object.Null, Min: 1}
	nullableNumber  = &object.Value{Kinds: object.Number | object.Null}
	nullableTexts   = &object.Value{Kinds: object.List | object.Null, Elem: anyText}
	nullableList    = &object.Value{Kinds: object.List | object.Null}
	anyObject       = &object.Value{Kinds: object.Object}
	anyObjectOrNull = &object.Value{Kinds: object.Object | object.Null}
	schemaObject    = &object.Value{Kinds: object.Object, Schema: true}
	anyValue        = &object.Value{}

	// Lists of blocks, or a text. Paths of blocks have their tags, those of texts do not.
	taggedBlock        = &object.Value{Kinds: object.Object}
	blocks             = &object.Value{Kinds: object.Text | object.List, Elem: taggedBlock}
	nullableBlocks     = &object.Value{Kinds: object.Text | object.List | object.Null, Elem: taggedBlock}
	nullableTextBlocks = &object.Value{Kinds: object.Text | object.List | object.Null}
	textBlocks         = &object.Value{Kinds: object.List}

	imageSource    = &object.Value{Kinds: object.Object}
	documentSource = &object.Value{Kinds: object.Object}
	citationsList  = &object.Value{Kinds: object.List | object.Null}
)

// Values of settings that the format knows.
var (
	serviceTiers  = []string{"auto", "standard_only"}
	speeds        = []string{"standard", "fast"}
	effortNames   = []string{"low", "medium", "high", "xhigh", "max"}
	thinkingTypes = []string{"adaptive", "enabled", "disabled", "between_tools"}
	displays      = []string{"summarized", "omitted", "updates"}
	choiceTypes   = []string{"auto", "any", "tool", "none"}
	ttls          = []string{"5m", "1h"}
)

var requestType = object.New("", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	return []object.Field{
		must("model", anyText, func(r *Request) *string { return &r.Model }),
		opt("max_tokens", nullableInteger, func(r *Request) **int64 { return &r.MaxTokens }),
		optList("system", nullableTextBlocks, func(r *Request) *[]content.Part { return &r.System }),
		opt("stream", nullableFlag, func(r *Request) *bool { return &r.Stream }),
		optObject("metadata", metadataType, func(r *Request) **Metadata { return &r.Metadata }),
		opt("stop_sequences", nullableTexts, func(r *Request) *[]string { return &r.StopSequences }),
		opt("temperature", nullableNumber, func(r *Request) **float64 { return &r.Temperature }),
		opt("top_p", nullableNumber, func(r *Request) **float64 { return &r.TopP }),
		opt("top_k", nullableInteger, func(r *Request) **int64 { return &r.TopK }),
		optList("tools", nullableList, func(r *Request) *[]content.Tool { return &r.Tools }),
		optUnion("tool_choice", choiceType, func(r *Request) **ToolChoice { return &r.ToolChoice }),
		optUnion("thinking", thinkingType, func(r *Request) **Thinking { return &r.Thinking }),
		optObject("output_config", outputConfigType, func(r *Request) **OutputConfig { return &r.OutputConfig }),
		opt("service_tier", nullableEnum(serviceTiers...), func(r *Request) *string { return &r.ServiceTier }),
		opt("inference_geo", nullableText, func(r *Request) *string { return &r.InferenceGeo }),
		opt("speed", nullableEnum(speeds...), func(r *Request) *string { return &r.Speed }),
		optObject("cache_control", cacheType, func(r *Request) **content.Cache { return &r.CacheControl }),
		optObject("output_format", outputFormatType, func(r *Request) **OutputFormat { return &r.OutputFormat }),
		must("messages", list(nil), func(r *Request) *[]content.Turn { return &r.Messages }),

		optional("container", &object.Value{Kinds: object.Text | object.Object | object.Null, Object: containerType}),
		optional("diagnostics", nullableObject(
			optional("previous_message_id", &object.Value{Kinds: object.Text | object.Null, Max: 256}))),
		optional("mcp_servers", &object.Value{Kinds: object.List | object.Null, Elem: &object.Value{Kinds: object.Object, Object: mcpServerType}}),
		optional("context_management", &object.Value{Kinds: object.Object | object.Null, Object: managementType}),
		optional("compaction", nullableObject(required("type", constant("summarize")), optional("instructions", nullableText))),
		optional("thread", nullableObject(named("type", "previous_message_id")...)),
		optional("fallbacks", &object.Value{Kinds: object.Text | object.List | object.Null,
			Elem: keptObject(named("model", "max_tokens", "thinking", "output_config", "speed")...)}),
		optional("fallback_credit_token", &object.Value{Kinds: object.Text | object.Object | object.Null, Object: object.Kept("",
			required("token", nonEmptyText), optional("mode", nullableEnum("strict", "best_effort")))}),
		optional("billing_policy", nullableObject(named("type", "bill_to")...))}
})

// The settings of a request.
var (
	metadataType = object.New("", func(m *Metadata) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			opt("user_id", nullableText, func(m *Metadata) *string { return &m.UserID })}
	})

	choiceType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			typeIn(func(c *ToolChoice) *string { return &c.Type }, choiceTypes...),
			opt("name", nullableText, func(c *ToolChoice) *string { return &c.Name }),
			opt("disable_parallel_tool_use", nullableFlag, func(c *ToolChoice) *bool { return &c.DisableParallelToolUse })}
	})

	thinkingType = object.New("", func(t *Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeIn(func(t *Thinking) *string { return &t.Type }, thinkingTypes...),
			opt("budget_tokens", nullableInteger, func(t *Thinking) **int64 { return &t.BudgetTokens }),
			opt("display", nullableEnum(displays...), func(t *Thinking) *string { return &t.Display }),
			optional("block_binding", nullableObject(
				optional("prefix_mismatch_behavior", nullableEnum("error", "drop_block"))))}
	})

	outputConfigType = object.New("", func(c *OutputConfig) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			opt("effort", nullableEnum(effortNames...), func(c *OutputConfig) *string { return &c.Effort }),
			optObject("format", outputFormatType, func(c *OutputConfig) **OutputFormat { return &c.Format }),
			optional("task_budget", nullableObject(
				required("type", constant("tokens")),
				required("total", &object.Value{Kinds: object.Integer}),
				optional("remaining", nullableInteger)))}
	})

	outputFormatType = object.New("", func(f *OutputFormat) **content.Extra { return &f.Extra }, func() []object.Field {
		return []object.Field{
			typeIn(func(f *OutputFormat) *string { return &f.Type }, "json_schema"),
			must("schema", schemaObject, func(f *OutputFormat) *string { return &f.Schema })}
	})

	cacheType = object.New("", func(c *content.Cache) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Field{Name: "type", Const: "ephemeral", Value: constant("ephemeral"), Required: true},
			opt("ttl", nullableEnum(ttls...), func(c *content.Cache) *string { return &c.TTL })}
	})
)

// typeIn returns the member "type", with one of values, of an object whose type is read before
// its other members.
func typeIn[T any](at func(*T) *string, values ...string) object.Field {
	return object.In(object.Field{Name: "type", Value: enum(values...), IsTag: true}, at)
}

// cached returns the member cache_control.
func cached[T any](at func(*T) **content.Cache) object.Field {
	return optObject("cache_control", cacheType, at)
}

// input returns the member input of a tool call. An empty Go field means {}.
func input[T any](at func(*T) *string) object.Field {
	f := must("input", anyObject, at)
	f.Default = "{}"
	return f
}

// Members of a request without a Go field.
var (
	containerType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			optional("id", nullableText),
			optional("skills", &object.Value{Kinds: object.List | object.Null, Max: 20, Elem: keptObject(
				required("type", enum("anthropic", "custom")),
				required("skill_id", &object.Value{Kinds: object.Text, Min: 1, Max: 64}),
				optional("version", &object.Value{Kinds: object.Text | object.Null, Min: 1, Max: 64}))})}
	})

	mcpServerType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			required("type", constant("url")),
			required("name", nonEmptyText),
			required("url", nonEmptyText),
			optional("authorization_token", nullableText),
			optional("tool_configuration", nullableObject(optional("enabled", nullableFlag), optional("allowed_tools", nullableTexts)))}
	})

	managementType = object.KeptLater("", func() []object.Field {
		inputTokens := variant("input_tokens", required("value", anyInteger))
		toolUses := variant("tool_uses", required("value", anyInteger))
		edit := union(object.Object,
			variant("clear_tool_uses_20250919",
				optional("trigger", union(object.Object, inputTokens, toolUses)),
				optional("keep", union(object.Object, toolUses)),
				optional("clear_at_least", union(object.Object|object.Null, inputTokens)),
				optional("exclude_tools", nullableTexts),
				optional("clear_tool_inputs", &object.Value{Kinds: object.Flag | object.List | object.Null, Elem: anyText})),
			variant("clear_thinking_20251015",
				optional("keep", &object.Value{Kinds: object.Text | object.Object, Enum: &object.Enum{Values: []string{"all"}},
					Tags: []object.Tag{variant("thinking_turns", required("value", anyInteger)), variant("all")}})),
			variant("compact_20260112",
				optional("trigger", union(object.Object|object.Null,
					variant("input_tokens", required("value", &object.Value{Kinds: object.Integer, Min: 50000})))),
				optional("pause_after_compaction", anyFlag),
				optional("instructions", nullableText)))
		return []object.Field{optional("edits", list(edit))}
	})
)

// The messages and their blocks.
var (
	messageType = object.New("", func(t *content.Turn) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			must("role", anyText, func(t *content.Turn) *content.Role { return &t.Role }),
			must("content", blocks, func(t *content.Turn) *[]content.Part { return &t.Parts }),
			optional("clear_at", nullableEnum("never", nextUserMessage)),
			optional("output_config", nullableObject(optional("effort", nullableEnum(effortNames...))))}
	})

	textType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("text", anyText, func(t *content.Text) *string { return &t.Text }),
			optList("citations", citationsList, func(t *content.Text) *[]content.Citation { return &t.Citations }),
			cached(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	imageType = object.New("", func(i *content.Image) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("source", imageSource, func(i *content.Image) *content.Source { return &i.Source }),
			cached(func(i *content.Image) **content.Cache { return &i.Cache }),
			optional("transformations", nullableObject(optional("oversized_image", nullableEnum("downsize", "error"))))}
	})

	documentType = object.New("", func(d *content.Document) **content.Extra { return &d.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("source", documentSource, func(d *content.Document) *content.Source { return &d.Source }),
			opt("title", title, func(d *content.Document) *string { return &d.Title }),
			opt("context", nullableText, func(d *content.Document) *string { return &d.Context }),
			opt("citations", citationsSwitch, func(d *content.Document) *bool { return &d.Citations }),
			cached(func(d *content.Document) **content.Cache { return &d.Cache })}
	})

	searchResultType = object.New("", func(s *content.SearchResult) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("source", anyText, func(s *content.SearchResult) *string { return &s.Source }),
			must("title", anyText, func(s *content.SearchResult) *string { return &s.Title }),
			must("content", textBlocks, func(s *content.SearchResult) *[]content.Part { return &s.Parts }),
			opt("citations", citationsSwitch, func(s *content.SearchResult) *bool { return &s.Citations }),
			cached(func(s *content.SearchResult) **content.Cache { return &s.Cache })}
	})

	// citationsSwitch is {"enabled": …}, which a bool of the enclosing block holds. Its other
	// members become part of the Extra of that block.
	citationsSwitch = nullableObject(opt("enabled", nullableFlag, func(on *bool) *bool { return on }))

	thinkingBlockType = object.New("", func(t *content.Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("thinking", anyText, func(t *content.Thinking) *string { return &t.Text }),
			opt("signature", anyText, func(t *content.Thinking) *content.Signature { return &t.Signature })}
	})

	redactedType = object.New("", func(t *content.Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("data", anyText, func(t *content.Thinking) *content.Signature { return &t.Redacted })}
	})

	toolUseType = object.New("", func(t *content.ToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("id", anyText, func(t *content.ToolUse) *string { return &t.ID }),
			must("name", anyText, func(t *content.ToolUse) *string { return &t.Name }),
			input(func(t *content.ToolUse) *string { return &t.Input }),
			cached(func(t *content.ToolUse) **content.Cache { return &t.Cache }),
			callerField, toolsetField}
	})

	toolResultType = object.New("", func(t *content.ToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("tool_use_id", anyText, func(t *content.ToolResult) *string { return &t.ID }),
			optList("content", nullableBlocks, func(t *content.ToolResult) *[]content.Part { return &t.Parts }),
			opt("is_error", nullableFlag, func(t *content.ToolResult) *bool { return &t.Error }),
			cached(func(t *content.ToolResult) **content.Cache { return &t.Cache }),
			toolsetField}
	})

	serverToolUseType = serverToolUse(callerField)
	mcpToolUseType    = serverToolUse(required("server_name", nonEmptyText))

	serverToolResultType = serverToolResult(
		must("content", anyValue, func(t *content.ServerToolResult) *string { return &t.Content }), callerField)
	mcpToolResultType = serverToolResult(
		opt("content", anyValue, func(t *content.ServerToolResult) *string { return &t.Content }),
		unlessDefault(optional("is_error", anyFlag), isFalse))

	callerField = implied(optional("caller", union(object.Object|object.Null,
		variant("direct"),
		variant("code_execution_20250825", required("tool_id", nonEmptyText)),
		variant("code_execution_20260120", required("tool_id", nonEmptyText)))), isDirectCaller)
	toolsetField = optional("toolset_name", nullableText)
)

func serverToolUse(kept ...object.Field) *object.Type {
	return object.New("", func(t *content.ServerToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return fields([]object.Field{
			typeTag,
			must("id", anyText, func(t *content.ServerToolUse) *string { return &t.ID }),
			must("name", anyText, func(t *content.ServerToolUse) *string { return &t.Name }),
			input(func(t *content.ServerToolUse) *string { return &t.Input }),
			cached(func(t *content.ServerToolUse) **content.Cache { return &t.Cache }),
		}, kept...)
	})
}

func serverToolResult(of object.Field, kept ...object.Field) *object.Type {
	return object.New("", func(t *content.ServerToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return fields([]object.Field{
			typeTag,
			must("tool_use_id", anyText, func(t *content.ServerToolResult) *string { return &t.ID }),
			of,
			cached(func(t *content.ServerToolResult) **content.Cache { return &t.Cache }),
		}, kept...)
	})
}

// Default values that clients write into every block that they return.

func isFalse(x jsonwire.Value) bool { return x.Kind() == jsonwire.False }

func isDirectCaller(x jsonwire.Value) bool { return x.Len() == 1 && x.Get("type").Is("direct") }

func isDirectOnly(x jsonwire.Value) bool {
	for _, e := range x.Elems() {
		return x.Len() == 1 && e.Is("direct")
	}
	return false
}

func isEmptyList(x jsonwire.Value) bool { return x.Kind() == jsonwire.Array && x.Len() == 0 }

// The sources of images and documents.
var (
	base64Type = object.New("", func(s *content.Base64) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("media_type", anyText, func(s *content.Base64) *string { return &s.MediaType }),
			must("data", anyText, func(s *content.Base64) *string { return &s.Data })}
	})

	urlType = object.New("", func(s *content.URL) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("url", anyText, func(s *content.URL) *string { return &s.URL })}
	})

	fileType = object.New("", func(s *content.File) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("file_id", anyText, func(s *content.File) *string { return &s.ID })}
	})

	plainTextType = object.New("", func(s *content.PlainText) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			object.In(object.Field{Name: "media_type", Value: constant(plainType), Required: true, Default: plainType},
				func(s *content.PlainText) *string { return &s.MediaType }),
			must("data", anyText, func(s *content.PlainText) *string { return &s.Text })}
	})

	partsType = object.New("", func(s *content.Parts) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			typeTag,
			must("content", blocks, func(s *content.Parts) *[]content.Part { return &s.Parts })}
	})
)

// sourceTypes are the sources by their tags, those of images first.
var sourceTypes = []object.Tag{
	{Name: "base64", Type: base64Type}, {Name: "url", Type: urlType}, {Name: "file", Type: fileType},
	{Name: "text", Type: plainTextType}, {Name: "content", Type: partsType},
}

// imageSourceTypes is the number of sources that an image may have.
const imageSourceTypes = 3

// sourceTags lists the tags of sources, as the vendor's error texts do.
func sourceTags(image bool) string {
	if image {
		return "'base64', 'url', 'file'"
	}
	return "'base64', 'text', 'content', 'url', 'file'"
}

// A citationForm is one kind of citation.
type citationForm struct {
	tag  string
	kind content.CitationKind
	of   *object.Type

	// Names of members, or "".
	title, index, start, end, url string

	file bool // it may have a file_id
}

// citationForms returns the kinds of citations, which are never changed.
var citationForms = sync.OnceValue(func() []citationForm {
	return []citationForm{
		documentCitation("char_location", content.CiteChars, "start_char_index", "end_char_index"),
		documentCitation("page_location", content.CitePages, "start_page_number", "end_page_number"),
		documentCitation("content_block_location", content.CiteParts, "start_block_index", "end_block_index"),
		citation(citationForm{tag: "search_result_location", kind: content.CiteSearchResult, title: "title", url: "source",
			index: "search_result_index", start: "start_block_index", end: "end_block_index"}),
		citation(citationForm{tag: "web_search_result_location", kind: content.CiteWeb, title: "title", url: "url"},
			required("encrypted_index", anyText)),
	}
})

func documentCitation(tag string, kind content.CitationKind, start, end string) citationForm {
	return citation(citationForm{tag: tag, kind: kind, title: "document_title", index: "document_index", start: start, end: end, file: true},
		opt("file_id", nullableText, func(c *content.Citation) *string { return &c.FileID }))
}

// citation completes a form.
func citation(f citationForm, more ...object.Field) citationForm {
	list := []object.Field{
		typeTag,
		must("cited_text", anyText, func(c *content.Citation) *string { return &c.Text }),
		object.In(object.Field{Name: f.title, Value: nullableText, WriteNull: true},
			func(c *content.Citation) *string { return &c.Title }),
	}
	if f.url != "" {
		list = append(list, must(f.url, anyText, func(c *content.Citation) *string { return &c.URL }))
	}
	if f.index != "" {
		list = append(list,
			must(f.index, anyInteger, func(c *content.Citation) *int64 { return &c.Index }),
			must(f.start, anyInteger, func(c *content.Citation) *int64 { return &c.Start }),
			must(f.end, anyInteger, func(c *content.Citation) *int64 { return &c.End }))
	}
	f.of = object.New("", func(c *content.Citation) **content.Extra { return &c.Extra }, func() []object.Field { return fields(list, more...) })
	return f
}

// citationFormOf returns the form with this tag or this kind, or nil.
func citationFormOf(tag string, kind content.CitationKind) *citationForm {
	for i, forms := 0, citationForms(); i < len(forms); i++ {
		if f := &forms[i]; f.tag == tag || kind != "" && f.kind == kind {
			return f
		}
	}
	return nil
}

// Tools.

var customToolType = object.New("", func(t *content.Tool) **content.Extra { return &t.Extra }, func() []object.Field {
	return []object.Field{
		typeTag,
		must("name", anyText, func(t *content.Tool) *string { return &t.Name }),
		opt("description", nullableText, func(t *content.Tool) *string { return &t.Description }),
		must("input_schema", schemaObject, func(t *content.Tool) *content.Schema { return &t.Input }),
		opt("strict", nullableFlag, func(t *content.Tool) **bool { return &t.Strict }),
		cached(func(t *content.Tool) **content.Cache { return &t.Cache }),
		unlessDefault(optional("allowed_callers", callerNames), isDirectOnly),
		unlessDefault(optional("defer_loading", nullableFlag), isFalse),
		unlessDefault(optional("input_examples", nullableList), isEmptyList),
		optional("eager_input_streaming", nullableFlag)}
})

var (
	callerNames = &object.Value{Kinds: object.List | object.Null, Elem: enum(
		"direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")}

	// keptCache is a cache_control in an object that is kept as JSON text.
	keptCache = optional("cache_control", nullableObject(
		required("type", constant("ephemeral")), optional("ttl", nullableEnum(ttls...))))
)

const (
	oldEditor  = "str_replace_editor"
	newEditor  = "str_replace_based_edit_tool"
	regexTool  = "tool_search_tool_regex"
	bm25Tool   = "tool_search_tool_bm25"
	mcpToolset = "mcp_toolset"
)

// builtins returns the tools of the vendor by their types.
var builtins = sync.OnceValue(func() []object.Tag {
	directOnly := &object.Value{Kinds: object.List | object.Null, Elem: enum("direct")}
	commonFields := []object.Field{
		optional("allowed_callers", callerNames), keptCache,
		optional("defer_loading", nullableFlag), optional("strict", nullableFlag),
	}
	withExamples := fields(commonFields, optional("input_examples", nullableList))

	toggles := nullableObject(named("enabled", "defer_loading")...)
	toggleTable := &object.Value{Kinds: object.Object | object.Null, Members: toggles}
	toolsetFields := []object.Field{optional("configs", toggleTable), keptCache, optional("allowed_callers", directOnly)}
	displayFields := fields(withExamples,
		required("display_width_px", positive), required("display_height_px", positive),
		optional("display_number", nullableInteger))

	domainFields := fields(commonFields,
		optional("max_uses", nullableCount), optional("allowed_domains", nullableTexts), optional("blocked_domains", nullableTexts))
	searchFields := fields(domainFields, optional("user_location", nullableObject(
		required("type", constant("approximate")), optional("city", nullableText), optional("region", nullableText),
		optional("country", nullableText), optional("timezone", nullableText))))
	chosenTools := required("tools", list(keptObject(required("type", constant("tool_reference")), required("name", nonEmptyText))))
	resultFilter := union(object.Object|object.Null,
		variant("all"), variant("none"), variant("only", chosenTools), variant("except", chosenTools))
	fetchFields := fields(domainFields,
		optional("citations", citationsSwitch),
		optional("max_content_tokens", nullableCount),
		optional("url_sources", nullableObject(
			optional("client_tool_results", resultFilter),
			optional("server_tool_results", resultFilter),
			optional("user_input", union(object.Object|object.Null, variant("all"), variant("none"))))))
	responseInclusion := optional("response_inclusion", nullableEnum("full", "excluded"))
	useCache := optional("use_cache", nullableFlag)
	return []object.Tag{
		builtin("bash_20250124", "bash", withExamples),
		builtin("bash_20241022", "bash", withExamples),
		builtin("text_editor_20250124", oldEditor, withExamples),
		builtin("text_editor_20241022", oldEditor, withExamples),
		builtin("text_editor_20250429", newEditor, withExamples),
		builtin("text_editor_20250728", newEditor, withExamples, optional("max_characters", nullableCount)),
		builtin("memory_20250818", "memory", withExamples),
		builtin("computer_20241022", "computer", displayFields),
		builtin("computer_20250124", "computer", displayFields),
		builtin("computer_20251124", "computer", displayFields, optional("enable_zoom", nullableFlag)),
		builtin("computer_toolset_20260801", "", toolsetFields),
		builtin("browser_toolset_20260801", "", toolsetFields),
		builtin("web_search_20250305", "web_search", searchFields),
		builtin("web_search_20260209", "web_search", searchFields),
		builtin("web_search_20260318", "web_search", searchFields, responseInclusion),
		builtin("web_fetch_20250910", "web_fetch", fetchFields),
		builtin("web_fetch_20260209", "web_fetch", fetchFields),
		builtin("web_fetch_20260309", "web_fetch", fetchFields, useCache),
		builtin("web_fetch_20260318", "web_fetch", fetchFields, useCache, responseInclusion),
		builtin("code_execution_20250522", "code_execution", commonFields),
		builtin("code_execution_20250825", "code_execution", commonFields),
		builtin("code_execution_20260120", "code_execution", commonFields),
		builtin("code_execution_20260521", "code_execution", commonFields),
		builtin("tool_search_tool_regex_20251119", regexTool, commonFields),
		builtin(regexTool, regexTool, commonFields),
		builtin("tool_search_tool_bm25_20251119", bm25Tool, commonFields),
		builtin(bm25Tool, bm25Tool, commonFields),
		builtin("advisor_20260301", "advisor", commonFields,
			required("model", nonEmptyText), optional("max_tokens", nullableCount), optional("max_uses", nullableCount),
			optional("caching", anyObjectOrNull)),
		builtin(mcpToolset, "", []object.Field{
			required("mcp_server_name", nonEmptyText), optional("default_config", toggles), optional("configs", toggleTable),
			optional("tools", nullableList), keptCache}),
	}
})

// builtin returns a tool of the vendor. name is the only name that it may have, or "" if it
// has none.
func builtin(kind, name string, list []object.Field, more ...object.Field) object.Tag {
	list = fields(list, more...)
	if name != "" {
		list = append(list, required("name", constant(name)))
	}
	return variant(kind, list...)
}

// otherToolType has the names of all tools of the vendor. It is for tools that this version
// does not know.
var otherToolType = sync.OnceValue(func() *object.Type {
	var names []string
	for _, t := range builtins() {
		for i := range t.Type.Fields() {
			if name := t.Type.Fields()[i].Name; !slices.Contains(names, name) { // bounded by Field
				names = append(names, name)
			}
		}
	}
	list := named(names...)
	list[slices.Index(names, "name")].Value = anyText // bounded by Field
	t := object.Kept("", list...)
	t.Lenient = true
	return t
})

// typeOfTag returns the type with a tag, or nil.
func typeOfTag(tags []object.Tag, name string) *object.Type {
	for i := range tags {
		if tags[i].Name == name {
			return tags[i].Type
		}
	}
	return nil
}

const toolAddition = "tool_addition"

// places is a set of places where a block is allowed.
type places uint8

const (
	inUser places = 1 << iota
	inAssistant
	inSystem
	inResult
	inContent // in the content of a document
)

// A blockForm is one kind of block: its type, and where it is allowed.
type blockForm struct {
	tag   string
	where places
	of    *object.Type
}

// typedForms are the blocks that have a Go type.
var typedForms = [...]blockForm{
	{"text", inUser | inAssistant | inSystem | inResult | inContent, textType},
	{"image", inUser | inResult | inContent, imageType},
	{"document", inUser | inResult, documentType}, // in version 2023-06-01 also in assistant messages
	{"search_result", inUser | inResult, searchResultType},
	{"thinking", inAssistant, thinkingBlockType},
	{"redacted_thinking", inAssistant, redactedType},
	{"tool_use", inAssistant, toolUseType},
	{"tool_result", inUser, toolResultType},
	{"server_tool_use", inAssistant, serverToolUseType},
	{"web_search_tool_result", inAssistant, serverToolResultType},
	{"web_fetch_tool_result", inAssistant, serverToolResultType},
	{"code_execution_tool_result", inAssistant, serverToolResultType},
	{"bash_code_execution_tool_result", inAssistant, serverToolResultType},
	{"text_editor_code_execution_tool_result", inAssistant, serverToolResultType},
	{"tool_search_tool_result", inAssistant, serverToolResultType},
	{"mcp_tool_use", inAssistant, mcpToolUseType},
	{"mcp_tool_result", inAssistant, mcpToolResultType},
}

// blockForms returns the blocks of the format, in the order in which error texts list them:
// those of typedForms, and those that are kept as [content.Unknown].
var blockForms = sync.OnceValue(func() []blockForm {
	toolReferences := []object.Tag{
		variant("tool_reference", required("name", nonEmptyText)),
		variant("mcp_tool_reference", required("server_name", nonEmptyText), required("name", nonEmptyText)),
		variant("mcp_toolset_reference", required("server_name", nonEmptyText)),
	}
	toolAdditions := append(slices.Clip(toolReferences), variant("tool_definition", required("definition", anyObject)))
	modelOnly := keptObject(required("model", nonEmptyText))
	return append(typedForms[:len(typedForms):len(typedForms)],
		untyped("container_upload", inUser|inAssistant, required("file_id", nonEmptyText)),
		untyped("tool_reference", inResult, required("tool_name", nonEmptyText)),
		untyped("browser_state", inResult, named("tabs", "state_changes")...),
		untyped("mcp_tool_listing", inAssistant, required("mcp_server_name", nonEmptyText),
			required("tools", list(keptObject(required("name", nonEmptyText), optional("description", nullableText),
				required("input_schema", anyObject))))),
		untyped("compaction", inAssistant|inUser,
			optional("content", title), optional("encrypted_content", nullableText), optional("signature", nullableText),
			optional("tool_changes", &object.Value{Kinds: object.List | object.Object | object.Null})),
		untyped("fallback", inAssistant,
			required("from", modelOnly), required("to", modelOnly), optional("trigger", anyObjectOrNull)),
		untyped("advisor_tool_result", inAssistant, required("tool_use_id", nonEmptyText), required("content", anyObject)),
		untyped(toolAddition, inSystem, required("tool", union(object.Object, toolAdditions...))),
		untyped("tool_removal", inSystem, required("tool", union(object.Object, toolReferences...))))
})

// typeOf returns the "type" of the block that represents p, and its table, or "" if the
// format has no such block.
func typeOf(p content.Part) (kind string, t *object.Type) {
	switch p := p.(type) {
	case *content.Text:
		return "text", textType
	case *content.Image:
		return "image", imageType
	case *content.Document:
		return "document", documentType
	case *content.Thinking:
		if p.Redacted != (content.Signature{}) {
			return "redacted_thinking", redactedType
		}
		return "thinking", thinkingBlockType
	case *content.ToolUse:
		return "tool_use", toolUseType
	case *content.ToolResult:
		return "tool_result", toolResultType
	case *content.SearchResult:
		return "search_result", searchResultType
	case *content.ServerToolUse:
		if p.Format == Format {
			return p.Kind, serverToolUseTypeOf(p)
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			return p.Kind, serverToolResultTypeOf(p)
		}
	case *content.Media, *content.Unknown: // without a table; an Unknown was written before
	}
	return "", nil
}

func serverToolUseTypeOf(p *content.ServerToolUse) *object.Type {
	if p.Kind == "mcp_tool_use" {
		return mcpToolUseType
	}
	return serverToolUseType
}

func serverToolResultTypeOf(p *content.ServerToolResult) *object.Type {
	if p.Kind == "mcp_tool_result" {
		return mcpToolResultType
	}
	return serverToolResultType
}

// untyped returns the form of a block that has no Go type.
func untyped(tag string, where places, list ...object.Field) blockForm {
	return blockForm{tag, where, variant(tag, fields(list, keptCache)...).Type}
}

// blockFormOf returns the form with a tag, or nil.
func blockFormOf(tag string) *blockForm {
	for i := range typedForms {
		if typedForms[i].tag == tag {
			return &typedForms[i]
		}
	}
	forms := blockForms()
	for i := len(typedForms); i < len(forms); i++ {
		if forms[i].tag == tag {
			return &forms[i]
		}
	}
	return nil
}

// isServerToolResult reports whether tag is the result of a tool of the vendor.
func isServerToolResult(tag string) bool {
	f := blockFormOf(tag)
	return f != nil && (f.of == serverToolResultType || f.of == mcpToolResultType)
}

// tagsIn lists the tags of the blocks that are allowed in any of the places.
func tagsIn(where places) string {
	var tags []string
	for _, f := range blockForms() {
		if f.where&where != 0 {
			tags = append(tags, f.tag)
		}
	}
	return quoteTags(tags)
}
