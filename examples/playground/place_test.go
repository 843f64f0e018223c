package main

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/polywire/polywire/internal/test/workload"
)

func TestFind(t *testing.T) {
	const messages = `{"model": "m", "system": "Be kind.", "max_tokens": 9, "tools": [
		{"name": "look", "input_schema": {"type": "object", "properties": {"a.b": {"type": "string", "pattern": "x"}, "c[0]": {}}}},
		{"type": "web_search_20250305", "name": "web_search", "max_uses": "3"}],
		"thinking": {"type": "enabled", "budget_tokens": 4},
		"messages": [{"role": "user", "content": "Hi."},
			{"role": "user", "content": [{"type": "text", "text": "a\"}{"}, {"type": "image", "source": {"type": "base64", "data": 1}}]}]}`
	const generate = `{"contents": [{"role": "user", "parts": [{"text": "Hi."}, {"inlineData": {"mimeType": "a/b"}}]}], "generation_config": {"topK": 5, "maxOutputTokens": 4},
		"systemInstruction": {"parts": {"text": "Be kind."}}, "tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b", "parametersJsonSchema": {"type": "object"}}]}]}`
	tests := []struct {
		name, text, path string
		want             string
		found            bool
	}{
		{"member", messages, "max_tokens", `"max_tokens": 9`, true},
		{"element", messages, "messages.0", `{"role": "user", "content": "Hi."}`, true},
		{"element of a string", messages, "messages.0.content.0", `"content": "Hi."`, false},
		{"text of a string", messages, "messages.0.content.0.text", `"content": "Hi."`, false},
		{"system as a string", messages, "system.0", `"system": "Be kind."`, false},
		{"text with quotes and braces", messages, "messages.1.content.0.text", `"text": "a\"}{"`, true},
		{"type of a block and of a source", messages, "messages.1.content.1.image.source.base64.data", `"data": 1`, true},
		{"missing member after types", messages, "messages.1.content.1.image.source.base64.media_type", `"source": {"type": "base64", "data": 1}`, false},
		{"type member", messages, "messages.1.content.1.type", `"type": "image"`, true},
		{"type of a setting", messages, "thinking.enabled.budget_tokens", `"budget_tokens": 4`, true},
		{"type of a vendor's tool", messages, "tools.1.web_search_20250305.max_uses", `"max_uses": "3"`, true},
		{"tool without a type", messages, "tools.0.custom.name", `"name": "look"`, true},
		{"missing block", messages, "messages.1.content.7", `"content": [{"type": "text", "text": "a\"}{"}, {"type": "image", "source": {"type": "base64", "data": 1}}]`, false},
		{"name with a dot", messages, "tools.0.input_schema.properties.a.b.pattern", `"pattern": "x"`, true},
		{"name with brackets", messages, "tools.0.input_schema.properties.c[0]", `"properties": {"a.b": {"type": "string", "pattern": "x"}, "c[0]": {}}`, false},
		{"missing at the top", messages, "top_k", `{`, false},
		{"whole document", messages, "", `{`, true},
		{"brackets", generate, "contents[0].parts[1]", `{"inlineData": {"mimeType": "a/b"}}`, true},
		{"other spelling", generate, "contents[0].parts[1].inline_data.mime_type", `"mimeType": "a/b"`, true},
		{"same spelling and another one", generate, "generation_config.top_k", `"topK": 5`, true},
		{"spelling of the document", generate, "generationConfig.max_output_tokens", `"maxOutputTokens": 4`, true},
		{"missing setting", generate, "generation_config.seed", `"generation_config": {"topK": 5, "maxOutputTokens": 4}`, false},
		{"object in place of a list", generate, "system_instruction.parts[0].text", `"text": "Be kind."`, true},
		{"second function", generate, "tools[0].function_declarations[1].parameters_json_schema", `"parametersJsonSchema": {"type": "object"}`, true},
		{"negative index", generate, "contents[-1]", `"contents": [{"role": "user", "parts": [{"text": "Hi."}, {"inlineData": {"mimeType": "a/b"}}]}]`, false},
		{"empty document", "", "model", "", false},
		{"first of equal names", `{"a":1,"a":2}`, "a", `"a":1`, true},
		{"exact before similar", `{"topK":1,"top_k":2}`, "top_k", `"top_k":2`, true},
		{"escaped name", `{"top\u005fk":1}`, "top_k", `"top\u005fk":1`, true},
		{"cut off", `{"a":{"b":[1,2`, "a.b.1", `2`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree := newTree(tt.text)
			n, found := tree.find(tt.path)
			at := tree.place(n)
			if got := tt.text[at.From:at.To]; got != tt.want || found != tt.found {
				t.Errorf("got %s, %t, want %s, %t", got, found, tt.want, tt.found)
			}
		})
	}
}

// Objects with many members are searched by name, with the same result.
func TestFindManyMembers(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"first": 1`)
	for range manyMembers {
		b.WriteString(`, "x` + strings.Repeat("x", b.Len()%89) + `": 0`)
	}
	b.WriteString(`, "topK": 2, "top_k": 3, "=topK": 4}`)
	tree := newTree(b.String())
	if len(tree.large) != 1 {
		t.Fatal("the object is not large")
	}
	for path, want := range map[string]string{"first": `"first": 1`, "topK": `"topK": 2`, "top_k": `"top_k": 3`, "TopK": `"topK": 2`, "=topK": `"=topK": 4`, "other": "{"} {
		n, _ := tree.find(path)
		at := tree.place(n)
		if got := tree.text[at.From:at.To]; got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// The offsets of a span are those of JavaScript.
func TestUTF16(t *testing.T) {
	texts := []string{"", "abc", "é", "a⚓️😀z", strings.Repeat("😀", 300), strings.Repeat("a", 255) + "😀é" + strings.Repeat("⚓", 200)}
	for _, text := range texts {
		o := newUTF16Offsets(text)
		for i := range text {
			if got, want := o.offset(i), len(utf16.Encode([]rune(text[:i]))); got != want {
				t.Fatalf("%.10q: offset of byte %d: got %d, want %d", text, i, got, want)
			}
		}
		if got, want := o.offset(len(text)), len(utf16.Encode([]rune(text))); got != want {
			t.Errorf("%.10q: length: got %d, want %d", text, got, want)
		}
	}
}

// Violations are marked at their places.
func TestViolations(t *testing.T) {
	tests := []struct {
		name, format, text string
		want               []string // marked texts
	}{
		{"empty", "messages", "", []string{""}},
		{"white space", "messages", " \n", []string{" "}},
		{"not an object", "messages", " [1]", []string{"["}},
		{"cut off", "messages", "{\"model\": \"⚓\",\n ", []string{","}},
		{"syntax", "messages", "{\"model\": \"😀\", x}", []string{"x"}},
		{"syntax in generateContent", "generatecontent", "{\n\"contents\": [}", []string{"}"}},
		{"missing members", "messages", `{"model": "m", "messages": [{"role": "user"}]}`, []string{`{"role": "user"}`, "{"}},
		{"unknown name", "generatecontent", `{"contents": [{"parts": [{"text": "Hi."}]}], "Contents": 5}`, []string{`"Contents": 5`}},
		{"wrong type", "generatecontent", `{"contents": [{"parts": [{"text": "Hi."}]}], "generationConfig": {"topP": "x"}}`, []string{`"topP": "x"`}},
		{"two violations", "messages", `{"model": "m", "max_tokens": "x", "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "a", "data": "AAAA"}}]}]}`,
			[]string{`"max_tokens": "x"`, `"media_type": "a"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r requestResult
			answer(t, "/api/request", taskBody(t, tt.format, tt.text, "openai"), &r)
			var got []string
			for _, v := range r.Violations {
				units := utf16.Encode([]rune(tt.text))
				got = append(got, string(utf16.Decode(units[v.From:v.To])))
				if v.Text == "" || v.Code == "" {
					t.Errorf("no text or code: %+v", v)
				}
			}
			if strings.Join(got, "|") != strings.Join(tt.want, "|") || r.Tokens != nil || len(r.Outputs) != 0 {
				t.Errorf("got %q, want %q, in %+v", got, tt.want, r)
			}
		})
	}
}

// Scanning takes one pass: the number of places does not matter.
func BenchmarkTree(b *testing.B) {
	text := workload.Agent()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		newTree(text)
	}
}
