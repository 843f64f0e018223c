package recorded

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
)

// messagesReasons are the stop reasons of Messages.
var messagesReasons = map[string]content.StopReason{
	"end_turn":                      content.StopEnd,
	"tool_use":                      content.StopToolUse,
	"max_tokens":                    content.StopMaxTokens,
	"stop_sequence":                 content.StopSequence,
	"pause_turn":                    content.StopPause,
	"refusal":                       content.StopRefusal,
	"model_context_window_exceeded": content.StopContext,
	"compaction":                    content.StopCompaction,
}

func messagesWhole(v any) *answer {
	a := &answer{candidates: 1}
	for _, b := range listAt(v, "content") {
		messagesBlock(a, b)
	}
	var u messagesUsage
	u.add(at(v, "usage"))
	a.usage = u.sum()
	a.stop = stringAt(v, "stop_reason")
	a.reason = messagesReasons[a.stop]
	a.complete = a.stop != ""
	return a
}

func messagesBlock(a *answer, b any) {
	switch stringAt(b, "type") {
	case "text":
		a.addText(stringAt(b, "text"))
	case "thinking":
		a.addThinking(stringAt(b, "thinking"))
	case "tool_use":
		a.addCall(call{stringAt(b, "id"), stringAt(b, "name"), canonical(at(b, "input"))})
	}
}

// messagesUsage collects the counts of one response. In a stream they come in
// pieces, and later ones replace earlier ones.
type messagesUsage struct {
	seen                       bool
	input, write, read, output int64
}

func (u *messagesUsage) add(v any) {
	o, ok := v.(object)
	if !ok {
		return
	}
	u.seen = true
	for name, to := range map[string]*int64{
		"input_tokens":                &u.input,
		"cache_creation_input_tokens": &u.write,
		"cache_read_input_tokens":     &u.read,
		"output_tokens":               &u.output,
	} {
		if o[name] != nil {
			*to = numberAt(o, name)
		}
	}
}

func (u *messagesUsage) sum() *usage {
	if !u.seen {
		return nil
	}
	return &usage{prompt: u.input + u.write + u.read, output: u.output, cached: u.read}
}

func messagesStream(body string) (*answer, error) {
	a := &answer{candidates: 1}
	var u messagesUsage
	type block struct {
		call      int // index in a.calls, or -1
		arguments strings.Builder
	}
	blocks := make(map[int64]*block)
	started := false
	for _, e := range splitEvents(body) {
		v, err := decodeJSON(e.data)
		if err != nil {
			return nil, err
		}
		index := numberAt(v, "index")
		switch stringAt(v, "type") {
		case "message_start":
			a.several = a.several || started
			started = true
			u.add(at(v, "message", "usage"))
		case "content_block_start":
			n := len(a.calls)
			messagesBlock(a, at(v, "content_block"))
			b := &block{call: -1}
			if len(a.calls) > n {
				b.call = n
			}
			blocks[index] = b
		case "content_block_delta":
			d := at(v, "delta")
			switch stringAt(d, "type") {
			case "text_delta":
				a.addText(stringAt(d, "text"))
			case "thinking_delta":
				a.addThinking(stringAt(d, "thinking"))
			case "input_json_delta":
				if b := blocks[index]; b != nil && b.call >= 0 {
					b.arguments.WriteString(stringAt(d, "partial_json"))
				}
			}
		case "content_block_stop":
			if b := blocks[index]; b != nil && b.call >= 0 && strings.TrimSpace(b.arguments.String()) != "" {
				a.calls[b.call].arguments = canonicalText(b.arguments.String())
			}
		case "message_delta":
			u.add(at(v, "usage"))
			if s := stringAt(v, "delta", "stop_reason"); s != "" {
				a.stop = s
			}
		case "message_stop":
			a.complete = true
		case "error":
			a.failure = encodeJSON(at(v, "error"))
		}
	}
	a.usage = u.sum()
	a.reason = messagesReasons[a.stop]
	return a, nil
}

// messagesOrder checks that a stream is in the order that the format demands.
func messagesOrder(body string) error {
	var (
		started, stopped, ended bool
		open                    = make(map[int64]string) // block types
		next                    int64
	)
	deltas := map[string]string{
		"text_delta": "text", "citations_delta": "text",
		"thinking_delta": "thinking", "signature_delta": "thinking",
		"input_json_delta": "use",
		"compaction_delta": "compaction",
	}
	for i, e := range splitEvents(body) {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("event %d: %s: %s", i, fmt.Sprintf(format, args...), clip(e.data, 120))
		}
		v, err := decodeJSON(e.data)
		if err != nil {
			return fail("%v", err)
		}
		kind := stringAt(v, "type")
		switch {
		case e.name != kind:
			return fail("the event's name is %q, its type %q", e.name, kind)
		case kind == "ping":
			continue
		case ended:
			return fail("it follows message_stop")
		case !started && kind != "message_start":
			return fail("the stream does not begin with message_start")
		case started && kind == "message_start":
			return fail("a second message_start")
		}
		index := numberAt(v, "index")
		blockType, isOpen := open[index]
		switch kind {
		case "message_start":
			started = true
			m := at(v, "message")
			for _, name := range []string{"id", "type", "role", "model"} {
				if stringAt(m, name) == "" {
					return fail("message.%s is missing", name)
				}
			}
			if at(m, "usage") == nil || at(m, "content") == nil {
				return fail("message.usage or message.content is missing")
			}
		case "content_block_start":
			if index != next {
				return fail("block %d starts, want %d", index, next)
			}
			if stopped {
				return fail("a block starts after the stop reason")
			}
			next++
			open[index] = stringAt(v, "content_block", "type")
			if open[index] == "" {
				return fail("the block has no type")
			}
		case "content_block_delta":
			if !isOpen {
				return fail("block %d is not open", index)
			}
			d := stringAt(v, "delta", "type")
			if want := deltas[d]; !strings.Contains(blockType, want) {
				return fail("%s in a block of type %s", d, blockType)
			}
		case "content_block_stop":
			if !isOpen {
				return fail("block %d is not open", index)
			}
			delete(open, index)
		case "message_delta":
			if stringAt(v, "delta", "stop_reason") != "" {
				if len(open) > 0 {
					return fail("%d blocks are open at the stop reason", len(open))
				}
				stopped = true
			}
		case "message_stop":
			if !stopped {
				return fail("message_stop without a stop reason")
			}
			ended = true
		case "error":
			return fail("an error")
		}
	}
	if !ended {
		return fmt.Errorf("the stream has no message_stop")
	}
	return nil
}
