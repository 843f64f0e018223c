package openresponses

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// samples are values of texts that must have a form, by the names of their members.
var samples = map[string]string{
	"image_url": "data:image/png;base64," + dot, "file_url": "https://example.com/a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQK",
	"video_url": "https://example.com/a.mp4", "arguments": "{}", "encrypted_content": "gAAA", "filename": "a.pdf",
}

// silent are the members and values that change nothing for another vendor: beginnings of a path
// and its value.
var silent = map[string]string{
	"parallel_tool_calls true":                 "the default",
	"stream":                                   "the path of the request has it, or it is the default",
	"store false":                              "nothing is stored unless the host sets Store",
	"background false":                         "the default",
	"truncation \"disabled\"":                  "the default",
	"service_tier \"auto\"":                    "the default",
	"stream_options.include_obfuscation false": "no stream is padded",
	"text.format {\"type\":\"text\"}":          "the default",
	"tool_choice.mode \"auto\"":                "the default",
	"text.format.strict":                       "vendors enforce every schema that they can",
	"input[].encrypted_content":                "the loss is that of the whole item",
	"input[].summary[] {\"text\":\"x\",\"type\":\"summary_text\"}": "the same",
	"tools[].strict false":                      "the default of other vendors",
	"include[] \"reasoning.encrypted_content\"": "only the response depends on it",
	"input[].type \"item_reference\"":           "the default",
	"input[].id":                                "ids of items have a meaning only for a server with a store",
	"input[].status":                            "the same",
	"input[].phase":                             "follows from the place of the message",
}

// A variant is a value with one more member, or another alternative, than the one it is compared with.
type variant struct {
	path        string
	base, value any
}

// A walker lists the values of a schema.
type walker struct{ c *contract }

// resolve follows references and merges allOf.
func (w walker) resolve(s map[string]any) map[string]any {
	for {
		if ref := at[string](s, "$ref"); ref != "" {
			s = w.c.schema(strings.TrimPrefix(ref, "#/components/schemas/"))
			continue
		}
		if list := at[[]any](s, "allOf"); list != nil {
			s = list[0].(map[string]any)
			continue
		}
		return s
	}
}

// choices returns the alternatives of a schema but null. ok is false if the schema has none.
func (w walker) choices(s map[string]any) (list []map[string]any, ok bool) {
	for _, name := range []string{"anyOf", "oneOf"} {
		for _, x := range at[[]any](s, name) {
			ok = true
			if m := w.resolve(x.(map[string]any)); at[string](m, "type") != "null" {
				list = append(list, m)
			}
		}
	}
	return list, ok
}

// needed are members without which a valid object is not accepted, by the type of the object.
var needed = map[string][]string{
	"input_image": {"image_url"}, "input_file": {"file_data"}, "json_schema": {"type", "name", "schema"}, "item_reference": {"type"},
}

// minimal returns the smallest value. name is that of the member.
func (w walker) minimal(name string, s map[string]any) any {
	s = w.resolve(s)
	if list, ok := w.choices(s); ok {
		if len(list) == 0 {
			return nil
		}
		return w.minimal(name, list[0])
	}
	if list := at[[]any](s, "enum"); list != nil {
		return list[0]
	}
	switch at[string](s, "type") {
	case "string":
		if text := samples[name]; text != "" {
			return text
		}
		return "x"
	case "integer":
		return max(w.number(s, "minimum"), 1)
	case "number":
		return 0.5
	case "boolean":
		return true
	case "array":
		return []any{w.minimal(name, at[map[string]any](s, "items"))}
	}
	if name == "schema" || name == "parameters" { // one that strict mode accepts
		return map[string]any{"type": "object", "properties": map[string]any{}, "required": []any{}, "additionalProperties": false}
	}
	object, required := map[string]any{}, at[[]any](s, "required")
	if types := at[[]any](s, "properties", "type", "enum"); types != nil {
		for _, member := range needed[types[0].(string)] {
			required = append(slices.Clip(required), member)
		}
	}
	for _, x := range required {
		object[x.(string)] = w.minimal(x.(string), at[map[string]any](s, "properties", x.(string)))
	}
	return object
}

func (w walker) number(s map[string]any, name string) int64 {
	n, _ := at[json.Number](s, name).Int64()
	return n
}

// values returns values of a schema: each of an enumeration, each alternative, and each object with
// each of its members. base is the value without the member, and nil for a value as a whole.
func (w walker) values(path, name string, s map[string]any) (list []variant) {
	s = w.resolve(s)
	if choices, ok := w.choices(s); ok {
		for _, c := range choices {
			list = append(list, w.values(path, name, c)...)
		}
		return list
	}
	whole := func(v any) { list = append(list, variant{path, nil, v}) }
	if values := at[[]any](s, "enum"); values != nil {
		for _, v := range values {
			whole(v)
		}
		return list
	}
	switch at[string](s, "type") {
	case "boolean":
		whole(true)
		whole(false)
		return list
	case "array":
		whole([]any{})
		for _, v := range w.values(path+"[]", name, at[map[string]any](s, "items")) {
			if v.base == nil {
				v.base = []any{}
			} else {
				v.base = []any{v.base}
			}
			list = append(list, variant{v.path, v.base, []any{v.value}})
		}
		return list
	case "object":
	default:
		whole(w.minimal(name, s))
		return list
	}
	base := w.minimal(name, s).(map[string]any)
	whole(base)
	members := at[map[string]any](s, "properties")
	for _, member := range slices.Sorted(maps.Keys(members)) {
		with := func(v any) map[string]any {
			m := maps.Clone(base)
			m[member] = v
			return m
		}
		_, required := base[member]
		for _, v := range w.values(path+"."+member, member, members[member].(map[string]any)) {
			switch {
			case v.base != nil:
				list = append(list, variant{v.path, with(v.base), with(v.value)})
			case !required:
				list = append(list, variant{v.path, base, with(v.value)})
			}
		}
	}
	return list
}

// adapters are upstreams of other formats that never send.
func adapters(t *testing.T) map[string]upstream.Upstream {
	t.Helper()
	const nowhere = "http://127.0.0.1:1"
	claude, err1 := anthropic.New(&anthropic.Options{BaseURL: nowhere, Key: key})
	google, err2 := gemini.New(&gemini.Options{BaseURL: nowhere, Key: key})
	chat, err3 := openai.New(&openai.Options{BaseURL: nowhere, Key: key, Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return map[string]upstream.Upstream{"anthropic": claude, "gemini": google, "chat": chat}
}

// effect returns what an upstream sends for a request, and what is reported. If tools is set, the
// request has a tool.
func effect(up upstream.Upstream, members map[string]any, tools bool) string {
	m := maps.Clone(members)
	if list, ok := m["input"].([]any); ok { // outputs need calls, and calls outputs
		for _, x := range list {
			const id = "x"
			switch at[string](x, "type") {
			case "function_call":
				m["input"] = append(slices.Clip(list), map[string]any{"type": "function_call_output", "call_id": id, "output": "o"})
			case "function_call_output":
				m["input"] = append([]any{map[string]any{"type": "function_call", "call_id": id, "name": "x", "arguments": "{}"}}, list...)
			}
		}
		m["input"] = append([]any{map[string]any{"type": "message", "role": "user", "content": "hi"}}, m["input"].([]any)...)
	} else if m["input"] == nil {
		m["input"] = "hi"
	}
	if m["model"] == nil {
		m["model"] = "m"
	}
	if tools {
		m["tools"] = []any{map[string]any{"type": "function", "name": "x"}}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	r, losses, err := responses.DecodeRequest(body, nil)
	if err != nil {
		return err.Error()
	}
	more, err := upstream.Preflight(context.Background(), up, r)
	doc, err2 := upstream.EncodeRequest(context.Background(), up, r)
	s := fmt.Sprintln(doc.Model, doc.Document, err, err2)
	for _, l := range lossplaces.Of(append(losses, more...)) {
		s += fmt.Sprintln(l.Severity, r.Path(l.Path), l.Reason)
	}
	return s
}

// TestMembers walks the schema of requests: each member changes what other vendors get, or is
// reported or refused.
func TestMembers(t *testing.T) {
	c := contractOf(t)
	used, seen := map[string]bool{}, 0
	for _, v := range (walker{c}).values("", "", c.schema("CreateResponseBody")) {
		if v.base == nil {
			continue // the empty body
		}
		path := strings.TrimPrefix(v.path, ".")
		whole, _ := json.Marshal(v.value)
		if err := c.validate("CreateResponseBody", string(whole)); err != nil {
			t.Errorf("%s: the value is not of the document: %v", path, err)
		}
		seen++
		for name, up := range adapters(t) {
			tools := !strings.HasPrefix(path, "tools")
			got := effect(up, v.value.(map[string]any), tools)
			if effect(up, v.base.(map[string]any), tools) != got {
				continue
			}
			value := v.leaf()
			if value == "{}" || value == "[]" {
				continue // is empty
			}
			exception := ""
			for key := range silent {
				if strings.HasPrefix(path+" "+value, key) && len(key) > len(exception) {
					exception = key
				}
			}
			if used[exception] = true; exception == "" {
				t.Errorf("%s: %s changes nothing and is not reported: %s\n%s", name, path, value, got)
			}
		}
	}
	for key := range silent {
		if !used[key] {
			t.Errorf("%s has an effect", key)
		}
	}
	if seen < 120 {
		t.Errorf("%d members", seen)
	}
}

// leaf returns the JSON of the value at the path.
func (v variant) leaf() string {
	x := v.value
	for name := range strings.SplitSeq(strings.ReplaceAll(strings.TrimPrefix(v.path, "."), "[]", ".[]"), ".") {
		if name == "[]" {
			x = x.([]any)[0]
			continue
		}
		x = x.(map[string]any)[name]
	}
	b, _ := json.Marshal(x)
	return string(b)
}
