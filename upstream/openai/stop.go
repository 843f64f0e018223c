package openai

import "github.com/polywire/polywire/content"

// stopReason returns what a finish_reason means. failed says that it is the
// server's word for its own failure. A word that nobody knows is the end.
func stopReason(word string) (reason content.StopReason, failed bool) {
	switch word {
	case "length", "max_tokens", "max_output_tokens", "model_length":
		return content.StopMaxTokens, false
	case "tool_calls", "function_call", "tool_use":
		return content.StopToolUse, false
	case "content_filter":
		return content.StopSafety, false
	case "refusal":
		return content.StopRefusal, false
	case "error", "insufficient_system_resource", "abort":
		return "", true
	}
	return content.StopEnd, false
}
