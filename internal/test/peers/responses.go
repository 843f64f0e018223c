package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// readStream returns the content of a stream for clients of a format.
func readStream(f format, stream string) (*reply, error) {
	r := new(reply)
	read, ended := r.readGemini, false
	if f == formatMessages {
		read = (&messagesEvents{reply: r}).read
	}
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if !ok {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(data), &doc); err != nil {
			return nil, fmt.Errorf("an event is not a JSON object: %w", err)
		}
		if ended && f == formatMessages {
			return nil, errors.New("an event follows message_stop")
		}
		end, err := read(doc)
		if err != nil {
			return nil, err
		}
		ended = ended || end
	}
	if !ended {
		return nil, errors.New("the stream has no end")
	}
	return r, nil
}

// messagesEvents reads the events of Messages and checks that blocks begin and end.
type messagesEvents struct {
	*reply
	started bool
	open    map[int64]int // index of a block that has begun, and of its call or -1
}

func (m *messagesEvents) read(doc map[string]any) (end bool, err error) {
	name := str(doc["type"])
	if !m.started && name != "message_start" && name != "ping" {
		return false, fmt.Errorf("%s is before message_start", name)
	}
	index := number(doc["index"])
	call, open := m.open[index]
	switch name {
	case "message_start":
		m.started, m.open = true, make(map[int64]int)
		m.usage(object(object(doc["message"])["usage"]))
	case "content_block_start":
		if open {
			return false, errors.New("a block begins twice")
		}
		m.overlap = m.overlap || len(m.open) > 0
		m.open[index] = -1
		if b := object(doc["content_block"]); str(b["type"]) == "tool_use" {
			m.open[index] = len(m.calls)
			m.calls = append(m.calls, replyCall{id: str(b["id"]), name: str(b["name"])})
		}
	case "content_block_delta":
		if !open {
			return false, errors.New("a delta is outside of its block")
		}
		d := object(doc["delta"])
		switch str(d["type"]) {
		case "text_delta":
			m.pieces = append(m.pieces, str(d["text"]))
		case "input_json_delta":
			if call < 0 {
				return false, errors.New("input_json_delta is outside of a tool call")
			}
			m.calls[call].arguments = append(m.calls[call].arguments, str(d["partial_json"]))
		}
	case "content_block_stop":
		if !open {
			return false, errors.New("a block ends that is not open")
		}
		delete(m.open, index)
	case "message_delta":
		m.stop = map[string]stop{"end_turn": stopEnd, "tool_use": stopTools, "max_tokens": stopLimit}[str(object(doc["delta"])["stop_reason"])]
		m.usage(object(doc["usage"]))
	case "message_stop":
		if len(m.open) > 0 {
			return false, errors.New("a block has no end")
		}
		return true, nil
	}
	return false, nil
}

// usage sets the counts that u has. Counts of later events replace earlier ones.
func (m *messagesEvents) usage(u map[string]any) {
	if n := number(u["input_tokens"]); n > 0 {
		m.input = n
	}
	if n := number(u["output_tokens"]); n > 0 {
		m.output = n
	}
}

func (r *reply) readGemini(doc map[string]any) (end bool, err error) {
	for _, v := range list(doc["candidates"]) {
		c := object(v)
		for _, v := range list(object(c["content"])["parts"]) {
			p := object(v)
			if s := str(p["text"]); s != "" && p["thought"] != true {
				r.pieces = append(r.pieces, s)
			}
			if call := object(p["functionCall"]); call != nil {
				r.calls = append(r.calls, replyCall{id: str(call["id"]), name: str(call["name"]), arguments: []string{canonical(call["args"])}})
			}
		}
		switch str(c["finishReason"]) {
		case "":
		case "STOP":
			end, r.stop = true, stopEnd
			if len(r.calls) > 0 {
				r.stop = stopTools
			}
		case "MAX_TOKENS":
			end, r.stop = true, stopLimit
		default:
			end = true
		}
	}
	if u := object(doc["usageMetadata"]); u != nil {
		r.input, r.output = number(u["promptTokenCount"]), number(u["candidatesTokenCount"])
	}
	return end, nil
}

// compareReplies returns what want has and got does not have.
func compareReplies(want, got *reply) (gaps []gap) {
	a, b := strings.Join(want.pieces, ""), strings.Join(got.pieces, "")
	switch {
	case a != b:
		gaps = append(gaps, gap{what: fmt.Sprintf("the text differs: %d of %d bytes", len(b), len(a))})
	case len(got.pieces) < len(want.pieces):
		gaps = append(gaps, gap{"pieces of text: they are joined", len(want.pieces) - len(got.pieces), len(want.pieces)})
	}
	missing := 0
	for i := range want.calls {
		w := &want.calls[i]
		if i >= len(got.calls) || got.calls[i].name != w.name || canonical(decoded(got.calls[i].joined())) != canonical(decoded(w.joined())) {
			missing++
		}
	}
	if missing > 0 {
		gaps = append(gaps, gap{string(kindCall), missing, len(want.calls)})
	}
	if extra := len(got.calls) - len(want.calls); extra > 0 {
		gaps = append(gaps, gap{what: fmt.Sprintf("%d tool calls more", extra)})
	}
	seen := make(map[string]bool)
	for _, c := range got.calls {
		if c.id == "" || seen[c.id] {
			gaps = append(gaps, gap{what: "tool calls without an id of their own"})
			break
		}
		seen[c.id] = true
	}
	if got.overlap {
		gaps = append(gaps, gap{what: overlapping})
	}
	if got.stop != want.stop {
		gaps = append(gaps, gap{what: fmt.Sprintf("stop reason %q instead of %q", got.stop, want.stop)})
	}
	if got.input != want.input || got.output != want.output {
		gaps = append(gaps, gap{what: fmt.Sprintf("usage %d and %d instead of %d and %d", got.input, got.output, want.input, want.output)})
	}
	return gaps
}
