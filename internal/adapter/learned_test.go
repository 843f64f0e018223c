package adapter

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

func efforts(list ...string) (s lower.EffortSet) {
	for _, e := range list {
		s.Add(e)
	}
	return s
}

// TestLearned reads the errors of vendors. Those of the OpenAI effort and of the Messages effort are
// recorded.
func TestLearned(t *testing.T) {
	for _, tt := range []struct {
		text, effort string
		limit        int64 // that was sent
		want         Learned
	}{
		{text: "Unsupported value: 'minimal' is not supported with the 'o4-mini' model. Supported values are: 'low', 'medium', and 'high'. reasoning.effort", effort: "minimal",
			want: Learned{Refused: efforts("none", "minimal", "xhigh", "max")}},
		{text: "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.", effort: "xhigh",
			want: Learned{Refused: efforts("none", "minimal", "xhigh")}},
		{text: "Unsupported value: 'reasoning_effort' does not support 'max' with this model.", effort: "max", want: Learned{Refused: efforts("max")}},
		{text: "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.", effort: "minimal", want: Learned{Refused: efforts("minimal")}},
		{text: "body.reasoning_effort: Input should be 'low', 'medium' or 'high'", effort: "none", want: Learned{Refused: efforts("none", "minimal", "xhigh", "max")}},
		{text: "Unsupported parameter: 'reasoning_effort' is not supported with this model.", effort: "low"},
		{text: "Unsupported value: 'temperature' does not support 0.2 with this model.", effort: "low"},
		{text: "the effort low", effort: ""},

		{text: "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5-20250929", limit: 100000, want: Learned{Limit: 64000}},
		{text: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", limit: 100000, want: Learned{Limit: 16384}},
		{text: "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", limit: 32000, want: Learned{Limit: 8192}},
		{text: "maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)", limit: 100000, want: Learned{Limit: 65536}},
		{text: "Unsupported parameter: 'max_tokens' is not supported with the model gpt-5-2025-08-07.", limit: 100000},
		{text: "This model's maximum context length is 8192 tokens. max_tokens is 100000", limit: 100000},
		{text: "max_tokens is too large: 100000. This model supports at most 16384 completion tokens."},

		{text: "The thinking budget 100000 is invalid. Please choose a value between 512 and 24576.", want: Learned{LowBudget: 512, HighBudget: 24576}},
		{text: "Budget 0 is invalid. This model only works in thinking mode.", want: Learned{AlwaysThinks: true}},
	} {
		sent := &lower.Request{}
		sent.Thinking.Effort = tt.effort
		if tt.limit > 0 {
			sent.MaxTokens = &tt.limit
		}
		var got Learned
		learned := got.LearnFrom(&upstream.Error{Code: upstream.CodeInvalid, Text: tt.text}, sent)
		if diff := cmp.Diff(tt.want, got); diff != "" || learned != (tt.want != Learned{}) {
			t.Errorf("%s: %v (-want +got):\n%s", tt.text, learned, diff)
		}
		if got.LearnFrom(&upstream.Error{Code: upstream.CodeInvalid, Text: tt.text}, sent) {
			t.Errorf("%s: learned twice", tt.text)
		}
	}
	sent := &lower.Request{}
	sent.Thinking.Effort = "xhigh"
	const text = "This model does not support effort level 'xhigh'."
	for _, err := range []error{nil, errors.New(text), &upstream.Error{Code: upstream.CodeRateLimit, Text: text}} {
		if got := new(Learned); got.LearnFrom(err, sent) {
			t.Errorf("learned %+v from %v", got, err)
		}
	}
}

// TestMemory checks that the memory is bounded, that a model that it knows does not displace others,
// and that it forgets.
func TestMemory(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := Memory[int]{Now: func() time.Time { return now }}
	add := func(i, n int) { m.Add("m"+strconv.Itoa(i), func(old int) int { return old + n }) }
	get := func(i int) int { return m.Get("m" + strconv.Itoa(i)) }
	for i := range maxRemembered {
		add(i, 1)
	}
	now = now.Add(memoryTime / 2)
	if add(0, 2); get(0) != 3 || get(1) != 1 {
		t.Errorf("got %d, %d", get(0), get(1))
	}
	if now = now.Add(memoryTime / 2); get(0) != 3 || get(1) != 0 {
		t.Errorf("after an hour: got %d, %d", get(0), get(1))
	}
	if now = now.Add(memoryTime / 2); get(0) != 0 {
		t.Errorf("later: got %d", get(0))
	}
	for i := range maxRemembered + 1 {
		add(i, 1)
	}
	if len(m.models) > maxRemembered || get(maxRemembered) != 1 {
		t.Errorf("%d models, the newest %d", len(m.models), get(maxRemembered))
	}
}
