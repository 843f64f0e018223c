package losspage

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// Format returns the text of a table file: one line for each rule, sorted by feature,
// severity and reason. Duplicate rules are written once.
func Format(rules []*loss.Rule) (string, error) {
	list := make([]loss.Rule, len(rules))
	for i, r := range rules {
		list[i] = *r
	}
	list, err := sorted(list)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", r.Feature, r.Severity, r.Reason)
	}
	return b.String(), nil
}

// sorted sorts rules and removes duplicates. It returns an error if a rule cannot be
// written to a table.
func sorted(rules []loss.Rule) ([]loss.Rule, error) {
	order, _, err := Features()
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		switch {
		case !slices.Contains(order, r.Feature):
			return nil, fmt.Errorf("feature %q is not one of internal/loss: %s", r.Feature, r.Reason)
		case r.Severity < content.LossHint || r.Severity > content.LossDropped:
			return nil, fmt.Errorf("unknown severity %d: %s", r.Severity, r.Reason)
		case r.Reason == "" || strings.ContainsAny(r.Reason, "\t\n"):
			return nil, fmt.Errorf("reason %q is empty or contains a tab or a newline", r.Reason)
		}
	}
	slices.SortFunc(rules, func(a, b loss.Rule) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Feature), slices.Index(order, b.Feature)),
			cmp.Compare(a.Severity, b.Severity),
			strings.Compare(a.Reason, b.Reason),
		)
	})
	return slices.Compact(rules), nil
}

// File returns the path of the table with the given name. It works in any directory of
// the module.
func File(name string) (string, error) {
	return InModule("internal/test/losspage/tables/" + name + ".txt")
}

// InModule returns a path of the module, in any of its directories.
func InModule(path string) (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, filepath.FromSlash(path)), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			err = os.ErrNotExist
		}
		dir = parent
	}
	return "", err
}

// feature matches the declaration of a feature in the source of package loss.
var feature = regexp.MustCompile(`(?m)^\t([A-Z]\w*) += "(.+)"$`)

// Features returns all features in the order of their declaration, and by the names of
// their constants.
func Features() (list []string, byName map[string]string, err error) {
	path, err := InModule("internal/loss/features.go")
	if err != nil {
		return nil, nil, err
	}
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	byName = make(map[string]string)
	for _, m := range feature.FindAllSubmatch(source, -1) {
		list = append(list, string(m[2]))
		byName[string(m[1])] = string(m[2])
	}
	return list, byName, nil
}

// Rules reads the tables with the given names.
func Rules(names ...string) ([]loss.Rule, error) {
	var rules []loss.Rule
	for _, name := range names {
		path, err := File(name)
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) != 3 || severities[fields[1]] == 0 {
				return nil, fmt.Errorf("tables/%s.txt: bad line %q", name, line)
			}
			rules = append(rules, loss.Rule{Feature: fields[0], Severity: severities[fields[1]], Reason: fields[2]})
		}
	}
	return rules, nil
}

var severities = map[string]content.Severity{
	content.LossHint.String():     content.LossHint,
	content.LossDegraded.String(): content.LossDegraded,
	content.LossDropped.String():  content.LossDropped,
}
