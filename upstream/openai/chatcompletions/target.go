package chatcompletions

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
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

// maxTopLogprobs is the limit of top_logprobs.
const maxTopLogprobs = 20

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

// toLogprobs returns the members that request log probabilities, or "". x has the members of
// generateContent or of Responses.
func toLogprobs(x *content.Extra) string {
	asks, top := asksInclude(x), gjson.Get(x.JSON, openaiformat.OwnTopLogprobs)
	if gjson.Get(x.JSON, openaiformat.ResponseLogprobs).Type == gjson.True {
		asks, top = true, gjson.Get(x.JSON, openaiformat.TopLogprobs)
	}
	n := int64(top.Num)
	if !asks || top.Type != gjson.Null && (top.Type != gjson.Number || float64(n) != top.Num || n < 0 || n > maxTopLogprobs) {
		return ""
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.BoolMember("logprobs", true)
	if n > 0 {
		w.IntMember("top_logprobs", n)
	}
	w.EndObject()
	return w.Text()
}

// asksInclude reports whether a request of Responses asks for log probabilities, and for nothing else
// that servers of this format do not send.
func asksInclude(x *content.Extra) (asks bool) {
	others := false
	gjson.Get(x.JSON, openaiformat.Include).ForEach(func(_, v gjson.Result) bool {
		asks = asks || v.Str == openaiformat.IncludeLogprobs
		others = others || v.Str != openaiformat.IncludeLogprobs && v.Str != openaiformat.IncludeReasoning
		return !others
	})
	return asks && !others
}
