package chatcompletions

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// encodedMembers are the members that the encoder writes. Extra members do not replace
// them.
var encodedMembers = []string{
	"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "functions",
	"function_call", "reasoning_effort", "max_tokens", "max_completion_tokens", "n", "temperature", "top_p", "top_k",
	"presence_penalty", "frequency_penalty", "seed", "stop", "response_format", "modalities", "safety_identifier",
	"service_tier", "store",
}

// maxStops is the limit of stop sequences.
const maxStops = 4

// fileName returns the name of a PDF.
func fileName(title, _ string) string {
	if title == "" {
		return "document.pdf"
	}
	return title
}

// isReturnable reports whether thinking has the state that the server needs. The signature of
// thinking is the name of its member, or an object of members to send unchanged.
func isReturnable(t *content.Thinking) bool {
	data := t.Signature.Data
	if t.Redacted.Data != "" {
		data = t.Redacted.Data
	}
	if strings.HasPrefix(data, "{") {
		added, _ := new(encodedThinking).addObject(data)
		return added
	}
	return isThinkingMember(data)
}

// isThinkingMember reports whether thinking may be returned in a member. The name comes
// from a client and must not be that of another member.
func isThinkingMember(name string) bool {
	switch name {
	case "reasoning_content", "reasoning", "reasoning_text":
		return true
	}
	return false
}

// askLogprobs returns the members that ask for log probabilities.
func askLogprobs(top int64) string {
	var w jsonwire.Writer
	w.BeginObject()
	w.BoolMember("logprobs", true)
	if top > 0 {
		w.IntMember("top_logprobs", top)
	}
	w.EndObject()
	return w.Text()
}
