package openai

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Items that only the vendor understands travel as thoughts: a reasoning item
// in the signature of its summary, or as a redacted thought if it has none, and
// the items of built-in tools as redacted thoughts. The data of such a signature
// is the item, ready to be sent back. Texts may be signed with the phase of
// their message, {"phase":"commentary"}, and images with their item.

// recall lists the parts of turns of the assistant that follow one another, the
// first of which has an index, with the items that signatures stand for in their
// places among them.
func (e *resEncoder) recall(run []content.Turn, first int) {
	e.carried.reset()
	e.ids.reset()
	e.shown, e.parts = "", e.parts[:0]
	var shown []string
	n := 0
	for i := range run {
		n += len(run[i].Parts)
		for _, p := range run[i].Parts {
			if t, ok := p.(*content.Thinking); ok && t != nil {
				if item := itemOf(t); item != "" {
					e.carried.add(item)
				}
			}
		}
	}
	e.parts = slices.Grow(e.parts, n)
	from := 0 // where items may stand that another part carries
	for i := range run {
		for j, p := range run[i].Parts {
			if p == envelope.Taken {
				continue
			}
			at := place{turn: first + i, part: j}
			s := carrierOf(p)
			_, behind := p.(*content.Text)
			if behind || s == "" {
				e.parts = append(e.parts, resAt{Part: p, at: at})
			}
			if s != "" {
				shown = e.restore(s, from, at, shown)
			}
			if !behind && s != "" {
				e.parts = append(e.parts, resAt{Part: p, at: at})
			}
			if _, call := p.(*content.ToolUse); call || s != "" {
				from = len(e.parts)
			}
		}
	}
	e.shown = strings.Join(shown, "")
}

// restore puts the items that a signature stands for into their places among the
// parts from an index on. It adds the texts of the thoughts to shown.
func (e *resEncoder) restore(s string, from int, at place, shown []string) []string {
	list, ok := envelope.Split(ResponsesFormat, s)
	if !ok {
		e.lose(resBrokenState, at)
	}
	list = slices.DeleteFunc(list, func(t envelope.Thought) bool {
		if t.OfText {
			return e.phaseOf(t.Signature.Data) == ""
		}
		shown = append(shown, t.Text)
		item := itemOf(t.Thinking)
		if item == "" || e.carried.has(item) {
			return true
		}
		e.carried.add(item)
		return false
	})
	if len(list) == 0 {
		return shown
	}
	stretch := slices.Clone(e.parts[from:])
	places, moved := envelope.Places(list, len(stretch), func(i int) content.Part { return stretch[i].Part })
	if moved {
		e.lose(resMoved, at)
	}
	e.parts = envelope.Weave(e.parts[:from], stretch, places,
		func(k int) resAt {
			if list[k].OfText { // stands behind its text, as said expects it
				return resAt{Part: &content.Text{Signature: list[k].Signature}, at: at}
			}
			return resAt{item: itemOf(list[k].Thinking), at: at}
		}, pieceAt)
	return shown
}

// pieceAt returns the bytes of a text from one place to another, -1 for its end.
func pieceAt(p resAt, from, to int) resAt {
	text := *p.Part.(*content.Text)
	if to < 0 {
		to = len(text.Text)
	}
	text.Text = text.Text[from:to]
	p.Part = &text
	return p
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

// carry keeps an item of the vendor's until what it belongs to is written. A
// client may have made it up, unless it is the host's.
func (e *resEncoder) carry(item string, at place, hosts bool) {
	e.flushTexts()
	switch kind, ok := e.replayed(item); {
	case !ok:
		e.lose(resBrokenState, at)
	case !hosts && !e.returns(kind):
		e.lose(resUnaskedItem, at)
	case kind == "reasoning" && (e.strange || e.to.refused.has(fieldReasoning)):
		e.lose(resRefusedThought, at)
	case kind == "reasoning":
		e.thoughts = append(e.thoughts, loose{item, at})
	default:
		e.follow()
		e.w.Raw(item)
	}
}

// itemTools are the kinds of items that go back as clients bring them, by the
// tool that must be told for that. Whoever makes one up says no more with it than
// with a result: that something was called, and what came of it. Without a tool
// stand those that every request may bring about. What gives the model tools,
// approves a call or answers one in the place of the host is not among them.
var itemTools = map[string]string{
	"reasoning": "", "compaction": "", "web_search_call": "", "file_search_call": "", "code_interpreter_call": "", "image_generation_call": "",
	"mcp_call": "mcp", "program": "programmatic_tool_calling", "program_output": "programmatic_tool_calling",
	"computer_call": "computer", "shell_call": "shell", "apply_patch_call": "apply_patch", "local_shell_call": "local_shell",
}

// returns reports whether items of a kind go back as a client brings them.
func (e *resEncoder) returns(kind string) bool {
	tool, ok := itemTools[kind]
	if !ok || tool == "" {
		return ok
	}
	told, known := e.hosted[tool]
	if !known {
		told = slices.ContainsFunc(e.n.Tools, func(t content.Tool) bool {
			return t.Format == ResponsesFormat && strings.HasPrefix(t.Kind, tool) // versions follow
		})
		if e.hosted == nil {
			e.hosted = make(map[string]bool)
		}
		e.hosted[tool] = told
	}
	return told
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

// replayed returns the kind of an item that is to be sent back, if it is one.
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

// opaque reports whether items of a kind are the vendor's alone, which a host can
// send back as they came. For what clients bring see itemTools.
func opaque(kind string) bool {
	switch kind {
	case "web_search_call", "file_search_call", "code_interpreter_call", "compaction", "program", "program_output",
		"tool_search_call", "tool_search_output", "mcp_list_tools", "mcp_call", "mcp_approval_request", "mcp_approval_response",
		"computer_call", "computer_call_output", "shell_call", "shell_call_output", "apply_patch_call",
		"apply_patch_call_output", "local_shell_call", "local_shell_call_output", "image_generation_call",
		"additional_tools":
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
