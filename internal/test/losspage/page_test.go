package losspage_test

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/losspage"
)

func TestFormat(t *testing.T) {
	seed := &loss.Rule{Feature: loss.Seed, Severity: content.LossDropped, Reason: "no seed"}
	topK := &loss.Rule{Feature: loss.TopK, Severity: content.LossHint, Reason: "b"}
	worse := &loss.Rule{Feature: loss.TopK, Severity: content.LossDropped, Reason: "a"}
	got, err := losspage.Format([]*loss.Rule{seed, worse, topK, seed})
	if want := "top_k\thint\tb\ntop_k\tdropped\ta\nseed\tdropped\tno seed\n"; got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for name, bad := range map[string]loss.Rule{
		"missing feature":           {Severity: content.LossHint, Reason: "a"},
		"unknown feature":           {Feature: "colour", Severity: content.LossHint, Reason: "a"},
		"missing severity":          {Feature: loss.Seed, Reason: "a"},
		"missing reason":            {Feature: loss.Seed, Severity: content.LossHint},
		"reason with several lines": {Feature: loss.Seed, Severity: content.LossHint, Reason: "a\nb"},
		"unknown severity":          {Feature: loss.Seed, Severity: content.LossDropped + 1, Reason: "a"},
	} {
		if _, err := losspage.Format([]*loss.Rule{&bad}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTable checks the table of responses: only Chat Completions and generateContent have
// several candidates, of which Messages represents one.
func TestTable(t *testing.T) {
	got, err := losspage.Table("messages")
	if err != nil {
		t.Fatal(err)
	}
	header := "| | generateContent | Chat Completions | Responses |\n| --- | --- | --- | --- |\n"
	if !strings.HasPrefix(got, header) {
		t.Errorf("the header is not %q:\n%s", header, got)
	}
	if row := "\n| several candidates | dropped | dropped | – |\n"; !strings.Contains(got, row) {
		t.Errorf("no row %q:\n%s", row, got)
	}
	for row := range strings.Lines(strings.TrimPrefix(got, header)) {
		if !strings.Contains(row, "hint") && !strings.Contains(row, "degraded") && !strings.Contains(row, "dropped") {
			t.Errorf("a row without a loss: %s", row)
		}
	}
}
