package chatcompletions

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/openaiformat"
)

// Path converts a neutral path, as in a [content.Loss] of the request or its response, to the
// path in the Chat Completions document: "turns.3.parts.1" becomes "messages[4].content[1]",
// "messages[4].tool_calls[0]" or another member, since turns and messages differ. Names without an
// equivalent are kept.
func (r *Request) Path(neutral string) string {
	path := r.path(neutral)
	if r.origin != nil && r.origin.cacheControl {
		path = strings.Replace(path, breakpoint, openaiformat.CacheControl, 1)
	}
	return path
}

func (r *Request) path(neutral string) string {
	steps := strings.Split(neutral, ".")
	switch first := steps[0]; {
	case first == "turns" && len(steps) > 1:
		if i, ok := codec.StepIndex(steps[1:]); ok && i < len(r.Messages) {
			return r.turnPath(i, steps[2:])
		}
	case first == "system" && len(steps) > 1:
		if k, ok := codec.StepIndex(steps[1:]); ok && k < len(r.System) {
			return r.partPath(-1, k, r.System[k], steps[2:])
		}
	case first == "system":
		return "messages"
	case first == "tools" && len(steps) > 1:
		if i, ok := codec.StepIndex(steps[1:]); ok {
			return r.toolPath(i, steps[2:])
		}
	case first == "max_tokens" && r.MaxCompletionTokens == nil:
		return neutral
	case first == "user_id" && r.SafetyIdentifier == "":
		return "user"
	case first == "choice" && r.ToolChoice == nil && r.FunctionCall != nil && len(steps) > 1 && steps[1] != "no_parallel":
		return "function_call"
	case first == "choice" && len(steps) > 1 && steps[1] == "extra":
		return codec.JoinSteps("tool_choice", steps[2:])
	case first == "thinking" && r.ReasoningEffort == "":
		if at := foreign.ThinkingOf(r.Extra).At; at != "" {
			return at
		}
	case neutral == "output.media_type" && r.ResponseFormat != nil:
		return "response_format.type"
	}
	return wirePath(neutral)
}

// turnPath returns the path of a turn, or of something in it.
func (r *Request) turnPath(turn int, steps []string) string {
	t := &r.Messages[turn]
	if len(steps) > 1 && steps[0] == "parts" {
		if k, ok := codec.StepIndex(steps[1:]); ok && k < len(t.Parts) {
			return r.partPath(turn, k, t.Parts[k], steps[2:])
		}
	}
	i, _ := r.messageOf(turn, -1)
	if i < 0 {
		return wirePath(codec.JoinSteps("turns."+strconv.Itoa(turn), steps))
	}
	if len(steps) > 0 {
		switch steps[0] {
		case "parts":
			return codec.JoinSteps(messagePath(i)+".content", steps[1:])
		case "extra":
			steps = steps[1:] // the members are those of the message
		}
	}
	return codec.JoinSteps(messagePath(i), steps)
}

// partPath returns the path of a part of a turn, or of System if turn is -1, or of something in
// it.
func (r *Request) partPath(turn, part int, p content.Part, steps []string) string {
	i, at := r.messageOf(turn, part)
	if i < 0 {
		return "messages"
	}
	message := messagePath(i)
	k := part - int(at.part)
	switch {
	case at.result:
		return resultPath(message, at, p, steps)
	case at.thinking != noThinking && k == 0:
		return message + "." + at.thinking.String()
	}
	if at.thinking != noThinking {
		k--
	}
	if k < int(at.content) {
		return contentPath(message, at.kind, k, p, steps)
	}
	k -= int(at.content)
	if at.refusal {
		if k == 0 {
			return message + ".refusal"
		}
		k--
	}
	if at.legacy {
		return callPath(message+".function_call", true, p, steps)
	}
	return callPath(message+".tool_calls["+strconv.Itoa(k)+"]", false, p, steps)
}

// resultPath returns the path of a result, or of something in it.
func resultPath(message string, at *place, p content.Part, steps []string) string {
	if len(steps) == 0 {
		return message
	}
	switch steps[0] {
	case "id":
		return message + ".tool_call_id"
	case "parts", "object":
		r, ok := p.(*content.ToolResult)
		k, isIndex := codec.StepIndex(steps[1:])
		if !ok || r == nil || !isIndex || k >= len(r.Parts) {
			return message + ".content"
		}
		return contentPath(message, at.kind, k, r.Parts[k], steps[2:])
	case "extra":
		return codec.JoinSteps(message, steps[1:])
	}
	return codec.JoinSteps(message, steps)
}

// contentPath returns the path of part k of a content, or of something in it.
func contentPath(message string, kind contentKind, k int, p content.Part, steps []string) string {
	path := message + ".content"
	if kind != listContent {
		if len(steps) > 1 && steps[0] == "extra" {
			return codec.JoinSteps(message, steps[1:])
		}
		return path // a string, or null
	}
	path += "[" + strconv.Itoa(k) + "]"
	if len(steps) == 0 {
		return path
	}
	switch steps[0] {
	case "source":
		return path + "." + sourcePath(p)
	case "title":
		return path + ".file.filename"
	case "cache":
		return codec.JoinSteps(path+"."+breakpoint, steps[1:])
	case "text":
		if t, ok := p.(*content.Text); ok && t != nil && t.Refusal {
			return path + ".refusal"
		}
	case "extra":
		if len(steps) > 1 && (steps[1] == "role" || steps[1] == "name") {
			return codec.JoinSteps(message, steps[1:])
		}
		if len(steps) > 1 && steps[1] == "detail" {
			return path + ".image_url.detail"
		}
		return codec.JoinSteps(path, steps[1:])
	}
	return codec.JoinSteps(path, steps)
}

// sourcePath returns the path of the source in a part.
func sourcePath(p content.Part) string {
	switch p := p.(type) { // other kinds have no source
	case *content.Image:
		return "image_url.url"
	case *content.Media:
		return "input_audio.data"
	case *content.Document:
		if p != nil {
			if _, ok := p.Source.(*content.File); ok {
				return "file.file_id"
			}
		}
	}
	return "file.file_data"
}

// callPath returns the path of a tool call, or of something in it.
func callPath(path string, legacy bool, p content.Part, steps []string) string {
	if len(steps) == 0 {
		return path
	}
	object := ".function"
	c, ok := p.(*content.ToolUse)
	if ok && c != nil && c.Freeform {
		object = ".custom"
	}
	if legacy {
		object = ""
	}
	switch steps[0] {
	case "signature":
		if ok && c != nil && envelope.IsReservedID(c.ID) {
			return path + ".id"
		}
		return path
	case "name":
		return path + object + ".name"
	case "input":
		return path + object + ".arguments"
	case "text":
		return path + object + ".input"
	case "extra":
		if len(steps) > 1 && steps[1] == "arguments" {
			return path + object + ".arguments"
		}
		return codec.JoinSteps(path, steps[1:])
	}
	return codec.JoinSteps(path, steps)
}

// toolPath returns the path of a tool, or of something in it.
func (r *Request) toolPath(i int, steps []string) string {
	if k := i - len(r.Tools); k >= 0 && k < len(r.Functions) {
		return codec.JoinSteps("functions["+strconv.Itoa(k)+"]", toolSteps(steps, ""))
	}
	object := "function"
	if i < len(r.Tools) {
		switch t := &r.Tools[i]; {
		case t.Kind != "":
			object = ""
		case t.Freeform:
			object = "custom"
		}
	}
	return codec.JoinSteps("tools["+strconv.Itoa(i)+"]", toolSteps(steps, object))
}

// toolSteps converts the steps within a tool. object is the member that has the definition.
func toolSteps(steps []string, object string) []string {
	if len(steps) == 0 {
		return nil
	}
	rest := steps[1:]
	switch steps[0] {
	case "extra":
		return rest
	case "cache":
		return append([]string{breakpoint}, rest...)
	case "input":
		rest = append([]string{"parameters"}, rest...)
	case "grammar":
		rest = append([]string{"format", "grammar"}, rest...)
	default:
		rest = steps
	}
	if object != "" {
		rest = append([]string{object}, rest...)
	}
	return rest
}

// wirePrefixes maps prefixes of neutral paths to prefixes of paths in the document. The longest
// match applies.
var wirePrefixes = map[string]string{
	"turns":              "messages",
	"system":             "messages",
	"max_tokens":         "max_completion_tokens",
	"stop_sequences":     "stop",
	"candidates":         "n",
	"user_id":            "safety_identifier",
	"thinking":           "reasoning_effort",
	"thinking.mode":      "reasoning_effort",
	"thinking.effort":    "reasoning_effort",
	"choice":             "tool_choice",
	"choice.mode":        "tool_choice",
	"choice.names":       "tool_choice",
	"choice.no_parallel": "parallel_tool_calls",
	"output":             "response_format",
	"output.media_type":  "response_format.type",
	"output.schema":      "response_format.json_schema.schema",
	"output.name":        "response_format.json_schema.name",
	"output.description": "response_format.json_schema.description",
	"output.strict":      "response_format.json_schema.strict",
	"output.verbosity":   "verbosity",
	"output.modalities":  "modalities",
}

// responsePath converts a neutral path of a response. Texts, thinking and tool calls of all parts
// are members of one message. It returns "" for other paths.
func responsePath(steps []string) string {
	choice := "choices[0]"
	if _, ok := codec.StepIndex(steps[1:]); ok && steps[0] == "candidates" {
		choice = "choices[" + steps[1] + "]"
		if steps = steps[2:]; len(steps) == 0 || steps[0] != "parts" && steps[0] != "stop" {
			return codec.JoinSteps(choice, steps)
		}
	}
	switch steps[0] {
	case "parts":
		return choice + ".message"
	case "stop":
		return choice + ".finish_reason"
	}
	return ""
}

// wirePath converts a neutral path to a path in the document, without knowing the document. It
// keeps unknown names.
func wirePath(neutral string) string {
	steps := strings.Split(neutral, ".")
	if path := responsePath(steps); path != "" {
		return path
	}
	if len(steps) > 1 {
		if prefix, ok := wirePrefixes[steps[0]+"."+steps[1]]; ok {
			return codec.JoinSteps(prefix, steps[2:])
		}
	}
	rest := steps[1:]
	if steps[0] == "extra" && len(rest) > 0 {
		return codec.JoinSteps("", rest) // the members are those of the document
	}
	prefix := cmp.Or(wirePrefixes[steps[0]], steps[0])
	for i, s := range rest {
		if s == "parts" {
			rest[i] = "content"
		}
	}
	if len(rest) > 0 && rest[0] == "extra" {
		rest = rest[1:]
	}
	return codec.JoinSteps(prefix, rest)
}
