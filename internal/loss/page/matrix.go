package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// A Way leads from one format to another.
type Way struct {
	From, To string // formats, by the names that they have here
	tables   []string
	cannot   []string // features that From cannot say, so that nothing can get lost
}

// titles are the names of formats in the page.
var titles = map[string]string{
	"messages":         "Messages",
	"generatecontent":  "content generation",
	"openai":           "chat completions",
	"openai-responses": "responses",
}

// Requests are the ways of requests, from each front to each vendor of another
// format. A codec's losses do not depend on where a request comes from, but not
// every format can say everything.
var Requests = []Way{
	{From: "messages", To: "generatecontent", cannot: notInMessages, tables: toGenerateContent},
	{From: "messages", To: "openai", cannot: notInMessages, tables: toChat},
	{From: "messages", To: "openai-responses", cannot: notInMessages, tables: toResponses},
	{From: "generatecontent", To: "messages", cannot: notInGenerateContent, tables: toMessages},
	{From: "generatecontent", To: "openai", cannot: notInGenerateContent, tables: toChat},
	{From: "generatecontent", To: "openai-responses", cannot: notInGenerateContent, tables: toResponses},
}

// Rules reads what can get lost on the way.
func (w Way) Rules() ([]loss.Rule, error) { return Rules(w.tables...) }

var (
	toMessages        = []string{"front", "messages", "anthropic", "schema"}
	toGenerateContent = []string{"front", "generatecontent", "gemini", "schema"}
	toChat            = []string{"front", "openai-chat", "schema"}
	toResponses       = []string{"front", "openai-responses", "schema"}
)

// What a request of a format cannot say at all.
var (
	notInMessages = []string{
		loss.AudioVideo, loss.ResultObject, loss.ToolOutput, loss.Seed, loss.Penalties, loss.Candidates,
		loss.OutputType, loss.OutputModalities, loss.OutputImage,
	}
	notInGenerateContent = []string{
		loss.SystemTurn, loss.TextCitations, loss.CacheMarks, loss.DocumentParts, loss.DocumentTitle,
		loss.DocumentCitations, loss.SearchResults, loss.ToolStrict, loss.ChoiceParallel, loss.UserID,
	}
)

// Answers are the ways of answers, from each vendor to each front of another
// format.
var Answers = []Way{
	{From: "generatecontent", To: "messages", tables: []string{"upstream", "generatecontent-read", "messages-answer"}},
	{From: "openai", To: "messages", tables: []string{"upstream", "openai-chat", "messages-answer"}},
	{From: "openai-responses", To: "messages", cannot: notInResponses, tables: []string{"upstream", "openai-responses", "messages-answer"}},
	{From: "messages", To: "generatecontent", cannot: notAnswered, tables: []string{"upstream", "messages-read", "generatecontent-answer"}},
	{From: "openai", To: "generatecontent", tables: []string{"upstream", "openai-chat", "generatecontent-answer"}},
	{From: "openai-responses", To: "generatecontent", cannot: notInResponses, tables: []string{"upstream", "openai-responses", "generatecontent-answer"}},
}

// What an answer of Messages, and one of responses, cannot say at all.
var (
	notAnswered    = []string{loss.ResponseImage, loss.ResponseFile, loss.ResponseCandidates}
	notInResponses = []string{loss.ResponseCandidates}
)

// A Matrix says of each feature what becomes of it on each way.
type Matrix struct {
	Ways []Way
	Rows []Row
}

// A Row is one feature, with a cell for each way.
type Row struct {
	Feature string
	Cells   []Cell
}

// A Cell is the worst that can happen to a feature; zero if nothing is lost.
type Cell struct {
	Worst  content.Severity
	Cannot bool // the format it comes from cannot say it
}

// answer is how the features of answers begin.
const answer = "response: "

// Of makes the matrix of requests or of answers. Features that nothing happens to
// are left out.
func Of(ways []Way, answers bool) (*Matrix, error) {
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
		if strings.HasPrefix(f, answer) != answers {
			continue
		}
		row := Row{Feature: f}
		lost := false
		for i, w := range ways {
			c := Cell{Cannot: slices.Contains(w.cannot, f)}
			if !c.Cannot {
				c.Worst = worst(tables[i], f)
			}
			lost = lost || c.Worst != 0
			row.Cells = append(row.Cells, c)
		}
		if lost {
			m.Rows = append(m.Rows, row)
		}
	}
	return m, nil
}

func worst(rules []loss.Rule, feature string) (s content.Severity) {
	for _, r := range rules {
		if r.Feature == feature {
			s = max(s, r.Severity)
		}
	}
	return s
}

// Markdown writes the matrix as a table.
func (m *Matrix) Markdown() string {
	var b strings.Builder
	b.WriteString("| |")
	for _, w := range m.Ways {
		fmt.Fprintf(&b, " %s → %s |", titles[w.From], titles[w.To])
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(m.Ways)) + "\n")
	for _, r := range m.Rows {
		fmt.Fprintf(&b, "| %s |", strings.TrimPrefix(r.Feature, answer))
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

// String returns the word for a cell.
func (c Cell) String() string {
	switch {
	case c.Cannot:
		return "–"
	case c.Worst == 0:
		return ""
	}
	return c.Worst.String()
}
