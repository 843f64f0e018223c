package losspage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// A Way is a conversion from one format to another.
type Way struct {
	From, To    string // keys of titles
	tables      []string
	unsupported []string // features that From cannot represent, so there is no loss
}

// titles are the names of formats on the page.
var titles = map[string]string{
	"messages":         "Messages",
	"generatecontent":  "generateContent",
	"openai":           "Chat Completions",
	"openai-responses": "Responses",
}

// order is the order of the formats on the page.
var order = []string{"messages", "generatecontent", "openai", "openai-responses"}

// Responses are the conversions of responses, from each vendor's format to the format of
// each handler with another format.
var Responses = []Way{
	{From: "generatecontent", To: "messages", tables: []string{"upstream", "generatecontent-read", "messages-answer"}},
	{From: "openai", To: "messages", tables: []string{"upstream", "openai-chat", "messages-answer"}},
	{From: "openai-responses", To: "messages", unsupported: notInOpenAIResponses, tables: []string{"upstream", "openai-responses", "messages-answer"}},
	{From: "messages", To: "generatecontent", unsupported: notInMessagesResponses, tables: []string{"upstream", "messages-read", "generatecontent-answer"}},
	{From: "openai", To: "generatecontent", tables: []string{"upstream", "openai-chat", "generatecontent-answer"}},
	{From: "openai-responses", To: "generatecontent", unsupported: notInOpenAIResponses, tables: []string{"upstream", "openai-responses", "generatecontent-answer"}},
}

// Features that responses of Messages and of OpenAI Responses cannot represent.
var (
	notInMessagesResponses = []string{loss.ResponseImage, loss.ResponseFile, loss.ResponseCandidates}
	notInOpenAIResponses   = []string{loss.ResponseCandidates}
)

// responsePrefix is the prefix of the features of responses.
const responsePrefix = "response: "

// Table returns a Markdown table of responses: the most severe loss of each feature for
// each conversion, or "–" if the source format cannot represent the feature. It omits
// features without losses.
func Table(ways []Way) (string, error) {
	all, _, err := Features()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| |")
	tables := make([][]loss.Rule, len(ways))
	for i, w := range ways {
		if tables[i], err = Rules(w.tables...); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, " %s → %s |", titles[w.From], titles[w.To])
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(ways)) + "\n")
	for _, f := range all {
		name, ok := strings.CutPrefix(f, responsePrefix)
		if !ok {
			continue
		}
		row, hasLoss := "| "+name+" |", false
		for i, w := range ways {
			switch worst := worstOf(tables[i], f); {
			case slices.Contains(w.unsupported, f):
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
