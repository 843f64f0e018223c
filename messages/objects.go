package messages

import (
	"slices"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
)

// The objects of requests. The parser, the encoder and the validator work by these tables: to
// add a member without a Go field, add it here. The blocks of responses are written by
// response.go.

// optUnion is optObject for an object whose "type" is part of the paths in it.
func optUnion[T, S any](name string, t *object.Type, at func(*T) **S) object.Field {
	f := object.OptObject(name, t, at)
	f.Value.Tagged = true
	return f
}

// implied is unlessDefault for a member that all responses have, for which their encoder writes
// the default value.
func implied(f object.Field, isDefault func(jsonwire.Value) bool) object.Field {
	f.Implied = true
	return object.UnlessDefault(f, isDefault)
}

// fields returns a new list of fields followed by more.
func fields(list []object.Field, more ...object.Field) []object.Field {
	return append(slices.Clip(list), more...)
}

func list(elem *object.Value) *object.Value { return &object.Value{Kinds: object.List, Elem: elem} }

func union(kinds object.Kinds, tags ...object.Tag) *object.Value {
	return &object.Value{Kinds: kinds, Tags: tags}
}

// Values that many members accept.
var (
	title         = &object.Value{Kinds: object.Text | object.Null, Min: 1}
	anyFlag       = &object.Value{Kinds: object.Flag}
	anyInteger    = &object.Value{Kinds: object.Integer}
	positive      = &object.Value{Kinds: object.Integer, Min: 1}
	nullableCount = &object.Value{Kinds: object.Integer | object.Null, Min: 1}
	nullableList  = &object.Value{Kinds: object.List | object.Null}
	schemaObject  = &object.Value{Kinds: object.Object, Schema: true}
	anyValue      = &object.Value{}

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
		object.Must("model", object.AnyText, func(r *Request) *string { return &r.Model }),
		object.Opt("max_tokens", object.NullableInteger, func(r *Request) **int64 { return &r.MaxTokens }),
		object.OptList("system", nullableTextBlocks, func(r *Request) *[]content.Part { return &r.System }),
		object.Opt("stream", object.NullableFlag, func(r *Request) *bool { return &r.Stream }),
		object.OptObject("metadata", metadataType, func(r *Request) **Metadata { return &r.Metadata }),
		object.Opt("stop_sequences", object.NullableTexts, func(r *Request) *[]string { return &r.StopSequences }),
		object.Opt("temperature", object.NullableNumber, func(r *Request) **float64 { return &r.Temperature }),
		object.Opt("top_p", object.NullableNumber, func(r *Request) **float64 { return &r.TopP }),
		object.Opt("top_k", object.NullableInteger, func(r *Request) **int64 { return &r.TopK }),
		object.OptList("tools", nullableList, func(r *Request) *[]content.Tool { return &r.Tools }),
		optUnion("tool_choice", choiceType, func(r *Request) **ToolChoice { return &r.ToolChoice }),
		optUnion("thinking", thinkingType, func(r *Request) **Thinking { return &r.Thinking }),
		object.OptObject("output_config", outputConfigType, func(r *Request) **OutputConfig { return &r.OutputConfig }),
		object.Opt("service_tier", object.OneOf(object.Text|object.Null, serviceTiers...), func(r *Request) *string { return &r.ServiceTier }),
		object.Opt("inference_geo", object.NullableText, func(r *Request) *string { return &r.InferenceGeo }),
		object.Opt("speed", object.OneOf(object.Text|object.Null, speeds...), func(r *Request) *string { return &r.Speed }),
		object.OptObject("cache_control", cacheType, func(r *Request) **content.Cache { return &r.CacheControl }),
		object.OptObject("output_format", outputFormatType, func(r *Request) **OutputFormat { return &r.OutputFormat }),
		object.Must("messages", list(nil), func(r *Request) *[]content.Turn { return &r.Messages }),

		object.OptKept("container", &object.Value{Kinds: object.Text | object.Object | object.Null, Object: containerType}),
		object.OptKept("diagnostics", object.NullableObject(
			object.OptKept("previous_message_id", &object.Value{Kinds: object.Text | object.Null, Max: 256}))),
		object.OptKept("mcp_servers", &object.Value{Kinds: object.List | object.Null, Elem: &object.Value{Kinds: object.Object, Object: mcpServerType}}),
		object.OptKept("context_management", &object.Value{Kinds: object.Object | object.Null, Object: managementType}),
		object.OptKept("compaction", object.NullableObject(object.RequiredKept("type", object.Closed(object.Text, "summarize")), object.OptKept("instructions", object.NullableText))),
		object.OptKept("thread", object.NullableObject(object.Named("type", "previous_message_id")...)),
		object.OptKept("fallbacks", &object.Value{Kinds: object.Text | object.List | object.Null,
			Elem: object.KeptObject(object.Named("model", "max_tokens", "thinking", "output_config", "speed")...)}),
		object.OptKept("fallback_credit_token", &object.Value{Kinds: object.Text | object.Object | object.Null, Object: object.Kept("",
			object.RequiredKept("token", object.NonEmptyText), object.OptKept("mode", object.OneOf(object.Text|object.Null, "strict", "best_effort")))}),
		object.OptKept("billing_policy", object.NullableObject(object.Named("type", "bill_to")...))}
})

// The settings of a request.
var (
	metadataType = object.New("", func(m *Metadata) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			object.Opt("user_id", object.NullableText, func(m *Metadata) *string { return &m.UserID })}
	})

	choiceType = object.New("", func(c *ToolChoice) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.TypeIn(func(c *ToolChoice) *string { return &c.Type }, choiceTypes...),
			object.Opt("name", object.NullableText, func(c *ToolChoice) *string { return &c.Name }),
			object.Opt("disable_parallel_tool_use", object.NullableFlag, func(c *ToolChoice) *bool { return &c.DisableParallelToolUse })}
	})

	thinkingType = object.New("", func(t *Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TypeIn(func(t *Thinking) *string { return &t.Type }, thinkingTypes...),
			object.Opt("budget_tokens", object.NullableInteger, func(t *Thinking) **int64 { return &t.BudgetTokens }),
			object.Opt("display", object.OneOf(object.Text|object.Null, displays...), func(t *Thinking) *string { return &t.Display }),
			object.OptKept("block_binding", object.NullableObject(
				object.OptKept("prefix_mismatch_behavior", object.OneOf(object.Text|object.Null, "error", "drop_block"))))}
	})

	outputConfigType = object.New("", func(c *OutputConfig) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Opt("effort", object.OneOf(object.Text|object.Null, effortNames...), func(c *OutputConfig) *string { return &c.Effort }),
			object.OptObject("format", outputFormatType, func(c *OutputConfig) **OutputFormat { return &c.Format }),
			object.OptKept("task_budget", object.NullableObject(
				object.RequiredKept("type", object.Closed(object.Text, "tokens")),
				object.RequiredKept("total", &object.Value{Kinds: object.Integer}),
				object.OptKept("remaining", object.NullableInteger)))}
	})

	outputFormatType = object.New("", func(f *OutputFormat) **content.Extra { return &f.Extra }, func() []object.Field {
		return []object.Field{
			object.TypeIn(func(f *OutputFormat) *string { return &f.Type }, "json_schema"),
			object.Must("schema", schemaObject, func(f *OutputFormat) *string { return &f.Schema })}
	})

	cacheType = object.New("", func(c *content.Cache) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			object.Field{Name: "type", Const: "ephemeral", Value: object.Closed(object.Text, "ephemeral"), Required: true},
			object.Opt("ttl", object.OneOf(object.Text|object.Null, ttls...), func(c *content.Cache) *string { return &c.TTL })}
	})
)

// cached returns the member cache_control.
func cached[T any](at func(*T) **content.Cache) object.Field {
	return object.OptObject("cache_control", cacheType, at)
}

// input returns the member input of a tool call. An empty Go field means {}.
func input[T any](at func(*T) *string) object.Field {
	f := object.Must("input", object.AnyObject, at)
	f.Default = "{}"
	return f
}

// Members of a request without a Go field.
var (
	containerType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			object.OptKept("id", object.NullableText),
			object.OptKept("skills", &object.Value{Kinds: object.List | object.Null, Max: 20, Elem: object.KeptObject(
				object.RequiredKept("type", object.OneOf(object.Text, "anthropic", "custom")),
				object.RequiredKept("skill_id", &object.Value{Kinds: object.Text, Min: 1, Max: 64}),
				object.OptKept("version", &object.Value{Kinds: object.Text | object.Null, Min: 1, Max: 64}))})}
	})

	mcpServerType = object.KeptLater("", func() []object.Field {
		return []object.Field{
			object.RequiredKept("type", object.Closed(object.Text, "url")),
			object.RequiredKept("name", object.NonEmptyText),
			object.RequiredKept("url", object.NonEmptyText),
			object.OptKept("authorization_token", object.NullableText),
			object.OptKept("tool_configuration", object.NullableObject(object.OptKept("enabled", object.NullableFlag), object.OptKept("allowed_tools", object.NullableTexts)))}
	})

	managementType = object.KeptLater("", func() []object.Field {
		inputTokens := object.KeptTag("input_tokens", object.RequiredKept("value", anyInteger))
		toolUses := object.KeptTag("tool_uses", object.RequiredKept("value", anyInteger))
		edit := union(object.Object,
			object.KeptTag("clear_tool_uses_20250919",
				object.OptKept("trigger", union(object.Object, inputTokens, toolUses)),
				object.OptKept("keep", union(object.Object, toolUses)),
				object.OptKept("clear_at_least", union(object.Object|object.Null, inputTokens)),
				object.OptKept("exclude_tools", object.NullableTexts),
				object.OptKept("clear_tool_inputs", &object.Value{Kinds: object.Flag | object.List | object.Null, Elem: object.AnyText})),
			object.KeptTag("clear_thinking_20251015",
				object.OptKept("keep", &object.Value{Kinds: object.Text | object.Object, Enum: &object.Enum{Values: []string{"all"}},
					Tags: []object.Tag{object.KeptTag("thinking_turns", object.RequiredKept("value", anyInteger)), object.KeptTag("all")}})),
			object.KeptTag("compact_20260112",
				object.OptKept("trigger", union(object.Object|object.Null,
					object.KeptTag("input_tokens", object.RequiredKept("value", &object.Value{Kinds: object.Integer, Min: 50000})))),
				object.OptKept("pause_after_compaction", anyFlag),
				object.OptKept("instructions", object.NullableText)))
		return []object.Field{object.OptKept("edits", list(edit))}
	})
)

// The messages and their blocks.
var (
	messageType = object.New("", func(t *content.Turn) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.Must("role", object.AnyText, func(t *content.Turn) *content.Role { return &t.Role }),
			object.Must("content", blocks, func(t *content.Turn) *[]content.Part { return &t.Parts }),
			object.OptKept("clear_at", object.OneOf(object.Text|object.Null, "never", nextUserMessage)),
			object.OptKept("output_config", object.NullableObject(object.OptKept("effort", object.OneOf(object.Text|object.Null, effortNames...))))}
	})

	textType = object.New("", func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("text", object.AnyText, func(t *content.Text) *string { return &t.Text }),
			object.OptList("citations", citationsList, func(t *content.Text) *[]content.Citation { return &t.Citations }),
			cached(func(t *content.Text) **content.Cache { return &t.Cache })}
	})

	imageType = object.New("", func(i *content.Image) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("source", imageSource, func(i *content.Image) *content.Source { return &i.Source }),
			cached(func(i *content.Image) **content.Cache { return &i.Cache }),
			object.OptKept("transformations", object.NullableObject(object.OptKept("oversized_image", object.OneOf(object.Text|object.Null, "downsize", "error"))))}
	})

	documentType = object.New("", func(d *content.Document) **content.Extra { return &d.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("source", documentSource, func(d *content.Document) *content.Source { return &d.Source }),
			object.Opt("title", title, func(d *content.Document) *string { return &d.Title }),
			object.Opt("context", object.NullableText, func(d *content.Document) *string { return &d.Context }),
			object.Opt("citations", citationsSwitch, func(d *content.Document) *bool { return &d.Citations }),
			cached(func(d *content.Document) **content.Cache { return &d.Cache })}
	})

	searchResultType = object.New("", func(s *content.SearchResult) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("source", object.AnyText, func(s *content.SearchResult) *string { return &s.Source }),
			object.Must("title", object.AnyText, func(s *content.SearchResult) *string { return &s.Title }),
			object.Must("content", textBlocks, func(s *content.SearchResult) *[]content.Part { return &s.Parts }),
			object.Opt("citations", citationsSwitch, func(s *content.SearchResult) *bool { return &s.Citations }),
			cached(func(s *content.SearchResult) **content.Cache { return &s.Cache })}
	})

	// citationsSwitch is {"enabled": …}, which a bool of the enclosing block holds. Its other
	// members become part of the Extra of that block.
	citationsSwitch = object.NullableObject(object.Opt("enabled", object.NullableFlag, func(on *bool) *bool { return on }))

	thinkingBlockType = object.New("", func(t *content.Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("thinking", object.AnyText, func(t *content.Thinking) *string { return &t.Text }),
			object.Opt("signature", object.AnyText, func(t *content.Thinking) *content.Signature { return &t.Signature })}
	})

	redactedType = object.New("", func(t *content.Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("data", object.AnyText, func(t *content.Thinking) *content.Signature { return &t.Redacted })}
	})

	toolUseType = object.New("", func(t *content.ToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("id", object.AnyText, func(t *content.ToolUse) *string { return &t.ID }),
			object.Must("name", object.AnyText, func(t *content.ToolUse) *string { return &t.Name }),
			input(func(t *content.ToolUse) *string { return &t.Input }),
			cached(func(t *content.ToolUse) **content.Cache { return &t.Cache }),
			callerField(), toolsetField()}
	})

	toolResultType = object.New("", func(t *content.ToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("tool_use_id", object.AnyText, func(t *content.ToolResult) *string { return &t.ID }),
			object.OptList("content", nullableBlocks, func(t *content.ToolResult) *[]content.Part { return &t.Parts }),
			object.Opt("is_error", object.NullableFlag, func(t *content.ToolResult) *bool { return &t.Error }),
			cached(func(t *content.ToolResult) **content.Cache { return &t.Cache }),
			toolsetField()}
	})

	serverToolUseType = serverToolUse(callerField)
	mcpToolUseType    = serverToolUse(func() object.Field { return object.RequiredKept("server_name", object.NonEmptyText) })

	serverToolResultType = object.New("", func(t *content.ServerToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("tool_use_id", object.AnyText, func(t *content.ServerToolResult) *string { return &t.ID }),
			object.Must("content", anyValue, func(t *content.ServerToolResult) *string { return &t.Content }),
			cached(func(t *content.ServerToolResult) **content.Cache { return &t.Cache }),
			callerField()}
	})

	mcpToolResultType = object.New("", func(t *content.ServerToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("tool_use_id", object.AnyText, func(t *content.ServerToolResult) *string { return &t.ID }),
			object.Opt("content", anyValue, func(t *content.ServerToolResult) *string { return &t.Content }),
			cached(func(t *content.ServerToolResult) **content.Cache { return &t.Cache }),
			object.UnlessDefault(object.OptKept("is_error", anyFlag), isFalse)}
	})
)

func callerField() object.Field {
	return implied(object.OptKept("caller", union(object.Object|object.Null,
		object.KeptTag("direct"),
		object.KeptTag("code_execution_20250825", object.RequiredKept("tool_id", object.NonEmptyText)),
		object.KeptTag("code_execution_20260120", object.RequiredKept("tool_id", object.NonEmptyText)))), isDirectCaller)
}

func toolsetField() object.Field { return object.OptKept("toolset_name", object.NullableText) }

func serverToolUse(last func() object.Field) *object.Type {
	return object.New("", func(t *content.ServerToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("id", object.AnyText, func(t *content.ServerToolUse) *string { return &t.ID }),
			object.Must("name", object.AnyText, func(t *content.ServerToolUse) *string { return &t.Name }),
			input(func(t *content.ServerToolUse) *string { return &t.Input }),
			cached(func(t *content.ServerToolUse) **content.Cache { return &t.Cache }),
			last()}
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
			object.TagField,
			object.Must("media_type", object.AnyText, func(s *content.Base64) *string { return &s.MediaType }),
			object.Must("data", object.AnyText, func(s *content.Base64) *string { return &s.Data })}
	})

	urlType = object.New("", func(s *content.URL) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("url", object.AnyText, func(s *content.URL) *string { return &s.URL })}
	})

	fileType = object.New("", func(s *content.File) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("file_id", object.AnyText, func(s *content.File) *string { return &s.ID })}
	})

	plainTextType = object.New("", func(s *content.PlainText) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.In(object.Field{Name: "media_type", Value: object.Closed(object.Text, plainType), Required: true, Default: plainType},
				func(s *content.PlainText) *string { return &s.MediaType }),
			object.Must("data", object.AnyText, func(s *content.PlainText) *string { return &s.Text })}
	})

	partsType = object.New("", func(s *content.Parts) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			object.Must("content", blocks, func(s *content.Parts) *[]content.Part { return &s.Parts })}
	})
)

// sourceTypes are the sources by their tags, and sourceKinds their kinds.
var (
	sourceTypes = []object.Tag{
		{Name: "base64", Type: base64Type}, {Name: "url", Type: urlType}, {Name: "file", Type: fileType},
		{Name: "text", Type: plainTextType}, {Name: "content", Type: partsType},
	}
	sourceKinds = [...]partfield.Kind{partfield.Base64, partfield.URL, partfield.File, partfield.PlainText, partfield.Parts}
)

// A fileForm describes the files of one kind of block, which are the values of its member source.
type fileForm struct {
	value  *object.Value // of the member
	block  string        // the tag of the block
	tags   []string      // of the sources, in the order of the vendor's error texts
	types  []string      // media types of their data
	strict int           // the number of those that are accepted as base64 with Strict
	more   bool          // media types of the host are accepted, too
}

var (
	imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

	imageFiles    = &fileForm{imageSource, "image", []string{"base64", "url", "file"}, imageTypes, len(imageTypes), false}
	documentFiles = &fileForm{documentSource, "document", []string{"base64", "text", "content", "url", "file"}, []string{pdfType, plainType}, 1, true}

	fileForms = []*fileForm{imageFiles, documentFiles}
)

// fileFormOf returns the form of the files of a block, or nil.
func fileFormOf(block *object.Type) *fileForm {
	if f := block.Find("source"); f != nil {
		return fileFormIn(f.Value)
	}
	return nil
}

// fileFormIn returns the form of the files that are the values of a member, or nil.
func fileFormIn(v *object.Value) *fileForm {
	for _, f := range fileForms {
		if f.value == v {
			return f
		}
	}
	return nil
}

// accepted returns the media types that base64 sources may have, or loaded files.
func (f *fileForm) accepted(strict bool, more []string) []string {
	types := f.types
	if strict {
		types = types[:f.strict]
	}
	if f.more && len(more) > 0 {
		return slices.Concat(types, more)
	}
	return types
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
			object.RequiredKept("encrypted_index", object.AnyText)),
	}
})

func documentCitation(tag string, kind content.CitationKind, start, end string) citationForm {
	return citation(citationForm{tag: tag, kind: kind, title: "document_title", index: "document_index", start: start, end: end, file: true},
		object.Opt("file_id", object.NullableText, func(c *content.Citation) *string { return &c.FileID }))
}

// citation completes a form.
func citation(f citationForm, more ...object.Field) citationForm {
	list := []object.Field{
		object.TagField,
		object.Must("cited_text", object.AnyText, func(c *content.Citation) *string { return &c.Text }),
		object.In(object.Field{Name: f.title, Value: object.NullableText, WriteNull: true},
			func(c *content.Citation) *string { return &c.Title }),
	}
	if f.url != "" {
		list = append(list, object.Must(f.url, object.AnyText, func(c *content.Citation) *string { return &c.URL }))
	}
	if f.index != "" {
		list = append(list,
			object.Must(f.index, anyInteger, func(c *content.Citation) *int64 { return &c.Index }),
			object.Must(f.start, anyInteger, func(c *content.Citation) *int64 { return &c.Start }),
			object.Must(f.end, anyInteger, func(c *content.Citation) *int64 { return &c.End }))
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
		object.TagField,
		object.Must("name", object.AnyText, func(t *content.Tool) *string { return &t.Name }),
		object.Opt("description", object.NullableText, func(t *content.Tool) *string { return &t.Description }),
		object.Must("input_schema", schemaObject, func(t *content.Tool) *content.Schema { return &t.Input }),
		object.Opt("strict", object.NullableFlag, func(t *content.Tool) **bool { return &t.Strict }),
		cached(func(t *content.Tool) **content.Cache { return &t.Cache }),
		object.UnlessDefault(object.OptKept("allowed_callers", callerNames), isDirectOnly),
		object.Opt("defer_loading", object.NullableFlag, func(t *content.Tool) *bool { return &t.Deferred }),
		object.UnlessDefault(object.OptKept("input_examples", nullableList), isEmptyList),
		object.OptKept("eager_input_streaming", object.NullableFlag)}
})

var (
	callerNames = &object.Value{Kinds: object.List | object.Null, Elem: &object.Value{Kinds: object.Text, Enum: &object.Enum{Values: callers}}}
	callers     = []string{"direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"}
)

// keptCache returns a cache_control in an object that is kept as JSON text.
func keptCache() object.Field {
	return object.OptKept("cache_control", object.NullableObject(
		object.RequiredKept("type", object.Closed(object.Text, "ephemeral")), object.OptKept("ttl", object.OneOf(object.Text|object.Null, ttls...))))
}

const (
	oldEditor  = "str_replace_editor"
	newEditor  = "str_replace_based_edit_tool"
	regexTool  = "tool_search_tool_regex"
	bm25Tool   = "tool_search_tool_bm25"
	mcpToolset = "mcp_toolset"
)

// builtins returns the tools of the vendor by their types.
var builtins = sync.OnceValue(func() []object.Tag {
	directOnly := &object.Value{Kinds: object.List | object.Null, Elem: object.OneOf(object.Text, "direct")}
	commonFields := []object.Field{
		object.OptKept("allowed_callers", callerNames), keptCache(),
		object.OptKept("defer_loading", object.NullableFlag), object.OptKept("strict", object.NullableFlag),
	}
	withExamples := fields(commonFields, object.OptKept("input_examples", nullableList))

	toggles := object.NullableObject(object.Named("enabled", "defer_loading")...)
	toggleTable := &object.Value{Kinds: object.Object | object.Null, Members: toggles}
	toolsetFields := []object.Field{object.OptKept("configs", toggleTable), keptCache(), object.OptKept("allowed_callers", directOnly)}
	displayFields := fields(withExamples,
		object.RequiredKept("display_width_px", positive), object.RequiredKept("display_height_px", positive),
		object.OptKept("display_number", object.NullableInteger))

	domainFields := fields(commonFields,
		object.OptKept("max_uses", nullableCount), object.OptKept("allowed_domains", object.NullableTexts), object.OptKept("blocked_domains", object.NullableTexts))
	searchFields := fields(domainFields, object.OptKept("user_location", object.NullableObject(
		object.RequiredKept("type", object.Closed(object.Text, "approximate")), object.OptKept("city", object.NullableText), object.OptKept("region", object.NullableText),
		object.OptKept("country", object.NullableText), object.OptKept("timezone", object.NullableText))))
	chosenTools := object.RequiredKept("tools", list(object.KeptObject(object.RequiredKept("type", object.Closed(object.Text, "tool_reference")), object.RequiredKept("name", object.NonEmptyText))))
	resultFilter := union(object.Object|object.Null,
		object.KeptTag("all"), object.KeptTag("none"), object.KeptTag("only", chosenTools), object.KeptTag("except", chosenTools))
	fetchFields := fields(domainFields,
		object.OptKept("citations", citationsSwitch),
		object.OptKept("max_content_tokens", nullableCount),
		object.OptKept("url_sources", object.NullableObject(
			object.OptKept("client_tool_results", resultFilter),
			object.OptKept("server_tool_results", resultFilter),
			object.OptKept("user_input", union(object.Object|object.Null, object.KeptTag("all"), object.KeptTag("none"))))))
	responseInclusion := object.OptKept("response_inclusion", object.OneOf(object.Text|object.Null, "full", "excluded"))
	useCache := object.OptKept("use_cache", object.NullableFlag)
	return []object.Tag{
		builtin("bash_20250124", "bash", withExamples),
		builtin("bash_20241022", "bash", withExamples),
		builtin("text_editor_20250124", oldEditor, withExamples),
		builtin("text_editor_20241022", oldEditor, withExamples),
		builtin("text_editor_20250429", newEditor, withExamples),
		builtin("text_editor_20250728", newEditor, withExamples, object.OptKept("max_characters", nullableCount)),
		builtin("memory_20250818", "memory", withExamples),
		builtin("computer_20241022", "computer", displayFields),
		builtin("computer_20250124", "computer", displayFields),
		builtin("computer_20251124", "computer", displayFields, object.OptKept("enable_zoom", object.NullableFlag)),
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
			object.RequiredKept("model", object.NonEmptyText), object.OptKept("max_tokens", nullableCount), object.OptKept("max_uses", nullableCount),
			object.OptKept("caching", object.NullableAny)),
		builtin(mcpToolset, "", []object.Field{
			object.RequiredKept("mcp_server_name", object.NonEmptyText), object.OptKept("default_config", toggles), object.OptKept("configs", toggleTable),
			object.OptKept("tools", nullableList), keptCache()}),
	}
})

// builtin returns a tool of the vendor. name is the only name that it may have, or "" if it
// has none.
func builtin(kind, name string, list []object.Field, more ...object.Field) object.Tag {
	list = fields(list, more...)
	if name != "" {
		list = append(list, object.RequiredKept("name", object.Closed(object.Text, name)))
	}
	return object.KeptTag(kind, list...)
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
	list := object.Named(names...)
	list[slices.Index(names, "name")].Value = object.AnyText // bounded by Field
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
	inUser      places = 1 << lower.InUser
	inAssistant places = 1 << lower.InAssistant
	inSystem    places = 1 << lower.InSystem
	inResult    places = 1 << lower.InResult
	inContent   places = 1 << lower.InDocument
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
		object.KeptTag("tool_reference", object.RequiredKept("name", object.NonEmptyText)),
		object.KeptTag("mcp_tool_reference", object.RequiredKept("server_name", object.NonEmptyText), object.RequiredKept("name", object.NonEmptyText)),
		object.KeptTag("mcp_toolset_reference", object.RequiredKept("server_name", object.NonEmptyText)),
	}
	toolAdditions := append(slices.Clip(toolReferences), object.KeptTag("tool_definition", object.RequiredKept("definition", object.AnyObject)))
	modelOnly := object.KeptObject(object.RequiredKept("model", object.NonEmptyText))
	return append(typedForms[:len(typedForms):len(typedForms)],
		untyped("container_upload", inUser|inAssistant, object.RequiredKept("file_id", object.NonEmptyText)),
		untyped("tool_reference", inResult, object.RequiredKept("tool_name", object.NonEmptyText)),
		untyped("browser_state", inResult, object.Named("tabs", "state_changes")...),
		untyped("mcp_tool_listing", inAssistant, object.RequiredKept("mcp_server_name", object.NonEmptyText),
			object.RequiredKept("tools", list(object.KeptObject(object.RequiredKept("name", object.NonEmptyText), object.OptKept("description", object.NullableText),
				object.RequiredKept("input_schema", object.AnyObject))))),
		untyped("compaction", inAssistant|inUser,
			object.OptKept("content", title), object.OptKept("encrypted_content", object.NullableText), object.OptKept("signature", object.NullableText),
			object.OptKept("tool_changes", &object.Value{Kinds: object.List | object.Object | object.Null})),
		untyped("fallback", inAssistant,
			object.RequiredKept("from", modelOnly), object.RequiredKept("to", modelOnly), object.OptKept("trigger", object.NullableAny)),
		untyped("advisor_tool_result", inAssistant, object.RequiredKept("tool_use_id", object.NonEmptyText), object.RequiredKept("content", object.AnyObject)),
		untyped(toolAddition, inSystem, object.RequiredKept("tool", union(object.Object, toolAdditions...))),
		untyped("tool_removal", inSystem, object.RequiredKept("tool", union(object.Object, toolReferences...))))
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
			if p.Kind == "mcp_tool_use" {
				return p.Kind, mcpToolUseType
			}
			return p.Kind, serverToolUseType
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			if p.Kind == "mcp_tool_result" {
				return p.Kind, mcpToolResultType
			}
			return p.Kind, serverToolResultType
		}
	case *content.Media, *content.Unknown: // without a table; an Unknown was written before
	}
	return "", nil
}

// untyped returns the form of a block that has no Go type.
func untyped(tag string, where places, list ...object.Field) blockForm {
	return blockForm{tag, where, object.KeptTag(tag, fields(list, keptCache())...).Type}
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
