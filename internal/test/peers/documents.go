package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The functions in this file read requests with encoding/json only, so that the check does
// not depend on the code that it checks.

// readRequest returns the content of a request in a format.
func readRequest(f format, body []byte) (*conversation, error) {
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	c := &conversation{tools: make(map[string]tool)}
	switch f {
	case formatMessages:
		c.readMessages(doc)
	case formatGemini:
		c.readGemini(doc)
	case formatChat, formatOllama:
		c.readChat(doc)
	}
	return c, nil
}

func (c *conversation) readMessages(doc map[string]any) {
	for _, s := range texts(doc["system"]) {
		c.add(item{kind: kindSystem, texts: []string{s}})
	}
	for _, v := range list(doc["messages"]) {
		m := object(v)
		role := str(m["role"])
		if s, ok := m["content"].(string); ok {
			c.add(item{kind: kindText, role: role, texts: []string{s}})
		}
		for _, v := range list(m["content"]) {
			b := object(v)
			switch str(b["type"]) {
			case "text":
				c.add(item{kind: kindText, role: role, texts: []string{str(b["text"])}})
			case "thinking":
				c.thinking(str(b["thinking"]), str(b["signature"]))
			case "tool_use":
				c.add(item{kind: kindCall, id: str(b["id"]), name: str(b["name"]), args: canonical(b["input"])})
			case "tool_result":
				c.result(str(b["tool_use_id"]), "", b["content"])
			case "image", "document":
				c.file(str(object(b["source"])["data"]))
			}
		}
	}
	for _, v := range list(doc["tools"]) {
		t := object(v)
		c.tool(t, t["input_schema"])
	}
}

func (c *conversation) readGemini(doc map[string]any) {
	for _, v := range list(object(doc["systemInstruction"])["parts"]) {
		c.add(item{kind: kindSystem, texts: []string{str(object(v)["text"])}})
	}
	for _, v := range list(doc["contents"]) {
		m := object(v)
		role := map[string]string{"model": "assistant"}[str(m["role"])]
		if role == "" {
			role = "user"
		}
		for _, v := range list(m["parts"]) {
			c.geminiPart(role, object(v))
		}
	}
	for _, v := range list(doc["tools"]) {
		for _, v := range list(object(v)["functionDeclarations"]) {
			t := object(v)
			schema := t["parametersJsonSchema"]
			if schema == nil {
				schema = t["parameters"]
			}
			c.tool(t, schema)
		}
	}
}

func (c *conversation) geminiPart(role string, p map[string]any) {
	if s := str(p["thoughtSignature"]); s != "" {
		c.thinking("", s)
	}
	if text := str(p["text"]); text != "" {
		if p["thought"] == true {
			c.thinking(text, "")
		} else {
			c.add(item{kind: kindText, role: role, texts: []string{text}})
		}
	}
	if data := object(p["inlineData"]); data != nil {
		c.file(str(data["data"]))
	}
	if call := object(p["functionCall"]); call != nil {
		c.add(item{kind: kindCall, id: str(call["id"]), name: str(call["name"]), args: canonical(call["args"])})
	}
	if r := object(p["functionResponse"]); r != nil {
		c.result(str(r["id"]), str(r["name"]), r["response"])
	}
}

// readChat reads Chat Completions and Ollama's chat format, which has arguments as objects
// and images beside the text.
func (c *conversation) readChat(doc map[string]any) {
	for _, v := range list(doc["messages"]) {
		m := object(v)
		switch role := str(m["role"]); role {
		case "system", "developer":
			for _, s := range texts(m["content"]) {
				c.add(item{kind: kindSystem, texts: []string{s}})
			}
		case "tool":
			c.result(str(m["tool_call_id"]), "", m["content"])
		default:
			c.chatMessage(role, m)
		}
	}
	for _, v := range list(doc["tools"]) {
		f := object(object(v)["function"])
		c.tool(f, f["parameters"])
	}
}

func (c *conversation) chatMessage(role string, m map[string]any) {
	for _, name := range []string{"reasoning_content", "reasoning", "thinking"} {
		if s := str(m[name]); s != "" {
			c.thinking(s, "")
			break
		}
	}
	for _, v := range list(m["reasoning_details"]) {
		c.thinking("", str(object(v)["signature"]))
	}
	for _, v := range list(m["images"]) {
		c.file(str(v))
	}
	if s := str(m["content"]); s != "" {
		c.add(item{kind: kindText, role: role, texts: []string{s}})
	}
	for _, v := range list(m["content"]) {
		p := object(v)
		switch str(p["type"]) {
		case "text":
			c.add(item{kind: kindText, role: role, texts: []string{str(p["text"])}})
		case "image_url":
			c.dataURL(str(object(p["image_url"])["url"]))
		case "file":
			c.dataURL(str(object(p["file"])["file_data"]))
		}
	}
	for _, v := range list(m["tool_calls"]) {
		call := object(v)
		f := object(call["function"])
		args := f["arguments"]
		if s, ok := args.(string); ok {
			args = decoded(s)
		}
		c.add(item{kind: kindCall, id: str(call["id"]), name: str(f["name"]), args: canonical(args)})
	}
}

func (c *conversation) add(i item) { c.items = append(c.items, i) }

func (c *conversation) thinking(text, signature string) {
	if text != "" {
		c.add(item{kind: kindThinking, texts: []string{text}})
	}
	if signature != "" {
		c.add(item{kind: kindSignature, texts: []string{signature}})
	}
}

// result adds a tool result. Its text may be JSON in a string, so both forms are kept.
func (c *conversation) result(id, name string, v any) {
	all := strings.Join(leaves(v), "\n")
	forms := []string{all}
	if inner := leaves(decoded(all)); len(inner) > 0 {
		forms = append(forms, strings.Join(inner, "\n"))
	}
	c.add(item{kind: kindResult, id: id, name: name, texts: forms})
}

// file adds a file. Padding and the alphabet of base64 do not matter. Media types are not
// compared, because Ollama's format has none.
func (c *conversation) file(data string) {
	if data == "" {
		return
	}
	data = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(data, "="))
	c.add(item{kind: kindFile, texts: []string{fmt.Sprintf("%x", sha256.Sum256([]byte(data)))}})
}

func (c *conversation) dataURL(url string) {
	if _, data, ok := strings.Cut(url, ";base64,"); ok {
		c.file(data)
	}
}

func (c *conversation) tool(t map[string]any, schema any) {
	properties := object(object(schema)["properties"])
	c.tools[str(t["name"])] = tool{str(t["description"]), slices.Sorted(maps.Keys(properties))}
}

// texts returns a string, or the texts of an array of blocks.
func texts(v any) (all []string) {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	for _, v := range list(v) {
		all = append(all, str(object(v)["text"]))
	}
	return all
}

// leaves returns all strings in v, except the types of blocks.
func leaves(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			all = append(all, leaves(e)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "type" {
				all = append(all, leaves(v[name])...)
			}
		}
	}
	return all
}

// decoded returns the value of JSON in a string, or nil.
func decoded(s string) (v any) {
	if json.Unmarshal([]byte(s), &v) != nil {
		return nil
	}
	return v
}

// The following functions return zero values if v has another type.

func str(v any) string {
	s, _ := v.(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func number(v any) int64 {
	n, _ := v.(float64)
	return int64(n)
}
