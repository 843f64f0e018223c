package adapter

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Question returns which turns hold what the user said last, in one turn or in
// several in a row: those from first up to end. System turns among them and
// behind them do not count. There are none if the conversation ends with the
// assistant.
func Question(turns []content.Turn) (first, end int) {
	end = len(turns)
	for end > 0 && turns[end-1].Role == content.RoleSystem {
		end--
	}
	first = end
	for i := end - 1; i >= 0 && turns[i].Role != content.RoleAssistant; i-- {
		if turns[i].Role == content.RoleUser {
			first = i
		}
	}
	return first, end
}

// Asked returns an error for a request whose last question does not reach a
// vendor that takes no empty turns: the model would answer something else. left
// reports whether anything is left of a request; if that is not plain to see, it
// is asked about one of nothing but the question. losses are those of the whole
// request, of which some turns are left, or none.
func Asked(n *upstream.Request, losses []content.Loss, some bool, left func(*upstream.Request) bool) error {
	first, end := Question(n.Turns)
	switch {
	case len(n.Turns) == 0, first == end && some:
		return nil
	case first == end:
		first, end = 0, len(n.Turns)
	default:
		question := *n
		question.Wire, question.System, question.Tools, question.Turns = nil, nil, nil, nil
		for _, t := range n.Turns[first:end] {
			if t.Role != content.RoleUser {
				continue
			}
			if stays(t.Parts) {
				return nil
			}
			question.Turns = append(question.Turns, t)
		}
		if left(&question) {
			return nil
		}
	}
	_, fault := Unasked(losses, first, end)
	return fault
}

// stays reports whether there is something among parts that every vendor is
// told.
func stays(parts []content.Part) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *content.Text:
			if p != nil && strings.ContainsFunc(p.Text, func(r rune) bool { return !unicode.IsSpace(r) }) {
				return true
			}
		case *content.ToolResult:
			return true
		}
	}
	return false
}

// Unasked returns the error about turns from first up to end, of which nothing
// is left. It names the first of their parts that was dropped, or else the last
// turn, and tells which.
func Unasked(losses []content.Loss, first, end int) (dropped bool, fault *content.Violation) {
	for _, l := range losses {
		at, _ := strings.CutPrefix(l.Path, "turns.")
		turn, _, part := strings.Cut(at, ".")
		i, err := strconv.Atoi(turn)
		if part && err == nil && first <= i && i < end && l.Severity == content.LossDropped {
			return true, &content.Violation{Code: content.CodeUnsupported, Path: l.Path,
				Text: "cannot be told to this model, and nothing else is left for it to answer"}
		}
	}
	return false, &content.Violation{Code: content.CodeUnsupported, Path: "turns." + strconv.Itoa(end-1),
		Text: "says nothing that the model could answer: there must be a text that is not blank, a file or a result"}
}
