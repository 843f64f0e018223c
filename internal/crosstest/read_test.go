package crosstest

import (
	"encoding/json"
	"strings"
	"testing"
)

// The functions in this file read responses like clients of the formats. They
// share no code with the codecs.

// messageOf reads the tested members of a Message.
func messageOf(t *testing.T, body string) map[string]any { return pickMembers(object(t, body)) }

// pickMembers keeps the tested members of a message and of its content.
func pickMembers(m map[string]any) map[string]any {
	kept := map[string]any{}
	for _, name := range []string{"content", "stop_reason", "stop_sequence", "stop_details", "usage"} {
		if m[name] != nil {
			kept[name] = m[name]
		}
	}
	return kept
}

// joinMessage joins the events of a stream to a Message and checks their order.
func joinMessage(t *testing.T, stream string) map[string]any {
	var m map[string]any
	var blocks []any
	open, input, over := map[string]bool{}, map[string]string{}, false
	for event := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		_, data, ok := strings.Cut(event, "\ndata: ")
		if !ok || over {
			t.Fatalf("not an event, or after the last one: %q", event)
		}
		e := object(t, data)
		index, _ := e["index"].(interface{ String() string })
		at := ""
		if index != nil {
			at = index.String()
		}
		switch e["type"] {
		case "message_start":
			m = e["message"].(map[string]any)
		case "content_block_start":
			open[at] = true
			blocks = append(blocks, e["content_block"])
		case "content_block_delta":
			if !open[at] {
				t.Fatalf("no open block: %q", event)
			}
			addDelta(t, blockAt(blocks, e), e["delta"].(map[string]any), input, at)
		case "content_block_stop":
			if input[at] != "" && (input[at][0] != '{' || !json.Valid([]byte(input[at]))) {
				blockAt(blocks, e)["input"] = input[at]
			} else if input[at] != "" {
				blockAt(blocks, e)["input"] = object(t, input[at])
			}
			delete(open, at)
		case "message_delta":
			for name, v := range e["delta"].(map[string]any) {
				m[name] = v
			}
			for name, v := range e["usage"].(map[string]any) {
				m["usage"].(map[string]any)[name] = v
			}
		case "message_stop":
			over = true
		}
	}
	if !over || len(open) > 0 {
		t.Fatalf("the stream ends without message_stop: %q", stream)
	}
	m["content"] = append([]any{}, blocks...)
	return pickMembers(m)
}

func blockAt(blocks []any, e map[string]any) map[string]any {
	n, _ := e["index"].(interface{ Int64() (int64, error) }).Int64()
	return blocks[n].(map[string]any)
}

func addDelta(t *testing.T, block, d map[string]any, input map[string]string, at string) {
	switch d["type"] {
	case "text_delta":
		block["text"] = block["text"].(string) + d["text"].(string)
	case "thinking_delta":
		block["thinking"] = block["thinking"].(string) + d["thinking"].(string)
	case "signature_delta":
		block["signature"] = d["signature"]
	case "citations_delta":
		list, _ := block["citations"].([]any)
		block["citations"] = append(list, d["citation"])
	case "input_json_delta":
		input[at] += d["partial_json"].(string)
	default:
		t.Fatalf("unknown delta: %v", d)
	}
}

// responseOf reads a GenerateContentResponse.
func responseOf(t *testing.T, body string) map[string]any { return normalize(object(t, body)) }

// normalize joins texts of one kind as clients do. It omits empty members,
// response ids, and the texts of segments, which a stream does not have.
func normalize(m map[string]any) map[string]any {
	delete(m, "modelVersion")
	delete(m, "responseId")
	list, _ := m["candidates"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		body := c["content"].(map[string]any)
		parts, _ := body["parts"].([]any)
		var kept []any
		var last map[string]any
		for _, p := range parts {
			p := p.(map[string]any)
			text, isText := p["text"].(string)
			before, joins := last["text"].(string)
			switch {
			case isText && joins && last["thoughtSignature"] == nil && last["thought"] == p["thought"]:
				last["text"] = before + text
				if p["thoughtSignature"] != nil {
					last["thoughtSignature"] = p["thoughtSignature"]
				}
			case isText && text == "" && p["thoughtSignature"] == nil:
			default:
				kept, last = append(kept, p), p
			}
		}
		if delete(body, "parts"); len(kept) > 0 {
			body["parts"] = kept
		}
		g, _ := c["groundingMetadata"].(map[string]any)
		supports, _ := g["groundingSupports"].([]any)
		for _, s := range supports {
			delete(s.(map[string]any)["segment"].(map[string]any), "text")
		}
	}
	return m
}

// joinResponse joins the chunks of a stream.
func joinResponse(t *testing.T, stream string) map[string]any {
	all := map[string]any{}
	for event := range strings.SplitSeq(strings.TrimSuffix(stream, "\r\n\r\n"), "\r\n\r\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok {
			t.Fatalf("want one data line: %q", event)
		}
		piece := object(t, data)
		list, _ := piece["candidates"].([]any)
		delete(piece, "candidates")
		for name, v := range piece {
			all[name] = v
		}
		for _, c := range list {
			joinCandidate(all, c.(map[string]any))
		}
	}
	return normalize(all)
}

func joinCandidate(all, c map[string]any) {
	have, _ := all["candidates"].([]any)
	if have == nil {
		all["candidates"] = []any{c}
		return
	}
	to := have[0].(map[string]any)
	for name, v := range c {
		switch was, _ := to[name].(map[string]any); {
		case name == "content":
			parts, _ := was["parts"].([]any)
			more, _ := v.(map[string]any)["parts"].([]any)
			was["parts"] = append(parts, more...)
		case name == "groundingMetadata" && was != nil:
			for list, news := range v.(map[string]any) {
				old, _ := was[list].([]any)
				was[list] = append(old, news.([]any)...)
			}
		default:
			to[name] = v
		}
	}
}
