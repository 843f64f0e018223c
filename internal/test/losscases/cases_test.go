package losscases_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/losscases"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// run returns the index of all rules, and what the cases have met.
func run(t *testing.T) (*losscases.Index, *losscases.Result) {
	t.Helper()
	index, err := losscases.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	result, err := losscases.Run(index)
	if err != nil {
		t.Fatal(err)
	}
	return index, result
}

// elsewhere are the rules of requests that adapters do not report: those of handlers, and
// those of RequestFromUpstream, whose callers may not load files.
var elsewhere = []*loss.Rule{lower.RequiredHeaderNotSent, lower.FileStored}

// TestRules checks that a case of some server meets each rule for requests. A rule that
// nothing reports must be deleted; for another one a case is missing.
func TestRules(t *testing.T) {
	index, result := run(t)
	met := make(map[loss.Rule]bool)
	for _, list := range result.Targets() {
		for _, r := range list {
			met[key(r)] = true
		}
	}
	for _, r := range elsewhere {
		if met[key(r)] {
			t.Errorf("a case meets this rule, so that the test need not name it: %s", r.Reason)
		}
		met[key(r)] = true
	}
	for _, dir := range []string{
		"internal/lower", "internal/foreign", "internal/codec", "messages", "generatecontent",
		"upstream/anthropic", "upstream/gemini", "upstream/openai", "upstream/openai/chatcompletions",
		"upstream/openai/responses", "internal/openaiformat",
	} {
		for _, r := range index.Declared(dir) {
			if !strings.HasPrefix(r.Feature, "response: ") && !met[key(r)] {
				t.Errorf("%s: no case meets this rule: %s: %s: %s", dir, r.Feature, r.Severity, r.Reason)
			}
		}
	}
}

// key returns what identifies a rule in the source and in the program.
func key(r *loss.Rule) loss.Rule {
	return loss.Rule{Feature: r.Feature, Severity: r.Severity, Reason: r.Reason}
}

// TestPlain checks that a plain request has no losses anywhere, so that those of a case
// belong to what the case sets.
func TestPlain(t *testing.T) {
	for s := range losscases.Servers {
		var c losscases.Case
		if losses, err := c.Run(s); err != nil || len(losses) > 0 {
			t.Errorf("%s: %v, %v", s, losses, err)
		}
	}
}

// parsers parse a request of a client, by format.
var parsers = map[content.Format]func(body []byte) (*upstream.Request, error){
	messages.Format:        neutral(messages.ParseRequest),
	generatecontent.Format: neutral(generatecontent.ParseRequest),
	chatcompletions.Format: neutral(chatcompletions.ParseRequest),
	responses.Format:       neutral(responses.ParseRequest),
}

// neutral returns a parser that returns neutral requests.
func neutral[R interface{ Upstream() *upstream.Request }](parse func([]byte) (R, error)) func([]byte) (*upstream.Request, error) {
	return func(body []byte) (*upstream.Request, error) {
		r, err := parse(body)
		if err != nil {
			return nil, err
		}
		return r.Upstream(), nil
	}
}

// bodies returns real requests of clients of a format by their names: those in the test data of
// its handler or of the playground, and those of a coding agent.
func bodies(t *testing.T, format content.Format) map[string]string {
	t.Helper()
	all := map[string]string{}
	pattern, minimum := string(format)+"/testdata/*.json", 10
	switch format {
	case messages.Format:
		all["agent"] = workload.Agent()
	case generatecontent.Format:
		all["agent"] = workload.GenerateAgent()
	case chatcompletions.Format:
		pattern, minimum = "examples/playground/samples/chat.json", 1
		all["agent"], all["image"], all["pdf"] = workload.CompletionsAgent(), workload.CompletionsImage(), workload.CompletionsPDF()
	case responses.Format:
		pattern, minimum = "examples/playground/samples/responses.json", 1
	}
	files, err := filepath.Glob("../../../" + pattern)
	if err != nil || len(files) < minimum {
		t.Fatalf("%d requests, %v", len(files), err)
	}
	for _, f := range files {
		body, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = string(body)
	}
	return all
}

// forEachRequest calls f with the losses of real requests at servers of other formats.
func forEachRequest(t *testing.T, f func(name string, s losscases.Server, losses []content.Loss)) {
	t.Helper()
	count := 0
	for format, parse := range parsers {
		for file, body := range bodies(t, format) {
			r, err := parse([]byte(body))
			if err != nil {
				if format == chatcompletions.Format || format == responses.Format {
					t.Errorf("%s %s: %v", format, file, err)
				}
				continue // the test data of the other formats has invalid requests
			}
			for s := range losscases.Servers {
				if s.Format() == format {
					continue
				}
				c := losscases.Case{Set: func(n *upstream.Request) {
					model := n.Model
					*n = *r
					n.Model = model
				}}
				losses, err := c.Run(s)
				if list, _ := content.Violations(err); err != nil && len(list) == 0 {
					t.Errorf("%s: %v", file, err)
				}
				if err == nil { // a request that is refused has no cell
					f(string(format)+"/"+file, s, losses)
					count += len(lossplaces.Of(losses))
				}
			}
		}
	}
	if count < 500 {
		t.Error(errors.New("few losses"), count)
	}
}

// TestReportedOnce checks that a reason is reported once, with each place once, and that there
// are few hints.
func TestReportedOnce(t *testing.T) {
	forEachRequest(t, func(name string, s losscases.Server, losses []content.Loss) {
		type place struct{ reason, path string }
		seen := map[place]bool{}
		reasons := map[string]bool{}
		hints := 0
		for _, l := range losses {
			if reasons[l.Severity.String()+l.Reason] {
				t.Errorf("%s to %s: reported twice: %v", name, s, l)
			}
			reasons[l.Severity.String()+l.Reason] = true
			for path := range l.Places() {
				if seen[place{l.Reason, path}] {
					t.Errorf("%s to %s: %s reported twice: %v", name, s, path, l)
				}
				seen[place{l.Reason, path}] = true
			}
			if l.Severity == content.LossHint {
				hints++
			}
		}
		if hints > 12 {
			t.Errorf("%s to %s: %d different hints", name, s, hints)
		}
	})
}

// TestCasesHold checks that the page has the losses of real requests.
func TestCasesHold(t *testing.T) {
	index, result := run(t)
	met := result.Targets()
	forEachRequest(t, func(name string, s losscases.Server, losses []content.Loss) {
		for _, l := range lossplaces.Of(losses) {
			is := func(r *loss.Rule) bool { return r.Of(l) }
			if !slices.ContainsFunc(met[strings.TrimSuffix(string(s.Format()), "-chat")], is) && !slices.ContainsFunc(index.Declared("internal/schema"), is) {
				t.Errorf("%s to %s: no case has %s %s: %s", name, s, l.Severity, l.Path, l.Reason)
			}
		}
	})
}
