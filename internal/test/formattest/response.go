package formattest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// This file reads responses of generateContent like a client, without the code of the
// format: strictly by the grammar, with encoding/json.

// Chunks are a streamed response of generateContent as a client received it.
type Chunks struct {
	List    []map[string]any
	Failure map[string]any // the error object
	Pings   int            // blanks before the JSON of events
}

// ReadEvents splits a stream of events. Each event is one data line and an empty line,
// with CRLF. Blanks before its JSON are keep-alives. A failure at the very end has two
// forms: a bare object with a blank line, and the same object as an event. The event
// comes first if a keep-alive has started it.
func ReadEvents(stream string) (*Chunks, error) {
	h := new(Chunks)
	for stream != "" {
		if strings.HasPrefix(stream, `{"error":`) {
			failure, rest, _ := strings.Cut(stream, "\r\n\r\n")
			if rest != "data: "+failure+"\r\n\r\n" {
				return h, fmt.Errorf("the second form of the failure is %q", rest)
			}
			m, err := DecodeObject([]byte(failure))
			h.Failure = m
			return h, err
		}
		event, rest, ok := strings.Cut(stream, "\r\n\r\n")
		if !ok {
			return h, fmt.Errorf("the stream ends inside an event: %q", stream)
		}
		stream = rest
		data, ok := strings.CutPrefix(event, "data: ")
		blanks := len(data) - len(strings.TrimLeft(data, " "))
		h.Pings, data = h.Pings+blanks, data[blanks:]
		if !ok || strings.ContainsAny(data, "\r\n") {
			return h, fmt.Errorf("not one data line: %q", event)
		}
		m, err := DecodeObject([]byte(data))
		if err != nil {
			return h, fmt.Errorf("%w: %q", err, data)
		}
		if m["error"] != nil {
			if h.Failure = m; rest != data+"\r\n\r\n" {
				return h, fmt.Errorf("after a failure in an event, which old clients ignore, comes %q", rest)
			}
			return h, nil
		}
		h.List = append(h.List, m)
	}
	return h, nil
}

// ReadArray reads an array. A failure is its last element.
func ReadArray(stream string) (*Chunks, error) {
	d := json.NewDecoder(strings.NewReader(stream))
	d.UseNumber()
	var list []map[string]any
	if err := d.Decode(&list); err != nil || d.More() {
		return nil, fmt.Errorf("%v: not one array: %q", err, stream)
	}
	h := new(Chunks)
	for i, m := range list {
		if m["error"] == nil {
			h.List = append(h.List, m)
			continue
		}
		if h.Failure = m; i < len(list)-1 {
			return h, fmt.Errorf("something follows a failure: %q", stream)
		}
	}
	return h, nil
}

// Whole joins the chunks to one response, as clients do, and checks the grammar. The
// response is in normal form.
func (h *Chunks) Whole() (map[string]any, error) {
	if h.Failure == nil && len(h.List) == 0 {
		return nil, fmt.Errorf("no chunks")
	}
	all := map[string]any{}
	for i, p := range h.List {
		if p["responseId"] == nil || p["modelVersion"] == nil ||
			p["responseId"] != h.List[0]["responseId"] || p["modelVersion"] != h.List[0]["modelVersion"] {
			return nil, fmt.Errorf("chunk %d is of another response: %v", i, p)
		}
		for name, v := range p {
			if name != "candidates" {
				all[name] = v
				continue
			}
			for _, c := range v.([]any) {
				if err := joinCandidate(all, c.(map[string]any)); err != nil {
					return nil, fmt.Errorf("chunk %d: %w", i, err)
				}
			}
		}
	}
	if h.Failure == nil && all["promptFeedback"] == nil {
		list, _ := all["candidates"].([]any)
		if len(list) == 0 {
			return nil, fmt.Errorf("there is no candidate")
		}
		for _, c := range list {
			if c.(map[string]any)["finishReason"] == nil {
				return nil, fmt.Errorf("the stream just ends")
			}
		}
	}
	return NormalResponse(all), nil
}

// joinCandidate adds a candidate of a chunk to the joined candidates.
func joinCandidate(all, c map[string]any) error {
	index, ok := c["index"].(json.Number)
	body, ok2 := c["content"].(map[string]any)
	if !ok || !ok2 || body["role"] != "model" {
		return fmt.Errorf("not a candidate: %v", c)
	}
	var to map[string]any
	list, _ := all["candidates"].([]any)
	for _, have := range list {
		if have.(map[string]any)["index"] == index {
			to = have.(map[string]any)
		}
	}
	if to == nil {
		to = map[string]any{"index": index, "content": map[string]any{"role": "model"}}
		all["candidates"] = append(list, to)
	}
	for name, v := range c {
		if have, _ := to[name].(map[string]any); name == "groundingMetadata" && have != nil {
			for list, news := range v.(map[string]any) {
				before, _ := have[list].([]any)
				have[list] = append(before, news.([]any)...)
			}
		} else if name != "content" {
			to[name] = v
		}
	}
	have := to["content"].(map[string]any)
	parts, ok := body["parts"].([]any)
	if body["parts"] != nil && (!ok || len(parts) == 0) {
		return fmt.Errorf("parts are %v", body["parts"])
	}
	if before, _ := have["parts"].([]any); len(before)+len(parts) > 0 {
		have["parts"] = append(before, parts...)
	}
	return nil
}

// NormalResponse returns a response in a form that does not depend on how texts were split: texts
// of one kind are joined up to a signed one, and empty texts are omitted.
func NormalResponse(res map[string]any) map[string]any {
	list, _ := res["candidates"].([]any)
	for _, c := range list {
		body := c.(map[string]any)["content"].(map[string]any)
		parts, _ := body["parts"].([]any)
		var joined []any
		for _, p := range parts {
			p := p.(map[string]any)
			if text, ok := p["text"].(string); ok && len(joined) > 0 {
				last := joined[len(joined)-1].(map[string]any)
				before, ok := last["text"].(string)
				if ok && last["thoughtSignature"] == nil && reflect.DeepEqual(last["thought"], p["thought"]) {
					for name, v := range p {
						last[name] = v
					}
					last["text"] = before + text
					continue
				}
			}
			joined = append(joined, p)
		}
		var kept []any
		for _, p := range joined {
			p := p.(map[string]any)
			if thought := p["thought"] == true; p["text"] != "" || len(p) > 2 || len(p) == 2 && !thought {
				kept = append(kept, p)
			}
		}
		delete(body, "parts")
		if len(kept) > 0 {
			body["parts"] = kept
		}
	}
	return res
}
