package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestSummary(t *testing.T) {
	for want, losses := range map[string][]content.Loss{
		"": nil,
		"dropped top_k, top_p; degraded tools 2, turns 1, thinking.mode; hint 2": {
			{Path: "turns.1.parts.0", Severity: content.LossHint},
			{Path: "tools.0.input.properties.a.pattern", Severity: content.LossDegraded},
			{Path: "turns.7.parts.0", Severity: content.LossDegraded},
			{Path: "top_k", Severity: content.LossDropped},
			{Path: "tools.9.input", Severity: content.LossDegraded},
			{Path: "thinking.mode", Severity: content.LossDegraded},
			{Path: "top_p", Severity: content.LossDropped},
			{Path: "extra.a", Severity: content.LossHint},
		},
		"dropped answer 3; degraded stop": {
			{Path: "parts.1", Severity: content.LossDropped},
			{Path: "candidates.1.parts.0", Severity: content.LossDropped},
			{Severity: content.LossDropped},
			{Path: "stop", Severity: content.LossDegraded},
		},
	} {
		if got := summary(losses); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var many []content.Loss
	for i := range 1000 {
		many = append(many, content.Loss{Path: fmt.Sprint("extra.a", i), Severity: content.LossDropped})
	}
	if got := summary(many); len(got) > 200 || !strings.HasSuffix(got, ", 988 more") {
		t.Errorf("got %q", got)
	}
}
