package openai

import (
	"errors"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

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

// filtered ends an answer where err says that a filter has refused the prompt, or
// has stopped the answer: that is an answer, of nothing or of what was said until
// then. All other errors it returns.
func (c *client) filtered(w *upstream.Writer, err error) error {
	var f *vendorError
	if !errors.As(err, &f) || !f.filtered() {
		return err
	}
	word := f.code
	if word == "" {
		word = "content_filter"
	}
	return w.Stop(upstream.Stop{Reason: content.StopSafety, Format: c.own, RawReason: word, Details: f.why, Message: f.message})
}
