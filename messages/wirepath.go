package messages

import "strings"

// Path tells a neutral path, as a [content.Loss] of the request or of its answer
// has it, in the words of the format: "turns.3.parts.1" is "messages.3.content.1".
// What has no word of its own there stays as it is.
func (r *Request) Path(neutral string) string { return wirePath(neutral) }

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
	return join(word, rest)
}

// wireInside tells the steps behind an index, or several, in the words of the
// format. Behind a member that is not one of a list of parts, they are the
// document's own, such as those of a schema.
func wireInside(path string, tool bool) string {
	step, rest, more := strings.Cut(path, ".")
	switch {
	case step != "" && strings.Trim(step, "0123456789") == "":
		return join(step, wireInside(rest, tool))
	case step == "parts":
		return join("content", wireInside(rest, false))
	case step == "source":
		return join(step, wireInside(rest, false))
	case step == "extra" && more:
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
