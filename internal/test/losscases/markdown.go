package losscases

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/loss"
)

// Markdown returns the tables of the page. It returns an error if a condition makes no
// difference at any server.
func (r *Result) Markdown() (string, error) {
	var b strings.Builder
	var errs []error
	for i, group := range r.groups {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### %s\n\n| |", group.Title)
		for _, s := range columns {
			fmt.Fprintf(&b, " %s |", names[s])
		}
		b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
		for j := range group.Features {
			f := &group.Features[j]
			if f.isUnlisted() {
				continue
			}
			fmt.Fprintf(&b, "| %s |", cmp.Or(f.Row, f.Name))
			for _, s := range columns {
				text, err := r.cell(f, s)
				if err != nil {
					errs = append(errs, fmt.Errorf("%s, %s: %w", f.Name, names[s], err))
				}
				fmt.Fprintf(&b, " %s |", text)
			}
			b.WriteByte('\n')
			for k := range f.Cases {
				if c := &f.Cases[k]; c.When != "" && !c.Unlisted && !r.effective[c] {
					errs = append(errs, fmt.Errorf("%s: %q makes no difference", cmp.Or(f.Row, f.Name), c.When))
				}
			}
		}
	}
	return b.String(), errors.Join(errs...)
}

// isUnlisted reports whether no case is on the page.
func (f *Feature) isUnlisted() bool {
	return !slices.ContainsFunc(f.Cases, func(c Case) bool { return !c.Unlisted })
}

// A condition is an outcome, and when it differs from the usual one.
type condition struct {
	outcome
	when []string
}

// cell returns the text of a cell: the usual outcome, and the conditions of others. It is
// "–" if only the clients of the server's own format have the feature.
func (r *Result) cell(f *Feature, s Server) (string, error) {
	seen := make(map[string]outcome)
	var list []condition
	for i := range f.Cases {
		c := &f.Cases[i]
		at, listed := c.listed(f, s)
		if !listed {
			continue
		}
		got := r.outcomes[c][at]
		before, known := seen[c.When]
		usual, hasUsual := seen[""]
		seen[c.When] = got
		switch {
		case known && before != got:
			return "", fmt.Errorf("%q: both %s and %s, depending on the client's format", c.When, before, got)
		case known, c.When == "":
		case !hasUsual:
			return "", fmt.Errorf("%q comes before the usual case", c.When)
		case got != usual:
			r.effective[c] = true
			k := slices.IndexFunc(list, func(x condition) bool { return x.outcome == got })
			if k < 0 {
				k, list = len(list), append(list, condition{outcome: got})
			}
			list[k].when = append(list[k].when, c.When)
		}
	}
	usual, hasUsual := seen[""]
	if !hasUsual {
		return "–", nil
	}
	text := usual.String()
	for _, x := range list {
		text += "; " + x.outcome.String() + " " + enumeration(x.when)
	}
	return text, nil
}

// listed returns the server whose outcome of the case is in the column of s, and whether
// there is one.
func (c *Case) listed(f *Feature, s Server) (Server, bool) {
	if s == Responses && slices.Equal(c.To, []Server{OtherResponses}) {
		s = OtherResponses
	}
	return s, !c.Unlisted && c.isTo(s) && c.isFrom(f, s)
}

// enumeration returns "a, b or c".
func enumeration(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// targets are the servers of the lists of losses.
var targets = map[string][]Server{
	"messages": {Messages}, "generatecontent": {GenerateContent},
	"openai": {OpenAIChat, OtherChat}, "openai-responses": {Responses, OtherResponses},
}

// Targets returns the rules that the cases have met, by target. The keys are those of package losspage. It omits those of schemas,
// which are the same for all targets.
func (r *Result) Targets() map[string][]*loss.Rule {
	all := make(map[string][]*loss.Rule)
	for name, list := range targets {
		for _, s := range list {
			for _, rule := range r.met[s] {
				if !slices.Contains(r.schemas, rule) {
					all[name] = append(all[name], rule)
				}
			}
		}
	}
	return all
}

// Models returns the models of the columns, for the page.
func Models() string {
	var list []string
	for _, s := range columns {
		if !slices.Contains(list, models[s]) {
			list = append(list, models[s])
		}
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
