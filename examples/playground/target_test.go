package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

const (
	pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

	// agentRequest has a loss of most kinds.
	agentRequest = `{"model": "m", "max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 4000}, "stop_sequences": ["END"],
		"system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
		"tools": [
			{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {"at": {"type": "number", "exclusiveMinimum": 3}}}, "cache_control": {"type": "ephemeral"}},
			{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
		"messages": [
			{"role": "user", "content": "Depth at ⚓️ 😀 B7?"},
			{"role": "assistant", "content": [
				{"type": "thinking", "thinking": "I look first.", "signature": "c2lnbmVk"},
				{"type": "text", "text": "One moment."},
				{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 7}},
				{"type": "tool_use", "id": "toolu_2", "name": "look", "input": {"at": 8}}]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "A chart:"},
					{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + pixel + `"}}]},
				{"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such buoy", "is_error": true},
				{"type": "text", "text": "Go on.", "cache_control": {"type": "ephemeral"}}]}]}`

	// sampledRequest has settings that other vendors lack.
	sampledRequest = `{"contents": [{"role": "user", "parts": [{"text": "Hi."}]}], "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
		"generation_config": {"topK": 5, "seed": 7, "maxOutputTokens": 100, "candidateCount": 1, "stopSequences": ["END"],
			"thinkingConfig": {"thinkingBudget": 4000}, "responseMimeType": "application/json",
			"responseSchema": {"type": "OBJECT", "properties": {"depth": {"type": "INTEGER", "minimum": 3}}, "required": ["depth"]}}}`
)

// answer calls the API and decodes its answer.
func answer(t testing.TB, path string, body []byte, v any) {
	t.Helper()
	w := call(t, newHandler(true), path, body)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// cutText returns the text of a span, as JavaScript does, with single spaces.
func cutText(text string, s span) string {
	units := utf16.Encode([]rune(text))
	return strings.Join(strings.Fields(string(utf16.Decode(units[s.From:s.To]))), " ")
}

// A marked place is the text at a loss in the input and in the output. An output that begins
// with "in: " is that of an item around it.
type markedPlace struct{ Input, Output string }

// markedPlaces returns the places of all losses by neutral path.
func markedPlaces(t *testing.T, format, text, to string) map[string]markedPlace {
	t.Helper()
	body := taskBody(t, format, text, to)
	var request requestResult
	answer(t, "/api/request", body, &request)
	var places placesResult
	answer(t, "/api/places", body, &places)
	if len(request.Outputs) != 1 || request.Outputs[0].Error != "" {
		t.Fatalf("no output: %+v", request)
	}
	out := request.Outputs[0]
	marked := map[string]markedPlace{}
	for _, l := range out.Losses {
		m := markedPlace{}
		if l.Input != nil {
			m.Input = cutText(text, *l.Input)
		}
		marked[l.Neutral] = m
	}
	for _, p := range places.Places {
		m, ok := marked[p.Neutral]
		if !ok {
			t.Errorf("a place of no loss: %+v", p)
		}
		var texts []string
		for _, s := range p.Output {
			texts = append(texts, cutText(out.Text, s))
		}
		m.Output = strings.Join(texts, " | ")
		if p.Enclosing {
			m.Output = "in: " + m.Output
		}
		marked[p.Neutral] = m
	}
	return marked
}

// A tool call is marked as a whole, whatever its arguments are.
func TestPlaceOfToolCall(t *testing.T) {
	for _, input := range []string{`{}`, `{"a": []}`, `{"a": {"b": [1, 2]}, "c": 3}`} {
		text := `{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":` + input +
			`}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"b"}]}]}`
		got := markedPlaces(t, "messages", text, "generatecontent")["turns.1.parts.0.signature"].Output
		if !strings.HasPrefix(got, `in: { "functionCall": { "id": "t1"`) || !strings.HasSuffix(got, `"thoughtSignature": "skip_thought_signature_validator" }`) || strings.Contains(got, " | ") {
			t.Errorf("%s: got %s", input, got)
		}
	}
}

// The places of losses are those that a person would mark.
func TestTargetPlaces(t *testing.T) {
	const (
		mark    = `"cache_control": {"type": "ephemeral"}`
		tool    = `{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {"at": {"type": "number", "exclusiveMinimum": 3}}}, "cache_control": {"type": "ephemeral"}}`
		search  = `{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}`
		thought = `{"type": "thinking", "thinking": "I look first.", "signature": "c2lnbmVk"}`
		image   = `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + pixel + `"}}`
		safety  = `"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]`
		schema  = `"responseSchema": {"type": "OBJECT", "properties": {"depth": {"type": "INTEGER", "minimum": 3}}, "required": ["depth"]}`
	)
	tests := []struct {
		name, format, text, to string
		want                   map[string]markedPlace
	}{
		{"Messages to generateContent", "messages", agentRequest, "generatecontent", map[string]markedPlace{
			"system.1.cache":  {mark, `in: "text": "Be brief."`},
			"turns.1.parts.0": {thought, `in: { "text": "One moment." } | { "functionCall": { "id": "toolu_1", "name": "look", "args": { "at": 7 } }, "thoughtSignature": "skip_thought_signature_validator" } | { "functionCall": { "id": "toolu_2", "name": "look", "args": { "at": 8 } } }`},
			"turns.1.parts.2.signature": {`{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": 7}}`,
				`in: { "functionCall": { "id": "toolu_1", "name": "look", "args": { "at": 7 } }, "thoughtSignature": "skip_thought_signature_validator" }`},
			"turns.2.parts.2.cache":                        {mark, `in: "text": "Go on."`},
			"tools.0.input.properties.at.exclusiveMinimum": {`"exclusiveMinimum": 3`, `"minimum": 3`},
			"tools.0.cache":                                {mark, `in: { "name": "look", "description": "Looks.", "parametersJsonSchema": { "type": "object", "properties": { "at": { "type": "number", "minimum": 3 } } } }`},
			"tools.1":                                      {search, `{ "googleSearch": {} } | "toolConfig": { "includeServerSideToolInvocations": true }`},
			"tools.1.max_uses":                             {`"max_uses": 3`, `in: { "googleSearch": {} } | "toolConfig": { "includeServerSideToolInvocations": true }`},
		}},
		{"Messages to Chat Completions", "messages", agentRequest, "openai", map[string]markedPlace{
			"thinking.budget":         {`"budget_tokens": 4000`, `"reasoning_effort": "medium"`},
			"stop_sequences":          {`"stop_sequences": ["END"]`, ""},
			"system.1.cache":          {mark, `in: "text": "Be brief."`},
			"turns.1.parts.0":         {thought, `in: { "role": "assistant", "content": "One moment.", "tool_calls": [ { "id": "toolu_1", "type": "function", "function": { "name": "look", "arguments": "{\"at\": 7}" } }, { "id": "toolu_2", "type": "function", "function": { "name": "look", "arguments": "{\"at\": 8}" } } ] }`},
			"turns.2.parts.0.parts.1": {image, `{ "type": "text", "text": "Files of the result of the call toolu_1 of look:" } | { "type": "image_url", "image_url": { "url": "data:image/png;base64,` + pixel + `" } }`},
			"turns.2.parts.1.error":   {`"is_error": true`, `Error:`},
			"turns.2.parts.2.cache":   {mark, `in: "text": "Go on."`},
			"tools.0.cache":           {mark, `in: { "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": { "type": "object", "properties": { "at": { "type": "number", "exclusiveMinimum": 3 } } } } }`},
			"tools.1":                 {search, ""},
		}},
		{"Messages to Responses", "messages", agentRequest, "openai-responses", map[string]markedPlace{
			"thinking.budget":       {`"budget_tokens": 4000`, `"effort": "medium"`},
			"stop_sequences":        {`"stop_sequences": ["END"]`, ""},
			"system.1.cache":        {mark, `in: Be brief.`},
			"turns.1.parts.0":       {thought, `in: { "type": "message", "role": "assistant", "content": "One moment." } | { "type": "function_call", "call_id": "toolu_1", "name": "look", "arguments": "{\"at\": 7}" } | { "type": "function_call", "call_id": "toolu_2", "name": "look", "arguments": "{\"at\": 8}" }`},
			"turns.2.parts.1.error": {`"is_error": true`, `Error:`},
			"turns.2.parts.2.cache": {mark, `in: "content": "Go on."`},
			"tools.0.cache":         {mark, `in: { "type": "function", "name": "look", "description": "Looks.", "parameters": { "type": "object", "properties": { "at": { "type": "number", "exclusiveMinimum": 3 } } }, "strict": false }`},
			"tools.1":               {search, `{ "type": "web_search" }`},
			"tools.1.max_uses":      {`"max_uses": 3`, `in: { "type": "web_search" }`},
		}},
		{"generateContent to Messages", "generatecontent", sampledRequest, "messages", map[string]markedPlace{
			"extra.safetySettings":                   {safety, ""},
			"top_k":                                  {`"topK": 5`, ""},
			"thinking.budget":                        {`"thinkingBudget": 4000`, `in: "thinking": { "type": "adaptive", "display": "omitted" }`},
			"seed":                                   {`"seed": 7`, ""},
			"output.schema":                          {schema, `"format": { "type": "json_schema", "schema": { "type": "object", "properties": { "depth": { "type": "integer" } }, "required": [ "depth" ], "additionalProperties": false } }`},
			"output.schema.properties.depth.minimum": {`"minimum": 3`, `in: "depth": { "type": "integer" }`},
		}},
		{"generateContent to Chat Completions", "generatecontent", sampledRequest, "openai", map[string]markedPlace{
			"extra.safetySettings": {safety, ""},
			"top_k":                {`"topK": 5`, ""},
			"stop_sequences":       {`"stopSequences": ["END"]`, ""},
			"thinking.budget":      {`"thinkingBudget": 4000`, `"reasoning_effort": "medium"`},
			"output.schema":        {schema, `"json_schema": { "name": "answer", "schema": { "type": "object", "properties": { "depth": { "type": "integer", "minimum": 3 } }, "required": [ "depth" ], "additionalProperties": false }, "strict": true }`},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, markedPlaces(t, tt.format, tt.text, tt.to)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
