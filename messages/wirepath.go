package messages

import "strings"

// Path tells a neutral path, as a [content.Loss] of the request or of its answer
// has it, in the words of the format: "turns.3.parts.1" is "messages.3.content.1".
// What has no word of its own there stays as it is.
func (r *Request) Path(neutral string) string { return wirePath(neutral) }

// wirePath tells a neutral path, as losses have it, in the words of the
// format: "turns.3.parts.1" is "messages.3.content.1". What it does not know
// stays as it is.
func wirePath(neutral string) string {
	switch neutral {
	case "user_id":
		return "metadata.user_id"
	case "thinking.effort":
		return "output_config.effort"
	case "thinking.mode":
		return "thinking.type"
	case "thinking.budget":
		return "thinking.budget_tokens"
	case "output.schema":
		return "output_config.format.schema"
	}
	var b strings.Builder
	for i := 0; neutral != ""; i++ {
		var step string
		step, neutral, _ = strings.Cut(neutral, ".")
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(wireStep(step, i == 0, neutral == ""))
	}
	return b.String()
}

// wireStep returns the format's word for one step of a path.
func wireStep(step string, first, last bool) string {
	switch {
	case first && step == "turns":
		return "messages"
	case first && step == "choice":
		return "tool_choice"
	case first && step == "output":
		return "output_config"
	case step == "parts":
		return "content"
	case last && step == "input" && !first:
		return "input_schema"
	}
	return step
}
