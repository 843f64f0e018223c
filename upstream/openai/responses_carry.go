package openai

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/seal"
)

// Items that only the vendor understands travel as thoughts: a reasoning item
// in the signature of its summary, or as a redacted thought if it has none, and
// the items of built-in tools as redacted thoughts. The data of such a signature
// is the item, ready to be sent back. Texts may be signed with the phase of
// their message, {"phase":"commentary"}, and images with their item.

// recall lists the parts of a turn, with the items that signatures stand for in
// their places among them.
func (e *resEncoder) recall(i int) {
	parts := e.n.Turns[i].Parts
	e.carried, e.shown = e.carried[:0], e.shown[:0]
	for _, p := range parts {
		if t, ok := p.(*content.Thinking); ok && t != nil {
			if item := itemOf(t); item != "" {
				e.carried = append(e.carried, item)
			}
		}
	}
	for j, p := range parts {
		at := place{turn: i, part: j}
		if s := carrierOf(p); s != "" {
			list, good := seal.Split(ResponsesFormat, s)
			if !good {
				e.lose(resBrokenState, at)
			}
			for _, t := range list {
				e.shown = append(e.shown, t.Text)
				if item := itemOf(t.Thinking); item != "" && !slices.Contains(e.carried, item) {
					e.carried = append(e.carried, item)
					e.place(resAt{item: item, at: at}, t.Back)
				}
			}
		}
		e.parts = append(e.parts, resAt{Part: p, at: at})
	}
}

// itemOf returns the item that a thought stands for.
func itemOf(t *content.Thinking) string {
	for _, s := range [...]content.Signature{t.Redacted, t.Signature} {
		if s.Format == ResponsesFormat && strings.HasPrefix(s.Data, "{") {
			return s.Data
		}
	}
	return ""
}

// carrierOf returns the thoughts that the signature of a call or of a text
// stands for, empty if it is none such.
func carrierOf(p content.Part) string {
	var s content.Signature
	switch p := p.(type) {
	case *content.ToolUse:
		if p != nil {
			s = p.Signature
		}
	case *content.Text:
		if p != nil {
			s = p.Signature
		}
	}
	if s.Format != ResponsesFormat || s.Data == "" || s.Data[0] == '{' {
		return ""
	}
	return s.Data
}

// place puts an item in front of the last back bytes of text. Texts that the
// client has altered may be shorter: then it stands in front of all of them.
func (e *resEncoder) place(item resAt, back int) {
	i := len(e.parts)
	for back > 0 && i > 0 {
		text, ok := e.parts[i-1].Part.(*content.Text)
		if !ok || text == nil {
			break
		}
		i--
		if len(text.Text) <= back {
			back -= len(text.Text)
			continue
		}
		cut := len(text.Text) - back
		for cut > 0 && !utf8.RuneStart(text.Text[cut]) {
			cut--
		}
		if cut > 0 {
			head, tail := *text, *text
			head.Text, tail.Text = text.Text[:cut], text.Text[cut:]
			e.parts[i].Part = &head
			i++
			e.parts = slices.Insert(e.parts, i, resAt{Part: &tail, at: e.parts[i-1].at})
		}
		break
	}
	e.parts = slices.Insert(e.parts, i, item)
}

// carry keeps an item of the vendor's until what it belongs to is written.
func (e *resEncoder) carry(item string, at place) {
	e.flushTexts()
	switch kind, ok := e.replayed(item); {
	case !ok:
		e.lose(resBrokenState, at)
	case kind == "reasoning" && (e.strange || e.to.refused.has(fieldReasoning)):
		e.lose(resRefusedThought, at)
	case kind == "reasoning":
		e.thoughts = append(e.thoughts, loose{item, at})
	default:
		e.follow()
		e.w.Raw(item)
	}
}

// follow writes the items that wait for the one that is about to be written.
func (e *resEncoder) follow() {
	for _, t := range e.thoughts {
		e.w.Raw(t.json)
	}
	e.thoughts = e.thoughts[:0]
}

// loose notes items that nothing follows. The vendor refuses them.
func (e *resEncoder) loose() {
	for _, t := range e.thoughts {
		e.lose(resLooseThought, t.at)
	}
	e.thoughts = e.thoughts[:0]
}

// replayed returns the kind of an item that is to be sent back, if it is one. It
// comes from a client.
func (e *resEncoder) replayed(item string) (kind string, ok bool) {
	if e.item.Parse(item, jsonwire.Limits{}) != nil {
		return "", false
	}
	defer e.item.Close()
	root := e.item.Root()
	kind = root.Get("type").Str()
	if kind == "reasoning" {
		return kind, root.Get("id").Str() != "" && root.Get("encrypted_content").Str() != "" && root.Get("summary").Kind() == jsonwire.Array
	}
	return kind, opaque(kind)
}

// opaque reports whether items of a kind go back as they came.
func opaque(kind string) bool {
	switch kind {
	case "web_search_call", "file_search_call", "code_interpreter_call", "compaction", "program", "program_output",
		"tool_search_call", "tool_search_output", "mcp_list_tools", "mcp_call", "mcp_approval_request", "mcp_approval_response",
		"computer_call", "computer_call_output", "shell_call", "shell_call_output", "apply_patch_call",
		"apply_patch_call_output", "local_shell_call", "local_shell_call_output", "image_generation_call":
		return true
	}
	return false
}

// phaseOf returns the phase that the signature of a text tells.
func (e *resEncoder) phaseOf(data string) string {
	if e.item.Parse(data, jsonwire.Limits{}) != nil {
		return ""
	}
	defer e.item.Close()
	switch phase := e.item.Root().Get("phase").Str(); phase {
	case "commentary", "final_answer":
		return phase
	}
	return ""
}
