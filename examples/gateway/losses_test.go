package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Each loss is a line, also at several places, and the lines of a
// request are bounded.
func TestLogLosses(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	r := &upstream.Report{ID: "req_1", Losses: []content.Loss{
		{Path: "turns.1.parts.0", Severity: content.LossHint, Reason: "no cache", Also: []string{"turns.2.parts.0"}},
		{Path: "top_k", Severity: content.LossDropped, Reason: "no top_k here"},
	}}
	logLosses(t.Context(), logger, r, false)
	for _, want := range []string{"and in another place: no cache", "dropped top_k: no top_k here", "request=req_1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in the log:\n%s", want, &log)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want 2:\n%s", n, &log)
	}
	for i := range 500 {
		r.Losses = append(r.Losses, content.Loss{Path: fmt.Sprint("extra.a", i), Severity: content.LossDropped})
	}
	log.Reset()
	logLosses(t.Context(), logger, r, false)
	if n := strings.Count(log.String(), "\n"); n != maxReasons+1 || !strings.Contains(log.String(), "number=402") {
		t.Errorf("%d lines, want %d and the number of others:\n%.300s", n, maxReasons+1, &log)
	}
}

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
		"dropped response 3; degraded stop": {
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
