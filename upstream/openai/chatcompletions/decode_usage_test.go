package chatcompletions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestUsage(t *testing.T) {
	withUsage := func(u string) string { return `{"choices":[],"usage":` + u + `}` }
	tests := []struct {
		name   string
		chunks []string
		want   content.Usage
	}{
		{"OpenAI", []string{hi, stopped, withUsage(`{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":20}}`)},
			content.Usage{Input: 30, CacheRead: 60, CacheWrite: 10, Output: 10, Thinking: 20}},
		{"none", []string{hi, stopped}, content.Usage{}},
		{"null", []string{hi, stopped, withUsage(`null`)}, content.Usage{}},
		{"in every chunk", []string{`{"choices":[{"index":0,"delta":{"content":"h"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`, `{"choices":[{"index":0,"delta":{"content":"i"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`},
			content.Usage{Input: 5, Output: 2}},
		{"fractions and nulls", []string{hi, stopped, withUsage(`{"prompt_tokens":5.0,"completion_tokens":2.0,"total_tokens":null,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}`)}, content.Usage{Input: 5, Output: 2}},
		{"fractional tokens", []string{hi, stopped, withUsage(`{"prompt_tokens":5.5,"completion_tokens":2.5,"reasoning_tokens":1}`)}, content.Usage{Input: 5, Output: 1, Thinking: 1}},
		{"thinking not in completion", []string{hi, stopped, withUsage(`{"prompt_tokens":5,"completion_tokens":2,"total_tokens":17,"completion_tokens_details":{"reasoning_tokens":10}}`)}, content.Usage{Input: 5, Output: 2, Thinking: 10}},
		{"more thinking than completion", []string{hi, stopped, withUsage(`{"prompt_tokens":3670,"completion_tokens":514,"total_tokens":4184,"completion_tokens_details":{"reasoning_tokens":553}}`)}, content.Usage{Input: 3670, Thinking: 514}},
		{"more thinking without a total", []string{hi, stopped, withUsage(`{"prompt_tokens":5,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":10}}`)}, content.Usage{Input: 5, Thinking: 2}},
		{"thinking without a completion", []string{hi, stopped, withUsage(`{"prompt_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":10}}`)}, content.Usage{Input: 5, Thinking: 10}},
		{"hits and misses", []string{hi, stopped, withUsage(`{"prompt_tokens":50,"completion_tokens":2,"prompt_cache_hit_tokens":40,"prompt_cache_miss_tokens":10}`)}, content.Usage{Input: 10, CacheRead: 40, Output: 2}},
		{"x_groq", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":5,"completion_tokens":2}}}`}, content.Usage{Input: 5, Output: 2}},
		{"timings", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"timings":{"prompt_n":5,"cache_n":7,"predicted_n":2}}`}, content.Usage{Input: 5, CacheRead: 7, Output: 2}},
		{"timings with usage", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":2},"timings":{"prompt_n":5,"predicted_n":2}}`}, content.Usage{Input: 12, Output: 2}},
		{"timings with empty usage", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens_details":null},"timings":{"prompt_n":5,"predicted_n":2}}`}, content.Usage{Input: 5, Output: 2}},
		{"nonsense", []string{hi, stopped, withUsage(`{"prompt_tokens":-5,"completion_tokens":"2","prompt_tokens_details":{"cached_tokens":1e300}}`)}, content.Usage{}},
		{"overlapping reads and writes", []string{hi, stopped, withUsage(`{"prompt_tokens":2168,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":2154,"cache_write_tokens":2154}}`)}, content.Usage{CacheRead: 2154, CacheWrite: 14, Output: 2}},
		{"more written than prompt", []string{hi, stopped, withUsage(`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cache_write_tokens":9}}`)}, content.Usage{CacheWrite: 5, Output: 2}},
		{"more cached than prompt", []string{hi, stopped, withUsage(`{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":9}}`)}, content.Usage{CacheRead: 5, Output: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := collectChat(t, strings.NewReader(events(test.chunks...)), ThinkTagsOff)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Usage); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
