package anthropic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

var toolRules = []rule{
	{"tool-names", "§3.4 [docs][report]", 0, func(a *ask) string {
		var seen []string
		for _, t := range a.tools() {
			name := t.Text("name")
			if name != "" && slices.Contains(seen, name) {
				return "tools: Tool names must be unique."
			}
			seen = append(seen, name)
		}
		return ""
	}},
	{"tool-schema", "§3.4 [report]", 0, func(a *ask) string {
		for i, t := range a.tools() {
			if s := t.Get("input_schema"); s != nil && !validSchema(s) {
				return fmt.Sprintf("tools.%d.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12.", i)
			}
		}
		return ""
	}},
	{"tool-root", "issue 6, point 4", 0, func(a *ask) string {
		for i, t := range a.tools() {
			for _, word := range []string{"oneOf", "anyOf", "allOf"} {
				if t.Get("input_schema").Has(word) {
					return fmt.Sprintf("tools.%d.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", i)
				}
			}
		}
		return ""
	}},
	{"tool-strict", "§3.4 [docs][report]", 0, strictRule},
	{"tool-deferred", "§3.4 [docs]", 0, func(a *ask) string {
		tools := a.tools()
		deferred := func(t *fake.Node) bool { return t.True("defer_loading") }
		if len(tools) > 0 && !slices.ContainsFunc(tools, func(t *fake.Node) bool { return !deferred(t) }) {
			return "tools: at least one tool must not be deferred"
		}
		return ""
	}},
	{"tool-domains", "§3.4", 0, func(a *ask) string {
		for i, t := range a.tools() {
			if t.Get("allowed_domains") != nil && t.Get("blocked_domains") != nil {
				return fmt.Sprintf("tools.%d: only one of allowed_domains and blocked_domains may be given", i)
			}
		}
		return ""
	}},
	{"choice-tools", "§2.6 [report]", 0, func(a *ask) string {
		if a.doc.Get("tool_choice") != nil && len(a.tools()) == 0 {
			return "tool_choice may only be specified while providing tools."
		}
		return ""
	}},
	{"choice-name", "§2.6", 0, func(a *ask) string {
		choice := a.doc.Get("tool_choice")
		if choice.Text("type") != "tool" {
			return ""
		}
		name := choice.Text("name")
		if !slices.ContainsFunc(a.tools(), func(t *fake.Node) bool { return t.Text("name") == name }) {
			return "tool_choice: tool '" + name + "' not found in provided tools"
		}
		return ""
	}},
	{"choice-forced", "§2.6 [docs][report]", 0, func(a *ask) string {
		if a.forced() && !a.model.forcesTools() {
			return `tool_choice: type "tool" and "any" are not supported for this model.`
		}
		return ""
	}},
	{"tool-id", "§2.4 [report]", 0, func(a *ask) string {
		var seen []string
		return a.blocks(func(_ turn, b block) string {
			if id := b.Text("tool_use_id"); b.kind() == "tool_result" { // §10 [recorded]: an id with a result may be reused
				seen = slices.DeleteFunc(seen, func(s string) bool { return s == id })
			}
			if k := b.kind(); k != "tool_use" && k != "server_tool_use" {
				return ""
			}
			if slices.Contains(seen, b.Text("id")) {
				return b.at + ": `tool_use` ids must be unique"
			}
			seen = append(seen, b.Text("id"))
			return ""
		})
	}},
	{"result-orphan", "§2.4 [report]", 0, orphanResult},
	{"result-twice", "§2.4 [inferred]", 0, func(a *ask) string {
		var seen []string
		return a.blocks(func(_ turn, b block) string {
			if b.kind() == "tool_use" { // §10 [recorded]: an id may be reused
				seen = slices.DeleteFunc(seen, func(s string) bool { return s == b.Text("id") })
			}
			if b.kind() != "tool_result" {
				return ""
			}
			if slices.Contains(seen, b.Text("tool_use_id")) {
				return b.at + ": each tool_use must have a single result. Found multiple `tool_result` blocks with id: " + b.Text("tool_use_id")
			}
			seen = append(seen, b.Text("tool_use_id"))
			return ""
		})
	}},
	{"result-missing", "§2.4 [docs][report]", 0, missingResult},
	{"result-only", "§2.4 [docs]", 0, resultOnly},
	{"server-result", "§2.4 [docs]", 0, serverResult},
}

// contentTurns returns the turns except those with settings only.
func (a *ask) contentTurns() []turn {
	return slices.DeleteFunc(slices.Clone(a.turns), func(t turn) bool { return t.role == "system" && t.onlySettings() })
}

func ids(t turn, kind, member string) []string {
	var out []string
	for _, b := range t.blocks {
		if b.kind() == kind {
			out = append(out, b.Text(member))
		}
	}
	return out
}

// missingResult checks that each tool call has a result at the beginning of the
// next user turn.
func missingResult(a *ask) string {
	turns := a.contentTurns()
	for i, t := range turns {
		calls := ids(t, "tool_use", "id")
		if t.role != "assistant" || len(calls) == 0 {
			continue
		}
		var head []string
		if i+1 < len(turns) && turns[i+1].role == "user" {
			for _, b := range turns[i+1].blocks {
				if b.kind() != "tool_result" {
					break
				}
				head = append(head, b.Text("tool_use_id"))
			}
		}
		var open []string
		for _, id := range calls {
			if !slices.Contains(head, id) {
				open = append(open, id)
			}
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", t.first, strings.Join(open, ", "))
		}
	}
	return ""
}

// continues reports whether the beginning of the conversation is in a thread.
func (a *ask) continues() bool {
	t := a.doc.Get("thread")
	return t != nil && t.Text("type") == "continue"
}

// orphanResult checks that the call of each result is in the previous turn.
func orphanResult(a *ask) string {
	turns := a.contentTurns()
	for i, t := range turns {
		for _, b := range t.blocks {
			if b.kind() != "tool_result" {
				continue
			}
			id := b.Text("tool_use_id")
			if i == 0 && a.continues() {
				continue // the call is in the thread
			}
			if i == 0 || !slices.Contains(ids(turns[i-1], "tool_use", "id"), id) {
				return fmt.Sprintf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.at, id)
			}
		}
	}
	return ""
}

// openServerCalls returns the calls of server tools without a result.
func openServerCalls(t turn) []block {
	var open []block
	for _, b := range t.blocks {
		if b.kind() == "server_tool_use" {
			open = append(open, b)
		}
		if id := b.Text("tool_use_id"); id != "" {
			open = slices.DeleteFunc(open, func(o block) bool { return o.Text("id") == id })
		}
	}
	return open
}

// resultOnly checks that a turn has only results while a server tool call is
// open.
func resultOnly(a *ask) string {
	for i, t := range a.turns {
		if t.role != "assistant" || len(openServerCalls(t)) == 0 || i+1 >= len(a.turns) {
			continue
		}
		for _, b := range a.turns[i+1].blocks {
			if b.kind() != "tool_result" {
				open := openServerCalls(t)[0]
				return fmt.Sprintf("`%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", open.Text("name"), open.Text("id"), open.Text("name"))
			}
		}
	}
	return ""
}

// serverResult checks that the tool of an open server call is defined, and that
// each result of a server tool has a call.
func serverResult(a *ask) string {
	for _, t := range a.turns {
		for _, open := range openServerCalls(t) {
			name := open.Text("name")
			if !slices.ContainsFunc(a.tools(), func(n *fake.Node) bool { return n.Text("name") == name }) {
				return fmt.Sprintf("`%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", name, open.Text("id"), name)
			}
		}
	}
	return a.blocks(func(_ turn, b block) string {
		if !slices.Contains(resultBlocks, b.kind()) {
			return ""
		}
		for _, t := range a.turns {
			if slices.Contains(ids(t, "server_tool_use", "id"), b.Text("tool_use_id")) {
				return ""
			}
		}
		return b.at + ": unexpected `tool_use_id` found in `" + b.kind() + "` blocks: " + b.Text("tool_use_id")
	})
}
