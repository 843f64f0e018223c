package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// usageOf reads a usage of chat completions or of responses. Counts may be
// missing, null or have fractions. It reports false if v says nothing.
func usageOf(v jsonwire.Value) (u content.Usage, ok bool) {
	if v.Kind() != jsonwire.Object {
		return u, false
	}
	c := counts{prompt: -1}
	for name, x := range v.Members() {
		c.member(name, x)
		ok = ok || x.Kind() == jsonwire.Number
	}
	if !ok {
		return u, false
	}
	if c.prompt < 0 {
		c.prompt = c.hit + c.miss
	}
	c.cached = max(c.cached, c.hit)
	// Both are parts of the prompt. Some servers count tokens in both, or more
	// than there are: what is left adds up to the prompt.
	u.CacheRead = min(c.cached, c.prompt)
	u.CacheWrite = min(c.written, c.prompt-u.CacheRead)
	u.Input = c.prompt - u.CacheRead - u.CacheWrite
	u.Thinking = c.reasoning
	u.Output = max(c.answer-c.reasoning, 0)
	if c.reasoning > 0 && c.total == c.prompt+c.answer+c.reasoning {
		u.Output = c.answer // this server does not count thoughts among the answer
	}
	return u, true
}

// counts are the numbers of a usage as servers send them: sums.
type counts struct {
	prompt, answer, total      int64
	cached, written, reasoning int64
	hit, miss                  int64
}

func (c *counts) member(name string, v jsonwire.Value) {
	switch name {
	case "prompt_tokens", "input_tokens":
		if v.Kind() == jsonwire.Number {
			c.prompt = count(v)
		}
	case "completion_tokens", "output_tokens":
		c.answer = count(v)
	case "total_tokens":
		c.total = count(v)
	case "prompt_cache_hit_tokens":
		c.hit = count(v)
	case "prompt_cache_miss_tokens":
		c.miss = count(v)
	case "reasoning_tokens":
		c.reasoning = max(c.reasoning, count(v))
	case "prompt_tokens_details", "input_tokens_details":
		c.cached, c.written = count(v.Get("cached_tokens")), count(v.Get("cache_write_tokens"))
	case "completion_tokens_details", "output_tokens_details":
		c.reasoning = max(c.reasoning, count(v.Get("reasoning_tokens")))
	}
}

// timingsOf reads what one server tells where others have a usage.
func timingsOf(v jsonwire.Value) (u content.Usage, ok bool) {
	if v.Kind() != jsonwire.Object {
		return u, false
	}
	u.Input, u.CacheRead, u.Output = count(v.Get("prompt_n")), count(v.Get("cache_n")), count(v.Get("predicted_n"))
	return u, u.Prompt()+u.Output > 0
}

// count returns a number of tokens; what is no such number is 0.
func count(v jsonwire.Value) int64 {
	if n, ok := v.Int(); ok {
		return max(n, 0)
	}
	if f, ok := v.Float(); ok && f > 0 && f < 1<<53 {
		return int64(f)
	}
	return 0
}
