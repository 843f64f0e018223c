package recorded

import (
	"encoding/json"
	"strings"

	"github.com/polywire/polywire/content"
)

// chatReasons are the finish reasons of Chat Completions.
var chatReasons = map[string]content.StopReason{
	"stop":           content.StopEnd,
	"length":         content.StopMaxTokens,
	"tool_calls":     content.StopToolUse,
	"function_call":  content.StopToolUse,
	"content_filter": content.StopSafety,
}

func chatWhole(v any) *answer {
	a := new(answer)
	for i, c := range listAt(v, "choices") {
		a.candidates++
		if i > 0 {
			continue
		}
		m := at(c, "message")
		chatText(a, m)
		for _, x := range listAt(m, "tool_calls") {
			arguments, ok := at(x, "function", "arguments").(string)
			if !ok {
				arguments = encodeJSON(at(x, "function", "arguments"))
			}
			if name := stringAt(x, "function", "name"); name != "" {
				a.addCall(call{stringAt(x, "id"), name, canonicalText(arguments)})
			}
		}
		if f := at(m, "function_call"); stringAt(f, "name") != "" {
			a.addCall(call{"", stringAt(f, "name"), canonicalText(stringAt(f, "arguments"))})
		}
		a.stop = stringAt(c, "finish_reason")
	}
	chatUsage(a, at(v, "usage"))
	chatStop(a)
	a.complete = a.stop != ""
	return a
}

// chatText adds the thinking and the text of a message or of a delta.
func chatText(a *answer, m any) {
	switch {
	case stringAt(m, "reasoning_content") != "":
		a.addThinking(stringAt(m, "reasoning_content"))
	case stringAt(m, "reasoning") != "":
		a.addThinking(stringAt(m, "reasoning"))
	default:
		for _, p := range listAt(m, "reasoning_details") {
			a.addThinking(stringAt(p, "text") + stringAt(p, "summary"))
		}
	}
	switch c := at(m, "content").(type) {
	case string:
		a.addText(c)
	case []any:
		for _, p := range c {
			switch stringAt(p, "type") {
			case "text":
				a.addText(stringAt(p, "text"))
			case "thinking":
				a.addThinking(stringAt(p, "thinking"))
				for _, q := range listAt(p, "thinking") {
					a.addThinking(stringAt(q, "text"))
				}
			}
		}
	}
	if s := stringAt(m, "refusal"); s != "" {
		a.addText(s)
		a.refused = true
	}
}

// chatUsage reads the counts. Some servers do not include thinking in
// completion_tokens; their total shows it.
func chatUsage(a *answer, v any) {
	if _, ok := v.(object); !ok {
		return
	}
	u := &usage{prompt: numberAt(v, "prompt_tokens"), output: numberAt(v, "completion_tokens")}
	u.cached = min(numberAt(v, "prompt_tokens_details", "cached_tokens"), u.prompt)
	if n := numberAt(v, "completion_tokens_details", "reasoning_tokens"); n > 0 && numberAt(v, "total_tokens") == u.prompt+u.output+n {
		u.output += n
	}
	a.usage = u
}

func chatStop(a *answer) {
	switch {
	case a.refused:
		a.reason = content.StopRefusal
	case a.stop == "stop" && len(a.calls) > 0:
		a.reason = content.StopToolUse
	default:
		a.reason = chatReasons[a.stop]
	}
}

func chatStream(body string) (*answer, error) {
	a := new(answer)
	type piece struct{ id, name, arguments string }
	var calls []*piece
	byIndex := make(map[int64]*piece)
	for _, e := range splitEvents(body) {
		if e.data == "[DONE]" {
			a.complete = true
			continue
		}
		v, err := decodeJSON(e.data)
		if err != nil {
			return nil, err
		}
		if x := at(v, "error"); x != nil {
			a.failure = encodeJSON(x)
		}
		if u := at(v, "usage"); u != nil {
			chatUsage(a, u)
		} else {
			chatUsage(a, at(v, "x_groq", "usage"))
		}
		for _, c := range listAt(v, "choices") {
			index := int(numberAt(c, "index"))
			a.candidates = max(a.candidates, index+1)
			if index > 0 {
				continue
			}
			d := at(c, "delta")
			chatText(a, d)
			for _, x := range listAt(d, "tool_calls") {
				_, numbered := at(x, "index").(json.Number)
				n := numberAt(x, "index")
				id := stringAt(x, "id")
				p := byIndex[n]
				if p == nil || !numbered && id != "" && p.id != id {
					p = new(piece)
					byIndex[n] = p
					calls = append(calls, p)
				}
				if id != "" {
					p.id = id
				}
				if p.name == "" {
					p.name = stringAt(x, "function", "name")
				}
				p.arguments += stringAt(x, "function", "arguments")
			}
			if at(d, "function_call") != nil {
				a.failure = "function_call in pieces, which is deprecated"
			}
			if s := stringAt(c, "finish_reason"); s != "" {
				a.stop = s
			}
		}
	}
	for _, p := range calls {
		if strings.TrimSpace(p.name) != "" {
			a.addCall(call{p.id, p.name, canonicalText(p.arguments)})
		}
	}
	chatStop(a)
	return a, nil
}
