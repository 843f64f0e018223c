package adapter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOutputLimits checks which entry applies to a model.
func TestOutputLimits(t *testing.T) {
	limits, problems := NewOutputLimits(map[string]int64{
		"GPT-4": 8192, "gpt-4o": 16384, "gpt-4o-mini": 100, "vendor/own": 7, "house": 0, "bad": -1,
	})
	if diff := cmp.Diff([]string{`OutputLimits["bad"]: is negative`}, problems); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for model, want := range map[string]int64{
		"gpt-4": 8192, "gpt-4-0613": 8192, "gpt-4.1": 8192, "gpt-4x": -1, "gpt-4o": 16384, "openai/gpt-4o:free": 16384,
		"GPT-4o-Mini-2024": 100, "vendor/own": 7, "own": -1, "house@1": 0, "": -1,
	} {
		got, ok := limits.Lookup(model)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s: got %d, want %d", model, got, want)
		}
	}
	if _, ok := OutputLimits(nil).Lookup("gpt-4"); ok {
		t.Error("an empty table has a limit")
	}
}

// TestCapTokens checks how a number of tokens is lowered to a limit.
func TestCapTokens(t *testing.T) {
	asked := int64(100)
	for limit, want := range map[int64]int64{0: 100, 100: 100, 101: 100, 99: 99} {
		if got, lowered := CapTokens(&asked, limit); *got != want || lowered != (want != 100) {
			t.Errorf("limit %d: got %d, %v", limit, *got, lowered)
		}
	}
	if got, lowered := CapTokens(nil, 5); got != nil || lowered {
		t.Error("no number was lowered")
	}
}
