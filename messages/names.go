package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// The member names of the objects in this format.
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

	textNames             = codec.Names{Typed: []string{"type", "text", "citations", "cache_control"}}
	imageNames            = codec.Names{Typed: []string{"type", "source", "cache_control"}, Kept: []string{"transformations"}}
	documentNames         = codec.Names{Typed: []string{"type", "source", "title", "context", "citations", "cache_control"}}
	searchResultNames     = codec.Names{Typed: []string{"type", "source", "title", "content", "citations", "cache_control"}}
	thinkingBlockNames    = codec.Names{Typed: []string{"type", "thinking", "signature"}}
	redactedNames         = codec.Names{Typed: []string{"type", "data"}}
	toolUseNames          = codec.Names{Typed: []string{"type", "id", "name", "input", "cache_control"}, Kept: []string{"caller", "toolset_name"}}
	serverToolUseNames    = codec.Names{Typed: []string{"type", "id", "name", "input", "cache_control"}, Kept: []string{"caller", "server_name"}}
	toolResultNames       = codec.Names{Typed: []string{"type", "tool_use_id", "content", "is_error", "cache_control"}, Kept: []string{"toolset_name"}}
	serverToolResultNames = codec.Names{Typed: []string{"type", "tool_use_id", "content", "cache_control"}, Kept: []string{"caller", "is_error"}}
	untypedBlockNames     = codec.Names{Kept: []string{
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

// extra returns the members of v that have no field, in their order and with the
// bytes of their values, or nil. In requests it drops known members that have their
// default value. Names that a lenient parser could confuse with known ones are
// violations.
func (p *parser) extra(v jsonwire.Value, n *codec.Names) *content.Extra {
	return p.extraWithCitations(v, n, jsonwire.Value{})
}

// extraWithCitations is extra for an object whose member "citations" has unknown
// members. They become a member "citations" of the Extra.
func (p *parser) extraWithCitations(v jsonwire.Value, n *codec.Names, citations jsonwire.Value) *content.Extra {
	if !p.quota.Members(v.Len()) {
		return nil
	}
	b, names := p.extras.Begin(), n.Index()
	var long strings.Builder
	for name, x := range v.Members() {
		known, typed := names.Find(name)
		switch {
		case known == name && !typed && isDefault(name, x) && (p.origin != nil || name == "caller"):
			// Responses always have a caller, and the encoder of responses writes it.
		case known != name || !typed:
			p.checkName(name, known)
			b = codec.AppendMember(b, name, x.Raw())
		case name == "citations" && citations.Exists():
			b = append(codec.AppendName(b, name), '{')
			for name, x := range citations.Members() {
				if !citationsNames.Has(name) {
					b = codec.AppendMember(b, name, x.Raw())
				}
			}
			b = append(b, '}')
		}
		if len(b) > maxSharedExtra {
			if long.Len() == 0 {
				long.Grow(maxExtraLen(v))
			}
			// AppendMember needs the last byte to decide about a comma.
			last := len(b) - 1
			long.Write(b[:last])
			b = append(b[:0], b[last])
		}
	}
	if long.Len() > 0 {
		long.Write(append(b, '}'))
		return p.extras.New(Format, long.String())
	}
	if json := p.extras.End(b); json != "" {
		return p.extras.New(Format, json)
	}
	return nil
}

// maxSharedExtra is the maximum length of an Extra that shares an allocation with
// others.
const maxSharedExtra = 8 << 10

// maxExtraLen returns the maximum length of the Extra of v without its long values,
// most of which are in fields.
func maxExtraLen(v jsonwire.Value) int {
	n := v.End() - v.Offset()
	for _, x := range v.Members() {
		if size := x.End() - x.Offset(); size > maxSharedExtra {
			n -= size
		}
	}
	return n
}

// isDefault reports whether a known member without a field has its default value.
// Clients write such members into every block that they return. It is not a loss if
// other formats omit them.
func isDefault(name string, v jsonwire.Value) bool {
	switch v.Kind() {
	case jsonwire.Null:
		switch name {
		case "caller", "toolset_name", "clear_at", "output_config", "block_binding", "task_budget", "transformations",
			"allowed_callers", "defer_loading", "input_examples", "eager_input_streaming":
			return true
		}
	case jsonwire.False:
		return name == "defer_loading" || name == "is_error"
	case jsonwire.Object:
		return name == "caller" && v.Len() == 1 && v.Get("type").Is("direct")
	case jsonwire.Array:
		if name == "allowed_callers" && v.Len() == 1 {
			for _, x := range v.Elems() {
				return x.Is("direct")
			}
		}
		return name == "input_examples" && v.Len() == 0
	}
	return false
}

// checkNames reports unknown names that a lenient parser could confuse with known
// ones.
func (p *parser) checkNames(v jsonwire.Value, n *codec.Names) {
	names := n.Index()
	for name := range v.Members() {
		known, _ := names.Find(name)
		p.checkName(name, known)
	}
}

// checkName reports a name that resembles a known name but is not equal to it.
func (p *parser) checkName(name, known string) {
	switch {
	case known == "", known == name:
	case p.violations.Len() >= content.MaxViolations:
		p.violations.Add(content.CodeUnknown, "", "") // counted, not stored
	default:
		p.violation(content.CodeUnknown, codec.Clip(name), textExtra+": did you mean '"+known+"'?")
	}
}
