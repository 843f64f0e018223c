package responses

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
)

// Items that only OpenAI can read are carried in thinking blocks: a reasoning item in
// the signature of its summary, or in a redacted block if it has no summary, and the
// items of built-in tools in redacted blocks. The data of such a signature is the item
// itself. The signature of an image is its item.

// itemOf returns the item in a thinking block, or "".
func itemOf(t *content.Thinking) string {
	for _, s := range [...]content.Signature{t.Redacted, t.Signature} {
		if s.Format == Format && strings.HasPrefix(s.Data, "{") {
			return s.Data
		}
	}
	return ""
}

// itemText returns the text of the reasoning item in a thinking block, as decoding joins it.
func itemText(t *content.Thinking) string {
	var b strings.Builder
	for _, part := range gjson.Get(itemOf(t), "summary").Array() {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(part.Get("text").Str)
	}
	return b.String()
}

// itemTools maps the kinds of items that clients may return to the tool that the
// request must have for that; "" means none. Such an item can only state that a tool
// was called and what it returned, as any tool result can. Items that add tools,
// approve calls, or return the results of the program's own tools are not in the map.
var itemTools = map[string]string{
	"reasoning": "", "compaction": "", "web_search_call": "", "file_search_call": "", "code_interpreter_call": "", "image_generation_call": "",
	"mcp_call": "mcp", "program": "programmatic_tool_calling", "program_output": "programmatic_tool_calling",
	"computer_call": "computer", "shell_call": "shell", "apply_patch_call": "apply_patch", "local_shell_call": "local_shell",
}

// isVendorItem reports whether items of a kind are opaque. The program that embeds
// Polywire may return any of them; for clients see itemTools.
func isVendorItem(kind string) bool {
	return hostedItems[kind] && kind != typeTrigger && kind != "configuration_update" || kind == typeAdditionalTools
}

// isClientCall reports whether a part of the assistant is a call that the client runs.
func isClientCall(p content.Part) bool {
	kind := ""
	switch p := p.(type) {
	case *content.ToolUse:
		return true
	case *content.Thinking:
		kind = gjson.Get(itemOf(p), "type").Str
	case *content.Unknown:
		kind = p.Kind
	}
	return isClientItem(kind)
}

// isClientItem reports whether items of a kind are calls of built-in tools that the client runs.
func isClientItem(kind string) bool {
	switch kind {
	case "computer_call", "shell_call", "apply_patch_call", "local_shell_call":
		return true
	}
	return false
}

// The phases of messages of the assistant. They follow from the places of the messages: the
// last message of a turn without a call that the client runs is the final answer.
const (
	commentary  = "commentary"
	finalAnswer = "final_answer"
)

// An itemRecall decides which items of Responses may go back to the server.
type itemRecall struct {
	tools   []content.Tool
	refused bool            // the server cannot read its earlier thinking
	hasTool map[string]bool // whether the request has a tool of itemTools; filled on demand
	doc     jsonwire.Doc
}

// rule returns nil if a part may go back.
func (r *itemRecall) rule(p content.Part) *loss.Rule {
	item, fromHost := "", false
	switch p := p.(type) {
	case *content.Thinking:
		item = itemOf(p)
	case *content.Unknown:
		item, fromHost = p.Raw, true
	case *content.Image:
		_, ok := p.Source.(*content.Base64)
		if item = p.Signature.Data; !ok || r.kind(item) != "image_generation_call" {
			return lower.AssistantFile
		}
		return nil
	default:
		return lower.VendorPart
	}
	switch kind := r.kind(item); {
	case kind == "" && isStored(item):
		return lower.Thinking
	case kind == "":
		return lower.ThinkingBroken
	case !fromHost && !r.isReplayable(kind):
		return lossUnrequestedItem
	case kind == "reasoning" && r.refused:
		return lossThinkingRefused
	}
	return nil
}

// kind returns the kind of a carried item, or "" if the item is invalid.
func (r *itemRecall) kind(item string) string {
	if r.doc.Parse(item, jsonwire.Limits{}) != nil {
		return ""
	}
	defer r.doc.Close()
	root := r.doc.Root()
	kind := root.Get("type").Str()
	valid := isVendorItem(kind)
	if kind == "reasoning" {
		valid = root.Get("id").Str() != "" && root.Get("encrypted_content").Str() != "" && root.Get("summary").Kind() == jsonwire.Array
	}
	if !valid {
		return ""
	}
	return strings.Clone(kind)
}

// isStored reports whether an item is reasoning without its state, which only a server that stores
// the item has.
func isStored(item string) bool {
	return gjson.Valid(item) && gjson.Get(item, "type").Str == "reasoning" && gjson.Get(item, "encrypted_content").Str == ""
}

// isReplayable reports whether a client may return items of a kind.
func (r *itemRecall) isReplayable(kind string) bool {
	tool, ok := itemTools[kind]
	if !ok || tool == "" {
		return ok
	}
	hasTool, known := r.hasTool[tool]
	if !known {
		hasTool = slices.ContainsFunc(r.tools, func(t content.Tool) bool { // one pass
			return t.Format == Format && strings.HasPrefix(t.Kind, tool) // a version may follow
		})
		if r.hasTool == nil {
			r.hasTool = make(map[string]bool)
		}
		r.hasTool[tool] = hasTool
	}
	return hasTool
}
