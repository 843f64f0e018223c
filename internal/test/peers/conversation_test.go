package main

import (
	"strings"
	"testing"
)

// original is a request with an item of each kind.
const original = `{
	"system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief."}],
	"messages": [
		{"role": "user", "content": [
			{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
			{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}},
			{"type": "text", "text": "Compare them."}]},
		{"role": "assistant", "content": [
			{"type": "thinking", "thinking": "Two files.", "signature": "c2ln"},
			{"type": "text", "text": "I compare."},
			{"type": "tool_use", "id": "a", "name": "read", "input": {"page": 1, "all": true}},
			{"type": "tool_use", "id": "b", "name": "read", "input": {"page": 2}}]},
		{"role": "user", "content": [
			{"type": "tool_result", "tool_use_id": "a", "content": "first \"page\""},
			{"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "second page"}]}]},
		{"role": "assistant", "content": "They differ."}],
	"tools": [{"name": "read", "description": "Reads a page.", "input_schema": {"type": "object",
		"properties": {"page": {"type": "integer"}, "all": {"type": "boolean"}}}}]
}`

// The same request without thinking in the other formats.
const (
	inGemini = `{
	"systemInstruction": {"parts": [{"text": "Be kind."}, {"text": "Be brief."}]},
	"contents": [
		{"role": "user", "parts": [
			{"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}},
			{"inlineData": {"mimeType": "application/pdf", "data": "JVBERg=="}},
			{"text": "Compare them."}]},
		{"role": "model", "parts": [
			{"text": "I compare."},
			{"functionCall": {"id": "a", "name": "read", "args": {"all": true, "page": 1}}},
			{"functionCall": {"id": "b", "name": "read", "args": {"page": 2}}}]},
		{"role": "user", "parts": [
			{"functionResponse": {"id": "a", "name": "read", "response": {"output": "first \"page\""}}},
			{"functionResponse": {"id": "b", "name": "read", "response": {"output": "second page"}}}]},
		{"role": "model", "parts": [{"text": "They differ."}]}],
	"tools": [{"functionDeclarations": [{"name": "read", "description": "Reads a page.", "parameters": {"type": "OBJECT",
		"properties": {"page": {"type": "INTEGER"}, "all": {"type": "BOOLEAN"}}}}]}]
}`
	inChat = `{
	"messages": [
		{"role": "developer", "content": "Be kind.\n\nBe brief."},
		{"role": "user", "content": [
			{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
			{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
			{"type": "text", "text": "Compare them."}]},
		{"role": "assistant", "content": "I compare.", "tool_calls": [
			{"id": "x1", "type": "function", "function": {"name": "read", "arguments": "{\"page\": 1.0, \"all\": true}"}},
			{"id": "x2", "type": "function", "function": {"name": "read", "arguments": "{\"page\": 2}"}}]},
		{"role": "tool", "tool_call_id": "x1", "content": "{\"output\": \"first \\\"page\\\"\"}"},
		{"role": "tool", "tool_call_id": "x2", "content": "second page"},
		{"role": "assistant", "content": "They differ."}],
	"tools": [{"type": "function", "function": {"name": "read", "description": "Reads a page.", "parameters": {"type": "object",
		"properties": {"page": {"type": "integer"}, "all": {"type": "boolean"}}}}}]
}`
	inOllama = `{
	"messages": [
		{"role": "system", "content": "Be kind.Be brief."},
		{"role": "user", "content": "Compare them.", "images": ["iVBORw==", "JVBERg=="]},
		{"role": "assistant", "content": "I compare.", "thinking": "Two files.", "tool_calls": [
			{"id": "a", "function": {"name": "read", "arguments": {"page": 1, "all": true}}},
			{"id": "b", "function": {"name": "read", "arguments": {"page": 2}}}]},
		{"role": "tool", "tool_call_id": "a", "content": "first \"page\""},
		{"role": "tool", "tool_call_id": "b", "content": "second page"},
		{"role": "assistant", "content": "They differ."}],
	"tools": [{"type": "function", "function": {"name": "read", "description": "Reads a page.", "parameters": {"type": "object",
		"properties": {"page": {"type": "integer"}, "all": {"type": "boolean"}}}}}]
}`
)

const noThinking = "drops 1 of 1 thinking texts; drops 1 of 1 signatures"

func gapsOf(t *testing.T, from format, want string, to format, got string) string {
	t.Helper()
	a, err := readRequest(from, []byte(want))
	if err != nil {
		t.Fatal(err)
	}
	b, err := readRequest(to, []byte(got))
	if err != nil {
		t.Fatal(err)
	}
	return phrases(compare(a, b))
}

func phrases(gaps []gap) string {
	var all []string
	for _, g := range gaps {
		all = append(all, g.String())
	}
	return strings.Join(all, "; ")
}

func TestCompleteRequests(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to format
		doc, got string
		want     string
	}{
		{"same", formatMessages, formatMessages, original, original, ""},
		{"Gemini", formatMessages, formatGemini, original, inGemini, noThinking},
		{"Gemini without ids", formatMessages, formatGemini, original, strings.NewReplacer(`"id": "a", `, "", `"id": "b", `, "").Replace(inGemini), noThinking},
		{"Chat Completions", formatMessages, formatChat, original, inChat, noThinking},
		{"Ollama", formatMessages, formatOllama, original, inOllama, "drops 1 of 1 signatures"},
		{"Gemini to Messages", formatGemini, formatMessages, inGemini, original, ""},
		{"Gemini to Chat Completions", formatGemini, formatChat, inGemini, inChat, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := gapsOf(t, tt.from, tt.doc, tt.to, tt.got); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIncompleteRequests(t *testing.T) {
	for _, tt := range []struct {
		name     string
		to       format
		doc      string
		old, new string // what is replaced in doc
		want     string
	}{
		{"system", formatGemini, inGemini, `{"text": "Be kind."}, `, "", "drops 1 of 2 system texts"},
		{"text", formatChat, inChat, "They differ.", "They", "drops 1 of 3 texts"},
		{"text of another role", formatGemini, inGemini, `{"role": "model", "parts": [{"text": "They`, `{"role": "user", "parts": [{"text": "They`, "drops 1 of 3 texts"},
		{"image", formatChat, inChat, "iVBORw==", "iVBORx==", "drops 1 of 2 files"},
		{"PDF", formatGemini, inGemini, "JVBERg==", "", "drops 1 of 2 files"},
		{"arguments", formatChat, inChat, `\"page\": 2`, `\"page\": \"2\"`, "drops 1 of 2 tool calls; drops 1 of 2 links of tool results to calls"},
		{"name of a call", formatGemini, inGemini, `"id": "b", "name": "read", "args"`, `"id": "b", "name": "run", "args"`, "drops 1 of 2 tool calls; drops 1 of 2 links of tool results to calls"},
		{"result", formatChat, inChat, "second page", "second", "drops 1 of 2 tool results"},
		{"link", formatChat, inChat, `"tool_call_id": "x2"`, `"tool_call_id": "x1"`, "drops 1 of 2 links of tool results to calls"},
		{"id without a call", formatChat, inChat, `"tool_call_id": "x2"`, `"tool_call_id": "y"`, "drops 1 of 2 links of tool results to calls"},
		{"tool", formatGemini, inGemini, `"name": "read", "description"`, `"name": "write", "description"`, "drops 1 of 1 tools"},
		{"description", formatChat, inChat, "Reads a page.", "Reads.", "drops 1 of 1 descriptions of tools"},
		{"property", formatGemini, inGemini, `"page": {"type": "INTEGER"}, `, "", "drops 1 of 2 properties of tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(tt.doc, tt.old, tt.new, 1)
			if changed == tt.doc {
				t.Fatalf("the document does not contain %s", tt.old)
			}
			if got := withoutThinking(gapsOf(t, formatMessages, original, tt.to, changed)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// withoutThinking removes the phrase of noThinking.
func withoutThinking(s string) string {
	before, after, _ := strings.Cut(s, noThinking)
	return strings.Trim(strings.TrimSuffix(before, "; ")+"; "+strings.TrimPrefix(after, "; "), "; ")
}

func TestOrder(t *testing.T) {
	moved := strings.Replace(inGemini, `{"text": "I compare."},
			{"functionCall": {"id": "a", "name": "read", "args": {"all": true, "page": 1}}},`,
		`{"functionCall": {"id": "a", "name": "read", "args": {"all": true, "page": 1}}},
			{"text": "I compare."},`, 1)
	if moved == inGemini {
		t.Fatal("nothing moved")
	}
	if got, want := withoutThinking(gapsOf(t, formatMessages, original, formatGemini, moved)), "parts in another order: 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInvalidRequest(t *testing.T) {
	for _, body := range []string{"", "[]", `{"messages"`} {
		if _, err := readRequest(formatMessages, []byte(body)); err == nil {
			t.Errorf("%q: no error", body)
		}
	}
}
