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
