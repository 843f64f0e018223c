package messages

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// names are the members that one of the API's objects has: typed ones have a
// field here, kept ones are known to the API and live in Extra. The tables are
// never changed, and have no more than 64 names.
type names struct{ typed, kept []string }

var (
	requestNames = names{typed: []string{
		"model", "max_tokens", "messages", "system", "stream", "metadata", "stop_sequences", "temperature",
		"top_p", "top_k", "tools", "tool_choice", "thinking", "output_config", "service_tier", "inference_geo",
		"speed", "cache_control", "container", "diagnostics", "mcp_servers", "context_management", "compaction",
		"output_format", "thread", "fallbacks", "fallback_credit_token", "billing_policy",
	}}
	messageNames      = names{[]string{"role", "content"}, []string{"clear_at", "output_config"}}
	metadataNames     = names{typed: []string{"user_id"}}
	choiceNames       = names{typed: []string{"type", "name", "disable_parallel_tool_use"}}
	thinkingNames     = names{[]string{"type", "budget_tokens", "display"}, []string{"block_binding"}}
	outputConfigNames = names{[]string{"effort", "format"}, []string{"task_budget"}}
	outputFormatNames = names{typed: []string{"type", "schema"}}
	cacheNames        = names{typed: []string{"type", "ttl"}}
	citationsNames    = names{typed: []string{"enabled"}}
	toolNames         = names{
		[]string{"type", "name", "description", "input_schema", "strict", "cache_control"},
		[]string{"defer_loading", "allowed_callers", "input_examples", "eager_input_streaming"},
	}
	serverToolNames = names{kept: []string{
		"type", "name", "cache_control", "allowed_callers", "defer_loading", "strict", "input_examples",
		"max_characters", "display_width_px", "display_height_px", "display_number", "enable_zoom", "configs",
		"max_uses", "allowed_domains", "blocked_domains", "user_location", "response_inclusion", "citations",
		"max_content_tokens", "url_sources", "use_cache", "model", "max_tokens", "caching", "mcp_server_name",
		"default_config", "tools",
	}}

	textNames          = names{typed: []string{"type", "text", "citations", "cache_control"}}
	imageNames         = names{[]string{"type", "source", "cache_control"}, []string{"transformations"}}
	documentNames      = names{typed: []string{"type", "source", "title", "context", "citations", "cache_control"}}
	searchResultNames  = names{typed: []string{"type", "source", "title", "content", "citations", "cache_control"}}
	thinkingBlockNames = names{typed: []string{"type", "thinking", "signature"}}
	redactedNames      = names{typed: []string{"type", "data"}}
	toolUseNames       = names{[]string{"type", "id", "name", "input", "cache_control"}, []string{"caller", "toolset_name"}}
	serverToolUseNames = names{[]string{"type", "id", "name", "input", "cache_control"}, []string{"caller", "server_name"}}
	toolResultNames    = names{[]string{"type", "tool_use_id", "content", "is_error", "cache_control"}, []string{"toolset_name"}}
	serverToolResNames = names{[]string{"type", "tool_use_id", "content", "cache_control"}, []string{"caller", "is_error"}}
	otherBlockNames    = names{kept: []string{
		"type", "cache_control", "file_id", "tool_name", "tabs", "state_changes", "mcp_server_name", "tools", "content",
		"encrypted_content", "signature", "tool_changes", "from", "to", "trigger", "tool_use_id", "tool",
	}}

	base64Names  = names{typed: []string{"type", "media_type", "data"}}
	urlNames     = names{typed: []string{"type", "url"}}
	fileNames    = names{typed: []string{"type", "file_id"}}
	contentNames = names{typed: []string{"type", "content"}}

	charNames = names{typed: []string{
		"type", "cited_text", "document_index", "document_title", "file_id", "start_char_index", "end_char_index"}}
	pageNames = names{typed: []string{
		"type", "cited_text", "document_index", "document_title", "file_id", "start_page_number", "end_page_number"}}
	blockNames = names{typed: []string{
		"type", "cited_text", "document_index", "document_title", "file_id", "start_block_index", "end_block_index"}}
	searchNames = names{typed: []string{
		"type", "cited_text", "source", "title", "search_result_index", "start_block_index", "end_block_index"}}
	webNames = names{[]string{"type", "cited_text", "url", "title"}, []string{"encrypted_index"}}
)

// has reports whether name has a field.
func (n *names) has(name string) bool { return slices.Contains(n.typed, name) }

// An index of names finds those that a name could be taken for: it has one bit
// for each, by their length. It is made for an object whose members nobody
// knows, of which there may be very many.
type index struct {
	names    *names
	byLength [16]uint64
}

func (n *names) index() (x index) {
	x.names = n
	for i, known := range n.typed {
		x.byLength[len(known)&15] |= 1 << i
	}
	for i, known := range n.kept {
		x.byLength[len(known)&15] |= 1 << (len(n.typed) + i)
	}
	return x
}

// find returns the known name that name is, or that a laxer reader would take
// it for: one that ignores case, or one whose strings end at a NUL. It returns
// "" if there is none. typed says that it has a field.
func (x *index) find(name string) (known string, typed bool) {
	n, cut := len(name), name
	for i := range len(name) {
		c := name[i]
		if c > 0 && c < utf8.RuneSelf {
			continue
		}
		if n, cut = folded(name, i); n == 0 {
			return "", false
		}
		break
	}
	t := len(x.names.typed)
	for set := x.byLength[n&15]; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if typed = i < t; typed {
			known = x.names.typed[i]
		} else {
			known = x.names.kept[i-t]
		}
		if known == name || strings.EqualFold(known, cut) {
			return known, typed
		}
	}
	return "", false
}

// folded returns how many characters name has before a NUL, and these. Before i
// all of it is ASCII. Of other characters only two are letters of ASCII when
// their case is folded: a name with others is like none and has no characters.
func folded(name string, i int) (n int, cut string) {
	for n = i; i < len(name) && name[i] != 0; n++ {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r >= utf8.RuneSelf && r != '\u017F' && r != '\u212A' {
			return 0, ""
		}
		i += size
	}
	return n, name[:i]
}
