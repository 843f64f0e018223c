package anthropic

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

var turnRules = []rule{
	{"messages", "§2.4 [report]", 0, func(a *ask) string {
		if len(a.turns) == 0 {
			return "messages: at least one message is required"
		}
		return ""
	}},
	{"system-model", "§2.4 [report]", 0, func(a *ask) string {
		for _, t := range a.turns {
			if t.role == "system" && !a.model.systemTurns() {
				return "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."
			}
		}
		return ""
	}},
	{"first", "§2.4 [report]", 0, func(a *ask) string {
		for _, t := range a.turns {
			if t.role == "system" && t.onlySettings() {
				continue
			}
			if t.role != "user" && (t.role != "assistant" || a.model.known() && a.model.version < 45) { // §10 [recorded]
				return "messages: first message must use the \"user\" role"
			}
			return ""
		}
		return "messages: at least one message is required"
	}},
	{"system-place", "§2.4 [docs]", 0, func(a *ask) string {
		for i, t := range a.turns {
			if t.role == "system" && !t.onlySettings() && !a.systemMayStand(i) {
				return fmt.Sprintf("messages.%d: a system message must follow a user turn and be last or followed by an assistant turn", t.first)
			}
		}
		return ""
	}},
	{"system-turn-scoped", "§2.4 [docs]", 0, turnScoped},
	{"empty", "§2.4 [report]", 0, emptyContent},
	{"text", "§2.4 [report], §2.1", 0, emptyText},
	{"prefill", "§2.4 [docs]", 0, func(a *ask) string {
		if a.model.noPrefill() && a.prefilled() {
			return "This model does not support assistant message prefill. The conversation must end with a user message."
		}
		return ""
	}},
	{"trailing", "§2.4 [report]", 0, func(a *ask) string {
		if !a.prefilled() {
			return ""
		}
		last := a.turns[len(a.turns)-1].blocks
		if s := last[len(last)-1].Text("text"); s != strings.TrimRight(s, " \t\r\n") {
			return "messages: final assistant content cannot end with trailing whitespace"
		}
		return ""
	}},
}

// onlySettings reports whether a system turn has only settings, which are
// allowed anywhere.
func (t turn) onlySettings() bool {
	for _, m := range t.messages {
		if len(m.List("content")) > 0 || m.Get("output_config") == nil {
			return false
		}
	}
	return true
}

// systemMayStand reports whether the system turn i is at a valid position.
func (a *ask) systemMayStand(i int) bool {
	if i == 0 || i+1 < len(a.turns) && a.turns[i+1].role != "assistant" {
		return false
	}
	before := a.turns[i-1]
	if before.role == "assistant" {
		if len(before.blocks) == 0 {
			return false
		}
		last := before.blocks[len(before.blocks)-1].kind()
		return strings.HasSuffix(last, "_tool_result")
	}
	return true
}

// prefilled reports whether the request ends with an assistant text to
// continue.
func (a *ask) prefilled() bool {
	if len(a.turns) == 0 {
		return false
	}
	last := a.turns[len(a.turns)-1]
	if last.role != "assistant" || a.doc.Get("fallback_credit_token") != nil || len(last.blocks) == 0 {
		return false
	}
	return len(openServerCalls(last)) == 0
}

func turnScoped(a *ask) string {
	for i, m := range a.doc.List("messages") {
		if m.Text("clear_at") != "next_user_message" {
			continue
		}
		if m.Get("output_config") != nil {
			return fmt.Sprintf("messages.%d.output_config: not permitted on a turn-scoped system message (clear_at: 'next_user_message')", i)
		}
		for k, b := range blocksOf(m, i) {
			if b.kind() != "text" {
				return fmt.Sprintf("messages.%d: a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')", i)
			}
			if b.Get("cache_control") != nil {
				return fmt.Sprintf("messages.%d.content.%d: cache_control is not permitted on a turn-scoped system message (clear_at: 'next_user_message')", i, k)
			}
		}
	}
	return ""
}

func emptyContent(a *ask) string {
	messages := a.doc.List("messages")
	for i, m := range messages {
		c := m.Get("content")
		empty := c.Kind == fake.Array && len(c.Items) == 0 || c.Kind == fake.String && c.Str == ""
		lastOne := i == len(messages)-1 && m.Text("role") == "assistant"
		if empty && !lastOne && m.Get("output_config") == nil {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
	}
	return ""
}

// emptyText rejects empty and blank texts, except for blank assistant texts:
// §10 [recorded].
func emptyText(a *ask) string {
	assistants := map[*fake.Node]bool{}
	for _, t := range a.turns {
		for _, b := range t.blocks {
			assistants[b.Node] = t.role == "assistant"
		}
	}
	complain := func(at string, n *fake.Node) string {
		s := n.Get("text")
		switch {
		case n.Text("type") != "text" || s == nil:
			return ""
		case s.Str == "" && n.Get("cache_control") != nil:
			return at + ".text: cache_control cannot be set for empty text blocks"
		case s.Str == "":
			return "messages: text content blocks must be non-empty"
		case fake.Blank(s.Str) && !assistants[n]:
			return "messages: text content blocks must contain non-whitespace text"
		}
		return ""
	}
	if sys := a.doc.Get("system"); sys != nil && sys.Kind == fake.Array {
		for i, b := range sys.Items {
			if b.Text("text") == "" {
				return fmt.Sprintf("system.%d.text: String should have at least 1 character", i)
			}
			if fake.Blank(b.Text("text")) {
				return "system: text content blocks must contain non-whitespace text"
			}
		}
	}
	return a.allBlocks(complain)
}
