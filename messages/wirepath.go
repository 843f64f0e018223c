package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
)

// Path converts a neutral path, as in a [content.Loss] of the request or its response, to
// the path in the Messages document: "turns.3.parts.1" becomes "messages.3.content.1".
// If a block has no signature member, the path of its signature is that of the member that
// carries it, or else of the block itself. Names without an equivalent are kept.
func (r *Request) Path(neutral string) string {
	if block, ok := strings.CutSuffix(neutral, ".signature"); ok {
		neutral = r.signaturePath(block)
	}
	if rest, ok := strings.CutPrefix(neutral, "output"); ok && r.OutputFormat != nil && (rest == "" || rest[0] == '.') {
		return "output_format" + rest // the older form, which excludes output_config.format
	}
	return wirePath(neutral)
}

// signaturePath returns the path of the signature of a block.
func (r *Request) signaturePath(block string) string {
	steps := strings.Split(block, ".")
	if len(steps) != 4 || steps[0] != "turns" || steps[2] != "parts" {
		return block + ".signature"
	}
	i, isTurn := codec.StepIndex(steps[1:])
	k, isPart := codec.StepIndex(steps[3:])
	if !isTurn || i >= len(r.Messages) || !isPart || k >= len(r.Messages[i].Parts) {
		return block + ".signature"
	}
	parts := r.Messages[i].Parts
	if u, ok := parts[k].(*content.ToolUse); ok && u != nil && envelope.IsReservedID(u.ID) {
		return block + ".id"
	}
	if t, ok := parts[k].(*content.Thinking); ok && t != nil {
		if t.Redacted.Data != "" {
			return block + ".data"
		}
		return block + ".signature"
	}
	return block
}

// wirePrefixes maps prefixes of neutral paths to prefixes of paths in the document. The
// longest match applies.
var wirePrefixes = map[string]string{
	"turns":              "messages",
	"user_id":            "metadata.user_id",
	"thinking.mode":      "thinking.type",
	"thinking.budget":    "thinking.budget_tokens",
	"thinking.effort":    "output_config.effort",
	"choice":             "tool_choice",
	"choice.mode":        "tool_choice.type",
	"choice.names":       "tool_choice.name",
	"choice.no_parallel": "tool_choice.disable_parallel_tool_use",
	"output":             "output_config",
	"output.schema":      "output_config.format.schema",
	"stop":               "stop_reason",
}

// wirePath converts a neutral path to a path in the document. It keeps unknown names.
func wirePath(neutral string) string {
	first, rest, _ := strings.Cut(neutral, ".")
	second, after, _ := strings.Cut(rest, ".")
	if prefix, ok := wirePrefixes[first+"."+second]; ok {
		return joinPath(prefix, after)
	}
	prefix, ok := wirePrefixes[first]
	switch {
	case first == "extra" && rest != "":
		return rest // the members are those of the document
	case !ok:
		prefix = first
	}
	switch first {
	case "parts":
		return joinPath("content", wireInside(rest, false))
	case "turns", "system", "tools", "choice", "candidates":
		return joinPath(prefix, wireInside(rest, first == "tools"))
	}
	if step, members, _ := strings.Cut(rest, "."); step == "extra" {
		rest = members // the members are those of the object
	}
	return joinPath(prefix, rest)
}

// wireInside converts the rest of a path after an index. After a member that is not a list
// of parts, the names are those of the document, such as those of a schema.
func wireInside(path string, tool bool) string {
	step, rest, _ := strings.Cut(path, ".")
	switch {
	case step != "" && strings.Trim(step, "0123456789") == "":
		return joinPath(step, wireInside(rest, tool))
	case step == "parts":
		return joinPath("content", wireInside(rest, false))
	case step == "source", step == "citations":
		return joinPath(step, wireInside(rest, false))
	case step == "extra":
		return rest
	case step == "input" && tool:
		return joinPath("input_schema", rest)
	case step == "cache":
		return joinPath("cache_control", wireInside(rest, tool))
	case step == "error" && !tool:
		return joinPath("is_error", rest)
	}
	return path
}

func joinPath(path, rest string) string {
	if path == "" || rest == "" {
		return path + rest
	}
	return path + "." + rest
}
