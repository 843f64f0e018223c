package page_test

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/page"
)

func TestFormat(t *testing.T) {
	seed := &loss.Rule{Feature: loss.Seed, Severity: content.LossDropped, Reason: "no seed"}
	topK := &loss.Rule{Feature: loss.TopK, Severity: content.LossHint, Reason: "b"}
	worse := &loss.Rule{Feature: loss.TopK, Severity: content.LossDropped, Reason: "a"}
	got, err := page.Format([]*loss.Rule{seed, worse, topK, seed})
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
		if _, err := page.Format([]*loss.Rule{&bad}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMatrix(t *testing.T) {
	m := &page.Matrix{
		Ways: []page.Way{{From: "messages", To: "openai"}, {From: "generatecontent", To: "messages"}},
		Rows: []page.Row{
			{Feature: "seed", Cells: []page.Cell{{Unsupported: true}, {Worst: content.LossDropped}}},
			{Feature: "response: text", Cells: []page.Cell{{}, {Worst: content.LossHint}}},
		},
	}
	markdown := strings.Join([]string{
		"| | Messages → Chat Completions | generateContent → Messages |",
		"| --- | --- | --- |",
		"| seed | – | dropped |",
		"| text | | hint |",
		"",
	}, "\n")
	if got := m.Markdown(); got != markdown {
		t.Errorf("got\n%s", got)
	}
}
