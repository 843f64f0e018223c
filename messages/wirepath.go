package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
)

// Path tells a neutral path, as a [content.Loss] of the request or of its answer
// has it, in the words of the format: "turns.3.parts.1" is "messages.3.content.1".
// The signature of a block that has none of its own is told at the block that
// carries it, or else at the block itself. What has no word of its own there
// stays as it is.
func (r *Request) Path(neutral string) string {
	if block, ok := strings.CutSuffix(neutral, ".signature"); ok {
		neutral = r.signaturePath(block)
	}
	if rest, ok := strings.CutPrefix(neutral, "output"); ok && r.OutputFormat != nil && (rest == "" || rest[0] == '.') {
		return "output_format" + rest // the older form; output_config.format cannot be there as well
	}
	return wirePath(neutral)
}

// signaturePath returns where the signature of a block stands.
func (r *Request) signaturePath(block string) string {
	steps := strings.Split(block, ".")
	if len(steps) != 4 || steps[0] != "turns" || steps[2] != "parts" {
		return block + ".signature"
	}
	i, k := number(steps[1]), number(steps[3])
	if i < 0 || i >= len(r.Messages) || k < 0 || k >= len(r.Messages[i].Parts) {
		return block + ".signature"
	}
	parts := r.Messages[i].Parts
	if u, ok := parts[k].(*content.ToolUse); ok && u != nil && envelope.IsEncodedID(u.ID) {
		return block + ".id"
	}
	if t, ok := parts[k].(*content.Thinking); ok && t != nil {
		if t.Redacted.Data != "" {
			return block + ".data"
		}
		return block + ".signature"
	}
	for _, at := range [...]int{k - 1, k + 1} {
		if at >= 0 && at < len(parts) && holdsSignature(parts[at], at < k) {
			return "turns." + steps[1] + ".parts." + strconv.Itoa(at) + ".data"
		}
	}
	return block
}

// number reads an index, or returns -1.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// holdsSignature reports whether a part is an envelope with the signature of the part
// behind it, or else in front of it.
func holdsSignature(p content.Part, behind bool) bool {
	t, ok := p.(*content.Thinking)
	if !ok || t == nil {
		return false
	}
	switch e, _ := envelope.Decode(t.Redacted.Data); e.Kind {
	case envelope.KindNextText, envelope.KindNextCall:
		return behind
	case envelope.KindPreviousText, envelope.KindPreviousCall:
		return !behind
	}
	return false
}

// wireWords are the beginnings of neutral paths that the format says in another
// way. Of two that fit the longer holds.
var wireWords = map[string]string{
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

// wirePath tells a neutral path in the words of the format. What it does not
// know stays as it is.
func wirePath(neutral string) string {
	first, rest, _ := strings.Cut(neutral, ".")
	second, behind, _ := strings.Cut(rest, ".")
	if word, ok := wireWords[first+"."+second]; ok {
		return join(word, behind)
	}
	word, ok := wireWords[first]
	switch {
	case first == "extra" && rest != "":
		return rest // the members of it are the document's
	case !ok:
		word = first
	}
	switch first {
	case "parts":
		return join("content", wireInside(rest, false))
	case "turns", "system", "tools", "choice", "candidates":
		return join(word, wireInside(rest, first == "tools"))
	}
	if step, members, _ := strings.Cut(rest, "."); step == "extra" {
		rest = members // of the object's own
	}
	return join(word, rest)
}

// wireInside tells the steps behind an index, or several, in the words of the
// format. Behind a member that is not one of a list of parts, they are the
// document's own, such as those of a schema.
func wireInside(path string, tool bool) string {
	step, rest, _ := strings.Cut(path, ".")
	switch {
	case step != "" && strings.Trim(step, "0123456789") == "":
		return join(step, wireInside(rest, tool))
	case step == "parts":
		return join("content", wireInside(rest, false))
	case step == "source", step == "citations":
		return join(step, wireInside(rest, false))
	case step == "extra":
		return rest
	case step == "input" && tool:
		return join("input_schema", rest)
	case step == "cache":
		return join("cache_control", rest)
	}
	return path
}

func join(path, rest string) string {
	if path == "" || rest == "" {
		return path + rest
	}
	return path + "." + rest
}
