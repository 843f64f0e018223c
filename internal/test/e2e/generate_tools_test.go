package e2e

const declaredT = `"tools":[{"functionDeclarations":[{"name":"t"},{"name":"u"}]}]`

// generateTools are tools in requests of generateContent clients.
var generateTools = []feature{
	{
		name: "tools",
		body: `"tools":[{"functionDeclarations":[{"name":"get_weather","description":"DE1","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING","description":"DE2","nullable":true,"enum":["E1"]}},"required":["city"],"propertyOrdering":["city"]}},
			{"name":"now"},{"name":"raw","parametersJsonSchema":{"type":"object","properties":{"q":{"type":"string","description":"DE3"}}}}]}],` + askedG1,
		marks: []string{"get_weather @ tools.0", "DE1 @ tools.0", "DE2 @ tools.0", "E1 @ tools.0", "now @ tools.1", "DE3 @ tools.2"},
		sent:  map[string][]string{toClaude: {"tools.0.input_schema.type = object", "tools.1.input_schema.type = object", "tools.0.input_schema.properties.city.type"}},
	},
	{
		name: "names valid in this format only",
		body: `"tools":[{"functionDeclarations":[{"name":"a.b:c"},{"name":"_d"}]}],"contents":[{"role":"user","parts":[{"text":"T1"}]},
			{"role":"model","parts":[{"functionCall":{"name":"a.b:c","args":{"i":"I1"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"a.b:c","response":{"output":"R1"}}}]}]`,
		marks: []string{"a.b:c @ tools.0", "I1 @ turns.1.parts.0", "R1 @ turns.2.parts.0"},
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		loss: map[string][]string{
			toClaude: {"hint tools.0", "hint turns"}, toChat: {"hint tools.0", "hint turns"}, toResp: {"hint tools.0", "hint turns"},
		},
	},
	{
		name: "parallel tool calls without ids, results in another order",
		body: declaredT + `,"contents":[{"role":"user","parts":[{"text":"T1"}]},
			{"role":"model","parts":[{"text":"T2"},{"functionCall":{"name":"t","args":{"i":"I1"}}},{"functionCall":{"name":"u","args":{"i":"I2"}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"u","response":{"output":"R2"}}},{"functionResponse":{"name":"t","response":{"error":"R1"}}}]}]`,
		marks: []string{"I1 @ turns.1.parts.1", "I2 @ turns.1.parts.2", "R2 @ turns.2.parts.0", "R1 @ turns.2.parts.1"},
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		sent:  map[string][]string{toClaude: {"messages.2.content.0.type = tool_result", "messages.2.content.1.is_error = true"}},
		loss: map[string][]string{
			toClaude: {"hint turns"}, toChat: {"hint turns", "hint turns.2.parts.1"}, toResp: {"hint turns", "hint turns.2.parts.1"},
		},
	},
	{
		name: "results with objects, without content, and with files",
		body: declaredT + `,"contents":[{"role":"user","parts":[{"text":"T1"}]},
			{"role":"model","parts":[{"functionCall":{"id":"c1","name":"t","args":{}}},{"functionCall":{"id":"c2","name":"u"}},{"functionCall":{"id":"c3","name":"t"}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"t","response":{"k1":{"k2":["V1",70001]}}}},{"functionResponse":{"id":"c2","name":"u","response":{}}},
			{"functionResponse":{"id":"c3","name":"t","response":{"output":"R3"},"parts":[{"inlineData":{"mimeType":"image/png","data":"` + testPNG + `"}},{"inlineData":{"mimeType":"application/pdf","data":"` + testPDF + `"}}]}}]}]`,
		marks: []string{"k1 @ turns.2.parts.0", "k2 @ turns.2.parts.0", "V1 @ turns.2.parts.0", "70001 @ turns.2.parts.0", "R3 @ turns.2.parts.2", testPNG + " @ turns.2.parts.2.parts.1", testPDF + " @ turns.2.parts.2.parts.2"},
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		loss:  map[string][]string{toChat: {"degraded turns.2.parts.2.parts.1", "degraded turns.2.parts.2.parts.2"}},
	},
	{
		name: "file next to a result",
		body: declaredT + `,"contents":[{"role":"user","parts":[{"text":"T1"}]},
			{"role":"model","parts":[{"functionCall":{"id":"c1","name":"t","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"t","response":{"output":"R1"}}},{"inlineData":{"mimeType":"application/pdf","data":"` + testPDF + `"}}]}]`,
		marks: []string{"R1 @ turns.2.parts.0", testPDF + " @ turns.2.parts.1"},
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		sent:  map[string][]string{toClaude: {"messages.2.content.1.type = document"}, toChat: {"messages.2.role = tool", "messages.3.role = user"}},
	},
	{
		name: "required call with one allowed name",
		body: declaredT + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["u"]}},` + askedG1,
		sent: map[string][]string{toClaude: {"tool_choice.type = tool", "tool_choice.name = u"}, toChat: {"tool_choice.function.name = u"}, toResp: {"tool_choice.name = u"}},
	},
	{
		name: "required call with several allowed names",
		body: `"tools":[{"functionDeclarations":[{"name":"t"},{"name":"u"},{"name":"v"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["u","v"]}},` + askedG1,
		sent: map[string][]string{toClaude: {"tool_choice.type = any"}, toChat: {"tool_choice.allowed_tools.tools.# = 2"}, toResp: {"tool_choice.tools.# = 2"}},
		loss: map[string][]string{toClaude: {"degraded choice.names"}},
	},
	{
		name: "no function",
		body: declaredT + `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},` + askedG1,
		sent: map[string][]string{toClaude: {"tool_choice.type = none"}, toChat: {"tool_choice = none"}, toResp: {"tool_choice = none"}},
	},
	{
		name: "validated calls",
		body: declaredT + `,"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}},` + askedG1,
		sent: map[string][]string{toClaude: {"tools.0.strict = true"}, toChat: {"tools.0.function.strict = true"}, toResp: {"tools.0.strict = true"}},
	},
	{
		name: "search and code execution",
		body: `"tools":[{"googleSearch":{}},{"codeExecution":{}}],` + askedG1,
		sent: map[string][]string{toClaude: {"! tools.0.input_schema"}, toChat: {"! tools"}},
		loss: map[string][]string{
			toClaude: {"degraded tools.0", "degraded tools.1"},
			toChat:   {"dropped tools.0", "dropped tools.1"},
			toResp:   {"degraded tools.0", "degraded tools.1"},
		},
	},
}

// generateSettings are settings in requests of generateContent clients.
var generateSettings = []feature{
	{
		name:  "sampling",
		body:  `"generationConfig":{"temperature":0.37,"maxOutputTokens":4321,"seed":77,"presencePenalty":0.25,"frequencyPenalty":0.75},` + askedG1,
		marks: []string{"0.37 @ temperature", "4321 @ max_tokens", "77 @ seed", "0.25 @ presence_penalty", "0.75 @ frequency_penalty"},
		loss: map[string][]string{
			toClaude: {"dropped seed", "dropped presence_penalty", "dropped frequency_penalty"},
			toResp:   {"dropped temperature", "dropped seed", "dropped presence_penalty", "dropped frequency_penalty"},
		},
	},
	{
		name:  "request of a command-line agent",
		body:  `"generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}},` + askedG1,
		marks: []string{"0.95 @ top_p", "64 @ top_k"},
		loss: map[string][]string{
			toClaude: {"degraded thinking.effort", "dropped top_p", "dropped top_k"}, toChat: {"* thinking", "dropped top_k"}, toResp: {"dropped top_p", "dropped top_k"},
		},
	},
	{
		name:  "temperature above 1",
		body:  `"generationConfig":{"temperature":1.63},` + askedG1,
		marks: []string{"1.63 @ temperature"},
		loss:  map[string][]string{toClaude: {"degraded temperature"}, toResp: {"dropped temperature"}},
	},
	{
		name:  "stop sequences",
		body:  `"generationConfig":{"stopSequences":["ST1","ST2"]},` + askedG1,
		marks: []string{"ST1 @ stop_sequences", "ST2 @ stop_sequences"},
		loss:  map[string][]string{toResp: {"degraded stop_sequences"}},
	},
	{
		name:  "thinking budget",
		body:  `"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2049}},` + askedG1,
		marks: []string{"2049 @ thinking.budget"},
		sent:  map[string][]string{toClaude: {"thinking.budget_tokens = 2049", "thinking.type = enabled"}},
		loss:  map[string][]string{toChat: {"* thinking"}, toResp: {"degraded thinking.budget"}},
	},
	{
		name:  "thinking budget below the minimum",
		body:  `"generationConfig":{"thinkingConfig":{"thinkingBudget":600}},` + askedG1,
		model: map[string]string{toGemini: "gemini-2.5-flash"},
		marks: []string{"600 @ thinking.budget"},
		loss: map[string][]string{
			toClaude: {"degraded thinking.budget"}, toChat: {"degraded thinking"}, toResp: {"degraded thinking.budget"},
		},
	},
	{
		name:  "no thinking",
		body:  `"generationConfig":{"thinkingConfig":{"thinkingBudget":0}},` + askedG1,
		model: map[string]string{toGemini: "gemini-2.5-flash"},
	},
	{
		name:  "response schema",
		body:  `"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"p1":{"type":"STRING","description":"DE1"}},"required":["p1"]}},` + askedG1,
		marks: []string{"p1 @ output.schema", "DE1 @ output.schema"},
		sent: map[string][]string{
			toClaude: {"output_config.format.schema.additionalProperties = false", "output_config.format.schema.type = object"},
			toChat:   {"response_format.json_schema.schema.type = object", "response_format.json_schema.strict = true"},
			toResp:   {"text.format.schema.type = object", "text.format.strict = true"},
		},
		loss: map[string][]string{toClaude: {"* output.schema"}, toChat: {"hint output.schema"}, toResp: {"hint output.schema"}},
	},
	{
		name: "JSON without a schema",
		body: `"generationConfig":{"responseMimeType":"application/json"},` + askedG1,
		loss: map[string][]string{toClaude: {"degraded output.media_type"}, toChat: {"degraded output.media_type"}, toResp: {"degraded output.media_type"}},
	},
	{
		name: "JSON with a schema that allows everything",
		body: `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":true},` + askedG1,
		sent: map[string][]string{toChat: {"response_format.type = json_object"}, toResp: {"text.format.type = json_object"}},
		loss: map[string][]string{toClaude: {"* output.schema"}, toChat: {"degraded output.media_type"}, toResp: {"degraded output.media_type"}},
	},
	{
		name: "JSON with a schema that allows nothing",
		body: `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":false},` + askedG1,
		sent: map[string][]string{toClaude: {"! output_config"}, toChat: {"response_format.type = json_object"}, toResp: {"text.format.type = json_object"}},
		loss: map[string][]string{toClaude: {"dropped output.schema"}, toChat: {"degraded output.media_type", "dropped output.schema"}, toResp: {"degraded output.media_type", "dropped output.schema"}},
	},
	{
		name:  "response schema with members that strict schemas do not support",
		body:  `"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"p1":{"type":"INTEGER","format":"int32"},"p2":{"type":"STRING","format":"uri"},"p3":{"description":"DE1"}},"required":["p1","p2","p3"]}},` + askedG1,
		marks: nonstrictMarks("output.schema"),
		sent: map[string][]string{
			toChat: {"response_format.json_schema.strict = false", "response_format.json_schema.schema.properties.p2.format = uri", "response_format.json_schema.schema.properties.p3.description = DE1"},
			toResp: {"text.format.strict = false", "text.format.schema.properties.p2.format = uri", "text.format.schema.properties.p3.description = DE1"},
		},
		loss: map[string][]string{toClaude: {"* output.schema"}, toChat: {"degraded output.schema"}, toResp: {"degraded output.schema"}},
	},
	{
		name:  "schema with upper-case types",
		body:  `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"OBJECT","properties":{"p1":{"type":"STRING"},"n":{"type":"INTEGER"}},"required":["p1"]}},"contents":[{"role":"user","parts":[{"text":"T1"}]},{"role":"user","parts":[{"text":"T2"}]}]`,
		marks: []string{"p1 @ output.schema", "T2 @ turns.1.parts.0"},
		sent:  map[string][]string{toClaude: {"output_config.format.schema.properties.p1.type = string"}},
		loss:  map[string][]string{toClaude: {"* output.schema"}, toChat: {"degraded output.schema"}, toResp: {"degraded output.schema"}},
	},
}
