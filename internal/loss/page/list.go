package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/loss"
)

// sections are the sections of the list of all losses, in order.
var sections = []struct {
	title, intro string
	tables       []string
	responses    bool
}{
	{"Requests of every client", "Found by a handler in state that the client returned.", []string{"front"}, false},
	{"Requests to Messages", "", []string{"messages", "anthropic"}, false},
	{"Requests to generateContent", "", []string{"generatecontent", "gemini"}, false},
	{"Requests to Chat Completions", "", []string{"openai-chat"}, false},
	{"Requests to OpenAI Responses", "", []string{"openai-responses"}, false},
	{"Schemas", "Of tool arguments and of output, for every format with a different schema dialect.", []string{"schema"}, false},
	{"Responses of every server", "", []string{"upstream", "front-answer"}, true},
	{"Responses of Messages", "", []string{"messages-read"}, true},
	{"Responses of generateContent", "", []string{"generatecontent-read"}, true},
	{"Responses of Chat Completions", "", []string{"openai-chat"}, true},
	{"Responses of OpenAI Responses", "", []string{"openai-responses"}, true},
	{"Responses in Messages", "", []string{"messages-answer"}, true},
	{"Responses in generateContent", "", []string{"generatecontent-answer"}, true},
}

// List returns a Markdown list of every loss that can be reported.
func List() (string, error) {
	var b strings.Builder
	for _, s := range sections {
		rules, err := Rules(s.tables...)
		if err != nil {
			return "", err
		}
		rules = slices.DeleteFunc(rules, func(r loss.Rule) bool { return strings.HasPrefix(r.Feature, responsePrefix) != s.responses })
		if rules, err = sorted(rules); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.intro != "" {
			b.WriteString(s.intro + "\n\n")
		}
		if len(rules) == 0 {
			b.WriteString("Nothing.\n")
			continue
		}
		b.WriteString("| what | loss | why |\n| --- | --- | --- |\n")
		last := ""
		for _, r := range rules {
			f := strings.TrimPrefix(r.Feature, responsePrefix)
			if f == last {
				f = ""
			} else {
				last = f
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", f, r.Severity, strings.ReplaceAll(r.Reason, "|", `\|`))
		}
	}
	return strings.ReplaceAll(b.String(), "\n|  |", "\n| |"), nil
}
