package formattest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file reads streams of Chat Completions like a client, without the code of the format. It
// follows the grammar of the wire and uses encoding/json.

// A Chat is what a client accumulated from a stream.
type Chat struct {
	// Object is the response in the form of one that is not streamed. It is nil without chunks.
	// Members that are null or empty, and logprobs, are left out of its messages.
	Object  map[string]any
	Failure map[string]any // the error object
	Pings   int
	Chunks  int

	choices map[int]*chatChoice
	usage   bool // a chunk has "usage": null or a usage
	done    bool
	ofAny   bool // a server may have sent it: see [ReadSent]
}

type chatChoice struct {
	message map[string]any
	calls   []map[string]any
	finish  string
}

// ReadChat accumulates a whole stream. It returns an error if the stream breaks the grammar.
func ReadChat(stream string) (*Chat, error) {
	a := &Chat{choices: make(map[int]*chatChoice)}
	return a, a.read(stream)
}

func (a *Chat) read(stream string) error {
	for stream != "" {
		event, rest, ok := strings.Cut(stream, "\n\n")
		if !ok || strings.ContainsAny(event, "\r\n") {
			return fmt.Errorf("not one line and an empty line: %q", stream)
		}
		stream = rest
		if err := a.event(event); err != nil {
			return fmt.Errorf("%w: %s", err, event)
		}
	}
	switch {
	case a.Failure != nil:
		return nil
	case !a.done:
		return errors.New("the stream ends without [DONE]")
	}
	var list []any
	for _, k := range slices.Sorted(maps.Keys(a.choices)) {
		c := a.choices[k]
		if len(c.calls) > 0 {
			calls := make([]any, len(c.calls))
			for i, call := range c.calls {
				delete(call, "index")
				calls[i] = call
			}
			c.message["tool_calls"] = calls
		}
		list = append(list, map[string]any{"index": json.Number(strconv.Itoa(k)), "message": NormalChatMessage(c.message), "finish_reason": c.finish})
	}
	a.Object["choices"] = list
	return nil
}

// NormalChatMessage removes the members of a message that are null or empty.
func NormalChatMessage(m map[string]any) map[string]any {
	for name, v := range m {
		if list, ok := v.([]any); v == nil || v == "" || ok && len(list) == 0 {
			delete(m, name)
		}
	}
	return m
}

func (a *Chat) event(line string) error {
	if strings.HasPrefix(line, ":") {
		a.Pings++
		return nil
	}
	data, ok := strings.CutPrefix(line, "data: ")
	switch {
	case !ok:
		return errors.New("not a data line")
	case a.done || a.Failure != nil:
		return errors.New("after the end")
	case data == "[DONE]":
		for k, c := range a.choices {
			if c.finish == "" {
				return fmt.Errorf("choice %d has no finish_reason", k)
			}
		}
		a.done = true
		return nil
	}
	chunk, err := DecodeObject([]byte(data))
	if err != nil {
		return err
	}
	if f, ok := chunk["error"].(map[string]any); ok {
		a.Failure = f
		return nil
	}
	if a.ofAny && a.Chunks == 0 && chunk["prompt_filter_results"] != nil {
		return nil // Azure's first chunk has nothing else
	}
	return a.chunk(chunk)
}

func (a *Chat) chunk(chunk map[string]any) error {
	a.Chunks++
	if a.Object == nil {
		a.Object = map[string]any{"object": "chat.completion"}
		_, a.usage = chunk["usage"]
	}
	for _, name := range []string{"id", "model", "created", "object"} {
		v := chunk[name]
		if name == "object" {
			if v != "chat.completion.chunk" {
				return fmt.Errorf("the object is %v", v)
			}
			continue
		}
		if known, ok := a.Object[name]; ok && known != v {
			return fmt.Errorf("%s is %v, then %v", name, known, v)
		}
		a.Object[name] = v
	}
	choices, ok := chunk["choices"].([]any)
	usage, has := chunk["usage"]
	switch {
	case !ok:
		return errors.New("no choices")
	case has != a.usage && !a.ofAny:
		return errors.New("usage is in some chunks only")
	case usage != nil && len(choices) > 0:
		return errors.New("a usage with choices")
	case usage == nil && len(choices) != 1:
		return errors.New("not one choice")
	case usage != nil:
		a.Object["usage"] = usage
		return nil
	case a.Object["usage"] != nil:
		return errors.New("after the usage")
	}
	for name, v := range chunk {
		if _, known := a.Object[name]; !known && name != "choices" && name != "usage" {
			a.Object[name] = v
		}
	}
	return a.choice(choices[0].(map[string]any))
}

func (a *Chat) choice(v map[string]any) error {
	k := indexIn(v)
	delta, ok := v["delta"].(map[string]any)
	finish, has := v["finish_reason"]
	if !ok || !has {
		return errors.New("no delta or finish_reason")
	}
	if k < 0 {
		return errors.New("a choice without an index")
	}
	c := a.choices[k]
	if c == nil {
		if delta["role"] != "assistant" {
			return errors.New("the first chunk of a choice has no role")
		}
		c = &chatChoice{message: map[string]any{}}
		a.choices[k] = c
	} else if delta["role"] != nil {
		return errors.New("a second role")
	}
	if c.finish != "" {
		return errors.New("after the finish_reason")
	}
	if finish != nil {
		c.finish = finish.(string)
		if len(delta) > 0 {
			return errors.New("a finish_reason with a delta")
		}
	}
	return c.add(delta)
}

// indexIn returns the index of a choice or a tool call, or -1.
func indexIn(v map[string]any) int {
	n, _ := v["index"].(json.Number)
	if i, err := strconv.Atoi(n.String()); err == nil {
		return i
	}
	return -1
}

// add adds a delta to the message.
func (c *chatChoice) add(delta map[string]any) error {
	for name, v := range delta {
		switch v := v.(type) {
		case nil:
		case string:
			if name == "role" {
				c.message[name] = v
				continue
			}
			text, _ := c.message[name].(string)
			c.message[name] = text + v
		case []any:
			if name == "tool_calls" {
				if err := c.addCalls(v); err != nil {
					return err
				}
				continue
			}
			list, _ := c.message[name].([]any)
			c.message[name] = append(list, v...)
		case map[string]any:
			known, _ := c.message[name].(map[string]any)
			if known == nil {
				known = map[string]any{}
				c.message[name] = known
			}
			appendTexts(known, v)
		default:
			return fmt.Errorf("the member %s is a %T", name, v)
		}
	}
	return nil
}

// addCalls adds fragments of tool calls.
func (c *chatChoice) addCalls(list []any) error {
	for _, x := range list {
		f := x.(map[string]any)
		i := indexIn(f)
		switch {
		case i == len(c.calls):
			if f["id"] == "" || f["id"] == nil || f["type"] == nil {
				return errors.New("a tool call begins without an id or a type")
			}
			c.calls = append(c.calls, f)
		case i < 0 || i > len(c.calls):
			return fmt.Errorf("tool call %d follows %d tool calls", i, len(c.calls))
		case f["id"] != nil:
			return errors.New("a second id")
		default:
			for _, name := range []string{"function", "custom"} {
				more, ok := f[name].(map[string]any)
				known, is := c.calls[i][name].(map[string]any)
				if ok != is {
					return errors.New("a fragment of another type")
				}
				appendTexts(known, more)
			}
		}
	}
	return nil
}

// appendTexts appends the texts of more to those of all.
func appendTexts(all, more map[string]any) {
	for name, v := range more {
		text, _ := all[name].(string)
		all[name] = text + v.(string)
	}
}

// ValidChatCalls returns the names of the tool calls of a message whose arguments are a JSON
// object, or that are free-form.
func ValidChatCalls(message map[string]any) (names []string) {
	list, _ := message["tool_calls"].([]any)
	for _, x := range list {
		call := x.(map[string]any)
		if f, ok := call["custom"].(map[string]any); ok {
			names = append(names, f["name"].(string))
			continue
		}
		f := call["function"].(map[string]any)
		var object map[string]any
		if json.Unmarshal([]byte(f["arguments"].(string)), &object) == nil && object != nil {
			names = append(names, f["name"].(string))
		}
	}
	return names
}
