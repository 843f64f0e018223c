package openaiformat

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// ServiceTier returns the service tier that the usage of another vendor has, as JSON text, or "".
// Both formats have the service_tier in the response.
func ServiceTier(u *content.Usage) string {
	switch codec.Tier(u.Extra) {
	case "standard":
		return `"default"` // the same tier
	case "priority":
		return `"priority"`
	}
	return ""
}

// HasOtherCounts reports whether a usage has counts or members that clients of a format do not
// receive under a name of their own. audio reports whether they receive audio tokens.
func HasOtherCounts(u *content.Usage, format content.Format, audio bool) bool {
	if u.CacheWrite1h != 0 || u.ToolPrompt != 0 || codec.HasCounts(u.Extra, format) {
		return true
	}
	for _, m := range u.Modalities {
		isAudio := audio && m.Modality == "audio" && (m.Kind == "prompt" || m.Kind == "output")
		if m.Tokens != 0 && m.Modality != "text" && !isAudio {
			return true
		}
	}
	return false
}

// Usage decodes a usage of Chat Completions or the Responses API. Counts may be missing, null
// or fractional. ok is false if v has no counts.
//
// Thinking is part of the completion, unless the total includes both, or there is more
// thinking than completion and the server is known to bill both (apart). From other servers
// that report more thinking, the completion is what they bill: Thinking is at most that.
func Usage(v jsonwire.Value, apart bool) (u content.Usage, ok bool) {
	if v.Kind() != jsonwire.Object {
		return u, false
	}
	c := counts{prompt: -1}
	for name, x := range v.Members() {
		c.add(name, x)
		ok = ok || x.Kind() == jsonwire.Number
	}
	if !ok {
		return u, false
	}
	if c.prompt < 0 {
		c.prompt = c.hit + c.miss
	}
	c.cached = max(c.cached, c.hit)
	// Cache reads and writes are parts of the prompt. Some servers count tokens in
	// both, or more than there are: the three parts always add up to the prompt.
	u.CacheRead = min(c.cached, c.prompt)
	u.CacheWrite = min(c.cacheWritten, c.prompt-u.CacheRead)
	u.Input = c.prompt - u.CacheRead - u.CacheWrite
	u.Thinking = c.reasoning
	if c.total != c.prompt+c.completion+c.reasoning && !(apart && c.reasoning > c.completion) {
		u.Thinking = min(c.reasoning, c.completion)
		c.completion -= u.Thinking
	}
	u.Output = c.completion
	return u, true
}

// counts are the totals of a usage as servers send them.
type counts struct {
	prompt, completion, total       int64
	cached, cacheWritten, reasoning int64
	hit, miss                       int64
}

func (c *counts) add(name string, v jsonwire.Value) {
	switch name {
	case "prompt_tokens", "input_tokens":
		if v.Kind() == jsonwire.Number {
			c.prompt = Count(v)
		}
	case "completion_tokens", "output_tokens":
		c.completion = Count(v)
	case "total_tokens":
		c.total = Count(v)
	case "prompt_cache_hit_tokens":
		c.hit = Count(v)
	case "prompt_cache_miss_tokens":
		c.miss = Count(v)
	case "reasoning_tokens":
		c.reasoning = max(c.reasoning, Count(v))
	case "prompt_tokens_details", "input_tokens_details":
		c.cached, c.cacheWritten = Count(v.Get("cached_tokens")), Count(v.Get("cache_write_tokens"))
	case "completion_tokens_details", "output_tokens_details":
		c.reasoning = max(c.reasoning, Count(v.Get("reasoning_tokens")))
	}
}

// TimingsUsage decodes the timings of llama.cpp, which replace a usage.
func TimingsUsage(v jsonwire.Value) (u content.Usage, ok bool) {
	if v.Kind() != jsonwire.Object {
		return u, false
	}
	u.Input, u.CacheRead, u.Output = Count(v.Get("prompt_n")), Count(v.Get("cache_n")), Count(v.Get("predicted_n"))
	return u, u.Prompt()+u.Output > 0
}

// Count returns a token count, or 0 if v is not one.
func Count(v jsonwire.Value) int64 {
	if n, ok := v.Int(); ok {
		return max(n, 0)
	}
	if f, ok := v.Float(); ok && f > 0 && f < 1<<53 {
		return int64(f)
	}
	return 0
}
