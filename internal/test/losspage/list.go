package losspage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/loss"
)

// sections are the sections of the list of all losses from tables, in order. The losses of
// requests that adapters report come before them.
var sections = []struct {
	title, intro string
	tables       []string
}{
	{"Requests of every client", "Found by a handler, in state that the client returned and in headers.", []string{"front", "messages-front"}},
	{"Schemas", "Of tool arguments and of output, for every format with a different schema dialect.", []string{"schema"}},
	{"Responses of every server", "", []string{"upstream", "restored", "front-answer"}},
	{"Responses of Messages", "", []string{"messages-read"}},
	{"Responses of generateContent", "", []string{"generatecontent-read"}},
	{"Responses of Chat Completions", "", []string{"openai-chat"}},
	{"Responses of OpenAI Responses", "", []string{"openai-responses"}},
	{"Responses in Messages", "", []string{"messages-answer"}},
	{"Responses in generateContent", "", []string{"generatecontent-answer"}},
	{"Responses in Chat Completions", "", []string{"openai-chat-answer"}},
	{"Responses in OpenAI Responses", "", []string{"openai-responses-answer"}},
}

// List returns a Markdown list of every loss that can be reported. requests has the rules
// of requests that adapters report, by a key of titles.
func List(requests map[string][]*loss.Rule) (string, error) {
	var b strings.Builder
	if err := listRequests(&b, requests); err != nil {
		return "", err
	}
	for _, s := range sections {
		rules, err := Rules(s.tables...)
		if err != nil {
			return "", err
		}
		if rules, err = sorted(rules); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.intro != "" {
			b.WriteString(s.intro + "\n\n")
		}
		b.WriteString("| what | loss | why |\n| --- | --- | --- |\n")
		last := ""
		for _, r := range rules {
			fmt.Fprintf(&b, "|%s |\n", cells(&r, &last))
		}
	}
	return b.String(), nil
}

// listRequests writes the losses of requests, with the servers at which they occur.
func listRequests(b *strings.Builder, requests map[string][]*loss.Rule) error {
	b.WriteString("\n## Requests\n\n| what | loss | why | servers |\n| --- | --- | --- | --- |\n")
	var all []loss.Rule
	at := make(map[loss.Rule][]string)
	for _, key := range order {
		for _, r := range requests[key] {
			if !slices.Contains(at[*r], titles[key]) {
				at[*r] = append(at[*r], titles[key])
			}
			all = append(all, *r)
		}
	}
	all, err := sorted(all)
	if err != nil {
		return err
	}
	last := ""
	for _, r := range all {
		servers := strings.Join(at[r], ", ")
		if len(at[r]) == len(order) {
			servers = "all"
		}
		fmt.Fprintf(b, "|%s | %s |\n", cells(&r, &last), servers)
	}
	return nil
}

// cells returns the cells of a rule. The first is empty if it is the same as in the row
// before.
func cells(r *loss.Rule, last *string) string {
	feature := " " + strings.TrimPrefix(r.Feature, responsePrefix)
	if feature == *last {
		feature = ""
	} else {
		*last = feature
	}
	return fmt.Sprintf("%s | %s | %s", feature, r.Severity, strings.ReplaceAll(r.Reason, "|", `\|`))
}
