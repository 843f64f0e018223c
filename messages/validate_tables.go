package messages

import "slices"

// The vendor's own tools and the blocks that have no Go type. None of the
// tables below is ever changed.

// A builtin is one of the vendor's own tools.
type builtin struct {
	kind   string
	name   string // fixed; empty: it has none
	fields []field
}

var (
	callerNames = &shape{kinds: listKind | nullKind, elem: enum(
		"direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")}
	directOnly = &shape{kinds: listKind | nullKind, elem: enum("direct")}

	commonFields = []field{
		may("allowed_callers", callerNames),
		may("cache_control", cacheShape),
		may("defer_loading", optionalFlag),
		may("strict", optionalFlag),
	}
	withExamples = fieldsOf(commonFields, may("input_examples", maybeList))

	// customFields are the members of the caller's own tools that have no Go
	// field.
	customFields = []field{
		may("allowed_callers", callerNames),
		may("defer_loading", optionalFlag),
		may("input_examples", maybeList),
		may("eager_input_streaming", optionalFlag),
	}

	toggles       = maybe(namedFields("enabled", "defer_loading")...)
	toggleTable   = &shape{kinds: objectKind | nullKind, values: toggles}
	toolsetFields = []field{
		may("configs", toggleTable), may("cache_control", cacheShape), may("allowed_callers", directOnly),
	}
	displayFields = fieldsOf(withExamples,
		must("display_width_px", positive), must("display_height_px", positive),
		may("display_number", &shape{kinds: integerKind | nullKind}))

	domainFields = fieldsOf(commonFields,
		may("max_uses", maybeCount), may("allowed_domains", texts), may("blocked_domains", texts))
	searchFields = fieldsOf(domainFields, may("user_location", maybe(
		must("type", constant("approximate")), may("city", optionalText), may("region", optionalText),
		may("country", optionalText), may("timezone", optionalText))))
	allOrNone    = variant{"all", []field{}}
	none         = variant{"none", []field{}}
	chosenTools  = []field{must("tools", list(object(must("type", constant("tool_reference")), must("name", someText))))}
	resultFilter = &shape{kinds: objectKind | nullKind,
		tags: []variant{allOrNone, none, {"only", chosenTools}, {"except", chosenTools}}}
	fetchFields = fieldsOf(domainFields,
		may("citations", maybe(may("enabled", optionalFlag))),
		may("max_content_tokens", maybeCount),
		may("url_sources", maybe(
			may("client_tool_results", resultFilter),
			may("server_tool_results", resultFilter),
			may("user_input", &shape{kinds: objectKind | nullKind, tags: []variant{allOrNone, none}}))))
	inclusion = may("response_inclusion", maybeEnum("full", "excluded"))
	useCache  = may("use_cache", optionalFlag)
)

// fieldsOf returns fields with more behind them.
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
	{"text_editor_20250728", newEditor, fieldsOf(withExamples, may("max_characters", maybeCount))},
	{"memory_20250818", "memory", withExamples},
	{"computer_20241022", "computer", displayFields},
	{"computer_20250124", "computer", displayFields},
	{"computer_20251124", "computer", fieldsOf(displayFields, may("enable_zoom", optionalFlag))},
	{"computer_toolset_20260801", "", toolsetFields},
	{"browser_toolset_20260801", "", toolsetFields},
	{"web_search_20250305", "web_search", searchFields},
	{"web_search_20260209", "web_search", searchFields},
	{"web_search_20260318", "web_search", fieldsOf(searchFields, inclusion)},
	{"web_fetch_20250910", "web_fetch", fetchFields},
	{"web_fetch_20260209", "web_fetch", fetchFields},
	{"web_fetch_20260309", "web_fetch", fieldsOf(fetchFields, useCache)},
	{"web_fetch_20260318", "web_fetch", fieldsOf(fetchFields, useCache, inclusion)},
	{"code_execution_20250522", "code_execution", commonFields},
	{"code_execution_20250825", "code_execution", commonFields},
	{"code_execution_20260120", "code_execution", commonFields},
	{"code_execution_20260521", "code_execution", commonFields},
	{"tool_search_tool_regex_20251119", regexTool, commonFields},
	{regexTool, regexTool, commonFields},
	{"tool_search_tool_bm25_20251119", bm25Tool, commonFields},
	{bm25Tool, bm25Tool, commonFields},
	{"advisor_20260301", "advisor", fieldsOf(commonFields,
		must("model", someText), may("max_tokens", maybeCount), may("max_uses", maybeCount), may("caching", maybeObject))},
	{mcpToolset, "", []field{
		must("mcp_server_name", someText), may("default_config", toggles), may("configs", toggleTable),
		may("tools", maybeList), may("cache_control", cacheShape)}},
}

const mcpToolset = "mcp_toolset"

// builtinOf returns the tool of a kind, or nil.
func builtinOf(kind string) *builtin {
	for i := range builtins {
		if builtins[i].kind == kind {
			return &builtins[i]
		}
	}
	return nil
}

// Places where a block may stand.
type places uint8

const (
	inUser places = 1 << iota
	inAssistant
	inSystem
	inResult
	inContent // of a document
)

// A rawBlock is a block that has no Go type.
type rawBlock struct {
	kind   string
	where  places
	fields []field
}

var (
	cacheField = may("cache_control", cacheShape)

	references = []variant{
		{"tool_reference", []field{must("name", someText)}},
		{"mcp_tool_reference", []field{must("server_name", someText), must("name", someText)}},
		{"mcp_toolset_reference", []field{must("server_name", someText)}},
	}
	additions = append(slices.Clip(references),
		variant{"tool_definition", []field{must("definition", anyObject)}})
	modelOnly = object(must("model", someText))

	rawBlocks = []rawBlock{
		{"container_upload", inUser | inAssistant, []field{must("file_id", someText), cacheField}},
		{"tool_reference", inResult, []field{must("tool_name", someText), cacheField}},
		{"browser_state", inResult, append(namedFields("tabs", "state_changes"), cacheField)},
		{"mcp_tool_listing", inAssistant, []field{
			must("mcp_server_name", someText),
			must("tools", list(object(must("name", someText), may("description", optionalText),
				must("input_schema", anyObject)))),
			cacheField}},
		{"compaction", inAssistant | inUser, []field{
			may("content", &shape{kinds: textKind | nullKind, min: 1}), may("encrypted_content", optionalText),
			may("signature", optionalText), may("tool_changes", notTextOrNull), cacheField}},
		{"fallback", inAssistant, []field{must("from", modelOnly), must("to", modelOnly),
			may("trigger", maybeObject), cacheField}},
		{"advisor_tool_result", inAssistant, []field{must("tool_use_id", someText), must("content", anyObject), cacheField}},
		{toolAddition, inSystem, []field{must("tool", union(additions...)), cacheField}},
		{"tool_removal", inSystem, []field{must("tool", union(references...)), cacheField}},
	}
	notTextOrNull = &shape{kinds: listKind | objectKind | nullKind}
)

const toolAddition = "tool_addition"

// rawBlockOf returns the block of a kind, or nil.
func rawBlockOf(kind string) *rawBlock {
	for i := range rawBlocks {
		if rawBlocks[i].kind == kind {
			return &rawBlocks[i]
		}
	}
	return nil
}

// tagsIn lists the tags of the blocks that may stand somewhere.
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
	for i := range rawBlocks {
		if rawBlocks[i].where&where != 0 {
			tags = append(tags, rawBlocks[i].kind)
		}
	}
	return quoteTags(tags)
}
