package e2e

const (
	askedCall = `{"role":"user","content":"T1"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"now","input":{"p1":"V1"}}`
	result1   = `{"type":"tool_result","tool_use_id":"toolu_1","content":"R1"}`
	result2   = `{"type":"tool_result","tool_use_id":"toolu_1","content":"R2"}`
	nowTool   = `"tools":[{"name":"now","input_schema":{"type":"object"}}],`

	unsignedCall = "hint turns.1.parts.0.signature"
)

// messagesLenient are requests of Messages clients that break rules which only Strict
// applies.
var messagesLenient = []feature{
	{
		name:  "marks for not set",
		body:  `"top_k":-1,"top_p":-1,"temperature":0.37,` + askedT1,
		model: map[string]string{toClaude: "claude-sonnet-4-20250514", toResp: "gpt-4.1"},
		sent: map[string][]string{
			toGemini: {"! generationConfig.topK", "! generationConfig.topP", "generationConfig.temperature = 0.37"},
			toChat:   {"! top_k", "! top_p"}, toResp: {"! top_k", "! top_p"},
		},
	},
	{
		name:  "tool calls without tools",
		body:  `"messages":[` + askedCall + `]},{"role":"user","content":[` + result1 + `]}]`,
		marks: []string{"V1 @ turns.1", "R1 @ turns.2"},
		sent:  map[string][]string{toGemini: {"! tools", "contents.1.parts.0.functionCall.name = now"}, toChat: {"! tools"}, toResp: {"! tools"}},
		loss:  map[string][]string{toGemini: {unsignedCall}},
	},
	{
		name: "tool choice without tools",
		body: `"tool_choice":{"type":"auto"},` + askedT1,
		sent: map[string][]string{toGemini: {"! toolConfig"}, toChat: {"! tool_choice"}, toResp: {"! tool_choice"}},
	},
	{
		name: "choice of a tool that is not defined",
		body: nowTool + `"tool_choice":{"type":"tool","name":"u"},` + askedT1,
		loss: map[string][]string{toGemini: {"dropped choice.names"}, toChat: {"dropped choice.names"}, toResp: {"dropped choice.names"}},
	},
	{
		name: "forced tool while thinking",
		body: nowTool + `"tool_choice":{"type":"any"},"thinking":{"type":"enabled","budget_tokens":2000},` + askedT1,
		sent: map[string][]string{toGemini: {"toolConfig.functionCallingConfig.mode = ANY"}, toChat: {"tool_choice = required"}, toResp: {"tool_choice = required"}},
		loss: map[string][]string{toChat: {"degraded thinking"}, toResp: {"degraded thinking.budget"}},
	},
	{
		name: "sampling while thinking",
		body: `"temperature":0.37,"top_p":0.57,"top_k":17,"thinking":{"type":"enabled","budget_tokens":2000},` + askedT1,
		sent: map[string][]string{toGemini: {"generationConfig.temperature = 0.37", "generationConfig.topP = 0.57", "generationConfig.topK = 17"}},
		loss: map[string][]string{
			toChat: {"degraded thinking", "dropped top_k"},
			toResp: {"degraded thinking.budget", "dropped temperature", "dropped top_p", "dropped top_k"},
		},
	},
	{
		name: "blank texts",
		body: `"stop_sequences":[" "],"messages":[{"role":"user","content":" "},{"role":"assistant","content":"T2"},{"role":"user","content":[{"type":"text","text":"\n"}]}]`,
		loss: map[string][]string{toResp: {"degraded stop_sequences"}},
	},
	{
		name:  "result without a tool call",
		body:  nowTool + `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":"T2"},{"role":"user","content":[` + result1 + `]}]`,
		marks: []string{"R1 @ turns.2"},
		loss:  map[string][]string{toGemini: {"* turns.2.parts.0"}, toChat: {"* turns.2.parts.0"}, toResp: {"* turns.2.parts.0"}},
	},
	{
		name:  "two results for one tool call",
		body:  nowTool + `"messages":[` + askedCall + `]},{"role":"user","content":[` + result1 + `,` + result2 + `]}]`,
		marks: []string{"R1 @ turns.2.parts.0", "R2 @ turns.2.parts.1"},
		loss:  map[string][]string{toGemini: {"* turns.2.parts.1", unsignedCall}, toChat: {"* turns.2.parts.1"}, toResp: {"* turns.2.parts.1"}},
	},
	{
		name: "two tool calls with one id",
		body: nowTool + `"messages":[` + askedCall + `,{"type":"tool_use","id":"toolu_1","name":"now","input":{"p1":"V2"}}]},{"role":"user","content":[` +
			result1 + `,` + result2 + `]}]`,
		marks: []string{"V1 @ turns.1", "V2 @ turns.1", "R1 @ turns.2", "R2 @ turns.2"},
		loss:  map[string][]string{toGemini: {unsignedCall}, toChat: {"hint turns.1.parts.1.id"}, toResp: {"hint turns.1.parts.1.id"}},
	},
	{
		name: "an hour after five minutes",
		body: `"system":[{"type":"text","text":"S1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"S2","cache_control":{"type":"ephemeral","ttl":"1h"}}],` + askedT1,
		loss: map[string][]string{toGemini: {"hint system"}, toChat: {"hint system"}, toResp: {"hint system"}},
	},
}
