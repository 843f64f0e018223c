package losspage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// titles are the names of formats on the page.
var titles = map[string]string{
	"messages":         "Messages",
	"generatecontent":  "generateContent",
	"openai":           "Chat Completions",
	"openai-responses": "Responses",
}

// order is the order of the formats on the page.
var order = []string{"messages", "generatecontent", "openai", "openai-responses"}

// tables are the tables of responses by format: those of reading and those of writing them.
var tables = map[string]struct{ read, written string }{
	"messages":         {"messages-read", "messages-answer"},
	"generatecontent":  {"generatecontent-read", "generatecontent-answer"},
	"openai":           {"openai-chat", "openai-chat-answer"},
	"openai-responses": {"openai-responses", "openai-responses-answer"},
}

// unsupported are features that responses of a format cannot represent, so that there is no loss.
var unsupported = map[string][]string{
	"messages":         {loss.ResponseImage, loss.ResponseFile, loss.ResponseCandidates},
	"openai-responses": {loss.ResponseCandidates},
}

// responsePrefix is the prefix of the features of responses.
const responsePrefix = "response: "

// Tables returns a Markdown table of responses for the clients of each format.
func Tables() (string, error) {
	var b strings.Builder
	for i, client := range order {
		table, err := Table(client)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "### For clients of %s\n\n%s", titles[client], table)
	}
	return b.String(), nil
}

// Table returns a Markdown table of the responses that clients of a format receive, with a column
// for each other format of servers: the most severe loss of each feature, or "–" if the server's
// format cannot represent the feature. It omits features without losses.
func Table(client string) (string, error) {
	all, _, err := Features()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| |")
	servers := slices.DeleteFunc(slices.Clone(order), func(f string) bool { return f == client })
	rules := make([][]loss.Rule, len(servers))
	for i, server := range servers {
		if rules[i], err = Rules("upstream", tables[server].read, tables[client].written); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, " %s |", titles[server])
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(servers)) + "\n")
	for _, f := range all {
		name, ok := strings.CutPrefix(f, responsePrefix)
		if !ok {
			continue
		}
		row, hasLoss := "| "+name+" |", false
		for i, server := range servers {
			switch worst := worstOf(rules[i], f); {
			case slices.Contains(unsupported[server], f):
				row += " –"
			case worst != 0:
				row += " " + worst.String()
				hasLoss = true
			}
			row += " |"
		}
		if hasLoss {
			b.WriteString(row + "\n")
		}
	}
	return b.String(), nil
}

func worstOf(rules []loss.Rule, feature string) (s content.Severity) {
	for _, r := range rules {
		if r.Feature == feature {
			s = max(s, r.Severity)
		}
	}
	return s
}
