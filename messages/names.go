package messages

import "github.com/polywire/polywire/internal/codec"

// The members that the API's objects have.
var (
	requestNames = codec.Names{Typed: []string{
		"model", "max_tokens", "messages", "system", "stream", "metadata", "stop_sequences", "temperature",
		"top_p", "top_k", "tools", "tool_choice", "thinking", "output_config", "service_tier", "inference_geo",
		"speed", "cache_control", "container", "diagnostics", "mcp_servers", "context_management", "compaction",
		"output_format", "thread", "fallbacks", "fallback_credit_token", "billing_policy",
	}}
	messageNames      = codec.Names{Typed: []string{"role", "content"}, Kept: []string{"clear_at", "output_config"}}
	metadataNames     = codec.Names{Typed: []string{"user_id"}}
	choiceNames       = codec.Names{Typed: []string{"type", "name", "disable_parallel_tool_use"}}
	thinkingNames     = codec.Names{Typed: []string{"type", "budget_tokens", "display"}, Kept: []string{"block_binding"}}
	outputConfigNames = codec.Names{Typed: []string{"effort", "format"}, Kept: []string{"task_budget"}}
	outputFormatNames = codec.Names{Typed: []string{"type", "schema"}}
	cacheNames        = codec.Names{Typed: []string{"type", "ttl"}}
	citationsNames    = codec.Names{Typed: []string{"enabled"}}
	toolNames         = codec.Names{
		Typed: []string{"type", "name", "description", "input_schema", "strict", "cache_control"},
		Kept:  []string{"defer_loading", "allowed_callers", "input_examples", "eager_input_streaming"},
	}
	serverToolNames = codec.Names{Kept: []string{
		"type", "name", "cache_control", "allowed_callers", "defer_loading", "strict", "input_examples",
		"max_characters", "display_width_px", "display_height_px", "display_number", "enable_zoom", "configs",
		"max_uses", "allowed_domains", "blocked_domains", "user_location", "response_inclusion", "citations",
		"max_content_tokens", "url_sources", "use_cache", "model", "max_tokens", "caching", "mcp_server_name",
		"default_config", "tools",
	}}

	textNames          = codec.Names{Typed: []string{"type", "text", "citations", "cache_control"}}
	imageNames         = codec.Names{Typed: []string{"type", "source", "cache_control"}, Kept: []string{"transformations"}}
	documentNames      = codec.Names{Typed: []string{"type", "source", "title", "context", "citations", "cache_control"}}
	searchResultNames  = codec.Names{Typed: []string{"type", "source", "title", "content", "citations", "cache_control"}}
	thinkingBlockNames = codec.Names{Typed: []string{"type", "thinking", "signature"}}
	redactedNames      = codec.Names{Typed: []string{"type", "data"}}
	toolUseNames       = codec.Names{Typed: []string{"type", "id", "name", "input", "cache_control"}, Kept: []string{"caller", "toolset_name"}}
	serverToolUseNames = codec.Names{Typed: []string{"type", "id", "name", "input", "cache_control"}, Kept: []string{"caller", "server_name"}}
	toolResultNames    = codec.Names{Typed: []string{"type", "tool_use_id", "content", "is_error", "cache_control"}, Kept: []string{"toolset_name"}}
	serverToolResNames = codec.Names{Typed: []string{"type", "tool_use_id", "content", "cache_control"}, Kept: []string{"caller", "is_error"}}
	otherBlockNames    = codec.Names{Kept: []string{
		"type", "cache_control", "file_id", "tool_name", "tabs", "state_changes", "mcp_server_name", "tools", "content",
		"encrypted_content", "signature", "tool_changes", "from", "to", "trigger", "tool_use_id", "tool",
	}}

	base64Names  = codec.Names{Typed: []string{"type", "media_type", "data"}}
	urlNames     = codec.Names{Typed: []string{"type", "url"}}
	fileNames    = codec.Names{Typed: []string{"type", "file_id"}}
	contentNames = codec.Names{Typed: []string{"type", "content"}}

	charNames = codec.Names{Typed: []string{
		"type", "cited_text", "document_index", "document_title", "file_id", "start_char_index", "end_char_index"}}
	pageNames = codec.Names{Typed: []string{
		"type", "cited_text", "document_index", "document_title", "file_id", "start_page_number", "end_page_number"}}
	blockNames = codec.Names{Typed: []string{
		"type", "cited_text", "document_index", "document_title", "file_id", "start_block_index", "end_block_index"}}
	searchNames = codec.Names{Typed: []string{
		"type", "cited_text", "source", "title", "search_result_index", "start_block_index", "end_block_index"}}
	webNames = codec.Names{Typed: []string{"type", "cited_text", "url", "title"}, Kept: []string{"encrypted_index"}}
)
