package messages

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

const (
	maxToolName       = 128
	namePattern       = "^[a-zA-Z0-9_-]{1,128}$"
	maxDeferred       = 10_000
	maxStrict         = 20
	cacheName         = "cache_control"
	textDeferredCache = "cache_control may not be set on a tool with defer_loading: true"
)

// tools validates the tool definitions.
func (v *validator) tools() {
	tools := v.r.Tools
	if len(tools) == 0 {
		return
	}
	names := make(map[string]struct{}, len(tools))
	deferred, strict := 0, 0
	v.path.Push("tools")
	for i := range tools {
		t := &tools[i]
		if t.Strict {
			strict++
		}
		v.path.PushIndex(i)
		if v.tool(t) {
			deferred++
		}
		v.path.Pop()
		if t.Name == "" {
			continue
		}
		if _, duplicate := names[t.Name]; duplicate {
			v.violationOnce(onceToolNames, content.CodeConflict, "tools", "Tool names must be unique.")
		}
		names[t.Name] = struct{}{}
	}
	v.path.Truncate(0)
	switch {
	case deferred == len(tools):
		v.violationAt(content.CodeConflict, "tools", "At least one tool must not have defer_loading: true")
	case deferred > maxDeferred:
		v.violationAt(content.CodeLimit, "tools", "At most 10000 tools may have defer_loading: true")
	}
	if strict > maxStrict {
		v.violationAt(content.CodeLimit, "tools", "At most 20 tools may be strict")
	}
}

// tool validates one definition and returns whether it is deferred.
func (v *validator) tool(t *content.Tool) (deferred bool) {
	switch {
	case t.Kind == "" || t.Kind == "custom":
		if !v.constructed && t.Name == "" && t.Input.JSON == "" && t.Kind == "" && t.Extra == nil {
			return false // the parser has reported it
		}
		v.path.Push("custom")
		deferred = v.customTool(t)
	case t.Format != "" && t.Format != Format:
		v.violation(content.CodeUnsupported, "'"+codec.Clip(t.Kind)+"' is not a tool of this format")
		return false
	default:
		v.path.Push(t.Kind)
		deferred = v.builtinTool(t)
	}
	v.path.Pop()
	return deferred
}

func (v *validator) customTool(t *content.Tool) (deferred bool) {
	if v.require(t.Name, "name") && !isName(t.Name, maxToolName) {
		v.violation(content.CodeValue, textPattern(namePattern), "name")
	}
	if t.Input.JSON == "" {
		v.violation(content.CodeMissing, textRequired, "input_schema")
	} else if v.object(t.Input.JSON, "input_schema") {
		v.schemaType(t.Input.JSON)
		if t.Strict {
			v.closedSchema(t.Input.JSON, "input_schema")
		}
	}
	if t.Extra != nil {
		deferred = strings.Contains(t.Extra.JSON, "defer_loading") && v.isTrue(t.Extra.JSON, "defer_loading")
		v.extra(t.Extra, customFields)
	}
	if deferred && t.Cache != nil {
		v.violation(content.CodeConflict, textDeferredCache, cacheName)
	}
	v.breakpoint(t.Cache)
	return deferred
}

// schemaType reports a schema that does not describe an object.
func (v *validator) schemaType(schema string) {
	switch kind, found := rawMember(schema, "type"); {
	case !found:
		v.violation(content.CodeMissing, textRequired, "input_schema", "type")
	case kind != `"object"`:
		v.violation(content.CodeValue, "Input should be 'object'", "input_schema", "type")
	}
}

// closedSchema reports a schema in which an object accepts additional properties, if
// Strict is set. The vendor requires closed schemas for constrained responses.
func (v *validator) closedSchema(schema, name string) {
	if !v.opts.Strict {
		return
	}
	doc := v.open(schema, name)
	if doc == nil {
		return
	}
	defer doc.Close()
	if !isClosed(doc.Root(), 0) {
		v.violation(content.CodeValue, "For 'object' type, 'additionalProperties' must be explicitly set to false", name)
	}
}

// isClosed reports whether all objects in a schema refuse additional properties. It
// stops at a depth of 100.
func isClosed(x jsonwire.Value, depth int) bool {
	if depth > 100 {
		return true
	}
	switch x.Kind() {
	case jsonwire.Object:
		if x.Get("type").Is("object") {
			if open, is := x.Get("additionalProperties").Bool(); open || !is {
				return false
			}
		}
		for name, m := range x.Members() {
			if name != "enum" && name != "const" && name != "default" && name != "examples" && !isClosed(m, depth+1) {
				return false
			}
		}
	case jsonwire.Array:
		for _, e := range x.Elems() {
			if !isClosed(e, depth+1) {
				return false
			}
		}
	}
	return true
}

// isTrue reports whether the member name of an object is true.
func (v *validator) isTrue(object, name string) bool {
	doc, err := jsonwire.Parse(object, codec.UnlimitedJSON)
	if err != nil {
		return false
	}
	defer doc.Close()
	on, _ := doc.Root().Get(name).Bool()
	return on
}

// builtinTool validates a tool of the vendor and returns whether it is deferred.
func (v *validator) builtinTool(t *content.Tool) (deferred bool) {
	if t.Raw == "" {
		v.violation(content.CodeMissing, "Raw must hold the definition of the tool")
		return false
	}
	doc := v.open(t.Raw)
	if doc == nil {
		return false
	}
	defer doc.Close()
	x := doc.Root()
	if x.Kind() != jsonwire.Object {
		v.violation(content.CodeType, textObject)
		return false
	}
	b := builtinOf(t.Kind)
	switch {
	case b != nil:
		v.checkFields(x, b.allFields(), true)
	case v.opts.Strict:
		v.path.Pop()
		v.violation(content.CodeUnknown, quoteTag(t.Kind, quoteTags(builtinTags())))
		v.path.Push(t.Kind)
	}
	var allowed, blocked bool
	var mark jsonwire.Value
	for name, m := range x.Members() {
		switch name {
		case "allowed_domains":
			allowed = m.Kind() != jsonwire.Null
		case "blocked_domains":
			blocked = m.Kind() != jsonwire.Null
		case "defer_loading":
			deferred, _ = m.Bool()
		case cacheName:
			mark = m
		}
	}
	if allowed && blocked {
		v.violation(content.CodeConflict, "allowed_domains and blocked_domains may not both be given")
	}
	if mark.Kind() == jsonwire.Object {
		if deferred {
			v.violation(content.CodeConflict, textDeferredCache, cacheName)
		}
		v.rawBreakpoint(mark)
	}
	return deferred
}

// allFields returns the fields of a tool, including its name.
func (b *builtin) allFields() []field {
	if b.name == "" {
		return b.fields
	}
	return fieldsOf(b.fields, required("name", constant(b.name)))
}

func builtinTags() []string {
	tags := []string{"custom"}
	for i := range builtins {
		tags = append(tags, builtins[i].kind)
	}
	return tags
}

// hasTools reports whether the model may have tools. MCP servers, a continued thread
// and system messages can define tools, too.
func (v *validator) hasTools() bool {
	return len(v.r.Tools) > 0 || v.r.MCPServers != "" || v.addsTool || v.continues() || v.r.hasViolation("tools")
}

// defines reports whether a tool with this name may be defined.
func (v *validator) defines(name string) bool {
	if len(v.r.Tools) == 0 || v.r.MCPServers != "" || v.addsTool || v.continues() {
		return true // the names are unknown, or there are no tools at all
	}
	for i := range v.r.Tools {
		if t := &v.r.Tools[i]; t.Name == name || t.Kind == mcpToolset {
			return true
		}
	}
	return false
}

// continues is [Request.continues].
func (v *validator) continues() bool { return v.r.continues() }

// continues reports whether a thread stores the beginning of the conversation.
func (r *Request) continues() bool { return strings.Contains(r.Thread, "previous_message_id") }

// The tools of the vendor and the blocks that have no Go type. The tables below are
// never changed.

// A builtin is a tool of the vendor.
type builtin struct {
	kind   string
	name   string // the only valid name; empty if the tool has no name
	fields []field
}

var (
	callerNames = &shape{kinds: listKind | nullKind, elem: enum(
		"direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")}
	directOnly = &shape{kinds: listKind | nullKind, elem: enum("direct")}

	commonFields = []field{
		optional("allowed_callers", callerNames),
		optional("cache_control", cacheShape),
		optional("defer_loading", nullableFlag),
		optional("strict", nullableFlag),
	}
	withExamples = fieldsOf(commonFields, optional("input_examples", nullableList))

	// customFields are the members of custom tools that have no Go field.
	customFields = []field{
		optional("allowed_callers", callerNames),
		optional("defer_loading", nullableFlag),
		optional("input_examples", nullableList),
		optional("eager_input_streaming", nullableFlag),
	}

	toggles       = nullableObject(namedFields("enabled", "defer_loading")...)
	toggleTable   = &shape{kinds: objectKind | nullKind, values: toggles}
	toolsetFields = []field{
		optional("configs", toggleTable), optional("cache_control", cacheShape), optional("allowed_callers", directOnly),
	}
	displayFields = fieldsOf(withExamples,
		required("display_width_px", positive), required("display_height_px", positive),
		optional("display_number", &shape{kinds: integerKind | nullKind}))

	domainFields = fieldsOf(commonFields,
		optional("max_uses", nullableCount), optional("allowed_domains", nullableTexts), optional("blocked_domains", nullableTexts))
	searchFields = fieldsOf(domainFields, optional("user_location", nullableObject(
		required("type", constant("approximate")), optional("city", nullableText), optional("region", nullableText),
		optional("country", nullableText), optional("timezone", nullableText))))
	allTools     = variant{"all", []field{}}
	noTools      = variant{"none", []field{}}
	chosenTools  = []field{required("tools", list(object(required("type", constant("tool_reference")), required("name", nonEmptyText))))}
	resultFilter = &shape{kinds: objectKind | nullKind,
		tags: []variant{allTools, noTools, {"only", chosenTools}, {"except", chosenTools}}}
	fetchFields = fieldsOf(domainFields,
		optional("citations", nullableObject(optional("enabled", nullableFlag))),
		optional("max_content_tokens", nullableCount),
		optional("url_sources", nullableObject(
			optional("client_tool_results", resultFilter),
			optional("server_tool_results", resultFilter),
			optional("user_input", &shape{kinds: objectKind | nullKind, tags: []variant{allTools, noTools}}))))
	responseInclusion = optional("response_inclusion", nullableEnum("full", "excluded"))
	useCache          = optional("use_cache", nullableFlag)
)

// fieldsOf returns a new slice of fields followed by more.
func fieldsOf(fields []field, more ...field) []field { return append(slices.Clip(fields), more...) }

const (
	oldEditor = "str_replace_editor"
	newEditor = "str_replace_based_edit_tool"
	regexTool = "tool_search_tool_regex"
	bm25Tool  = "tool_search_tool_bm25"
)

var builtins = []builtin{
	{"bash_20250124", "bash", withExamples},
	{"bash_20241022", "bash", withExamples},
	{"text_editor_20250124", oldEditor, withExamples},
	{"text_editor_20241022", oldEditor, withExamples},
	{"text_editor_20250429", newEditor, withExamples},
	{"text_editor_20250728", newEditor, fieldsOf(withExamples, optional("max_characters", nullableCount))},
	{"memory_20250818", "memory", withExamples},
	{"computer_20241022", "computer", displayFields},
	{"computer_20250124", "computer", displayFields},
	{"computer_20251124", "computer", fieldsOf(displayFields, optional("enable_zoom", nullableFlag))},
	{"computer_toolset_20260801", "", toolsetFields},
	{"browser_toolset_20260801", "", toolsetFields},
	{"web_search_20250305", "web_search", searchFields},
	{"web_search_20260209", "web_search", searchFields},
	{"web_search_20260318", "web_search", fieldsOf(searchFields, responseInclusion)},
	{"web_fetch_20250910", "web_fetch", fetchFields},
	{"web_fetch_20260209", "web_fetch", fetchFields},
	{"web_fetch_20260309", "web_fetch", fieldsOf(fetchFields, useCache)},
	{"web_fetch_20260318", "web_fetch", fieldsOf(fetchFields, useCache, responseInclusion)},
	{"code_execution_20250522", "code_execution", commonFields},
	{"code_execution_20250825", "code_execution", commonFields},
	{"code_execution_20260120", "code_execution", commonFields},
	{"code_execution_20260521", "code_execution", commonFields},
	{"tool_search_tool_regex_20251119", regexTool, commonFields},
	{regexTool, regexTool, commonFields},
	{"tool_search_tool_bm25_20251119", bm25Tool, commonFields},
	{bm25Tool, bm25Tool, commonFields},
	{"advisor_20260301", "advisor", fieldsOf(commonFields,
		required("model", nonEmptyText), optional("max_tokens", nullableCount), optional("max_uses", nullableCount), optional("caching", anyObjectOrNull))},
	{mcpToolset, "", []field{
		required("mcp_server_name", nonEmptyText), optional("default_config", toggles), optional("configs", toggleTable),
		optional("tools", nullableList), optional("cache_control", cacheShape)}},
}

const mcpToolset = "mcp_toolset"

// builtinOf returns the tool with this type, or nil.
func builtinOf(kind string) *builtin {
	for i := range builtins {
		if builtins[i].kind == kind {
			return &builtins[i]
		}
	}
	return nil
}

// places is a set of places where a block is allowed.
type places uint8

const (
	inUser places = 1 << iota
	inAssistant
	inSystem
	inResult
	inContent // in the content of a document
)

// An untypedBlock is a block that has no Go type.
type untypedBlock struct {
	kind   string
	where  places
	fields []field
}

var (
	cacheField = optional("cache_control", cacheShape)

	references = []variant{
		{"tool_reference", []field{required("name", nonEmptyText)}},
		{"mcp_tool_reference", []field{required("server_name", nonEmptyText), required("name", nonEmptyText)}},
		{"mcp_toolset_reference", []field{required("server_name", nonEmptyText)}},
	}
	additions = append(slices.Clip(references),
		variant{"tool_definition", []field{required("definition", anyObject)}})
	modelOnly = object(required("model", nonEmptyText))

	untypedBlocks = []untypedBlock{
		{"container_upload", inUser | inAssistant, []field{required("file_id", nonEmptyText), cacheField}},
		{"tool_reference", inResult, []field{required("tool_name", nonEmptyText), cacheField}},
		{"browser_state", inResult, append(namedFields("tabs", "state_changes"), cacheField)},
		{"mcp_tool_listing", inAssistant, []field{
			required("mcp_server_name", nonEmptyText),
			required("tools", list(object(required("name", nonEmptyText), optional("description", nullableText),
				required("input_schema", anyObject)))),
			cacheField}},
		{"compaction", inAssistant | inUser, []field{
			optional("content", &shape{kinds: textKind | nullKind, min: 1}), optional("encrypted_content", nullableText),
			optional("signature", nullableText), optional("tool_changes", nullableListOrObject), cacheField}},
		{"fallback", inAssistant, []field{required("from", modelOnly), required("to", modelOnly),
			optional("trigger", anyObjectOrNull), cacheField}},
		{"advisor_tool_result", inAssistant, []field{required("tool_use_id", nonEmptyText), required("content", anyObject), cacheField}},
		{toolAddition, inSystem, []field{required("tool", union(additions...)), cacheField}},
		{"tool_removal", inSystem, []field{required("tool", union(references...)), cacheField}},
	}
	nullableListOrObject = &shape{kinds: listKind | objectKind | nullKind}
)

const toolAddition = "tool_addition"

// untypedBlockOf returns the block with this type, or nil.
func untypedBlockOf(kind string) *untypedBlock {
	for i := range untypedBlocks {
		if untypedBlocks[i].kind == kind {
			return &untypedBlocks[i]
		}
	}
	return nil
}

// tagsIn lists the tags of the blocks that are allowed in any of the places.
func tagsIn(where places) string {
	typed := []struct {
		kind  string
		where places
	}{
		{"text", inUser | inAssistant | inSystem | inResult | inContent},
		{"image", inUser | inResult | inContent},
		{"document", inUser | inResult},
		{"search_result", inUser | inResult},
		{"thinking", inAssistant},
		{"redacted_thinking", inAssistant},
		{"tool_use", inAssistant},
		{"tool_result", inUser},
		{"server_tool_use", inAssistant},
		{"web_search_tool_result", inAssistant},
		{"web_fetch_tool_result", inAssistant},
		{"code_execution_tool_result", inAssistant},
		{"bash_code_execution_tool_result", inAssistant},
		{"text_editor_code_execution_tool_result", inAssistant},
		{"tool_search_tool_result", inAssistant},
		{"mcp_tool_use", inAssistant},
		{"mcp_tool_result", inAssistant},
	}
	var tags []string
	for _, t := range typed {
		if t.where&where != 0 {
			tags = append(tags, t.kind)
		}
	}
	for i := range untypedBlocks {
		if untypedBlocks[i].where&where != 0 {
			tags = append(tags, untypedBlocks[i].kind)
		}
	}
	return quoteTags(tags)
}
