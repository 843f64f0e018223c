package page_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/page"
	"github.com/polywire/polywire/internal/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// noServer is a transport that fails the test if it is used.
type noServer struct{ t *testing.T }

func (n noServer) RoundTrip(*http.Request) (*http.Response, error) {
	n.t.Error("unexpected request")
	return nil, errors.New("no server")
}

func adapters(t *testing.T) map[string]upstream.Upstream {
	t.Helper()
	client := &http.Client{Transport: noServer{t}}
	m, err1 := anthropic.New(&anthropic.Options{HTTPClient: client})
	g, err2 := gemini.New(&gemini.Options{HTTPClient: client})
	c, err3 := openai.New(&openai.Options{HTTPClient: client})
	r, err4 := openai.NewResponses(&openai.Options{HTTPClient: client})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return map[string]upstream.Upstream{"messages": m, "generatecontent": g, "openai": c, "openai-responses": r}
}

// requests returns the requests in the test data of a handler, by file.
func requests(t *testing.T, format string) map[string]*upstream.Request {
	t.Helper()
	files, err := filepath.Glob("../../../" + format + "/testdata/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d requests, %v", len(files), err)
	}
	all := map[string]*upstream.Request{}
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		switch format {
		case "messages":
			if r, err := messages.ParseRequest(body); err == nil {
				all[filepath.Base(f)] = r.Upstream()
			}
		case "generatecontent":
			if r, err := generatecontent.ParseRequest(body); err == nil {
				all[filepath.Base(f)] = r.Upstream()
			}
		}
	}
	return all
}

// agents returns the requests of coding agents: many turns with thinking, tool calls
// and cache marks.
func agents(t *testing.T) map[string]*upstream.Request {
	t.Helper()
	m, err1 := messages.ParseRequest([]byte(workload.Agent()))
	g, err2 := generatecontent.ParseRequest([]byte(workload.GenerateAgent()))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return map[string]*upstream.Request{"messages": m.Upstream(), "generatecontent": g.Upstream()}
}

// TestReportedOnce checks that a loss is reported once for each place, and that
// folding leaves few hints.
func TestReportedOnce(t *testing.T) {
	servers, agentRequests := adapters(t), agents(t)
	count := 0
	for _, way := range page.Requests {
		all := requests(t, way.From)
		all["agent"] = agentRequests[way.From]
		for file, r := range all {
			if r.Model == "" {
				r.Model = "some-model"
			}
			losses, err := upstream.Preflight(t.Context(), servers[way.To], r)
			if err != nil {
				continue
			}
			count += len(losses)
			seen := map[content.Loss]bool{}
			for _, l := range losses {
				if seen[l] {
					t.Errorf("%s from %s to %s: reported twice: %v", file, way.From, way.To, l)
				}
				seen[l] = true
			}
			hints := 0
			for _, l := range content.FoldHints(losses) {
				if l.Severity == content.LossHint {
					hints++
				}
			}
			if hints > 12 {
				t.Errorf("%s from %s to %s: %d different hints", file, way.From, way.To, hints)
			}
		}
	}
	if count < 500 {
		t.Errorf("only %d losses were reported", count)
	}
}

// TestMatrixHolds checks that the matrix covers the losses of real requests: each is a
// rule of a table, its feature is supported by the source format, and the cell is at
// least as severe.
func TestMatrixHolds(t *testing.T) {
	m, err := page.Of(page.Requests, false)
	if err != nil {
		t.Fatal(err)
	}
	servers, count := adapters(t), 0
	for column, way := range m.Ways {
		rules, err := way.Rules()
		if err != nil {
			t.Fatal(err)
		}
		for file, r := range requests(t, way.From) {
			if r.Model == "" {
				r.Model = "some-model"
			}
			losses, err := upstream.Preflight(t.Context(), servers[way.To], r)
			if err != nil {
				continue // unsupported requests are errors, not losses
			}
			for _, l := range losses {
				count++
				matches := func(rule loss.Rule) bool { return rule.Severity == l.Severity && rule.Reason == l.Reason }
				known := slices.ContainsFunc(rules, func(rule loss.Rule) bool {
					return matches(rule) && holds(m, column, rule)
				})
				if !known {
					t.Errorf("%s from %s to %s: the matrix does not contain %s %s: %s", file, way.From, way.To, l.Severity, l.Path, l.Reason)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d losses were reported", count)
	}
}

// holds reports whether the cell of a rule's feature covers the rule.
func holds(m *page.Matrix, column int, r loss.Rule) bool {
	i := slices.IndexFunc(m.Rows, func(row page.Row) bool { return row.Feature == r.Feature })
	return i >= 0 && !m.Rows[i].Cells[column].Unsupported && m.Rows[i].Cells[column].Worst >= r.Severity
}

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
