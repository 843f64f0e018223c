package adapter

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// CheckForeignState returns an error for a request whose conversation depends on
// state that only the vendor of another format can read: a thread, a cached prompt
// or an encrypted summary. Without that state, a model would respond to another
// conversation. own is the format of the adapter. The error lists the members.
func CheckForeignState(n *upstream.Request, own content.Format) error {
	var list violation.List
	if codec.Own(n.Extra, own) == nil {
		for tail, rule := range foreign.Members(n.Extra, foreign.Request) {
			if rule == foreign.StateLoss {
				list.Add(content.CodeUnsupported, codec.Below("extra", tail), rule.Reason)
			}
		}
	}
	for i := range n.Turns {
		for k, p := range n.Turns[i].Parts {
			if u, ok := p.(*content.Unknown); ok && u != nil && u.Format != own && foreign.IsState(u) {
				list.Add(content.CodeUnsupported, "turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(k),
					"the summary of the earlier conversation is encrypted; only the vendor that created it can read it")
			}
		}
	}
	return list.Err()
}

// CheckMaxTokens returns an error for a request with max_tokens 0. Such a Messages
// request only fills the vendor's caches; another vendor would need a higher limit
// and respond at the client's cost. Adapters call it for requests of other formats.
func CheckMaxTokens(n *upstream.Request) error {
	if n.MaxTokens == nil || *n.MaxTokens > 0 {
		return nil
	}
	return &content.Violation{Code: content.CodeUnsupported, Path: "max_tokens",
		Text: "must be at least 1; only Messages servers accept a request for no output"}
}

// LastMessage returns the turns of the last user message: those from first up to
// end. The message may be several user turns in a row, with system turns among them
// or after them. If the conversation ends with the assistant, first equals end.
func LastMessage(turns []content.Turn) (first, end int) {
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

// CheckLastMessage returns an error if nothing of the last user message can be
// represented, because the model would then respond to an earlier message. It is for
// vendors that accept no empty turns. losses are the losses of the whole request. some
// reports whether any of its turns can be represented, and left reports the same for a
// request that contains only the last message.
func CheckLastMessage(n *upstream.Request, losses []content.Loss, some bool, left func(*upstream.Request) bool) error {
	first, end := LastMessage(n.Turns)
	switch {
	case len(n.Turns) == 0, first == end && some:
		return nil
	case first == end:
		first, end = 0, len(n.Turns)
	default:
		last := *n
		last.Wire, last.System, last.Tools, last.Turns = nil, nil, nil, nil
		for _, t := range n.Turns[first:end] {
			if t.Role != content.RoleUser {
				continue
			}
			if hasContent(t.Parts) {
				return nil
			}
			last.Turns = append(last.Turns, t)
		}
		if left(&last) {
			return nil
		}
	}
	_, violation := LastMessageViolation(losses, first, end)
	return violation
}

// hasContent reports whether parts include one that every vendor accepts.
func hasContent(parts []content.Part) bool {
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

// LastMessageViolation returns the violation for the turns from first up to end, of
// which nothing can be sent. Its path is that of their first dropped part, or else
// that of the last turn; dropped reports which.
func LastMessageViolation(losses []content.Loss, first, end int) (dropped bool, violation *content.Violation) {
	for _, l := range losses {
		at, _ := strings.CutPrefix(l.Path, "turns.")
		turn, _, part := strings.Cut(at, ".")
		i, err := strconv.Atoi(turn)
		if part && err == nil && first <= i && i < end && l.Severity == content.LossDropped {
			return true, &content.Violation{Code: content.CodeUnsupported, Path: l.Path,
				Text: "cannot be represented for this model, and nothing else of the last user message is left"}
		}
	}
	return false, &content.Violation{Code: content.CodeUnsupported, Path: "turns." + strconv.Itoa(end-1),
		Text: "has no content for the model: the last user message needs a text that is not blank, a file or a tool result"}
}
