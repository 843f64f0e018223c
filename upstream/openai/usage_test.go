package openai

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestUsageApart checks the usage of servers that bill thinking in addition to the completion,
// although the total of one of them does not include it. Others bill the completion.
func TestUsageApart(t *testing.T) {
	const body = `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":96}}}`
	for _, tt := range []struct {
		host              string
		completion, total int
		want              content.Usage
	}{
		{"https://ai-gateway.vercel.sh/v1", 10, 15, content.Usage{Input: 5, Output: 10, Thinking: 96}},
		{"https://ai-gateway.vercel.sh/v1", 100, 105, content.Usage{Input: 5, Output: 4, Thinking: 96}},
		{"https://api.x.ai/v1", 10, 111, content.Usage{Input: 5, Output: 10, Thinking: 96}},
		{"https://api.x.ai/v1", 10, 0, content.Usage{Input: 5, Output: 10, Thinking: 96}},
		{"https://openrouter.ai/api/v1", 10, 15, content.Usage{Input: 5, Thinking: 10}},
	} {
		c, err := New(&Options{BaseURL: tt.host})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.DecodeResponse(nil, fmt.Appendf(nil, body, tt.completion, tt.total))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got.Usage); diff != "" {
			t.Errorf("%s, %d (-want +got):\n%s", tt.host, tt.completion, diff)
		}
	}
}
