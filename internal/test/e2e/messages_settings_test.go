package e2e

// droppedSettings are the losses of the settings that only Messages has.
var droppedSettings = []string{
	"dropped extra.container", "degraded extra.fallbacks", "dropped extra.output_config.task_budget",
	"degraded tools.0.extra.allowed_callers", "dropped turns.1.extra.output_config",
}

// nonstrictSchema is closed and lists its members. The strict schemas of chat
// completions and responses support neither its formats nor members without a
// type.
const nonstrictSchema = `{"type":"object","properties":{"p1":{"type":"integer","format":"int32"},"p2":{"type":"string","format":"uri"},"p3":{"description":"DE1"}},"required":["p1","p2","p3"],"additionalProperties":false}`

// nonstrictMarks returns the marks of nonstrictSchema at a path.
func nonstrictMarks(path string) []string {
	return []string{"p1 @ " + path, "int32 @ " + path, "p2 @ " + path, "uri @ " + path, "p3 @ " + path, "DE1 @ " + path}
}

// messagesSettings are settings in requests of Messages clients.
var messagesSettings = []feature{
	{
		name:  "sampling",
		body:  `"temperature":0.37,"max_tokens":4321,` + askedT1,
		marks: []string{"0.37 @ temperature", "4321 @ max_tokens"},
		sent:  map[string][]string{toGemini: {"generationConfig.temperature = 0.37", "generationConfig.maxOutputTokens = 4321"}, toChat: {"max_completion_tokens = 4321"}, toResp: {"max_output_tokens = 4321"}},
	},
	{
		name:  "top_p and top_k",
		body:  `"top_p":0.57,"top_k":17,` + askedT1,
		marks: []string{"0.57 @ top_p", "17 @ top_k"},
		loss:  map[string][]string{toChat: {"dropped top_k"}, toResp: {"dropped top_k"}},
	},
	{
		name:  "stop sequences",
		body:  `"stop_sequences":["ST1","ST2"],` + askedT1,
		marks: []string{"ST1 @ stop_sequences", "ST2 @ stop_sequences"},
		loss:  map[string][]string{toResp: {"degraded stop_sequences"}},
	},
	{
		name:  "six stop sequences",
		body:  `"stop_sequences":["ST1","ST2","ST3","ST4","ST5","ST6"],` + askedT1,
		marks: []string{"ST1 @ stop_sequences", "ST6 @ stop_sequences"},
		loss:  map[string][]string{toGemini: {"dropped stop_sequences"}, toChat: {"dropped stop_sequences"}, toResp: {"degraded stop_sequences"}},
	},
	{
		name:  "user id and service tier",
		body:  `"metadata":{"user_id":"{\"device_id\":\"U1\",\"account_uuid\":\"` + longName + `\"}"},"service_tier":"standard_only",` + askedT1,
		marks: []string{"U1 @ user_id"},
		sent:  map[string][]string{toGemini: {"serviceTier = standard"}, toChat: {"service_tier = default"}, toResp: {"service_tier = default"}},
		loss: map[string][]string{
			toGemini: {"hint user_id"}, toChat: {"hint user_id"}, toResp: {"hint user_id"},
		},
	},
	{
		name:  "thinking with a budget",
		body:  `"thinking":{"type":"enabled","budget_tokens":2049},` + askedT1,
		marks: []string{"2049 @ thinking.budget"},
		sent: map[string][]string{
			toGemini: {"generationConfig.thinkingConfig.thinkingBudget = 2049", "generationConfig.thinkingConfig.includeThoughts = true"},
			toResp:   {"reasoning.effort"},
		},
		loss: map[string][]string{toChat: {"degraded thinking"}, toResp: {"degraded thinking.budget"}},
	},
	{
		name:  "thinking off",
		body:  `"thinking":{"type":"disabled"},` + askedT1,
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		sent:  map[string][]string{toGemini: {"generationConfig.thinkingConfig.thinkingBudget = 0"}},
	},
	{
		name:  "adaptive thinking with an effort",
		body:  `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},` + askedT1,
		model: map[string]string{toClaude: "claude-opus-5"},
		loss:  map[string][]string{toChat: {"degraded thinking.mode", "degraded thinking.effort"}},
		sent:  map[string][]string{toGemini: {"generationConfig.thinkingConfig.thinkingLevel = HIGH", "generationConfig.thinkingConfig.includeThoughts = true"}, toResp: {"reasoning.effort = high"}},
	},
	{
		name:  "output schema",
		body:  `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"p1":{"type":"string","description":"DE1"}},"required":["p1"],"additionalProperties":false}}},` + askedT1,
		marks: []string{"p1 @ output.schema", "DE1 @ output.schema"},
		sent: map[string][]string{
			toGemini: {"generationConfig.responseMimeType = application/json"},
			toChat:   {"response_format.type = json_schema", "response_format.json_schema.name"},
			toResp:   {"text.format.type = json_schema", "text.format.name"},
		},
	},
	{
		name:  "output schema with members that strict schemas do not support",
		body:  `"output_config":{"format":{"type":"json_schema","schema":` + nonstrictSchema + `}},` + askedT1,
		marks: nonstrictMarks("output.schema"),
		sent: map[string][]string{
			toChat: {"response_format.json_schema.strict = false", "response_format.json_schema.schema = " + nonstrictSchema},
			toResp: {"text.format.strict = false", "text.format.schema = " + nonstrictSchema},
		},
		loss: map[string][]string{toChat: {"degraded output.schema"}, toResp: {"degraded output.schema"}},
	},
	{
		name:  "strict tool with members that strict schemas do not support",
		body:  `"tools":[{"name":"t","strict":true,"input_schema":` + nonstrictSchema + `}],` + askedT1,
		marks: nonstrictMarks("tools.0.input"),
		sent: map[string][]string{
			toChat: {"! tools.0.function.strict", "tools.0.function.parameters = " + nonstrictSchema},
			toResp: {"tools.0.strict = false", "tools.0.parameters = " + nonstrictSchema},
		},
		loss: map[string][]string{toChat: {"degraded tools.0.input"}, toResp: {"degraded tools.0.input"}},
	},
	{
		name: "response settings of this format only",
		body: `"container":{"skills":[{"type":"anthropic","skill_id":"SK1"}]},"fallbacks":"default",
			"output_config":{"effort":"high","task_budget":{"type":"tokens","total":20000}},
			"tools":[{"name":"t","input_schema":{"type":"object"},"allowed_callers":["code_execution_20250825"]}],
			"messages":[{"role":"user","content":"T1"},{"role":"system","content":"S1","output_config":{"effort":"low"}}]`,
		marks: []string{"T1 @ turns.0.parts.0", "S1 @ turns.1.parts.0"},
		loss: map[string][]string{
			toGemini: append([]string{"degraded turns.1"}, droppedSettings...),
			toChat:   append([]string{"* thinking"}, droppedSettings...),
			toResp:   droppedSettings,
		},
	},
	{
		name: "request of a coding agent",
		body: `"system":[{"type":"text","text":"S1"},{"type":"text","text":"S2","cache_control":{"type":"ephemeral"}}],"max_tokens":32000,
			"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
			"metadata":{"user_id":"{\"device_id\":\"U1\"}"},"tools":[{"name":"Bash","description":"DE1","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{},"additionalProperties":false}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"T1"},{"type":"text","text":"T2","cache_control":{"type":"ephemeral"}}]},{"role":"system","content":"S3"}]`,
		marks: []string{"S1 @ system.0", "S2 @ system.1", "T1 @ turns.0.parts.0", "S3 @ turns.1.parts.0", "clear_thinking_20251015 @ extra.context_management", "DE1 @ tools.0", "U1 @ user_id"},
		model: map[string]string{toClaude: "claude-opus-5"},
		loss: map[string][]string{
			toGemini: {"hint system.1", "hint user_id", "hint turns.0.parts.1", "degraded turns.1", "hint extra.context_management"},
			toChat:   {"hint system.1", "hint turns.0.parts.1", "hint extra.context_management", "degraded thinking.mode", "degraded thinking.effort"},
			toResp:   {"hint extra.context_management"},
		},
	},
	{
		name: "request settings of this format only",
		body: `"mcp_servers":[{"type":"url","name":"a","url":"http://mcp.example"}],
			"output_config":{"effort":"high","task_budget":{"type":"tokens","total":20000}},"fallbacks":"default",
			"tools":[{"name":"t","input_schema":{"type":"object","properties":{}},"allowed_callers":["code_execution_20250825"]}],
			"messages":[{"role":"user","content":"T1"},{"role":"system","content":"S1","output_config":{"effort":"low"}}]`,
		marks: []string{"T1 @ turns.0.parts.0", "S1 @ turns.1.parts.0"},
		model: map[string]string{toChat: "gpt-5.1"},
		sent:  map[string][]string{toResp: {"tools.1.server_url = http://mcp.example"}},
		loss: map[string][]string{
			toGemini: {"dropped extra.mcp_servers", "dropped extra.output_config.task_budget", "degraded extra.fallbacks",
				"degraded tools.0.extra.allowed_callers", "dropped turns.1.extra.output_config", "degraded turns.1"},
			toChat: {"dropped extra.mcp_servers", "dropped extra.output_config.task_budget", "degraded extra.fallbacks",
				"degraded tools.0.extra.allowed_callers", "dropped turns.1.extra.output_config"},
			toResp: {"dropped extra.output_config.task_budget", "degraded extra.fallbacks",
				"degraded tools.0.extra.allowed_callers", "dropped turns.1.extra.output_config"},
		},
	},
}
