package e2e

import "strings"

// huge is a text larger than the buffers of the codecs.
var huge = strings.Repeat("A long line of text, över and over again. ", 25_000)

// messagesTexts are texts in requests of Messages clients.
var messagesTexts = []feature{
	{
		name:  "text",
		body:  `"messages":[{"role":"user","content":"hello T1"}]`,
		marks: []string{"hello T1 @ turns.0.parts.0"},
		sent: map[string][]string{
			toGemini: {"contents.0.role = user", "contents.0.parts.0.text = hello T1"},
			toChat:   {"messages.0.role = user", "messages.0.content = hello T1"},
			toResp:   {"input.0.role = user", "store = false"},
		},
	},
	{
		name: "several texts and turns",
		body: `"messages":[{"role":"user","content":[{"type":"text","text":"T1"},{"type":"text","text":"T2"}]},
			{"role":"assistant","content":"T3"},{"role":"user","content":"T4"}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.0.parts.1", "T3 @ turns.1.parts.0", "T4 @ turns.2.parts.0"},
		sent: map[string][]string{
			toGemini: {"contents.#.role = [\"user\",\"model\",\"user\"]", "contents.0.parts.1.text = T2"},
			toChat:   {"messages.#.role = [\"user\",\"assistant\",\"user\"]"},
			toResp:   {"input.#.role = [\"user\",\"assistant\",\"user\"]"},
		},
	},
	{
		name:  "conversation that begins with the assistant",
		body:  `"messages":[{"role":"assistant","content":"T1"},{"role":"user","content":"T2"}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.1.parts.0"},
		sent: map[string][]string{
			toClaude: {"messages.#.role = [\"assistant\",\"user\"]"},
			toGemini: {"contents.#.role = [\"model\",\"user\"]"},
			toChat:   {"messages.#.role = [\"assistant\",\"user\"]"},
			toResp:   {"input.#.role = [\"assistant\",\"user\"]"},
		},
	},
	{
		name: "blank assistant text before a tool call",
		body: `"tools":[{"name":"t","input_schema":{"type":"object","properties":{}}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"text","text":" "},{"type":"tool_use","id":"a","name":"t","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"RE1"}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "RE1 @ turns.2.parts.0"},
		model: map[string]string{toGemini: "gemini-2.5-flash"},
	},
	{
		name: "id reused after its result",
		body: `"tools":[{"name":"t","input_schema":{"type":"object","properties":{}}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"RE1"}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"RE2"}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "RE1 @ turns.2.parts.0", "RE2 @ turns.4.parts.0"},
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		loss:  map[string][]string{toChat: {"hint turns.3.parts.0.id"}, toResp: {"hint turns.3.parts.0.id"}},
	},
	{
		name:  "consecutive turns of one role",
		body:  `"messages":[{"role":"user","content":"T1"},{"role":"user","content":"T2"},{"role":"assistant","content":"T3"},{"role":"assistant","content":"T4"},{"role":"user","content":"T5"}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.1.parts.0", "T3 @ turns.2.parts.0", "T4 @ turns.3.parts.0", "T5 @ turns.4.parts.0"},
	},
	{
		name: "system text",
		body: `"system":[{"type":"text","text":"S1"},{"type":"text","text":"S2","cache_control":{"type":"ephemeral"}}],
			"messages":[{"role":"user","content":"T1"}]`,
		marks: []string{"S1 @ system.0", "S2 @ system.1", "T1 @ turns.0.parts.0"},
		sent: map[string][]string{
			toGemini: {"systemInstruction.parts.0.text = S1", "systemInstruction.parts.1.text = S2"},
		},
		loss: map[string][]string{
			toGemini: {"hint system.1"}, toChat: {"hint system.1"},
		},
	},
	{
		name: "system turn within a conversation",
		body: `"messages":[{"role":"user","content":"T1"},{"role":"system","content":"S1"},{"role":"assistant","content":"T2"},
			{"role":"user","content":"T3"},{"role":"system","content":[{"type":"text","text":"S2"}]}]`,
		marks: []string{"T1 @ turns.0.parts.0", "S1 @ turns.1.parts.0", "T2 @ turns.2.parts.0", "T3 @ turns.3.parts.0", "S2 @ turns.4.parts.0"},
		loss:  map[string][]string{toGemini: {"degraded turns.1", "degraded turns.4"}},
		model: map[string]string{toClaude: "claude-opus-5"},
	},
	{
		name: "system text until the next user turn",
		body: `"messages":[{"role":"user","content":"T1"},{"role":"system","clear_at":"next_user_message","content":"GONE"},{"role":"assistant","content":"T2"},
			{"role":"user","content":"T3"},{"role":"system","clear_at":"next_user_message","content":"S1"}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.2.parts.0", "T3 @ turns.3.parts.0", "S1 @ turns.4.parts.0"},
		sent: map[string][]string{
			toGemini: {`contents.#.parts.0.text = ["T1","T2","T3","S1"]`},
			toChat:   {`messages.#.content = ["T1","T2","T3","S1"]`},
			toResp:   {`input.#.role = ["user","assistant","user","developer"]`},
		},
		loss: map[string][]string{toGemini: {"degraded turns.4"}},
	},
	{
		name: "cache control on all elements",
		body: `"cache_control":{"type":"ephemeral"},
			"tools":[{"name":"t","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"T1","cache_control":{"type":"ephemeral"}}]}]`,
		marks: []string{"T1 @ turns.0.parts.0"},
		loss: map[string][]string{
			toGemini: {"hint extra.cache_control", "hint tools.0", "hint turns.0.parts.0"},
			toChat:   {"hint extra.cache_control", "hint tools.0", "hint turns.0.parts.0"},
			toResp:   {"hint tools.0"},
		},
	},
	{
		name:  "unicode",
		body:  `"messages":[{"role":"user","content":"Grüße 🏳️‍🌈 \u0000\u2028\ud83d\ude00 עברית <&> \"\\ 日本"}]`,
		marks: []string{"Grüße 🏳️‍🌈 \x00\u2028😀 עברית <&> \"\\ 日本 @ turns.0.parts.0"},
	},
	{
		name:  "text of one megabyte",
		body:  `"messages":[{"role":"user","content":` + quote(huge+"END") + `}]`,
		marks: []string{huge + "END @ turns.0.parts.0"},
	},
	{
		name: "citations in earlier responses",
		body: `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":[{"type":"text","text":"T2","citations":[
			{"type":"char_location","cited_text":"C1","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":2}]}]},
			{"role":"user","content":"T3"}]`,
		marks: []string{"T1 @ turns.0.parts.0", "T2 @ turns.1.parts.0", "C1 @ turns.1.parts.0", "T3 @ turns.2.parts.0"},
		loss:  map[string][]string{toGemini: {"hint turns.1.parts.0"}, toChat: {"hint turns.1.parts.0"}, toResp: {"hint turns.1.parts.0"}},
	},
	{
		name: "thinking of the client's own vendor",
		body: `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":[
			{"type":"thinking","thinking":"TH1","signature":"U0lHMQ=="},{"type":"redacted_thinking","data":"UkVEMQ=="},{"type":"text","text":"T2"}]},
			{"role":"user","content":"T3"}],"thinking":{"type":"enabled","budget_tokens":2048}`,
		marks: []string{"TH1 @ turns.1.parts.0", "UkVEMQ== @ turns.1.parts.1", "T2 @ turns.1.parts.2"},
		loss: map[string][]string{
			toGemini: {"hint turns.1.parts.0", "hint turns.1.parts.1"},
			toChat:   {"hint turns.1.parts.0", "hint turns.1.parts.1", "degraded thinking"},
			toResp:   {"hint turns.1.parts.0", "hint turns.1.parts.1", "degraded thinking.budget"},
		},
		sent: map[string][]string{toGemini: {"contents.1.parts.# = 1", "generationConfig.thinkingConfig.includeThoughts = true"}},
	},
	{
		name: "search result",
		body: `"messages":[{"role":"user","content":[{"type":"search_result","source":"https://a.example/s1","title":"TI1",
			"content":[{"type":"text","text":"C1"}],"citations":{"enabled":true}},{"type":"text","text":"T1"}]}]`,
		marks: []string{"https://a.example/s1 @ turns.0.parts.0", "TI1 @ turns.0.parts.0", "C1 @ turns.0.parts.0", "T1 @ turns.0.parts.1"},
		loss: map[string][]string{
			toGemini: {"degraded turns.0.parts.0", "dropped turns.0.parts.0"},
			toChat:   {"degraded turns.0.parts.0", "dropped turns.0.parts.0"},
			toResp:   {"degraded turns.0.parts.0", "dropped turns.0.parts.0"},
		},
	},
	{
		name:  "members of this format only",
		body:  `"messages":[{"role":"user","content":"T1"}],"container":"CON1","inference_geo":"GEO1","speed":"standard","x_unknown":"X1"`,
		marks: []string{"T1 @ turns.0.parts.0", "CON1 @ extra.container", "GEO1 @ extra.inference_geo", "standard @ extra.speed", "X1 @ extra.x_unknown"},
		loss: map[string][]string{
			toGemini: {"dropped extra.container", "dropped extra.inference_geo", "hint extra.speed", "dropped extra.x_unknown"},
			toChat:   {"dropped extra.container", "dropped extra.inference_geo", "hint extra.speed", "dropped extra.x_unknown"},
			toResp:   {"dropped extra.container", "dropped extra.inference_geo", "hint extra.speed", "dropped extra.x_unknown"},
		},
	},
}
