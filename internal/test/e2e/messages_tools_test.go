package e2e

import "strings"

const askedT1 = `"messages":[{"role":"user","content":"T1"}]`

// longName is a name that is valid only in Messages.
var longName = "mcp__server__" + strings.Repeat("n", 100)

// messagesTools are tools, tool calls and results in requests of Messages
// clients.
var messagesTools = []feature{
	{
		name: "tools",
		body: `"tools":[{"name":"get_weather","description":"DE1","input_schema":{"type":"object","properties":{"city":{"type":"string","description":"DE2","enum":["E1"]}},"required":["city"]}},
			{"name":"now","input_schema":{"type":"object"}}],` + askedT1,
		marks: []string{"get_weather @ tools.0", "DE1 @ tools.0", "city @ tools.0", "DE2 @ tools.0", "E1 @ tools.0", "now @ tools.1"},
	},
	{
		name: "schema with all keywords that agents send",
		body: `"tools":[{"name":"t","description":"DE1","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,
			"properties":{"type":{"type":"string","format":"uri","pattern":"^PA1"},"n":{"type":"integer","exclusiveMinimum":70001,"maximum":70002},
			"u":{"anyOf":[{"const":"CO1"},{"type":["string","null"],"maxLength":70003}]},"free":{"type":"object","additionalProperties":{}},
			"m":{"type":"object","propertyNames":{"pattern":"PN1"},"additionalProperties":{"type":"number"}},"r":{"$ref":"#/$defs/d"},
			"l":{"type":"array","items":{"type":"number","enum":[70004]},"default":[70005]}},"required":["type"],
			"$defs":{"d":{"type":"boolean","description":"DD1"}}}}],` + askedT1,
		marks: []string{"DE1 @ tools.0", "PA1 @ tools.0", "70001 @ tools.0", "70002 @ tools.0", "CO1 @ tools.0", "70003 @ tools.0",
			"PN1 @ tools.0", "DD1 @ tools.0", "70004 @ tools.0", "70005 @ tools.0"},
		loss: map[string][]string{toGemini: {"degraded tools.0.input"}},
	},
	{
		name: "empty list of tools",
		body: `"tools":[],` + askedT1,
		sent: map[string][]string{toGemini: {"! tools", "! toolConfig"}, toChat: {"! tools", "! tool_choice"}, toResp: {"! tools", "! tool_choice"}},
	},
	{
		name: "choice of any tool",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"},` + askedT1,
		sent: map[string][]string{
			toGemini: {"toolConfig.functionCallingConfig.mode = ANY"}, toChat: {"tool_choice = required"}, toResp: {"tool_choice = required"},
		},
	},
	{
		name: "choice of one tool",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}},{"name":"u","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"u"},` + askedT1,
		sent: map[string][]string{
			toGemini: {"toolConfig.functionCallingConfig.mode = ANY", `toolConfig.functionCallingConfig.allowedFunctionNames = ["u"]`},
			toChat:   {"tool_choice.function.name = u"}, toResp: {"tool_choice.name = u"},
		},
	},
	{
		name: "choice of no tool",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"},` + askedT1,
		sent: map[string][]string{
			toGemini: {"toolConfig.functionCallingConfig.mode = NONE"}, toChat: {"tool_choice = none"}, toResp: {"tool_choice = none"},
		},
	},
	{
		name: "parallel tool calls disabled",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},` + askedT1,
		sent: map[string][]string{toChat: {"parallel_tool_calls = false"}, toResp: {"parallel_tool_calls = false"}},
		loss: map[string][]string{toGemini: {"degraded choice.no_parallel"}},
	},
	{
		name: "parallel tool calls and their results",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}},{"name":"u","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"text","text":"T2"},{"type":"tool_use","id":"tu_1","name":"t","input":{"b":"I1","a":2}},{"type":"tool_use","id":"tu_2","name":"u","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_2","content":"R2"},{"type":"tool_result","tool_use_id":"tu_1","content":[{"type":"text","text":"R1"}],"is_error":true},{"type":"text","text":"T3"}]}]`,
		marks: []string{"T2 @ turns.1.parts.0", "I1 @ turns.1.parts.1", "R2 @ turns.2.parts.0", "R1 @ turns.2.parts.1", "T3 @ turns.2.parts.2"},
		sent: map[string][]string{
			toGemini: {"contents.1.parts.1.functionCall.args = {\"b\":\"I1\",\"a\":2}", "contents.2.parts.1.functionResponse.response.error = R1", "contents.2.parts.0.functionResponse.name = u"},
			toChat:   {"messages.1.tool_calls.# = 2", "messages.2.role = tool", "messages.3.role = tool", "messages.4.role = user"},
			toResp:   {"input.2.type = function_call", "input.4.type = function_call_output"},
		},
		loss: map[string][]string{
			toGemini: {"hint turns.1.parts.1"}, toChat: {"hint turns.2.parts.1"},
			toResp: {"hint turns.2.parts.1"},
		},
	},
	{
		name: "empty results",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"tool_use","id":"tu_1","name":"t","input":{}},{"type":"tool_use","id":"tu_2","name":"t","input":{}},{"type":"tool_use","id":"tu_3","name":"t","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1"},{"type":"tool_result","tool_use_id":"tu_2","content":""},{"type":"tool_result","tool_use_id":"tu_3","content":[],"is_error":true}]}]`,
		sent: map[string][]string{
			toGemini: {"contents.2.parts.# = 3", "contents.2.parts.2.functionResponse.response.error"},
			toChat:   {"messages.# = 5"},
			toResp:   {"input.# = 7"},
		},
		loss: map[string][]string{
			toGemini: {"hint turns.1.parts.0"}, toChat: {"hint turns.2.parts.2"}, toResp: {"hint turns.2.parts.2"},
		},
	},
	{
		name: "tool calls between texts",
		body: `"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"text","text":"T2"},{"type":"tool_use","id":"tu_1","name":"t","input":{}},{"type":"text","text":"T3"},{"type":"tool_use","id":"tu_2","name":"t","input":{"i":"I1"}},{"type":"text","text":"T4"}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1","content":"R1"},{"type":"tool_result","tool_use_id":"tu_2","content":"R2"}]}]`,
		marks: []string{"T2 @ turns.1.parts.0", "T3 @ turns.1.parts.2", "I1 @ turns.1.parts.3", "T4 @ turns.1.parts.4", "R1 @ turns.2.parts.0", "R2 @ turns.2.parts.1"},
		sent:  map[string][]string{toGemini: {"contents.1.parts.# = 5"}, toResp: {"input.# = 8"}},
		loss: map[string][]string{
			toGemini: {"hint turns.1.parts.1"},
			toChat:   {"degraded turns.1"},
		},
	},
	{
		name: "names and ids invalid elsewhere",
		body: `"tools":[{"name":"` + longName + `","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"T1"},
			{"role":"assistant","content":[{"type":"tool_use","id":"call_a.b:c|d_0123456789_0123456789_0123456789","name":"` + longName + `","input":{"i":"I1"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_a.b:c|d_0123456789_0123456789_0123456789","content":"R1"}]}]`,
		marks: []string{"I1 @ turns.1.parts.0", "R1 @ turns.2.parts.0", longName + " @ tools.0"},
		loss: map[string][]string{
			toGemini: {"hint turns.1.parts.0"},
			toChat:   {"hint tools.0", "hint turns"}, toResp: {"hint tools.0"},
		},
		fails: map[string]string{},
	},
	{
		name:  "server tools of the vendor",
		body:  `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":8}],"tool_choice":{"type":"tool","name":"web_search"},` + askedT1,
		marks: []string{"T1 @ turns.0.parts.0"},
		sent:  map[string][]string{toGemini: {"tools.0.googleSearch", "! tools.0.functionDeclarations"}, toResp: {"tools.0.type = web_search", "tool_choice = required"}},
		loss: map[string][]string{
			toGemini: {"degraded tools.0", "degraded choice.mode", "dropped tools.0"},
			toChat:   {"dropped tools.0", "hint choice"}, toResp: {"degraded tools.0", "dropped tools.0"},
		},
	},
	{
		name:  "strict tool with examples",
		body:  `"tools":[{"name":"t","strict":true,"input_schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"input_examples":[{"a":"EX1"}],"eager_input_streaming":true}],` + askedT1,
		marks: []string{"EX1 @ tools.0"},
		sent:  map[string][]string{toChat: {"tools.0.function.strict = true"}, toResp: {"tools.0.strict = true"}},
		loss: map[string][]string{
			toGemini: {"degraded tools.0", "* tools.0.extra"}, toChat: {"* tools.0.extra"}, toResp: {"* tools.0.extra"},
		},
	},
}
