package generatecontent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// This file decodes streams for the tests without code of the package: strictly by the
// grammar, with encoding/json.

// A receivedStream is a stream as a client received it.
type receivedStream struct {
	pieces  []map[string]any
	failure map[string]any // the error object
	pings   int            // blanks before the JSON of events
}

// receive splits a stream. Each event is one data line and an empty line,
// with CRLF. Blanks before its JSON are keep-alives. A failure at the very end has two
// forms: a bare object with a blank line, and the same object as an event. The event
// comes first if a keep-alive has started it.
func receive(f framing, stream string) (*receivedStream, error) {
	if f == inArray {
		return receiveArray(stream)
	}
	h := new(receivedStream)
	for stream != "" {
		if strings.HasPrefix(stream, `{"error":`) {
			failure, rest, _ := strings.Cut(stream, "\r\n\r\n")
			if rest != "data: "+failure+"\r\n\r\n" {
				return h, fmt.Errorf("the second form of the failure is %q", rest)
			}
			m, err := decodeObject([]byte(failure))
			h.failure = m
			return h, err
		}
		event, rest, ok := strings.Cut(stream, "\r\n\r\n")
		if !ok {
			return h, fmt.Errorf("the stream ends inside an event: %q", stream)
		}
		stream = rest
		data, ok := strings.CutPrefix(event, "data: ")
		blanks := len(data) - len(strings.TrimLeft(data, " "))
		h.pings, data = h.pings+blanks, data[blanks:]
		if !ok || strings.ContainsAny(data, "\r\n") {
			return h, fmt.Errorf("not one data line: %q", event)
		}
		m, err := decodeObject([]byte(data))
		if err != nil {
			return h, fmt.Errorf("%w: %q", err, data)
		}
		if m["error"] != nil {
			if h.failure = m; rest != data+"\r\n\r\n" {
				return h, fmt.Errorf("after a failure in an event, which old clients ignore, comes %q", rest)
			}
			return h, nil
		}
		h.pieces = append(h.pieces, m)
	}
	return h, nil
}

// receiveArray reads an array. A failure is its last element.
func receiveArray(stream string) (*receivedStream, error) {
	d := json.NewDecoder(strings.NewReader(stream))
	d.UseNumber()
	var list []map[string]any
	if err := d.Decode(&list); err != nil || d.More() {
		return nil, fmt.Errorf("%v: not one array: %q", err, stream)
	}
	h := new(receivedStream)
	for i, m := range list {
		if m["error"] == nil {
			h.pieces = append(h.pieces, m)
			continue
		}
		if h.failure = m; i < len(list)-1 {
			return h, fmt.Errorf("something follows a failure: %q", stream)
		}
	}
	return h, nil
}

// whole joins the chunks to one response, as clients do, and checks the grammar. The
// response is in normal form.
func (h *receivedStream) whole() (map[string]any, error) {
	if h.failure == nil && len(h.pieces) == 0 {
		return nil, fmt.Errorf("no chunks")
	}
	all := map[string]any{}
	for i, p := range h.pieces {
		if p["responseId"] == nil || p["modelVersion"] == nil ||
			p["responseId"] != h.pieces[0]["responseId"] || p["modelVersion"] != h.pieces[0]["modelVersion"] {
			return nil, fmt.Errorf("chunk %d is of another response: %v", i, p)
		}
		for name, v := range p {
			if name != "candidates" {
				all[name] = v
				continue
			}
			for _, c := range v.([]any) {
				if err := join(all, c.(map[string]any)); err != nil {
					return nil, fmt.Errorf("chunk %d: %w", i, err)
				}
			}
		}
	}
	if h.failure == nil && all["promptFeedback"] == nil {
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
	return normal(all), nil
}

// join adds a candidate of a chunk to the joined candidates.
func join(all, c map[string]any) error {
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

// normal returns a response in a form that does not depend on how texts were split: texts
// of one kind are joined up to a signed one, and empty texts are omitted.
func normal(res map[string]any) map[string]any {
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

// decodeObject decodes a document of one JSON object. It keeps the digits of numbers.
func decodeObject(doc []byte) (map[string]any, error) {
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
