package formattest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// This file reads responses of Messages like a client, without the code of the format. It
// follows the grammar of the wire and uses encoding/json.

// ReadMessageEvents splits a stream into the data of its events. Each event must be an event
// line, one data line and a blank line. The name must be the type.
func ReadMessageEvents(stream string) (events []map[string]any, err error) {
	for stream != "" {
		block, rest, ok := strings.Cut(stream, "\n\n")
		if !ok {
			return events, fmt.Errorf("the stream ends inside an event: %q", stream)
		}
		stream = rest
		name, data, ok := strings.Cut(block, "\n")
		if !ok || !strings.HasPrefix(name, "event: ") || !strings.HasPrefix(data, "data: ") ||
			strings.ContainsAny(data, "\r\n") {
			return events, fmt.Errorf("not an event line and a data line: %q", block)
		}
		name = strings.TrimPrefix(name, "event: ")
		e, err := DecodeObject([]byte(strings.TrimPrefix(data, "data: ")))
		if err != nil {
			return events, fmt.Errorf("data of %s: %v: %q", name, err, data)
		}
		if e["type"] != name {
			return events, fmt.Errorf("event %s has the type %v", name, e["type"])
		}
		events = append(events, e)
	}
	return events, nil
}

// A Message is a message that a client accumulated from a stream, according to the grammar.
type Message struct {
	Object  map[string]any // nil if there is no message_start
	Failure map[string]any // data of the error event
	Pings   int

	blocks []map[string]any
	state  []*blockState
	delta  bool // a message_delta was read
	over   bool // message_stop or error was read
}

type blockState struct {
	open       bool
	input      strings.Builder
	signatures int
	deltas     map[string]int
	last       string
	invalid    bool // the arguments are not an object
}

// ReadMessage accumulates a whole stream.
func ReadMessage(stream string) (*Message, error) {
	events, err := ReadMessageEvents(stream)
	if err != nil {
		return nil, err
	}
	a := new(Message)
	for i, e := range events {
		if err := a.event(e); err != nil {
			return a, fmt.Errorf("event %d, %s: %w", i, e["type"], err)
		}
	}
	if !a.over {
		return a, fmt.Errorf("the stream ends without message_stop")
	}
	if a.Object != nil {
		list := make([]any, len(a.blocks))
		for i, b := range a.blocks {
			list[i] = b
		}
		a.Object["content"] = list
	}
	return a, nil
}

func (a *Message) event(e map[string]any) error {
	if a.over {
		return fmt.Errorf("after the end")
	}
	switch e["type"] {
	case "ping":
		a.Pings++
		return nil
	case "error":
		a.over, a.Failure = true, e
		return nil
	case "message_start":
		if a.Object != nil {
			return fmt.Errorf("a second message_start")
		}
		a.Object, _ = e["message"].(map[string]any)
		content, ok := a.Object["content"].([]any)
		if !ok || len(content) != 0 || a.Object["stop_reason"] != nil || a.Object["usage"] == nil {
			return fmt.Errorf("not the start of a message: %v", a.Object)
		}
		return nil
	}
	if a.Object == nil {
		return fmt.Errorf("before message_start")
	}
	switch e["type"] {
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		b, s, err := a.at(e)
		if err != nil {
			return err
		}
		return s.add(b, e["delta"].(map[string]any))
	case "content_block_stop":
		b, s, err := a.at(e)
		if err != nil {
			return err
		}
		return s.stop(b)
	case "message_delta":
		return a.end(e)
	case "message_stop":
		for i := range a.state {
			if a.state[i].open {
				return fmt.Errorf("block %d is open", i)
			}
		}
		if !a.delta {
			return fmt.Errorf("no message_delta")
		}
		a.over = true
		return nil
	}
	return nil // unknown events are ignored
}

func (a *Message) start(data map[string]any) error {
	if a.delta {
		return fmt.Errorf("after message_delta")
	}
	if fmt.Sprint(data["index"]) != fmt.Sprint(len(a.blocks)) {
		return fmt.Errorf("index %v, want %d", data["index"], len(a.blocks))
	}
	b := data["content_block"].(map[string]any)
	if input, ok := b["input"]; ok && len(input.(map[string]any)) != 0 {
		return fmt.Errorf("a call begins with %v", input)
	}
	a.blocks = append(a.blocks, b)
	a.state = append(a.state, &blockState{open: true, deltas: map[string]int{}})
	return nil
}

func (a *Message) at(data map[string]any) (map[string]any, *blockState, error) {
	n, err := data["index"].(json.Number).Int64()
	if err != nil || int(n) >= len(a.blocks) || !a.state[n].open {
		return nil, nil, fmt.Errorf("block %v is not open", data["index"])
	}
	return a.blocks[n], a.state[n], nil
}

func (s *blockState) add(b map[string]any, delta map[string]any) error {
	kind, _ := delta["type"].(string)
	s.deltas[kind]++
	s.last = kind
	text := func(member, of string) error {
		have, ok := b[member].(string)
		more, ok2 := delta[of].(string)
		if !ok || !ok2 {
			return fmt.Errorf("%s on %v", kind, b["type"])
		}
		b[member] = have + more
		return nil
	}
	switch kind {
	case "text_delta":
		return text("text", "text")
	case "thinking_delta":
		return text("thinking", "thinking")
	case "signature_delta":
		s.signatures++
		return text("signature", "signature")
	case "input_json_delta":
		fragment, ok := delta["partial_json"].(string)
		if !ok || b["input"] == nil {
			return fmt.Errorf("%s on %v", kind, b["type"])
		}
		if s.deltas[kind] == 1 && fragment != "" {
			return fmt.Errorf("the first fragment is %q", fragment)
		}
		s.input.WriteString(fragment)
		return nil
	case "citations_delta":
		list, _ := b["citations"].([]any)
		b["citations"] = append(list, delta["citation"])
		return nil
	}
	if kind == "mood_delta" {
		return nil // an unknown delta of the tests
	}
	return fmt.Errorf("unknown delta %q", kind)
}

func (s *blockState) stop(b map[string]any) error {
	s.open = false
	if b["type"] == "thinking" && (s.signatures != 1 || s.last != "signature_delta") {
		return fmt.Errorf("%d signatures, the last delta is %s", s.signatures, s.last)
	}
	if text := s.input.String(); text != "" {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var input map[string]any
		if err := d.Decode(&input); err == nil && json.Valid([]byte(text)) { // nothing follows the object
			b["input"] = input
		} else if b["type"] == "tool_use" {
			s.invalid, b["input"] = true, text // for tests; clients keep the {} of the start
		}
	}
	return nil
}

func (a *Message) end(data map[string]any) error {
	delta, ok := data["delta"].(map[string]any)
	usage, ok2 := data["usage"].(map[string]any)
	if !ok || !ok2 || usage["output_tokens"] == nil {
		return fmt.Errorf("delta or usage is missing")
	}
	a.delta = true
	for _, name := range []string{"stop_reason", "stop_sequence", "stop_details", "container"} {
		if v, ok := delta[name]; ok {
			a.Object[name] = v
		}
	}
	sum := a.Object["usage"].(map[string]any)
	for name, v := range usage {
		if v != nil {
			sum[name] = v
		}
	}
	for name, v := range data {
		switch name {
		case "type", "delta", "usage":
		default:
			a.Object[name] = v
		}
	}
	return nil
}

// ValidBlocks returns the blocks except tool calls with arguments that are not an object,
// which a whole response does not have.
func (a *Message) ValidBlocks() []any {
	list := []any{}
	for i, b := range a.blocks {
		if !a.state[i].invalid {
			list = append(list, b)
		}
	}
	return list
}

// DecodeObject decodes a document of one JSON object and keeps the digits of numbers.
func DecodeObject(doc []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("something follows the object")
	}
	return m, nil
}
