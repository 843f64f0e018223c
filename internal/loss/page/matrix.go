package page

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

// A Matrix lists the most severe loss of each feature for each conversion.
type Matrix struct {
	Ways []Way
	Rows []Row
}

// A Row is one feature, with a cell for each conversion.
type Row struct {
	Feature string
	Cells   []Cell
}

// A Cell is the most severe loss of a feature. It is zero if the feature is never
// lost.
type Cell struct {
	Worst       content.Severity
	Unsupported bool // the source format cannot represent the feature
}

// responsePrefix is the prefix of the features of responses.
const responsePrefix = "response: "

// Of returns the matrix of responses. It omits features without losses.
func Of(ways []Way) (*Matrix, error) {
	all, err := features()
	if err != nil {
		return nil, err
	}
	tables := make([][]loss.Rule, len(ways))
	for i, w := range ways {
		if tables[i], err = Rules(w.tables...); err != nil {
			return nil, err
		}
	}
	m := &Matrix{Ways: ways}
	for _, f := range all {
		if !strings.HasPrefix(f, responsePrefix) {
			continue
		}
		row := Row{Feature: f}
		hasLoss := false
		for i, w := range ways {
			c := Cell{Unsupported: slices.Contains(w.unsupported, f)}
			if !c.Unsupported {
				c.Worst = worstOf(tables[i], f)
			}
			hasLoss = hasLoss || c.Worst != 0
			row.Cells = append(row.Cells, c)
		}
		if hasLoss {
			m.Rows = append(m.Rows, row)
		}
	}
	return m, nil
}

func worstOf(rules []loss.Rule, feature string) (s content.Severity) {
	for _, r := range rules {
		if r.Feature == feature {
			s = max(s, r.Severity)
		}
	}
	return s
}

// Markdown returns the matrix as a Markdown table.
func (m *Matrix) Markdown() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, w := range m.Ways {
		fmt.Fprintf(&b, " %s → %s |", titles[w.From], titles[w.To])
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(m.Ways)) + "\n")
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(r.Feature, responsePrefix))
		for _, c := range r.Cells {
			if s := c.String(); s != "" {
				b.WriteString(" " + s)
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// String returns the text of a cell.
func (c Cell) String() string {
	switch {
	case c.Unsupported:
		return "–"
	case c.Worst == 0:
		return ""
	}
	return c.Worst.String()
}
